"""Export an anonymizer of your own recordings for a device."""

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
from sensorrelease.read.recordings import user_windows

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
        TOML description, see `own.read.recordings`.
    hide : str, optional
        Private attribute. Not needed with a saved model.
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
        If neither `hide` nor a model is given, or the model does not fit the recordings.
    """
    check_writable(folder if folder.exists() else folder.absolute().parent)  # an error leaves no empty folder
    check_targets({"--save": keep}, recordings)
    if model is not None:
        trained = load(model)
        windows = user_windows(recordings, length=trained.models_.shape[1])
        check_shape(trained, windows, model)
    elif hide is None:
        raise ValueError("--hide is missing: name the private attribute that the recordings should hide")
    else:
        training: dict[str, Any] = {"batch": _BATCH, "epochs": epochs, "inference_epochs": inference_epochs}
        study = prepare(user_windows(recordings), hide, scheme="recordings", **training)
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
            f"has {given[0]} and {given[1]}. Name the description of the recordings that it was trained on: edge "
            "export FILE.toml --model FILE"
        )
