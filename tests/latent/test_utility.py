import numpy as np
import pandas as pd
import pytest

from sensorprivacy.data import Windows
from sensorprivacy.latent import InferenceModels
from sensorprivacy.latent.utility import acceleration, activity_kept, cadence, intensity, side_by_side, utility_table
from sensorprivacy.latent.windows import replace_values

RATE, LENGTH = 50, 128


def steps(per_minute: float, *, height: float = 0.4, noise: float = 0.05, axes: bool = False, n: int = 20) -> Windows:
    """Return windows of a walk: gravity and one sine per step."""
    generator = np.random.default_rng(0)
    phase = generator.random((n, 1))
    wave = 1 + height * np.sin(2 * np.pi * (per_minute / 60 * np.arange(LENGTH) / RATE + phase))
    wave = wave + generator.normal(0, noise, wave.shape)
    rotation = generator.normal(size=wave.shape)
    if axes:
        values, names = np.stack([rotation, 0.6 * wave, 0.8 * wave], axis=1), ["r", "acceleration_x", "acceleration_y"]
    else:
        values, names = np.stack([rotation, wave], axis=1), ["rotation", "acceleration"]
    labels = pd.DataFrame({"gender": ["f"] * n})
    facts = {"rate": RATE, "channels": names}
    return Windows(values, ["walk"] * n, labels, np.arange(n) % 4, np.arange(n) % 2, provenance=facts)


@pytest.mark.parametrize("per_minute", [60, 90, 110, 125, 170, 200])
@pytest.mark.parametrize("axes", [False, True])
def test_the_cadence_of_a_sine_is_its_frequency(per_minute: float, axes: bool) -> None:
    found = cadence(steps(per_minute, axes=axes))
    assert np.allclose(found, per_minute, rtol=0.05)


def test_the_first_harmonic_does_not_count_as_half_the_cadence() -> None:
    """A limp: every second step is stronger, so the stride's period is a higher peak than the step's."""
    windows = steps(110)
    time = np.arange(LENGTH) / RATE
    limp = windows.values.copy()
    limp[:, 1] += 0.05 * np.sin(2 * np.pi * 55 / 60 * time)
    assert np.allclose(cadence(replace_values(windows, limp)), 110, rtol=0.05)


def test_noise_and_rest_have_no_cadence() -> None:
    windows = steps(100)
    still = replace_values(windows, np.ones_like(windows.values))
    noise = replace_values(windows, np.random.default_rng(0).normal(size=windows.values.shape))
    assert (cadence(still) == 0).all()
    assert np.mean(cadence(noise) == 0) > 0.8
    assert np.allclose(intensity(still), 0)


def test_intensity_is_the_root_mean_square_around_the_mean() -> None:
    assert np.allclose(intensity(steps(120, height=0.4, noise=0)), 0.4 / np.sqrt(2), rtol=0.1)
    assert np.allclose(acceleration(steps(120, axes=True)), acceleration(steps(120)))


def test_errors_of_published_windows() -> None:
    raw = steps(110)
    releases = {
        "raw": lambda windows: windows,
        "faster": lambda _: steps(120),
        "weaker": lambda _: steps(110, height=0.2),
        "flat": lambda windows: replace_values(windows, np.ones_like(windows.values)),
    }
    found = utility_table(releases, raw)
    assert found.loc["raw"].tolist() == [0] * 4
    assert found.loc["faster", "cadence_error"] == pytest.approx(10, abs=1.5)
    assert found.loc["faster", "cadence_error_recording"] == pytest.approx(10, abs=1.5)
    assert found.loc["weaker", "intensity_error"] == pytest.approx(0.2 / np.sqrt(2), abs=0.02)
    assert found.loc["weaker", "cadence_error"] < 2
    assert found.loc["flat", "cadence_error"] == pytest.approx(110, abs=2)  # no rhythm: cadence 0


def as_it_is(windows: Windows) -> Windows:
    return windows


def blank(windows: Windows) -> Windows:
    return replace_values(windows, np.random.default_rng(0).normal(size=windows.values.shape))


def test_a_release_that_fails_is_a_row_with_its_reason(unseen: Windows, models: InferenceModels) -> None:
    """REVIEW B10: a release that failed at the end of a run discarded everything computed before."""

    def broken(some: Windows) -> Windows:
        raise ValueError("a cell is empty")

    with pytest.warns(UserWarning, match="broken: a cell is empty"):
        kept = activity_kept({"broken": broken, "blank": blank}, [models], unseen)
    assert kept.loc["broken", "reason"] == "a cell is empty"
    assert kept.loc["blank", "activity"] > 0


def test_activity_is_measured_by_independent_models(models: InferenceModels, unseen: Windows) -> None:
    found = activity_kept({"raw": as_it_is, "blank": blank}, [models, models], unseen)
    assert found.loc["raw", "activity"] > 0.95
    assert found.loc["raw", "distortion"] == 0
    assert found.loc["blank", "activity"] < 0.8
    assert found.loc["blank", "distortion"] > 1
    assert found.loc["raw", "worst"] <= found.loc["raw", "activity"] == found.loc["raw", "by mlp"]


def test_one_row_a_release_has_the_scores_at_all_levels_and_chance_comes_last() -> None:
    rows = [("gender", "window", 0.7), ("gender", "person", 0.9), ("subject", "person", 0.4)]
    strongest = pd.DataFrame(rows, columns=["about", "level", "score"]).assign(release="r", chance=0.5)
    wide = side_by_side(strongest, "gender")
    assert wide.columns.tolist() == ["gender, window", "gender, person", "identity, person"]
    assert wide.loc["r"].tolist() == [0.7, 0.9, 0.4]
    assert wide.loc["chance"].tolist() == [0.5] * 3
