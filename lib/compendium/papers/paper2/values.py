"""Paper 2 (three-way decisions): the tables and statements that its printed values are compared with.

Among them are the statements on the five data sets together. Statements are values by claim id. `smart_home` has
Tables 5 and 6.
"""

import io
from collections.abc import Hashable, Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from compendium.show.tables import csv_text
from compendium.verdicts import cells
from compendium.verdicts.consistency import TRACE_TABLES as TRACE_TABLES
from compendium.verdicts.printed import pair_in, printed_table, set_in
from compendium.verdicts.verdicts import judge
from sensorprivacy.threeway import Appraiser, Division, Search, Sizes, entropies, stability

GROUPS = ("sensitive", "non_sensitive", "ambiguous")
GAINS = ("utility", "stability", "suitability")


def printed_thresholds(table: str) -> list[tuple[float, float]]:
    """Return the pairs (alpha, beta) in the row heads of Table 3 or one of Tables 9-13, in printed order."""
    return [(alpha, beta) for (alpha, _), (beta, _) in map(pair_in, printed_table(2, table).index)]


def printed_gains() -> pd.DataFrame:
    """Return the gains over the start that Table 15 prints (Fig. 5): one row per data set, one column of `GAINS`."""
    numbers = printed_table(2, "15").set_axis(GAINS, axis=1)
    start, determined, _ = (numbers.iloc[place::3].set_axis(pd.Index(TRACE_TABLES)) for place in range(3))
    return determined - start


def printed_groups() -> pd.DataFrame:
    """Return the numbers of attributes in each group that Table 14 prints (Fig. 4): one row per data set."""
    sets = printed_table(2, "14", "printed").set_axis(GROUPS, axis=1).set_axis(pd.Index(TRACE_TABLES))
    return sets.map(lambda text: len(set_in(text)))


def with_path(appraised: pd.DataFrame, trace: pd.DataFrame) -> pd.DataFrame:
    """Return appraised pairs of thresholds with the column ``on_path``: whether the search accepted the pair.

    Parameters
    ----------
    appraised : pandas.DataFrame
        Columns alpha and beta, and any others.
    trace : pandas.DataFrame
        Every pair that the search evaluated, columns alpha, beta, accepted.
    """
    walked = trace.loc[trace["accepted"], ["alpha", "beta"]].round(6)
    pairs, path = (pd.MultiIndex.from_frame(some[["alpha", "beta"]]) for some in (appraised, walked))
    return appraised.assign(on_path=pairs.isin(path))


def group_table(groups: Mapping[str, Iterable[str]], names: Mapping[str, str]) -> pd.DataFrame:
    """Return the attributes of each group (Table 14), under the data file's names and as printed.

    Parameters
    ----------
    groups : mapping
        Attributes of each group in `GROUPS`, under the data file's names.
    names : mapping
        Printed names of attributes that have other names in the file.
    """
    own = {group: sorted(map(str, groups[group])) for group in GROUPS}
    printed = {group: sorted(names.get(name, name) for name in found) for group, found in own.items()}
    return pd.DataFrame({"attributes": own, "as_printed": printed}).rename_axis("group")


def ends_table(appraised: pd.DataFrame) -> pd.DataFrame:
    """Return the start and the determined thresholds, and what changes between them.

    Parameters
    ----------
    appraised : pandas.DataFrame
        Two rows, the start and the determined thresholds: alpha, beta, sizes of the groups, measures.

    Returns
    -------
    pandas.DataFrame
        Rows start and determined; ``gained``, the second less the first, and ``lost``, the first less the second.
    """
    start, determined = (appraised.iloc[place].astype(float) for place in range(2))
    rows = {"start": start, "determined": determined, "gained": determined - start, "lost": start - determined}
    return pd.DataFrame(rows).T.rename_axis("thresholds")


def division_tables(
    dataset: str, appraiser: Appraiser, found: Search, start: tuple[float, float], names: Mapping[str, str]
) -> dict[str, pd.DataFrame]:
    """Return the tables of one data set that its printed values are compared with, by the tables' names.

    Parameters
    ----------
    dataset : str
        One of `TRACE_TABLES`.
    appraiser : Appraiser
        The data set's appraiser.
    found : Search
        The search for thresholds, from the pair `start`.
    names : mapping
        Printed names of attributes that have other names in the file.
    """
    printed = appraiser.table(printed_thresholds(TRACE_TABLES[dataset]))
    return {
        "printed-pairs": with_path(printed, found.trace),
        "ends": ends_table(appraiser.table([start, (found.alpha, found.beta)])),
        "groups": group_table(vars(found.appraisal.division), names),
    }


def exact_values(dataset: str, appraiser: Appraiser) -> int:
    """Return how many values of a data set's table (one of Tables 9 to 13) come out at printed precision.

    Parameters
    ----------
    dataset : str
        One of `TRACE_TABLES`.
    appraiser : Appraiser
        Some rows of the data set, with some measure of utility.
    """
    number, claims = TRACE_TABLES[dataset], cells.claims_of(f"21_threeway_division-{dataset}")
    pairs = csv_text(appraiser.table(printed_thresholds(number)))
    tables = {"printed-pairs": pd.read_csv(io.StringIO(pairs), dtype=str, keep_default_na=False)}
    found = cells.read(claims[claims["table"] == number], tables.get, str)
    return int((judge(found.ours, run=dataset, unexplained="allow")["verdict"] == "exact").sum())


def example_statements(
    sample: pd.DataFrame, entropies: pd.Series, groups: Mapping[str, Sequence[str]], best: tuple[float, float]
) -> dict[str, object]:
    """Return our values for the statements of section 4.2.

    Parameters
    ----------
    sample : pandas.DataFrame
        The twenty rows.
    entropies : pandas.Series
        Entropy of each attribute, nats.
    groups : mapping
        The attributes of each group at (1, 0).
    best : tuple of float
        The pair of Table 3 with the highest suitability.
    """
    plain, ambiguous = len(groups["non_sensitive"]), len(groups["ambiguous"])
    distinct = sample.nunique()
    return {
        "2-text-example-sensitive": groups["sensitive"],
        "2-text-example-non-sensitive": groups["non_sensitive"],
        "2-text-example-ambiguous": groups["ambiguous"],
        "2-text-example-kept": plain + ambiguous,
        "2-text-example-numerator": plain * ambiguous,
        "2-text-example-denominator": sample.shape[1] * (plain + ambiguous),
        "2-text-sample-attributes": sample.shape[1],
        "2-text-sample-instances": sample.shape[0],
        "2-text-sample-age-highest": bool(entropies.idxmax() == "Age" and distinct.idxmax() == "Age"),
        "2-text-sample-loss-lowest": bool(entropies.idxmin() == "Loss" and distinct["Loss"] == 1),
        "2-text-sample-best": best,
    }


def titanic_statements(frame: pd.DataFrame, evaluation: pd.Series, division: Division) -> dict[str, object]:
    """Return our values for the statements of section 5.2 on Titanic's attributes.

    Parameters
    ----------
    frame : pandas.DataFrame
        The rows, with the columns PassengerId, Sex and Survived.
    evaluation : pandas.Series
        Evaluation of each attribute, 0 to 1.
    division : Division
        The groups at the determined thresholds.
    """
    top = evaluation[evaluation == evaluation.max()].index
    return {
        "2-text-titanic-highest": "PassengerId" if "PassengerId" in top else str(top[0]),
        "2-text-titanic-sex-values": set(frame["Sex"].dropna().unique()),
        "2-text-titanic-survived-values": set(frame["Survived"].dropna().unique()),
        "2-text-titanic-ambiguous": {"Age", "Fare", "Cabin"} <= set(division.ambiguous),
        "2-text-titanic-none-alone": not singling_out(frame, division.non_sensitive),
    }


def singling_out(frame: pd.DataFrame, names: Iterable[Hashable]) -> list[Hashable]:
    """Return those of the named attributes that have a value which only one row has; missing is a value, too."""
    return [name for name in names if (frame[name].value_counts(dropna=False) == 1).any()]


def row_statements(frames: Mapping[str, pd.DataFrame], found: Mapping[str, Search]) -> dict[str, object]:
    """Return our values for statements that need the rows of the five data sets.

    Parameters
    ----------
    frames : mapping
        The data sets by name.
    found : mapping
        The search for thresholds on each.

    Returns
    -------
    dict of str to object
        Section 5.2: for the data sets other than Titanic, too, no non-sensitive attribute identifies a single row.
        Section 4.1.1: the variance of words depends on the numbers that they get (in order of appearance, or of
        frequency), and their entropy does not. Which measure is better for numbers is not decided.
    """
    plain = {name: one.appraisal.division.non_sensitive for name, one in found.items()}
    alone = [name for name, frame in frames.items() if name != "titanic" and singling_out(frame, plain[name])]
    words = [frame.select_dtypes(exclude="number").astype(str) for frame in frames.values()]
    depends = [any(_variance_depends(column) for _, column in own.items()) for own in words]
    return {
        "2-text-others-none-alone": not alone,
        "2-text-variance-of-words": all(depends),
        "2-text-variance-one-peak": None,
        "2-text-entropy-several-peaks": None,
    }


def _variance_depends(words: pd.Series) -> bool:
    """Return whether words get another variance, but no other entropy, in order of appearance than of frequency."""
    by_frequency = words.value_counts().index.get_indexer(pd.Index(words))
    numbers = pd.DataFrame({"appearance": pd.factorize(words)[0], "frequency": by_frequency})
    (one, other), (first, second) = entropies(numbers), numbers.var()
    return bool(np.isclose(one, other) and not np.isclose(first, second))


def stability_statements(attributes: Iterable[int]) -> dict[str, object]:
    """Return whether Eq. (11) has its extremes where section 4.1.4 states them.

    Parameters
    ----------
    attributes : iterable of int
        Numbers of attributes. Every number of sensitive ones is tried for each.
    """
    least, most = [], []
    for number in attributes:
        for kept in range(2, number + 1):
            values = [stability(Sizes(number - kept, kept - noisy, noisy)) for noisy in range(kept + 1)]
            least.append(max(values[0], values[-1]) < min(values[1:-1]))
            most.append(np.isclose(max(values), [values[kept // 2], values[kept - kept // 2]]).all())
    return {"2-text-stability-least": all(least), "2-text-stability-most": bool(all(most))}


def summary_statements(start: pd.DataFrame, final: pd.DataFrame, extreme: pd.DataFrame) -> dict[str, object]:
    """Return our values for the statements of sections 5.2 and 5.3.

    Parameters
    ----------
    start, final, extreme : pandas.DataFrame
        Sizes of the groups and measures, one row for each data set: at (.5, .5), at the determined thresholds, and at
        (1, 0). Without all five data sets, there are only the statements on single ones.
    """
    # the paper compares its printed values
    more = extreme["utility"].astype(float).round(2) > final["utility"].astype(float).round(2)
    known = [name for name in ("titanic", "heart", "student") if name in more]
    ours: dict[str, object] = {f"2-text-extreme-utility-{name}": bool(more[name]) for name in known}
    if not set(TRACE_TABLES) <= set(start.index):
        return ours
    improved = bool((final[list(GAINS)] > start[list(GAINS)]).all(axis=None))
    sizes = pd.concat([start["ambiguous"], final["ambiguous"], extreme["ambiguous"]], axis=1)
    return ours | {
        "2-text-all-improve": improved,
        "2-text-determined-beats-start": improved,
        "2-text-start-no-ambiguous": bool((start["ambiguous"] == 0).all()),
        "2-text-start-smallest-ambiguous": bool((start["ambiguous"] == sizes.min(axis=1)).all()),
        "2-text-extreme-largest-ambiguous": bool((extreme["ambiguous"] == sizes.max(axis=1)).all()),
        "2-text-extreme-stability": bool((extreme["stability"] < final["stability"]).all()),
        "2-text-extreme-suitability": bool((extreme["suitability"] < final["suitability"]).all()),
        "2-text-datasets": len(start),
    }


def threshold_statements() -> dict[str, object]:
    """Return whether the paper's assumptions on thresholds hold for its own printed pairs."""
    pairs = [pair for table in ("3", *TRACE_TABLES.values()) for pair in printed_thresholds(table)]
    return {
        "2-text-beta-below-alpha": all(0 <= beta < alpha <= 1 for alpha, beta in pairs),
        "2-text-thresholds-sum-to-one": all(abs(alpha + beta - 1) < 1e-9 for alpha, beta in pairs),
    }


def iteration_statements(mean: pd.Series, literal: Mapping[str, str], step: float) -> dict[str, object]:
    """Return our values for sections 4.3 and 5.1 (Fig. 3): step sizes and Algorithm 1.

    Parameters
    ----------
    mean : pandas.Series
        Mean number of iterations over the data sets, by step size.
    literal : mapping
        The reason why Algorithm 1 as written stopped, by data set.
    step : float
        The step size of all experiments.

    Returns
    -------
    dict of str to object
        "Many more" means at least twice as many iterations at the smallest step as at `step`. "Hardly change" means
        that the numbers from `step` to the largest step differ by at most a tenth of the smallest step's number.
    """
    mean = mean.sort_index()
    beyond = mean[mean.index >= step]
    return {
        "2-text-step": step,
        "2-text-start": (0.5, 0.5),
        "2-text-fig3-more-iterations-below": bool(mean.iloc[0] >= 2 * mean.loc[step]),
        "2-text-fig3-little-change-beyond": bool(beyond.max() - beyond.min() <= mean.iloc[0] / 10),
        "2-text-algorithm-stops": not any("cycle" in why for why in literal.values()),
    }
