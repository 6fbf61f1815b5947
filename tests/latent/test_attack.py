import numpy as np
import pytest

from sensorprivacy.datasets import Windows
from sensorprivacy.game.units import wilson
from sensorprivacy.latent import Attacker, LatentAnonymizer, Settings, attackers, reidentify
from sensorprivacy.latent.attack import vote
from sensorprivacy.latent.windows import replace_values

QUICK = Settings(epochs=15, batch=64, rate=3e-3)
PLAIN = Attacker("plain", dropout=0.0, settings=QUICK)


def as_it_is(windows: Windows) -> Windows:
    return windows


def noise(windows: Windows) -> Windows:
    return replace_values(windows, np.random.default_rng(windows.n_windows).normal(size=windows.values.shape))


@pytest.mark.parametrize("attacker", attackers(settings=QUICK), ids=lambda one: one.name)
def test_every_attacker_reads_raw_windows(windows: Windows, unseen: Windows, attacker: Attacker) -> None:
    found = reidentify(as_it_is, windows, unseen, "gender", attacker, runs=1, progress=False).summary
    assert found.accuracy > (0.12 if attacker.attribute else 0.9)
    assert found.chance == pytest.approx(1 / 6 if attacker.attribute else 0.5)
    assert found.low <= found.accuracy <= found.high


def test_noise_gives_chance(windows: Windows, unseen: Windows) -> None:
    found = reidentify(noise, windows, unseen, "gender", PLAIN, runs=3, progress=False).summary
    assert abs(found.accuracy - 0.5) < 0.12


def test_an_attacker_with_the_anonymizer_undoes_a_deterministic_change(
    anonymizer: LatentAnonymizer, windows: Windows, unseen: Windows
) -> None:
    """The paper's section 5.3.1: the original classifier is fooled, a fresh one is not."""
    found = reidentify(anonymizer.transform, windows, unseen, "gender", PLAIN, runs=2, progress=False).summary
    assert found.accuracy > 0.9


def test_runs_are_summed_up(windows: Windows, unseen: Windows) -> None:
    poor = Attacker("poor", settings=Settings(epochs=1, batch=64))
    found = reidentify(as_it_is, windows, unseen, "gender", poor, runs=3, share_known=0.3, progress=False)
    assert found.runs["run"].tolist() == [1, 2, 3]
    assert found.summary["accuracy"] == pytest.approx(found.runs["accuracy"].mean())
    assert found.summary["deviation"] == pytest.approx(found.runs["accuracy"].std())
    assert found.summary["vote"] == pytest.approx(found.runs["vote"].mean())
    assert found.summary["recordings"] == 24
    assert (found.summary["vote_low"], found.summary["vote_high"]) == pytest.approx(
        wilson(found.runs["vote"].mean() * 24, 24)
    )


def test_an_attack_repeats_itself_for_a_seed(windows: Windows, unseen: Windows) -> None:
    poor = Attacker("poor", settings=Settings(epochs=2, batch=64))
    one, two, other = (
        reidentify(as_it_is, windows, unseen, "gender", poor, runs=1, seed=seed, progress=False).runs["accuracy"].item()
        for seed in (0, 0, 5)
    )
    assert one == two
    assert one != other


def test_averaging_sees_through_noise(windows: Windows, unseen: Windows) -> None:
    generator = np.random.default_rng(0)

    def noised(some: Windows) -> Windows:
        return replace_values(some, some.values + generator.normal(0, 6, some.values.shape))

    once, often = (
        reidentify(
            noised,
            windows,
            unseen,
            "gender",
            Attacker("a", dropout=0.0, averaged=count, settings=QUICK),
            runs=2,
            progress=False,
        ).summary.accuracy
        for count in (1, 64)
    )
    assert often > once + 0.1


def test_knowing_the_activity_helps_if_it_matters(windows: Windows, unseen: Windows) -> None:
    """Height tells gender only together with the activity: the released value is its product with +-1."""

    def crossed(some: Windows) -> Windows:
        sign = np.where(some.private["gender"] == "male", 1.0, -1.0) * np.where(some.public == "jog", 1.0, -1.0)
        return replace_values(some, np.ones(some.values.shape) * sign[:, None, None])

    knows = Attacker("knows", dropout=0.0, knows_public=True, settings=QUICK)
    blind, told = (
        reidentify(crossed, windows, unseen, "gender", one, runs=1, progress=False).summary.accuracy
        for one in (PLAIN, knows)
    )
    assert blind == pytest.approx(0.5)
    assert told == 1


def test_a_vote_multiplies_odds() -> None:
    odds = np.array([[0.6, 0.4], [0.6, 0.4], [0.1, 0.9], [0.9, 0.1]])
    # two votes of .6 against one of .9: the product is for the second class
    assert vote(odds, np.array([0, 0, 0, 1])).tolist() == [1, 0]


@pytest.mark.parametrize("wrong", [{"share_known": 0.0}, {"runs": 0}])
def test_out_of_range(windows: Windows, wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="give a share above 0 and at least one run"):
        reidentify(as_it_is, windows, windows, "gender", PLAIN, **wrong)  # type: ignore[arg-type]


def test_wrong_attackers() -> None:
    with pytest.raises(ValueError, match="model 'oracle' is unknown"):
        Attacker("x", "oracle")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="averaged=0"):
        Attacker("x", averaged=0)


def test_strangers_have_no_attack_on_identity(windows: Windows) -> None:
    known, strangers = (windows.take(np.flatnonzero(mask)) for mask in (windows.subject < 4, windows.subject >= 4))
    everyone, some = attackers(), attackers(strangers=True)
    assert [one.name for one in everyone if one not in some] == ["identity"]
    identity = everyone[-1]
    with pytest.raises(ValueError, match="subject '4' was not seen in training"):
        reidentify(lambda windows: windows, known, strangers, "gender", identity, runs=1, progress=False)
