"""Measure how much the choice of the rows flatters a selection."""

import pandas as pd

from sensorprivacy.minimize.search.exhaustive import SearchResult
from sensorprivacy.minimize.select import THRESHOLDS, select_table

_SIGNS = {"accuracy": 1, "identifiability": -1}


def optimism_table(on_validation: SearchResult, on_test: SearchResult) -> pd.DataFrame:
    """Compare the subsets chosen on test rows with those chosen on validation rows, both evaluated on test rows.

    The paper chooses its subsets on the rows that it reports. The best of many noisy numbers is too good. The
    difference between the two choices shows by how much.

    Parameters
    ----------
    on_validation, on_test : SearchResult
        The same search, evaluated on the validation rows and on the test rows of one split.

    Returns
    -------
    pandas.DataFrame
        Index threshold. Columns: accuracy and identifiability on test rows of the subset chosen on test rows and of
        the subset chosen on validation rows; ``optimism``: how much better the first looks, positive in both measures.

    Raises
    ------
    ValueError
        If the searches differ in their split or subsets, or were evaluated on other rows.
    """
    parts = on_validation.key.part, on_test.key.part
    if parts != ("validation", "test") or on_validation.key.split != on_test.key.split:
        raise ValueError(f"searches on {parts} rows: pass one on validation, then one on test rows of the same split")
    test = on_test.table.set_index("features")[list(_SIGNS)]
    if set(on_validation.table["features"]) != set(test.index):
        raise ValueError("the two searches have different subsets: search the same features on both parts")
    table = pd.DataFrame(index=pd.Index(THRESHOLDS, name="threshold"))
    for part, searched in (("test", on_test), ("validation", on_validation)):
        rows = test.loc[select_table(searched.table)["features"].tolist()]
        for name in _SIGNS:
            table[f"{name}, chosen on {part} rows"] = rows[name].to_numpy()
    for name, sign in _SIGNS.items():
        gap = table[f"{name}, chosen on test rows"] - table[f"{name}, chosen on validation rows"]
        table[f"optimism, {name}"] = sign * gap
    return table
