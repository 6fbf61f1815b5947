"""The user's cache, and files that nobody reads half."""

import os
import subprocess
import sys

import pytest

from sensorprivacy import paths


def test_an_atomic_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "table.csv"
    paths.write_atomically(path, lambda part: part.write_text("old"))

    def fails(self, target):
        raise OSError(28, "disk full")

    monkeypatch.setattr("pathlib.Path.replace", fails)
    with pytest.raises(OSError, match="disk full"):
        paths.write_atomically(path, lambda part: part.write_text("new"))
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["table.csv"]


STOPS = """
import sys, time
from pathlib import Path
from sensorprivacy.paths import part_folder
with part_folder(Path(sys.argv[1])) as part:
    (part / "a").mkdir()
    (part / "a" / "b").write_bytes(b"x" * 1000)
    print(part.name, flush=True)
    time.sleep(60)
"""


@pytest.mark.skipif(os.name != "posix", reason="Windows does not say whether a process lives")
def test_what_a_killed_process_left_is_removed_at_the_next_start(tmp_path):
    """Issue 57: a killed archive left 138 MB in the temporary folder for ever."""
    target = tmp_path / "a[1].zip"
    others = [".a[1].zip.part", ".a[1].zip.elsewhere-1-abc.part", ".b.zip.part", ".a[1].zip.x-99999999-1.part"]
    for name in others:
        (tmp_path / name).write_text("not ours, or of another host")
    running = [
        subprocess.Popen([sys.executable, "-c", STOPS, target], stdout=subprocess.PIPE, text=True) for _ in range(2)
    ]
    for child in running:
        child.stdout.readline()
    running[0].kill()
    running[0].wait()
    assert len(list(tmp_path.iterdir())) == len(others) + 2
    try:
        with paths.part_folder(target):
            pass
        left = {path.name for path in tmp_path.iterdir()} - {*others}
        assert [f"-{running[1].pid}-" in name for name in left] == [True]  # its owner still writes it
    finally:
        running[1].kill()
        running[1].wait()


@pytest.mark.skipif(os.name != "posix", reason="symbolic links")
def test_a_link_in_place_of_a_left_folder_is_not_followed(tmp_path):
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").touch()
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    name = paths.part_of(tmp_path / "a").name.replace(f"-{os.getpid()}-", f"-{gone.pid}-")
    (tmp_path / name).symlink_to(kept)
    paths.part_of(tmp_path / "a")
    assert [path.name for path in tmp_path.rglob("*")] == ["kept", "file"]
