"""Values for the claims of paper 2 (three-way division) on one data set; claims on several are in `summary`.

Each function takes data frames and numbers, and returns our values by claim id, for the verdicts.
"""

from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from compendium.verdicts.printed import pair_in, printed_numbers, printed_values, same_name, set_in

ENTROPY_TABLES = {"titanic": "7", "adult": "8"}
TRACE_TABLES = {"titanic": "9", "adult": "10", "bank": "11", "heart": "12", "student": "13"}
MEASURES = ("sensitive", "non_sensitive", "ambiguous", "utility", "stability", "suitability")
GROUPS = ("sensitive", "non_sensitive", "ambiguous")
GAINS = ("utility", "stability", "suitability")
WORK = {"gov": "Gov.", "self": "Self", "priv": "Priv."}


def entropy_claims(table: str, evaluation: pd.Series, names: Mapping[str, str] | None = None) -> dict[str, float]:
    """Return the normalized entropies for the cells of Table 2, 7 or 8.

    Parameters
    ----------
    table : {"2", "7", "8"}
        The printed table.
    evaluation : pandas.Series
        Normalized entropy of each attribute, under the data file's names.
    names : mapping, optional
        Printed names of attributes that have other names in the file.

    Returns
    -------
    dict of str to float
        Value by claim id.

    Raises
    ------
    KeyError
        If `evaluation` lacks a printed attribute.
    """
    names = names or {}
    ours = {same_name(names.get(str(name), name)): float(value) for name, value in evaluation.items()}
    printed = _table(table)
    return {claim: ours[same_name(row)] for claim, row in zip(printed["claim_id"], printed["row"], strict=True)}


def printed_thresholds(table: str) -> list[tuple[float, float]]:
    """Return the pairs (alpha, beta) in the row heads of Table 3 or one of Tables 9-13, in printed order."""
    return [(alpha, beta) for (alpha, _), (beta, _) in map(pair_in, _table(table)["row"].drop_duplicates())]


def printed_gains() -> pd.DataFrame:
    """Return the gains over the start that Table 15 prints (Fig. 5): one row per data set, one column of `GAINS`."""
    numbers = printed_numbers(2)
    return pd.DataFrame(
        {
            name: {
                measure: numbers[f"2-T15-{name}-determined-{measure}"] - numbers[f"2-T15-{name}-start-{measure}"]
                for measure in GAINS
            }
            for name in TRACE_TABLES
        }
    ).T


def printed_groups() -> pd.DataFrame:
    """Return the numbers of attributes in each group that Table 14 prints (Fig. 4): one row per data set."""
    sets = printed_values(2).set_index("claim_id")["printed"]
    return pd.DataFrame(
        {name: {group: len(set_in(sets[f"2-T14-{name}-{_slug(group)}"])) for group in GROUPS} for name in TRACE_TABLES}
    ).T


def appraisal_claims(table: str, appraised: pd.DataFrame) -> dict[str, float]:
    """Return the cells of Table 3 or one of Tables 9-13.

    Parameters
    ----------
    table : str
        The printed table.
    appraised : pandas.DataFrame
        One row for each printed pair of thresholds, in printed order. Columns among sensitive, non_sensitive,
        ambiguous, utility, stability, suitability.

    Returns
    -------
    dict of str to float
        Value by claim id.

    Raises
    ------
    ValueError
        If the printed table has another number of rows.
    """
    printed = _table(table)
    rows = printed["row"].nunique()
    if len(appraised) != rows:
        raise ValueError(f"{len(appraised)} appraised rows, but Table {table} prints {rows}")
    columns = [name for name in MEASURES if printed["claim_id"].str.endswith("-" + _slug(name)).any()]
    return {
        f"2-T{table}-r{place}-{_slug(column)}": float(value)
        for column in columns
        for place, value in enumerate(appraised[column], start=1)
    }


def division_claims(dataset: str, groups: Mapping[str, Iterable[str]], names: Mapping[str, str]) -> dict[str, set[str]]:
    """Return the three groups of a data set for Table 14, under the paper's names.

    Parameters
    ----------
    dataset : str
        titanic, adult, bank, heart or student.
    groups : mapping
        Attributes of each group in `GROUPS`, under the data file's names.
    names : mapping
        Printed names of attributes that have other names in the file.

    Returns
    -------
    dict of str to set
        Names by claim id.
    """
    return {
        f"2-T14-{dataset}-{_slug(group)}": {names.get(str(name), str(name)) for name in groups[group]}
        for group in GROUPS
    }


def search_claims(dataset: str, trace: pd.DataFrame, start: pd.Series, final: pd.Series) -> dict[str, object]:
    """Return our values for the text and the row heads of Tables 9-13: the search on one data set.

    Parameters
    ----------
    dataset : str
        titanic, adult, bank, heart or student.
    trace : pandas.DataFrame
        Every pair that the search evaluated, columns alpha, beta, accepted.
    start, final : pandas.Series
        Sizes of the groups and measures at the start and at the determined thresholds (with alpha and beta).

    Returns
    -------
    dict of str to object
        By claim id: whether each printed pair lies on the path, the determined pair, the number of attributes that
        changed group, and the gains.
    """
    walked = trace.loc[trace["accepted"], ["alpha", "beta"]].round(6)
    path = set(walked.itertuples(index=False, name=None))
    ours: dict[str, object] = {
        f"2-text-path-{dataset}-r{place}": pair in path
        for place, pair in enumerate(printed_thresholds(TRACE_TABLES[dataset]), start=1)
    }
    ours[f"2-text-final-{dataset}"] = (float(final["alpha"]), float(final["beta"]))
    for group, sign in zip(GROUPS, (-1, -1, 1), strict=True):
        ours[f"2-text-moved-{dataset}-{_slug(group)}"] = int(sign * (final[group] - start[group]))
    for measure in GAINS:
        ours[f"2-text-gain-{dataset}-{measure}"] = float(final[measure] - start[measure])
        ours[f"2-text-{dataset}-start-{measure}"] = float(start[measure])
        ours[f"2-text-{dataset}-final-{measure}"] = float(final[measure])
    return only_printed(ours)


def dataset_claims(
    dataset: str,
    frame: pd.DataFrame,
    evaluation: pd.Series,
    appraised: pd.DataFrame,
    groups: Mapping[str, Iterable[str]],
    trace: pd.DataFrame,
    ends: pd.DataFrame,
    names: Mapping[str, str],
) -> dict[str, object]:
    """Return our values for one data set: its part of Tables 7 to 14 and of section 5.2.

    Parameters
    ----------
    dataset : str
        titanic, adult, bank, heart or student.
    frame : pandas.DataFrame
        Its rows.
    evaluation : pandas.Series
        Normalized entropy by attribute.
    appraised : pandas.DataFrame
        Sizes and measures at the printed pairs of thresholds, see :func:`appraisal_claims`.
    groups : mapping
        The attributes of each group at the determined thresholds.
    trace : pandas.DataFrame
        Every pair that the search evaluated.
    ends : pandas.DataFrame
        Two rows: the start and the determined thresholds, see :func:`search_claims`.
    names : mapping
        Printed names of attributes that have other names in the file.

    Returns
    -------
    dict of str to object
        Value by claim id.
    """
    ours: dict[str, object] = dict(appraisal_claims(TRACE_TABLES[dataset], appraised))
    ours |= division_claims(dataset, groups, names) | search_claims(dataset, trace, ends.iloc[0], ends.iloc[1])
    if dataset in ENTROPY_TABLES:
        ours |= entropy_claims(ENTROPY_TABLES[dataset], evaluation, names)
    return ours | (titanic_claims(frame, evaluation, groups) if dataset == "titanic" else {})


def example_claims(
    sample: pd.DataFrame,
    entropies: pd.Series,
    groups: Mapping[str, Sequence[str]],
    measures: Mapping[str, float],
    best: tuple[float, float],
) -> dict[str, object]:
    """Return our values for the example of section 4.2.

    Parameters
    ----------
    sample : pandas.DataFrame
        The twenty rows.
    entropies : pandas.Series
        Entropy of each attribute, nats.
    groups, measures : mapping
        The attributes of each group, and utility, stability and suitability, at (1, 0).
    best : tuple of float
        The pair of Table 3 with the highest suitability.

    Returns
    -------
    dict of str to object
        Value by claim id.
    """
    share = sample["Work"].value_counts(normalize=True)
    plain, ambiguous = len(groups["non_sensitive"]), len(groups["ambiguous"])
    distinct = sample.nunique()
    ours: dict[str, object] = {f"2-text-example-{_slug(group)}": groups[group] for group in GROUPS}
    ours |= {f"2-text-example-{measure}": float(measures[measure]) for measure in GAINS}
    ours |= {f"2-text-work-{word}": float(share[value]) for word, value in WORK.items()}
    return ours | {
        "2-text-example-kept": plain + ambiguous,
        "2-text-example-numerator": plain * ambiguous,
        "2-text-example-denominator": sample.shape[1] * (plain + ambiguous),
        "2-text-work-entropy": float(entropies["Work"]),
        "2-text-sample-attributes": sample.shape[1],
        "2-text-sample-instances": sample.shape[0],
        "2-text-sample-age-highest": bool(entropies.idxmax() == "Age" and distinct.idxmax() == "Age"),
        "2-text-sample-loss-lowest": bool(entropies.idxmin() == "Loss" and distinct["Loss"] == 1),
        "2-text-sample-best": best,
    }


def titanic_claims(
    frame: pd.DataFrame, evaluation: pd.Series, groups: Mapping[str, Iterable[str]]
) -> dict[str, object]:
    """Return our values for the text of section 5.2 on Titanic's attributes."""
    top = evaluation[evaluation == evaluation.max()].index
    return {
        "2-text-titanic-highest": "PassengerId" if "PassengerId" in top else str(top[0]),
        "2-text-titanic-sex-values": set(frame["Sex"].dropna().unique()),
        "2-text-titanic-survived-values": set(frame["Survived"].dropna().unique()),
        "2-text-titanic-sensitive": set(groups["sensitive"]),
        "2-text-titanic-non-sensitive": set(groups["non_sensitive"]),
        "2-text-titanic-ambiguous": {"Age", "Fare", "Cabin"} <= set(groups["ambiguous"]),
    }


def _table(table: str) -> pd.DataFrame:
    values = printed_values(2)
    return values[values["table"] == table]


def _slug(name: str) -> str:
    return name.replace("_", "-")


def only_printed(ours: dict[str, object]) -> dict[str, object]:
    """Return the values that the paper prints; it prints more for some data sets than for others."""
    printed = set(printed_values(2)["claim_id"])
    return {claim: value for claim, value in ours.items() if claim in printed}
