"""Start and stop a Slurm of one machine: munged, slurmctld and slurmd, each known by its process id.

python tests/cluster/slurm.py FOLDER COMMAND...    run a command with that Slurm, then stop it
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

COMMANDS = ("sbatch", "squeue", "scancel", "scontrol", "sinfo", "srun")
PROGRAMS = ("munged", "mungekey", "slurmctld", "slurmd", *COMMANDS)
_PATH = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])
_PATIENCE = 30  # seconds until a daemon answers or has ended
_SETTINGS = """\
ClusterName=tests
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=1
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
MpiDefault=none
MinJobAge=600
KillWait=2
ReturnToService=2
SlurmdTimeout=60
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory=4000 State=UNKNOWN
PartitionName=tests Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def missing() -> list[str]:
    """Return the programs of Slurm and munge that this machine lacks."""
    return [name for name in PROGRAMS if shutil.which(name, path=_PATH) is None]


@contextmanager
def slurm(folder: Path, cpus: int = 4) -> Iterator[dict[str, str]]:
    """Start a Slurm in a folder, and stop it at the end.

    Parameters
    ----------
    folder : path
        Folder for settings, sockets, states and logs. Its path must be short: a socket's has at most 107 characters.
    cpus : int, default=4
        Processors that the node claims to have.

    Yields
    ------
    dict of str to str
        Environment variables for the commands of Slurm.
    """
    folder = folder.resolve()
    for name in ("state", "spool"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    host = socket.gethostname().partition(".")[0]
    settings = folder / "slurm.conf"
    user = "root" if os.getuid() == 0 else os.environ.get("USER", str(os.getuid()))
    settings.write_text(_SETTINGS.format(host=host, ports=_free_ports(2), user=user, folder=folder, cpus=cpus))
    environment = {
        **os.environ,
        "PATH": f"{_commands(folder, settings)}{os.pathsep}{_PATH}",
        "SLURM_CONF": str(settings),
    }
    daemons: list[subprocess.Popen[bytes]] = []
    try:
        key = folder / "munge.key"
        subprocess.run(["mungekey", "--create", "--force", "--keyfile", str(key)], env=environment, check=True)
        names = {"socket": "socket", "pid-file": "pid", "log-file": "log", "seed-file": "seed"}
        words = [f"--{option}={folder / f'munge.{suffix}'}" for option, suffix in names.items()]
        daemons.append(_start(["munged", "--foreground", "--force", f"--key-file={key}", *words], environment, folder))
        _wait(lambda: (folder / "munge.socket").exists(), daemons, folder)
        daemons.append(_start(["slurmctld", "-D", "-i", "-f", str(settings)], environment, folder))
        daemons.append(_start(["slurmd", "-D", "-f", str(settings), "-N", host], environment, folder))
        _wait(lambda: "idle" in state(environment), daemons, folder)
        yield environment
    finally:
        if daemons:
            with suppress(subprocess.SubprocessError):
                ask(["scancel", "--full", f"--user={user}"], environment)
        for daemon in reversed(daemons):
            _stop(daemon)


def _commands(folder: Path, settings: Path) -> Path:
    """Return a folder of Slurm's commands that name our settings: Snakemake removes SLURM_CONF from the environment."""
    (folder / "bin").mkdir(exist_ok=True)
    for name in COMMANDS:
        path = folder / "bin" / name
        path.write_text(f'#!/bin/sh\nSLURM_CONF={settings} exec {shutil.which(name, path=_PATH)} "$@"\n')
        path.chmod(0o755)
    return folder / "bin"


def ask(words: Sequence[str], environment: Mapping[str, str]) -> str:
    """Run a command of Slurm and return what it prints."""
    return subprocess.run(words, env=environment, capture_output=True, text=True, check=True, timeout=30).stdout


def state(environment: Mapping[str, str]) -> str:
    """Return the state of the node: "idle", "mixed", "drained", ...; an empty text if the controller is silent."""
    done = subprocess.run(["sinfo", "-h", "-o", "%T"], env=environment, capture_output=True, text=True, timeout=30)
    return done.stdout.strip()


def _start(words: Sequence[str], environment: Mapping[str, str], folder: Path) -> "subprocess.Popen[bytes]":
    with (folder / f"{words[0]}.out").open("wb") as output:
        return subprocess.Popen(words, env=environment, stdout=output, stderr=output, start_new_session=True)


def _wait(ready, daemons, folder: Path) -> None:
    until = time.monotonic() + _PATIENCE
    while not ready():
        ended = [daemon.args[0] for daemon in daemons if daemon.poll() is not None]
        if ended or time.monotonic() > until:
            said = "\n".join(f"{path.name}: {path.read_text()[-2000:]}" for path in folder.glob("*.out"))
            raise RuntimeError(f"Slurm did not start ({', '.join(ended) or 'no answer'}):\n{said}")
        time.sleep(0.1)


def _stop(daemon: "subprocess.Popen[bytes]") -> None:
    if daemon.poll() is None:
        daemon.terminate()
        with suppress(subprocess.TimeoutExpired):
            daemon.wait(_PATIENCE)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(daemon.pid, signal.SIGKILL)
    daemon.wait()


def _free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # unwind, so that the daemons end
    with slurm(Path(sys.argv[1])) as variables:
        sys.exit(subprocess.call(sys.argv[2:], env=variables))
