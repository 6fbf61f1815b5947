"""All sets by name: options, your own tables and folders."""

import pkgutil

import numpy as np
import pandas as pd
import pytest

from compendium import datasets
from compendium.datasets import UnknownDatasetError, problem, registry, windows


@pytest.fixture
def fresh(tmp_path, monkeypatch):
    """Nothing derived before: what is tested is what the readers make now."""
    monkeypatch.setattr("compendium.readers.cache.cache_folder", lambda: tmp_path / "fresh")
    return tmp_path / "fresh" / "derived"


@pytest.mark.slow
def test_three_forms_of_iot_sentinel(mirror, fresh):
    packets = problem("iot-sentinel")
    assert (packets.n_records, packets.n_features) == (186_318, 22)
    assert (packets.task.nunique(), packets.users.nunique(), packets.groups.nunique()) == (31, 426, 550)
    flows = problem("iot-sentinel-flows")
    bits = problem("iot-sentinel-bits")
    assert (flows.n_features, flows.users.nunique()) == (36, 3)
    # the same records in both, so that dense and sparse features can be compared
    assert flows.n_records == bits.n_records == 14_726
    for labels in ("task", "users", "groups"):
        assert getattr(flows, labels).equals(getattr(bits, labels))
    assert bits.n_features > 1_000
    assert set(np.unique(bits.features)) == {-1, 0, 1}
    assert (bits.features.min() < bits.features.max()).all()
    assert len(list(fresh.iterdir())) == 3
    again = problem("iot-sentinel-flows", users="capture")
    assert len(list(fresh.iterdir())) == 3  # another label is no other table
    assert again.users.nunique() == 550
    assert again.groups is None
    assert again.provenance["digest"] == flows.provenance["digest"]


@pytest.mark.slow
def test_a_progress_bar_for_the_captures(mirror, fresh, capsys, terminal):
    problem("iot-sentinel-flows")
    assert "550/550" in capsys.readouterr().err
    problem("iot-sentinel-flows")
    assert "IoT Sentinel" not in capsys.readouterr().err


@pytest.mark.slow
def test_dense_statistics_of_motionsense(mirror, fresh):
    found = problem("motionsense", length=256, stride=512)
    assert (found.n_features, found.task.nunique(), found.users.nunique()) == (135, 6, 24)
    assert found.groups.nunique() == 360
    assert found.provenance["stride"] == 512


@pytest.mark.slow
def test_windows_of_motionsense(mirror):
    found = windows("motionsense", channels="raw", stride=500, windowing="file", activities=["jog"])
    assert found.values.shape[1:] == (6, 128)
    assert set(found.public) == {"jog"}
    assert set(found.private["gender"]) == {"male", "female"}
    assert found.provenance["set"] == "motionsense"


def test_cic_and_iot_23(mirror):
    assert problem("cic-ids-2017").n_features == 74
    found = problem("iot-23", captures=["8-1", "4-1"])
    assert found.groups.unique().tolist() == ["8-1", "4-1"]


def test_every_reader_documents_itself():
    for reader in [*datasets.PROBLEMS.values(), *datasets.WINDOWS.values(), *registry.TABLES.values()]:
        assert pkgutil.resolve_name(reader).__doc__


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: problem("iot-23", capture=["4-1"]),
            r"iot-23 has no option 'capture'\. Did you mean 'captures'\? Options: ",
        ),
        (lambda: problem("cic-ids-2017", seed=1), r"has no option 'seed'\. Options: "),
        (lambda: problem("x.csv", task="a"), "your own table needs user"),
        (lambda: windows("smartwatch", path="x"), "smartwatch has no option 'path'"),
        (lambda: windows("motionsense", strid=2), "Did you mean 'stride'"),
    ],
)
def test_unknown_options_are_named(call, words):
    with pytest.raises(TypeError, match=words):
        call()


def test_unknown_names():
    with pytest.raises(UnknownDatasetError, match="Did you mean 'iot-sentinel'"):
        problem("iot-sentinal")
    with pytest.raises(UnknownDatasetError, match="Known: motionsense, smartwatch"):
        windows("adult")


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("iot-sentinel", {"users": "device"}, "users 'device' is unknown, one of address, subnet, person, capture"),
        ("iot-sentinel-bits", {"constant": "maybe"}, "constant 'maybe' is unknown, one of drop, keep"),
    ],
)
def test_unknown_values_are_named(name, options, words):
    with pytest.raises(ValueError, match=words):
        problem(name, **options)


@pytest.fixture
def table():
    return pd.DataFrame(
        {
            "rate": [1.5, 2.5, 3.5, 4.5] * 4,
            "kind": ["b", "a", None, "b"] * 3 + ["a", "b", "a", None],
            "on": [True, False, True, True] * 3 + [False, True, True, False],
            "what": ["tv", "tv", "fan", "fan"] * 4,
            "who": [1, 2, 1, 2] * 2 + [2, 1, 2, 1] * 2,
            "day": ["m", "t"] * 8,
        }
    )


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_table_of_ones_own(tmp_path, table, suffix):
    path = tmp_path / f"home.{suffix}"
    table.to_csv(path, index=False) if suffix == "csv" else table.to_parquet(path)
    found = problem(str(path), task="what", user="who", groups="day")
    numbers = found.features.to_dict("list")  # a missing text is a category of its own
    assert set(numbers) == {"rate", "kind", "on"}
    assert numbers["rate"] == table["rate"].tolist()
    assert (numbers["kind"][:4], numbers["on"][:4]) == ([2, 1, 0, 2], [1, 0, 1, 1])
    assert (found.task.tolist(), found.users.tolist()) == (table["what"].tolist(), table["who"].astype(str).tolist())
    assert found.groups.tolist() == table["day"].tolist()
    assert found.name == "data"
    assert found.provenance["coded"] == ["kind", "on"]
    assert problem(path, task="what", user="who").features.shape == (16, 3)


def test_roles_of_a_table(tmp_path, table):
    path = tmp_path / "home.csv"
    table.to_csv(path, index=False)
    with pytest.raises(ValueError, match=r"home\.csv has no column 'whom'; it has rate, kind"):
        problem(path, task="what", user="whom")
    with pytest.raises(ValueError, match="must be different columns, got 'who', 'who'"):
        problem(path, task="who", user="who")
    with pytest.raises(FileNotFoundError):
        problem(tmp_path / "none.csv", task="a", user="b")


def test_options_that_a_notebook_leaves_empty_are_not_given(monkeypatch):
    given = {}
    monkeypatch.setattr("compendium.datasets.registry._load", lambda reader, name, options: given.update(options))
    problem("iot-23", task=None, keep=[], users="person")
    assert given == {"users": "person"}
