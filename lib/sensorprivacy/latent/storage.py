"""Save a fitted anonymizer in one safetensors file: plain arrays and a JSON header, without executable content."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from sensorprivacy.latent.anonymizer import LatentAnonymizer
from sensorprivacy.latent.classifiers import Classifier
from sensorprivacy.latent.inference import InferenceModels
from sensorprivacy.latent.networks import PrivateVAE, Sizes
from sensorprivacy.latent.training import Settings
from sensorprivacy.latent.transfers import TRANSFERS
from sensorprivacy.latent.windows import Coding, Scaler
from sensorprivacy.paths import write_atomically

FORMAT, VERSION = "sensorprivacy-latent-anonymizer", 4
# parameters that JSON can hold
_PARAMETERS = ["private", "modify", "alpha", "beta", "kind", "general", "sampled", "redraw", "insist", "spectral_noise"]


class ModelFileError(ValueError):
    """A file is not a saved anonymizer, has another version, or is damaged."""


def save(anonymizer: LatentAnonymizer, path: Path | str, *, latents: bool = False) -> Path:
    """Write a fitted anonymizer to a file.

    Parameters
    ----------
    anonymizer : LatentAnonymizer
        Fitted.
    path : path
        The file, usually with the suffix ``.safetensors``. It is written completely or not at all.
    latents : bool
        Also save the training latents, from which another transfer can be learned after loading. They describe the
        people of the training set window by window, so do not put them on a device.

    Returns
    -------
    pathlib.Path
        The file.
    """
    models = anonymizer.models_
    networks = {"public": models.public_model.network_, "private": models.private_model.network_}
    if anonymizer.second_reader is not None:
        networks["second_reader"] = anonymizer.second_reader.network_
    for code, network in enumerate(anonymizer.vaes_[:1] if anonymizer.general else anonymizer.vaes_):
        networks[f"vae.{code}"] = network
    parts: dict[str, Mapping[str, Any]] = {name: network.state_dict() for name, network in networks.items()}
    for code, statistics in enumerate(anonymizer.statistics_):
        parts[f"statistics.{code}"] = statistics
        parts[f"lost.{code}"] = {"spectra": anonymizer.lost_spectra_[code]}
        if latents:
            z, private = anonymizer.latents_[code]
            parts[f"latents.{code}"] = {"z": z, "private": private, "owners": anonymizer.owners_[code]}
    tensors = {
        f"{prefix}.{name}": torch.as_tensor(value).cpu().contiguous()
        for prefix, part in parts.items()
        for name, value in part.items()
    }
    metadata = {"format": FORMAT, "version": str(VERSION), "content": json.dumps(_header(anonymizer), sort_keys=True)}
    path = Path(path)
    write_atomically(path, lambda part: save_file(tensors, part, metadata))
    return path


def load(path: Path | str, *, device: str = "auto") -> LatentAnonymizer:
    """Load an anonymizer from a file, ready to transform.

    Parameters
    ----------
    path : path
        A file written by `save`.
    device : str
        Device to run on.

    Returns
    -------
    LatentAnonymizer
        Without loss curves, and without training latents unless they were saved.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ModelFileError
        If the file is not a saved anonymizer, has another version, is damaged, or is inconsistent.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"no saved anonymizer at {path}")
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            _check_version(metadata, path)
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a mapping)
        return _rebuild(json.loads(metadata["content"]), tensors, device)
    except SafetensorError as error:
        raise ModelFileError(f"{path} is damaged or not a safetensors file: {error}") from error
    except (KeyError, TypeError, RuntimeError) as error:
        raise ModelFileError(f"{path}: parts do not fit together: {str(error).splitlines()[0]}") from error


def _header(anonymizer: LatentAnonymizer) -> dict[str, Any]:
    models, transfer, reader = anonymizer.models_, anonymizer.transfer, anonymizer.second_reader
    bijection = dict(anonymizer.bijection) if anonymizer.bijection else None
    return {
        "parameters": {name: getattr(anonymizer, name) for name in _PARAMETERS} | {"bijection": bijection},
        "transfer": {"name": type(transfer).__name__, "of": asdict(transfer)} if transfer else None,  # type: ignore[call-overload]
        "sizes": asdict(anonymizer._sizes()),
        "shape": models.shape,
        "scaler": asdict(models.scaler),
        "public": models.public.classes,
        "private": models.private.classes,
        "models": [models.public_model.kind, models.private_model.kind],
        "second_reader": reader.kind if reader is not None else None,
        "people": anonymizer.people_,
    }


def _check_version(metadata: Mapping[str, str], path: Path) -> None:
    if metadata.get("format") != FORMAT:
        raise ModelFileError(
            f"{path} is not a saved anonymizer (format {metadata.get('format')!r}, expected {FORMAT!r})"
        )
    if metadata.get("version") != str(VERSION):
        raise ModelFileError(
            f"{path} has version {metadata.get('version')}, this package reads version {VERSION}: fit and save again"
        )


def _rebuild(header: Mapping[str, Any], tensors: Mapping[str, Tensor], device: str) -> LatentAnonymizer:
    def under(prefix: str) -> dict[str, Tensor]:
        start = f"{prefix}."
        return {name.removeprefix(start): tensor for name, tensor in tensors.items() if name.startswith(start)}

    def classifier(name: str, kind: Any, classes: int) -> Classifier:
        model = Classifier(kind, settings=settings)
        model.classes_, model.network_ = classes, model.build(shape, classes)
        model.network_.load_state_dict(under(name))
        model.network_.eval()
        return model

    def autoencoder(code: int) -> PrivateVAE:
        network = PrivateVAE(int(np.prod(shape)), sizes, len(private.classes))
        network.load_state_dict(under(f"vae.{code}"))
        return network.eval()

    made, settings, shape = header["transfer"], Settings(device=device), tuple(header["shape"])
    sizes = Sizes(tuple(header["sizes"]["hidden"]), header["sizes"]["latent"])
    scaler = Scaler(**{name: tuple(values) for name, values in header["scaler"].items()})
    attribute = header["parameters"]["private"]
    public, private = Coding("public class", tuple(header["public"])), Coding(attribute, tuple(header["private"]))
    public_kind, private_kind = header["models"]
    reader = header["second_reader"]
    anonymizer = LatentAnonymizer(
        **header["parameters"],
        transfer=TRANSFERS[made["name"]](**made["of"]) if made else None,
        sizes=sizes,
        vae=settings,
        inference=settings,
        second_reader=classifier("second_reader", reader, len(public.classes)) if reader else None,
    )
    public_model = classifier("public", public_kind, len(public.classes))
    private_model = classifier("private", private_kind, len(private.classes))
    anonymizer.models_ = InferenceModels(shape, scaler, public, public_model, attribute, private, private_model)
    codes = range(len(public.classes))
    anonymizer.people_ = tuple(header["people"])
    anonymizer.vaes_ = [autoencoder(0)] * len(codes) if anonymizer.general else [autoencoder(code) for code in codes]
    anonymizer.statistics_ = [
        {name: tensor.numpy() for name, tensor in under(f"statistics.{code}").items()} for code in codes
    ]
    if not all(anonymizer.statistics_):
        raise KeyError("mean latents are missing")
    anonymizer.lost_spectra_ = [tensors[f"lost.{code}.spectra"].numpy() for code in codes]
    if "latents.0.z" in tensors:
        parts = [under(f"latents.{code}") for code in codes]
        anonymizer.latents_ = [(part["z"].numpy(), part["private"].numpy()) for part in parts]
        anonymizer.owners_ = [part["owners"].numpy() for part in parts]
    anonymizer.history_ = pd.DataFrame()
    return anonymizer
