"""Fixtures that every room shares."""

import os
import signal
from collections.abc import Callable, Generator
from pathlib import Path
from typing import TypeVar

import matplotlib as mpl
import pytest

mpl.use("Agg")

ROOT = Path(__file__).resolve().parents[1]
Report = TypeVar("Report", pytest.TestReport, pytest.CollectReport)


def mirror_folder() -> Path | None:
    """Return the folder that mirrors the real data sets, if this machine has one."""
    named = os.environ.get("SENSORPRIVACY_MIRROR")
    folder = Path(named) if named else ROOT.parent / "shared" / "data"
    return folder.resolve() if folder.is_dir() else None


def hears_interrupts() -> None:
    """Undo, in a child about to start, what a shell does to commands in the background: ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.fixture(scope="session")
def interruptible() -> Callable[[], None]:
    """Return the `preexec_fn` of a child that is to be interrupted, wherever the tests themselves were started."""
    return hears_interrupts


@pytest.fixture(scope="session")
def root() -> Path:
    """Return the checkout."""
    return ROOT


@pytest.fixture
def mirror(monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the mirror of real data and point the data chain at it; skip where there is none."""
    folder = mirror_folder()
    if folder is None:
        pytest.skip("needs the data mirror: set SENSORPRIVACY_MIRROR to a folder that holds it")
    monkeypatch.setenv("SENSORPRIVACY_MIRROR", str(folder))
    return folder


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Fail what skips for want of the mirror where SENSORPRIVACY_REQUIRE_MIRROR says that there is one."""
    return _required((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Do so for a whole file that skips, too."""
    return _required((yield))


def _required(report: Report) -> Report:
    if report.skipped and isinstance(report.longrepr, tuple) and os.environ.get("SENSORPRIVACY_REQUIRE_MIRROR"):
        reason = report.longrepr[2].removeprefix("Skipped: ")
        if reason.startswith("needs the data mirror"):
            report.outcome = "failed"
            report.longrepr = f"skipped although there is a mirror: {reason}"
    return report
