"""A worker ends with the process that it watches."""

import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

CHILD = "import sys, time; from sensorprivacy.parents import end_with; end_with(int(sys.argv[1])); time.sleep(30)"


def test_a_worker_ends_within_two_seconds_of_the_process_it_watches():
    watched = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(30)"])
    worker = subprocess.Popen([sys.executable, "-c", CHILD, str(watched.pid)])
    time.sleep(1)
    assert worker.poll() is None
    watched.kill()
    watched.wait()
    assert worker.wait(timeout=5) == 1


PARENT = """
import subprocess, sys, time
from sensorprivacy.parents import keep_workers
keep_workers()
for words in (["-m", "popen_loky_posix"], ["a server of the user"]):
    print(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)", *words]).pid, flush=True)
time.sleep(60)
"""


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="only Linux has /proc")
def test_a_worker_that_still_starts_ends_with_its_parent_and_nothing_else_does():
    parent = subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True)
    worker, other = (psutil.Process(int(parent.stdout.readline())) for _ in range(2))
    keeper = next(child for child in psutil.Process(parent.pid).children() if child not in (worker, other))
    time.sleep(0.5)
    assert worker.is_running()
    parent.kill()
    parent.wait()
    worker.wait(10)
    keeper.wait(10)
    assert other.is_running()
    other.kill()
