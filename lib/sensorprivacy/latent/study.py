"""What both notebooks on paper 3 begin with: windows in three parts, and networks trained on them once."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from sensorprivacy.datasets import windows as load
from sensorprivacy.datasets.types import Windows
from sensorprivacy.latent.anonymizer import LatentAnonymizer
from sensorprivacy.latent.classifiers import Classifier, Kind
from sensorprivacy.latent.inference import Guesses, Judge, train_guesses, train_judge
from sensorprivacy.latent.training import Settings
from sensorprivacy.latent.windows import Scheme, split
from sensorprivacy.paths import build_dir

INFERENCE_BATCH = 256  # windows, of inference models; smaller ones only take longer


@dataclass(frozen=True, eq=False)
class Study:
    """Windows of a data set in three parts, and how networks are trained on them.

    Parameters
    ----------
    name, variant : str
        The data set, and what tells this study from others in the names of runs.
    private : str
        The attribute to hide.
    windows, train, validation, test : Windows
        All, learnt from, chosen on, reported on.
    network : {"mlp", "cnn"}
        Inference models.
    alpha, beta : float
        Weights of the loss.
    vae, inference : Settings
        Trainings of autoencoders and of inference models.
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
        """Where trainings are kept, so that the other notebook, or the next run, takes them up."""
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
        """Windows of each public class in each part."""
        parts = {"train": self.train, "validation": self.validation, "test": self.test}
        return pd.DataFrame({name: part.public.value_counts() for name, part in parts.items()}).rename_axis(
            "public class"
        )

    def guesses(self) -> Guesses:
        """Return the trained inference models that the anonymizer uses."""
        return train_guesses(
            self.train,
            self.private,
            validation=self.validation,
            kind=self.network,
            settings=self.inference,
            checkpoints=self.folder,
        )

    def judge(self, kind: Kind | None = None) -> Judge:
        """Return a model of the public class that no anonymizer uses: of another seed, or another kind of network.

        Parameters
        ----------
        kind : {"mlp", "cnn", "conv1d"}, optional
            Network; that of the inference models when left out.
        """
        return self._reader("judge", kind or self.network, 1000)

    def witness(self, kind: Kind) -> Classifier:
        """Return a second model of the public class for the anonymizer, none of the judges."""
        return self._reader("witness", kind, 2000).public_model

    def _reader(self, role: str, kind: Kind, apart: int) -> Judge:
        settings = replace(self.inference, seed=self.inference.seed + apart)
        kept = self.folder / f"{role}-{kind}.pt"
        return train_judge(self.train, validation=self.validation, kind=kind, settings=settings, checkpoint=kept)

    def with_seed(self, seed: int) -> "Study":
        """Return the same study, on the same windows, with all trainings under another seed."""
        return replace(self, vae=replace(self.vae, seed=seed), inference=replace(self.inference, seed=seed))

    def anonymizer(self, guesses: Guesses, **choices: Any) -> LatentAnonymizer:
        """Return the paper's anonymizer, trained; `choices` are further ones of `LatentAnonymizer`."""
        made = LatentAnonymizer(self.private, alpha=self.alpha, beta=self.beta, vae=self.vae, **choices)
        return made.fit(self.train, validation=self.validation, guesses=guesses, checkpoints=self.folder)


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
    """Return a data set's windows in three parts, and how networks are to be trained on them.

    Parameters
    ----------
    dataset : str
        motionsense, smartwatch, mobiact, or the path of a TOML description.
    private : str
        The attribute to hide.
    channels : {"magnitude", "raw"}
        Of a set of the catalogue; a description names its own.
    network, scheme, alpha, beta, epochs, inference_epochs, batch, precision, seed
        As for `Study` and `windows.split`; `batch` is the autoencoders'. Inference models have batches of
        `INFERENCE_BATCH` and stop early, after 10 epochs without progress on validation.

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
