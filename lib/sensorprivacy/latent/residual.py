"""Where the paper's mean shift leaks: the private class, predicted from parts of the latent representation."""

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier

from sensorprivacy.data import Windows
from sensorprivacy.latent.anonymizer import LatentAnonymizer
from sensorprivacy.latent.levels import share_of_people
from sensorprivacy.latent.measures import chance
from sensorprivacy.latent.transfers import Codebook


def residual_leak(anonymizer: LatentAnonymizer, train: Windows, test: Windows, *, cells: int = 8) -> pd.DataFrame:
    """Return how accurately the private class is predicted from the residual that the mean shift keeps.

    Trees are trained on latents of training windows with known class and tested on those of test windows. The means
    that are subtracted belong to the private class that the device *infers*, as in Algorithm 1: with the true class,
    the residual itself would contain it. If the coin of Modify is fair, z' is the residual plus a mean that is
    independent of the class. An attacker on single windows then cannot learn more from z' than from the residual.

    Parameters
    ----------
    anonymizer : LatentAnonymizer
        Fitted, with its training latents.
    train, test : Windows
        Raw windows.
    cells : int
        Number of cells of the codebook.

    Returns
    -------
    pandas.DataFrame
        Index ``predicted from``: the latent z; the residual z - m(y, p), which the paper's mean shift keeps; the
        residual whitened by class, which the transport keeps; the cell of a codebook; chance. Columns: ``accuracy``,
        ``low``, ``high``, ``n`` (the unit of the intervals and its number).
    """
    models = anonymizer.models_
    train_parts, test_parts = (_residuals(anonymizer, some, cells) for some in (train, test))
    (train_public, train_private), (test_public, test_private) = models.codes(train), models.codes(test)
    rows: dict[str, dict[str, object]] = {}
    for name in train_parts:
        right = np.zeros(test.n_windows)
        for code in np.unique(test_public):
            learned, tested = train_public == code, test_public == code
            trees = HistGradientBoostingClassifier(random_state=0, max_iter=60)
            trees.fit(train_parts[name][learned], train_private[learned])
            right[tested] = trees.predict(test_parts[name][tested]) == test_private[tested]
        found = share_of_people(right, test.subject.to_numpy())
        rows[name] = {"accuracy": found.score, "low": found.low, "high": found.high, "n": f"{found.n} {found.unit}"}
    rows["chance"] = {"accuracy": chance(train_private, test_private)}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("predicted from")


def _residuals(anonymizer: LatentAnonymizer, windows: Windows, cells: int) -> dict[str, np.ndarray]:
    """Return latent, residual, whitened residual and cell of each window, by true public and inferred private class."""
    models = anonymizer.models_
    public = models.codes(windows)[0]
    private = models.inferred(windows)[1]
    z = anonymizer.latents(windows, public).astype(float)
    residual, white, cell = z.copy(), z.copy(), z[:, :1].copy()
    for code in np.unique(public):
        rows = np.flatnonzero(public == code)
        latents, owners = anonymizer.latents_[code]
        known = Codebook(cells).fit(latents.astype(float), owners, len(models.private.classes))
        residual[rows] = z[rows] - known["means"][private[rows]]
        white[rows] = np.einsum("nij,nj->ni", known["whiten"][private[rows]], residual[rows])
        distance = ((white[rows][:, None, :] - known["centres"][None]) ** 2).sum(axis=2)
        cell[rows] = distance.argmin(axis=1)[:, None]
    return {"latent z": z, "residual z - m(y, p)": residual, "whitened residual": white, f"cell of {cells}": cell}
