"""Locate the loss of an anonymizer's utility: in decoding, in the shift, or in wrongly inferred classes."""

import copy
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from sensorprivacy.data import Windows
from sensorprivacy.game.chance import guessed
from sensorprivacy.game.units import share
from sensorprivacy.latent.anonymizer import LatentAnonymizer
from sensorprivacy.latent.classifiers import Classifier, Kind
from sensorprivacy.latent.inference import InferenceModels
from sensorprivacy.latent.modify import SeededSource
from sensorprivacy.latent.networks import sizes_for
from sensorprivacy.latent.study import Study
from sensorprivacy.latent.training import Settings
from sensorprivacy.latent.transfers import MeanShift
from sensorprivacy.progress import tqdm

STEPS = {"decoding": ("raw", "decoded"), "shift": ("decoded", "shifted"), "inference": ("shifted", "published")}


def experiments(
    latents: Sequence[int], alphas: Sequence[float], betas: Sequence[float], lengths: Sequence[int], balance: bool
) -> dict[str, dict[str, Any]]:
    """Return what each experiment changes, as parameters of `Causes.fit`; ``as printed`` changes nothing.

    Parameters
    ----------
    latents : sequence of int
        Numbers of latent variables.
    alphas, betas : sequence of float
        Weights of the private classification, and of the divergence.
    lengths : sequence of int
        Numbers of epochs.
    balance : bool
        Whether one experiment has equally many windows of each private class.
    """
    found: dict[str, dict[str, Any]] = {"as printed": {}}
    found |= {f"{count} latents": {"latents": count} for count in latents}
    found |= {f"alpha {alpha:g}": {"alpha": alpha} for alpha in alphas}
    found |= {f"beta {beta:g}": {"beta": beta} for beta in betas}
    found |= {f"{count} epochs": {"vae_epochs": count} for count in lengths}
    return found | ({"equal classes": {"balance": True}} if balance else {})


def every_nth(study: Study, every: int) -> Study:
    """Return a study of every n-th window, which overlap less; of validation windows, every 2n-th."""
    steps = {"train": every, "validation": 2 * every, "test": every}
    parts = {name: getattr(study, name) for name in steps}
    kept: dict[str, Any] = {name: some.take(np.arange(0, some.n_windows, steps[name])) for name, some in parts.items()}
    return replace(study, variant=f"{study.variant}-every{every}", **kept)


def balanced(public: np.ndarray, private: np.ndarray, seed: int = 0) -> np.ndarray:
    """Return sorted positions of equally many windows of each private class within each public class."""
    generator, chosen = np.random.default_rng(seed), []
    for code in np.unique(public):
        cells = [np.flatnonzero((public == code) & (private == other)) for other in np.unique(private)]
        least = min(len(rows) for rows in cells)
        chosen += [generator.choice(rows, least, replace=False) for rows in cells]
    return np.sort(np.concatenate(chosen))


def recognized(judge: InferenceModels, windows: Windows) -> dict[str, np.ndarray]:
    """Return for each window whether a judge recognizes its public and its private class."""
    (public, private), (true_public, true_private) = judge.inferred(windows), judge.codes(windows)
    return {"public": public == true_public, "private": private == true_private}


def accuracies(judge: InferenceModels, stages: Mapping[str, Windows]) -> dict[str, float]:
    """Return a judge's accuracy on both classes after each step, such as ``public decoded``."""
    found = {step: recognized(judge, shown) for step, shown in stages.items()}
    return {f"{about} {step}": float(found[step][about].mean()) for about in ("public", "private") for step in stages}


@dataclass(eq=False)
class Causes:
    """Experiments on the causes of a loss, all with the same windows and inference models.

    Parameters
    ----------
    study : Study
        Windows and settings; `alpha`, `beta` and `vae` are the experiments' defaults.
    models : InferenceModels
        The device's models, trained on raw windows. They also judge, as in the paper.
    """

    study: Study
    models: InferenceModels

    @classmethod
    def of(cls, study: Study, every: int) -> "Causes":
        """Return experiments on every n-th window of a study."""
        some = every_nth(study, every)
        return cls(some, some.inference_models())

    def fit(self, *, latents: int | None = None, balance: bool = False, **choices: Any) -> LatentAnonymizer:
        """Train an anonymizer, and keep its networks in the study's folder.

        Parameters
        ----------
        latents : int, optional
            Number of latent variables. The default is the paper's for windows of this size.
        balance : bool
            Train on equally many windows of each private class within each public class.
        **choices
            Other parameters of `LatentAnonymizer`; fields of its training `Settings` begin with ``vae_``.
        """
        study, train = self.study, self.study.train
        sizes = sizes_for(train.n_channels * train.length)
        key = hashlib.sha256(repr((latents, balance, sorted(choices.items()))).encode()).hexdigest()[:12]
        vae = {name.removeprefix("vae_"): choices.pop(name) for name in list(choices) if name.startswith("vae_")}
        weights: dict[str, Any] = {"alpha": study.alpha, "beta": study.beta}
        weights["sizes"] = replace(sizes, latent=latents or sizes.latent)
        rows = balanced(*self.models.codes(train)) if balance else np.arange(train.n_windows)
        options: dict[str, Any] = {"models": self.models, "checkpoints": study.folder / f"cause-{key}"}
        made = LatentAnonymizer(study.private, vae=replace(study.vae, **vae), **weights | choices)
        return made.fit(train.take(rows), validation=study.validation, progress=False, **options)

    def compare(
        self, changes: Mapping[str, Mapping[str, Any]], trainings: int = 1
    ) -> tuple[dict[str, LatentAnonymizer], pd.DataFrame]:
        """Train the autoencoders of each experiment several times, with the seeds that follow the study's.

        Parameters
        ----------
        changes : mapping of str to mapping
            Parameters of `fit` by experiment.
        trainings : int
            Trainings of each experiment.

        Returns
        -------
        dict of str to LatentAnonymizer
            The first training of each experiment.
        pandas.DataFrame
            One row for each experiment: means of `row` over trainings, and the standard deviation of ``public
            published`` and of ``private published`` over trainings (missing for one training).
        """
        if trainings < 1:
            raise ValueError(f"trainings={trainings}: give at least 1")
        fitted, rows = {}, {}
        for name, choices in tqdm(changes.items(), "experiments", leave=False):
            seeds = range(self.study.vae.seed, self.study.vae.seed + trainings)
            made = [self.fit(**choices, vae_seed=seed) for seed in seeds]
            each = pd.DataFrame([self.row(one) for one in made])
            spread = each[["public published", "private published"]].std().add_suffix(", deviation")
            fitted[name], rows[name] = made[0], pd.concat([each.mean(), spread])
        return fitted, pd.DataFrame.from_dict(rows, orient="index").rename_axis("experiment")

    def stages(self, anonymizer: LatentAnonymizer, part: str) -> dict[str, Windows]:
        """Return a part's windows: ``raw``, ``decoded`` and ``shifted`` with true classes, ``published``."""
        windows = getattr(self.study, part)
        true, still = self.models.codes(windows), anonymizer.with_(transfer=MeanShift(0))
        decoded, shifted = (_rewritten(one, windows, true) for one in (still, anonymizer))
        return {"raw": windows, "decoded": decoded, "shifted": shifted, "published": self.published(anonymizer, part)}

    def published(self, anonymizer: LatentAnonymizer, part: str) -> Windows:
        """Return the published windows of a part."""
        windows = getattr(self.study, part)
        return anonymizer.transform(windows, SeededSource(0))

    def row(self, anonymizer: LatentAnonymizer, part: str = "validation") -> dict[str, float]:
        """Return `accuracies` of the device's models, and the public accuracy lost by each of `STEPS`.

        ``not decoded`` is the squared error of decoding as a share of the windows' squares. ``validation loss`` is the
        total loss at the last epoch, the mean over autoencoders.
        """
        stages = self.stages(anonymizer, part)
        found = accuracies(self.models, stages)
        for step, (before, after) in STEPS.items():
            found[f"lost by {step}"] = found[f"public {before}"] - found[f"public {after}"]
        raw, decoded = (self.models.scaled(stages[name]) for name in ("raw", "decoded"))
        found["not decoded"] = float(np.mean((raw - decoded) ** 2) / np.mean(raw**2))
        losses = anonymizer.history_.groupby("public").last().get("validation_total")
        found["validation loss"] = np.nan if losses is None else float(losses.mean())
        return found

    def retrained(self, anonymizer: LatentAnonymizer, kind: Kind = "conv1d", epochs: int = 10) -> InferenceModels:
        """Return judges trained on published validation windows, which the autoencoders have not learned from.

        Their accuracy on published test windows shows how much of each class is still there. The judge of the private
        class is an attacker who owns the anonymizer.
        """
        shown, known = self.published(anonymizer, "validation"), self.models
        scaled, codes = known.scaled(shown), known.codes(shown)
        blank = Classifier(kind, settings=Settings(epochs=epochs, batch=128, seed=self.study.vae.seed))
        sizes = len(known.public.classes), len(known.private.classes)
        public, private = (
            copy.copy(blank).fit(scaled, each, classes=size, progress=False)
            for each, size in zip(codes, sizes, strict=True)
        )
        return replace(known, public_model=public, private_model=private)

    def judged(self, anonymizer: LatentAnonymizer) -> pd.DataFrame:
        """Return accuracies on test windows by judge, with intervals over people.

        Raw windows, published windows, published windows with `retrained` judges, and the most frequent class.
        """
        test, shown, models = self.study.test, self.published(anonymizer, "test"), self.models
        codes = zip(models.codes(self.study.train), models.codes(test), strict=True)
        right = {
            "raw windows": recognized(models, test),
            "published": recognized(models, shown),
            "retrained": recognized(self.retrained(anonymizer), shown),
            "chance": {about: guessed(*both) for about, both in zip(("public", "private"), codes, strict=True)},
        }
        rows: dict[str, dict[str, object]] = {judge: {} for judge in right}
        for judge, parts in right.items():
            for about, some in parts.items():
                found = share(some, test.subject.to_numpy(), unit="people")
                rows[judge] |= {about: found.score, f"{about}_low": found.low, f"{about}_high": found.high}
                rows[judge]["n"] = found.size
        return pd.DataFrame.from_dict(rows, orient="index").rename_axis("judge")


def _rewritten(anonymizer: LatentAnonymizer, windows: Windows, codes: tuple[np.ndarray, np.ndarray]) -> Windows:
    """Return windows anonymized as if the device had inferred these classes."""
    routed = copy.copy(anonymizer)
    routed.infer = lambda windows: codes  # type: ignore[method-assign]
    return routed.transform(windows, SeededSource(0))
