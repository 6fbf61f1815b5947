"""A worker ends with the process that it watches."""

import subprocess
import sys
import time

CHILD = "import sys, time; from sensorprivacy.parents import end_with; end_with(int(sys.argv[1])); time.sleep(30)"


def test_a_worker_ends_within_two_seconds_of_the_process_it_watches():
    watched = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(30)"])
    worker = subprocess.Popen([sys.executable, "-c", CHILD, str(watched.pid)])
    time.sleep(1)
    assert worker.poll() is None
    watched.kill()
    watched.wait()
    assert worker.wait(timeout=5) == 1
