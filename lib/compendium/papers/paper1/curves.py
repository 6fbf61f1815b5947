"""What the curves of Figs. 1 and 2 show: the places of Table 3, and the statements of sections 5.2 and 5.5.

Curves are the authors' (`published.published_curves`: a panel is a method on Opportunity) or ours (`our_curves`: the
unit is a data set, and both splits must agree). A statement is decided if a test at the level `decisions.LEVEL` decides
it.
"""

from typing import Any

import numpy as np
import pandas as pd

from compendium.papers.paper1.decisions import FORMS, BySplit, Decision, agreed, answers, sign_test, without_forms
from compendium.papers.paper1.values import METHODS, by_set
from sensorprivacy.game import wilson

LEAST_LOSS = 0.005  # a smaller change of accuracy counts as small; the second ranking of `measure` has no smaller loss
SPIKE = 0.05  # section 5.5.2: both values at the smallest size lie at least so far above the curve's median
SLIGHT = 0.03  # section 5.2.1: the largest loss of accuracy that counts as slight, the threshold after .01 in Table 4
WITH_ADVERSARY = ("shap_identifiability", "shap_ratio", "gini_identifiability", "gini_ratio")
"""The methods whose scores come from a model of the adversary: all others never see the users."""
GREEDY = tuple(name for name in METHODS if name not in ("hashing", "pca", "dp_printed"))
"""The methods that keep the first features of an order."""
_VALUES = ["accuracy_loss", "identifiability_reduction"]
_KEYS = ["dataset", "method"]


def our_curves(sweeps: pd.DataFrame, bases: pd.DataFrame | None = None) -> pd.DataFrame:
    """Return our sweeps with the columns of the curves.

    Forms of the same captures are left out, so that each row of captures counts once.

    Parameters
    ----------
    sweeps : pandas.DataFrame
        Table ``sweeps-grouped`` of notebook 11 (whole recordings) or ``sweeps`` (random rows), with the column ``run``.
    bases : pandas.DataFrame, optional
        For ``sweeps``: table ``base``, both players on all features.
    """
    own = sweeps
    if bases is not None:
        measures = bases.reindex(columns=["accuracy", "identifiability"]).add_prefix("base_")
        own = own.merge(measures.assign(run=bases["run"]), on="run")
        own = own.assign(problem=own["run"].astype(str).str.split("-", n=1).str[1])
    names = ["problem", "method", "n_features", "accuracy", "identifiability", "base_accuracy", "base_identifiability"]
    own = own.reindex(columns=[*own.columns, *(name for name in names if name not in own)])
    own = own[own["method"].isin(list(METHODS)) & ~own["problem"].isin(FORMS)]
    for name, measure in zip(_VALUES, ("accuracy", "identifiability"), strict=True):
        # rounded, because equal numbers of rows must give equal differences
        own = own.assign(**{name: (own[f"base_{measure}"].astype(float) - own[measure].astype(float)).round(9)})
    return own.assign(dataset=own["problem"])


def best_points(points: pd.DataFrame, least_loss: float | None = None) -> pd.DataFrame:
    """Return the point with the highest relative effectiveness of each method on each data set, the best first.

    Parameters
    ----------
    points : pandas.DataFrame
        As :func:`.published.published_curves` returns them.
    least_loss : float, optional
        Only points that lose at least this much accuracy count.
    """
    own = points.dropna(subset="relative_effectiveness")
    own = own if least_loss is None else own[own["accuracy_loss"] >= least_loss]
    best = own.loc[own.groupby(_KEYS, sort=False)["relative_effectiveness"].idxmax()]
    place = best.groupby("dataset")["relative_effectiveness"].rank(ascending=False, method="min").astype(int)
    return best.assign(place=place).sort_values(["dataset", "place"], kind="stable").reset_index(drop=True)


def table_3(points: pd.DataFrame) -> pd.DataFrame:
    """Return the first three places of each data set by the curves, as Table 3 prints them.

    Methods with equal values share a place: the printed one of them is named, and the others are in `tied`.

    Returns
    -------
    pandas.DataFrame
        dataset, rank, method, tied, relative_effectiveness, n_features, rows_lost, rows_reduced, test_rows,
        accuracy_loss, identifiability_reduction, direction.
    """
    best, printed, rows = best_points(points), by_set("3", "printed"), []
    for dataset, own in best.groupby("dataset"):
        for rank in (1, 2, 3):
            value = own["relative_effectiveness"].iloc[rank - 1]
            held = own[own["relative_effectiveness"] == value].assign(name=lambda rows: rows["method"].map(METHODS))
            named = held["name"] == printed.loc[str(dataset), f"rank {rank}"]
            one = held[named].iloc[0] if named.any() else held.iloc[0]
            tied = ", ".join(held.loc[held["name"] != one["name"], "name"])
            rows.append({**one, "rank": rank, "method": one["name"], "tied": tied})
    names = ["dataset", "rank", "method", "tied", "relative_effectiveness", "n_features", "rows_lost", "rows_reduced"]
    return pd.DataFrame(rows)[[*names, "test_rows", *_VALUES, "direction"]]


def measure(points: pd.DataFrame) -> pd.DataFrame:
    """Return for each data set what the highest relative effectiveness depends on, and a last row for all together.

    Returns
    -------
    pandas.DataFrame
        Index dataset. points; of those with a relative effectiveness, how many fell and how many rose in both values,
        and the share that rose; of the first three places, how many are of points within two test rows of the base
        accuracy, and how many change it by less than `LEAST_LOSS`; the first method, and its lost test rows; the first
        method among points that lose at least `LEAST_LOSS`; and how many of the first three places then keep their
        method.
    """
    found, floor = best_points(points), best_points(points, LEAST_LOSS)
    rows = {}
    for dataset, own in points.groupby("dataset"):
        ups, places = own["direction"].value_counts(), table_3(own)
        first, strict = (best[best["dataset"] == dataset] for best in (found, floor))
        names = strict["method"].map(METHODS).iloc[:3].tolist()
        rows[dataset] = {
            "points": len(own),
            "both fell": ups.get("fall", 0),
            "both rose": ups.get("rise", 0),
            "places": len(places),
            "within two rows": int((places["rows_lost"].abs() <= 2).sum()),
            "below half a point": int((places["accuracy_loss"].abs() < LEAST_LOSS).sum()),
            "first": METHODS[first["method"].iloc[0]],
            "its rows lost": first["rows_lost"].iloc[0],
            "first with a loss": names[0],
            "places kept": sum(a == b for a, b in zip(names, places["method"], strict=True)),
        }
    table = pd.DataFrame.from_dict(rows, orient="index").rename_axis("dataset")
    texts = ["first", "its rows lost", "first with a loss"]
    table.loc["all"] = table.drop(columns=texts).sum()
    table[texts] = table[texts].astype(object).where(table[texts].notna(), "")
    table["share both rose"] = table["both rose"] / (table["both fell"] + table["both rose"])
    return table


def panels(points: pd.DataFrame) -> pd.DataFrame:
    """Return what each curve shows: one row for each data set and method, without differential privacy.

    Returns
    -------
    pandas.DataFrame
        dataset, method; `exceeds`: share of sizes at which the reduction of identifiability exceeds the loss of
        accuracy; `loss rises` and `reduction rises`: value at the smallest size less the curve's median; `spike`:
        whether both are at least `SPIKE`; `unstable`: whether both change more from one size to the next among the
        smaller half of the steps than among the larger half (missing with fewer than four sizes).
    """
    own = points[points["method"] != "dp_printed"]
    curves = own.groupby(_KEYS, sort=False)
    exceeds = (own[_VALUES[1]] > own[_VALUES[0]]).groupby([own[key] for key in _KEYS], sort=False).mean()
    smallest = own[own["n_features"] == curves["n_features"].transform("min")]
    rise = smallest.groupby(_KEYS, sort=False)[_VALUES].mean() - curves[_VALUES].median()
    table = rise.set_axis(["loss rises", "reduction rises"], axis=1).assign(spike=(rise >= SPIKE).all(axis=1))
    table.insert(0, "exceeds", exceeds)
    unstable = {key: _unstable(curve) for key, curve in curves}
    return table.assign(unstable=pd.Series(unstable, dtype=object)).reset_index()


def generally(panels_: pd.DataFrame, statement: str) -> Decision:
    """Decide whether a statement is true of most panels of one data set, by a sign test over its methods.

    Parameters
    ----------
    panels_ : pandas.DataFrame
        As :func:`panels` returns them.
    statement : {"exceeds", "spike", "unstable"}
        Section 5.5.1: the reduction exceeds the loss at more than half of the sizes. Section 5.5.2: the columns of
        :func:`panels`.
    """
    return sign_test(_true(panels_, statement), "methods")


def on_most_sets(panels_: pd.DataFrame, statement: str) -> Decision:
    """Decide whether a statement is true of most panels on most data sets, by a sign test over data sets."""
    share = _true(panels_, statement).groupby(panels_["dataset"]).mean()
    return sign_test(share[share != 0.5] > 0.5, "data sets")


def higher_score(points: pd.DataFrame) -> Decision:
    """Decide whether hashing has a higher relative effectiveness than SHAP by CTV (Fig. 1).

    One test row is the margin: the order is undecided if it ends when the better method loses one row more. Only points
    at which both values fell count.
    """
    best = best_points(points[points["direction"] == "fall"]).set_index("method").loc[["hashing", "shap_ratio"]]
    scores = best["relative_effectiveness"]
    ahead, other = (str(name) for name in scores.sort_values(ascending=False, kind="stable").index)
    leader: Any = best.loc[ahead]
    moved = np.log(leader["rows_reduced"] / (leader["rows_lost"] + 1))
    if moved > scores[other]:
        return ahead == "hashing", ""
    return None, (
        f"{METHODS[ahead]} has {scores[ahead]:.3f} and {METHODS[other]} {scores[other]:.3f}; with one more of "
        f"{leader['test_rows']:,} test rows lost, the first has {moved:.3f}"
    )


def larger_reduction(points: pd.DataFrame, slight: float = SLIGHT) -> Decision:
    """Decide whether SHAP by CTV reduces identifiability more than hashing at a loss of at most `slight` (Fig. 1).

    Each method's point with the lowest identifiability counts. It is decided if their 95 % intervals do not overlap,
    which is stricter than a paired test.

    Parameters
    ----------
    points : pandas.DataFrame
        One data set: method, accuracy_loss, and identifiability with ``_low`` and ``_high``.
    """
    allowed = points[(points["accuracy_loss"] <= slight) & points["method"].isin(["hashing", "shap_ratio"])]
    lowest = allowed.loc[allowed.groupby("method")["identifiability"].idxmin()].set_index("method")
    if len(lowest) < 2:
        return None, f"a method has no point that loses at most {slight:g}"
    hashing, shap = lowest.loc["hashing"], lowest.loc["shap_ratio"]
    if shap["identifiability_high"] < hashing["identifiability_low"]:
        return True, ""
    if hashing["identifiability_high"] < shap["identifiability_low"]:
        return False, ""
    ends = [f"{row['identifiability_low']:.3f} to {row['identifiability_high']:.3f}" for row in (hashing, shap)]
    return None, f"lowest identifiability: {ends[0]} with hashing, {ends[1]} with SHAP by CTV"


def largest_reductions(points: pd.DataFrame) -> pd.DataFrame:
    """Return for both methods of Fig. 1 the largest reduction on CIC-IDS 2017 within three limits of the loss."""
    own = points[(points["dataset"] == "cic-ids-2017") & points["method"].isin(["hashing", "shap_ratio"])]
    found = {
        f"within {100 * limit:g} points": own[own["accuracy_loss"] <= limit].groupby("method")[_VALUES[1]].max()
        for limit in (LEAST_LOSS, 0.01, SLIGHT)
    }
    return pd.DataFrame(found).rename(index=METHODS)


def with_intervals(points: pd.DataFrame) -> pd.DataFrame:
    """Return the authors' points with 95 % intervals of identifiability over test rows (Wilson)."""
    right = points["identifiability"] * points["test_rows"]
    low, high = zip(*map(wilson, right, points["test_rows"]), strict=True)
    return points.assign(identifiability_low=low, identifiability_high=high)


def no_clear_winner(ranks: pd.DataFrame) -> Decision:
    """Decide whether no method is the best on most data sets, by a sign test on the one that is best most often.

    A method that is first on significantly more than half of the data sets is a clear winner. There is none if even
    the most frequent one is first on significantly fewer.
    """
    first = ranks == ranks.min()
    leader: Any = first.sum(axis=1).idxmax()
    value, why = sign_test(first.loc[leader], "data sets")
    return (None if value is None else not value), f"{METHODS[leader]} is first: {why}" if why else ""


def adversary_helps(ranks: pd.DataFrame) -> Decision:
    """Decide whether strategies without a model of the adversary are generally less effective (contribution 3).

    On each data set, the share of pairs in which a method of `WITH_ADVERSARY` has the better rank than another one;
    then a sign test over data sets on whether it exceeds one half.
    """
    model = ranks.index.isin(WITH_ADVERSARY)
    shares = {}
    for name, column in ranks.items():
        better, worse = (column[kind].dropna().to_numpy() for kind in (model, ~model))
        first, second = np.meshgrid(better, worse)
        shares[name] = np.mean((first < second) + 0.5 * (first == second))
    found = pd.Series(shares, dtype=float)
    return sign_test(found[found != 0.5] > 0.5, "data sets")


def greedy_beside_hybrid(points: pd.DataFrame) -> pd.DataFrame:
    """Return the two stages of Table 2 beside the best greedy stage alone (sections 4.3 and 5.4.1).

    Returns
    -------
    pandas.DataFrame
        Index dataset; accuracy and identifiability of the two stages as printed; method, n_features and identifiability
        of the greedy point that is at least as accurate, at printed precision, and has the lowest identifiability.
        Missing if no greedy point is as accurate.
    """
    hybrid = by_set("2")[["accuracy", "identifiability"]]
    greedy = points[points["method"].isin(GREEDY) & points["dataset"].isin(hybrid.index)]
    enough = greedy[greedy["accuracy"].round(4) >= hybrid["accuracy"].reindex(greedy["dataset"]).to_numpy()]
    best = enough.loc[enough.groupby("dataset")["identifiability"].idxmin()].set_index("dataset")
    names = ["method", "n_features", "identifiability"]
    shown = best[names].replace({"method": METHODS}).add_prefix("greedy: ")
    return hybrid.loc[[name for name in hybrid.index if name in set(greedy["dataset"])]].join(shown)


def hybrid_beats_greedy(points: pd.DataFrame) -> Decision:
    """Decide whether the two stages beat the greedy stage alone, by a sign test over the authors' data sets.

    The curves can only refute it. All sets are chosen on the rows that judge them, and the search of the second stage
    contains the greedy sets of its own features. So the two stages can hardly lose, also if features do not interact.
    """
    both = greedy_beside_hybrid(points)
    lowest = both["greedy: identifiability"].fillna(np.inf).round(4)
    value, why = sign_test((both["identifiability"] < lowest)[both["identifiability"] != lowest], "data sets")
    if value:
        held = f"{len(both)} data sets have a lower identifiability with two stages at no less accuracy"
        return None, f"{held}, but the search contains greedy sets, and is judged on the rows that it chose on"
    return value, why


def curve_statements(points: pd.DataFrame, own: BySplit, ranks: BySplit) -> tuple[dict, dict[str, str]]:
    """Return our values of the statements about the curves by claim id, and the reasons of undecided ones.

    Parameters
    ----------
    points : pandas.DataFrame
        The authors' curves.
    own : mapping of str to pandas.DataFrame
        By split, ours (:func:`our_curves`).
    ranks : mapping of str to pandas.DataFrame
        By split, the rank of each method (rows) on each of our data sets (columns). The ids of statements on our runs
        end in ``-own``; those without data are left out. Both splits must agree.
    """
    shown, cic = panels(points), with_intervals(points[points["dataset"] == "cic-ids-2017"])
    theirs = best_points(points).pivot_table(index="method", columns="dataset", values="place")
    case = shown[shown["dataset"] == "opportunity"]
    found = {
        "reduction-exceeds-loss": generally(case, "exceeds"),
        "spike": generally(case, "spike"),
        "unstable": generally(case, "unstable"),
        "figure-1-score": higher_score(cic),
        "figure-1-reduction": larger_reduction(cic),
        "no-clear-winner": no_clear_winner(theirs),
        "no-adversary-less": adversary_helps(theirs),
        "hybrid-beats-greedy": hybrid_beats_greedy(points),
    }
    drawn = {split: one for split, one in own.items() if len(one)}
    ours: dict[str, dict[str, Decision]] = {
        name: {split: on_most_sets(panels(one), statement) for split, one in drawn.items()}
        for name, statement in (("reduction-exceeds-loss", "exceeds"), ("spike", "spike"), ("unstable", "unstable"))
    }
    both = {split: one[one["dataset"] == "cic-ids-2017"] for split, one in drawn.items()}
    ours["figure-1-reduction"] = {split: larger_reduction(one) for split, one in both.items() if len(one)}
    apart = {split: one for split, table in ranks.items() if (one := without_forms(table)).size}
    ours["no-clear-winner"] = {split: no_clear_winner(one) for split, one in apart.items()}
    ours["no-adversary-less"] = {split: adversary_helps(one) for split, one in apart.items()}
    found |= {f"{name}-own": agreed(by_split) for name, by_split in ours.items() if by_split}
    return answers({f"1-text-{name}": decision for name, decision in found.items()})


def _true(panels_: pd.DataFrame, statement: str) -> pd.Series:
    """Return of which panels a statement is true, without panels that say neither."""
    own = panels_[statement].dropna()
    return own[own != 0.5] > 0.5 if statement == "exceeds" else own.astype(bool)


def _unstable(curve: pd.DataFrame) -> bool | None:
    """Return whether a curve's values change more between small sizes than between large ones."""
    steps = curve.groupby("n_features")[_VALUES].mean().diff().abs().iloc[1:]
    half = len(steps) // 2
    if len(steps) < 3:
        return None
    return bool((steps.iloc[:half].mean() > steps.iloc[-half:].mean()).all())
