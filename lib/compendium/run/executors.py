"""Snakemake's words and variables for the place where runs are executed: on this machine, or as jobs of a cluster."""

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from compendium.paths import build_dir, project_root

# Several runs share the cores: threads that wait in a loop would take them from each other.
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "PASSIVE"}
_BUILT_IN = {"local", "dryrun", "touch"}
_LATENCY = 60  # seconds until a file that another machine wrote is seen here


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
        _check_installed(executor)
        words += ["--executor", executor, "--jobs", str(jobs), "--latency-wait", str(_LATENCY)]
    if executor == "slurm":
        if shutil.which("sbatch") is None:
            raise OSError("there is no sbatch on this machine: start reproduce where jobs are submitted to Slurm")
        # A Slurm that keeps no accounts is asked by squeue for its jobs.
        sacct = shutil.which("sacct")
        kept = sacct is not None and subprocess.run([sacct, "--noheader"], capture_output=True).returncode == 0
        words += [] if kept else ["--slurm-status-command", "squeue", "--slurm-no-account"]
    return words


def _check_installed(executor: str) -> None:
    name = f"snakemake-executor-plugin-{executor}"
    if executor in _BUILT_IN or find_spec(name.replace("-", "_")) is not None:
        return
    package = '"sensorprivacy[cluster]"' if executor == "slurm" else name
    raise RuntimeError(f"Snakemake has no executor {executor!r} here: correct the name, or pip install {package}")


def left_jobs() -> list[str]:
    """Return the Slurm jobs of this checkout that run or wait, such as those of a `reproduce` that was killed."""
    squeue = shutil.which("squeue")
    if squeue is None:
        return []
    # A job's number, Snakemake's comment with the run's name, and the folder that it works in.
    asked = subprocess.run([squeue, "--noheader", "--format=%i|%k|%Z"], capture_output=True, text=True)
    if asked.returncode != 0:
        return []
    jobs = [line.strip().split("|", 2) for line in asked.stdout.splitlines() if line.count("|") >= 2]
    here = str(project_root())
    return [number for number, comment, folder in jobs if comment.startswith("rule_") and folder == here]


def variables() -> dict[str, str]:
    """Return the environment of Snakemake and its jobs: all of ours, and caches in the checkout.

    The home folder may be read-only on the nodes of a cluster. Data sets stay in the user's cache.
    """
    from sensorprivacy.paths import CACHE_VARIABLE, cache_folder  # here, because it imports pooch

    # The jobs' command is `python`, so that it stays the same when the environment moves.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    caches = {"XDG_CACHE_HOME": str(build_dir() / "cache"), CACHE_VARIABLE: str(cache_folder())}
    return {**ONE_THREAD, **os.environ, **caches, "PATH": path}
