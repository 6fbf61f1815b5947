"""Write ``edge.pyz``, the one-file Python program that measures the bundles on a board."""

import zipfile
from pathlib import Path

import sensorprivacy

PROGRAM = "edge.pyz"
INSTRUCTIONS = """\
How to measure this board
=========================

1. Use 64-bit Linux with Python 3.11 or newer. `uname -m` prints aarch64 or x86_64.
   A Raspberry Pi needs Raspberry Pi OS (64-bit).
2. python3 -m venv measure && measure/bin/pip install numpy onnxruntime
   If onnxruntime does not start, install another version: measure/bin/pip install onnxruntime==1.23.2
3. Close all other programs. Give the board its own power supply: a Pi with a weak one slows down.
4. measure/bin/python edge.pyz measure --out pi.json
   This takes a few minutes on a Raspberry Pi 3. An interrupted measurement writes no record.
   If the memory is too small, add --batches 1.
5. measure/bin/python edge.pyz replay --minutes 5 --speed 4
   This checks whether the board keeps up with a stream.
6. Copy pi.json back, and add its path to `records` in notebooks/40_edge_timing.ipynb.

The record holds times, the board's model, its operating system and software versions. It holds no name, serial number
or address.
"""
_MAIN = "import sys\nfrom sensorprivacy.edge.board.commands import main\nsys.exit(main())\n"


def write_program(folder: Path | str) -> Path:
    """Write the program and its README.txt into the folder of the bundles, and return the program's path.

    It runs as ``python3 edge.pyz measure --out pi.json``.
    """
    package, path = Path(sensorprivacy.__file__).parent, Path(folder) / PROGRAM
    path.parent.mkdir(parents=True, exist_ok=True)
    modules = [*sorted((package / "edge" / "board").glob("*.py")), package / "latent" / "modify.py"]
    # these __init__ files stay empty: the library's own need lazy_loader, which a board does not have
    code = {f"sensorprivacy/{name}__init__.py": b"" for name in ("", "edge/", "latent/")}
    code |= {f"sensorprivacy/{file.relative_to(package).as_posix()}": file.read_bytes() for file in modules}
    with path.open("wb") as program:
        program.write(b"#!/usr/bin/env python3\n")
        with zipfile.ZipFile(program, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in {**code, "__main__.py": _MAIN.encode()}.items():
                # a fixed date, so that the same code always gives the same bytes
                archive.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), content)
    path.chmod(0o755)
    path.with_name("README.txt").write_text(INSTRUCTIONS, encoding="utf-8")
    return path
