"""A release with a guarantee: randomized response on activity and cell, and synthetic windows drawn from the response.

The published windows depend on the raw ones only through randomized responses. All else is drawn independently: the
private class, the latent (from Gaussians fitted to training latents), the spectral noise. No window is redrawn.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from sensorprivacy.data import Windows
from sensorprivacy.latent.anonymizer import LatentAnonymizer
from sensorprivacy.latent.modify import RandomSource, SecretSource, generator_of
from sensorprivacy.latent.releases import SeededRelease
from sensorprivacy.latent.transfers import Codebook
from sensorprivacy.latent.windows import recording_of, replace_values
from sensorprivacy.mechanisms import NoiseSource, SecureNoise, SeededNoise, check_epsilon, randomized_response


@dataclass(frozen=True, eq=False)
class GuaranteedRelease:
    """Publish synthetic windows of a randomized activity and cell.

    **Guarantee.** One response is epsilon-differentially private in the local model, with epsilon = `activity_epsilon`
    + `cell_epsilon`: whatever the windows behind it are, every published result is at most e^epsilon times more likely
    than for any other windows. Responses compose by addition. A recording of r responses has r epsilon, and a person
    all responses of all their recordings; `budget` adds them up.

    **Rate.** With one response per window (`every` = 1) and windows that start every 0.2 seconds (stride 10 at 50 Hz),
    five responses a second are spent, so a minute costs 300 epsilon, which protects nothing. Overlapping windows share
    samples, so no sample is covered by one response alone. ``every=0`` gives one response to a whole recording; then
    epsilon covers the recording.

    **Not covered.** The number of windows and recordings is published. The training people behind models and synthetic
    windows have no guarantee, nor has anyone if `noise` is seeded.

    Parameters
    ----------
    anonymizer : LatentAnonymizer
        Fitted, with a synthetic `Codebook` as transfer and its training latents. Its other parameters are not used,
        except `spectral_noise`.
    activity_epsilon : float
        Privacy loss of an activity, above 0 and at most 100.
    cell_epsilon : float
        Privacy loss of a cell, at most 100. 0: the cell is drawn uniformly.
    every : int
        Windows of a recording that share one response; 0: all of them.

    Raises
    ------
    ValueError
        If an epsilon is out of range, or the anonymizer has no synthetic codebook.
    """

    anonymizer: LatentAnonymizer
    activity_epsilon: float = 3.0
    cell_epsilon: float = 1.0
    every: int = 0

    def __post_init__(self) -> None:
        check_epsilon(self.activity_epsilon)
        if self.cell_epsilon:
            check_epsilon(self.cell_epsilon)
        if self.every < 0:
            raise ValueError(f"every={self.every}: give the windows of a response, or 0 for whole recordings")
        transfer = self.anonymizer.transfer
        if not (isinstance(transfer, Codebook) and transfer.synthetic):
            raise ValueError("real training windows are no guaranteed release: give transfer=Codebook(synthetic=True)")

    @property
    def epsilon(self) -> float:
        """Privacy loss of one response."""
        return self.activity_epsilon + self.cell_epsilon

    @cached_property
    def cells(self) -> tuple[int, ...]:
        """Number of cells of each activity."""
        return tuple(len(known["centres"]) for known in self.anonymizer.statistics_)

    def budget(self, windows: Windows) -> pd.DataFrame:
        """Return the privacy loss of windows, recordings and people.

        Returns
        -------
        pandas.DataFrame
            Index ``unit``: response, recording, person. Columns: ``responses`` (the greatest number that one such unit
            spends), ``epsilon`` (their sum), ``per_minute`` (responses per minute of signal).
        """
        blocks, recordings = self._blocks(windows), recording_of(windows)
        per = pd.DataFrame({"block": blocks, "recording": recordings, "person": windows.subject.to_numpy()})
        stride, rate = (windows.provenance.get(name, default) for name, default in (("stride", 1), ("rate", math.nan)))
        minute = 60 * float(rate) / float(stride) * per["block"].nunique() / len(per)
        counts = {"response": 1}
        counts |= {unit: int(per.groupby(unit)["block"].nunique().max()) for unit in ("recording", "person")}
        rows = {unit: {"responses": n, "epsilon": n * self.epsilon, "per_minute": minute} for unit, n in counts.items()}
        return pd.DataFrame.from_dict(rows, orient="index").rename_axis("unit")

    def publish(
        self, windows: Windows, noise: NoiseSource | None = None, source: RandomSource | None = None
    ) -> tuple[Windows, np.ndarray]:
        """Return synthetic windows, one for each window, and the activity that each window's response states.

        Parameters
        ----------
        windows : Windows
            Raw windows. Labels are used only to find the recordings.
        noise : NoiseSource, optional
            Randomness of the responses. The default is OpenDP's secure sampler; no other makes the release private.
        source : RandomSource, optional
            Randomness of the synthetic windows. The default is the operating system's.
        """
        generator = generator_of(source or SecretSource())
        blocks = self._blocks(windows)
        activity, cell = self.respond(*self._codes(windows, blocks), noise or SecureNoise())
        activity, cell = activity[blocks], cell[blocks]
        anonymizer = self.anonymizer
        models = anonymizer.models_
        target = generator.integers(len(models.private.classes), size=len(blocks))
        published = np.empty((len(blocks), *models.shape), dtype=np.float32)
        for code in np.unique(activity):
            rows, known = np.flatnonzero(activity == code), anonymizer.statistics_[code]
            place = cell[rows] * len(models.private.classes) + target[rows]
            donors = generator.integers(known["begins"][place], known["begins"][place + 1])
            published[rows] = anonymizer.decoded_with_noise(code, known["donors"][donors], target[rows], generator)
        return replace_values(windows, models.scaler.undo(published)), models.public.names(activity)

    def respond(self, activity: np.ndarray, cell: np.ndarray, noise: NoiseSource) -> tuple[np.ndarray, np.ndarray]:
        """Return randomized activities and cells."""
        said = randomized_response(activity, len(self.cells), self.activity_epsilon, noise)
        cells = np.zeros_like(said)
        for code, many in enumerate(self.cells):
            rows = np.flatnonzero(said == code)
            if many < 2:
                continue
            if self.cell_epsilon:
                cells[rows] = randomized_response(cell[rows] % many, many, self.cell_epsilon, noise)
            else:
                cells[rows] = noise.integers(len(rows), many)
        return said, cells

    def seeded(self, seed: int = 0) -> SeededRelease:
        """Return the same mechanism with seeded noise: for result tables, private for nobody."""

        def publisher(windows: Windows, source: RandomSource) -> tuple[Windows, np.ndarray]:
            noise = SeededNoise(int.from_bytes(source.bytes(8), "big"))
            return self.publish(windows, noise, source)[0], np.full(windows.n_windows, -1)

        return SeededRelease(publisher, seed, self.anonymizer)

    def _blocks(self, windows: Windows) -> np.ndarray:
        """Return the number of each window's response, 0, 1, ..."""
        recordings = pd.Series(recording_of(windows))
        if not self.every:
            return recordings.to_numpy()
        place = recordings.groupby(recordings).cumcount() // self.every
        return pd.DataFrame({"a": recordings, "b": place}).groupby(["a", "b"], sort=False).ngroup().to_numpy()

    def _codes(self, windows: Windows, blocks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the most frequent activity of each block, and the most frequent cell of the windows with it."""
        activity, private = self.anonymizer.infer(windows)
        latents, cell = self.anonymizer.latents(windows, activity).astype(float), np.zeros_like(activity)
        book = Codebook(synthetic=True)
        for code in np.unique(activity):
            rows = activity == code
            cell[rows] = book.cell(self.anonymizer.statistics_[code], latents[rows], private[rows])
        most = _most_frequent(blocks, activity, len(self.cells))
        among = activity == most[blocks]
        return most, _most_frequent(blocks[among], cell[among], max(self.cells), int(blocks.max()) + 1)


def _most_frequent(blocks: np.ndarray, codes: np.ndarray, classes: int, many: int = 0) -> np.ndarray:
    counts = np.zeros((many or int(blocks.max()) + 1, classes), dtype=np.int64)
    np.add.at(counts, (blocks, codes), 1)
    return np.asarray(counts.argmax(axis=1))
