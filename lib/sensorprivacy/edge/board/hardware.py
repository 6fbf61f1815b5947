"""Describe this machine (processor, memory, system, versions), and how much memory this process uses."""

import os
import platform
import re
import resource
import sys
from pathlib import Path

import numpy as np
import onnxruntime as ort

_CPU = "sys/devices/system/cpu/cpu0/cpufreq"
_ARM_PARTS = {"0xd03": "Cortex-A53", "0xd08": "Cortex-A72", "0xd0b": "Cortex-A76"}


def hardware(root: Path | str = "/") -> dict[str, str | int | float | None]:
    """Describe this machine from Linux's own files.

    Parameters
    ----------
    root : path
        Folder that holds ``proc``, ``sys`` and ``etc``.

    Returns
    -------
    dict
        JSON values; None where the system gives no value. Contains no host name, serial number or address.
    """
    root = Path(root)
    memory = _find(root / "proc/meminfo", r"^MemTotal:\s+(\d+) kB")
    return {
        "board": _find(root / "proc/device-tree/model") or _find(root / "sys/devices/virtual/dmi/id/product_name"),
        "cpu": _processor(root / "proc/cpuinfo"),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "usable_cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "clock_mhz": _clock(root),
        "governor": _find(root / _CPU / "scaling_governor"),
        "temperature_c": _thousandth(root / "sys/class/thermal/thermal_zone0/temp"),
        "memory_bytes": int(memory) * 1024 if memory else None,
        "system": _find(root / "etc/os-release", r'^PRETTY_NAME="?([^"\n]*)"?') or platform.platform(),
        "kernel": platform.release(),
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "onnxruntime": ort.__version__,
    }


def process_memory(*, peak: bool) -> int:
    """Return the bytes of memory that this process uses now, or the most it has used.

    A system without ``/proc``, such as macOS, gives only the peak.
    """
    # getrusage comes second: on Linux it also counts the process that started this one
    if kilobytes := _find(Path("/proc/self/status"), rf"^{'VmHWM' if peak else 'VmRSS'}:\s+(\d+) kB"):
        return int(kilobytes) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _processor(cpuinfo: Path) -> str | None:
    """Return the processor's name. Arm gives only a part number, so the usual names are listed here."""
    for key in ("model name", "Model", "Hardware"):
        if name := _find(cpuinfo, rf"^{key}\s*:\s*(.+)$"):
            return name
    part = _find(cpuinfo, r"^CPU part\s*:\s*(0x\w+)")
    return _ARM_PARTS.get(part, f"CPU part {part}") if part else None


def _clock(root: Path) -> float | None:
    """Return the clock in MHz: the governor's maximum if it is known, else the present clock."""
    if (most := _thousandth(root / _CPU / "scaling_max_freq")) is not None:
        return most
    now = _find(root / "proc/cpuinfo", r"^cpu MHz\s*:\s*([\d.]+)")
    return float(now) if now else None


def _thousandth(path: Path) -> float | None:
    number = _find(path, r"^(-?\d+)$")
    return int(number) / 1000 if number else None


def _find(path: Path, pattern: str = r"(.+)") -> str | None:
    """Return the first match of a pattern's group in a file, or None."""
    try:
        found = re.search(pattern, path.read_text(encoding="utf-8", errors="replace"), re.MULTILINE)
    except OSError:
        return None
    return (found[1].strip("\0 ") or None) if found else None
