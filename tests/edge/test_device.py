"""The command on a board: numpy and onnxruntime are all it needs, and a record that is none is refused."""

import json
import subprocess
import sys
import zipfile

import pytest

from sensorprivacy.edge import cli, device
from sensorprivacy.edge.carry import PROGRAM, write_program

# Refuses every package but numpy and onnxruntime and what these two need, as on a board that has no others.
BLOCK = """\
import sys, runpy
class Block:
    def find_spec(self, name, path=None, target=None):
        top = name.split(".")[0]
        ours = {"sensorprivacy", "numpy", "onnxruntime", "flatbuffers", "google", "packaging"}
        allowed = ours | set(sys.stdlib_module_names)
        if top not in allowed and not top.startswith(("_", "__editable__")):
            raise ModuleNotFoundError(f"not on this board: {name}")
sys.meta_path.insert(0, Block())
sys.argv = sys.argv[1:]
"""
PYZ = BLOCK + 'runpy.run_path(sys.argv[0], run_name="__main__")\n'
INSTALLED = BLOCK + 'runpy.run_module("sensorprivacy", run_name="__main__")\n'


@pytest.fixture(scope="module")
def record(bundle):
    return device.measure(bundle.folder, batches=(1, 2), seconds=0.001)


def on_board(code, *words):
    command = [sys.executable, "-c", code, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_carried_program_needs_numpy_and_onnxruntime_only(bundle, tmp_path):
    program = write_program(bundle.folder.parent)
    out = tmp_path / "board.json"
    words = ("measure", "--out", out, "--batches", 1, "--seconds", 0.001)
    done = on_board(PYZ, program, *words)
    assert done.returncode == 0, done.stderr
    assert "ms a window" in done.stdout
    found = device.read_record(out)
    assert [each["name"] for each in found["bundles"]] == ["sines-gender"]
    with zipfile.ZipFile(program) as archive:  # not ours from the checkout
        assert "sensorprivacy/edge/timing.py" in archive.namelist()
    assert program.read_bytes() == write_program(tmp_path).read_bytes()


def test_the_installed_command_needs_no_more(bundle, tmp_path):
    out = tmp_path / "pi.json"
    words = ("edge", "measure", "--out", out, "--bundles", bundle.folder, "--batches", 1, "--seconds", 0.001)
    done = on_board(INSTALLED, "sensorprivacy", *words)
    assert done.returncode == 0, done.stderr
    assert device.read_record(out)["settings"]["batches"] == [1]
    assert "not on this board: torch" in on_board(BLOCK + "import torch", "x").stderr


def test_a_record_comes_back_as_it_was_written(record, tmp_path):
    path = device.write_record(record, tmp_path / "deep" / "here.json")
    assert device.read_records([path]) == {"here": record}
    with pytest.raises(device.RecordError, match="two records are called here"):
        device.read_records([path, path])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "damaged or no JSON"),
        ("[]", "is no record of `edge measure`"),
        ('{"format": "sensorprivacy-edge-record", "version": 9}', "is of version 9, expected 1: measure anew"),
        ('{"format": "sensorprivacy-edge-record", "version": 1}', "lacks bundles, hardware"),
    ],
)
def test_what_is_no_record_is_refused(tmp_path, text, said):
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(device.RecordError, match=said):
        device.read_record(path)
    with pytest.raises(FileNotFoundError, match=r"make one with `python -m sensorprivacy edge measure --out y\.json`"):
        device.read_record(tmp_path / "y.json")


def test_a_record_names_no_machine(record):
    import platform

    text = json.dumps(record["hardware"])
    assert platform.node() not in text.split('"') or platform.node() in ("localhost", "")


def test_settings_out_of_range_and_damaged_bundles_end_the_command(bundle, tmp_path, capsys):
    with pytest.raises(ValueError, match="threads=0"):
        device.measure(bundle.folder, threads=0)
    assert cli.main(["measure", "--out", str(tmp_path / "a.json"), "--bundles", str(tmp_path)]) == 1
    assert "no bundle in" in capsys.readouterr().err
    (tmp_path / "manifest.json").write_text("{}")
    assert cli.main(["measure", "--out", str(tmp_path / "a.json"), "--bundles", str(tmp_path)]) == 2
    assert "is no manifest of a bundle" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        cli.main(["export"])  # not on a board


def test_the_program_is_the_packages_own_code(tmp_path):
    path = write_program(tmp_path)
    assert path.name == PROGRAM
    assert path.stat().st_mode & 0o100
    assert "edge.pyz measure --out pi.json" in (tmp_path / "README.txt").read_text()
