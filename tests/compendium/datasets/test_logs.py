"""The numbers of the authors' notebooks: as they were read out, as the files say, and as the notebooks print them."""

import json
import re

import pandas as pd
import pytest

from compendium.cli import main
from compendium.datasets import logs
from compendium.datasets.errors import CorruptDataError

LOG = """features,n_features,accuracy,identifiability,source
,0,1e-05,1,iot-x/hypermapper.ipynb cell 1 log
0,1,0.5125750253,0.25,
0 12,2,0.9,0.3,
1,1,0.700060,0.511590,iot-x/exhaustive.ipynb cell 0 out 0 table
0 3,2,0.8168,0.6645,"iot-x/exhaustive.ipynb cell 1 results_list (10-space [1, 4])"
"""
FACTS = """dataset,topic,fact,where,status
x,rows,2 x 0.12345678901,iot-x/baselines.ipynb c1,printed
x,base,"acc 0.98765432101, ident 0.12345678902; others: acc 0.11111111111",iot-x/baselines.ipynb c1; no.ipynb c,printed
"""
# What the authors' notebooks print, in their three forms: a log, a table, and a list of results.
PRINTED = {
    "iot-x/hypermapper.ipynb": [
        [{"text": ["no numbers\n"]}],
        [
            {"text": ["[0, 12]\n", "Source accuracy and threat accuracy: 0.9 0.3\n[]\n"]},
            {"text": "Source accuracy and threat accuracy: 1e-05 1\n[0]\n"},
            {"text": ["Source accuracy and threat accuracy: 0.5125750253 0.25\n"]},
        ],
    ],
    "iot-x/exhaustive.ipynb": [
        [
            {
                "data": {
                    "text/html": ["<tr><th>6207</th>\n<td>[1]</td>\n", "<td>0.700060</td><td>0.511590</td><td>1</td>"],
                    "text/plain": ["6207 [1] 0.700060 \\\n"],
                }
            }
        ],
        [{"data": {"text/plain": ["[[0, 0.8242,\n 0.69, 1, '[0]'],\n", " [0.01, 0.8168, 0.6645, 2, '[1, 4]']]"]}}],
    ],
    "iot-x/baselines.ipynb": [[], [{"text": "0.98765432101 0.12345678902"}]],
}


@pytest.fixture
def host(machine, web, monkeypatch):
    """A checkout with a small log, and a server that plays the authors' host."""
    folder = machine.parent / "paper" / "logs"
    folder.mkdir(parents=True)
    for name, content in (("subsets_x.csv", LOG), ("protocol.csv", FACTS)):
        (folder / name).write_text(content)
    lines = (f"{logs.pooch.file_hash(str(path))}  {path.name}\n" for path in sorted(folder.glob("*.csv")))
    (folder / "SHA256SUMS").write_text("".join(lines))
    serve(web, PRINTED)
    monkeypatch.setattr(logs.compare, "__defaults__", (f"{web.url}/",))
    return web


def serve(web, printed):
    for name, cells in printed.items():
        book = {"cells": [{"cell_type": "code", "outputs": outputs} for outputs in cells]}
        web.files[f"/{name}"] = json.dumps(book).encode()


def check(capfd):
    code = main(["data", "logs", "--check"])
    told = capfd.readouterr()
    assert told.err == ""
    return code, told.out.splitlines()[1:]


def test_equal_numbers(host, capfd):
    assert check(capfd) == (
        0,
        ["iot-x/baselines.ipynb: 2 equal", "iot-x/exhaustive.ipynb: 2 equal", "iot-x/hypermapper.ipynb: 3 equal"],
    )


@pytest.mark.parametrize(
    ("notebook", "old", "new", "line"),
    [
        ("iot-x/hypermapper.ipynb", "0.5125750253", "0.5125750254", "1 of 3 differ, such as 0.5125750253 (features 0)"),
        ("iot-x/hypermapper.ipynb", "[0, 12]", "[0, 11]", "1 of 3 differ, such as 0.9 (features 0 12)"),
        ("iot-x/hypermapper.ipynb", "1e-05 1", "1e-06 1", "1 of 3 differ, such as 1e-05 (features none)"),
        ("iot-x/exhaustive.ipynb", "0.511590", "0.511591", "1 of 2 differ, such as 0.70006 (features 1)"),
        ("iot-x/exhaustive.ipynb", "0.6645", "0.6646", "1 of 2 differ, such as 0.8168 (features 1 4)"),
        ("iot-x/baselines.ipynb", "45678902", "45678903", "1 of 2 differ, such as 0.12345678902 (features all)"),
    ],
)  # fmt: skip
def test_a_changed_number_is_named(host, capfd, notebook, old, new, line):
    content = host.files[f"/{notebook}"].decode()
    assert old in content
    host.files[f"/{notebook}"] = content.replace(old, new).encode()
    code, lines = check(capfd)
    assert (code, lines[sorted(PRINTED).index(notebook)]) == (1, f"{notebook}: {line}")


def test_numbers_of_another_cell_do_not_count(host, capfd):
    notebook = "iot-x/hypermapper.ipynb"
    serve(host, {notebook: PRINTED[notebook][::-1]})
    code, lines = check(capfd)
    assert (code, lines[2]) == (1, f"{notebook}: 3 of 3 differ, such as 1e-05 (features none)")
    serve(host, {notebook: PRINTED[notebook][:1]})
    assert check(capfd)[1][2].endswith("3 of 3 differ, such as 1e-05 (features none)")


def test_a_missing_file_and_another_one_are_not_compared_and_no_success(host, capfd):
    del host.files["/iot-x/baselines.ipynb"]
    host.files["/iot-x/exhaustive.ipynb"] = b"<html>log in to the hotel's network</html>"
    code, lines = check(capfd)
    assert code == 1
    assert re.fullmatch(r"iot-x/baselines\.ipynb: not compared \(.*the server answers 404 Not Found\)", lines[0])
    assert lines[1:] == [
        "iot-x/exhaustive.ipynb: not compared (it is no notebook)",
        "iot-x/hypermapper.ipynb: 3 equal",
    ]


def test_a_host_that_cannot_be_reached_is_one_line_and_no_failure(host, capfd, monkeypatch):
    monkeypatch.setattr(logs.compare, "__defaults__", ("http://127.0.0.1:9/",))
    code, lines = check(capfd)
    assert (code, lines) == (0, ["the authors' notebooks: not compared (127.0.0.1:9 cannot be reached (refused))"])


def test_files_with_other_digests_are_not_read(host, machine, capfd):
    path = machine.parent / "paper" / "logs" / "subsets_x.csv"
    path.write_text(LOG.replace("0.9,0.3", "0.9,0.2"))
    with pytest.raises(CorruptDataError, match=r"subsets_x\.csv is corrupt: expected SHA-256 \w{64}, found \w{64}"):
        logs.read("subsets_x.csv")
    path.unlink()
    assert main(["data", "logs"]) == 2
    assert "subsets_x.csv is corrupt: expected SHA-256" in capfd.readouterr().err


def test_the_folder_holds_the_listed_files_and_their_description(root):
    folder = root / "data" / "paper" / "logs"
    assert sorted(path.name for path in folder.iterdir()) == sorted([*logs.sums(), "README.md", "SHA256SUMS"])
    for name in logs.sums():
        assert logs.read(name)
    assert sum(path.stat().st_size for path in folder.iterdir()) < 1_300_000
    assert re.search(r"[0-9a-f]{40}", logs.NOTEBOOKS)[0] in (folder / "README.md").read_text(encoding="utf-8")


def test_every_row_has_a_source_that_can_be_compared():
    rows = {notebook: sum(map(len, cells.values())) for notebook, cells in logs._logged().items()}
    assert sum(rows.values()) == sum(len(pd.read_csv(root_file(name))) for name in logs.sums() if "subsets" in name)
    assert {len(numbers) for numbers in logs._facts().values()} == {2}
    assert len(logs._facts()) == 7


def root_file(name):
    return logs._folder() / name


@pytest.mark.mirror
def test_the_files_equal_those_that_were_read_out(mirror):
    """Columns that nothing uses are left out; a source is written once; names of notebooks are whole."""
    for name in logs.sums():
        ours, original = (
            pd.read_csv(folder / name, dtype=str, keep_default_na=False)
            for folder in (logs._folder(), mirror / "published")
        )
        if "source" in ours:
            ours["source"] = ours["source"].where(ours["source"] != "").ffill()
        if name == "protocol.csv":
            stems = original["where"].str.split("*").str[0]
            assert [one.startswith(stem) for one, stem in zip(ours["where"], stems, strict=True)].count(False) == 0
            ours = ours.drop(columns="where")
        assert ours.equals(original[ours.columns]), name
