"""The times of recordings are checked while they are read: order, rate, bursts and gaps, also across pieces."""

import numpy as np
import pandas as pd
import pytest

from sensorrelease.schema import Constraints, Field, Schema
from sensorrelease.schema.dialect import Recordings
from sensorrelease.schema.model import RUN
from sensorrelease.schema.read import Pieces, read

TASK = Field(name="activity", role="task", constraints=Constraints(enum=["walk", "sit"]))
SIGNAL = Field(name="x", type="number", role="feature", step=0.01, constraints=Constraints(minimum=-9, maximum=9))


def schema(time, **how):
    fields = [Field(name="t", role="time", **time), SIGNAL, TASK, Field(name="who", role="user")]
    return Schema(fields=fields, recordings=Recordings(files="*.csv", names="{activity}_{who}.csv", **how))


def write(folder, times, name="walk_ann", signal=0.5):
    folder.mkdir(exist_ok=True)
    pd.DataFrame({"t": times, "x": signal}).to_csv(folder / f"{name}.csv", index=False)
    return folder


SECONDS = {"type": "number", "unit": "s"}


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_times_have_the_declared_unit(unit, tmp_path):
    times = np.arange(40) / 10 * {"s": 1, "ms": 1e3, "us": 1e6, "ns": 1e9}[unit] + 7e5
    write(tmp_path / "rec", times)
    found = read(tmp_path / "rec", schema({"type": "number", "unit": unit}, rate=10))
    assert (found.frame[RUN] == 0).all()
    other = {"type": "number", "unit": "s" if unit == "ms" else "ms"}
    with pytest.raises(ValueError, match=r"walk_ann\.csv, line 2: .* samples per second in 't', but the schema"):
        read(tmp_path / "rec", schema(other, rate=10))


def test_a_clock_without_a_unit_is_refused():
    with pytest.raises(ValueError, match="t has the unit None: times have one of s, ms, us, ns"):
        schema({"type": "number"}, rate=10)


def test_a_clock_of_whole_seconds_names_file_line_and_rate(tmp_path):
    write(tmp_path / "rec", pd.Timestamp("2026-01-01") + pd.to_timedelta(np.arange(200) // 50, unit="s"))
    says = r"walk_ann\.csv, line 3: 50 samples have the time 2026-01-01 00:00:00.* about 50 per second \(declared: 50\)"
    with pytest.raises(ValueError, match=says):
        read(tmp_path / "rec", schema({"type": "datetime"}, rate=50))


def test_samples_that_share_a_time_are_bursts(tmp_path):
    write(tmp_path / "rec", np.floor(np.arange(96) / 3) * 62.5)
    with pytest.raises(ValueError, match=r"line 3: 3 samples have the time 0\.0 in 't', about 48 per second"):
        read(tmp_path / "rec", schema({"type": "number", "unit": "ms"}, rate=48))


@pytest.mark.parametrize("late", [0.002, 0.015])
def test_samples_that_come_in_pairs_are_bursts(tmp_path, late):
    """On average the rate is right, so neither its mean nor its median shows them."""
    times = np.arange(100) / 50 + np.tile([0, late - 0.02], 50)
    write(tmp_path / "rec", times[times >= 0])
    given = schema(SECONDS, rate=50, gap=0.05)
    if late < 0.01:
        with pytest.raises(ValueError, match=r"line 2: (samples come in bursts, 50%|500 samples per second)"):
            read(tmp_path / "rec", given)
    else:
        assert len(read(tmp_path / "rec", given).frame) == 100


def test_mixed_rates_name_the_file_and_its_rate(tmp_path):
    write(tmp_path / "rec", np.arange(40) / 50, "sit_ann")
    write(tmp_path / "rec", np.arange(40) / 100)
    with pytest.raises(ValueError, match=r"begins in .*walk_ann\.csv, line 2: 100 samples per second .* declares 50"):
        read(tmp_path / "rec", schema(SECONDS, rate=50))


def test_times_that_go_back_are_refused(tmp_path):
    write(tmp_path / "rec", [0, 0.1, 0.2, 0.15, 0.3])
    with pytest.raises(ValueError, match=r"walk_ann\.csv, line 5: 't' goes back from 0\.2 to 0\.15"):
        read(tmp_path / "rec", schema(SECONDS, rate=10))


def test_a_gap_is_an_error_tolerated_or_the_end(tmp_path):
    write(tmp_path / "rec", np.delete(np.arange(50) / 10, [20, 30, 31, 32, 33]))
    with pytest.raises(
        ValueError, match=r"line 22: 0\.2 seconds without a sample before 2\.1 in 't'.* longer than 0\.15"
    ):
        read(tmp_path / "rec", schema(SECONDS, rate=10))
    with pytest.raises(ValueError, match=r"line 31: 0\.5 seconds without a sample"):
        read(tmp_path / "rec", schema(SECONDS, rate=10, gap=0.2))
    found = read(tmp_path / "rec", schema(SECONDS, rate=10, gap=0.2, gaps="end"))
    assert np.bincount(found.frame[RUN]).tolist() == [29, 16]
    assert "1 gap in times ended a recording" in found.notices
    assert set(read(tmp_path / "rec", schema(SECONDS, rate=10, gap=0.5)).frame[RUN]) == {0}


def test_small_jitter_is_no_gap(tmp_path):
    write(tmp_path / "rec", np.arange(50) / 10 + np.random.default_rng(0).normal(0, 0.008, 50))
    assert set(read(tmp_path / "rec", schema(SECONDS, rate=10)).frame[RUN]) == {0}


@pytest.mark.parametrize("rows", [1, 7, 1000])
def test_pieces_change_nothing(tmp_path, rows):
    times = np.arange(40) / 10
    write(tmp_path / "rec", times, "sit_ann")
    write(tmp_path / "rec", times + (times > 2) * 3)
    runs = pd.concat(Pieces(tmp_path / "rec", schema(SECONDS, rate=10, gaps="end"), rows))[RUN]
    assert np.bincount(runs).tolist() == [40, 21, 19]
    for wrong in (np.r_[times[:20], times[19:]], np.r_[times, times + 9], times * 2):
        write(tmp_path / "rec", wrong)
        said = []
        for size in (rows, 1000):
            with pytest.raises(ValueError, match="walk_ann") as caught:
                list(Pieces(tmp_path / "rec", schema(SECONDS, rate=10), size))
            said.append(str(caught.value).split(":")[0])
        assert said[0] == said[1]


def test_a_row_without_a_number_is_a_lost_sample(tmp_path):
    signal = np.where(np.arange(40) == 20, np.nan, 0.5)
    write(tmp_path / "rec", np.arange(40) / 10, signal=signal)
    with pytest.raises(ValueError, match=r"line 23: 0\.2 seconds without a sample"):
        read(tmp_path / "rec", schema(SECONDS, rate=10))
    found = read(tmp_path / "rec", schema(SECONDS, rate=10, gap=0.2))
    assert (len(found.frame), set(found.frame[RUN])) == (39, {0})
    assert "1 row without a label or a number left out" in found.notices


def test_without_times_a_lost_sample_ends_a_recording(tmp_path):
    write(tmp_path / "rec", np.arange(40), signal=np.where(np.arange(40) == 20, np.nan, 0.5))
    hidden = schema(SECONDS, rate=10)
    fields = [one.model_copy(update={"role": "withheld"}) if one.name == "t" else one for one in hidden.fields]
    found = read(tmp_path / "rec", hidden.model_copy(update={"fields": fields}))
    assert np.bincount(found.frame[RUN]).tolist() == [20, 19]
