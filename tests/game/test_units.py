"""Intervals and paired tests against scipy, by their defining equations, in simulations, and at their edges."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, binomtest, norm, ttest_1samp
from scipy.stats import t as student

from sensorprivacy.game.samples import FEW, Sample, Spread
from sensorprivacy.game.units import difference, few_units, share, strongest
from sensorprivacy.game.wilson import wilson, with_intervals
from sensorprivacy.latent.trainings import mean_over_trainings


@pytest.mark.parametrize(("successes", "trials"), [(0, 1), (1, 1), (0, 20), (3, 20), (511, 1023), (7, 100_000)])
@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.999])
def test_equals_scipy(successes, trials, confidence):
    theirs = binomtest(successes, trials).proportion_ci(confidence, method="wilson")
    assert wilson(successes, trials, confidence) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


@given(st.integers(1, 10**6), st.floats(0, 1), st.floats(0.5, 0.999))
def test_bounds_solve_the_score_equation(trials, share, confidence):
    """Each bound p satisfies |share - p| = z sqrt(p (1 - p) / n), also for fractional successes."""
    low, high = wilson(share * trials, trials, confidence)
    z = norm.ppf((1 + confidence) / 2)
    assert 0 <= low <= share + 1e-12
    assert share - 1e-12 <= high <= 1
    for p in (low, high):
        # squared, so that the square root does not blow up rounding where p is next to 0 or 1
        assert math.isclose((share - p) ** 2 * trials, z**2 * p * (1 - p), abs_tol=1e-9)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1, 0), "trials=0"),
        ((-1, 5), "successes=-1"),
        ((6, 5), "successes=6"),
        ((float("nan"), 5), "successes=nan"),
        ((1, 5, 1.0), "confidence=1.0"),
        ((1, 5, 0.0), "confidence=0.0"),
        ((1, float("inf")), "trials=inf"),
    ],
)
def test_refuses(arguments, message):
    with pytest.raises(ValueError, match=message):
        wilson(*arguments)


def test_a_table_gets_the_interval_of_each_share():
    table = pd.DataFrame({"n_features": [3], "accuracy": [0.8], "identifiability": [0.2]})
    wide = with_intervals(table, 10)
    assert list(wide) == [
        "n_features",
        *("accuracy", "accuracy_low", "accuracy_high"),
        *("identifiability", "identifiability_low", "identifiability_high"),
    ]
    assert (wide.loc[0, "accuracy_low"], wide.loc[0, "accuracy_high"]) == wilson(8, 10)
    assert (wide.loc[0, "identifiability_low"], wide.loc[0, "identifiability_high"]) == wilson(2, 10)
    assert list(table) == ["n_features", "accuracy", "identifiability"]


def clustered(generator, rate, correlation, clusters, rows=30):
    """Return rows of clusters whose rates follow a beta distribution, and the cluster of each row."""
    strength = (1 - correlation) / correlation if correlation else 0.0
    rates = generator.beta(rate * strength, (1 - rate) * strength, clusters) if correlation else np.full(clusters, rate)
    codes = np.repeat(np.arange(clusters), rows)
    return generator.random(clusters * rows) < rates[codes], codes


@pytest.mark.parametrize("correlation", [0.0, 0.1, 0.3, 0.5])
@pytest.mark.parametrize("clusters", [12, 24, 60])
def test_clustered_intervals_cover_the_rate(clusters, correlation):
    """The review found 37 % coverage for 60 recordings of 30 rows when rows counted as independent."""
    generator = np.random.default_rng(7)
    trials, covered = 1000, 0
    for _ in range(trials):
        success, codes = clustered(generator, 0.5, correlation, clusters)
        found = share(success, codes, unit="groups")
        covered += found.low <= 0.5 <= found.high
    # Within two standard errors of a simulation of 1,000 trials. Few clusters have wider intervals.
    assert 0.95 - 0.014 <= covered / trials <= (1 if clusters < FEW else 0.98 + 0.014)


@pytest.mark.parametrize(("rate", "correlation"), [(0.2, 0.2), (0.8, 0.2), (0.8, 0.5), (0.95, 0.2), (0.95, 0.5)])
@pytest.mark.parametrize("clusters", [12, 24, 60])
def test_intervals_of_clusters_of_unequal_size_cover_shares_near_one(rate, correlation, clusters):
    """REVIEW E6: cluster sizes that differ tenfold covered .82 to .90, mostly without a warning."""
    generator = np.random.default_rng(7)
    sizes = np.geomspace(8, 80, clusters).astype(int)
    codes, strength = np.repeat(np.arange(clusters), sizes), (1 - correlation) / correlation
    covered, trials = 0, 600
    for _ in range(trials):
        rates = generator.beta(rate * strength, (1 - rate) * strength, clusters)
        found = share(generator.random(len(codes)) < rates[codes], codes)
        covered += found.low <= rate <= found.high
    assert covered / trials >= 0.935 - 2 * 0.01  # the lowest of bench/results/interval_coverage.md, two standard errors


SIZES = {
    "equal": lambda n: np.full(n, 30),
    "2 to 500": lambda n: np.geomspace(2, 500, n).round().astype(int),
    "one holds half": lambda n: np.r_[30 * (n - 1), np.full(n - 1, 30)],
}


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("clusters", [6, 12, 24, 60])
@pytest.mark.parametrize("trainings", [1, 4])
def test_intervals_of_paired_differences_cover(sizes, clusters, trainings):
    """REVIEW A3: .707 to .932 for sizes of 2 to 500, and .678 to .898 if one cluster holds half of the rows."""
    generator, codes = np.random.default_rng(5), np.repeat(np.arange(clusters), SIZES[sizes](clusters))
    shape, covered, trials = (trainings, len(codes)), 0, 300
    for _ in range(trials):
        shared = generator.uniform(0.3, 0.7, clusters)
        first, second = ((shared + generator.uniform(-0.2, 0.2, clusters))[codes] for _ in range(2))
        effect = generator.uniform(-0.1, 0.1, (trainings, 1)) * (trainings > 1)
        change = (generator.random(shape) < first + effect) - (generator.random(shape) < second).astype(float)
        found = mean_over_trainings(change, codes) if trainings > 1 else difference(change[0], 0 * change[0], codes)
        covered += found.low <= 0 <= found.high
    assert covered / trials >= 0.93 - 2 * 0.0147  # two standard errors


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("clusters", [6, 12, 24, 60])
@pytest.mark.parametrize("known", [0.5, 0.8])
def test_intervals_cover_if_people_are_of_two_kinds(sizes, clusters, known):
    """REVIEW A3: recognized in 95 % of the rows, or in 5 %; intervals of 6 to 12 equal people covered .78 to .88."""
    generator, codes = np.random.default_rng(5), np.repeat(np.arange(clusters), SIZES[sizes](clusters))
    truth, covered, trials = 0.05 + 0.9 * known, np.zeros(2), 300
    for _ in range(trials):
        rates = np.where(generator.random(clusters) < known, 0.95, 0.05)[codes]
        right, all_but_few = generator.random((2, len(codes))) < [rates, np.full(len(codes), 0.95)]
        alone, paired = share(right, codes), difference(all_but_few, right, codes)
        covered += [alone.low <= truth <= alone.high, paired.low <= 0.95 - truth <= paired.high]
    assert (covered / trials >= 0.93 - 2 * 0.0147).all()


def test_rows_as_clusters_have_the_exact_interval():
    """Without correlation and with equal clusters, Korn and Graubard's interval is Clopper and Pearson's."""
    success = np.arange(20_000) % 3 == 0
    found = share(success, np.arange(20_000))
    theirs = binomtest(int(success.sum()), 20_000).proportion_ci(method="exact")
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), abs=1e-5)


def drawn_end(means, bound, tail):
    """Return the end of Gaffke's interval of means from -1 to 1: random weights drawn, the beta by its moments."""
    drawn = np.random.default_rng(0).dirichlet(np.ones(len(means) + 1), 100_000) @ [*means, bound]
    centre, spread = (drawn.mean() + 1) / 2, drawn.var() / 4
    size = centre * (1 - centre) / spread - 1
    return 2 * beta.ppf(tail, centre * size, (1 - centre) * size) - 1


@pytest.mark.parametrize("others", [1.0, 0.0])
def test_an_interval_that_one_cluster_decides_allows_for_an_unlike_cluster(others):
    """23 of 24 people agree, and one differs in half of the rows; or all agree, which leaves room for one, too."""
    means = np.array([others / 2, *np.full(23, others)])
    found = difference(np.repeat(means, 30), np.zeros(720), np.repeat(np.arange(24), 30), unit="people")
    assert found.low == pytest.approx(drawn_end(means, -1, 0.025), abs=0.003)
    assert found.high == pytest.approx(drawn_end(means, 1, 0.975), abs=0.003)
    alone = share(np.repeat(means, 30), np.repeat(np.arange(24), 30))
    assert alone.effective == pytest.approx(24)
    assert 0 <= alone.low <= alone.score <= alone.high <= 1
    assert alone.high - alone.low > 0.1


@pytest.mark.parametrize("right", [0, 1, 3, 8, 9])
def test_few_people_who_are_all_right_or_all_wrong_have_the_exact_interval(right):
    found = share(np.repeat(np.arange(9) < right, 40), np.repeat(np.arange(9), 40), unit="people")
    theirs = binomtest(right, 9).proportion_ci(method="exact")
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), abs=1e-9)


def test_another_source_of_variance_widens_every_interval():
    success, codes = clustered(np.random.default_rng(3), 0.6, 0.1, 40)
    for some in (slice(None), slice(210)):  # 40 people, and 7: a wide interval
        right, people = success[some], codes[some]
        small, large = Spread(0.0, 2), Spread(0.02, 2)
        assert share(right, people, more=small) == share(right, people)
        assert difference(right, ~right, people, more=small) == difference(right, ~right, people)
        assert share(right, people, more=large).low < share(right, people).low - 0.05
        wide, narrow = (difference(right, np.zeros(len(right)), people, more=one) for one in (large, small))
        assert wide.low < narrow.low - 0.05
        assert wide.p > narrow.p


def test_unequal_clusters_have_the_degrees_of_freedom_of_their_quadratic_form():
    weights = np.array([1, 2, 3, 10]) / 16
    residual = np.eye(4) - weights  # of equally varying means about their weighted mean
    form = residual.T @ np.diag(weights**2) @ residual
    codes = np.repeat(np.arange(4), [1, 2, 3, 10])
    success = np.random.default_rng(1).random(16)
    sample = Sample.of(success, codes)
    assert sample.own == pytest.approx(np.trace(form) ** 2 / np.trace(form @ form))
    sums = np.bincount(codes, success - success.mean()) / 16
    assert sample.variance == pytest.approx((sums**2).sum() * (weights**2).sum() / np.trace(form))


def test_rows_that_count_as_independent_cover_too_rarely():
    generator = np.random.default_rng(7)
    covered = 0
    for _ in range(300):
        success, _ = clustered(generator, 0.5, 0.3, 60)
        found = share(success)
        covered += found.low <= 0.5 <= found.high
    assert covered / 300 < 0.6


def test_equal_clusters_count_as_one_trial_each():
    """Five people, all recognized: 5 of 5, not thousands of rows."""
    found = share(np.ones(5000), np.repeat(np.arange(5), 1000), unit="people")
    theirs = binomtest(5, 5).proportion_ci(method="exact")
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high))
    assert found.size == "n = 5 people"
    assert found.low < 0.566  # Wilson's interval for 5 of 5, which the normal quantile gives


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 8)), min_size=1, max_size=60))
def test_bounds_hold_the_share(rows):
    success, codes = (np.array(part) for part in zip(*rows, strict=True))
    found = share(success, codes, unit="groups")
    assert 0 <= found.low <= found.score <= found.high <= 1
    assert found.n == len(set(codes.tolist()))


@pytest.mark.parametrize("wrong", [{"success": [2.0]}, {"success": [1.0], "confidence": 1.0}])
def test_wrong_arguments_are_refused(wrong):
    with pytest.raises(ValueError, match=r"a value is not|confidence"):
        share(np.array(wrong.pop("success")), **wrong)


def test_a_measurement_does_not_differ_from_itself():
    right = np.arange(40) % 3 == 0
    found = difference(right, right, np.arange(40) // 4, unit="people")
    assert (found.value, found.low, found.high, found.p, found.n) == (0, 0, 0, 1, 10)
    assert difference(right, right.copy(), np.arange(40) // 4).high > 0.2


def test_measurements_that_are_no_shares_are_refused():
    with pytest.raises(ValueError, match="differ by 3: give shares"):
        difference(np.array([4.0, 0]), np.array([1.0, 0]))


def test_nothing_gives_no_number():
    assert np.isnan(share(np.array([])).score)
    assert np.isnan(difference(np.array([]), np.array([])).low)


def test_the_robust_variance_equals_statsmodels_formula():
    """The variance of a mean with clusters is that of a regression on a constant (CR1)."""
    generator = np.random.default_rng(0)
    success, codes = clustered(generator, 0.4, 0.2, 25)
    x = np.ones((len(success), 1))
    residual = success - success.mean()
    meat = sum((x[codes == c].T @ residual[codes == c]) ** 2 for c in range(25))
    variance = float(25 / 24 * meat.item() / len(success) ** 2)
    p = success.mean()
    lowered = (norm.ppf(0.975) / student.ppf(0.975, 24)) ** 2
    assert share(success, codes).effective == pytest.approx(p * (1 - p) / variance * lowered)


def test_paired_differences_equal_scipys_tests():
    generator = np.random.default_rng(3)
    first, second = generator.random(250) < 0.7, generator.random(250) < 0.6
    found = difference(first, second)
    gains, losses = int((first & ~second).sum()), int((second & ~first).sum())
    assert found.p == binomtest(gains, gains + losses).pvalue
    means = (first.astype(float) - second).reshape(25, 10).mean(axis=1)
    clustered_ = difference(first, second, np.repeat(np.arange(25), 10), unit="recordings")
    theirs = ttest_1samp(means, 0)
    assert clustered_.p == pytest.approx(theirs.pvalue)
    assert (clustered_.low, clustered_.high) == pytest.approx(tuple(theirs.confidence_interval(0.95)))


def test_a_paired_difference_is_narrower_than_two_intervals():
    generator = np.random.default_rng(5)
    hard = generator.random(2000) < 0.5
    first, second = hard | (generator.random(2000) < 0.05), hard
    found, one, other = difference(first, second), share(first), share(second)
    assert found.low > 0
    assert one.low < other.high  # the two intervals overlap


def test_one_cluster_decides_nothing():
    found = difference(np.ones(9), np.zeros(9), np.zeros(9), unit="people")
    assert (found.low, found.high, found.p) == (-1, 1, 1)
    assert (share(np.ones(9), np.zeros(9)).low, share(np.ones(9), np.zeros(9)).high) == (0, 1)


def test_a_share_that_a_lazy_search_did_not_measure_has_no_interval():
    """REVIEW A9: a lazy search leaves identifiability out where accuracy excludes the subset."""
    wide = with_intervals(pd.DataFrame({"accuracy": [0.8, 0.6], "identifiability": [0.2, np.nan]}), 10)
    assert wide["identifiability_low"].isna().tolist() == [False, True]
    assert wide["identifiability_high"].isna().tolist() == [False, True]
    assert wide["accuracy_low"].notna().all()


def test_one_sentence_warns_of_few_units_and_rows_are_never_few():
    assert few_units(["9 recordings", "24 people", "9 recordings"]) == (
        "only 9 recordings: intervals from fewer than 20 are wide, because they allow for recordings unlike these"
    )
    assert few_units(["9 recordings", "4 people"]).endswith("for recordings and people unlike these")
    assert few_units(["1,200 recordings", "3 rows", "20 people"]) == ""


def test_the_interval_of_five_people_of_five_is_wide():
    """REVIEW B5: with recordings as units, the same result had an interval from .935."""
    right, people = np.ones(75), np.repeat(np.arange(5), 15)
    found = share(right, people, unit="people")
    assert found.low < 0.6
    assert (found.n, found.unit) == (5, "people")


def test_one_attacker_or_several_equal_ones_have_the_interval_of_a_share():
    success, codes = clustered(np.random.default_rng(2), 0.4, 0.2, 24)
    alone = share(success, codes, unit="people")
    assert strongest([success], [codes], unit="people") == (0, alone)
    place, equal = strongest([success] * 5, [codes] * 5, unit="people")
    assert (place, equal.score, equal.high) == (0, alone.score, alone.high)
    assert equal.low == pytest.approx(alone.low, abs=2e-3)  # the level is drawn


def test_independent_attackers_have_the_level_of_sidak():
    """Known answer: k independent shares hold together at 1 - (1 - tail)^(1 / k) each."""
    generator = np.random.default_rng(2)
    success = generator.random((8, 40_000)) < 0.5
    place, found = strongest(list(success))
    tail = 1 - (1 - 0.025) ** (1 / 8)
    expected = max(share(one, confidence=1 - 2 * tail).low for one in success)
    assert found.low == pytest.approx(expected, abs=2e-4)
    assert found.high == max(share(one).high for one in success)
    assert found.score == success[place].mean() == success.mean(axis=1).max()


def test_attackers_of_other_units_are_held_to_bonferroni():
    generator = np.random.default_rng(2)
    first, second = generator.random(400) < 0.5, generator.random(300) < 0.4
    low = max(share(one, confidence=1 - 0.05 / 2).low for one in (first, second))
    assert strongest([first, second])[1].low == pytest.approx(low)


def test_one_person_decides_nothing_about_the_strongest_attacker():
    found = strongest([np.ones(4), np.zeros(4)], [np.zeros(4)] * 2)[1]
    assert (found.score, found.low, found.high) == (1, 0, 1)
    assert np.isnan(strongest([np.empty(0)] * 2)[1].score)


@pytest.mark.slow
@pytest.mark.parametrize("many", [11, 16])  # cards of tables have 12 attackers, those of recordings 16
@pytest.mark.parametrize("people", [12, 24, 48])
def test_the_strongest_of_many_attackers_that_know_nothing_seldom_exceeds_chance(people, many):
    """REVIEW E9: the lower end lay above the truth in 5 and 10 % (nominal 2.5). A leak of one is still found."""
    generator = np.random.default_rng(4)
    codes, trials, missed, naive, seen = np.repeat(np.arange(people), 20), 150, 0, 0, 0
    for _ in range(trials):
        rates = generator.beta(4.5, 4.5, (many, people))  # intra-class correlation .1
        rates[5:] = (rates[5:] + rates[:-5]) / 2  # some attackers are alike
        guesses = generator.random((many, len(codes))) < rates[:, codes]
        place, found = strongest(list(guesses), [codes] * many)
        missed += found.low > 0.5
        naive += share(guesses[place], codes).low > 0.5
        guesses[3] = generator.random(len(codes)) < generator.beta(6.75, 2.25, people)[codes]
        seen += strongest(list(guesses), [codes] * many)[1].low > 0.5
    assert missed / trials <= 0.025 + 2 * 0.0127  # two standard errors
    assert people < FEW or naive / trials > 0.1
    assert people < FEW or seen / trials > 0.7
