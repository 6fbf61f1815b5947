"""A study of one data set for paper 3: windows in three parts, and networks trained on them once for all notebooks."""

import glob
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from sensorprivacy.data import Windows
from sensorprivacy.game.splits import Split
from sensorprivacy.latent.anonymizer import LatentAnonymizer
from sensorprivacy.latent.classifiers import Classifier, Kind, Trees
from sensorprivacy.latent.inference import InferenceModels, PublicModel, train_inference_models, train_public_model
from sensorprivacy.latent.rivals import AnonymizationAutoencoder, ReplacementAutoencoder
from sensorprivacy.latent.training import Precision, Settings, Start
from sensorprivacy.latent.windows import Coding, Scaler, Scheme, common_classes, people_folds, split, thinned
from sensorprivacy.paths import cache_folder

INFERENCE_BATCH = 256  # windows per batch of inference models; smaller batches only take longer

_DATA = "-data"  # before the digest of own recordings in the name of a folder


@dataclass(frozen=True, eq=False)
class Study:
    """Windows of a data set in three parts, and how to train networks on them.

    Parameters
    ----------
    name, variant : str
        Name of the data set, and name of this study in the names of runs.
    private : str
        The attribute to hide.
    windows, train, validation, test : Windows
        All windows, and the three parts.
    network : {"mlp", "cnn"}
        Network of the inference models.
    alpha, beta : float
        Weights of the loss.
    vae, inference : Settings
        How autoencoders and inference models are trained.
    split_seed : int
        Seed of the division in parts. Networks of another division are other networks.
    notes : tuple of str
        What was left out, for the reader.
    networks : pathlib.Path
        Folder for the trained networks of all studies; by default ``latent`` in the user's cache.
    """

    name: str
    variant: str
    private: str
    windows: Windows
    train: Windows
    validation: Windows
    test: Windows
    network: Kind
    alpha: float
    beta: float
    vae: Settings
    inference: Settings
    split_seed: int = 0
    notes: tuple[str, ...] = ()
    networks: Path = field(default_factory=lambda: cache_folder() / "latent")

    @property
    def folder(self) -> Path:
        """Folder of the trained networks, where later runs and other notebooks find them."""
        words: tuple[str, ...] = (self.variant, self.network, f"{self.alpha:g}", f"{self.beta:g}", str(self.vae.epochs))
        inference = f"{self.inference.epochs}x{self.inference.batch}"
        words += (f"{self.windows.n_channels}x{self.windows.length}",)
        words += (inference, str(self.vae.batch), self.vae.precision, str(self.vae.seed), f"split{self.split_seed}")
        words += () if self.vae.start == "pytorch" else (self.vae.start,)
        if "schema" in self.windows.provenance:  # own recordings can change: each version has its own networks
            words += (f"{_DATA[1:]}{self.windows.provenance['digest'][:10]}",)
        return self.networks / "-".join(words)

    @property
    def data(self) -> dict[str, str]:
        """Digest of the data set by its name, for a run's record."""
        return {self.name: str(self.windows.provenance["digest"])}

    @property
    def counts(self) -> pd.DataFrame:
        """Number of windows of each public class in each part, and the fewest and most test windows of a person."""
        parts = {part: getattr(self, part).public.value_counts() for part in ("train", "validation", "test")}
        each = self.test.public.groupby([self.test.public, self.test.subject]).size().groupby(level=0)
        people = pd.DataFrame({"test_people": each.size(), "each_fewest": each.min(), "each_most": each.max()})
        return pd.DataFrame(parts).join(people).rename_axis("public class")

    def inference_models(self) -> InferenceModels:
        """Return the trained inference models of the anonymizer."""
        return train_inference_models(
            self.train,
            self.private,
            validation=self.validation,
            kind=self.network,
            settings=self.inference,
            checkpoints=self.folder,
        )

    def independent_model(self, kind: Kind | Literal["trees"] | None = None) -> PublicModel:
        """Return a trained model of the public class that no anonymizer uses, for a fair measurement of utility.

        It learns from the validation windows. A model that knew the training windows would recognize those that a
        release publishes as donors.

        Parameters
        ----------
        kind : {"mlp", "cnn", "conv1d", "trees"}, optional
            Network, or trees on statistics. The default is the network of the inference models, with another seed.
        """
        if kind == "trees":
            public, scaler = Coding.fit(self.train.public, "public class"), Scaler.fit(self.train.values)
            seen, codes = scaler.apply(self.validation.values), public.codes(self.validation.public)
            trees: Any = Trees(self.inference.seed + 1000).fit(seen, codes)
            return PublicModel((self.train.n_channels, self.train.length), scaler, public, trees)
        settings = replace(self.inference, seed=self.inference.seed + 1000)
        saved = self.folder / f"independent-{kind or self.network}.safetensors"
        return train_public_model(
            self.validation, validation=None, kind=kind or self.network, settings=settings, checkpoint=saved
        )

    def second_reader(self, kind: Kind) -> Classifier:
        """Return a trained second model of the public class for the anonymizer; no independent model equals it.

        Its kind of network should not be that of a judge, see `utility.activity_kept`.
        """
        settings = replace(self.inference, seed=self.inference.seed + 2000)
        saved = self.folder / f"second-reader-{kind}.safetensors"
        return train_public_model(
            self.train, validation=self.validation, kind=kind, settings=settings, checkpoint=saved
        ).public_model

    def with_seed(self, seed: int) -> "Study":
        """Return a study of the same windows in which all trainings have another seed."""
        return replace(self, vae=replace(self.vae, seed=seed), inference=replace(self.inference, seed=seed))

    def thinned(self, every: int) -> "Study":
        """Return a study that learns from one training window in so many, in batches that are as many times smaller.

        Neighbouring windows share most of their samples. An epoch has as many updates as before and takes less time, so
        a search can afford it (`bench/latent_every.py`). The test windows stay.
        """
        if every == 1:
            return self
        parts = {name: getattr(self, name) for name in ("train", "validation")}
        few: Any = {name: some.take(np.arange(0, some.n_windows, every)) for name, some in parts.items()}
        how = {"vae": self.vae, "inference": self.inference}
        few |= {name: replace(one, batch=max(one.batch // every, 2)) for name, one in how.items()}
        return replace(self, variant=f"{self.variant}-thinned{every}", **few)

    def anonymizer(self, models: InferenceModels, **choices: Any) -> LatentAnonymizer:
        """Return the paper's anonymizer, trained; `choices` are more parameters of `LatentAnonymizer`."""
        weights: dict[str, Any] = {"alpha": self.alpha, "beta": self.beta, "vae": self.vae}
        made = LatentAnonymizer(self.private, **weights | choices)
        return made.fit(self.train, validation=self.validation, models=models, checkpoints=self.folder)

    def general_vae(self, models: InferenceModels, epochs: int, *, patience: int = 5) -> LatentAnonymizer:
        """Return the authors' earlier work, trained: one autoencoder for all activities, without the private class.

        It has 22 times the weights of the autoencoder of one activity, so it soon learns its training windows by heart.
        It stops after `patience` epochs without progress on validation windows, and keeps the best weights.
        """
        vae = replace(self.vae, epochs=epochs, batch=min(self.vae.batch, self.train.n_windows), patience=patience)
        made = LatentAnonymizer(self.private, alpha=0.0, beta=self.beta, vae=vae, general=True)
        # the networks of a general autoencoder have the same file names
        folder = self.folder / f"general-{epochs}-{patience}"
        return made.fit(self.train, validation=self.validation, models=models, checkpoints=folder)

    def anonymization_autoencoder(
        self, epochs: int, *, hide: float = 2.0, change: float = 1.0
    ) -> AnonymizationAutoencoder:
        """Return the trained Anonymization Autoencoder, a rival of the paper's; its weight `keep` is 1."""
        saved = self.folder / f"anonymization-autoencoder-{epochs}-{hide:g}-{change:g}.safetensors"
        rival = AnonymizationAutoencoder(self.private, hide=hide, change=change, settings=self._of_rivals(epochs))
        return rival.fit(self.train, checkpoint=saved)

    def replacement_autoencoder(self, epochs: int) -> ReplacementAutoencoder:
        """Return the trained Replacement Autoencoder, a rival. It copies, as every activity is needed."""
        saved = self.folder / f"replacement-autoencoder-{epochs}.safetensors"
        return ReplacementAutoencoder(settings=self._of_rivals(epochs)).fit(self.train, checkpoint=saved)

    def _of_rivals(self, epochs: int) -> Settings:
        batch = min(self.inference.batch, self.train.n_windows)
        return Settings(epochs=epochs, batch=batch, precision=self.vae.precision, seed=self.vae.seed)

    def folds(self, folds: int = 6) -> Iterator["Study"]:
        """Yield a study for each fold of people, see `windows.people_folds`. Together they judge everyone once."""
        for at, parts in enumerate(people_folds(self.windows, folds, self.split_seed)):
            pieces = _parts(self.windows, parts, self.private)
            yield replace(self, variant=f"{self.variant}-fold{at + 1}of{folds}", **pieces)


def prepare(
    windows: Windows,
    private: str,
    *,
    networks: Path | None = None,
    most: int | None = None,
    every: int = 1,
    every_test: int = 1,
    network: Kind = "mlp",
    scheme: Scheme = "paper",
    alpha: float = 10.0,
    beta: float = 0.1,
    epochs: int = 300,
    inference_epochs: int = 60,
    batch: int = 512,
    precision: Precision = "float32",
    start: Start = "pytorch",
    seed: int = 0,
) -> Study:
    """Split windows in three parts, and set how networks are trained on them.

    Parameters
    ----------
    windows : Windows
        Windows of recordings; their provenance has a digest.
    private : str
        The attribute to hide.
    networks : pathlib.Path, optional
        Folder for the trained networks. The default is ``latent`` in the user's cache.
    most : int, optional
        Keep so many windows of each recording in each part, evenly spread, for a short run. The default keeps all. Long
        recordings are thinned most, so that rare activities still have enough windows.
    every : int
        Use one training window and one validation window in so many, for a short run, and all test windows.
        Neighbouring windows share most of their samples, so little is lost.
    every_test : int
        Use one test window in so many. Networks do not depend on it.
    network, scheme, alpha, beta, epochs, inference_epochs, batch, precision, start, seed
        As for `Study` and `windows.split`. `epochs` and `batch` are those of the autoencoders. Inference models have
        batches of `INFERENCE_BATCH` and stop after 10 epochs without progress on validation windows.

    Returns
    -------
    Study
        Public classes without two training windows of each private class are left out, with a warning and a note.
    """
    if every < 1 or every_test < 1:
        raise ValueError(f"every={every}, every_test={every_test}: use one window in 1 or more")
    thinning = ({"most": most} if most is not None else {}) | ({"every": every} if every > 1 else {})
    tests = {"every_test": every_test} if every_test > 1 else {}
    windows = replace(windows, provenance={**windows.provenance, **thinning, **tests})
    pieces = _parts(windows, split(windows, scheme, seed=seed), private)
    words = [re.sub(r"[^A-Za-z0-9._]+", "_", windows.name), private]
    words += [scheme] if scheme != "paper" else []
    words += [f"{how}{value}" for how, value in thinning.items()]
    vae = Settings(epochs=epochs, batch=batch, precision=precision, start=start, seed=seed)
    inference = replace(vae, epochs=inference_epochs, batch=INFERENCE_BATCH, patience=10)
    variant = "-".join(words)
    settings: dict[str, Any] = {"network": network, "alpha": alpha, "beta": beta, "vae": vae, "inference": inference}
    settings |= {} if networks is None else {"networks": networks}
    return _noting_changes(Study(windows.name, variant, private, windows, **pieces, **settings, split_seed=seed))


def _noting_changes(study: Study) -> Study:
    """Return a study of own recordings with a note if networks of an earlier version of the recordings exist."""
    stem, mark, _ = study.folder.name.partition(_DATA)
    if not mark or study.folder.is_dir() or not list(study.folder.parent.glob(f"{glob.escape(stem + mark)}*")):
        return study
    note = f"{study.name} has changed since its networks were trained: new ones are trained"
    warnings.warn(note, stacklevel=3)
    return replace(study, notes=(*study.notes, note))


def _parts(windows: Windows, parts: Split, private: str) -> dict[str, Any]:
    """Return the three parts without rare public classes, and a note about these."""
    train = windows.take(parts.part("train"))
    kept = common_classes(windows, train, private)
    rare = sorted(set(windows.public[~kept].astype(str)))
    notes = [f"{', '.join(rare)} left out: too few training windows of some class of {private}"] if rare else []
    for note in notes:
        warnings.warn(note, stacklevel=3)
    names = ("train", "validation", "test")
    rows = {name: parts.part(name)[kept[parts.part(name)]] for name in names}
    most, every, every_test = (windows.provenance.get(name) for name in ("most", "every", "every_test"))
    found: dict[str, Any] = {"notes": tuple(notes)}
    for name, some in rows.items():
        few = some[:: (every_test if name == "test" else every) or 1]
        found[name] = windows.take(few if most is None else thinned(windows, few, most))
    return found
