""".ci/run: no test may skip for lack of a required mirror, no result be wrong, and none of a release stale."""

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


@pytest.mark.parametrize("version", ["1.0.0", "1.0.1.dev0"])
@pytest.mark.parametrize(
    ("tests", "report", "passes"),
    [
        (0, "0 wrong, 0 stale, 12 runs without results", {"1.0.0", "1.0.1.dev0"}),
        (0, "stale  a: code\n0 wrong, 1 stale, 12 runs without results", {"1.0.1.dev0"}),
        (0, "wrong  a: was changed\n1 wrong, 0 stale, 12 runs without results", set()),
        (0, "10 wrong, 0 stale, 12 runs without results", set()),
        (0, "Traceback", set()),
        (1, "0 wrong, 0 stale, 12 runs without results", set()),
    ],
)
def test_the_script_fails_with_the_tests_a_wrong_result_or_a_release_with_a_stale_one(
    root, tmp_path, version, tests, report, passes
):
    script = tmp_path / ".ci" / "run"
    script.parent.mkdir()
    shutil.copy(root / ".ci" / "run", script)
    (tmp_path / "pyproject.toml").write_text(f'[project]\nversion = "{version}"\ndescription = "for dev use"\n')
    failing = int(not report.startswith("0 wrong, 0 stale"))
    cases = f"""*verify*) echo '{report}'; exit {failing};; "test SLOW=1") exit {tests};;"""
    made = f'#!/bin/sh\ncase "$*" in {cases} esac\nexit 2\n'
    for name, text in {"make": made, "chromium": "#!/bin/sh\n", "slurmctld": "#!/bin/sh\n"}.items():
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(text)
        program.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run([script], env=environment, capture_output=True, text=True)
    assert (done.returncode == 0) == (version in passes)
    assert (report in done.stdout) == (tests == 0)
