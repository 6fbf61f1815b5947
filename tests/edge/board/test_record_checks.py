"""Values that no measurement gives are refused when a record is read."""

import copy

import pytest

from sensorprivacy.edge.board import measurement
from sensorprivacy.edge.board.measurement import check_record


@pytest.fixture(scope="module")
def measured(bundle):
    return measurement.measure(bundle.folder, batches=(1, 2), seconds=0.02)


@pytest.fixture
def record(measured):
    return copy.deepcopy(measured)


def test_a_measured_record_passes(record):
    check_record(record)


def every_time(record, change):
    """Change all times of a record."""
    for bundle in record["bundles"]:
        for row in (*bundle["steps"], *bundle["load"], bundle["window"]):
            row |= {name: change(row[name]) for name in ("median", "p95", "p99", "mean", "least", "cpu") if name in row}


def first(record):
    return record["bundles"][0]["steps"][0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda record: every_time(record, lambda took: -took), r"sines-gender, public, batch 1: least is -"),
        (lambda record: first(record).update(median=0), "median is 0: give seconds above 0"),
        (lambda record: first(record).update(p99=float("nan")), "p99 is nan: give seconds above 0"),
        (lambda record: first(record).update(cpu="1 ms"), "cpu is '1 ms': give seconds"),
        (lambda record: first(record).update(median=True), "median is True: give seconds"),
        (lambda record: first(record).update(least=9.0), "least, median, p95 and p99 are not in ascending order"),
        (lambda record: record["bundles"][0]["window"].update(p99=-1.0), "whole windows: p99 is -1"),
        (lambda record: record["bundles"][0]["load"][0].update(median=-1.0), "load of public: median is -1"),
        (lambda record: record["bundles"][0].update(budget=0), "budget is 0"),
        (lambda record: first(record).update(batch=0), "batch is 0: give a whole number above 0"),
        (lambda record: first(record).pop("p95"), "lacks 'p95'"),
        (lambda record: record["bundles"][0]["networks"].pop(), "the networks are not those of the steps"),
        (lambda record: record["bundles"].append(record["bundles"][0]), "two bundles have the name sines-gender"),
        (lambda record: record.update(bundles=[]), "holds no bundle"),
        (lambda record: record.update(hardware=[]), "a part has another form"),
        (lambda record: record["settings"].pop("threads"), "lacks 'threads'"),
        (lambda record: record.update(memory=-5), "memory is -5"),
        (lambda record: every_time(record, lambda took: took * 1000), "are the times in seconds"),
        (lambda record: every_time(record, lambda took: took / 1000), "are the times in seconds"),
    ],
)
def test_nonsense_is_refused(record, tmp_path, change, message):
    change(record)
    path = measurement.write_record(record, tmp_path / "pi.json")
    with pytest.raises(measurement.RecordError, match=message) as refused:
        measurement.read_record(path)
    assert str(refused.value).startswith(f"{path}: ")
    assert str(refused.value).endswith(": measure again")
