"""All releases that notebook 31 compares, built from one study."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import pandas as pd

from sensorprivacy.latent.anonymizer import LatentAnonymizer
from sensorprivacy.latent.guaranteed import GuaranteedRelease
from sensorprivacy.latent.inference import InferenceModels
from sensorprivacy.latent.releases import SeededRelease, anonymized, moved, shifted, trivial, unrandomized
from sensorprivacy.latent.study import Study
from sensorprivacy.latent.trainings import Made
from sensorprivacy.latent.transfers import Codebook, Donor, Transfer, Transport

CHAIN = "Replacement + Anonymization AE"
ATTACKED = ("deterministic", "probabilistic", CHAIN)
"""The releases of Fig. 8, and that of the paper's rivals."""


@dataclass(frozen=True)
class ReleaseSettings:
    """How the compared releases are made.

    Parameters
    ----------
    keeps : sequence of float
        Shares of the residual that transports keep.
    cells : sequence of int
        Cells per activity of codebooks, each with real and with synthetic latents.
    amounts : sequence of float
        Amounts of spectral noise. Shifts and guaranteed releases take the last.
    epsilons : tuple of float
        Privacy loss of an activity and of a cell, for one response of the guaranteed releases.
    redraw : int
        Redraws of misread windows, for ours and for the second pair of shifts.
    second_reader : {"none", "mlp", "cnn", "conv1d"}
        Second network that infers the activity.
    seed : int
        Seed of all publications.
    """

    keeps: Sequence[float] = (0.7,)
    cells: Sequence[int] = (8,)
    amounts: Sequence[float] = (0.5,)
    epsilons: Sequence[float] = (3.0, 1.0)
    redraw: int = 20
    second_reader: str = "none"
    seed: int = 0

    @property
    def transfers(self) -> list[Transfer]:
        """Our changes of latents."""
        real: list[Transfer] = [*map(Transport, self.keeps), *map(Codebook, self.cells), Donor()]
        return [*real, *(Codebook(count, synthetic=True) for count in self.cells), Donor(synthetic=True)]

    def releases(self, study: Study, paper: LatentAnonymizer) -> dict[str, SeededRelease]:
        """Return raw windows, trivial releases, the paper's shifts, ours, and the guaranteed ones, by name.

        Parameters
        ----------
        study : Study
            The study.
        paper : LatentAnonymizer
            Its anonymizer, fitted.
        """
        reader = study.second_reader(self.second_reader) if self.second_reader != "none" else None  # type: ignore[arg-type]
        late = {"redraw": self.redraw, "second_reader": reader}
        found = {"raw": unrandomized(lambda windows: windows, self.seed, trivial=True)}
        found |= trivial(paper, study.train, self.seed)
        found |= shifted(paper, self.seed, spectral_noise=self.amounts[-1], **late)
        found |= moved(paper, self.transfers, self.amounts, self.seed, **late)
        return found | {name: one.seeded(self.seed) for name, one in self.guaranteed(paper).items()}

    def guaranteed(self, paper: LatentAnonymizer) -> dict[str, GuaranteedRelease]:
        """Return the guaranteed releases with one response per window, and one per recording."""
        coded = paper.with_(transfer=Codebook(self.cells[0], synthetic=True), spectral_noise=self.amounts[-1])
        activity, cell = self.epsilons
        pairs = (("window", 1), ("recording", 0))
        return {f"guaranteed, per {unit}": GuaranteedRelease(coded, activity, cell, every) for unit, every in pairs}

    def budget(self, study: Study, paper: LatentAnonymizer) -> pd.DataFrame:
        """Return the privacy loss of the guaranteed releases for test recordings and people, see its ``budget``."""
        parts = {name: one.budget(study.test) for name, one in self.guaranteed(paper).items()}
        return pd.concat(parts, names=["release"]).reset_index()

    def rivals(
        self,
        study: Study,
        models: InferenceModels,
        *,
        rival_epochs: int,
        general_epochs: int = 0,
        thinned: int = 1,
        weights: Mapping[str, Any] = MappingProxyType({}),
    ) -> dict[str, SeededRelease]:
        """Train the general autoencoder, and the Replacement and the Anonymization Autoencoder; return their releases.

        Parameters
        ----------
        study : Study
            The study.
        models : InferenceModels
            Its inference models.
        rival_epochs, general_epochs : int
            Epochs of the two autoencoders of other papers, and the most of the general one. 0 leaves that out.
        thinned : int
            The general autoencoder learns from one training window in so many, see `Study.thinned`.
        weights : mapping of str to float
            ``hide`` and ``change`` of the Anonymization Autoencoder.
        """
        found: dict[str, SeededRelease] = {}
        if general_epochs:
            general = study.thinned(thinned).general_vae(models, general_epochs)
            found |= {
                f"general VAE, {name}": anonymized(general.with_(modify=name), self.seed)
                for name in ("deterministic", "probabilistic")
            }
        first = study.replacement_autoencoder(rival_epochs)
        second = study.anonymization_autoencoder(rival_epochs, **weights)
        found["Anonymization AE"] = unrandomized(second.transform, self.seed)
        return found | {CHAIN: unrandomized(lambda windows: second.transform(first.transform(windows)), self.seed)}

    def trained(self, study: Study, seeds: Sequence[int], **budget: Any) -> list[Made]:
        """Return the releases of Fig. 8 under each seed: the paper's two changes, and the chain of its rivals.

        The networks are those of notebook 30, so Fig. 8 is about the anonymizers of Table 1. `budget` is that of
        `rivals`; the general autoencoder is left out.
        """
        made = []
        for own in map(study.with_seed, seeds):
            models, seed = own.inference_models(), own.vae.seed
            releases = replace(self, seed=seed).rivals(own, models, **budget | {"general_epochs": 0})
            releases |= shifted(own.anonymizer(models), seed)
            made.append(Made(own, models, {name: releases[name] for name in ATTACKED}))
        return made
