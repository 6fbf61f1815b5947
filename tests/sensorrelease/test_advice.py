"""What the advice says: ties, defences that are worse, and raw tables without a leak; from results made by hand."""

from dataclasses import replace

import numpy as np
import pytest

from sensorprivacy.game.outcome import Attack, Measure
from sensorprivacy.game.units import share
from sensorrelease.advice import advise
from sensorrelease.results import Result

ROWS = 400


def line(attacker, about, part, share_right, p=1.0):
    right = np.arange(ROWS) < round(share_right * ROWS)
    found = share(np.random.default_rng(0).permutation(right))
    chance = 0.5 if about == "task" else 0.25
    measure = Measure(found.score, found.low, found.high, ROWS, "rows", chance, p=p, p_any=p)
    return Attack(attacker, about, "row", part, measure, right, exposure=0.3, exposure_low=0.2)


def result(name, attack, *, task=0.9, tested=None, columns=3, p=0.0001, attackers=3):
    """Return a result with this accuracy of the strongest attack on validation rows, and `tested` on test rows."""
    judged = []
    for part, score in (("validation", attack), ("test", attack if tested is None else tested)):
        judged.append(line("task", "task", part, task))
        judged += [line(f"attacker {place}", "user", part, score - 0.02 * place, p) for place in range(attackers)]
    names = tuple(f"c{place}" for place in range(columns))
    return Result(name, name, "", False, 1.0, names, 0, (), float("inf"), 1.0, 1.0, judged)


def test_of_defences_that_do_not_differ_the_one_with_the_weakest_attack_is_chosen():
    """REVIEW E11: with fewer columns, a defence was chosen whose attack is stronger than on the raw table."""
    few, weak = result("few columns", 0.455, columns=1), result("weak attack", 0.45, columns=9)
    advice = advise([result("none", 0.45), few, weak], 0.1)
    assert advice.alike == ("few columns", "weak attack")
    assert advice.defence == "weak attack"


def test_of_equal_attacks_the_guaranteed_one_is_chosen_then_the_one_with_fewer_columns():
    few, wide = result("few", 0.4, columns=1), result("wide", 0.4, columns=2)
    sure = replace(result("sure", 0.4, columns=9), guarantees=("stated",), epsilon=1.0)
    assert advise([result("none", 0.6), wide, few, sure], 0.1).defence == "sure"
    assert advise([result("none", 0.6), wide, few], 0.1).defence == "few"


def test_attacks_below_chance_are_equally_weak():
    """REVIEW E15: who predicts worse than chance by luck hides nobody better."""
    lucky, small = result("lucky", 0.2, columns=9), result("small", 0.24, columns=1)
    assert advise([result("none", 0.6), lucky, small], 0.1).defence == "small"


@pytest.mark.parametrize(
    ("tested", "text"),
    [
        (
            0.70,
            "; chance is 25.0%. It is worse than the raw table: "
            "that is 10.0 points more (7.0 to 13.0, n = 400 rows) than from the raw table.",
        ),
        (0.60, "No protection is shown: that is 0.0 points less (-0.7 to 0.7, n = 400 rows) than from the raw table"),
        (0.50, " That is 10.0 points less (7.0 to 13.0, n = 400 rows) than from the raw table"),
    ],
)
def test_a_defence_that_is_worse_than_the_raw_table_is_called_worse(tested, text):
    advice = advise([result("none", 0.6), result("one", 0.5, tested=tested)], 0.1)
    assert text in advice.text
    assert "no leak" not in advice.text


def test_a_defence_that_is_worse_than_the_runner_up_is_called_worse():
    results = [result("none", 0.6), result("one", 0.40, tested=0.5), result("two", 0.42, tested=0.42)]
    advice = advise(results, 0.1)
    assert (advice.defence, advice.runner_up) == ("one", "two")
    assert "it is worse than two: 8.0 points more (5.3 to 10.7" in advice.text
    assert "do not show" not in advice.text


@pytest.mark.parametrize(
    ("task", "said"),
    [
        (0.94, "is 4.0 points higher (2.1 to 5.9, n = 400 rows): no more than the 1.0 points that may be lost."),
        (0.9, "is 0.0 points lower (-0.7 to 0.7, n = 400 rows): no more than the 1.0 points that may be lost."),
    ],
)
def test_a_gain_of_accuracy_is_no_loss_of_less_than_nothing(task, said):
    """REVIEW F16: "gains 1.8 points (loss -2.2 to -1.3): at most 1.0 points"."""
    text = advise([result("none", 0.6), result("one", 0.4, task=task)], 0.01).text
    assert f"With one, the accuracy of the task {said}" in text


def test_the_smallest_release_that_keeps_the_task_is_named():
    """REVIEW D: `compare` kept `motion` although `power` alone reached 100 %."""
    small, weak = result("small", 0.45, columns=1), result("weak", 0.35, columns=9)
    tiny = result("tiny", 0.3, columns=0, task=0.5)
    advice = advise([result("none", 0.6), weak, small, tiny], 0.01)
    assert (advice.defence, advice.smallest) == ("weak", "small")


def test_a_raw_table_without_a_leak_is_named():
    """REVIEW E11: 55 of 80 tables that say nothing were told to use some defence, and not that nothing leaks."""
    raw = result("none", 0.285, p=0.2)
    for advice in (advise([raw, result("one", 0.25, p=0.2)], 0.1), advise([raw, result("one", 0.2, task=0.5)], 0.1)):
        assert not advice.raw_leaks
        assert advice.text.startswith("The raw table shows no leak")


def test_the_strongest_of_many_attackers_must_exceed_chance_by_more():
    """One attacker alone shows a leak at this score; as the best of eight unlike ones it does not."""
    alone = result("none", 0.3, p=1.0, attackers=1)
    unlike = result("none", 0.3, p=1.0, attackers=1)
    generator = np.random.default_rng(1)
    for _ in range(7):
        one = line("another", "user", "test", 0.27)
        unlike.judged.append(Attack("another", "user", "row", "test", one.measure, generator.permutation(one.right)))
    assert alone.leaks
    assert not unlike.leaks
    assert unlike.strongest().measure.low < alone.strongest().measure.low


def test_one_recognized_user_is_a_leak_at_a_level_for_all_attackers():
    assert result("none", 0.25, p=0.008, attackers=3).leaks
    assert not result("none", 0.25, p=0.009, attackers=3).leaks
