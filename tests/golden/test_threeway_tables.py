"""The printed tables of the three-way paper, recomputed from the real data: how many cells come out, and which do not.

A cell comes out if it differs from the printed value by at most half a unit of the last printed decimal. The printed
values are read from data/paper/paper-2.csv.
"""

import re

import pandas as pd
import pytest

from compendium.datasets import table
from compendium.readers.tabular import paper_names
from sensorprivacy.threeway import Appraiser, find_thresholds

SETS = {"titanic": 9, "adult": 10, "bank": 11, "heart": 12, "student": 13}
TITLES = {
    "titanic": "Titanic",
    "adult": "Adult",
    "bank": "Bank Marketing",
    "heart": "Heart Disease",
    "student": "Student Performance",
}
DETERMINED = {
    "titanic": (0.95, 0.05),
    "adult": (0.95, 0.05),
    "bank": (0.95, 0.15),
    "heart": (0.95, 0.2),
    "student": (0.7, 0.25),
}
MEASURES = {
    "Sen": "sensitive",
    "Non-Sen": "non_sensitive",
    "Amb": "ambiguous",
    "Utility": "utility",
    "Stability": "stability",
    "Suitability": "suitability",
}


@pytest.fixture(scope="module")
def printed(root):
    frame = pd.read_csv(root / "data" / "paper" / "paper-2.csv", dtype={"table": str})
    return dict(iter(frame.groupby("table")))


def agrees(ours, cell):
    return abs(ours - cell.value) <= 0.5 * 10.0**-cell.decimals + 1e-12


def pair(text):
    return tuple(float(number) for number in re.findall(r"[\d.]+", text))


def named(name, rows="as_printed", **options):
    frame = table(name, rows, **options)
    return frame.rename(columns=paper_names(name, frame))


def missed_entropies(cells, frame):
    evaluation = Appraiser(frame).evaluation.rename(str.casefold)
    return {cell.row for cell in cells.itertuples() if not agrees(evaluation[cell.row.casefold()], cell)}


def missed_measures(cells, appraiser, thresholds=pair):
    missed = set()
    for cell in cells.itertuples():
        found = appraiser.table([thresholds(cell.row)]).iloc[0]
        if not agrees(found[MEASURES[cell.column]], cell):
            missed.add((cell.row, cell.column))
    return missed


def test_table_2_as_printed_and_mended(printed):
    assert len(printed["2"]) == 12
    assert missed_entropies(printed["2"], table("sample")) == {"Occupation"}
    assert missed_entropies(printed["2"], table("sample", mend=True)) == set()


def test_table_3_nine_of_eighteen(printed):
    """The first three rows cannot be: at (.5, .5) nothing is ambiguous, so stability is 0, not .17."""
    cells = printed["3"]
    appraiser = Appraiser(table("sample", mend=True))
    assert len(cells) == 18
    missed = missed_measures(cells, appraiser)
    first = ("(0.5, 0.5)", "(0.6, 0.4)", "(0.7, 0.3)")
    assert missed == {(row, column) for row in first for column in ("Utility", "Stability", "Suitability")}
    rows = appraiser.table([(0.5, 0.5), (0.6, 0.4), (0.7, 0.3), (0.8, 0.2), (0.9, 0.1), (1, 0)])
    assert rows["utility"][:3].round(2).tolist() == [0.54, 0.61, 0.84]
    assert rows["stability"][:3].tolist() == pytest.approx([0, 6 / 84, 21 / 120])
    assert rows["suitability"][:3].round(2).tolist() == [0, 0.13, 0.30]
    assert rows["suitability"].idxmax() == 2, "(.7, .3) stays the best, as the paper says"


def test_table_7_all_twelve(printed, mirror):
    assert len(printed["7"]) == 12
    assert missed_entropies(printed["7"], named("titanic")) == set()


def test_table_8_eleven_of_fifteen(printed, mirror):
    assert len(printed["8"]) == 15
    assert missed_entropies(printed["8"], named("adult")) == {"Age", "Education", "Education-num", "Country"}


@pytest.mark.parametrize("name", SETS)
def test_tables_9_to_13(name, printed, mirror):
    cells = printed[str(SETS[name])]
    assert len(cells) == 30
    missed = missed_measures(cells, Appraiser(table(name)))
    # Bank's .59 is .5952 by the same formula that gives every other cell
    assert missed == ({("(0.50, 0.50)", "Utility"), ("(0.50, 0.45)", "Utility")} if name == "bank" else set())


def test_table_14_all_fifteen_groups(printed, mirror):
    cells = printed["14"]
    assert len(cells) == 15
    for name, title in TITLES.items():
        for search in ("alternate", "tabu"):
            division = find_thresholds(Appraiser(named(name)), search=search).appraisal.division
            ours = {"Sensitive": division.sensitive, "Non-Sensitive": division.non_sensitive}
            ours["Ambiguous"] = division.ambiguous
            rows = cells[cells["row"].str.casefold() == title.casefold()]
            assert len(rows) == 3
            for cell in rows.itertuples():
                # the paper's Table 14 misspells Marital
                names = cell.printed.strip("{}").replace("Martial", "Marital").split(",")
                theirs = {part.strip().casefold() for part in names}
                assert {str(part).casefold() for part in ours[cell.column]} == theirs, (name, search, cell.column)


def test_table_15_forty_three_of_forty_five(printed, mirror):
    cells = printed["15"]
    assert len(cells) == 45
    missed = set()
    for name, title in TITLES.items():
        rows = cells[cells["row"].str.startswith(title)]
        assert len(rows) == 9

        def thresholds(row, name=name):
            return pair(row) if len(pair(row)) == 2 else DETERMINED[name]

        missed |= missed_measures(rows, Appraiser(table(name)), thresholds)
    # Bank's .59 is .5952, Heart's .91 is .9036
    assert missed == {("Bank Marketing (0.5, 0.5)", "Utility"), ("Heart Disease (1, 0)", "Utility")}


@pytest.mark.parametrize(
    ("search", "on_the_way", "other_end"),
    [("alternate", 24, {"student": (0.95, 0.25)}), ("tabu", 25, {"bank": (0.9, 0.15)})],
)
def test_the_searches_behind_the_printed_traces(search, on_the_way, other_end, printed, mirror):
    """How many printed rows lie on each rule's way, and where it ends if not on the printed thresholds."""
    seen, ends = 0, {}
    for name, number in SETS.items():
        found = find_thresholds(Appraiser(table(name)), search=search)
        way = {(row.alpha, row.beta) for row in found.trace[found.trace["accepted"]].itertuples()}
        seen += sum(pair(row) in way for row in printed[str(number)]["row"].unique())
        if (found.alpha, found.beta) != DETERMINED[name]:
            ends[name] = (found.alpha, found.beta)
    assert seen == on_the_way
    assert ends == other_end


def test_algorithm_1_as_written_never_ends_on_any_of_the_five(mirror):
    for name in SETS:
        appraiser = Appraiser(table(name))
        assert find_thresholds(appraiser, search="literal").stopped.startswith("cycle")
        assert 1 <= find_thresholds(appraiser, search="strict").iterations <= 6


def test_adult_as_stated(mirror):
    """On the 48,842 rows that Table 4 claims the algorithm gains no utility."""
    appraiser = Appraiser(table("adult", "as_stated"))
    assert len(table("adult", "as_stated")) == 48842
    start = appraiser.at(0.5, 0.5)
    found = find_thresholds(appraiser)
    assert start.division.sizes == (1, 14, 0)
    assert (found.alpha, found.beta) == (0.95, 0.05)
    assert found.appraisal.division.sizes == (1, 6, 8)
    ends = found.appraisal
    assert (round(start.utility, 2), round(ends.utility, 2)) == (0.71, 0.71)
    assert (round(ends.stability, 2), round(ends.suitability, 2)) == (0.23, 0.35)


@pytest.mark.parametrize(
    ("name", "n", "thresholds", "sizes", "values"),
    [
        ("bank", 45211, (0.95, 0.10), (1, 7, 9), (0.82, 0.23, 0.36)),
        ("heart", 720, (0.95, 0.15), (1, 6, 7), (0.89, 0.23, 0.37)),
    ],
)
def test_bank_and_heart_as_stated(name, n, thresholds, sizes, values, mirror):
    frame = table(name, "as_stated")
    assert len(frame) == n
    found = find_thresholds(Appraiser(frame))
    assert (found.alpha, found.beta) == thresholds
    assert found.appraisal.division.sizes == sizes
    ours = (found.appraisal.utility, found.appraisal.stability, found.appraisal.suitability)
    assert tuple(round(value, 2) for value in ours) == values


def test_joint_entropy_saturates_on_titanic(mirror):
    """Eq. (10) as the paper states it does not give the paper's numbers."""
    rows = Appraiser(table("titanic"), "as_stated").table([(0.5, 0.5), (0.95, 0.05), (1, 0)])
    assert rows["utility"].round(3).tolist() == [0.882, 0.996, 1.0]
