"""Can a race search 20 features of 20,000 rows at threshold .01 in four hours on two cores? An estimate from parts.

cost      processor seconds of the first trees and of whole forests, for subsets of every size.
top       a share of the race itself, on the real lattice of 20 features: the sample, the first trees of all sizes from
          20 down to `SMALLEST`, and the steps that narrow the best accuracy among these sizes.
inner     races in sub-lattices: some of the 20 features are always in, some never, and the others are searched. They
          show which share of the subsets of each size needs trees. The loss counts from the best accuracy of the
          sub-lattice, or from that of all subsets.
overhead  the whole race of 20 features with an engine that needs no time: seconds and memory outside forests.
hours     the number of all subsets of a size, times the share of `inner`, times `cost`. Larger subsets than those of a
          sub-lattice have the share of its largest, smaller ones have none. The leaders do not become more in a larger
          lattice, but here they count as a share. A sub-lattice also has fewer larger subsets to learn from. So the
          hours should be too high.
"""

import time
from contextlib import closing
from itertools import product
from math import comb
from unittest.mock import patch

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier

from forest_cases import Case, table
from forest_curves import peak_from_here, status
from sensorprivacy.game import random_split
from sensorprivacy.minimize.engine_protocol import LABELS, Glimpse, engine_data
from sensorprivacy.minimize.forest.engine import SharedEngine
from sensorprivacy.minimize.search import bounds
from sensorprivacy.minimize.search.job import SearchJob
from sensorprivacy.minimize.search.racing import TREES, Rule, Runner

WIDTH, ROWS, CORES, THRESHOLD = 20, 20_000, 2, 0.01
SMALLEST = 17  # size down to which the real lattice is looked at
SAMPLES = (12, 24)  # subsets of each size to learn from in a sub-lattice; the race of 20 features has 52
INSIDE = ((10, 5, 1),)  # searched features, features that are always in, and the seed


class Fixed:
    """The shared forest, with some features in every subset."""

    threads, name = True, "shared"

    def __init__(self, engine, always):
        self.engine, self.always, self.n_trees = engine, tuple(always), engine.n_trees
        self.model = f"{engine.model} with {self.always}"

    def _whole(self, subsets):
        return [tuple(sorted((*subset, *self.always))) for subset in subsets]

    def score(self, subsets, label):
        """Return the scores with the features that are always in."""
        return self.engine.score(self._whole(subsets), label)

    def glimpse(self, subsets, label, n_trees):
        """Return what the first trees show, with the features that are always in."""
        return self.engine.glimpse(self._whole(subsets), label, n_trees)


class Free:
    """An engine that needs no time: accuracy and identifiability grow with the features, and some noise is added."""

    threads, name, model, n_trees = True, "shared", "free", 100

    def __init__(self, width):
        rng = np.random.default_rng(0)
        has = (np.arange(2**width)[:, None] >> np.arange(width)) & 1
        self.true = {}
        for label, most, noise in (("task", 0.35, 0.001), ("users", 0.12, 0.004)):
            left = np.exp(has @ np.log1p(-rng.uniform(0, most, width)))
            self.true[label] = np.clip(1 - left + rng.normal(0, noise, len(left)), 0, 1)
        self.noise = rng.normal(0, 1, len(has))

    def score(self, subsets, label):
        """Return the scores."""
        return self.true[label][[sum(1 << at for at in subset) for subset in subsets]].tolist()

    def glimpse(self, subsets, label, n_trees):
        """Return scores that are too low, with noise."""
        at = [sum(1 << at for at in subset) for subset in subsets]
        shown = (self.true[label][at] * (1 - 0.1 / n_trees) + 0.008 / np.sqrt(n_trees) * self.noise[at]).clip(0, 1)
        return [Glimpse(*values) for values in zip(shown, 0.8 * shown, 0.9 * shown, strict=True)]


class Top(Runner):
    """A race that stops at a size, and ends when the best accuracy of the larger subsets is settled."""

    def _sizes(self, label):
        for at, ahead in super()._sizes(label):
            if np.bitwise_count(at[0]) < SMALLEST:
                return
            yield at, ahead

    def _look_at_users(self):
        pass

    def _next_round(self):
        return False

    def _bounds(self, label):
        low, middle, high = (part.copy() for part in super()._bounds(label))
        for part in (low, middle, high):
            part[np.bitwise_count(np.arange(len(part))) < SMALLEST] = -1.0
        return low, middle, high


def game_of(rows=ROWS):
    """Return the rows of MotionSense, the split, and the shared forest on one thread."""
    game = table(Case("MotionSense, 20 features", "motionsense", "task", rows, WIDTH))
    return game, random_split(game.n_records, test=0.3, seed=0)


def search(game, split, engine, features=None):
    """Return a search with an engine."""
    return SearchJob(game, features, split=split, part="test", seed=0, engine=engine, progress=False)


def cost(engine, each=4):
    """Return the processor seconds of forests by size, label and number of trees."""
    rng = np.random.default_rng(1)
    engine.score([(0, 1)], "task")
    rows = []
    for size in range(1, WIDTH + 1):
        some = {tuple(sorted(rng.choice(WIDTH, size, replace=False).tolist())) for _ in range(each)}
        row = {"size": size}
        for label in LABELS:
            for stage in (*TREES, engine.n_trees):
                begun = time.process_time()
                if stage == engine.n_trees:
                    engine.score(sorted(some), label)
                else:
                    engine.glimpse(sorted(some), label, stage)
                row[f"{label}_{stage}"] = (time.process_time() - begun) / len(some)
        rows.append(row)
    return pd.DataFrame(rows)


def by_size(runner, always=0):
    """Return how many subsets of each size there were, and how many had first trees, without the sample."""
    others = np.setdiff1d(runner.at, runner.sample)
    sizes = np.bitwise_count(others).astype(int)
    row = {"size": sizes + always}
    for label in LABELS:
        for stage, glimpse in zip(TREES, runner.scores[label].glimpses, strict=True):
            row[f"{label}_{stage}"] = ~np.isnan(glimpse[others, 0])
        row[f"{label}_finished"] = runner.scores[label].finished[others]
    return pd.DataFrame(row).assign(subsets=1).groupby("size").sum()


def top(game, split, engine):
    """Run a share of the real race. Return the counts by size, the seconds and the best accuracy."""
    with closing(search(game, split, engine)) as job:
        begun = time.process_time()
        runner = Top(job, Rule((THRESHOLD,)))
        runner.run()
        seconds = time.process_time() - begun
    low, _, high = runner._bounds("task")
    return by_size(runner), seconds, float(low.max()), float(high.max())


def inner(game, split, engine, searched, always, seed, best):
    """Race in a sub-lattice, and return the counts by whole size and what was chosen."""
    order = np.random.default_rng(seed).permutation(WIDTH)
    features = [game.features.columns[at] for at in sorted(order[:searched])]
    fixed = Fixed(engine, map(int, order[searched : searched + always]))
    with closing(search(game, split, fixed, features)) as job:
        runner = Runner(job, Rule((THRESHOLD,), reference=best))
        frame, race = runner.run()
    return by_size(runner, always), race, frame


def hours(costs, counts):
    """Return the hours on two cores of each stage, from the shares of a sub-lattice."""
    costs, rows = costs.set_index("size"), []
    for label in LABELS:
        for stage in (*TREES, "finished"):
            total, grown = 0.0, 0.0
            for size in range(1, WIDTH + 1):
                known = counts.index[counts.index <= size].max()  # sizes above those of the sub-lattice: its largest
                share = 0.0 if pd.isna(known) else counts[f"{label}_{stage}"][known] / counts["subsets"][known]
                seconds = costs[f"{label}_{100 if stage == 'finished' else stage}"][size]
                grown += share * comb(WIDTH, size)
                total += share * comb(WIDTH, size) * seconds
            rows.append({"label": label, "trees": stage, "forests": round(grown), "hours": total / 3600 / CORES})
    return pd.DataFrame(rows)


def twenty(trees):
    """Measure all parts, and return their tables."""
    game, split = game_of()
    engine = SharedEngine(engine_data(game, split), RandomForestClassifier(trees), 0, n_threads=1)
    costs = cost(engine)
    counts, seconds, low, high = top(game, split, engine)
    found = {"twenty_cost": costs, "twenty_top": counts.reset_index().assign(seconds=seconds, low=low, high=high)}
    inside, estimates = [], []
    for searched, always, seed in INSIDE:
        for many, (name, best) in product(SAMPLES, (("sub-lattice", None), ("all subsets", low))):
            with patch.object(bounds, "_SAMPLE", many):
                shares, _, _ = inner(game, split, engine, searched, always, seed, best)
            facts = {"searched": searched, "always": always, "sample": many, "best of": name}
            inside.append(shares.reset_index().assign(**facts))
            estimates.append(hours(costs, shares).assign(**facts))
    found |= {"twenty_inner": pd.concat(inside), "twenty_hours": pd.concat(estimates)}
    return found | {"twenty_overhead": overhead()}


def overhead():
    """Return what the whole race needs outside forests."""
    game, split = game_of()
    engine, before, begun = Free(WIDTH), peak_from_here(), time.process_time()
    with closing(search(game, split, engine)) as job:
        job.estimate()
        frame, race = Runner(job, Rule((THRESHOLD,))).run()
    row = {"subsets": len(frame), "seconds": time.process_time() - begun}
    row |= {"peak_mib": (status("VmHWM") - before) / 2**20, "finished": race.finished}
    for label in LABELS:
        row |= dict(zip([f"{label}_{stage}" for stage in (*TREES, "finished")], race.grown[label], strict=True))
    return pd.DataFrame([row])
