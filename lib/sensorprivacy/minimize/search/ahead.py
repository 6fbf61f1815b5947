"""Bounds of the scores of forests before their first tree, learnt from larger subsets.

A race goes through the sizes of subsets from all features down to single ones. The values of the subsets with one and
two features more predict the score of a subset: their lowest, mean and highest value. A linear regression learns this
from the finished sample of the same size and of larger sizes. The sample is drawn at random before the race begins, and
a race always finishes it. So the sample does not depend on what is dropped, and its errors are those of the
predictions. If the larger subsets have no trees themselves, their predictions take the place of their values. The
sample shows the errors of such predictions too.
"""

import numpy as np

from sensorprivacy.minimize.search.bounds import WIDTH, Scores, membership, of_near_sizes, predict


class Ahead:
    """Predictions of one label from larger subsets, one size after the other.

    Parameters
    ----------
    scores : Scores
        What is known. The sample is finished. `predict` fills ``before``, and `learn` fills ``value``.
    sample : numpy.ndarray of int
        The subsets to learn from.
    """

    def __init__(self, scores: Scores, sample: np.ndarray) -> None:
        self.scores, self.sample = scores, sample
        self.sizes = np.bitwise_count(np.arange(len(scores.value)))
        self.up = np.full(len(scores.value), np.nan)
        self.shown = np.full((len(sample), 4 + scores.n_features), np.nan)

    def predict(self, size: int) -> np.ndarray:
        """Predict the scores of all subsets of a size from those of larger ones. Return these subsets."""
        scores, at = self.scores, np.flatnonzero(self.sizes == size)
        larger = self._larger(at)
        self.up[at] = larger[:, 1]
        # the size is the sum of the features
        shown = np.column_stack([larger, membership(at, scores.n_features)[:, :-1]])
        here = self.sizes[self.sample] == size
        self.shown[here] = shown[np.searchsorted(at, self.sample[here])]
        known = np.flatnonzero(~np.isnan(self.shown[:, 3]))
        known = of_near_sizes(known, self.sizes[self.sample[known]], size, shown.shape[1])
        usable = ~np.isnan(shown[:, 3])
        rows = np.concatenate([self.shown[known], shown[usable]])
        exact = np.concatenate([scores.exact[self.sample[known]], np.full(usable.sum(), np.nan)])
        if predicted := predict(rows, exact, 1 / scores.rows):
            value, error = (part[len(known) :] for part in predicted)
            bounds = [value - WIDTH * error, value, value + WIDTH * error]
            scores.before[:, at[usable]] = np.clip(bounds, 0, 1)
        return at

    def learn(self, at: np.ndarray) -> None:
        """Take in the first trees of these subsets, which are all of one size."""
        scores, size = self.scores, self.sizes[at[0]]
        scores.value[at] = scores.before[1, at]
        seen = at[~np.isnan(scores.glimpses[0, at, 0])]
        for foreseen in (False, True):
            # by the trees alone; where there is a prediction from larger subsets, by both
            new, known = (
                (part[~np.isnan(scores.before[1, part])] if foreseen else part) for part in (seen, self.sample)
            )
            shown = 3 + foreseen + scores.n_features
            known = of_near_sizes(known, self.sizes[known], size, shown)
            rows = np.concatenate([known, new])
            columns = [scores.glimpses[0, rows], membership(rows, scores.n_features)[:, :-1]]
            columns += [scores.before[1, rows]] if foreseen else []
            exact = np.concatenate([scores.exact[known], np.full(len(new), np.nan)])
            if predicted := predict(np.column_stack(columns), exact, 1 / scores.rows):
                scores.value[new] = predicted[0][len(known) :].clip(0, 1)
        done = at[scores.finished[at]]
        scores.value[done] = scores.exact[done]

    def _larger(self, at: np.ndarray) -> np.ndarray:
        """Return the lowest, mean and highest value with one feature more, and the mean value with two more."""
        low, high = np.full(len(at), np.inf), np.full(len(at), -np.inf)
        (total, count), (further, pairs) = np.zeros((2, len(at))), np.zeros((2, len(at)))
        for bit in range(self.scores.n_features):
            more = at | (1 << bit)
            value, beyond = (np.where(more != at, part[more], np.nan) for part in (self.scores.value, self.up))
            low, high = np.fmin(low, value), np.fmax(high, value)
            total, count = total + np.nan_to_num(value), count + ~np.isnan(value)
            further, pairs = further + np.nan_to_num(beyond), pairs + ~np.isnan(beyond)
        with np.errstate(invalid="ignore"):
            shown = np.column_stack([low, total / count, high, further / pairs])
        shown[~np.isfinite(shown).all(axis=1), 3] = np.nan
        return shown
