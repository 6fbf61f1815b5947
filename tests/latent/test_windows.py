import numpy as np
import pandas as pd
import pytest

from sensorprivacy.data import Windows
from sensorprivacy.latent import windows as module
from sensorprivacy.latent.windows import Coding, Scaler, flatten, overlap, private_labels, recording_of, split, thinned


def sample_ranges(windows: Windows, rows: np.ndarray) -> set[tuple[int, int]]:
    """Return (recording, sample) of every sample that the windows at these positions cover."""
    recording = recording_of(windows)
    at = pd.Series(recording).groupby(recording).cumcount().to_numpy() * windows.provenance["stride"]
    return {(recording[row], at[row] + step) for row in rows for step in range(windows.length)}


def test_a_scaler_gives_each_channel_mean_zero_and_deviation_one_and_can_be_undone(windows: Windows) -> None:
    scaler = Scaler.fit(windows.values)
    scaled = scaler.apply(windows.values)
    assert np.allclose(scaled.mean(axis=(0, 2)), 0, atol=1e-5)
    assert np.allclose(scaled.std(axis=(0, 2)), 1, atol=1e-5)
    assert np.allclose(scaler.undo(scaled), windows.values, atol=1e-5)


def test_a_constant_channel_is_refused_by_number(windows: Windows) -> None:
    flat = windows.values.copy()
    flat[:, 1] = 7
    with pytest.raises(ValueError, match=r"channel 1 is constant \(7\)"):
        Scaler.fit(flat)


def test_a_scaler_refuses_another_number_of_channels(windows: Windows) -> None:
    with pytest.raises(ValueError, match="2 channels x length, got shape"):
        Scaler.fit(windows.values).apply(windows.values[:, :1])


def test_windows_are_concatenated_channel_after_channel() -> None:
    values = np.arange(12).reshape(2, 2, 3)
    assert flatten(values).tolist() == [[0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11]]


def test_a_coding_goes_forth_and_back_and_names_what_it_does_not_know() -> None:
    coding = Coding.fit(pd.Series(["b", "a", "b"]), "gender")
    codes = coding.codes(pd.Series(["a", "b"]))
    assert codes.tolist() == [0, 1]
    assert coding.names(codes).tolist() == ["a", "b"]
    with pytest.raises(ValueError, match="gender 'c' was not seen in training: known are a, b"):
        coding.codes(pd.Series(["a", "c"]))


def test_a_single_class_is_refused() -> None:
    with pytest.raises(ValueError, match="gender has the single class 'a'"):
        Coding.fit(pd.Series(["a", "a"]), "gender")


def test_an_unknown_private_attribute_lists_the_known(windows: Windows) -> None:
    assert private_labels(windows, "subject").equals(windows.subject)
    with pytest.raises(ValueError, match="no private attribute 'age': choose from gender, subject"):
        private_labels(windows, "age")


@pytest.mark.parametrize("scheme", ["tail", "subjects"])
def test_honest_splits_share_no_sample(windows: Windows, scheme: module.Scheme) -> None:
    found = split(windows, scheme, validation=0.25, test=0.25)
    assert found.validation is not None
    parts = [sample_ranges(windows, rows) for rows in (found.train, found.validation, found.test)]
    assert all(parts)
    assert not parts[0] & parts[1]
    assert not parts[0] & parts[2]
    assert not parts[1] & parts[2]


def test_random_windows_leak_samples(windows: Windows) -> None:
    found = split(windows, "random", validation=0)
    assert found.validation is None
    assert sample_ranges(windows, found.train) & sample_ranges(windows, found.test)


def test_subjects_are_disjoint_and_every_gender_is_tested(windows: Windows) -> None:
    found = split(windows, "subjects", test=0.34)
    assert not set(windows.subject[found.train]) & set(windows.subject[found.test])
    assert set(windows.private["gender"][found.test]) == {"female", "male"}


def test_an_unknown_scheme_and_a_wrong_share_are_refused(windows: Windows) -> None:
    with pytest.raises(ValueError, match="scheme 'odd' is unknown"):
        split(windows, "odd")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"validation=1, test=0\.2"):
        split(windows, validation=1)


@pytest.mark.parametrize(("length", "stride", "later"), [(128, 10, 12), (128, 128, 0), (128, 64, 1), (128, 200, 0)])
def test_how_many_later_windows_share_samples(length: int, stride: int, later: int) -> None:
    one = Windows(
        np.ones((1, 1, length)) * np.arange(length),
        ["a"],
        pd.DataFrame({"g": ["x"]}),
        [1],
        [1],
        provenance={"stride": stride},
    )
    starts = np.arange(20) * stride
    assert overlap(one) == later == int(((starts > 0) & (starts < length)).sum())


@pytest.mark.slow
def test_the_papers_test_windows_of_motionsense(mirror: object) -> None:
    from compendium.datasets import windows as load

    found = load("motionsense", progress=False)
    parts = split(found, "paper")
    counts = found.public.iloc[parts.test].value_counts()
    # FACTS of the paper's Table 1 and its authors' code: 1.9k, 2.5k, 6.2k, 2.7k
    assert counts[["dws", "ups", "wlk", "jog"]].tolist() == [1947, 2495, 6225, 2686]
    assert not set(found.trial.iloc[parts.train]) & set(range(11, 17))
    assert flatten(found.values).shape[1] == 256


def test_recordings_too_short_for_a_gap_are_reported(windows: Windows) -> None:
    short = windows.take(np.arange(windows.n_windows) % 16 < 4)
    with pytest.raises(ValueError, match="long enough for a test part with a gap of 3 windows"):
        split(short, "tail")


def test_thinning_keeps_some_windows_of_each_recording_and_all_of_short_ones(windows: Windows) -> None:
    rows = np.arange(1, windows.n_windows)
    kept = thinned(windows, rows, 3)
    counts = pd.Series(recording_of(windows)[kept]).value_counts()
    had = pd.Series(recording_of(windows)[rows]).value_counts()
    assert set(counts.index) == set(had.index)
    assert (counts <= 3).all()
    assert set(kept) <= set(rows)
    assert thinned(windows, rows, windows.n_windows).tolist() == rows.tolist()
    with pytest.raises(ValueError, match="most=0"):
        thinned(windows, rows, 0)
