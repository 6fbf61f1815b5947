"""Paper 2 (three-way division): its printed tables, and the tables and statements that they are compared with.

Statements are values by claim id. Those on several data sets are in `summary`.
"""

from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from compendium.verdicts.consistency import TRACE_TABLES as TRACE_TABLES
from compendium.verdicts.printed import pair_in, printed_table, set_in
from sensorprivacy.threeway import Appraiser, Division, Search

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
    """Return our values for the statements of section 5.2 on Titanic's attributes."""
    top = evaluation[evaluation == evaluation.max()].index
    return {
        "2-text-titanic-highest": "PassengerId" if "PassengerId" in top else str(top[0]),
        "2-text-titanic-sex-values": set(frame["Sex"].dropna().unique()),
        "2-text-titanic-survived-values": set(frame["Survived"].dropna().unique()),
        "2-text-titanic-ambiguous": {"Age", "Fare", "Cabin"} <= set(division.ambiguous),
    }
