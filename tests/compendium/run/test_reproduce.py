"""reproduce, on a small compendium made here: real Snakemake, real kernels, one line a notebook."""

import base64
import contextlib
import functools
import http.server
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import filelock
import nbformat
import psutil
import pytest

from compendium.paths import mirror_address
from compendium.run import reproduce as workflow
from compendium.run.definitions import Code
from compendium.run.job import perform, plan, planned
from compendium.run.parameters import complete, read_parameters
from compendium.run.reproduce import BusyError, reproduce
from compendium.run.runs import RunsError, read_runs, statuses
from compendium.run.screen import shortfalls
from compendium.run.states import (
    FAILED,
    NO_DATA,
    NOT_RUN,
    OK,
    DataState,
    RunState,
    is_settled,
    outputs,
    read_status,
    status_file,
    write_status,
)

RUNS = """\
runs:
  10_good:
    about: writes a table and counts how often it ran
    needs: [here]
    minutes: {quick: 1, paper: 1}
  10_good-other:
    about: the same notebook with another value
    parameters: {word: "{braces} and 'quotes'"}
    minutes: {quick: 1, paper: 1}
  20_absent:
    about: needs a set that is not there
    needs: [gone]
    minutes: {quick: 1, paper: 1}
  30_failing:
    about: fails
    minutes: {quick: 1, paper: 1}
  90_report:
    about: copies what it is told
    minutes: {quick: 1, paper: 1}
    after_all: true
"""
GOOD = """
from pathlib import Path
run = "10_good" if word == "plain" else "10_good-other"
count = Path("build") / f"{run}.count"
count.write_text(count.read_text() + "x" if count.exists() else "x")
folder = Path("figures/quick") / run
folder.mkdir(parents=True, exist_ok=True)
(folder / "word.txt").write_text(word)
(folder / "machine.json").write_text(count.read_text())
"""
REPORT = """
from pathlib import Path
from compendium.run import runs
words = [name + "=" + state.status.replace(" ", "_") for name, state in runs.statuses("quick").items()]
Path("build/told.txt").write_text(" ".join(words))
Path("figures/quick").mkdir(parents=True, exist_ok=True)
Path("figures/quick/verdicts.csv").write_text("claim_id,verdict,basis,low,high\\na,exact,rows,,\\nb,exact,arithmetic,,\\nc,differs,text,,\\n")
"""


def write(path: Path, code: str, parameters: str = "") -> None:
    cells = [
        nbformat.v4.new_code_cell(
            f'profile: str = "quick"  # how long {{quick | paper}}\n{parameters}', metadata={"tags": ["parameters"]}
        ),
        nbformat.v4.new_code_cell(code),
    ]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)


@pytest.fixture
def home(tmp_path, monkeypatch, root):
    """Return a checkout of five runs."""
    for name in ("notebooks", "data/paper", "lib", "build"):
        (tmp_path / name).mkdir(parents=True)
    shutil.copy(root / "Snakefile", tmp_path)
    (tmp_path / "runs.yaml").write_text(RUNS)
    write(tmp_path / "notebooks" / "10_good.ipynb", GOOD, 'word: str = "plain"  # what to write')
    write(tmp_path / "notebooks" / "20_absent.ipynb", "1")
    write(tmp_path / "notebooks" / "30_failing.ipynb", "raise KeyError('the reason')")
    write(tmp_path / "notebooks" / "90_report.ipynb", REPORT)
    monkeypatch.setenv("SENSORPRIVACY_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def say():
    said: list[str] = []
    return said


def look(name: str) -> DataState:
    return (
        DataState(name, digest="d1")
        if name == "here"
        else DataState(name, reason="gone is not here", how="ask its owner")
    )


def counted(home: Path, run: str = "10_good") -> int:
    return len((home / "build" / f"{run}.count").read_text())


@pytest.mark.slow
@pytest.mark.timeout(600)  # ten notebooks, on a busy machine
def test_a_whole_life(home, say, capfd):
    """Runs that are ok, absent and failing; then touched and changed files, a new set: what runs and what does not."""
    first = reproduce("quick", look, cores=2, say=say.append)
    assert {name: state.status for name, state in first.items()} == {
        "10_good": OK,
        "10_good-other": OK,
        "20_absent": NO_DATA,
        "30_failing": FAILED,
        "90_report": OK,
    }
    assert (home / "figures/quick/10_good-other/word.txt").read_text() == "{braces} and 'quotes'"
    assert (home / "build/told.txt").read_text() == "10_good=ok 10_good-other=ok 20_absent=no_data 30_failing=failed"
    assert [line for line in say if line.startswith("no data: ")] == [say[-1]]
    assert say[-1].startswith("no data: gone: on request, see ")
    said = capfd.readouterr().out.splitlines()
    assert [line for line in said if line.startswith("30_failing: 30_failing.ipynb failed in cell [")]
    assert first["30_failing"].log == "build/logs/quick/30_failing.log"
    assert "the reason" in first["30_failing"].reason
    assert "KeyError" in (home / first["30_failing"].log).read_text()
    assert list(first["10_good"].outputs) == ["figures/quick/10_good/word.txt"]
    assert statuses("quick") == {name: state for name, state in first.items() if name != "90_report"}
    assert statuses("quick")["20_absent"].reason == "gone is not on this machine: ask its owner"

    # Times have changed, as after a checkout of another branch and back: no reason to run. One notebook is mended,
    # one parameter changed, one data set has come.
    for path in [*home.glob("notebooks/*"), *home.glob("build/data/*"), *home.glob("figures/quick/*/*")]:
        os.utime(path)
    write(home / "notebooks" / "30_failing.ipynb", "1")
    (home / "runs.yaml").write_text(RUNS.replace("{braces}", "[brackets]"))
    mended = reproduce("quick", lambda name: DataState(name, digest="d1"), cores=2, say=say.append)
    assert {name: state.status for name, state in mended.items()} == dict.fromkeys(mended, OK)
    assert (counted(home), counted(home, "10_good-other")) == (1, 2)
    assert "20_absent=ok 30_failing=ok" in (home / "build/told.txt").read_text()


@pytest.fixture
def pretend(monkeypatch):
    """Replace Snakemake: each run that must run is performed here, without a kernel; return the names of those.

    Runs in `failing` fail; those in `killed` end before they write their status.
    """
    told = SimpleNamespace(ran=[], failing=set(), killed=set())

    def executed(run, profile):
        told.ran.append(run.name)
        if run.name in told.failing:
            return RunState(FAILED, "KeyError: 'reason'", f"build/logs/{profile}/{run.name}.log")
        return RunState(OK, outputs=outputs(run.name, profile))

    def snakemake(names, profile, *_, again=(), **__):
        updated = set()
        for name, run in read_runs().items():
            path, after = status_file(name, profile), updated & set(planned(read_runs(), [name])) - {name}
            if name in names and (name in (again or ()) or not path.is_file() or after or run.after_all):
                path.unlink(missing_ok=True)
                updated.add(name)
                lost = {each for each in names if not status_file(each, profile).is_file()}
                waits = {
                    each for each in planned(read_runs(), [name]) if each != name and not read_runs()[each].after_all
                }
                waits = set(names) if run.after_all else waits
                if name not in told.killed and not (lost & waits - {name}):
                    perform(name, profile)

    monkeypatch.setattr("compendium.run.job._executed", executed)
    monkeypatch.setattr(workflow, "_snakemake", snakemake)
    return told


def test_a_result_that_was_edited_or_deleted_is_made_again(home, say, pretend):
    result = home / "figures/quick/10_good/word.txt"
    result.parent.mkdir(parents=True)
    result.write_text("plain")
    for change in (lambda: None, lambda: None, lambda: result.write_text("edited"), result.unlink):
        change()
        pretend.ran.append("|")
        reproduce("quick", look, only=["10_good"], say=say.append)
    assert [name for name in pretend.ran if name != "90_report"] == [
        "|",
        "10_good",
        "|",
        "|",
        "10_good",
        "|",
        "10_good",
    ]


def test_results_that_nobody_touched_are_not_read_again(home, say, pretend, monkeypatch):
    """Digests of all results took a second of each `reproduce` that had nothing to do."""
    result = home / "figures/quick/10_good/word.txt"
    result.parent.mkdir(parents=True)
    result.write_text("plain")
    reproduce("quick", look, only=["10_good"], say=say.append)
    monkeypatch.setattr("compendium.run.states.digest_of", pytest.fail)
    assert is_settled("10_good", "quick")


SLOW = """
import os, time
from pathlib import Path
import psutil
started = Path("build/started")
if started.exists():
    first = int(started.read_text())
    alive = psutil.pid_exists(first) and psutil.Process(first).status() != psutil.STATUS_ZOMBIE
    assert not alive, "the notebook runs twice at once"
else:
    started.write_text(str(os.getpid()))
    time.sleep(120)
"""


def living(processes: list[psutil.Process]) -> list[psutil.Process]:
    """Return the processes that still do something; nobody may be there to collect those that have ended."""
    found = []
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            found += [process] * (process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    return found


ENDS = {"interrupt": 130, "terminate": 143, "kill": -signal.SIGKILL}
"""Exit code after each way to end it."""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.timeout(600)
def test_however_it_ends_its_children_end_too_and_a_restart_finishes(home, say, interruptible):
    """The next start is the restart after each end; the last one, after the kill, runs to its end."""
    write(home / "notebooks" / "30_failing.ipynb", SLOW)
    for how in ENDS:
        _end(home, interruptible, how)
        if how != "kill":
            (home / "build/started").unlink()  # the next one starts again, and waits to be ended
    assert reproduce("quick", look, only=["30_failing"], say=say.append)["30_failing"].status == OK


def _end(home, interruptible, how):
    """Start `reproduce`, end it while the notebook runs, and check that nothing of it lives on."""
    words = [sys.executable, "-m", "compendium", "reproduce", "30_failing"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    child = subprocess.Popen(words, **pipes, start_new_session=True, preexec_fn=interruptible)
    until = time.monotonic() + 250
    while not (home / "build/started").exists():
        assert child.poll() is None, child.stdout.read()
        assert time.monotonic() < until
        time.sleep(0.2)
    children = psutil.Process(child.pid).children(recursive=True)
    assert len(children) >= 3  # Snakemake, `compendium run` and the kernel
    if how == "interrupt":
        os.killpg(child.pid, signal.SIGINT)  # as a terminal does
    else:
        child.send_signal(signal.SIGTERM if how == "terminate" else signal.SIGKILL)
    child.wait(90)
    until = time.monotonic() + 10  # they would sleep for 120
    while living(children):
        assert time.monotonic() < until
        time.sleep(0.1)
    message, _ = child.communicate(timeout=90)  # the output ends when the last child has closed it
    assert child.returncode == ENDS[how]
    if how == "interrupt":
        assert "interrupted; finished runs are kept" in message
        assert "Traceback" not in message


def test_a_corrupt_set_fails_its_runs_and_no_others(home, say, pretend):
    broken = reproduce(
        "quick",
        lambda name: DataState(name, reason="here.csv is corrupt", broken=True) if name == "here" else look(name),
        say=say.append,
    )
    assert (broken["10_good"].status, broken["10_good"].reason) == (FAILED, "here.csv is corrupt")
    assert [broken[name].status for name in ("10_good-other", "20_absent", "90_report")] == [OK, NO_DATA, OK]
    assert "no data here: here.csv is corrupt" not in say


def test_a_wrong_word_or_a_second_process_is_refused(home, say):
    with pytest.raises(RunsError, match="no run '11'"):
        reproduce("quick", look, only=["11"], say=say.append)
    with filelock.FileLock(home / "build" / "reproduce.lock"), pytest.raises(BusyError, match="another process"):
        reproduce("quick", look, say=say.append)


@pytest.mark.slow
def test_a_broken_workflow_is_no_success(home, say):
    write_status("10_good", "quick", RunState(OK))
    (home / "Snakefile").write_text("no Snakefile at all (")
    with pytest.raises(workflow.WorkflowError, match="Snakemake failed, see"):
        reproduce("quick", look, only=["10_good"], say=say.append)


CHAIN = """\
runs:
  10_first: {about: a run, minutes: {quick: 1, paper: 1}}
  20_second: {about: reads the first, minutes: {quick: 1, paper: 1}, after: ["10_*"]}
  30_third: {about: reads the second, minutes: {quick: 1, paper: 1}, after: [20_second]}
  90_report: {about: the report, minutes: {quick: 1, paper: 1}, after_all: true}
"""


@pytest.fixture
def chain(home):
    """Return a checkout of three runs, each after the one before it."""
    (home / "runs.yaml").write_text(CHAIN)
    for name in ("10_first", "20_second", "30_third"):
        write(home / "notebooks" / f"{name}.ipynb", "1")
    return home


def test_a_run_after_a_failed_one_is_not_ok(chain, say, pretend):
    """C5: break the first and change the second: the second did not run, so its old verdicts do not count."""
    assert {state.status for state in reproduce("quick", look, say=say.append).values()} == {OK}
    status_file("10_first", "quick").unlink()
    pretend.failing.add("10_first")
    for only in ([], ["20_second"], ["30_third"]):
        states = reproduce("quick", look, only=only, say=say.append)
        assert (states["10_first"].status, states["10_first"].reason) == (FAILED, "KeyError: 'reason'")
        for name in ("20_second", "30_third"):
            assert (states[name].status, states[name].reason) == (NOT_RUN, "10_first failed")
    assert "not run: 10_first failed: 20_second, 30_third" in shortfalls(states)
    (chain / "figures/quick/20_second").mkdir(parents=True)
    (chain / "figures/quick/20_second/run.json").write_text("{}")
    assert statuses("quick")["20_second"].status == NOT_RUN  # it left results before the first one broke
    pretend.failing.clear()
    mended = reproduce("quick", look, only=["20_second"], say=say.append)
    assert [mended[name].status for name in ("10_first", "20_second", "30_third")] == [OK, OK, NOT_RUN]
    again = reproduce("quick", look, say=say.append)
    assert {state.status for state in again.values()} == {OK}


@pytest.fixture
def commit(chain, pretend):
    """Return a function that makes the paper's results of a run as they are committed, without its status here."""
    (chain / "requirements.lock").write_text("")

    def commit(name, **record):
        run = read_runs()[name]
        values = complete(read_parameters(run.notebook), run.values("paper"))
        made = {"files": {}, "code": Code(run.notebook, chain / "lib", run.sets).digest, "parameters": values}
        folder = chain / "figures" / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "run.json").write_text(json.dumps(made | {"packages": {}, "data": {}} | record))

    return commit


@pytest.mark.parametrize(
    ("profile", "only", "stale", "ran", "told"),
    [
        ("paper", ["30_third"], [], ["30_third"], "20_second"),
        ("paper", ["30_third"], ["10_first"], ["30_third"], "20_second"),
        ("paper", ["30_third"], ["20_second"], ["20_second", "30_third"], "10_first"),
        ("paper", ["30_third"], ["10_first", "20_second"], ["10_first", "20_second", "30_third"], ""),
        ("paper", ["20_second", "30_third"], [], ["20_second", "30_third"], "10_first"),
        ("paper", [], [], ["10_first", "20_second", "30_third"], ""),
        ("quick", ["30_third"], [], ["10_first", "20_second", "30_third"], ""),
    ],
)
def test_current_results_are_not_made_again_for_a_later_run(say, pretend, commit, profile, only, stale, ran, told):
    """In a fresh clone, a summary of six seconds had to wait for 28 hours of runs with current results."""
    for name in ("10_first", "20_second"):
        commit(name, **({"code": "0"} if name in stale else {}))
    states = reproduce(profile, look, only=only, say=say.append)
    assert [name for name in pretend.ran if name != "90_report"] == ran
    assert [name for name, state in states.items() if state.status == OK] == [*ran, "90_report"]
    said = [line.rpartition(": ")[2] for line in say if line.startswith("not repeated")]
    assert said == ([told] if told else [])


def test_snakemake_takes_committed_results_too(chain, commit):
    commit("10_first")
    commit("20_second")
    (job, report) = plan("paper", ["30_third"])
    assert (job.name, report.name) == ("30_third", "90_report")
    assert not [path for path in job.inputs if path.startswith("build/runs/")]
    write_status("20_second", "paper", RunState(OK))  # it ran here, so what it left counts, not the record
    assert [job.name for job in plan("paper", ["30_third"])] == ["20_second", "30_third", "90_report"]


def test_a_run_that_was_killed_failed_and_the_report_still_follows(chain, say, pretend):
    """It could not write its own status; those after it did not start."""
    pretend.killed.add("10_first")
    states = reproduce("quick", look, say=say.append)
    assert [state.status for state in states.values()] == [FAILED, NOT_RUN, NOT_RUN, OK]
    assert pretend.ran == ["90_report"]
    pretend.killed.clear()
    assert {state.status for state in reproduce("quick", look, say=say.append).values()} == {OK}


def test_runs_that_were_not_wanted_and_never_ran_are_told_so(home, say, pretend):
    states = reproduce("quick", look, only=["10_good"], say=say.append)
    assert [state.status for state in states.values()] == [OK, NOT_RUN, NOT_RUN, NOT_RUN, OK]
    assert shortfalls(states) == ["not run: nobody asked for them: 10_good-other, 20_absent, 30_failing"]


def test_a_run_that_reproduce_did_not_start_counts_by_its_record(home):
    """It was committed, or executed by hand: any subset of runs may be reproduced in a fresh clone."""
    (home / "figures/paper").mkdir(parents=True)
    (home / "figures/10_good").mkdir()
    (home / "figures/10_good/run.json").write_text("{}")
    expected = {"10_good": OK, "10_good-other": NOT_RUN, "20_absent": NOT_RUN, "30_failing": NOT_RUN}
    assert {name: state.status for name, state in statuses("paper").items()} == expected
    write_status("10_good", "paper", RunState(FAILED, "why"))
    assert statuses("paper")["10_good"].status == FAILED


def test_a_folder_that_cannot_be_written_is_noticed_before_anything_runs(home, say, monkeypatch):
    (home / "figures").write_text("a file, no folder")
    with pytest.raises(OSError, match=r"cannot write to .*figures/quick: Not a directory; make it a writable folder"):
        reproduce("quick", look, say=say.append)
    (home / "figures").unlink()
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=1e6))
    with pytest.raises(OSError, match="only 1 MB are free, 20 are needed"):
        reproduce("quick", look, say=say.append)
    assert say == []


def test_the_mirror_is_remembered_for_later_shells(home, say, pretend, monkeypatch):
    mirror = home / "mirror"
    mirror.mkdir()
    monkeypatch.setenv("SENSORPRIVACY_MIRROR", str(mirror))
    reproduce("quick", look, only=["10_good"], say=say.append)
    monkeypatch.delenv("SENSORPRIVACY_MIRROR")
    assert mirror_address() == str(mirror)
    reproduce("quick", look, only=["10_good"], say=say.append)
    assert say == []
    mirror.rmdir()
    reproduce("quick", look, only=["10_good"], say=say.append)
    gone = f"the data mirror used before is gone: {mirror}; set SENSORPRIVACY_MIRROR, or delete build/mirror.txt"
    assert say == [gone]
    assert mirror_address() is None
    monkeypatch.setenv("SENSORPRIVACY_MIRROR", "")
    assert mirror_address() is None
    reproduce("quick", look, only=["10_good"], say=say.append)
    assert say == [gone]


def test_what_will_be_downloaded_is_said_before_the_first_download(home, say, pretend, monkeypatch):
    (home / "runs.yaml").write_text(RUNS.replace("[here]", "[adult]").replace("[gone]", "[titanic]"))
    monkeypatch.setenv("SENSORPRIVACY_MIRROR", "")
    monkeypatch.setenv("SENSORPRIVACY_CACHE", str(home / "cache"))
    asked = []

    class Watched(workflow.Looker):
        def __call__(self, name):
            asked.append((name, len(say)))
            return DataState(name, digest="d1")

    for download in (True, False):
        reproduce("quick", Watched(download), say=say.append)
    (line,) = [line for line in say if line.startswith("to download: ")]
    assert "adult 10 MB, titanic 0.04 MB; 10 MB in all, about 5 s at 20 Mbit/s" in line
    assert say[0] == line
    assert all(said for _, said in asked), "it is said first"


@pytest.mark.slow
@pytest.mark.mirror
def test_the_password_of_a_mirror_is_nowhere_after_a_run(home, mirror, monkeypatch):
    """A whole run from a mirror that asks for a password, and one from a host that is down."""

    class Handler(http.server.SimpleHTTPRequestHandler):
        def do_GET(self):
            known = self.headers.get("Authorization") == "Basic " + base64.b64encode(b"ann:secret").decode()
            super().do_GET() if known else self.send_error(401)

        def log_message(self, *_):
            pass

    (home / "runs.yaml").write_text(
        "runs:\n  20_absent:\n    about: one set\n    needs: [titanic]\n    minutes: {quick: 1}\n"
        "  90_report:\n    about: report\n    after_all: true\n    minutes: {quick: 1}\n"
    )
    write(
        home / "notebooks" / "20_absent.ipynb",
        "from compendium import datasets\nfrom compendium.run import begin\n"
        "run = begin('20_absent', globals())\nrun.uses({'titanic': datasets.digest('titanic')})\nrun.close()",
    )
    monkeypatch.setenv("SENSORPRIVACY_CACHE", str(home / "cache"))
    handler = functools.partial(Handler, directory=str(mirror))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        words = [sys.executable, "-m", "compendium", "reproduce", "--cores", "1"]
        environment = dict(os.environ, SENSORPRIVACY_MIRROR=f"http://ann:secret@127.0.0.1:{server.server_port}")
        done = subprocess.run(words, env=environment, cwd=home, capture_output=True, text=True, check=False)
        server.shutdown()
    assert "to download: titanic" in done.stdout, done.stdout + done.stderr
    assert read_status("20_absent", "quick").status == OK, done.stdout + done.stderr
    shutil.rmtree(home / "data" / "raw")
    environment["SENSORPRIVACY_MIRROR"] = "http://ann:secret@127.0.0.1:9"
    down = subprocess.run(words, env=environment, cwd=home, capture_output=True, text=True, check=False)
    assert "no data: titanic: no connection; try again: make data" in down.stdout
    assert (home / "build" / "mirror.txt").read_text() == "http://127.0.0.1:9\n"
    written = [path for path in home.rglob("*") if path.is_file() and b"secret" in path.read_bytes()]
    assert written == []
    assert "secret" not in done.stdout + done.stderr + down.stdout + down.stderr
