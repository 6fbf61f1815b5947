"""Which engine trained: read from the runs' own records, for the runs that judged something and had a choice."""

import pandas as pd
import pytest

from sensorprivacy.report import open_run
from sensorprivacy.report.engines import add_engines, engines


@pytest.fixture
def home(tmp_path, monkeypatch):
    for folder in ("notebooks", "lib", "data"):
        (tmp_path / folder).mkdir()
    monkeypatch.setenv("SENSORPRIVACY_HOME", str(tmp_path))
    return tmp_path


def verdicts_of(*rows):
    return pd.DataFrame(rows, columns=["run", "verdict"])


def ran(name, seed=3, **parameters):
    open_run(name, parameters=parameters | {"seed": seed}).close()


def test_each_run_that_judged_something_and_had_a_choice(home):
    ran("10_x", engine="shared", trees=7)
    ran("20_x")
    ran("11_x", seed=4, engine="sklearn", trees=9)
    judged = verdicts_of(
        ("11_x", "exact"), ("10_x", "differs"), ("20_x", "exact"), ("10_x", "no data"), ("10_x", "within"),
        ("12_x", "no data"),
    )  # fmt: skip
    assert engines(judged, "quick").to_numpy().tolist() == [["11_x", 1, "sklearn", 9, 4], ["10_x", 2, "shared", 7, 3]]


def test_a_run_without_its_record_is_an_error(home):
    with pytest.raises(FileNotFoundError, match="10_x"):
        engines(verdicts_of(("10_x", "exact")), "quick")


def test_the_page_keeps_what_it_said_and_names_the_engines(home):
    page = home / "page.md"
    page.write_text("# Replication\n")
    add_engines(page, engines(verdicts_of(("12_x", "no data")), "quick"))
    assert page.read_text() == "# Replication\n"
    ran("10_x", engine="shared", trees=7)
    add_engines(page, engines(verdicts_of(("10_x", "exact")), "quick"))
    assert page.read_text().startswith("# Replication\n\n## Engines\n")
    assert [cell.strip() for cell in page.read_text().splitlines()[-1].split("|")[1:-1]] == [
        "10_x", "1", "shared", "7", "3",
    ]  # fmt: skip
