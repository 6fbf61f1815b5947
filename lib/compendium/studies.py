"""Studies of paper 3's data sets, with trained networks that all notebooks share."""

import inspect
from collections.abc import Mapping
from typing import Any

from compendium import datasets
from compendium.paths import build_dir
from sensorprivacy.latent import study
from sensorprivacy.latent.study import Study


def prepare(dataset: str, private: str, *, channels: str = "magnitude", **options: Any) -> Study:
    """Load a data set and return its study; the trained networks are kept below ``build/latent``.

    Parameters
    ----------
    dataset : str
        motionsense, smartwatch, mobiact, mobifall, or the path of a TOML description.
    private : str
        The attribute to hide.
    channels : {"magnitude", "raw"}
        Channels of a set of the catalogue. A description lists its own.
    **options
        As for `sensorprivacy.latent.study.prepare`.
    """
    described: dict[str, Any] = {} if dataset.endswith(".toml") else {"channels": channels}
    return study.prepare(datasets.windows(dataset, **described), private, networks=build_dir() / "latent", **options)


def prepare_for(parameters: Mapping[str, Any]) -> Study:
    """Return the study that a notebook's parameters describe; those that `prepare` does not know are left out.

    Parameters
    ----------
    parameters : mapping of str to object
        ``dataset``, ``private`` and options of `prepare`, among others.
    """
    known = {"dataset", "private", "channels", *inspect.signature(study.prepare).parameters}
    return prepare(**{name: value for name, value in parameters.items() if name in known})
