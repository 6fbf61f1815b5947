"""Values that no measurement gives are refused when a record is read."""

import copy
import json
import runpy
from pathlib import Path

import pytest

from compendium.papers.paper3.records import RecordError, read_record, read_records
from sensorprivacy.edge.board import measurement

_FIXTURES = runpy.run_path(str(Path(__file__).parents[3] / "edge" / "conftest.py"))
windows, anonymizer, bundle = (_FIXTURES[name] for name in ("windows", "anonymizer", "bundle"))


@pytest.fixture(scope="module")
def measured(bundle):
    return measurement.measure(bundle.folder, batches=(1, 2), seconds=0.02)


@pytest.fixture
def record(measured):
    return copy.deepcopy(measured)


def test_reading_a_record_returns_what_was_written(record, tmp_path):
    path = measurement.write_record(record, tmp_path / "deep" / "here.json")
    assert read_records([path]) == {"here": record}
    with pytest.raises(RecordError, match="two records have the name here"):
        read_records([path, path])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "damaged or not JSON"),
        ("[]", "is not a record of `edge measure`"),
        ('{"format": "sensorprivacy-edge-record", "version": 9}', "has version 9, expected 1: measure again"),
        ('{"format": "sensorprivacy-edge-record", "version": 1}', "settings: Field required: measure again"),
    ],
)
def test_other_files_are_refused(tmp_path, text, message):
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(RecordError, match=message):
        read_record(path)
    with pytest.raises(FileNotFoundError, match=r"run `sensorprivacy edge measure --out y\.json`"):
        read_record(tmp_path / "y.json")


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
        (
            lambda record: every_time(record, lambda took: -took),
            r"0, least: .* than 0, got -",
        ),
        (lambda record: first(record).update(median=0), "median: .* greater than 0, got 0"),
        (lambda record: first(record).update(p99=float("nan")), "p99: .* finite number, got nan"),
        (lambda record: first(record).update(cpu="1 ms"), "cpu: .* valid number, got '1 ms'"),
        (lambda record: first(record).update(median=True), "median: .* valid number, got True"),
        (lambda record: first(record).update(least=9.0), "least, median, p95 and p99 are not in ascending order"),
        (lambda record: record["bundles"][0]["window"].update(p99=-1.0), "window, p99: .* greater than 0, got -1"),
        (
            lambda record: record["bundles"][0]["load"][0].update(median=-1.0),
            "load, 0, median: .* than 0, got -1",
        ),
        (lambda record: record["bundles"][0].update(budget=0), "budget: .* greater than 0, got 0"),
        (lambda record: first(record).update(batch=0), "batch: .* greater than 0, got 0"),
        (lambda record: first(record).pop("p95"), "p95: Field required"),
        (lambda record: record["bundles"][0]["networks"].pop(), "the networks are not those of the steps"),
        (lambda record: record["bundles"].append(record["bundles"][0]), "two bundles have the name sines-gender"),
        (lambda record: record.update(bundles=[]), "bundles: .* at least 1 item"),
        (lambda record: record.update(hardware=[]), "hardware: "),
        (lambda record: record["settings"].pop("threads"), "settings, threads: Field required"),
        (lambda record: record.update(memory=-5), "memory: .* greater than 0, got -5"),
        (lambda record: every_time(record, lambda took: took * 1000), "are the times in seconds"),
        (lambda record: every_time(record, lambda took: took / 1000), "are the times in seconds"),
    ],
)
def test_nonsense_is_refused(record, tmp_path, change, message):
    change(record)
    path = tmp_path / "pi.json"
    path.write_text(json.dumps(record))
    with pytest.raises(RecordError, match=message) as refused:
        read_record(path)
    assert str(refused.value).startswith(f"{path}: ")
    assert str(refused.value).endswith(": measure again")
