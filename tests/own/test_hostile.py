"""Hostile files: nothing of a file is printed raw or becomes markup, and no crafted file ends in a traceback."""

import html
import importlib.util
import json
import re
import shutil
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from markdown_it import MarkdownIt

from sensorprivacy.cli import main
from sensorprivacy.own.publishing.tables import publish
from sensorprivacy.own.publishing.writing import Formulas

ESCAPE = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202e"
MARKUP = "<script>alert(1)</script>![x](http://evil.example/p.png)\n# heading\n[go](http://evil.example) <img src=x>"
RAW = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]")


def table(n=240, name="load", room=("kitchen", "hall"), seed=0):
    """Return a table with a column that shows the room, and one that shows the owner."""
    draw = np.random.default_rng(seed)
    first, owner = draw.integers(0, 2, n), draw.integers(0, 4, n)
    return pd.DataFrame(
        {
            name: first + draw.normal(0, 0.2, n),
            "voice": owner + draw.normal(0, 0.3, n),
            "mode": draw.choice(["eco", "auto"], n),
            "room": np.where(first, *room),
            "owner": [f"p{one}" for one in owner],
        }
    )


def run(capfd, *words):
    """Return exit code and printed text of a command."""
    code = main(list(map(str, words)))
    out, err = capfd.readouterr()
    return code, out + err


def write(folder, **changes):
    table(**changes).to_csv(folder / "home.csv", index=False)
    return folder / "home.csv"


ROLES = ["--task", "room", "--user", "owner"]
MINIMIZE = [*ROLES, "--trees", "5", "--repeat", "0"]


@pytest.mark.parametrize(
    "changes",
    [{"name": f"lo{ESCAPE}ad"}, {"room": (f"kit{ESCAPE}chen", "hall")}],
    ids=["a column", "values of the task"],
)
@pytest.mark.parametrize("command", ["minimize", "compare", "publish"])
def test_no_command_prints_raw_text_of_a_table(tmp_path, capfd, command, changes):
    words = {
        "minimize": [*MINIMIZE, "--out", tmp_path / "kept.csv", "--json", tmp_path / "facts.json"],
        "compare": [*ROLES, "--trees", "5", "--defences", "none", "noise", "--report", tmp_path / "page.html"],
        "publish": [*ROLES, "--defence", "noise:epsilon=4", "--out", tmp_path / "out"],
    }[command]
    if command == "compare":
        words += ["--store", tmp_path / "store"]
    code, said = run(capfd, command, write(tmp_path, **changes), *words, "--quiet")
    assert code == 0, said
    assert not RAW.search(said)
    assert "x1b" in said or command == "compare" or "room" in changes
    for page in [*tmp_path.glob("*.html"), *tmp_path.glob("*.json"), *tmp_path.glob("out/card.*")]:
        assert not RAW.search(page.read_text(encoding="utf-8")), page


BROKEN = {
    "a missing column": (f"a{ESCAPE},b\n1,2\n", ROLES),
    "equal columns": (f"a{ESCAPE},a{ESCAPE},room,owner\n1,2,3,4\n", ROLES),
    "a label": (f"x,room,owner\n1,{ESCAPE},a\n2,{ESCAPE},a\n", ROLES),
    "numbers of a task": (f"x,ro{ESCAPE}om,owner\n" + "".join(f"{n},{n / 7},{n % 3}\n" for n in range(99)), None),
}


@pytest.mark.parametrize("case", BROKEN)
@pytest.mark.parametrize("command", ["minimize", "compare"])
def test_errors_and_file_names_are_not_printed_raw(tmp_path, capfd, case, command):
    text, roles = BROKEN[case]
    file = tmp_path / "ho\x1b[2Jme\n.csv"
    file.write_text(text, encoding="utf-8")
    roles = roles or ["--task", f"ro{ESCAPE}om", "--user", "owner"]
    code, said = run(capfd, command, file, *roles)
    assert code == 2
    assert not RAW.search(said)
    assert said.startswith("error: ")
    assert said.count("\n") == 1


def test_texts_of_a_description_are_not_printed_raw(tmp_path, capfd):
    file = tmp_path / "recordings.toml"
    shown = json.dumps(ESCAPE)[1:-1].replace("\x9b", "\\u009b")
    for text in (f'name = "a"\n"{shown}" = 1\n', f'name = "a"\nrate = "{shown}"\n', f"name = \x1b[2J{ESCAPE}\n"):
        file.write_text(text, encoding="utf-8")
        code, said = run(capfd, "compare", file, "--task", "activity", "--hide", "gender")
        assert code == 2
        assert not RAW.search(said)


def test_warnings_of_a_command_are_not_printed_raw(tmp_path, capfd, monkeypatch):
    """Oracle: Python's own way to print a warning, which pytest would replace."""
    monkeypatch.setattr(warnings, "showwarning", warnings._showwarning_orig)
    file = write(tmp_path)
    frame = pd.read_csv(file).assign(**{f"gone{ESCAPE}": np.nan, f"same{ESCAPE}": 1.0})
    frame.to_csv(file, index=False)
    code, said = run(capfd, "minimize", file, *MINIMIZE, "--quiet")
    assert code == 0, said
    assert "gone\\x1b" in said
    assert not RAW.search(said)


@pytest.fixture(scope="module")
def card(tmp_path_factory):
    """Return the card of a table whose file, columns, task and cells hold markup."""
    folder = tmp_path_factory.mktemp("card")
    names = {"load": f"load{MARKUP}", "mode": f"mode|{MARKUP}", "room": f"room{MARKUP}", "owner": f"own{MARKUP}"}
    frame = table().rename(columns=names)
    frame["# gone `x` ~~"] = 1
    file = folder / "![x](http:evil) # h <script>.csv"
    frame.to_csv(file, index=False)
    made = publish(
        file, task=names["room"], user=names["owner"], defence="threeway:epsilon=4", out=folder / "out", sample=240
    )
    return made.to_markdown()


@pytest.mark.parametrize("form", ["commonmark", "gfm-like"])
def test_markup_in_names_stays_text_on_the_card(card, form):
    page = MarkdownIt(form, {"linkify": False, "html": True}).render(card)
    assert re.findall("<(script|img|a|em|strong|s)[ >]", page) == []
    assert re.findall("<h[1-6]>(.*)</h", page)[1:] == ["Dropped", "Guarantee and its limits", "Measured", "Provenance"]
    assert html.escape("<script>alert(1)</script>") in page


CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.mark.skipif(
    CHROMIUM is None or importlib.util.find_spec("playwright") is None, reason="needs chromium and playwright"
)
def test_no_script_runs_and_no_image_loads_in_a_browser(card, tmp_path, capfd):
    from playwright.sync_api import sync_playwright

    names = {"load": "load<script>alert(1)</script>", "voice": '"><img src="http://evil.example/p.png">'}
    file = tmp_path / "<img src=x onerror=alert(2)>.csv"
    table().rename(columns=names).to_csv(file, index=False)
    words = [*ROLES, "--trees", "5", "--defences", "none", "threeway:epsilon=4", "--store", tmp_path / "s", "--quiet"]
    assert run(capfd, "compare", file, *words, "--report", tmp_path / "report.html")[0] == 0
    page = MarkdownIt("gfm-like", {"linkify": False, "html": True}).render(card)
    (tmp_path / "card.html").write_text(f"<meta charset=utf-8>{page}", encoding="utf-8")
    faults = []
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        opened = browser.new_page()
        opened.on("dialog", lambda asked: (faults.append(asked.message), asked.dismiss()))
        opened.on("request", lambda asked: faults.append(asked.url) if asked.url[:5] not in ("file:", "data:") else 0)
        for name, shown in (("report.html", "<img src=x"), ("card.html", "<script>alert(1)</script>")):
            opened.goto((tmp_path / name).as_uri())
            assert shown in opened.inner_text("body")
        browser.close()
    assert faults == []


def formulas():
    return table(room=('=HYPERLINK("http://evil.example")', "+cmd|' /C calc'!A0")).rename(columns={"load": "=cmd|x"})

def test_numbers_dates_and_dashes_are_no_formulas():
    texts = ["-", "+3.5", "-1,5", "-12:30", "a=b", "=x", "@y", "-x", "+x", "\t=x"]
    found = Formulas("quote")(pd.DataFrame({"a": texts, "-x": 1}))
    assert [text for text, new in zip(texts, found["a"], strict=True) if text != new] == texts[5:]
    assert list(found) == ["a", "'-x"]


@pytest.mark.parametrize("mode", ["quote", "keep"])
def test_formulas_are_quoted_or_named_on_the_card(tmp_path, mode):
    card = publish(formulas(), task="room", user="owner", defence="none", out=tmp_path / "out", formulas=mode)
    text = (tmp_path / "out" / "table.csv").read_text()
    starts = [cell.strip('"')[:1] for line in text.splitlines() for cell in line.split(",")]
    assert ("=" in starts) == (mode == "keep")
    said = card.to_markdown()
    assert "spreadsheet" in said
    assert ("are quoted" in said) == (mode == "quote")
    assert "Columns: room, =cmd" in said


def test_a_card_without_formulas_does_not_speak_of_them(tmp_path):
    card = publish(table(), task="room", user="owner", defence="none", out=tmp_path / "out")
    assert "spreadsheet" not in card.to_markdown()


def test_minimize_quotes_formulas(tmp_path, capfd):
    formulas().to_csv(tmp_path / "home.csv", index=False)
    code, said = run(capfd, "minimize", tmp_path / "home.csv", *MINIMIZE, "--quiet", "--out", tmp_path / "kept.csv")
    assert code == 0, said
    assert "are quoted" in said
    assert set(pd.read_csv(tmp_path / "kept.csv")["room"].str[:2]) == {"'=", "'+"}
