"""Start kernels as forks of the source, where there is one: a kernel provisioner, Jupyter's way to start kernels."""

import os
import sys
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, ClassVar

from jupyter_client.connect import KernelConnectionInfo
from jupyter_client.provisioning import LocalProvisioner
from jupyter_client.provisioning.factory import KernelProvisionerFactory

from sensorprivacy.runner.forks import DOOR, ask

NAME = "sensorprivacy-forks"
"""Name of the entry point of `ForkedKernels` in ``pyproject.toml``."""


class ForkedKernels(LocalProvisioner):
    """Start a kernel as a fork, or as Jupyter does where that is not possible."""

    imports_of: ClassVar[str | None] = None  # a notebook whose imports the source makes first

    async def launch_kernel(self, cmd: list[str], **options: Any) -> KernelConnectionInfo:
        """Start the kernel."""
        fork = None
        if cmd[:2] == [sys.executable, "-m"]:
            folder = options.get("cwd") or Path.cwd()
            # A new kernel reads it from its environment when ipykernel is imported, which was in the source.
            parent = f"--IPKernelApp.parent_handle={os.getpid()}"
            fork = ask(
                [*cmd[2:], parent],
                environment=options.get("env"),
                folder=folder,
                notebook=self.imports_of,
                new_session=True,
            )
        if fork is None:
            return await super().launch_kernel(cmd, **options)
        self.process = fork  # type: ignore[assignment]
        self.pid = self.pgid = fork.pid
        self.cwd = folder
        return self.connection_info


def use_forks(notebook: Path) -> None:
    """Let Jupyter start all kernels of this process as forks, if there is a source.

    Parameters
    ----------
    notebook : path
        The notebook that the next kernel will execute.
    """
    ForkedKernels.imports_of = str(notebook.absolute())
    if DOOR in os.environ and entry_points(group=KernelProvisionerFactory.GROUP_NAME, name=NAME):
        KernelProvisionerFactory.instance().default_provisioner_name = NAME
