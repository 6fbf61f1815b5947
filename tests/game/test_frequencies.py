"""Classifying by the frequencies of codes: Bayes' rule, by hand."""

import numpy as np
import pytest

from sensorprivacy.game.frequencies import frequencies


def test_it_is_bayes_rule_with_smoothed_counts():
    """Class 0 has code 1 in three of four rows, class 1 in one of two; half a count is added to each."""
    learned = np.array([[0, 1], [0, 1], [0, 1], [0, 0], [0, 1], [0, 0]])
    found = frequencies(learned, np.array([0, 0, 0, 0, 1, 1]), np.array([[0, 1]]), 2)[0]
    joint = np.array([4.5 / 7 * 3.5 / 5, 2.5 / 7 * 1.5 / 3])
    assert found == pytest.approx(joint / joint.sum())


def test_the_rate_of_an_activity_is_no_evidence():
    """Class 0 mostly walks, class 1 mostly sits; within an activity their codes are alike."""
    learned = np.array([[0, 0]] * 8 + [[1, 0]] * 2 + [[0, 0]] * 2 + [[1, 0]] * 8)
    found = frequencies(learned, np.repeat([0, 1], 10), np.array([[0, 0], [1, 0]]), 2)
    assert found == pytest.approx(0.5)


def test_a_code_that_a_class_never_has_points_to_the_others_and_adds_up_over_codes():
    learned = np.column_stack([np.zeros(40, dtype=int), np.repeat([1, 0], 20), np.repeat([0, 1], 20)])
    classes = np.repeat([0, 1], 20)
    one, both = (
        frequencies(learned[:, :width], classes, np.array([[0, 0, 1]])[:, :width], 2)[0, 1] for width in (2, 3)
    )
    assert 0.9 < one < both < 1


def test_unseen_codes_and_classes_have_probabilities():
    found = frequencies(np.array([[0, 0], [0, 0]]), np.array([0, 0]), np.array([[0, 7], [3, 0]]), 3)
    assert np.isfinite(found).all()
    assert found.sum(axis=1) == pytest.approx(1)
    assert (found.argmax(axis=1) == 0).all()
