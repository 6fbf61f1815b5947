"""Say why a run failed: by its own error, or by what Slurm and Snakemake report of a run without one.

A run that is cancelled, runs out of time or cannot be submitted writes no error. Its log may be of an earlier time.
"""

import re
from collections.abc import Iterable, Mapping

from compendium.paths import project_root
from compendium.run.states import in_checkout, log_file

NO_START = "it did not start"
FAILED_AFTER = "failed after"  # the log of a run that failed by itself has a line that begins so
_LENGTH = 200
_BLOCK = r"^Error in rule {}:\n    message: (?P<message>.*?)\n    jobid: (?P<rest>.*?)\n(?=\S|\Z)"
_JOB = re.compile(r"SLURM-job '([^']*)' failed, SLURM status is: '([^']*)'")
_MORE = re.compile(r"\s*(sbatch call:|For further error details|Detailed failure reason unavailable).*", re.DOTALL)


def log_times(runs: Iterable[str], profile: str) -> dict[str, int]:
    """Return when the log of each run was last written; runs without a log are left out."""
    logs = {name: log_file(name, profile) for name in runs}
    return {name: log.stat().st_mtime_ns for name, log in logs.items() if log.is_file()}


def why(run: str, profile: str, earlier: Mapping[str, int]) -> tuple[str, str]:
    """Return the reason of a run's failure, and the file with more about it.

    Parameters
    ----------
    run, profile : str
        The run, and its profile.
    earlier : mapping of str to int
        The `log_times` before the runs were started. A log that has not changed since is not of this failure.

    Returns
    -------
    tuple of str and str
        One line, and a path in the checkout. The path is empty if the run was never tried.
    """
    message, noted = _reported(run, profile)
    log = log_file(run, profile)
    if log_times([run], profile).get(run) == earlier.get(run):
        return (NO_START, "") if message is None else (message or NO_START, noted)
    text = log.read_text(encoding="utf-8")
    failed = re.search(rf"^{FAILED_AFTER} ", text, re.MULTILINE)
    return _last_line(text) if failed else _stopped(text, message or ""), in_checkout(log)


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1][:_LENGTH] if lines else NO_START


def _stopped(text: str, message: str) -> str:
    """Return how a run ended that wrote no error: killed, cancelled, or out of time or memory."""
    cells = re.findall(r"\bcell \d+ of \d+$", text, re.MULTILINE)
    where = f"in {cells[-1]}" if cells else "before its first cell"
    return f"{message or 'it was ended from outside'}, {where}"


def _reported(run: str, profile: str) -> tuple[str | None, str]:
    """Return what Snakemake's log reports of a failed run, and the file with more; None if it reports nothing."""
    path = log_file("snakemake", profile)
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    found = list(re.finditer(_BLOCK.format(re.escape(run)), text, re.DOTALL | re.MULTILINE))
    if not found:
        return None, ""
    message, rest = found[-1]["message"], found[-1]["rest"]
    noted = re.search(r"^    log: (.+) \(check log file", rest, re.MULTILINE)
    beside = project_root() / noted[1] if noted else path
    more = in_checkout(beside) if beside.is_file() and beside.is_relative_to(project_root()) else in_checkout(path)
    if job := _JOB.search(message):
        return f"Slurm reports {job[2]} for job {job[1]}", more
    message = " ".join(_MORE.sub("", message).split())
    return ("" if message == "None" else message[:_LENGTH]), more
