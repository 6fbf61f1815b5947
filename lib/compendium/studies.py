"""Studies of paper 3's data sets, with trained networks that all notebooks share."""

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
