"""The user's cache, and files that nobody reads half."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

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


SHARES = """
import os, time
import numpy as np
from joblib import Parallel, delayed
from sensorprivacy.paths import temporary_files
with temporary_files():
    work = Parallel(2, return_as="generator")(delayed(np.sum)(np.full(10**6, at)) for at in range(50))
    next(work)
    print(os.environ["JOBLIB_TEMP_FOLDER"], flush=True)
    time.sleep(60)
"""


@pytest.mark.skipif(os.name != "posix", reason="Windows does not say whether a process lives")
def test_arrays_that_killed_workers_shared_are_removed_by_the_next_one(tmp_path):
    """Joblib's folders stayed in /dev/shm: 8 MB for each array, if workers are killed with their parent."""
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    for name in ("JOBLIB_TEMP_FOLDER", "SENSORPRIVACY_TEMPORARY"):
        environment.pop(name, None)
    words = [sys.executable, "-c", SHARES]
    with subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True) as child:
        folder = child.stdout.readline().strip()
        os.killpg(child.pid, signal.SIGKILL)
    assert [path for path in Path(folder).rglob("*") if path.is_file()]
    code = "from sensorprivacy.paths import temporary_files\nwith temporary_files(): pass"
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
    assert list(tmp_path.iterdir()) == []


def test_temporary_files_lie_in_one_folder_and_are_removed(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.delenv("SENSORPRIVACY_TEMPORARY", raising=False)
    monkeypatch.setattr(paths, "_LONGEST", 1000)
    code = "import tempfile; print(tempfile.mkdtemp())"
    with paths.temporary_files():
        made = [
            subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=True).stdout.decode().strip()
        ]
        with paths.temporary_files():  # inside another one, nothing changes
            made += [tempfile.mkdtemp()]
        assert {Path(one).parent for one in made} == set(tmp_path.iterdir())
    assert list(tmp_path.iterdir()) == []
    assert tempfile.gettempdir() == str(tmp_path) == os.environ["TMPDIR"]
    assert "SENSORPRIVACY_TEMPORARY" not in os.environ


def test_a_folder_is_replaced_at_once(tmp_path, monkeypatch):
    """`shutil.rmtree` before the new folder had its name left half of the old one if it was interrupted."""
    old, new = tmp_path / "old", tmp_path / "new"
    for folder in (old, new):
        folder.mkdir()
        (folder / folder.name).touch()

    def interrupted(folder, **_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("shutil.rmtree", interrupted)
        with pytest.raises(KeyboardInterrupt):
            paths.replace_folder(old, new)
    assert [path.name for path in old.iterdir()] == ["new"]
    paths.replace_folder(old)
    assert not old.exists()


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not tell when a process began")
def test_a_process_with_the_number_of_a_killed_one_does_not_keep_what_that_one_left(tmp_path):
    """A killed archive stayed for as long as another process had the number of its owner."""
    left = paths.part_of(tmp_path / "a")
    left.mkdir()
    paths.part_of(tmp_path / "a")
    assert left.exists()  # its owner is this process
    name, number, began, token = left.name.rsplit("-", 3)
    killed = left.rename(tmp_path / f"{name}-{number}-{int(began) - 1}-{token}")
    paths.part_of(tmp_path / "a")
    assert not killed.exists()


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
