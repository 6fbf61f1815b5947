"""The program edge.pyz needs only numpy and onnxruntime, and so does the installed command."""

import json
import runpy
import subprocess
import sys
import zipfile
from pathlib import Path

from sensorrelease.boards import PROGRAM, write_program

_FIXTURES = runpy.run_path(str(Path(__file__).parents[1] / "edge" / "conftest.py"))
windows, anonymizer, bundle = (_FIXTURES[name] for name in ("windows", "anonymizer", "bundle"))

# Refuse every package except numpy, onnxruntime and their dependencies, as on a board.
BLOCK = """\
import sys, runpy
class Block:
    def find_spec(self, name, path=None, target=None):
        top = name.split(".")[0]
        ours = {"sensorprivacy", "sensorrelease", "numpy", "onnxruntime", "flatbuffers", "google", "packaging"}
        allowed = ours | set(sys.stdlib_module_names)
        if top not in allowed and not top.startswith(("_", "__editable__")):
            raise ModuleNotFoundError(f"not on this board: {name}")
sys.meta_path.insert(0, Block())
sys.argv = sys.argv[1:]
"""
PYZ = BLOCK + 'runpy.run_path(sys.argv[0], run_name="__main__")\n'
# the installed package brings lazy_loader and click along
INSTALLED = (
    BLOCK.replace('"packaging"', '"packaging", "lazy_loader", "click"')
    + 'runpy.run_module("sensorrelease", run_name="__main__")\n'
)


def on_board(code, *words):
    command = [sys.executable, "-c", code, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_program_needs_only_numpy_and_onnxruntime(bundle, tmp_path):
    program = write_program(bundle.folder.parent)
    out = tmp_path / "board.json"
    words = ("measure", "--out", out, "--batches", 1, "--seconds", 0.001)
    done = on_board(PYZ, program, *words)
    assert done.returncode == 0, done.stderr
    assert "ms per window" in done.stdout
    found = json.loads(out.read_text())
    assert [each["name"] for each in found["bundles"]] == ["sines-gender"]
    with zipfile.ZipFile(program) as archive:  # its own code, not the checkout's
        assert "sensorprivacy/edge/board/measurement.py" in archive.namelist()
    assert program.read_bytes() == write_program(tmp_path).read_bytes()


def test_the_installed_command_needs_only_these_too(bundle, tmp_path):
    out = tmp_path / "pi.json"
    words = ("edge", "measure", "--out", out, "--bundles", bundle.folder, "--batches", 1, "--seconds", 0.001)
    done = on_board(INSTALLED, "sensorprivacy", *words)
    assert done.returncode == 0, done.stderr
    assert json.loads(out.read_text())["settings"]["batches"] == [1]
    assert "not on this board: torch" in on_board(BLOCK + "import torch", "x").stderr


def test_the_program_is_executable_and_has_instructions(tmp_path):
    path = write_program(tmp_path)
    assert path.name == PROGRAM
    assert path.stat().st_mode & 0o100
    assert "edge.pyz measure --out pi.json" in (tmp_path / "README.txt").read_text()
