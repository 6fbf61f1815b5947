import numpy as np
import pytest

from sensorprivacy.latent.modify import (
    SecretSource,
    SeededSource,
    bijection_codes,
    coins,
    generator_of,
    targets,
    uniform,
)

PRIVATE = np.array([0, 1, 2, 0, 1, 2])


class Fixed:
    """Gives the same byte for ever."""

    def __init__(self, byte: int) -> None:
        self.byte = byte

    def bytes(self, count: int) -> bytes:
        return bytes([self.byte]) * count


def test_the_papers_order_of_three_weight_groups_is_a_cycle() -> None:
    mapping = bijection_codes(None, ["<= 70", "70-90", "> 90"])
    assert targets(PRIVATE, "deterministic", mapping, SecretSource()).tolist() == [1, 2, 0, 1, 2, 0]


def test_two_classes_change_places() -> None:
    mapping = bijection_codes(None, ["female", "male"])
    assert targets(np.array([0, 1]), "deterministic", mapping, SecretSource()).tolist() == [1, 0]


def test_any_bijection_can_be_given() -> None:
    mapping = bijection_codes({"a": "c", "b": "b", "c": "a"}, ["a", "b", "c"])
    assert targets(PRIVATE, "deterministic", mapping, SecretSource()).tolist() == [2, 1, 0, 2, 1, 0]


@pytest.mark.parametrize("wrong", [{"a": "b"}, {"a": "b", "b": "b"}, {"a": "b", "b": "d"}, {}])
def test_other_mappings_than_bijections_are_refused(wrong: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="one-to-one"):
        bijection_codes(wrong, ["a", "b"])


def test_the_coin_decides_window_by_window() -> None:
    mapping = bijection_codes(None, ["a", "b", "c"])
    # 0b10101010: the first window is changed, the second is not, ...
    changed = targets(PRIVATE, "probabilistic", mapping, Fixed(0b10101010))
    assert changed.tolist() == [1, 1, 0, 0, 2, 2]
    assert targets(PRIVATE, "probabilistic", mapping, Fixed(0)).tolist() == PRIVATE.tolist()


def test_coins_are_fair_and_fresh() -> None:
    source = SecretSource()
    one, two = coins(source, 100_000), coins(source, 100_000)
    assert abs(one.mean() - 0.5) < 0.01  # six deviations
    assert abs((one == two).mean() - 0.5) < 0.01


def test_uniform_classes_do_not_depend_on_the_true_one() -> None:
    private = np.repeat([0, 1, 2], 20_000)
    drawn = targets(private, "uniform", np.array([1, 2, 0]), SecretSource())
    for code in range(3):
        assert np.allclose(np.bincount(drawn[private == code]) / 20_000, 1 / 3, atol=0.02)


def test_constant_sends_all_to_one_class() -> None:
    assert targets(PRIVATE, "constant", np.array([1, 2, 0]), SecretSource()).tolist() == [0] * 6


def test_an_unknown_modify_lists_the_known() -> None:
    with pytest.raises(ValueError, match="'sometimes' is unknown: choose from deterministic, probabilistic"):
        targets(PRIVATE, "sometimes", np.array([1, 2, 0]), SecretSource())  # type: ignore[arg-type]


def test_production_draws_from_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def token_bytes(count: int) -> bytes:
        asked.append(count)
        return b"\x00" * count

    monkeypatch.setattr("secrets.token_bytes", token_bytes)
    coins(SecretSource(), 17)
    uniform(SecretSource(), 2, 3)
    generator_of(SecretSource())
    assert asked == [3, 16, 32]


def test_a_seeded_source_repeats_itself() -> None:
    assert SeededSource(1).bytes(8) == SeededSource(1).bytes(8) != SeededSource(2).bytes(8)
