"""Named releases: the paper's, ours, and trivial ones, each with reproducible randomness.

A method is worth its effort only if it beats the trivial releases on some axis: activity, cadence, intensity, privacy.
All releases infer the activity with the same models.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from sensorprivacy.data import Windows
from sensorprivacy.latent.anonymizer import LatentAnonymizer
from sensorprivacy.latent.modify import RandomSource, SeededSource, generator_of
from sensorprivacy.latent.transfers import Transfer
from sensorprivacy.latent.utility import measured
from sensorprivacy.latent.windows import replace_values

_REMEMBERED = 2**27  # bytes of a publication; several tables measure the same one
Publisher = Callable[[Windows, RandomSource], tuple[Windows, np.ndarray]]


@dataclass(frozen=True, eq=False)
class SeededRelease:
    """A release whose publications can be repeated: for result tables, not for production.

    Parameters
    ----------
    publisher : callable
        Returns published windows, and the code of each window's donor in ``anonymizer.people_`` (-1: nobody).
    seed : int
        Seed. Publications depend on the seed, the windows and the number of the draw. Who knows the seed can undo them.
    anonymizer : LatentAnonymizer, optional
        Anonymizer whose networks an attacker has.
    stated : callable, optional
        Returns the activity that the release states, for a release that publishes no readable windows.
    estimated : callable, optional
        Returns cadence and intensity estimated from the statement, see `utility.measured`.
    trivial : bool
        Whether the release needs no method.
    published_raw : Windows, optional
        Training windows that the release publishes as they are. An attacker who has them recognizes them.
    """

    publisher: Publisher
    seed: int = 0
    anonymizer: LatentAnonymizer | None = None
    stated: Callable[[Windows], np.ndarray] | None = None
    estimated: Callable[[Windows], pd.DataFrame] | None = None
    trivial: bool = False
    published_raw: Windows | None = None
    # the last publication with number 0, by the digest of its windows
    _first: dict[str, tuple[Windows, np.ndarray]] = field(default_factory=dict, init=False, repr=False)

    def __call__(self, windows: Windows) -> Windows:
        """Return the first publication of the windows."""
        return self.draw(windows, 0)

    def draw(self, windows: Windows, number: int) -> Windows:
        """Return a publication of the windows; equal numbers give equal publications."""
        return self.with_donors(windows, number)[0]

    def with_donors(self, windows: Windows, number: int = 0) -> tuple[Windows, np.ndarray]:
        """Return a publication, and the code of each window's donor, which is not published."""
        if number or windows.digest not in self._first:
            found = self.publisher(windows, SeededSource([self.seed, int(windows.digest[:15], 16), number]))
            if number or found[0].values.nbytes > _REMEMBERED:  # noqa: PD011 (windows)
                return found
            self._first.clear()
            self._first[windows.digest] = found
        return self._first[windows.digest]


def anonymized(anonymizer: LatentAnonymizer, seed: int = 0) -> SeededRelease:
    """Return an anonymizer's release."""

    def publisher(windows: Windows, source: RandomSource) -> tuple[Windows, np.ndarray]:
        found = anonymizer.anonymize(windows, source)
        return found.windows, found.donor

    return SeededRelease(publisher, seed, anonymizer)


def unrandomized(transform: Callable[[Windows], Windows], seed: int = 0, *, trivial: bool = False) -> SeededRelease:
    """Return the release of a function without randomness, such as another paper's autoencoder."""
    return SeededRelease(lambda windows, _: (transform(windows), np.full(windows.n_windows, -1)), seed, trivial=trivial)


def trivial(anonymizer: LatentAnonymizer, train: Windows, seed: int = 0) -> dict[str, SeededRelease]:
    """Return the releases that need no method: everything they show is the inferred activity.

    Parameters
    ----------
    anonymizer : LatentAnonymizer
        Its models infer the activity.
    train : Windows
        Training windows, of which means and random windows are published.
    seed : int
        Seed of the random windows.

    Returns
    -------
    dict of str to SeededRelease
        ``inferred label alone``: attackers see a different constant for each activity, which is the label itself.
        Cadence and intensity are the training medians of the stated activity. ``mean window``: the mean training window
        of the activity, to be read by the same judges as all others. ``random training window``: a random raw training
        window of the activity, of another person.
    """
    models = anonymizer.models_
    codes, usual = models.public.codes(train.public), measured(train).groupby(train.public.astype(str)).median()
    rows, signal = [np.flatnonzero(codes == code) for code in range(len(models.public.classes))], train.values  # noqa: PD011
    means = np.stack([signal[some].mean(axis=0) for some in rows])
    owners = anonymizer.people_of(train)

    def inferred(windows: Windows) -> np.ndarray:
        return anonymizer.infer(windows)[0]

    def mean(windows: Windows, _: RandomSource) -> tuple[Windows, np.ndarray]:
        return replace_values(windows, means[inferred(windows)]), np.full(windows.n_windows, -1)

    def another(windows: Windows, source: RandomSource) -> tuple[Windows, np.ndarray]:
        generator, people = generator_of(source), anonymizer.people_of(windows)
        chosen = np.zeros(windows.n_windows, dtype=np.int64)
        for at, code in enumerate(inferred(windows)):
            chosen[at] = generator.choice(rows[code])
            for _ in range(20):  # of another person
                if owners[chosen[at]] != people[at]:
                    break
                chosen[at] = generator.choice(rows[code])
        return replace_values(windows, signal[chosen]), owners[chosen]

    def stated(windows: Windows) -> np.ndarray:
        return models.public.names(inferred(windows))

    def estimated(windows: Windows) -> pd.DataFrame:
        return usual.loc[stated(windows)].reset_index(drop=True)

    return {
        "inferred label alone": SeededRelease(mean, seed, None, stated, estimated, trivial=True),
        "mean window": SeededRelease(mean, seed, trivial=True),
        "random training window": SeededRelease(another, seed, trivial=True, published_raw=train),
    }


def shifted(
    paper: LatentAnonymizer, seed: int = 0, *, spectral_noise: float = 0.5, **options: object
) -> dict[str, SeededRelease]:
    """Return the paper's two changes, as printed and with the redraws, second reader and noise that ours use.

    Parameters
    ----------
    paper : LatentAnonymizer
        The paper's anonymizer.
    seed : int
        Seed.
    spectral_noise, **options
        Parameters of `LatentAnonymizer.with_` for the second pair: ``redraw``, ``second_reader``.
    """
    found = {name: anonymized(paper.with_(modify=name), seed) for name in ("deterministic", "probabilistic")}
    return found | {
        f"{name}, redrawn": anonymized(paper.with_(modify=name, spectral_noise=spectral_noise, **options), seed)
        for name in ("deterministic", "probabilistic")
    }


def moved(
    paper: LatentAnonymizer,
    transfers: Iterable[Transfer],
    amounts: Iterable[float] = (0.5,),
    seed: int = 0,
    **options: object,
) -> dict[str, SeededRelease]:
    """Return releases of ours: transfers to a uniformly drawn class, with amounts of spectral noise.

    Parameters
    ----------
    paper : LatentAnonymizer
        The paper's anonymizer, whose networks they share.
    transfers : iterable of Transfer
        The transfers.
    amounts : iterable of float
        Amounts of spectral noise.
    seed : int
        Seed.
    **options
        Parameters of `LatentAnonymizer.with_`: ``redraw``, ``second_reader``.
    """
    amounts, found = list(amounts), {}
    for transfer in transfers:
        for amount in amounts:
            name = transfer.name + (f", noise {amount:g}" if len(amounts) > 1 else "")
            one = paper.with_(modify="uniform", transfer=transfer, spectral_noise=amount, **options)
            found[name] = anonymized(one, seed)
    return found
