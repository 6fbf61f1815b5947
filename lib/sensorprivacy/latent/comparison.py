"""All releases that notebook 31 compares, built from one study."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pandas as pd

from sensorprivacy.latent.anonymizer import LatentAnonymizer
from sensorprivacy.latent.guaranteed import GuaranteedRelease
from sensorprivacy.latent.inference import InferenceModels
from sensorprivacy.latent.releases import SeededRelease, anonymized, moved, shifted, trivial, unrandomized
from sensorprivacy.latent.rivals import ReplacementAutoencoder
from sensorprivacy.latent.study import Study
from sensorprivacy.latent.training import Settings
from sensorprivacy.latent.transfers import Codebook, Donor, Transfer, Transport

GENERAL_BATCH = 512  # of the general autoencoder: small batches would write its many weights too often
CHAIN = "Replacement + Anonymization AE"


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
        self, study: Study, models: InferenceModels, *, general_epochs: int, rival_epochs: int
    ) -> dict[str, SeededRelease]:
        """Train the general autoencoder, and the Replacement and the Anonymization Autoencoder; return their releases.

        Parameters
        ----------
        study : Study
            The study.
        models : InferenceModels
            Its inference models.
        general_epochs, rival_epochs : int
            Epochs of the general autoencoder, and of the two others. 0 leaves the general autoencoder out.
        """
        found: dict[str, SeededRelease] = {}
        if general_epochs:
            vae = replace(study.vae, epochs=general_epochs, batch=min(GENERAL_BATCH, study.train.n_windows))
            general = study.anonymizer(models, modify="probabilistic", general=True, vae=vae)
            found["general VAE, probabilistic"] = anonymized(general, self.seed)
        settings = Settings(epochs=rival_epochs, batch=256, precision=study.vae.precision, seed=study.vae.seed)
        first = ReplacementAutoencoder(settings=settings).fit(study.train)
        second = study.anonymization_autoencoder(rival_epochs)
        return found | {CHAIN: unrandomized(lambda windows: second.transform(first.transform(windows)), self.seed)}
