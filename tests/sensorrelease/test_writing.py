"""Rows are written once each, in an order that says nothing, and folders appear only when complete."""

import errno
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sensorprivacy.minimize.search.results import ResultStore
from sensorrelease.cli import main
from sensorrelease.publishing.writing import check_new, new_folder, write_rows


@pytest.fixture
def table():
    return pd.DataFrame({"x": np.arange(200) / 8, "name": [None] * 50 + ['a,\n"b"'] * 150, "n": range(200)})


def pieces(table, rows):
    return (table.iloc[start : start + rows] for start in range(0, len(table), rows))


def read(file):
    return pd.read_csv(file) if file.suffix == ".csv" else pd.read_parquet(file)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("rows", [200, 50, 23])
def test_all_rows_are_written_in_random_order(table, tmp_path, rows, suffix):
    file = tmp_path / f"out{suffix}"
    assert write_rows(pieces(table, rows), file, rows=200) == 200
    found = read(file)
    again = found.sort_values("n", ignore_index=True)
    pd.testing.assert_frame_equal(again, table, check_dtype=False)
    assert abs(np.corrcoef(found["n"], range(200))[0, 1]) < 0.4
    assert abs(np.diff(found["n"])).mean() > 40  # 67 for a random order, also across pieces
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


def test_the_order_is_kept_on_request(table, tmp_path):
    write_rows(pieces(table, 23), tmp_path / "out.csv", rows=200, in_order=True)
    assert read(tmp_path / "out.csv")["n"].tolist() == list(range(200))


@pytest.mark.parametrize("error", [ValueError("wrong"), KeyboardInterrupt()])
def test_a_failure_leaves_nothing(table, tmp_path, error):
    def broken():
        yield table.iloc[:50]
        raise error

    with pytest.raises(type(error)), new_folder(tmp_path / "out", "--out") as folder:
        write_rows(broken(), folder / "t.csv", rows=200)
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_names_the_folder_and_leaves_nothing(table, tmp_path):
    def full():
        yield table.iloc[:50]
        raise OSError(errno.ENOSPC, "No space left on device")

    out = tmp_path / "out"
    with (
        pytest.raises(OSError, match=f"--out {out} cannot be written: No space left"),
        new_folder(out, "out") as folder,
    ):
        write_rows(full(), folder / "t.csv", rows=200)
    assert list(tmp_path.iterdir()) == []


def test_of_two_releases_in_one_folder_the_second_is_told(tmp_path):
    out = tmp_path / "out"
    second = new_folder(out, "out")
    (second.__enter__() / "a").write_text("second")
    with new_folder(out, "out") as first:
        (first / "a").write_text("first")
    with pytest.raises(FileExistsError, match=f"--out {out} was made meanwhile: name a new folder"):
        second.__exit__(None, None, None)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert (out / "a").read_text() == "first"


def test_a_folder_appears_at_the_end(tmp_path):
    out = tmp_path / "out"
    out.mkdir()  # an empty one may be replaced
    with new_folder(out, "--out") as folder:
        (folder / "file").write_text("x")
        assert list(out.iterdir()) == []
    assert [path.name for path in out.iterdir()] == ["file"]
    with pytest.raises(ValueError, match="exists already"):
        check_new(out, "--out")
    with pytest.raises(ValueError, match="there is no folder"):
        check_new(tmp_path / "no" / "out", "--out")


def test_only_the_owner_reads_a_saved_defence_and_a_store(tmp_path):
    with new_folder(tmp_path / "saved", "save"), new_folder(tmp_path / "out", "out"):
        pass
    ResultStore(tmp_path / "scores.sqlite", "digest").close()
    modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
    assert (modes["saved"], modes["scores.sqlite"]) == (0o700, 0o600)
    assert modes["out"] == 0o777 & ~0o022


ROLES = "--task place --user owner"
TARGETS = [
    f"minimize {{file}} {ROLES} --out {{there}}/a.csv",
    f"minimize {{file}} {ROLES} --json {{there}}/a.json",
    f"minimize {{file}} {ROLES} --store {{there}}/a.sqlite",
    f"compare {{file}} {ROLES} --report {{there}}/a.html",
    f"compare {{file}} {ROLES} --json {{there}}/a.json",
    f"compare {{file}} {ROLES} --store {{there}}/a.jsonl",
    f"publish {{file}} {ROLES} --defence none --out {{there}}/a",
    f"publish {{file}} {ROLES} --defence none --out {{here}}/a --save {{there}}/a",
    "publish {file}.schema.yaml --task place --hide owner --defence latent --out {there}/a",
    "publish {file}.schema.yaml --task place --hide owner --defence latent --out {here}/a --save {there}/a",
    "edge export {file}.schema.yaml --hide owner --out {there}",
    "edge export {file}.schema.yaml --hide owner --out {here}/b --save {there}/a",
    "edge measure --out {there}/a.json --bundles {here}/none",
]


@pytest.mark.parametrize("how", ["read-only", "full"])
@pytest.mark.parametrize("words", TARGETS)
def test_a_read_only_or_full_target_is_noticed_before_the_work(words, how, tmp_path, monkeypatch, capsys):
    """The input does not exist, so an error about the target comes before any reading."""
    there, here = tmp_path / "there", tmp_path / "here"
    there.mkdir()
    here.mkdir()

    def probe(dir, real=tempfile.TemporaryFile):
        if Path(dir) == there and how == "read-only":
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        return real(dir=dir)

    def usage(folder, real=shutil.disk_usage):
        return real(folder)._replace(free=0 if Path(folder) == there and how == "full" else 10**12)

    monkeypatch.setattr(tempfile, "TemporaryFile", probe)
    monkeypatch.setattr(shutil, "disk_usage", usage)
    assert main(words.format(file=tmp_path / "missing.csv", there=there, here=here).split()) == 1
    said = capsys.readouterr().err
    assert f"cannot write to {there}: " in said
    assert len(said.splitlines()) == 1
    assert ("Read-only" if how == "read-only" else "0 MB are free") in said


FEW = """
import resource
import sys
from pathlib import Path
import pandas as pd
from sensorrelease.publishing.writing import write_rows
resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))
pieces = (pd.DataFrame({"x": range(at, at + 10)}) for at in range(0, 1000, 10))
print(write_rows(pieces, Path(sys.argv[1]), rows=1000))
"""


@pytest.mark.skipif(os.name != "posix", reason="limits of open files")
def test_few_open_files_are_enough(tmp_path):
    """A file of 100 pieces needed 100 open files; many systems allow 256, some 64."""
    said = subprocess.run([sys.executable, "-c", FEW, tmp_path / "a.csv"], capture_output=True, text=True, check=False)
    assert said.stdout.strip() == "1000", said.stderr
    assert sorted(pd.read_csv(tmp_path / "a.csv")["x"]) == list(range(1000))
