"""What paper 1's authors published: the logs of their searches, and facts from their notebooks.

They answer the cells of data sets whose rows nobody else can get (`values.FROM_LOGS`). `published_curves` returns the
points of their Figs. 1 and 2.
"""

import io
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from compendium.papers.paper1.values import ELSEWHERE, KEPT, SETS, TABLES, printed_table
from compendium.paths import data_dir

SPARSE = ("amir-nprint", "service-recognition")
"""The data sets of sparse features: header bits."""


class Choices(NamedTuple):
    """What the selection rule chooses from the authors' logs.

    Parameters
    ----------
    picked : dict of str to pandas.DataFrame
        By printed table: index threshold; columns of the rule, and ``line``, the line of the log's file.
    searched : dict of str to int
        Number of features that the authors searched, by data set.
    subsets : dict of str to int
        Number of subsets in the log, by printed table.
    """

    picked: dict[str, pd.DataFrame]
    searched: dict[str, int]
    subsets: dict[str, int]


def published_curves() -> pd.DataFrame:
    """Return every point of Figs. 1 and 2 that the authors published, for the six data sets with curves.

    ``data/paper/curves.csv`` holds them as counts of test rows, ``curve-bases.csv`` the counts with all features.

    Returns
    -------
    pandas.DataFrame
        dataset, method (a name of `METHODS`), n_features, epsilon (of differential privacy), rows_lost and
        rows_reduced (the accuracy loss and the reduction of identifiability as test rows; negative if the value rose),
        accuracy_loss and identifiability_reduction (the same as fractions), accuracy, identifiability, test_rows,
        relative_effectiveness (Definition 2; NaN if undefined), direction (``fall``: both fell; ``rise``: both rose;
        empty if Definition 2 is undefined). The order is the authors'; several rows may have the same size.
    """
    points = pd.read_csv(data_dir() / "paper" / "curves.csv")
    points[["dataset", "method"]] = points[["dataset", "method"]].ffill()
    bases = curve_bases().loc[points["dataset"]].set_axis(points.index)
    lost, reduced = points["rows_lost"], points["rows_reduced"]
    points["accuracy_loss"] = lost / bases["test_rows"]
    points["identifiability_reduction"] = reduced / bases["test_rows"]
    points["accuracy"] = (bases["accuracy_rows"] - lost) / bases["test_rows"]
    points["identifiability"] = (bases["identifiability_rows"] - reduced) / bases["test_rows"]
    defined = lost * reduced > 0
    points["relative_effectiveness"] = np.log((reduced / lost.where(defined)).astype(float))
    points["test_rows"] = bases["test_rows"]
    points["direction"] = np.where(~defined, "", np.where(lost > 0, "fall", "rise"))
    return points


def curve_bases() -> pd.DataFrame:
    """Return features, test rows, and both players' correct test rows on all features, by data set of the curves."""
    return pd.read_csv(data_dir() / "paper" / "curve-bases.csv", index_col="dataset")


def choices(read: Callable[[str], bytes], choose: Callable[..., pd.DataFrame]) -> Choices:
    """Apply the selection rule to every published log.

    Parameters
    ----------
    read : callable
        Returns the content of a published file by its name.
    choose : callable
        The rule, `sensorprivacy.minimize.select_table`. Values are compared with six decimals, as some logs print.
    """
    found = Choices({}, {}, {})
    keys = ["features", "accuracy", "identifiability"]
    for dataset, tables in TABLES.items():
        content = read(_file(dataset))
        found.searched[dataset] = 1 + max(max(subset) for subset in log_frame(content)["features"])
        for table in tables.values():
            log = log_frame(content, KEPT.get(table))
            rule = choose(log, decimals=6)
            lines = dict(zip(log[keys].itertuples(index=False, name=None), log["line"], strict=True))
            rows = rule[keys].itertuples(index=False, name=None)
            found.picked[table] = rule.assign(line=[lines[row] for row in rows])
            found.subsets[table] = len(log)
    return found


def log_frame(content: bytes, columns: Sequence[int] | None = None) -> pd.DataFrame:
    """Return a published search log.

    Parameters
    ----------
    content : bytes
        A CSV file with the columns features (positions separated by spaces), n_features, accuracy, identifiability.
    columns : sequence of int, optional
        Use only the subsets of these columns of the data set. The log's column original_columns has the columns.

    Returns
    -------
    pandas.DataFrame
        features (tuple of int), n_features, accuracy, identifiability, line (of the file); the empty subset is left
        out.
    """
    texts = {"features": str, "original_columns": str}
    log = pd.read_csv(io.BytesIO(content), dtype=texts, keep_default_na=False)
    log["line"] = range(2, len(log) + 2)  # the first line has the names of the columns
    log = log[log["n_features"] > 0]
    if columns is not None:
        log = log[[set(map(int, text.split())) <= set(columns) for text in log["original_columns"]]]
    features = [tuple(map(int, text.split())) for text in log["features"]]
    columns_kept = ["features", "n_features", "accuracy", "identifiability", "line"]
    return log.assign(features=pd.Series(features, index=log.index, dtype=object))[columns_kept].reset_index(drop=True)


def log_matches(chosen: pd.DataFrame, table: str) -> pd.DataFrame:
    """Return for each threshold whether the choice from a log equals the printed table, cell by cell.

    Parameters
    ----------
    chosen : pandas.DataFrame
        Index threshold; columns accuracy, identifiability, n_features.
    table : str
        The printed table.

    Returns
    -------
    pandas.DataFrame
        Index threshold; columns accuracy, identifiability, features: True if equal at printed precision.
    """
    printed = printed_table(table).loc[chosen.index]
    near = {name: (chosen[name] - printed[name]).abs() <= 5e-5 + 1e-9 for name in ("accuracy", "identifiability")}
    return pd.DataFrame({**near, "features": chosen["n_features"] == printed["features"]})


def log_summary(found: Choices) -> pd.DataFrame:
    """Return for each printed table its data set, the subsets in its log, and how many cells the rule gives as printed.

    Returns
    -------
    pandas.DataFrame
        Index table; columns ``data set``, ``subsets in the log``, and, of six thresholds, accuracy, identifiability,
        features.
    """
    rows = {}
    for dataset, tables in TABLES.items():
        for table in set(tables.values()) & set(found.picked):
            cells = log_matches(found.picked[table], table).sum()
            rows[table] = {"data set": dataset, "subsets in the log": found.subsets[table], **cells}
    return pd.DataFrame({table: rows[table] for table in found.picked}).T.rename_axis("table")


def sparse_contributions(read: Callable[[str], bytes]) -> dict[str, pd.DataFrame]:
    """Return the contributions of the features of each of `SPARSE`; the parameter is that of :func:`choices`."""
    return {name: contributions(log_frame(read(_file(name)))) for name in SPARSE}


def contributions(log: pd.DataFrame) -> pd.DataFrame:
    """Return what each feature of a log adds to both players: the mean over all pairs of subsets that it alone parts.

    Parameters
    ----------
    log : pandas.DataFrame
        As :func:`log_frame` returns it.

    Returns
    -------
    pandas.DataFrame
        Index feature (its position among the searched ones); accuracy and identifiability.
    """
    measures = log[["accuracy", "identifiability"]].to_numpy()
    by_set = {frozenset(subset): values for subset, values in zip(log["features"], measures, strict=True)}
    gains = [
        (feature, *(values - by_set[subset - {feature}]))
        for subset, values in by_set.items()
        for feature in subset
        if subset - {feature} in by_set
    ]
    return pd.DataFrame(gains, columns=["feature", "accuracy", "identifiability"]).groupby("feature").mean()


def log_choices(found: Choices) -> pd.DataFrame:
    """Return every choice from the logs as a row of a table.

    Returns
    -------
    pandas.DataFrame
        table, threshold, accuracy, identifiability, n_features, file and line of the published log, undecided: a log
        without all subsets cannot show that the printed choice is wrong.
    """
    parts = []
    for dataset, tables in TABLES.items():
        for size, table in tables.items():
            chosen, whole, held = found.picked[table], 2**size - 1, found.subsets[table]
            right = log_matches(chosen, table).all(axis=1) | (held == whole)
            why = f"the authors' log holds {held:,} of {whole:,} subsets, and another one of them is chosen"
            about = {"table": table, "file": _file(dataset), "undecided": ["" if fits else why for fits in right]}
            parts.append(chosen.assign(**about).reset_index())
    columns = ["table", "threshold", "accuracy", "identifiability", "n_features", "file", "line", "undecided"]
    return pd.concat(parts, ignore_index=True)[columns]


def log_facts(protocol: pd.DataFrame) -> pd.DataFrame:
    """Return the number of features, and both players on all features, from the authors' notebooks.

    Parameters
    ----------
    protocol : pandas.DataFrame
        Facts from their notebooks: columns dataset, topic, fact.

    Returns
    -------
    pandas.DataFrame
        dataset (the word in claim ids), features, accuracy, identifiability, and the lines of ``protocol.csv`` with
        both.
    """
    keys = zip(protocol["dataset"], protocol["topic"], strict=True)
    lines = dict(zip(keys, enumerate(protocol["fact"].astype(str), 2), strict=True))
    rows = []
    for word in (SETS[dataset] for dataset in ELSEWHERE):
        (line, base), (size_line, size) = lines[word, "base"], lines[word, "rows"]
        accuracy, identifiability = re.findall(r"acc (0\.\d+), ident (0\.\d+)", base)[0]
        features = re.findall(r" x ([\d,]*\d)", size)[0].replace(",", "")
        sizes = {"dataset": word, "features": int(features), "line of features": size_line}
        players = {"accuracy": float(accuracy), "identifiability": float(identifiability), "line of accuracy": line}
        rows.append(sizes | players)
    return pd.DataFrame(rows)


def _file(dataset: str) -> str:
    return f"subsets_{SETS[dataset]}.csv"
