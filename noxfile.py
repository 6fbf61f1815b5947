"""Test the package as users install it: ``nox -s core``, ``nox -s lowest``, ``nox -s everything``."""

import nox

nox.options.default_venv_backend = "uv|virtualenv"
nox.options.error_on_missing_interpreters = False

CORE = ["tests/test_mechanisms.py", "tests/game", "tests/threeway", "tests/own", "tests/minimize"]
"""Tests of tables: they need no extra, apart from the files below."""
NEED_EXTRAS = [
    "tests/sensorrelease/test_compare_cli.py",
    "tests/sensorrelease/test_from_phone.py",
    "tests/sensorrelease/test_leftovers.py",
    "tests/sensorrelease/test_nothing_leaves_recordings.py",
    "tests/sensorrelease/test_published_files.py",
    "tests/sensorrelease/test_published_recordings.py",
    "tests/sensorrelease/test_recordings.py",
    "tests/sensorrelease/test_windows.py",
    "tests/minimize/search",
]
TOOLS = ["pytest>=8.3", "pytest-timeout>=2.3", "pytest-xdist>=3.6", "hypothesis>=6.100", "mlxtend>=0.23", "dpkt>=1.9.8"]
TOOLS += ["filelock>=3.13", "requests>=2.32"]  # with them, compendium.datasets finds the real data of tests
VERSIONS = ["3.11", "3.12", "3.13"]


def _test_core(session: nox.Session) -> None:
    session.install("--no-deps", "-e", "lib")
    left_out = [word for path in NEED_EXTRAS for word in ("--ignore", path)]
    session.run("python", "-m", "pytest", "-q", "-n", "2", *left_out, *(session.posargs or CORE))


@nox.session(python=VERSIONS)
def core(session: nox.Session) -> None:
    """Install the wheel with no extra but formats, and test what works on tables."""
    session.install(".[release]", *TOOLS)
    _test_core(session)


@nox.session(python="3.11", venv_backend="uv")
def lowest(session: nox.Session) -> None:
    """Install the lowest versions that pyproject.toml allows, and test what works on tables."""
    wheels = ("--only-binary", ":all:", "--no-binary", "sensorprivacy")
    session.install("--resolution", "lowest-direct", *wheels, ".[release]", *TOOLS)
    _test_core(session)


@nox.session(python=VERSIONS)
def everything(session: nox.Session) -> None:
    """Install the locked versions, and run all tests."""
    session.install("-r", "requirements-dev.lock")
    session.install("--no-deps", "-e", ".", "-e", "lib")
    session.run("python", "-m", "pytest", "-q", "-n", "2", *session.posargs)
