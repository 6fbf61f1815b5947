"""Snakemake's words and variables, and why a run left no status; tests/cluster/ tries them on a real Slurm."""

import os
import sys
import time
from pathlib import Path

import pytest

from compendium.run.cluster import NO_START, left_jobs, variables, why, words_for
from compendium.run.states import log_file
from sensorprivacy.paths import cache_folder

RUN, OWN, SNAKEMAKE = "10_table", "build/logs/quick/10_table.log", "build/logs/quick/snakemake.log"
REPORTED = """\
[Mon Nov 23 04:16:52 2026]
Error in rule 10_table:
    message: {message}
    jobid: 0
    input: notebooks/10_table.ipynb
    output: build/runs/quick/10_table.json
{more}    shell:
        python -m compendium run notebooks/10_table.ipynb
        (command exited with non-zero exit code)
Exiting because a job execution failed. Look above for error messages
"""
ENDED = (
    "SLURM-job '4' failed, SLURM status is: '{}'. Detailed failure reason unavailable (status command is not 'sacct')."
)
ENDED += "For further error details see the cluster/cloud log and the log files of the involved rule(s)."
NO_PARTITION = """SLURM sbatch failed. The error message was 'sbatch: error: invalid partition specified: normal
sbatch: error: Batch job submission failed: Invalid partition name specified'.
    sbatch call:
        sbatch --parsable -p normal
For further error details see the cluster/cloud log and the log files of the involved rule(s)."""
STARTED = (
    "2026-11-23 04:12:52 +0000  notebooks/10_table.ipynb  {}\n10_table: cell 1 of 3\n10_table: cell 2 of 3\nwaiting\n"
)


def _program(folder: Path, name: str, code: int) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\nexit {code}\n")
    path.chmod(0o755)


def test_this_machine_needs_the_number_of_runs_only():
    assert words_for(None, 3) == ["--cores", "3"]


def test_an_executor_that_is_not_installed_is_named_with_its_remedy(monkeypatch):
    """Snakemake printed all its 150 options."""
    monkeypatch.setattr("compendium.run.cluster.find_spec", lambda _: None)
    with pytest.raises(RuntimeError, match=r"no executor 'slurm' here.* pip install -r requirements-dev.lock"):
        words_for("slurm", 2)
    with pytest.raises(RuntimeError, match="pip install snakemake-executor-plugin-kubernetes"):
        words_for("kubernetes", 2)


@pytest.mark.skipif(os.name != "posix", reason="shell scripts stand for Slurm's commands")
def test_a_slurm_without_accounts_is_asked_by_squeue(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(OSError, match="there is no sbatch on this machine"):
        words_for("slurm", 2)
    _program(tmp_path, "sbatch", 0)
    for code, by_squeue in ((0, False), (1, True)):
        _program(tmp_path, "sacct", code)
        words = words_for("slurm", 2)
        assert words[2:6] == ["--executor", "slurm", "--jobs", "2"]
        assert ("squeue" in words) is by_squeue


@pytest.mark.skipif(os.name != "posix", reason="a shell script stands for squeue")
def test_jobs_that_an_ended_reproduce_left_are_found(tmp_path, monkeypatch):
    home, commands = tmp_path / "my checkout", tmp_path / "bin"
    for folder in (commands, *(home / name for name in ("notebooks", "data", "lib"))):
        folder.mkdir(parents=True)
    monkeypatch.setenv("SENSORPRIVACY_HOME", str(home))
    monkeypatch.setenv("PATH", str(commands))
    assert left_jobs() == []  # no Slurm here
    lines = [f"7|rule_10_table|{home}", "8|rule_10_table|/elsewhere", f"9|(null)|{home}", f"11|rule_20_b|{home}"]
    answer = "".join(f"echo '{line}'\n" for line in lines)
    for code, found in ((0, ["7", "11"]), (1, [])):
        (commands / "squeue").write_text(f"#!/bin/sh\n{answer}exit {code}\n")
        (commands / "squeue").chmod(0o755)
        assert left_jobs() == found


def test_jobs_keep_their_caches_in_the_checkout_and_data_sets_in_the_users_cache(tmp_path, monkeypatch):
    """The home folder may be read-only on the nodes of a cluster."""
    for name in ("notebooks", "data", "lib"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("SENSORPRIVACY_HOME", str(tmp_path))
    monkeypatch.delenv("SENSORPRIVACY_CACHE", raising=False)
    before, found = cache_folder(), variables()
    assert found["XDG_CACHE_HOME"] == str(tmp_path / "build" / "cache")
    assert found["PATH"].startswith(str(Path(sys.executable).parent))
    for name, value in found.items():
        monkeypatch.setenv(name, value)
    assert cache_folder() == before


@pytest.fixture
def logs(tmp_path, monkeypatch):
    """Return a function that writes the logs of a failed run: its own and Snakemake's."""
    for name in ("notebooks", "data", "lib", "build/logs/quick"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.setenv("SENSORPRIVACY_HOME", str(tmp_path))

    def write(own: str | None = None, message: str | None = None, more: str = "") -> None:
        if own is not None:
            log_file(RUN, "quick").write_text(own)
        if message is not None:
            log_file("snakemake", "quick").write_text(REPORTED.format(message=message, more=more))

    return write


@pytest.mark.parametrize("status", ["TIMEOUT", "CANCELLED by 0", "OUT_OF_MEMORY", "NODE_FAIL"])
def test_a_job_that_slurm_ended_is_reported_by_its_state_and_its_cell(logs, status):
    """It was reported by the last line that the notebook had printed, such as 'waiting'."""
    logs(STARTED, ENDED.format(status))
    assert why(RUN, "quick", 0) == (f"Slurm reports {status} for job 4, in cell 2 of 3", OWN)


def test_a_run_that_was_killed_on_this_machine_is_reported_so(logs):
    logs(STARTED, "None")
    assert why(RUN, "quick", 0) == ("it was ended from outside, in cell 2 of 3", OWN)


def test_a_job_that_was_not_submitted_is_reported_by_sbatchs_words_and_not_by_an_earlier_log(logs):
    """It was reported by the last line of its last success: 'ended after 6.6 s'."""
    logs(STARTED + "\nended after 6.6 s\n", NO_PARTITION)
    reason, log = why(RUN, "quick", time.time_ns() + 10**9)
    assert "invalid partition specified: normal sbatch: error: Batch job submission failed" in reason
    assert "sbatch call" not in reason
    assert log == SNAKEMAKE


def test_a_job_that_ended_before_its_log_points_to_slurms_log(logs, tmp_path):
    beside = tmp_path / "slurm logs" / "4.log"
    beside.parent.mkdir()
    beside.write_text("python: command not found\n")
    logs(None, ENDED.format("FAILED"), f"    log: {beside} (check log file(s) for error details)\n")
    assert why(RUN, "quick", 0) == ("Slurm reports FAILED for job 4", "slurm logs/4.log")


def test_a_run_that_was_never_tried_has_no_log_even_if_it_failed_before(logs):
    logs(STARTED + "\nfailed after 3.0 s\nKeyError: 'long ago'\n")
    assert why(RUN, "quick", time.time_ns() + 10**9) == (NO_START, "")
    log_file(RUN, "quick").unlink()
    assert why(RUN, "quick", 0) == (NO_START, "")
