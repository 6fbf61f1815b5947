"""Processes end with the one that started them."""

import os
import subprocess
import sys
import time

import filelock
import nbformat
import psutil
import pytest

from compendium.run.processes import LIFELINE, TERMINATED, end_children, lifeline

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals")
SLEEP = "import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)']); print()"


def ended(process: psutil.Process) -> bool:
    return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE


def wait_for(condition, seconds: float = 100) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.1)


def test_all_descendants_are_ended():
    child = subprocess.Popen([sys.executable, "-c", f"{SLEEP}; time.sleep(60)"], stdout=subprocess.PIPE)
    child.stdout.readline()
    descendants = psutil.Process(child.pid).children(recursive=True)
    assert descendants
    end_children()
    wait_for(lambda: ended(psutil.Process(child.pid)) if psutil.pid_exists(child.pid) else True)
    wait_for(lambda: all(map(ended, descendants)))


def test_a_guarded_process_ends_with_the_holder_of_the_lifeline(tmp_path):
    (tmp_path / "sleeper.py").write_text(f"{SLEEP}; time.sleep(60)")
    words = [sys.executable, "-m", "compendium.run.processes", "sleeper"]
    own = filelock.FileLock(tmp_path / "lifeline-1.lock")
    with own:
        environment = {**os.environ, LIFELINE: own.lock_file}
        child = subprocess.Popen(words, cwd=tmp_path, env=environment, stdout=subprocess.PIPE)
        child.stdout.readline()
        descendants = psutil.Process(child.pid).children(recursive=True)
        assert descendants
        time.sleep(1)
        assert child.poll() is None
    assert child.wait(10) == TERMINATED
    wait_for(lambda: all(map(ended, descendants)))


def test_the_lifeline_of_a_killed_process_is_removed_and_its_own_leaves_nothing(tmp_path):
    (tmp_path / "lifeline-1.lock").touch()
    with lifeline(tmp_path):
        assert os.environ[LIFELINE] == str(tmp_path / f"lifeline-{os.getpid()}.lock")
        assert [path.name for path in tmp_path.iterdir()] == [f"lifeline-{os.getpid()}.lock"]
    assert LIFELINE not in os.environ
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_single_run_that_is_killed_takes_its_kernel_with_it(tmp_path):
    started = tmp_path / "started"
    cell = nbformat.v4.new_code_cell("x: int = 1  # nothing", metadata={"tags": ["parameters"]})
    code = f"import os, time\nopen({str(started)!r}, 'w').write(str(os.getpid()))\ntime.sleep(120)"
    nbformat.write(nbformat.v4.new_notebook(cells=[cell, nbformat.v4.new_code_cell(code)]), tmp_path / "a.ipynb")
    words = [sys.executable, "-m", "compendium", "run", str(tmp_path / "a.ipynb"), "-o", str(tmp_path / "b.ipynb")]
    child = subprocess.Popen([*words, "--log", str(tmp_path / "log")], stderr=subprocess.DEVNULL)
    wait_for(lambda: started.exists() and started.read_text(), seconds=200)
    kernel = psutil.Process(int(started.read_text()))
    child.kill()
    child.wait()
    wait_for(lambda: ended(kernel), seconds=20)
