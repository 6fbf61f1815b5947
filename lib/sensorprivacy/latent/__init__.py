"""Paper 3's strategy: rewrite windows in the latent space of variational autoencoders, and the attacks on it.

Names below are imported when they are first used: a device takes `latent.modify` from here, and has no torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sensorprivacy.latent.anonymizer import Anonymized, LatentAnonymizer
    from sensorprivacy.latent.attack import Attack, Attacker, attackers, reidentify
    from sensorprivacy.latent.guesses import Guesses, train_guesses
    from sensorprivacy.latent.inference import Classifier
    from sensorprivacy.latent.measures import confusion, inference_table, share
    from sensorprivacy.latent.modify import SecretSource, SeededSource
    from sensorprivacy.latent.rivals import AnonymizationAutoencoder, Chain, ReplacementAutoencoder
    from sensorprivacy.latent.storage import ModelFileError, load, save
    from sensorprivacy.latent.training import CheckpointError, Settings, train
    from sensorprivacy.latent.transfers import Codebook, Donor, MeanShift, Transfer, Transport
    from sensorprivacy.latent.windows import Scaler, private_labels, split

_WHERE = {
    "anonymizer": ("Anonymized", "LatentAnonymizer"),
    "attack": ("Attack", "Attacker", "attackers", "reidentify"),
    "guesses": ("Guesses", "train_guesses"),
    "inference": ("Classifier",),
    "measures": ("confusion", "inference_table", "share"),
    "modify": ("SecretSource", "SeededSource"),
    "rivals": ("AnonymizationAutoencoder", "Chain", "ReplacementAutoencoder"),
    "storage": ("ModelFileError", "load", "save"),
    "training": ("CheckpointError", "Settings", "train"),
    "transfers": ("Codebook", "Donor", "MeanShift", "Transfer", "Transport"),
    "windows": ("Scaler", "private_labels", "split"),
}

__all__ = [
    "AnonymizationAutoencoder",
    "Anonymized",
    "Attack",
    "Attacker",
    "Chain",
    "CheckpointError",
    "Classifier",
    "Codebook",
    "Donor",
    "Guesses",
    "LatentAnonymizer",
    "MeanShift",
    "ModelFileError",
    "ReplacementAutoencoder",
    "Scaler",
    "SecretSource",
    "SeededSource",
    "Settings",
    "Transfer",
    "Transport",
    "attackers",
    "confusion",
    "inference_table",
    "load",
    "private_labels",
    "reidentify",
    "save",
    "share",
    "split",
    "train",
    "train_guesses",
]


def __getattr__(name: str) -> Any:
    for module, names in _WHERE.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
