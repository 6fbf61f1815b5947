"""Records become tables."""

import runpy
from pathlib import Path

import pytest

from compendium.papers.paper3 import edge_tables
from compendium.papers.paper3.edge_tables import lower_bound
from sensorprivacy.edge.board.measurement import measure

_FIXTURES = runpy.run_path(str(Path(__file__).parents[3] / "edge" / "conftest.py"))
windows, anonymizer, bundle = (_FIXTURES[name] for name in ("windows", "anonymizer", "bundle"))


@pytest.fixture(scope="module")
def record(bundle):
    return measure(bundle.folder, batches=(1, 4), seconds=0.001)


def test_steps_are_in_seconds_per_window_with_the_bound(record):
    frame = edge_tables.steps_table(record)
    (bundle,) = record["bundles"]
    assert len(frame) == len(bundle["steps"])
    four = frame[(frame["row"] == "encoder-1") & (frame["batch"] == 4)].iloc[0]
    (timed,) = [each for each in bundle["steps"] if (each["step"], each["code"], each["batch"]) == ("encoder", 1, 4)]
    assert four["median"] == timed["median"] / 4
    assert four["bound"] == lower_bound(four, 4, cores=4)
    rows = {"activity", "gender", "transformation"} | {f"{end}coder-{code}" for end in ("en", "de") for code in (0, 1)}
    assert set(frame["row"]) == rows


def test_the_papers_rows_are_found_by_bundle_and_batch_size(record):
    (bundle,) = record["bundles"]
    renamed = record | {"bundles": [bundle | {"name": "motionsense-gender"}]}
    assert edge_tables.paper_rows(renamed).empty  # not timed at the paper's batch size
    steps = [each | {"batch": 256} for each in bundle["steps"] if each["batch"] == 4]
    found = edge_tables.paper_rows(record | {"bundles": [bundle | {"name": "motionsense-gender", "steps": steps}]})
    assert found["row"].tolist() == ["activity", "gender", "encoder-0", "encoder-1", "decoder-0", "decoder-1"]
    # a record has the codes of sorted names: of dws, jog, ups, wlk the second is the paper's fourth
    paper = bundle | {"name": "motionsense-gender", "dataset": "motionsense", "steps": steps}
    found = edge_tables.paper_rows(record | {"bundles": [paper]})
    assert found["row"].tolist() == ["activity", "gender", "encoder-0", "encoder-3", "decoder-0", "decoder-3"]
    assert found["code"].dropna().tolist() == [0, 1, 0, 1]
    worst = edge_tables.worst_case(found, "median")["4"]
    by = found.set_index("row")["median"]
    slow = max(by["encoder-0"], by["encoder-3"]) + max(by["decoder-0"], by["decoder-3"])
    assert worst == pytest.approx(by["activity"] + by["gender"] + slow)


def test_steps_of_all_machines_in_microseconds(record):
    found, steps = edge_tables.all_steps({"here": record, "there": record}), edge_tables.steps_table(record)
    assert found["machine"].tolist() == ["here"] * len(steps) + ["there"] * len(steps)
    assert found["median_us"].tolist() == pytest.approx([1e6 * value for value in steps["median"]] * 2)
    assert found["load_ms"].iloc[0] == pytest.approx(1000 * steps["load"].iloc[0])


def test_windows_and_hardware_by_machine(record):
    found = edge_tables.windows_table({"here": record, "there": record})
    assert found["machine"].tolist() == ["here", "there"]
    assert found["label"].tolist() == ["here, sines-gender", "there, sines-gender"]
    assert found["share_of_budget"].iloc[0] == pytest.approx(found["p99_ms"].iloc[0] / 160)
    assert edge_tables.hardware_table({"here": record}).loc["here", "cores"] >= 1


def test_totals_and_shares_of_the_budget(record):
    steps = edge_tables.steps_table(record).query("batch == 1")
    totals = edge_tables.step_totals(steps, "median")
    assert totals["encoder"] == pytest.approx(1000 * steps[steps["step"] == "encoder"]["median"].max())
    assert set(totals.index) == {"public inference", "private inference", "encoder", "transformation", "decoder"}
    (bundle,) = record["bundles"]
    slow = record | {"bundles": [bundle | {"window": {"p99": 1.0}}]}
    assert edge_tables.budget_shares({"here": record, "there": slow})["sines"] == pytest.approx(1 / bundle["budget"])
    none = record | {"bundles": [bundle | {"window": {"p99": 0.0}}]}
    largest = {step: max(n["weights"] for n in bundle["networks"] if n["step"] == step) for step in
               ("public", "private", "encoder", "transformation", "decoder")}  # fmt: skip
    waits = sum(4 * weights / 3.6e9 for name, weights in largest.items() if name != "transformation")
    assert edge_tables.budget_shares({"x": none})["sines"] == pytest.approx(waits / bundle["budget"], rel=1e-3)


def test_the_papers_worst_case():
    from compendium.papers.paper3.edge_values import printed_steps

    worst = 1000 * edge_tables.worst_case(printed_steps(), "printed")
    # sums by hand of the printed milliseconds, sections 6.1 to 6.3
    assert worst.round(3).to_dict() == {"4": 3.741, "5": 63.461, "6": 67.886, "7": 26.426}


def test_where_time_goes_has_the_printed_tables_ours_and_the_bound(record):
    from compendium.papers.paper3.edge_values import printed_steps

    steps = edge_tables.steps_table(record).assign(batch=lambda frame: frame["batch"].replace(4, 256))
    found = edge_tables.time_shares(printed_steps(), steps, "sines")
    assert len(found) == 6
    assert found.loc["Pi 3 as printed, Table 5", "encoder"] == pytest.approx(41.5829)
    assert found.loc["Pi 3 as printed, Table 5", "transformation"] == 0
    assert (found.iloc[3:] > 0).all().all()
