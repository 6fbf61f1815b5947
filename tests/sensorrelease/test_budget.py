"""Time by the clock for variants, time of the processor for main methods."""

import pytest

from sensorrelease import budget
from sensorrelease.budget import Budget


@pytest.fixture
def clock(monkeypatch):
    now = {"clock": 100.0, "busy": 7.0}
    monkeypatch.setattr(budget.time, "monotonic", lambda: now["clock"])
    monkeypatch.setattr(budget, "busy", lambda: now["busy"])
    return now


def test_on_an_idle_machine_both_clocks_agree(clock):
    found = Budget(60)
    clock |= {"clock": 130.0, "busy": 37.0}
    assert (found.spent, max(found.pace, 1), found.left(main=True), found.left(main=False)) == (30, 1, 30, 30)
    assert found.allows(90, main=True)
    assert not found.allows(91, main=True)
    assert not found.allows(31, main=False)
    assert found.stop(main=True) == found.stop(main=False) == 30 + 3 + 2


def test_two_threads_take_no_time_twice(clock):
    found = Budget(60)
    clock |= {"clock": 130.0, "busy": 67.0}
    assert (max(found.pace, 1), found.left(main=True)) == (1, 30)
    assert found.allows(60, main=False)
    assert not found.allows(61, main=False)


def test_on_a_loaded_machine_main_methods_get_their_share_of_the_processor(clock):
    found = Budget(60)
    clock |= {"clock": 170.0, "busy": 42.0}
    assert (max(found.pace, 1), found.left(main=True), found.left(main=False)) == (2, 25, -10)
    assert found.allows(75, main=True)  # 150 by the clock, at half the speed
    assert not found.allows(76, main=True)
    assert not found.allows(1, main=False)
    assert found.stop(main=True) == 50 + 3 + 2
    clock["busy"] = 8.0
    assert found.left(main=True) == pytest.approx(59)
    assert found.stop(main=True) == 110 + 3 + 2  # at most three times the budget by the clock


def test_time_before_the_comparison_counts_as_work(clock):
    found = Budget(60, began=80.0)
    clock |= {"clock": 110.0, "busy": 17.0}
    assert (found.spent, max(found.pace, 1), found.left(main=True)) == (30, 1, 30)


def test_time_of_the_processor_grows_with_work():
    before = budget.busy()
    sum(range(3_000_000))
    assert budget.busy() > before
