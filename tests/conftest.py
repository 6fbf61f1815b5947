"""Fixtures that all tests share, and a checkout of their own: no test reads or changes what a user has here."""

import collections
import functools
import multiprocessing
import multiprocessing.util
import os
import shutil
import signal
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any, TypeVar

# Two workers share the cores: threads of one would wait in loops for those of the other. Set before NumPy is imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import hypothesis
import matplotlib as mpl
import pytest

mpl.use("Agg")
# No deadlines: absolute times mean nothing on a shared machine.
hypothesis.settings.register_profile("shared machine", deadline=None, max_examples=50)
hypothesis.settings.load_profile("shared machine")

ROOT = Path(__file__).resolve().parents[1]
Report = TypeVar("Report", pytest.TestReport, pytest.CollectReport)


NAMED_MIRROR = os.environ.get("SENSORPRIVACY_MIRROR")
"""The mirror named outside the tests; fixtures change the variable."""


def mirror_folder() -> Path | None:
    """Return the folder that mirrors the real data sets, if this machine has one."""
    folder = Path(NAMED_MIRROR) if NAMED_MIRROR else ROOT.parent / "shared" / "data"
    return folder.resolve() if folder.is_dir() else None


# A process forked from this server has imported what takes seconds in each new process.
WARM = multiprocessing.get_context("forkserver")
WARM.set_forkserver_preload(
    [
        "sensorprivacy.minimize.engines",
        "sensorprivacy.minimize.search.exhaustive",
        "sensorrelease.comparison",
        "sensorprivacy.latent.anonymizer",
        "compendium.run.provenance",
        "IPython.core.interactiveshell",
        "matplotlib.pyplot",
        "shap",
    ]
)
_HEAD = """\
import os, sys
os.setsid()
os.chdir({folder!r})
os.environ.clear()
os.environ.update({environment!r})
sys.argv = {words!r}
"""


@pytest.fixture(scope="session")
def start_warm() -> Callable[..., Any]:
    """Return a function that starts code in a process and a session of its own, so that its workers die with it."""
    multiprocessing.util.get_temp_dir()  # of the server: else it lies in a folder that one test removes

    def start(code: str, *words: object) -> Any:
        environment, folder = dict(os.environ), str(Path.cwd())
        head = _HEAD.format(folder=folder, environment=environment, words=["-c", *map(str, words)])
        process = WARM.Process(target=exec, args=(head + code, {"__name__": "__main__"}))
        process.start()
        return process

    return start


def hears_interrupts() -> None:
    """Let a child that is about to start react to Ctrl-C: a shell makes commands in the background ignore it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def shared_cache(factory: pytest.TempPathFactory) -> Path:
    """Return the cache of this session; several workers share it, as tables made from data sets take long."""
    base = factory.getbasetemp()
    return (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "cache"


def fresh_checkout(home: Path) -> Path:
    """Fill a folder as a checkout of this code without downloads, results and a remembered mirror, and return it."""
    for folder, ours in (
        ("", {"build", "data", "figures"}),
        ("data", {"raw", "derived"}),
        ("figures", {"quick", "own"}),
    ):
        (home / folder).mkdir(exist_ok=True)
        for path in (ROOT / folder).glob("*"):
            if path.name not in ours and not path.name.startswith("."):
                (home / folder / path.name).symlink_to(path)
    return home


@pytest.fixture(scope="session", autouse=True)
def isolated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Point the library to a checkout without downloads, results and remembered mirror, and to an empty cache."""
    home = fresh_checkout(tmp_path_factory.mktemp("checkout"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SENSORPRIVACY_HOME", str(home))
        patch.setenv("SENSORPRIVACY_CACHE", str(shared_cache(tmp_path_factory)))
        yield


# A worker gets whole files. The longest ones come first, so that no worker is left with one at the end.
_LONGEST = (
    "compendium/run/test_first_run.py",
    "notebooks/test_execution.py",
    "cluster/test_slurm.py",
    "cluster/test_dask.py",
    "compendium/run/test_reproduce.py",
    "compendium/book/test_browser.py",
    "sensorrelease/test_nothing_leaves.py",
    "minimize/forest/test_engine.py",
)


@pytest.hookimpl(tryfirst=True)  # before pytest leaves out the slow tests
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest files first, and call the cases of a test slow that follow the first ones (mark `first`)."""
    place = {ROOT / "tests" / name: at for at, name in enumerate(_LONGEST)}
    items.sort(key=lambda item: place.get(item.path, len(place)))
    cases = collections.Counter[str]()
    for item in items:
        name = item.nodeid.partition("[")[0]
        cases[name] += 1
        if (first := item.get_closest_marker("first")) and cases[name] > first.args[0]:
            item.add_marker(pytest.mark.slow)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Remove the cache, which may hold gigabytes, when the last worker has ended."""
    factory = getattr(session.config, "_tmp_path_factory", None)
    if factory and "PYTEST_XDIST_WORKER" not in os.environ:
        shutil.rmtree(shared_cache(factory), ignore_errors=True)


@pytest.fixture(scope="session")
def interruptible() -> Callable[[], None]:
    """Return the `preexec_fn` of a child that a test interrupts, wherever the tests themselves were started."""
    return hears_interrupts


@pytest.fixture(scope="session")
def root() -> Path:
    """Return the checkout."""
    return ROOT


@pytest.fixture(scope="session")
def bare_checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a checkout as after a clone."""
    return fresh_checkout(tmp_path_factory.mktemp("bare"))


@pytest.fixture
def mirror(monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the mirror of real data and make the library use it; skip the test if there is none."""
    folder = mirror_folder()
    if folder is None:
        pytest.skip("needs the data mirror: set SENSORPRIVACY_MIRROR to a folder that holds it")
    monkeypatch.setenv("SENSORPRIVACY_MIRROR", str(folder))
    return folder


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A checkout without data, an empty cache, no mirror, and nothing known about the network."""
    from compendium.datasets import network

    home = tmp_path / "home"
    for name in ("notebooks", "data", "lib"):
        (home / name).mkdir(parents=True)
    monkeypatch.setenv("SENSORPRIVACY_HOME", str(home))
    monkeypatch.setenv("SENSORPRIVACY_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("SENSORPRIVACY_MIRROR", raising=False)
    monkeypatch.setattr(network, "NETWORK", network.Network())
    return home / "data" / "raw"


@pytest.fixture
def captures(mirror):
    """Name and content of IoT Sentinel's 550 captures, sorted; read once a session."""
    return _captures()


@functools.cache
def _captures():
    from compendium.datasets import store

    located = store.fetch("iot-sentinel")
    return [(member, located.read(member)) for member in located.members if member.endswith(".pcap")]


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Show progress bars, as on a terminal."""
    monkeypatch.setattr("sensorprivacy.progress.watched", lambda: True)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Fail tests that skip because they lack the mirror, if SENSORPRIVACY_REQUIRE_MIRROR is set."""
    return _required((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Fail files that skip for that reason, too."""
    return _required((yield))


def _required(report: Report) -> Report:
    if report.skipped and isinstance(report.longrepr, tuple) and os.environ.get("SENSORPRIVACY_REQUIRE_MIRROR"):
        reason = report.longrepr[2].removeprefix("Skipped: ")
        if reason.startswith(("needs the data mirror", "needs the package index")):
            report.outcome = "failed"
            report.longrepr = f"skipped although there is a mirror: {reason}"
    return report
