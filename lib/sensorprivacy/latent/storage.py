"""Save a fitted anonymizer in one file, and load it again."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from torch import Tensor
from torch import device as device_of

from sensorprivacy.latent.anonymizer import LatentAnonymizer
from sensorprivacy.latent.classifiers import Classifier
from sensorprivacy.latent.files import ModelFileError, read_parts, write_parts
from sensorprivacy.latent.inference import InferenceModels
from sensorprivacy.latent.networks import PrivateVAE, Sizes
from sensorprivacy.latent.training import Settings
from sensorprivacy.latent.transfers import TRANSFERS
from sensorprivacy.latent.windows import Coding, Scaler

FORMAT = "sensorprivacy-anonymizer-5"
# parameters that JSON can hold
_PARAMETERS = ["private", "modify", "alpha", "beta", "kind", "general", "sampled", "redraw", "insist", "spectral_noise"]


def save(anonymizer: LatentAnonymizer, path: Path | str) -> Path:
    """Write a fitted anonymizer to a file.

    Parameters
    ----------
    anonymizer : LatentAnonymizer
        Fitted.
    path : path
        The file, usually with the suffix ``.safetensors``. It is written completely or not at all.

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
    path = Path(path)
    write_parts(path, FORMAT, _header(anonymizer), parts)
    return path


def load(path: Path | str) -> LatentAnonymizer:
    """Load an anonymizer from a file, ready to transform.

    Parameters
    ----------
    path : path
        A file written by `save`.

    Returns
    -------
    LatentAnonymizer
        Without loss curves, and without training latents: so it cannot learn another transfer.

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
    header, parts = read_parts(path, FORMAT)
    try:
        return _rebuild(header, parts)
    except (LookupError, TypeError, RuntimeError, ValueError, AttributeError) as error:
        cause = (str(error).splitlines() or [type(error).__name__])[0]
        raise ModelFileError(f"{path}: parts do not fit together: {cause}") from error


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


def _rebuild(header: Mapping[str, Any], parts: Mapping[str, Mapping[str, Tensor]]) -> LatentAnonymizer:
    def classifier(name: str, kind: Any, classes: int) -> Classifier:
        model = Classifier(kind, settings=settings)
        with device_of("meta"):  # without memory: the sizes in the header are not checked yet
            model.classes_, model.network_ = classes, model.build(shape, classes)
        model.network_.load_state_dict(parts[name], assign=True)
        model.network_.eval()
        return model

    def autoencoder(code: int) -> PrivateVAE:
        with device_of("meta"):
            network = PrivateVAE(int(np.prod(shape)), sizes, len(private.classes))
        network.load_state_dict(parts[f"vae.{code}"], assign=True)
        return network.eval()

    made, settings, shape = header["transfer"], Settings(), tuple(header["shape"])
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
        {name: tensor.numpy() for name, tensor in parts[f"statistics.{code}"].items()} for code in codes
    ]
    anonymizer.lost_spectra_ = [parts[f"lost.{code}"]["spectra"].numpy() for code in codes]
    anonymizer.history_ = pd.DataFrame()
    return anonymizer
