"""Forks of the source behave like new processes, and end with those that asked for them."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from sensorprivacy.runner import forks
from sensorprivacy.runner.processes import TERMINATED

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks are used on Linux only")
REPORT = """
import json, os, random, sys
import numpy
found = {
    "words": sys.argv[1:], "folder": os.getcwd(), "variable": os.environ.get("WORD"), "door": "DOOR" in os.environ,
    "parent": os.getppid(), "session": os.getsid(0), "name": __name__, "loaded": "nbformat" in sys.modules,
    "random": random.random(), "numpy": numpy.random.random(),
}
print(json.dumps(found), flush=True)
print("a warning", file=sys.stderr)
sys.exit(int(sys.argv[1]))
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """Return a folder with modules to run."""
    folder = tmp_path_factory.mktemp("programs")
    (folder / "report.py").write_text(REPORT)
    (folder / "sleeper.py").write_text(
        "import subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(100)'])\n"
        "print(child.pid, flush=True)\ntime.sleep(100)\n"
    )
    (folder / "broken.py").write_text("raise KeyError('why')")
    return folder


@pytest.fixture
def source(program, monkeypatch):
    """Start a source that finds the modules."""
    monkeypatch.setenv("PYTHONPATH", str(program))
    with forks.source():
        yield


def run(*words, **options):
    """Run a module as `reproduce` runs its programs, and return what became of it."""
    call = [sys.executable, "-m", "sensorprivacy.runner.forks", *words]
    return subprocess.run(call, capture_output=True, text=True, timeout=200, **options)


def start(*words):
    call = [sys.executable, "-m", "sensorprivacy.runner.forks", *words]
    return subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)


def gone(pid, seconds=20):
    until = time.monotonic() + seconds
    while psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
        if time.monotonic() > until:
            return False
        time.sleep(0.1)
    return True


@pytest.fixture(autouse=True)
def checkout(monkeypatch, tmp_path):
    """Make an empty checkout."""
    for folder in ("lib", "notebooks", "data"):
        (tmp_path / folder).mkdir()
    monkeypatch.setenv("SENSORPRIVACY_HOME", str(tmp_path))


def test_a_fork_has_its_own_words_folder_variables_streams_code_and_random_numbers(source, tmp_path):
    first = run("report", "3", "a b", cwd=tmp_path, env={**os.environ, "WORD": "x"})
    second = run("report", "0", cwd=tmp_path.parent)
    assert (first.returncode, second.returncode) == (3, 0)
    assert first.stderr == second.stderr == "a warning\n"
    one, other = json.loads(first.stdout), json.loads(second.stdout)
    assert one["words"] == ["3", "a b"]
    assert (one["folder"], other["folder"]) == (str(tmp_path), str(tmp_path.parent))
    assert (one["variable"], other["variable"]) == ("x", None)
    assert one["name"] == "__main__"
    assert one["loaded"], "it has the packages of the source"
    assert one["parent"] == other["parent"] != os.getpid()
    assert one["random"] != other["random"]
    assert one["numpy"] != other["numpy"]


def test_without_a_source_the_program_runs_all_the_same(program, tmp_path):
    found = run("report", "4", cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(program)})
    assert found.returncode == 4
    assert not json.loads(found.stdout)["loaded"]


@pytest.mark.parametrize("variable", ["OMP_NUM_THREADS", "PYTHONHASHSEED", "MPLBACKEND"])
def test_other_settings_of_packages_need_a_new_process(source, variable):
    assert json.loads(run("report", "0").stdout)["loaded"]
    changed = {**os.environ, variable: "7"}
    assert not json.loads(run("report", "0", env=changed).stdout)["loaded"]


def test_a_changed_library_needs_a_new_process(source, monkeypatch, tmp_path):
    """The record of a run names the code on the disk, so old code must not run under its name."""
    package = tmp_path / "lib" / "sensorprivacy"
    package.mkdir()
    (package / "a.py").touch()
    read, found = forks._settings({"OMP_NUM_THREADS": "1", "HOME": "/"})
    assert read == {"OMP_NUM_THREADS": "1"}
    assert found[forks.__file__] == Path(forks.__file__).stat().st_mtime_ns
    monkeypatch.setattr(forks, "__file__", str(package / "runner" / "forks.py"))
    before = forks._settings({})
    os.utime(package / "a.py", ns=(1, 1))
    assert forks._settings({}) != before


def test_a_folder_for_temporary_files_with_a_long_path_means_no_source(monkeypatch, tmp_path):
    """Sockets have short paths; reproduce would have ended with an OSError."""
    long = tmp_path / ("x" * 100)
    long.mkdir()
    monkeypatch.setattr(forks.tempfile, "tempdir", str(long))
    with forks.source():
        assert forks.DOOR not in os.environ
    assert list(long.iterdir()) == []


def test_an_error_is_shown_and_is_a_failure(source):
    found = run("broken")
    assert found.returncode == 1
    assert "KeyError: 'why'" in found.stderr


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_fork_ends_with_the_process_that_asked_for_it(source, number):
    asked = start("sleeper")
    child = int(asked.stdout.readline())
    fork = psutil.Process(child).ppid()
    assert fork != asked.pid
    asked.send_signal(number)
    asked.wait()
    assert gone(fork)
    assert gone(child)


def test_a_fork_that_is_killed_is_a_failure(source):
    asked = start("sleeper")
    os.kill(psutil.Process(int(asked.stdout.readline())).ppid(), signal.SIGKILL)
    assert asked.wait(20) == TERMINATED


def test_ctrl_c_reaches_the_fork_and_its_source_waits_for_it(program, monkeypatch, interruptible):
    monkeypatch.setenv("PYTHONPATH", str(program))
    code = "import subprocess, sys\nfrom sensorprivacy.runner import forks\n"
    code += "with forks.source(): subprocess.run(sys.argv[1:])"
    words = [sys.executable, "-m", "sensorprivacy.runner.forks", "sleeper"]
    asked = subprocess.Popen(
        [sys.executable, "-c", code, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True, preexec_fn=interruptible,
    )  # fmt: skip
    child = int(asked.stdout.readline())
    fork = psutil.Process(child).ppid()
    source = psutil.Process(fork).ppid()
    os.killpg(asked.pid, signal.SIGINT)
    asked.communicate(timeout=20)
    assert all(gone(pid) for pid in (fork, child, source))


def test_the_source_ends_with_its_process_even_if_that_is_killed(program, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(program))
    code = "import os, time\nfrom sensorprivacy.runner import forks\n"
    code += "with forks.source(): print(os.environ[forks.DOOR], flush=True); time.sleep(100)"
    asked = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    door = Path(asked.stdout.readline().strip())
    (source,) = psutil.Process(asked.pid).children()
    until = time.monotonic() + 60
    while not door.exists() and time.monotonic() < until:
        time.sleep(0.05)
    asked.kill()
    asked.wait()
    assert gone(source.pid)
    assert not door.parent.exists()


def test_the_packages_of_every_notebook_start_no_thread(root):
    """Only the thread that forks lives on in a fork; locks that others hold would stay locked there."""
    code = (
        "import os, sys\nfrom sensorprivacy.runner import forks\n"
        "for notebook in sys.argv[1:]: forks._load(notebook)\n"
        "assert 'torch' in sys.modules and 'shap' in sys.modules, 'it loads less than the notebooks import'\n"
        "print(*[open(f'/proc/self/task/{task}/comm').read().strip() for task in os.listdir('/proc/self/task')])"
    )
    notebooks = [f"notebooks/{path.name}" for path in sorted((root / "notebooks").glob("*.ipynb"))]
    single = {
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        "SENSORPRIVACY_HOME": str(root),
    }
    words = [sys.executable, "-c", code, *notebooks]
    threads = subprocess.check_output(words, env={**os.environ, **single}, text=True, timeout=250).split()
    assert set(threads[1:]) <= {"jemalloc_bg_thd"}, "jemalloc has handlers for forks, others may not"


def test_forks_draw_noise_of_their_own():
    """The source has loaded OpenDP; forks that shared its generator would publish the same noise."""
    code = (
        "import os\nimport numpy as np\nfrom sensorprivacy.mechanisms.noise import SecureNoise\n"
        "for _ in range(3):\n"
        "    if os.fork() == 0:\n"
        "        print(SecureNoise().laplace(np.zeros(4), 1.0), flush=True)\n        os._exit(0)\n"
        "    os.wait()\n"
    )
    drawn = subprocess.check_output([sys.executable, "-c", code], text=True, timeout=100).split("\n")[:3]
    assert len(set(drawn)) == 3
