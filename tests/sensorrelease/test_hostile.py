"""Hostile files: nothing of a file is printed raw or becomes markup, and no crafted file ends in a traceback."""

import importlib.util
import json
import re
import resource
import shutil
import socket
import sqlite3
import warnings
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from markdown_it import MarkdownIt
from sklearn.decomposition import PCA

from sensorprivacy.edge.board.bundle import BundleError, read_bundle
from sensorprivacy.latent import ModelFileError, load
from sensorprivacy.latent.files import read_parts, write_parts
from sensorprivacy.latent.storage import FORMAT as MODEL_FORMAT
from sensorprivacy.minimize.search.results import ResultStoreError
from sensorrelease.cli import main
from sensorrelease.publishing.fitted import load_fitted
from sensorrelease.publishing.saved import FILE, FittedFolderError, write_saved
from sensorrelease.publishing.steps import step_to_json
from sensorrelease.publishing.tables import publish

_SPEC = importlib.util.spec_from_file_location(
    "hostile_inputs", Path(__file__).parents[2] / "bench" / "hostile_inputs.py"
)
hostile = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(hostile)


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


@pytest.mark.first(2)
@pytest.mark.parametrize(
    "changes",
    [{"name": f"lo{ESCAPE}ad"}, {"room": (f"kit{ESCAPE}chen", "hall")}],
    ids=["a column", "values of the task"],
)
@pytest.mark.parametrize("command", ["minimize", "compare", "publish"])
def test_no_command_prints_raw_text_of_a_table(tmp_path, capfd, command, changes):
    words = {
        "minimize": [*MINIMIZE, "--out", tmp_path / "kept", "--accept-draft", "--json", tmp_path / "facts.json"],
        "compare": [*ROLES, "--trees", "5", "--defences", "none", "noise", "--report", tmp_path / "page.html"],
        "publish": [*ROLES, "--defence", "noise:epsilon=4", "--out", tmp_path / "out", "--accept-draft"],
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
    content, roles = BROKEN[case]
    file = tmp_path / "ho\x1b[2Jme\n.csv"
    file.write_text(content, encoding="utf-8")
    roles = roles or ["--task", f"ro{ESCAPE}om", "--user", "owner"]
    code, said = run(capfd, command, file, *roles)
    assert code == 2
    assert not RAW.search(said)
    assert said.splitlines()[-1].startswith("error: ")
    assert sum(not line.startswith("note: ") for line in said.splitlines()) == 1


def test_texts_of_a_schema_are_not_printed_raw(tmp_path, capfd):
    file = tmp_path / "phone.schema.yaml"
    shown = json.dumps(ESCAPE)
    for broken in (
        f"{shown}: 1\n",
        f"fields: []\nrecordings: {{files: a, rate: {shown}}}\n",
        f"name: \x1b[2J{ESCAPE}\n",
    ):
        file.write_text(broken, encoding="utf-8")
        code, said = run(capfd, "compare", file, "--task", "activity", "--hide", "gender")
        assert code == 2
        assert not RAW.search(said)


@pytest.mark.parametrize("at", ["file", "--report", "--store"])
def test_a_null_byte_is_refused_by_name(tmp_path, capfd, at):
    words = ["compare", "a\0.csv"] if at == "file" else ["compare", write(tmp_path), at, "a\0.csv"]
    code, said = run(capfd, *words, *ROLES)
    assert (code, said.count("\n")) == (2, 1)
    assert r"a\x00.csv has a null byte" in said


@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="no such sockets")
@pytest.mark.parametrize("command", ["minimize", "compare"])
def test_a_socket_is_no_folder(tmp_path, capfd, command, monkeypatch):
    monkeypatch.chdir(tmp_path)  # the path of a socket has at most 108 letters
    with socket.socket(socket.AF_UNIX) as own:
        own.bind("home.csv")
        code, said = run(capfd, command, "home.csv", *ROLES)
    assert (code, said) == (2, "error: home.csv is no regular file: give the path of a table\n")


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
    roles = {"task": names["room"], "user": names["owner"], "accept_draft": True}
    made = publish(frame, **roles, defence="threeway:epsilon=4", out=folder / "out", sample=240)
    return made.to_markdown()


@pytest.mark.parametrize("form", ["commonmark", "gfm-like"])
def test_markup_in_names_stays_text_on_the_card(card, form):
    page = MarkdownIt(form, {"linkify": False, "html": True}).render(card)
    assert re.findall("<(script|img|a|em|s)[ >]", page) == []
    assert re.findall("<strong>(.*?)</strong>", page) == re.findall(r"\*\*([A-Z].*?)\*\*", card)
    headings = re.findall("<h[1-6]>(.*)</h", page)[1:]
    assert headings == [line[3:] for line in card.splitlines() if re.match("## [A-Z][a-z ]+$", line)]
    assert "Guarantee and its limits" in headings
    assert "alert(1)" not in page  # such headers get neutral titles


CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.mark.skipif(
    CHROMIUM is None or importlib.util.find_spec("playwright") is None, reason="needs chromium and playwright"
)
@pytest.mark.slow
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
        for name, shown in (("report.html", "Defences for data"), ("card.html", "Data card")):
            opened.goto((tmp_path / name).as_uri())
            assert shown in opened.inner_text("body")
        browser.close()
    assert faults == []


# --- items of the review, one by one ---


@pytest.mark.parametrize("content", ["[" * 100_000, '{"a":' * 100_000])
@pytest.mark.parametrize("name", ["phone.schema.yaml", "saved/defence.json", "results.jsonl", "manifest.json"])
def test_deep_json_and_yaml_are_refused_by_name(tmp_path, name, content, capfd):
    (tmp_path / "saved").mkdir()
    (tmp_path / name).write_text("fields: " * name.endswith("yaml") + content + "\n")
    file = write(tmp_path)
    code, said = {
        "phone.schema.yaml": lambda: run(capfd, "compare", tmp_path / name, "--task", "a", "--hide", "b"),
        "saved/defence.json": lambda: run(
            capfd, "publish", file, "--fitted", tmp_path / "saved", "--out", tmp_path / "o"
        ),
        "results.jsonl": lambda: run(capfd, "compare", file, *ROLES, "--store", tmp_path / name),
        "manifest.json": lambda: run(capfd, "edge", "measure", "--out", tmp_path / "a", "--bundles", tmp_path),
    }[name]()  # fmt: skip
    assert code == 2
    assert str(tmp_path / name) in said
    assert sum(not line.startswith("note: ") for line in said.splitlines()) == 1


@pytest.mark.first(2)
@pytest.mark.parametrize("seed", range(hostile.LEAST))
@pytest.mark.parametrize("kind", hostile.KINDS)
def test_changed_files_end_in_one_line_or_success(tmp_path_factory, kind, seed, valid, tmp_path):
    assert not hostile.outcome(kind, seed, valid(kind), tmp_path / "changed").startswith("fault")


@pytest.fixture(scope="module")
def valid(tmp_path_factory):
    """Return a function that makes the valid files of a kind once."""

    @cache
    def make(kind):
        folder = tmp_path_factory.mktemp("valid")
        hostile.KINDS[kind][0](folder)
        return folder

    return make


def restate(folder, **changes):
    """Change a fitted folder as a forger does, with right digests."""
    forge(folder, json.loads((folder / FILE).read_text()) | changes)


def forge(folder, content):
    content = dict(content)
    kind, stated = content.pop("format"), ("digest", "files", "version")
    write_saved(folder, kind, {name: value for name, value in content.items() if name not in stated})


SAID = "Guaranteed: epsilon 0 for everybody."


@pytest.mark.first(1)
@pytest.mark.parametrize("kind", ["fitted noise", "fitted three-way", "fitted pipeline", "fitted prediction"])
def test_a_forged_folder_cannot_make_claims(valid, kind, tmp_path):
    saved = shutil.copytree(valid(kind) / "saved", tmp_path / "saved")
    content = json.loads((saved / FILE).read_text())
    for change in ({"about": SAID}, {"name": SAID}, {"facts": {"guarantee": {"statements": [SAID]}}}):
        forge(saved, content | change)
        with pytest.raises(FittedFolderError, match="wrong or missing value"):
            load_fitted(saved)
    columns = content["columns"]
    measured = [row | {"attacker": SAID, "unit": SAID} for row in content["measured"]]
    forge(saved, content | {"columns": columns, "measured": measured})
    card = publish(hostile.table(), fitted=saved, out=tmp_path / "out")
    assert SAID not in (tmp_path / "out" / "card.json").read_text() + card.to_markdown()
    forge(saved, content | {"measured": [row | {"score": 7.0} for row in measured]})
    with pytest.raises(FittedFolderError, match="less than or equal to 1"):
        load_fitted(saved)


def test_the_guarantee_of_a_loaded_defence_is_that_of_its_noise(valid, tmp_path):
    saved = shutil.copytree(valid("fitted noise") / "saved", tmp_path / "saved")
    noise = json.loads((saved / FILE).read_text())["noise"]
    restate(saved, noise=noise | {"epsilon": 60.0})
    card = publish(hostile.table(), fitted=saved, out=tmp_path / "out")
    assert card.facts["guarantee"]["epsilon_row"] == 60
    assert "epsilon 60" in card.facts["guarantee"]["statements"][0]
    for wrong in ({"epsilon": 0.0}, {"epsilon": -1.0}, {"epsilon": float("nan")}, {"bounds": {}}):
        restate(saved, noise=noise | wrong)
        with pytest.raises(FittedFolderError, match="is damaged"):
            load_fitted(saved)


@pytest.mark.slow
def test_a_guarantee_hidden_in_a_transformer_is_refused(valid, tmp_path):
    saved = shutil.copytree(valid("fitted pipeline") / "saved", tmp_path / "saved")
    step = json.loads((saved / FILE).read_text())["step"]
    step["of"] |= {"guarantees_": {"tuple": [SAID]}, "epsilon_total_": 1e-9}
    restate(saved, step=step)
    with pytest.raises(FittedFolderError, match="'guarantees_' is no attribute of a Pipeline"):
        load_fitted(saved)


STEPS = {
    "a name": "PCA",
    "an unknown class": {"step": "Popen", "of": {}},
    "a forest": {"forest": [], "classes": {"cells": ["a"], "shape": [1], "texts": True}, "features": 4},
    "not fitted": step_to_json(PCA(2)),
    "other columns": step_to_json(PCA(2).fit(np.eye(9))),
    "arrays of 10 TB": {"step": "PCA", "of": {"mean_": {"array": "<f8", "shape": [10**12], "zlib": ""}}},
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", STEPS)
def test_a_step_that_is_no_transformer_is_refused(valid, tmp_path, kind, capfd):
    saved = shutil.copytree(valid("fitted pipeline") / "saved", tmp_path / "saved")
    restate(saved, step=STEPS[kind])
    code, said = run(capfd, "publish", write(tmp_path), "--fitted", saved, "--out", tmp_path / "out")
    assert code == 2
    assert f"error: {saved} is " in said
    assert said.count("\n") == 1


@pytest.mark.parametrize("accuracy", ["abc", float("inf"), -5, b"x"])
def test_accuracies_in_a_store_are_0_to_1(valid, tmp_path, accuracy):
    shutil.copy(valid("search results") / "search.db", tmp_path / "search.db")
    database = sqlite3.connect(tmp_path / "search.db")
    database.execute("UPDATE scores SET accuracy = ?", (accuracy,))
    database.commit()
    database.close()
    with pytest.raises(ResultStoreError, match=r"search.db is damaged: it holds the share"):
        hostile.read_search(tmp_path)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"rate": 0}, "rate is out of its range"),
        ({"rate": -1.0}, "rate"),
        ({"stride": 0}, "stride"),
        ({"length": 10**9}, "length"),
        ({"deviation": [0.0, 1.0]}, "deviation"),
        ({"channels": ["x"]}, "fit together"),
        ({"mapping": [5, 0]}, "fit together"),
    ],
)
def test_numbers_of_a_bundle_are_checked(valid, tmp_path, changes, words):
    folder = shutil.copytree(valid("bundle"), tmp_path / "bundle")
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps(manifest | changes))
    with pytest.raises(BundleError, match=words):
        read_bundle(folder)


def test_a_bundle_names_no_file_outside_its_folder(valid, tmp_path):
    folder = shutil.copytree(valid("bundle"), tmp_path / "bundle")
    (tmp_path / "secret").write_text("four")
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["steps"][0]["file"] = "../secret"
    (folder / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(BundleError, match="file of a step is out of its range") as error:
        read_bundle(folder)
    assert "4 bytes" not in str(error.value)


def test_a_model_of_huge_networks_takes_no_memory(valid, tmp_path):
    header, parts = read_parts(valid("model") / "model.safetensors", MODEL_FORMAT)
    huge = header | {"shape": [10**6, 10**5], "sizes": {"hidden": [10**7], "latent": 10**6}}
    write_parts(tmp_path / "model.safetensors", MODEL_FORMAT, huge, parts)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ModelFileError, match="parts do not fit together"):
        load(tmp_path / "model.safetensors")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # KB
