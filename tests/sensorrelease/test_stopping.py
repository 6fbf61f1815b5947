"""Work that runs past its time is stopped where it is, and other timers go on."""

import signal
import threading
import time

import pytest
from sklearn.ensemble import RandomForestClassifier

from sensorprivacy.game import TABLE_ATTACKERS
from sensorrelease import budget, comparison
from sensorrelease.comparison import compare
from sensorrelease.running import OutOfTimeError, at_most


class Slow:
    """A transformer that never ends: it sleeps or computes, and catches every ordinary exception."""

    def __init__(self, sleeps):
        self.sleeps = sleeps

    def fit(self, X, y=None):
        while True:
            try:
                if self.sleeps:
                    time.sleep(60)
                else:
                    RandomForestClassifier(20).fit(X, y)
            except Exception:
                continue

    def transform(self, X):
        return X


@pytest.mark.first(1)
@pytest.mark.parametrize("sleeps", [True, False])
def test_a_slow_defence_is_stopped_at_the_budget_and_the_page_says_so(problem, monkeypatch, tmp_path, sleeps):
    monkeypatch.setattr(budget, "_OVERRUN_SECONDS", 0.2)
    defences = {"quick": "noise:epsilon=4", "slow": Slow(sleeps), "later": Slow(sleeps)}
    began = time.monotonic()
    options = {"model": RandomForestClassifier(3), "draws": 360, "progress": False, "store": tmp_path / "kept.jsonl"}
    options["attackers"] = {"most frequent user": TABLE_ATTACKERS["most frequent user"]}  # the quickest
    minutes = 0.05
    found = compare(problem, defences, minutes, **options)
    assert time.monotonic() - began < 1.05 * 3 * 60 * minutes + 3  # of load, or of a main method that waits
    assert [one.defence for one in found.results] == ["none", "quick"]
    assert [one.defence for one in found.untried] == ["slow", "later"]
    assert found.untried[0].reason.startswith("stopped after ")
    assert found.untried[0].reason.endswith(" s, because the budget of 3 s was over")
    # a main method that waits, for its turn or for the processor, uses less of the budget, so the next one may start
    said = found.untried[1].reason
    assert "of the budget are left" in said or said.startswith("stopped after ")
    # the page names a reason once, with all its defences: two may have been stopped after the same time
    found.to_html(tmp_path / "page.html")
    same = ", ".join(one.defence for one in found.untried if one.reason == found.untried[0].reason)
    assert f"{same}: {found.untried[0].reason}" in (tmp_path / "page.html").read_text()
    assert len((tmp_path / "kept.jsonl").read_text().splitlines()) == 2


def test_a_raw_table_that_takes_too_long_is_an_error(problem, monkeypatch):
    monkeypatch.setattr(budget, "_OVERRUN_SECONDS", 0.0)
    monkeypatch.setattr(comparison, "judge", lambda *_, **__: time.sleep(60))
    with pytest.raises(ValueError, match=r"minutes=0.001 gave no first answer: judging the raw table was stopped aft"):
        compare(problem, ["noise"], 0.001, progress=False)


def test_work_in_time_is_not_touched_and_an_outer_timer_goes_on():
    rings = []
    handler = signal.signal(signal.SIGALRM, lambda *_: rings.append(1))
    before = signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        with at_most(60):
            pass
        assert 0 < signal.getitimer(signal.ITIMER_REAL)[0] <= 0.3
        with pytest.raises(OutOfTimeError), at_most(0.05):
            time.sleep(60)
        time.sleep(0.4)
        assert rings == [1]
    finally:
        signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, *before)


def test_other_threads_run_to_the_end():
    done = []

    def work():
        with at_most(0.001):
            time.sleep(0.05)
            done.append(1)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [1]


def test_a_system_without_timers_lets_work_end(monkeypatch):
    monkeypatch.delattr("signal.setitimer")
    with at_most(0.001):
        time.sleep(0.01)
