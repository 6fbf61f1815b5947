"""Keep a fitted anonymizer in one safetensors file: plain arrays and a JSON header, nothing that could run code."""

import json
import os
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
from sensorprivacy.latent.classifiers import Classifier, Kind
from sensorprivacy.latent.inference import Guesses
from sensorprivacy.latent.networks import PrivateVAE, Sizes
from sensorprivacy.latent.training import Settings
from sensorprivacy.latent.transfers import TRANSFERS, Transfer
from sensorprivacy.latent.windows import Coding, Scaler

FORMAT, VERSION = "sensorprivacy-latent-anonymizer", 2
_PLAIN = ("private", "modify", "alpha", "beta", "kind", "general", "sampled", "redraw", "insist", "bijection", "detail")


class ModelFileError(ValueError):
    """A file that is no saved anonymizer, of another version, or damaged."""


def save(anonymizer: LatentAnonymizer, path: Path | str, *, latents: bool = False) -> Path:
    """Write a fitted anonymizer to a file.

    Parameters
    ----------
    anonymizer : LatentAnonymizer
        Fitted.
    path : path
        The file, by custom ending in ``.safetensors``; written at once or not at all.
    latents : bool
        Whether to add the training latents, from which another transfer can be learnt after loading. They describe the
        people of the training set window by window, so a device should not carry them.

    Returns
    -------
    pathlib.Path
        The file.
    """
    known = anonymizer.guesses_
    tensors: dict[str, Tensor] = {}
    for name, network in (("public", known.public_model.network_), ("private", known.private_model.network_)):
        tensors |= _named(name, network.state_dict())
    if anonymizer.witness is not None:
        tensors |= _named("witness", anonymizer.witness.network_.state_dict())
    for code, network in enumerate(anonymizer.vaes_[:1] if anonymizer.general else anonymizer.vaes_):
        tensors |= _named(f"vae.{code}", network.state_dict())
    for code, statistics in enumerate(anonymizer.statistics_):
        arrays = {key: torch.as_tensor(np.ascontiguousarray(value)) for key, value in statistics.items()}
        tensors |= _named(f"statistics.{code}", arrays) | {f"losses.{code}": torch.as_tensor(anonymizer.losses_[code])}
    if latents:
        for code, (z, private) in enumerate(anonymizer.latents_):
            tensors |= {f"latents.{code}.z": torch.as_tensor(z), f"latents.{code}.private": torch.as_tensor(private)}
    metadata = {"format": FORMAT, "version": str(VERSION), "content": json.dumps(_header(anonymizer), sort_keys=True)}
    path = Path(path)
    part = path.with_name(f"{path.name}.{os.getpid()}.part")  # two processes may write the same file
    save_file({name: tensor.cpu().contiguous() for name, tensor in tensors.items()}, part, metadata)
    part.replace(path)
    return path


def load(path: Path | str, *, device: str = "auto") -> LatentAnonymizer:
    """Return the anonymizer of a file, ready to transform.

    Parameters
    ----------
    path : path
        A file that `save` wrote.
    device : str
        Where it runs.

    Returns
    -------
    LatentAnonymizer
        Without loss curves; without training latents unless they were saved.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ModelFileError
        If the file is no saved anonymizer, of another version, damaged, or its parts do not fit together.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"no saved anonymizer {path}")
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            _check_version(metadata, path)
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a mapping)
        return _rebuilt(json.loads(metadata["content"]), tensors, device)
    except SafetensorError as error:
        raise ModelFileError(f"{path} is damaged or no safetensors file: {error}") from error
    except (KeyError, TypeError, RuntimeError) as error:
        raise ModelFileError(f"{path}: parts do not fit together: {str(error).splitlines()[0]}") from error


def _header(anonymizer: LatentAnonymizer) -> dict[str, Any]:
    known, transfer = anonymizer.guesses_, anonymizer.transfer
    sizes = anonymizer._sizes()
    bijection = anonymizer.bijection
    return {
        "parameters": {name: getattr(anonymizer, name) for name in _PLAIN}
        | {"bijection": dict(bijection) if bijection else None},
        "transfer": {"name": type(transfer).__name__, "of": asdict(transfer)} if transfer else None,  # type: ignore[call-overload]
        "sizes": {"hidden": sizes.hidden, "latent": sizes.latent},
        "shape": known.shape,
        "scaler": asdict(known.scaler),
        "public": known.public.classes,
        "private": known.private.classes,
        "models": [known.public_model.kind, known.private_model.kind],
        "witness": anonymizer.witness.kind if anonymizer.witness is not None else None,
    }


def _check_version(metadata: Mapping[str, str], path: Path) -> None:
    if metadata.get("format") != FORMAT:
        raise ModelFileError(f"{path} is no saved anonymizer (format {metadata.get('format')!r}, expected {FORMAT!r})")
    if metadata.get("version") != str(VERSION):
        raise ModelFileError(
            f"{path} is of version {metadata.get('version')}, this package reads version {VERSION}: fit and save anew"
        )


def _rebuilt(header: Mapping[str, Any], tensors: Mapping[str, Tensor], device: str) -> LatentAnonymizer:
    made, settings = header["transfer"], Settings(device=device)
    transfer: Transfer | None = TRANSFERS[made["name"]](**made["of"]) if made else None
    sizes = Sizes(tuple(header["sizes"]["hidden"]), header["sizes"]["latent"])
    anonymizer = LatentAnonymizer(
        **header["parameters"], transfer=transfer, sizes=sizes, vae=settings, inference=settings
    )
    known = anonymizer.guesses_ = _guesses(header, tensors, settings)
    if header["witness"]:
        anonymizer.witness = _classifier(
            "witness", header["witness"], known.shape, len(known.public.classes), tensors, settings
        )
    values, classes = int(np.prod(known.shape)), len(known.private.classes)
    anonymizer.vaes_ = []
    for code in range(len(known.public.classes)):
        if anonymizer.general and code:
            anonymizer.vaes_.append(anonymizer.vaes_[0])
            continue
        network = PrivateVAE(values, sizes, classes)
        network.load_state_dict(_under(f"vae.{code}", tensors))
        anonymizer.vaes_.append(network.eval())
    codes = range(len(known.public.classes))
    anonymizer.statistics_ = [
        {key: tensor.numpy() for key, tensor in _under(f"statistics.{code}", tensors).items()} for code in codes
    ]
    if any(not statistics for statistics in anonymizer.statistics_):
        raise KeyError("mean latents are missing")
    anonymizer.losses_ = [tensors[f"losses.{code}"].numpy() for code in codes]
    if "latents.0.z" in tensors:
        anonymizer.latents_ = [
            (tensors[f"latents.{code}.z"].numpy(), tensors[f"latents.{code}.private"].numpy()) for code in codes
        ]
    anonymizer.history_ = pd.DataFrame()
    return anonymizer


def _guesses(header: Mapping[str, Any], tensors: Mapping[str, Tensor], settings: Settings) -> Guesses:
    attribute, shape = header["parameters"]["private"], tuple(header["shape"])
    codings = Coding("public class", tuple(header["public"])), Coding(attribute, tuple(header["private"]))
    models = []
    for name, kind, coding in zip(("public", "private"), header["models"], codings, strict=True):
        models.append(_classifier(name, kind, shape, len(coding.classes), tensors, settings))
    scaler = Scaler(tuple(header["scaler"]["mean"]), tuple(header["scaler"]["deviation"]))
    return Guesses(attribute, shape, scaler, *codings, *models)


def _classifier(
    name: str, kind: Kind, shape: tuple[int, int], classes: int, tensors: Mapping[str, Tensor], settings: Settings
) -> Classifier:
    model = Classifier(kind, settings=settings)
    model.classes_ = classes
    model.network_ = model.build(shape, classes)
    model.network_.load_state_dict(_under(name, tensors))
    model.network_.eval()
    return model


def _named(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {f"{prefix}.{name}": tensor for name, tensor in tensors.items()}


def _under(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {
        name.removeprefix(f"{prefix}."): tensor for name, tensor in tensors.items() if name.startswith(f"{prefix}.")
    }
