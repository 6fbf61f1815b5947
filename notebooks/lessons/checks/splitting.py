"""Checks of lesson 62, why the split decides."""

import math
from typing import Any

import numpy as np
import pandas as pd

from checks.hints import exercise, require, same_function

# positions are asked for: the index is in another order, so that labels of rows are wrong
_GROUPS = pd.Series(list("aaabbbccdd"), index=[3, 9, 6, 0, 8, 1, 7, 2, 4, 5])
_POSITIONS = "This takes positions for labels of the index. Use groups.iloc[...]."
_PAIRS = [(100, 50), (128, 10), (100, 30), (100, 100), (50, 80)]
_SEEN = [
    (pd.Series(list("aab")), pd.Series(list("abcc"))),
    (pd.Series(list("ab")), pd.Series(list("ccca"))),
    (pd.Series(list("abc")), pd.Series(list("abcb"))),
]


@exercise
def overlap(answer: Any) -> None:
    """Check ``overlap(length, stride)``, the share of samples that a window has in common with the next one."""
    mistakes = {
        "This is the share of new samples. The next window begins `stride` samples later; the others are shared.": (
            lambda length, stride: stride / length
        ),
        "If the stride is longer than the window, two windows share nothing: return 0, not a negative number.": (
            lambda length, stride: (length - stride) / length
        ),
        "This is the number of shared samples. Divide it by the length.": lambda length, stride: max(
            0, length - stride
        ),
    }
    same_function(answer, lambda length, stride: max(0.0, 1 - stride / length), _PAIRS, mistakes)


@exercise
def gap(answer: Any) -> None:
    """Check ``gap(length, stride)``: windows to leave out between training and test part."""
    mistakes = {
        "This is one window too many. Count the windows that begin after the last training window and still share "
        "samples with it.": lambda length, stride: math.ceil(length / stride),
        "This rounds down. With length 100 and stride 30, the window that begins 90 samples later still shares 10 "
        "samples.": lambda length, stride: max(0, length // stride - 1),
        "Some of these windows share no samples with the last training window.": lambda length, stride: (
            length // stride
        ),
        "This is a number of samples. Count windows, which begin `stride` samples apart.": lambda length, stride: max(
            0, length - stride
        ),
    }
    steps = (
        "Step by step, with length 100 and stride 30: the last training window has the samples 0 to 99. The next "
        "windows begin at the samples 30, 60, 90 and 120. Those that begin before sample 100 still share samples with "
        "it: three windows. Now find the rule: how many multiples of the stride, without 0, are smaller than the "
        "length?"
    )
    same_function(answer, lambda length, stride: math.ceil(length / stride) - 1, _PAIRS[:4], mistakes, steps=steps)


@exercise
def torn(answer: Any) -> None:
    """Check ``torn(groups, train, test)``, the set of recordings on both sides."""

    def parts(groups: pd.Series, rows: np.ndarray) -> set[str]:
        return set(groups.iloc[rows])

    mistakes = {
        "These are all recordings. Keep those in both parts: use & instead of |.": lambda groups, train, test: (
            parts(groups, train) | parts(groups, test)
        ),
        "These are the recordings of the training rows. Keep those that are in the test rows, too.": (
            lambda groups, train, test: parts(groups, train)
        ),
        "These recordings are in one part only. Keep those in both.": lambda groups, train, test: (
            parts(groups, train) ^ parts(groups, test)
        ),
        "This is the number of recordings. Return the set of their names.": lambda groups, train, test: len(
            parts(groups, train) & parts(groups, test)
        ),
        _POSITIONS: lambda groups, train, test: set(groups.loc[train]) & set(groups.loc[test]),
    }
    cases = [
        (_GROUPS, np.array([0, 1, 3, 8]), np.array([2, 4, 6])),
        (_GROUPS, np.array([0, 1, 2]), np.array([3, 4, 9])),
    ]
    same_function(answer, lambda groups, train, test: parts(groups, train) & parts(groups, test), cases, mistakes)


@exercise
def source(answer: Any) -> None:
    """Check ``same_source(groups, neighbours, test)``."""
    mistakes = {
        "This compares the positions of rows, and a test row is never its own neighbour. Compare their recordings: "
        "groups.iloc[...].": lambda groups, neighbours, test: (neighbours == test).mean(),
        "This is a number of rows. Divide it by the number of test rows.": lambda groups, neighbours, test: (
            groups.to_numpy()[neighbours] == groups.to_numpy()[test]
        ).sum(),
        _POSITIONS: lambda groups, neighbours, test: (
            groups.loc[neighbours].to_numpy() == groups.loc[test].to_numpy()
        ).mean(),
    }
    cases = [
        (_GROUPS, np.array([1, 4, 0, 9]), np.array([0, 3, 5, 6])),
        (_GROUPS, np.array([2, 9, 9, 7, 1]), np.array([0, 8, 7, 6, 4])),
    ]

    def right(groups: pd.Series, neighbours: np.ndarray, test: np.ndarray) -> float:
        return float((groups.to_numpy()[neighbours] == groups.to_numpy()[test]).mean())

    same_function(answer, right, cases, mistakes)


@exercise
def split(answer: Any) -> None:
    """Check ``split_by_recording(groups, share, generator)``, which returns the positions of training and test rows."""
    groups = pd.Series(np.repeat([f"r{number}" for number in range(20)], 5), index=np.arange(1000, 1100))
    seen = set()
    neighbours = []

    def drawn(groups: pd.Series, share: float, seed: int) -> bool:
        parts = answer(groups, share, np.random.default_rng(seed))
        require(
            isinstance(parts, (tuple, list)) and len(parts) == 2, "Return two arrays of positions: return train, test."
        )
        train, test = (np.asarray(part) for part in parts)
        require(
            train.dtype.kind == "i" and test.dtype.kind == "i",
            "Return positions of rows, which are integers. np.flatnonzero turns a mask into positions.",
        )
        both = np.concatenate([train, test])
        require(
            bool(np.isin(both, np.arange(len(groups))).all()),
            "These are labels of the index. Return positions, which begin at 0: np.flatnonzero turns a mask into them.",
        )
        require(len(np.unique(both)) == len(both), "Some rows are in both parts.")
        require(
            len(both) == len(groups), f"{len(groups) - len(both)} rows are in no part. Each row belongs to one part."
        )
        sides = [set(groups.iloc[part]) for part in (train, test)]
        require(
            not sides[0] & sides[1],
            f"{len(sides[0] & sides[1])} recordings are in both parts. Draw recordings, then take all their rows.",
        )
        require(
            len(sides[1]) != round((1 - share) * groups.nunique()) or share == 1 / 2,
            "Training and test part are exchanged: `share` is the share of test recordings.",
        )
        require(
            len(sides[1]) == round(share * groups.nunique()),
            f"{len(sides[1])} of {groups.nunique()} recordings are test recordings. With share={share:g} there must be "
            f"{round(share * groups.nunique())}, rounded. Count and draw distinct recordings: each name once.",
        )
        again = np.asarray(answer(groups.copy(), share, np.random.default_rng(seed))[1])
        require(
            set(groups.iloc[again]) == sides[1],
            "The same generator chooses other recordings in a second call. Draw from the given generator only, so that "
            "a split can be repeated.",
        )
        places = np.flatnonzero(pd.Series(groups.unique()).isin(sides[1]))
        neighbours.append(bool((np.diff(places) == 1).all()))
        seen.add(tuple(sorted(sides[1])))
        return True

    cases = [(groups, share, seed) for share in (0.33, 0.12) for seed in range(8)]
    same_function(drawn if callable(answer) else answer, lambda groups, share, seed: True, cases)
    require(
        len(seen) > len(cases) / 2,
        "Each call chooses the same recordings, whatever the generator. Draw them at random: generator.permutation or "
        "generator.choice.",
    )
    require(
        not all(neighbours),
        "The test recordings always follow each other. Each set of recordings must be possible: draw without an order.",
    )


@exercise
def unseen(answer: Any) -> None:
    """Check ``unseen(train_labels, test_labels)``, the share of test rows that nobody can recognize."""
    mistakes = {
        "This is the share of rows that can be recognized. Return the others.": lambda train, test: test.isin(
            train
        ).mean(),
        "This counts labels. Count rows of the test part.": lambda train, test: (
            len(set(test) - set(train)) / test.nunique()
        ),
        "This asks the opposite: the share of training rows whose label is not in the test part.": (
            lambda train, test: (~train.isin(test)).mean()
        ),
    }
    same_function(answer, lambda train, test: (~test.isin(train)).mean(), _SEEN, mistakes)


@exercise
def remains(answer: Any) -> None:
    """Check ``remains(random, grouped, chance)``."""
    mistakes = {
        "A guess also reaches the chance level. Subtract it from both scores before you divide.": (
            lambda random, grouped, chance: grouped / random
        ),
        "This is the part that is lost. Return the part that remains.": lambda random, grouped, chance: (
            1 - (grouped - chance) / (random - chance)
        ),
        "The fraction is upside down. The grouped score is the numerator.": lambda random, grouped, chance: (
            (random - chance) / (grouped - chance)
        ),
        "Subtract the chance level from both scores, not only from the grouped one.": lambda random, grouped, chance: (
            (grouped - chance) / random
        ),
    }
    cases = [(0.9, 0.3, 0.1), (0.8, 0.5, 0.2)]
    same_function(answer, lambda random, grouped, chance: (grouped - chance) / (random - chance), cases, mistakes)
