"""MotionSense and the smartwatch: counts of the real sets, windows, dense statistics."""

import io
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from compendium.datasets import DataUnavailableError, store
from compendium.readers.motion import (
    AXES,
    Recordings,
    cut_windows,
    dense_statistics,
    magnitudes,
    statistics_problem,
)
from compendium.readers.motionsense import ACTIVITIES, WALKING, motionsense_counts, read_motionsense
from compendium.readers.smartwatch import EXERCISES, read_smartwatch

PRINTED = {"dws": 1947, "ups": 2495, "wlk": 6225, "jog": 2686}  # Table 1's 1.9k, 2.5k, 6.2k, 2.7k
BY_FILE = {"dws": 1955, "ups": 2505, "wlk": 6232, "jog": 2696}
_READ: dict[str, Recordings] = {}


class Files:
    """Files in memory."""

    def __init__(self, files):
        self.files = files
        self.members = tuple(files)

    def read(self, member):
        return self.files[member]

    def open(self, member):
        return io.BytesIO(self.files[member])


@pytest.fixture
def phone(mirror):
    if "phone" not in _READ:
        _READ["phone"] = read_motionsense(store.fetch("motionsense"))
    return _READ["phone"]


@pytest.fixture
def watch():
    if "watch" not in _READ:
        try:
            _READ["watch"] = read_smartwatch(store.fetch("smartwatch"))
        except DataUnavailableError as error:
            pytest.skip(f"needs the package index: {error}")
    return _READ["watch"]


def test_counts_of_motionsense(phone):
    assert phone.signal.shape == (1_412_865, 6)
    assert len(phone.table) == 360
    assert phone.table["subject"].nunique() == 24
    assert set(phone.table["activity"]) == set(ACTIVITIES)
    assert phone.table.groupby("subject").size().eq(15).all()
    assert phone.private.groupby(phone.table["subject"])["gender"].first().value_counts().to_dict() == {
        "male": 14,
        "female": 10,
    }
    assert np.isfinite(phone.signal).all()


def test_signal_is_what_the_file_says(phone):
    located = store.fetch("motionsense")
    member = next(name for name in located.members if name.endswith("wlk_15/sub_7.csv"))
    file = pd.read_csv(io.BytesIO(located.read(member)))
    at = phone.table.index[(phone.table["subject"] == 7) & (phone.table["trial"] == 15)][0]
    found = phone.signal[phone.recording == at]
    turn = file[["rotationRate.x", "rotationRate.y", "rotationRate.z"]].to_numpy()
    np.testing.assert_allclose(found[:, :3], turn, rtol=1e-6)
    np.testing.assert_allclose(found[:, 4], file["userAcceleration.y"] + file["gravity.y"], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(magnitudes(found)[:, 0], np.sqrt((turn**2).sum(axis=1)), rtol=1e-5)


@pytest.mark.parametrize(("windowing", "counts"), [("authors", PRINTED), ("file", BY_FILE)])
def test_windows_of_paper_3(phone, windowing, counts):
    windows = cut_windows(phone.of(WALKING), windowing=windowing)
    test = windows.trial >= 11
    assert windows.public[test].value_counts().to_dict() == counts
    assert windows.values.shape[1:] == (2, 128)
    assert windows.provenance["channels"] == ["rotation", "acceleration"]
    if windowing == "file":
        assert (~test).sum() == 60_132
        assert windows.private.columns.tolist() == ["gender", "weight"]


def test_raw_windows_hold_the_six_axes(phone):
    sitting = phone.of(["sit"])
    windows = cut_windows(sitting, "raw", length=100, stride=50, windowing="file")
    np.testing.assert_array_equal(windows.values[0], sitting.signal[:100].T)
    assert windows.provenance["channels"] == list(AXES)
    assert set(windows.trial) == {5, 13}


def test_counts_of_the_smartwatch(watch):
    assert len(watch.table) == 140
    assert watch.table["subject"].nunique() == 10
    assert set(watch.table["activity"]) == set(EXERCISES)
    assert not watch.table.assign(side=watch.private["side"]).duplicated(["subject", "activity", "side"]).any()
    sizes = np.bincount(watch.recording)
    assert (sizes.min(), sizes.max()) == (947, 2618)
    table = dense_statistics(watch, 100, 50)
    assert table.shape == (4_677, 135 + 3)
    assert np.isfinite(table.iloc[:, :135]).all(axis=None)
    # at rest and in slow exercise an accelerometer measures about 1 g, on which its unit can be told
    assert np.median(magnitudes(watch.signal)[:, 1]) == pytest.approx(1, abs=0.1)


def toy(rng=None):
    rng = np.random.default_rng(2) if rng is None else rng
    table = pd.DataFrame(
        {
            "name": ["one", "two", "three"],
            "activity": ["sit", "run", "sit"],
            "subject": [1, 1, 2],
            "trial": [1, 2, 1],
        }
    )
    private = pd.DataFrame({"gender": ["f", "f", "m"]})
    return Recordings(
        rng.normal(size=(60, 6)).astype(np.float32), np.repeat([0, 1, 2], [25, 9, 26]), table, private, "toy"
    )


def test_dense_statistics_become_a_game(machine):
    table = dense_statistics(toy(), length=10, stride=5)
    assert table["label_recording"].value_counts().to_dict() == {"one": 4, "three": 4}
    problem = statistics_problem(SimpleNamespace(digest="toy"), "toy", toy, 10, 5)
    assert (problem.n_records, problem.n_features) == (8, 135)
    assert problem.task.tolist() == ["sit"] * 8
    assert problem.users.tolist() == [1] * 4 + [2] * 4
    assert problem.groups.tolist() == ["one"] * 4 + ["three"] * 4
    signal = toy().signal
    assert problem.features["rotation_y_mean"][1] == pytest.approx(signal[5:15, 1].mean(), rel=1e-5)
    wanted = np.corrcoef(signal[34:44, 2], signal[34:44, 3])[0, 1]
    assert problem.features["correlation_rotation_z_acceleration_x"][4] == pytest.approx(wanted, rel=1e-5)


def test_windows_carry_the_labels_of_their_recording():
    windows = cut_windows(toy(), "raw", length=10, stride=5, windowing="file", provenance={"digest": "x"})
    assert windows.subject.tolist() == [1] * 4 + [2] * 4
    assert windows.private["gender"].tolist() == ["f"] * 4 + ["m"] * 4
    assert windows.provenance["digest"] == "x"
    assert windows.provenance["activities"] == ["run", "sit"]


def test_choosing_activities():
    chosen = toy().of(["run"])
    assert len(chosen.signal) == 9
    assert chosen.recording.tolist() == [0] * 9
    assert chosen.private["gender"].tolist() == ["f"]
    with pytest.raises(ValueError, match="toy has no activity fly; it has run, sit"):
        toy().of(["sit", "fly"])


def test_bad_choices_are_named():
    with pytest.raises(ValueError, match="channels 'all' is unknown, one of magnitude, raw"):
        cut_windows(toy(), "all")
    with pytest.raises(ValueError, match="no recording of toy has 500 samples"):
        cut_windows(toy(), length=500)


PEOPLE = b"\xef\xbb\xbfcode,weight,height,age,gender\n1,102,188,46,1\n2,70,180,28,0\n"
HEADER = "," + ",".join(
    f"{sensor}.{axis}"
    for sensor, axes in (
        ("attitude", ("roll", "pitch", "yaw")),
        *((s, "xyz") for s in ("gravity", "rotationRate", "userAcceleration")),
    )
    for axis in axes
)
ROW = "0," + ",".join(str(value) for value in range(12))


def phone_files(**changes):
    file = f"{HEADER}\n{ROW}\n{ROW}\n".encode()
    files = {
        "A/sit_5/sub_2.csv": file,
        "A/dws_1/sub_1.csv": file,
        "A/dws_1/sub_2.csv": file,
        "data_subjects_info.csv": PEOPLE,
    }
    return Files({**files, **changes})


def test_motionsense_from_small_files():
    found = read_motionsense(phone_files())
    assert found.table["name"].tolist() == ["sub_1-dws_1", "sub_2-dws_1", "sub_2-sit_5"]
    assert found.private["gender"].tolist() == ["male", "female", "female"]
    assert found.private["weight"].tolist() == ["> 90", "<= 70", "<= 70"]
    # attitude 0-2, gravity 3-5, rotation rate 6-8, user acceleration 9-11
    assert found.signal[0].tolist() == [6, 7, 8, 9 + 3, 10 + 4, 11 + 5]


def test_motionsense_is_counted():
    assert motionsense_counts(phone_files()) == {"activities": 2, "trials": 2, "features": 12}


def test_damaged_motionsense_is_named():
    lacking = f"{HEADER}\n{ROW}\n".replace("gravity.x", "gravity").encode()
    with pytest.raises(ValueError, match=r"sub_1\.csv has no column 'gravity\.x'; it has "):
        read_motionsense(phone_files(**{"A/dws_1/sub_1.csv": lacking}))
    with pytest.raises(ValueError, match="does not list subject 9"):
        read_motionsense(phone_files(**{"A/dws_1/sub_9.csv": f"{HEADER}\n{ROW}\n".encode()}))
    with pytest.raises(ValueError, match="there is no file <activity>"):
        read_motionsense(Files({"a.csv": b""}))


def test_another_watch_set_is_refused():
    file = io.BytesIO()
    np.save(file, {"X_labels": ["x"], "y_labels": list(EXERCISES)}, allow_pickle=True)
    with pytest.raises(ValueError, match="is not the published file"):
        read_smartwatch(Files({"seglearn/data/watch_dataset.npy": file.getvalue()}))
