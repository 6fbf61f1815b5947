"""`reproduce --executor slurm`, on a Slurm of one machine that is started here: its jobs, and what goes wrong."""

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import nbformat
import pytest
from slurm import ask, missing, slurm, state

from compendium.cli import main
from compendium.run.reproduce import BusyError, reproduce
from compendium.run.states import FAILED, OK

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.xdist_group("slurm"),
    pytest.mark.skipif(bool(missing()), reason=f"Slurm is not installed (apt install slurm-wlm): no {missing()}"),
]
RUNS = """\
runs:
  10_table:
    about: writes a table of seeded numbers
    minutes: {quick: 1, paper: 1}
  20_waiting:
    about: waits while there is a file named wait
    minutes: {quick: 1, paper: 1}
"""
TABLE = """
from pathlib import Path
import numpy as np, pandas as pd
folder = Path("figures/quick/10_table")
folder.mkdir(parents=True, exist_ok=True)
pd.DataFrame(np.random.default_rng(3).normal(size=(50, 4))).to_csv(folder / "table.csv")
with Path("build/ran.txt").open("a") as stream:
    stream.write("x")
"""
WAITING = """
import time
from pathlib import Path
while Path("build/wait").exists():
    time.sleep(.1)
"""
REPRODUCE = [sys.executable, "-m", "compendium", "reproduce", "--executor", "slurm", "--cores", "2"]
PROFILE = "seconds-between-status-checks: 1\nslurm-init-seconds-before-status-checks: 1\n"


@pytest.fixture(scope="module")
def cluster():
    """Return the environment of a running Slurm; the folder is short, because its sockets' paths must be."""
    with tempfile.TemporaryDirectory(prefix="slurm-", dir="/tmp") as folder, slurm(Path(folder)) as environment:
        yield environment


@pytest.fixture
def here(tmp_path, monkeypatch, root, cluster):
    """Return a checkout of two runs, on a path with a space, and let commands of this process reach the Slurm."""
    return _checkout(tmp_path / "on slurm", monkeypatch, root, cluster)


def _checkout(folder: Path, monkeypatch, root: Path, environment) -> Path:
    for name in ("notebooks", "data/paper", "lib", "build", "profile"):
        (folder / name).mkdir(parents=True)
    shutil.copy(root / "Snakefile", folder)
    (folder / "runs.yaml").write_text(RUNS)
    (folder / "profile" / "config.yaml").write_text(PROFILE)
    declared = nbformat.v4.new_code_cell('profile: str = "quick"  # {quick | paper}', metadata={"tags": ["parameters"]})
    for name, code in (("10_table", TABLE), ("20_waiting", WAITING)):
        made = nbformat.v4.new_notebook(cells=[declared, nbformat.v4.new_code_cell(code)])
        nbformat.write(made, folder / "notebooks" / f"{name}.ipynb")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("SENSORPRIVACY_HOME", str(folder))
    monkeypatch.setenv("SNAKEMAKE_PROFILE", str(folder / "profile"))
    monkeypatch.setenv("PYTHONPATH", str(root / "lib"))
    return folder


def _statuses(**options) -> dict[str, str]:
    return {name: each.status for name, each in reproduce("quick", pytest.fail, cores=2, **options).items()}


def _until(found, seconds: float = 120) -> None:
    until = time.monotonic() + seconds
    while not found():
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.2)


def _jobs(environment, state: str) -> list[str]:
    return ask(["squeue", "--noheader", "--format=%i", f"--states={state}"], environment).split()


def test_jobs_write_the_same_files_as_this_machine_and_need_no_home_folder(here, cluster, tmp_path, monkeypatch, root):
    before = len(_jobs(cluster, "COMPLETED"))
    with monkeypatch.context() as patch:
        patch.setenv("HOME", "/proc/none")  # it may be read-only on nodes, or missing
        patch.delenv("XDG_CACHE_HOME", raising=False)
        assert _statuses(executor="slurm") == {"10_table": OK, "20_waiting": OK}
    assert len(_jobs(cluster, "COMPLETED")) == before + 2
    local = _checkout(tmp_path / "local", monkeypatch, root, cluster)
    assert _statuses(only=["10_table"])["10_table"] == OK
    table = Path("figures/quick/10_table/table.csv")
    assert (here / table).read_bytes() == (local / table).read_bytes()
    assert len(_jobs(cluster, "COMPLETED")) == before + 2


def test_after_a_cancelled_job_only_its_run_is_made_again(here, cluster):
    (here / "build" / "wait").touch()
    with subprocess.Popen(REPRODUCE, stdout=subprocess.PIPE, text=True) as child:
        _until(lambda: (here / "build" / "ran.txt").exists() and len(_jobs(cluster, "RUNNING")) == 1)
        (job,) = _jobs(cluster, "RUNNING")
        ask(["scancel", job], cluster)
        said, _ = child.communicate(timeout=200)
    assert child.returncode == 1
    assert "1 ok, 1 failed" in said
    assert "failed: 20_waiting (build/logs/quick/20_waiting.log): " in said
    assert f"Slurm reports CANCELLED for job {job}, in cell " in said
    (here / "build" / "wait").unlink()
    assert _statuses(executor="slurm") == {"10_table": OK, "20_waiting": OK}
    assert (here / "build" / "ran.txt").read_text() == "x"


def test_jobs_wait_while_the_node_is_drained(here, cluster):
    node = ask(["sinfo", "--noheader", "--format=%n"], cluster).strip()
    ask(["scontrol", "update", f"nodename={node}", "state=drain", "reason=test"], cluster)
    with subprocess.Popen(REPRODUCE, stdout=subprocess.PIPE, text=True) as child:
        _until(lambda: len(_jobs(cluster, "PENDING")) == 2)
        assert state(cluster) == "drained"
        assert not (here / "build" / "ran.txt").exists()
        ask(["scontrol", "update", f"nodename={node}", "state=resume"], cluster)
        said, _ = child.communicate(timeout=200)
    assert child.returncode == 0
    assert "2 runs: 2 ok" in said
    assert f"follow them with: tail -f '{here / 'build' / 'logs' / 'quick' / 'snakemake.log'}'\n" in said


def test_a_partition_that_does_not_exist_is_reported_and_not_an_earlier_log(here, cluster):
    (here / "build" / "logs" / "quick").mkdir(parents=True)
    (here / "build" / "logs" / "quick" / "10_table.log").write_text("an earlier run\nended after 1.0 s\n")
    with (here / "profile" / "config.yaml").open("a") as stream:
        stream.write("default-resources: {slurm_partition: normal}\n")
    state = reproduce("quick", pytest.fail, executor="slurm", only=["10_table"])["10_table"]
    assert state.status == FAILED
    assert "invalid partition specified: normal" in state.reason
    assert state.log == "build/logs/quick/snakemake.log"


def test_jobs_of_a_killed_reproduce_are_named_before_they_run_twice(here, cluster):
    (here / "build" / "wait").touch()
    with subprocess.Popen([*REPRODUCE, "20_waiting"], stdout=subprocess.DEVNULL) as child:
        _until(lambda: len(_jobs(cluster, "RUNNING")) == 1)
        child.kill()
    (job,) = _jobs(cluster, "RUNNING")
    for executor in (None, "slurm"):
        with pytest.raises(BusyError, match=f"scancel {job}$"):
            reproduce("quick", pytest.fail, executor=executor, only=["20_waiting"])
    ask(["scancel", job], cluster)
    (here / "build" / "wait").unlink()
    _until(lambda: not _jobs(cluster, "RUNNING,COMPLETING"))
    assert _statuses(only=["20_waiting"])["20_waiting"] == OK


def test_a_machine_without_slurm_is_told_so(here, monkeypatch, capsys):
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent))
    assert main(["reproduce", "--executor", "slurm", "--cores", "1"]) == 1
    assert "there is no sbatch on this machine" in capsys.readouterr().err


def test_a_failed_start_of_slurm_shows_the_daemons_words(tmp_path, monkeypatch):
    monkeypatch.setattr("slurm._SETTINGS", "Nonsense=1\n")
    with pytest.raises(RuntimeError, match="Slurm did not start"), slurm(tmp_path):
        pass
