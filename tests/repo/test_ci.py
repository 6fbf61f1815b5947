""".ci/run: a test may not skip for lack of the mirror if the mirror is required."""

import os
import shutil
import subprocess
import sys

import pytest

TESTS = """\
import pytest

def test_real(mirror):
    pass

def test_skipped():
    pytest.skip("needs a tape drive")
"""
MODULE = 'import pytest\npytest.skip("needs the data mirror: all of it", allow_module_level=True)\n'


CASES = """\
import pytest

@pytest.mark.first(2)
@pytest.mark.parametrize("case", "abcd")
def test_many(case):
    pass

@pytest.mark.parametrize("case", "abc")
def test_all(case):
    pass
"""


def run_tests(folder, environment, *words):
    """Run the tests in a folder in a process of their own."""
    words = ["-q", "-p", "no:cacheprovider", "--rootdir", folder.parent, folder, *words]
    return subprocess.run(
        [sys.executable, "-m", "pytest", *map(str, words)],
        cwd=folder.parent,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(("words", "ran"), [(("-m", "not slow"), "5 passed, 2 deselected"), ((), "7 passed")])
def test_of_many_cases_the_first_ones_are_not_slow(root, tmp_path, words, ran):
    folder = tmp_path / "tests"
    folder.mkdir()
    shutil.copy(root / "tests" / "conftest.py", folder)
    (folder / "test_a.py").write_text(CASES)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n    first(n)\n    slow\n")
    assert ran in run_tests(folder, dict(os.environ), *words).stdout


@pytest.mark.parametrize("required", [False, True])
def test_a_skip_for_want_of_the_mirror_fails_where_it_is_required(root, tmp_path, required):
    folder = tmp_path / "tests"
    folder.mkdir()
    shutil.copy(root / "tests" / "conftest.py", folder)
    (folder / "test_a.py").write_text(TESTS)
    (folder / "test_b.py").write_text(MODULE)
    environment = {**os.environ, "SENSORPRIVACY_MIRROR": str(tmp_path / "nowhere")}
    environment.pop("SENSORPRIVACY_REQUIRE_MIRROR", None)
    if required:
        environment["SENSORPRIVACY_REQUIRE_MIRROR"] = "1"
    done = run_tests(folder, environment)
    if required:
        assert done.returncode
        assert "skipped although there is a mirror: needs the data mirror: all of it" in done.stdout
    else:
        assert done.returncode == 0
        assert "3 skipped" in done.stdout


def test_the_script_is_there_can_be_run_and_calls_make_test(root):
    script = root / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert "exec make test SLOW=1 </dev/null" in script.read_text()
