"""What both notebooks on paper 3 begin with: windows in three parts, and networks trained on them once."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from sensorprivacy.datasets import windows as load
from sensorprivacy.datasets.types import Windows
from sensorprivacy.home import build_dir
from sensorprivacy.latent.anonymizer import LatentAnonymizer
from sensorprivacy.latent.guesses import Guesses, train_guesses
from sensorprivacy.latent.inference import Kind
from sensorprivacy.latent.training import Settings
from sensorprivacy.latent.windows import Scheme, split


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
        more = (str(self.inference.epochs), str(self.vae.batch), self.vae.precision, str(self.vae.seed))
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
        return self._inferring(self.network, self.inference, self.folder)

    def judge(self, kind: Kind | None = None) -> Guesses:
        """Return inference models that no anonymizer uses, to judge with: of another seed, or another kind of network.

        Parameters
        ----------
        kind : {"mlp", "cnn", "conv1d"}, optional
            Network; that of the inference models when left out.
        """
        settings = replace(self.inference, seed=self.inference.seed + 1000)
        own = kind in (None, self.network)
        return self._inferring(kind or self.network, settings, self.folder / ("judge" if own else f"judge-{kind}"))

    def _inferring(self, kind: Kind, settings: Settings, folder: Path) -> Guesses:
        return train_guesses(
            self.train, self.private, validation=self.validation, kind=kind, settings=settings, checkpoints=folder
        )

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
        As for `Study` and `windows.split`. Inference models stop early, after 10 epochs without progress on validation.

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
        inference=Settings(epochs=inference_epochs, batch=min(batch, 256), precision=precision, patience=10, seed=seed),
    )
