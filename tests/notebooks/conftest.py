"""Kernels of these tests come from a process that has imported the libraries already, which saves seconds for each.

papermill, the kernel and its messages are the usual ones. Only the start differs; `tests/runner` tests the usual start.
"""

import multiprocessing
import os
import signal
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from multiprocessing import forkserver
from multiprocessing.process import BaseProcess
from typing import Any

import pytest
from jupyter_client.provisioning import KernelProvisionerFactory, LocalProvisioner

from sensorprivacy.runner.executors import ONE_THREAD

_FORKS = multiprocessing.get_context("forkserver")
_IMPORTED = [
    "ipykernel.kernelapp",
    "matplotlib_inline.backend_inline",
    "sensorprivacy.latent.comparison",
    "sensorprivacy.report.paper1.charts",
    "sensorprivacy.report.paper3.charts",
    "sensorprivacy.runner.notebook",
]


class _Process:
    """A process with the methods of `subprocess.Popen` that Jupyter calls."""

    stdin = stdout = stderr = None

    def __init__(self, process: BaseProcess) -> None:
        self._process, self.pid = process, process.pid

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self) -> int | None:
        self._process.join()
        return self._process.exitcode

    def send_signal(self, number: int) -> None:
        if self.pid is not None and self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)


class Forked(LocalProvisioner):
    """Start a kernel as a fork."""

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> Any:
        process = _FORKS.Process(target=_kernel, args=(cmd[3:], kwargs["env"], kwargs.get("cwd")))
        process.start()
        self.process, self.pid = _Process(process), process.pid
        return self.connection_info


def _kernel(words: list[str], environment: dict[str, str], folder: str | None) -> None:
    from ipykernel.kernelapp import launch_new_instance

    os.setsid()  # Ctrl-C in the terminal of the tests is not for the kernel
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder or ".")
    launch_new_instance(argv=words)


@pytest.fixture(scope="module")
def forked_kernels() -> Iterator[None]:
    """Start the kernels of a module's tests as forks."""
    factory = KernelProvisionerFactory.instance()
    factory.provisioners["forked"] = EntryPoint("forked", f"{__name__}:Forked", factory.GROUP_NAME)
    with pytest.MonkeyPatch.context() as patch:
        for variable, value in (ONE_THREAD | {"MPLBACKEND": "module://matplotlib_inline.backend_inline"}).items():
            patch.setenv(variable, value)  # PyTorch and Matplotlib read them when they are imported
        _FORKS.set_forkserver_preload(_IMPORTED)
        forkserver.ensure_running()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(factory, "default_provisioner_name", "forked")
        yield
