"""What is carried to a board: the bundles and one file of Python that measures them there."""

import zipfile
from pathlib import Path

import sensorprivacy

PROGRAM = "edge.pyz"
# what the command needs on a board, by its path in the package; everything else stays at home
CARRIED = (
    "__init__.py",
    *(
        f"edge/{name}.py"
        for name in (
            "__init__",
            "bundle",
            "pipeline",
            "stream",
            "timing",
            "hardware",
            "device",
            "replay",
            "bounds",
            "links",
            "cli",
        )
    ),
    "latent/__init__.py",
    "latent/modify.py",
)
HOW = """\
How to measure this board
=========================

1. A 64-bit Linux with Python 3.11 or newer. On a Raspberry Pi: Raspberry Pi OS (64-bit); `uname -m` says aarch64.
2. python3 -m venv measure && measure/bin/pip install numpy onnxruntime
3. Let nothing else run, and give the board its own power supply: a Pi on a weak one slows down.
4. measure/bin/python edge.pyz measure --out pi.json        a few minutes on a Raspberry Pi 3
5. measure/bin/python edge.pyz replay --minutes 5 --speed 4 does it keep up with a stream?
6. Carry pi.json back and name it in `records` of notebooks/40_edge_timing.ipynb.

The record holds timings, the board's model, its system and versions; no name, serial number or address.
"""
_MAIN = "import sys\nfrom sensorprivacy.edge.cli import main\nsys.exit(main())\n"


def write_program(folder: Path | str) -> Path:
    """Write the program that runs as ``python3 edge.pyz measure --out pi.json``, and return its path.

    Parameters
    ----------
    folder : path
        Where the bundles are; the program looks for them beside itself.
    """
    package, path = Path(sensorprivacy.__file__).parent, Path(folder) / PROGRAM
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.write(b"#!/usr/bin/env python3\n")
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for name in CARRIED:
                # A package's own __init__ imports lazily, by a library that the board does not have.
                code = b"" if name.endswith("__init__.py") else (package / name).read_bytes()
                archive.writestr(_entry(f"sensorprivacy/{name}"), code)
            archive.writestr(_entry("__main__.py"), _MAIN)
    path.chmod(0o755)
    path.with_name("README.txt").write_text(HOW, encoding="utf-8")
    return path


def _entry(name: str) -> zipfile.ZipInfo:
    """Return an entry dated the same always, so that the same code gives the same bytes."""
    return zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
