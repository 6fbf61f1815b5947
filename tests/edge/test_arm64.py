"""The guide's commands run on arm64, the processor of the paper's board, under emulation."""

import json
import shutil
import subprocess

import arm64
import pytest

from sensorrelease.boards import write_program

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.skipif(arm64.emulator() is None, reason="no qemu-user: install qemu-user-static"),
    pytest.mark.skipif(shutil.which("apt-get") is None, reason="the arm64 Python comes from Debian"),
]


@pytest.fixture(scope="module")
def board(tmp_path_factory):
    """Return a function that runs a program with an emulated arm64 Python."""
    folder = tmp_path_factory.mktemp("arm64")
    try:
        environment = arm64.build(folder)
    except subprocess.CalledProcessError as error:
        pytest.skip(f"no package index here: {error.stderr.decode(errors='replace')[-200:]}")
    python = [arm64.emulator(), str(folder / "root" / "usr" / "bin" / "python3.11")]

    def run(*words):
        return subprocess.run([*python, *map(str, words)], env=environment, capture_output=True, text=True, check=False)

    return run


def test_the_guides_packages_measure_on_arm64(board, bundle, tmp_path):
    program = write_program(bundle.folder.parent)
    out = tmp_path / "pi.json"
    done = board(program, "measure", "--out", out, "--batches", 1, "--seconds", 0.05, "--minutes", 2)
    assert done.returncode == 0, done.stderr
    found = json.loads(out.read_text())
    assert found["hardware"]["machine"] == "aarch64"
    assert [each["name"] for each in found["bundles"]] == ["sines-gender"]
