"""What a machine is: processor, cores, clock, governor, memory, system, versions. Read from Linux's own files."""

import os
import platform
import re
from pathlib import Path

import numpy as np
import onnxruntime as ort

_CPU = "sys/devices/system/cpu/cpu0/cpufreq"


def hardware(root: Path | str = "/") -> dict[str, str | int | float | None]:
    """Return the record of this machine.

    Parameters
    ----------
    root : path
        Where ``proc``, ``sys`` and ``etc`` lie.

    Returns
    -------
    dict
        JSON values; None where the system does not say. No host name, no serial number, no address.
    """
    root = Path(root)
    board = _text(root / "proc/device-tree/model") or _text(root / "sys/devices/virtual/dmi/id/product_name")
    release = _text(root / "etc/os-release") or ""
    memory = re.search(r"^MemTotal:\s+(\d+) kB", _text(root / "proc/meminfo") or "", re.MULTILINE)
    system = re.search(r'^PRETTY_NAME="?([^"\n]*)"?', release, re.MULTILINE)
    return {
        "board": board,
        "cpu": _cpu_model(_text(root / "proc/cpuinfo") or ""),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "usable_cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "clock_mhz": _clock(root),
        "governor": _text(root / _CPU / "scaling_governor"),
        "temperature_c": _thousandth(_text(root / "sys/class/thermal/thermal_zone0/temp")),
        "memory_bytes": int(memory[1]) * 1024 if memory else None,
        "system": system[1] if system else platform.platform(),
        "kernel": platform.release(),
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "onnxruntime": ort.__version__,
    }


def is_pi3(record: dict) -> bool:
    """Tell whether a record's hardware is a Raspberry Pi 3 Model B, the paper's board."""
    return bool(re.match(r"Raspberry Pi 3 Model B(?! Plus)", str(record["hardware"].get("board") or "")))


def _cpu_model(text: str) -> str | None:
    """Return the processor's name; on Arm, where there is none, the part's number with its usual name."""
    for key in ("model name", "Model", "Hardware"):
        if found := re.search(rf"^{key}\s*:\s*(.+)$", text, re.MULTILINE):
            return found[1].strip()
    part = re.search(r"^CPU part\s*:\s*(0x\w+)", text, re.MULTILINE)
    names = {"0xd03": "Cortex-A53", "0xd08": "Cortex-A72", "0xd0b": "Cortex-A76"}
    return names.get(part[1], f"CPU part {part[1]}") if part else None


def _clock(root: Path) -> float | None:
    """Return the clock in MHz: the highest that the governor may choose, or what the processor says it runs at."""
    if (most := _thousandth(_text(root / _CPU / "scaling_max_freq"))) is not None:
        return most
    found = re.search(r"^cpu MHz\s*:\s*([\d.]+)", _text(root / "proc/cpuinfo") or "", re.MULTILINE)
    return float(found[1]) if found else None


def _thousandth(text: str | None) -> float | None:
    return int(text) / 1000 if text and text.lstrip("-").isdigit() else None


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip("\0 \n") or None
    except OSError:
        return None
