"""Run notebooks on a cluster: Snakemake's words and variables, and why a run ended that could not say so itself."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from compendium.paths import build_dir, output_root, project_root
from compendium.run.states import in_checkout, log_file

# Several runs share the cores: threads that wait in a loop would take them from each other.
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "PASSIVE"}
NO_START = "it did not start"
_BUILT_IN = {"local", "dryrun", "touch"}
_LATENCY = 60  # seconds until a file that another machine wrote is seen here
_LENGTH = 200
_BLOCK = r"^Error in rule {}:\n    message: (?P<message>.*?)\n    jobid: (?P<rest>.*?)\n(?=\S|\Z)"
_JOB = re.compile(r"SLURM-job '([^']*)' failed, SLURM status is: '([^']*)'")
_MORE = re.compile(r"\s*(sbatch call:|For further error details|Detailed failure reason unavailable).*", re.DOTALL)


def words_for(executor: str | None, jobs: int) -> list[str]:
    """Return Snakemake's words for an executor.

    Parameters
    ----------
    executor : str or None
        Name of a Snakemake executor, such as "slurm". None means this machine.
    jobs : int
        Number of runs at a time.

    Raises
    ------
    OSError
        If the executor is "slurm" and this machine has no ``sbatch``.
    RuntimeError
        If Snakemake's plugin for the executor is not installed.
    """
    words = ["--cores", str(jobs)]
    if executor is not None:
        plugin = f"snakemake-executor-plugin-{executor}"
        if executor not in _BUILT_IN and find_spec(plugin.replace("-", "_")) is None:
            how = "-r requirements-dev.lock" if executor == "slurm" else plugin
            install = f"{shlex.quote(sys.executable)} -m pip install {how}"
            raise RuntimeError(f"Snakemake has no executor {executor!r} here: correct the name, or run {install}")
        words += ["--executor", executor, "--jobs", str(jobs), "--latency-wait", str(_LATENCY)]
    if executor == "slurm":
        if shutil.which("sbatch") is None:
            raise OSError("there is no sbatch on this machine: start reproduce where jobs are submitted to Slurm")
        # A Slurm that keeps no accounts is asked by squeue for its jobs.
        asked = ["sacct", "--noheader"]
        kept = shutil.which("sacct") is not None and subprocess.run(asked, capture_output=True).returncode == 0
        words += [] if kept else ["--slurm-status-command", "squeue", "--slurm-no-account"]
    return words


def left_jobs() -> list[str]:
    """Return the Slurm jobs of this checkout that run or wait, such as those of a `reproduce` that was killed."""
    squeue = shutil.which("squeue")
    if squeue is None:
        return []
    # A job's number, Snakemake's comment with the run's name, and the folder that it works in.
    asked = subprocess.run([squeue, "--noheader", "--format=%i|%k|%Z"], capture_output=True, text=True)
    answer = asked.stdout if asked.returncode == 0 else ""
    return re.findall(rf"^\s*(\S+)\|rule_[^|\n]*\|{re.escape(str(output_root()))}$", answer, re.MULTILINE)


def variables() -> dict[str, str]:
    """Return the environment of Snakemake and its jobs: all of ours, and caches in the checkout.

    The home folder may be read-only on the nodes of a cluster. Data sets stay in the user's cache.
    """
    from sensorprivacy.paths import CACHE_VARIABLE, cache_folder  # here, because it imports pooch

    # The jobs' command is `python`, so that it stays the same when the environment moves.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    caches = {"XDG_CACHE_HOME": str(build_dir() / "cache"), CACHE_VARIABLE: str(cache_folder())}
    return {**ONE_THREAD, **os.environ, **caches, "PATH": path}


def why(run: str, profile: str, started: int) -> tuple[str, str]:
    """Return why a run left no status, and the file with more about it.

    A run that is killed, cancelled, runs out of time or cannot be submitted writes no status. Its log may be of an
    earlier time.

    Parameters
    ----------
    run, profile : str
        The run, and its profile.
    started : int
        Nanoseconds since 1970. A log that was last written before is not of this failure.

    Returns
    -------
    tuple of str and str
        One line, and a path in the checkout. The path is empty if the run was never tried.
    """
    message, noted = _reported(run, profile)
    log = log_file(run, profile)
    if not log.is_file() or log.stat().st_mtime_ns < started:
        return (NO_START, "") if message is None else (message or NO_START, noted)
    cells = re.findall(r"\bcell \d+ of \d+$", log.read_text(encoding="utf-8"), re.MULTILINE)
    where = f"in {cells[-1]}" if cells else "before its first cell"
    return f"{message or 'it was ended from outside'}, {where}", in_checkout(log)


def _reported(run: str, profile: str) -> tuple[str | None, str]:
    """Return what Snakemake's log reports of a failed run, and the file with more; None if it reports nothing."""
    path = log_file("snakemake", profile)
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    found = re.findall(_BLOCK.format(re.escape(run)), text, re.DOTALL | re.MULTILINE)
    if not found:
        return None, ""
    message, rest = found[-1]
    noted = re.search(r"^    log: (.+) \(check log file", rest, re.MULTILINE)
    beside = output_root() / noted[1] if noted else path
    more = in_checkout(beside if beside.is_file() and beside.is_relative_to(project_root()) else path)
    if job := _JOB.search(message):
        return f"Slurm reports {job[2]} for job {job[1]}", more
    message = " ".join(_MORE.sub("", message).split())
    return ("" if message == "None" else message[:_LENGTH]), more
