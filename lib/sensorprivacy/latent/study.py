"""A study of one data set for paper 3: windows in three parts, and networks trained on them once for all notebooks."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from sensorprivacy.datasets import windows as load
from sensorprivacy.datasets.types import Windows
from sensorprivacy.latent.anonymizer import LatentAnonymizer
from sensorprivacy.latent.classifiers import Classifier, Kind
from sensorprivacy.latent.inference import InferenceModels, PublicModel, train_inference_models, train_public_model
from sensorprivacy.latent.training import Settings
from sensorprivacy.latent.windows import Scheme, split
from sensorprivacy.paths import build_dir

INFERENCE_BATCH = 256  # windows per batch of inference models; smaller batches only take longer


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

    @property
    def folder(self) -> Path:
        """Folder of the trained networks, where later runs and other notebooks find them."""
        words = (self.variant, self.network, f"{self.alpha:g}", f"{self.beta:g}", str(self.vae.epochs))
        inference = f"{self.inference.epochs}x{self.inference.batch}"
        more = (inference, str(self.vae.batch), self.vae.precision, str(self.vae.seed))
        return build_dir() / "latent" / "-".join(words + more)

    @property
    def data(self) -> dict[str, str]:
        """Digest of the data set by its name, for a run's record."""
        return {self.name: str(self.windows.provenance["digest"])}

    @property
    def counts(self) -> pd.DataFrame:
        """Number of windows of each public class in each part."""
        parts = {part: getattr(self, part).public.value_counts() for part in ("train", "validation", "test")}
        return pd.DataFrame(parts).rename_axis("public class")

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

    def independent_model(self, kind: Kind | None = None) -> PublicModel:
        """Return a trained model of the public class that no anonymizer uses, for a fair measurement of utility.

        Parameters
        ----------
        kind : {"mlp", "cnn", "conv1d"}, optional
            Network. The default is that of the inference models, trained with another seed.
        """
        return self._public_model("independent", kind or self.network, 1000)

    def second_reader(self, kind: Kind) -> Classifier:
        """Return a trained second model of the public class for the anonymizer; no independent model equals it."""
        return self._public_model("second-reader", kind, 2000).public_model

    def _public_model(self, role: str, kind: Kind, seed_shift: int) -> PublicModel:
        settings = replace(self.inference, seed=self.inference.seed + seed_shift)
        checkpoint = self.folder / f"{role}-{kind}.pt"
        return train_public_model(
            self.train, validation=self.validation, kind=kind, settings=settings, checkpoint=checkpoint
        )

    def with_seed(self, seed: int) -> "Study":
        """Return a study of the same windows in which all trainings have another seed."""
        return replace(self, vae=replace(self.vae, seed=seed), inference=replace(self.inference, seed=seed))

    def anonymizer(self, models: InferenceModels, **choices: Any) -> LatentAnonymizer:
        """Return the paper's anonymizer, trained; `choices` are more parameters of `LatentAnonymizer`."""
        made = LatentAnonymizer(self.private, alpha=self.alpha, beta=self.beta, vae=self.vae, **choices)
        return made.fit(self.train, validation=self.validation, models=models, checkpoints=self.folder)


def prepare(
    dataset: str,
    private: str,
    *,
    channels: str = "magnitude",
    network: Kind = "mlp",
    scheme: Scheme = "paper",
    alpha: float = 10.0,
    beta: float = 0.1,
    epochs: int = 300,
    inference_epochs: int = 60,
    batch: int = 512,
    precision: Any = "bfloat16",
    seed: int = 0,
) -> Study:
    """Load a data set, split it in three parts, and set how networks are trained on them.

    Parameters
    ----------
    dataset : str
        motionsense, smartwatch, mobiact, or the path of a TOML description.
    private : str
        The attribute to hide.
    channels : {"magnitude", "raw"}
        Channels of a set of the catalogue. A description lists its own.
    network, scheme, alpha, beta, epochs, inference_epochs, batch, precision, seed
        As for `Study` and `windows.split`. `epochs` and `batch` are those of the autoencoders. Inference models have
        batches of `INFERENCE_BATCH` and stop after 10 epochs without progress on validation windows.

    Returns
    -------
    Study
    """
    described = dataset.endswith(".toml")
    windows = load(dataset) if described else load(dataset, channels=channels)
    name = Path(dataset).stem
    parts = split(windows, scheme, seed=seed)
    train, validation, test = (windows.take(parts.part(part)) for part in ("train", "validation", "test"))
    words = [name, private]
    words += [scheme] if scheme != "paper" else []
    words += ["raw"] if channels == "raw" and not described else []
    return Study(
        name,
        "-".join(words),
        private,
        windows,
        train,
        validation,
        test,
        network=network,
        alpha=alpha,
        beta=beta,
        vae=Settings(epochs=epochs, batch=batch, precision=precision, seed=seed),
        inference=Settings(epochs=inference_epochs, batch=INFERENCE_BATCH, precision=precision, patience=10, seed=seed),
    )
