"""Why a run failed: its own error, or what Slurm and Snakemake report of a run without one."""

import os

import pytest

from compendium.run.failures import NO_START, log_times, why
from compendium.run.states import log_file

RUN, OWN, SNAKEMAKE = "10_table", "build/logs/quick/10_table.log", "build/logs/quick/snakemake.log"
REPORTED = """\
[Mon Nov 23 04:16:52 2026]
Error in rule 10_table:
    message: {message}
    jobid: 0
    input: notebooks/10_table.ipynb
    output: build/runs/quick/10_table.done
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


def test_the_reason_is_the_last_line_of_a_runs_own_error(logs):
    own = STARTED + "\nfailed after 3.0 s\nPapermillExecutionError:\n---\nKeyError: 'the reason'\n"
    for message in (None, "None", ENDED.format("FAILED")):
        logs(own, message)
        assert why(RUN, "quick", {}) == ("KeyError: 'the reason'", OWN)


@pytest.mark.parametrize("status", ["TIMEOUT", "CANCELLED by 0", "OUT_OF_MEMORY", "NODE_FAIL"])
def test_a_job_that_slurm_ended_is_reported_by_its_state_and_its_cell(logs, status):
    """It was reported by the last line that the notebook had printed, such as 'waiting'."""
    logs(STARTED, ENDED.format(status))
    assert why(RUN, "quick", {}) == (f"Slurm reports {status} for job 4, in cell 2 of 3", OWN)


def test_a_run_that_was_killed_on_this_machine_is_reported_so(logs):
    logs(STARTED, "None")
    assert why(RUN, "quick", {}) == ("it was ended from outside, in cell 2 of 3", OWN)


def test_a_job_that_was_not_submitted_is_reported_by_sbatchs_words_and_not_by_an_earlier_log(logs):
    """It was reported by the last line of its last success: 'ended after 6.6 s'."""
    logs(STARTED + "\nended after 6.6 s\n", NO_PARTITION)
    reason, log = why(RUN, "quick", log_times([RUN], "quick"))
    assert "invalid partition specified: normal sbatch: error: Batch job submission failed" in reason
    assert "sbatch call" not in reason
    assert log == SNAKEMAKE


def test_a_job_that_ended_before_its_log_points_to_slurms_log(logs, tmp_path):
    beside = tmp_path / "slurm logs" / "4.log"
    beside.parent.mkdir()
    beside.write_text("python: command not found\n")
    logs(None, ENDED.format("FAILED"), f"    log: {beside} (check log file(s) for error details)\n")
    assert why(RUN, "quick", {}) == ("Slurm reports FAILED for job 4", "slurm logs/4.log")


def test_a_run_that_was_never_tried_has_no_log_even_if_it_failed_before(logs):
    logs(STARTED + "\nfailed after 3.0 s\nKeyError: 'long ago'\n")
    before = log_times([RUN], "quick")
    assert why(RUN, "quick", before) == (NO_START, "")
    os.utime(log_file(RUN, "quick"), ns=(1, 1))
    assert why(RUN, "quick", before) == ("KeyError: 'long ago'", OWN)
    log_file(RUN, "quick").unlink()
    assert why(RUN, "quick", {}) == (NO_START, "")
