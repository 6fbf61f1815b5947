"""Studies of paper 3's data sets, with trained networks that all notebooks share."""

import inspect
from typing import Any

from compendium import datasets
from compendium.paths import build_dir
from sensorprivacy import latent
from sensorprivacy.latent.study import Study


def prepare(dataset: str, private: str, *, channels: str = "magnitude", **options: Any) -> Study:
    """Load a data set and return its study; the trained networks are kept below ``build/latent``.

    Parameters
    ----------
    dataset : str
        motionsense, smartwatch, mobiact, mobifall, or the path of the schema of your recordings.
    private : str
        The attribute to hide.
    channels : {"magnitude", "raw"}
        Channels of a set of the catalogue. A schema lists its own.
    **options
        Parameters of a notebook. Those of `sensorprivacy.latent.prepare` count; the others are left out.
    """
    windows = datasets.windows(dataset, **({"channels": channels} if dataset in datasets.WINDOWS else {}))
    known = {name: value for name, value in options.items() if name in inspect.signature(latent.prepare).parameters}
    return latent.prepare(windows, private, networks=build_dir() / "latent", **known)
