"""Wrong usage on a board ends with one line, and before the measurement if possible."""

import runpy
import sys
from pathlib import Path

import pytest

from sensorprivacy.edge.board import measurement, pipeline
from sensorrelease import board

_FIXTURES = runpy.run_path(str(Path(__file__).parents[1] / "edge" / "conftest.py"))
windows, anonymizer, bundle = (_FIXTURES[name] for name in ("windows", "anonymizer", "bundle"))


@pytest.fixture
def run(bundle, capsys):
    """Run a command of edge.pyz on the bundle, and return its exit code and what it writes to stderr."""

    def call(*words):
        code = board.main([*words, "--bundles", str(bundle.folder)])
        return code, capsys.readouterr().err

    return call


def test_a_file_that_cannot_be_written_is_noticed_before_the_measurement(run, tmp_path, monkeypatch):
    monkeypatch.setattr(measurement, "measure", lambda *given, **named: pytest.fail("measured"))
    code, said = run("measure", "--out", str(tmp_path))
    assert code == 2
    assert said == f"error: --out {tmp_path} is a folder: name a file, such as {tmp_path / 'board.json'}\n"
    (tmp_path / "file").write_text("")
    code, said = run("measure", "--out", str(tmp_path / "file" / "pi.json"))
    assert code == 1
    assert "file" in said


def test_an_earlier_record_stays_until_the_new_one_is_complete(run, tmp_path, monkeypatch):
    def interrupted(*given, **named):
        raise KeyboardInterrupt

    monkeypatch.setattr(measurement, "measure", interrupted)
    (tmp_path / "pi.json").write_text("earlier")
    code, said = run("measure", "--out", str(tmp_path / "pi.json"))
    assert code == 130
    assert said.strip() == "interrupted: no record was written"
    assert [path.name for path in tmp_path.iterdir()] == ["pi.json"]
    assert (tmp_path / "pi.json").read_text() == "earlier"


@pytest.mark.parametrize("failure", [MemoryError, RuntimeError])  # numpy's, and onnxruntime's
def test_too_little_memory_names_the_batch(run, tmp_path, monkeypatch, failure):
    def fails(self):
        raise failure("Failed to allocate memory\nand more")

    monkeypatch.setattr(pipeline.Bound, "run", fails)
    code, said = run("measure", "--out", str(tmp_path / "a.json"), "--seconds", "0.001", "--batches", "2")
    assert code == 2
    assert "public: a batch of 2 windows does not run on this machine (Failed to allocate memory): name" in said
    assert "--batches 1" in said


def test_a_missing_package_is_named_with_its_remedy(run, tmp_path, monkeypatch):
    monkeypatch.delitem(sys.modules, "sensorprivacy.edge.board.measurement")
    monkeypatch.delattr("sensorprivacy.edge.board.measurement")
    monkeypatch.delitem(sys.modules, "sensorprivacy.edge.board.hardware")
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    code, said = run("measure", "--out", str(tmp_path / "a.json"))
    assert code == 1
    assert (
        said == f"error: onnxruntime is not installed: run {sys.executable} -m pip install numpy onnxruntime==1.23.2\n"
    )


def test_a_program_without_its_bundles_says_what_to_copy(tmp_path, capsys):
    assert board.main(["measure", "--out", str(tmp_path / "a.json"), "--bundles", str(tmp_path)]) == 1
    said = capsys.readouterr().err
    assert f"no bundle in {tmp_path}: copy the whole folder of `sensorprivacy edge export`" in said


def test_a_system_of_32_bits_is_refused_in_one_line(run, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "maxsize", 2**31 - 1)
    words = "error: this Python has 32 bits, and onnxruntime needs 64: install a 64-bit system\n"
    assert run("measure", "--out", str(tmp_path / "a.json")) == (1, words)


def test_damaged_bundles_end_the_command(tmp_path, capsys):
    assert board.main(["measure", "--out", str(tmp_path / "a.json"), "--bundles", str(tmp_path)]) == 1
    assert "no bundle in" in capsys.readouterr().err
    (tmp_path / "manifest.json").write_text("{}")
    assert board.main(["measure", "--out", str(tmp_path / "a.json"), "--bundles", str(tmp_path)]) == 2
    assert "is not the manifest of a bundle" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        board.main(["export"])  # a board cannot export
