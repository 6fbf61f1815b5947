"""Export an anonymizer of your own recordings for a device."""

import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from sensorprivacy.data import Windows
from sensorprivacy.edge.board.bundle import Bundle
from sensorprivacy.edge.export import anonymizer_bundle
from sensorprivacy.latent.anonymizer import LatentAnonymizer
from sensorprivacy.latent.storage import load, save
from sensorprivacy.latent.study import prepare
from sensorprivacy.paths import check_writable
from sensorrelease.publishing.writing import check_targets
from sensorrelease.recordings import read_recordings

_LENGTH, _STRIDE = 128, 10  # samples of a window, and from one to the next
_BATCH = 64  # windows of a training step: own recordings can be few


def own_bundles(
    recordings: Path,
    hide: str | None,
    folder: Path,
    *,
    model: Path | None = None,
    keep: Path | None = None,
    epochs: int = 5,
    inference_epochs: int = 5,
) -> dict[str, Bundle]:
    """Write the networks of an anonymizer of your own recordings, and return the bundle by its name.

    Parameters
    ----------
    recordings : pathlib.Path
        Their folder, or the schema beside it.
    hide : str, optional
        Private attribute; by default the user. Not needed with a saved model.
    folder : pathlib.Path
        Folder to write.
    model : pathlib.Path, optional
        A saved anonymizer. Default: one is trained.
    keep : pathlib.Path, optional
        File to save a trained anonymizer in.
    epochs, inference_epochs : int
        Training epochs of each autoencoder, and of each inference model.

    Raises
    ------
    ValueError
        If there is no such attribute, or the model does not fit the recordings.
    """
    check_writable(folder if folder.exists() else folder.absolute().parent)  # an error leaves no empty folder
    check_targets({"--save": keep}, recordings)
    own = read_recordings(recordings)
    if model is not None:
        trained = load(model)
        windows = own.windows(trained.models_.shape[1], _STRIDE)
        check_shape(trained, windows, model)
    else:
        training: dict[str, Any] = {"batch": _BATCH, "epochs": epochs, "inference_epochs": inference_epochs}
        study = prepare(own.windows(_LENGTH, _STRIDE), own.hidden(hide), scheme="recordings", **training)
        fewest = int(study.train.public.value_counts().min())
        study = replace(study, vae=replace(study.vae, batch=min(fewest, _BATCH)))
        trained, windows = study.anonymizer(study.inference_models()), study.test
        if keep is not None:
            save(trained, keep)
    bundle = anonymizer_bundle(trained, windows, folder)
    return {bundle.folder.name: bundle}


def check_shape(trained: LatentAnonymizer, windows: Windows, model: Path) -> None:
    """Raise ValueError if an anonymizer was trained on windows of another shape."""
    shape, given = tuple(trained.models_.shape), (windows.n_channels, windows.length)
    if shape != given:
        raise ValueError(
            f"--model {model}: it anonymizes windows of {shape[0]} channels and {shape[1]} samples, but {windows.name} "
            f"has {given[0]} and {given[1]}. Name the recordings that it was trained on: edge export "
            "FOLDER --model FILE"
        )


PROGRAM = "edge.pyz"
INSTRUCTIONS = """\
How to measure this board
=========================

1. Use 64-bit Linux with Python 3.11 or newer. `uname -m` prints aarch64 or x86_64.
   A Raspberry Pi needs Raspberry Pi OS (64-bit).
2. python3 -m venv measure && measure/bin/pip install numpy onnxruntime==1.23.2
   If onnxruntime does not start, install another version: measure/bin/pip install onnxruntime==1.23.2
3. Close all other programs. Give the board its own power supply: a Pi with a weak one slows down.
4. measure/bin/python edge.pyz measure --out pi.json
   This takes a few minutes on a Raspberry Pi 3. An interrupted measurement writes no record.
   If the memory is too small, add --batches 1.
5. Copy pi.json back, and add its path to `records` in notebooks/40_edge_timing.ipynb.

The record holds times, the board's model, its operating system and software versions. It holds no name, serial number
or address.
"""
_PACKED = ("privacy/latent/modify.py", "privacy/paths.py", "release/board.py", "release/printing.py")
_MAIN = "import sys\nfrom sensorrelease.board import main\nsys.exit(main())\n"


def write_program(folder: Path | str) -> Path:
    """Write the program and its README.txt into the folder of the bundles, and return the program's path.

    It runs as ``python3 edge.pyz measure --out pi.json``.
    """
    path, lib = Path(folder) / PROGRAM, Path(__file__).parents[1]
    path.parent.mkdir(parents=True, exist_ok=True)
    # these __init__ files stay empty: the packages' own need lazy_loader, which a board does not have
    packages = ("sensorprivacy", "sensorprivacy/edge", "sensorprivacy/latent", "sensorrelease")
    code = {f"{package}/__init__.py": b"" for package in packages}
    modules = [*sorted((lib / "sensorprivacy/edge/board").glob("*.py")), *(lib / f"sensor{name}" for name in _PACKED)]
    code |= {file.relative_to(lib).as_posix(): file.read_bytes() for file in modules}
    with path.open("wb") as program:
        program.write(b"#!/usr/bin/env python3\n")
        with zipfile.ZipFile(program, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in {**code, "__main__.py": _MAIN.encode()}.items():
                # a fixed date, so that the same code always gives the same bytes
                archive.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), content)
    path.chmod(0o755)
    path.with_name("README.txt").write_text(INSTRUCTIONS, encoding="utf-8")
    return path
