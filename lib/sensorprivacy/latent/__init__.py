"""Paper 3's strategy: rewrite windows in the latent space of variational autoencoders, and the attacks on it."""

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
