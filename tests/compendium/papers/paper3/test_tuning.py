from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from compendium.papers.paper3 import tuning as module
from compendium.papers.paper3.tuning import (
    SHARES,
    choose_shift,
    grid_search,
    repeat_over_seeds,
    spread_over_seeds,
)
from sensorprivacy.data import Windows
from sensorprivacy.latent import (
    InferenceModels,
    LatentAnonymizer,
    MeanShift,
    SeededSource,
    Transport,
    inference_table,
    training,
)
from sensorprivacy.latent.modify import bijection_codes, generator_of, targets
from sensorprivacy.latent.networks import encode
from sensorprivacy.latent.study import Study
from sensorprivacy.latent.windows import flatten, replace_values


def test_every_cell_and_transfer_has_a_row(
    study: Study, windows: Windows, unseen: Windows, models: InferenceModels
) -> None:
    transfers = (MeanShift(), Transport(0.5))
    found = grid_search(study, models, alphas=[1, 10], betas=[0.1], transfers=transfers)
    assert found[["alpha", "transfer"]].to_numpy().tolist() == [
        [1, "mean shift"],
        [1, "transport, 0.5 kept"],
        [10, "mean shift"],
        [10, "transport, 0.5 kept"],
    ]
    alone = LatentAnonymizer("gender", alpha=10, vae=study.vae)
    alone.fit(windows, validation=unseen, models=models)
    last = alone.history_.groupby("public")["validation_total"].last().mean()
    assert found["loss"].iloc[2] == pytest.approx(last)
    assert (found["worst_public"] <= found["public_after"]).all()
    assert (found["worst_private"] >= found["private_after"]).all()
    assert study.alpha == 10


def test_an_interrupted_search_continues(
    study: Study, models: InferenceModels, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = grid_search(study, models, alphas=[1, 2, 3], betas=[0.1])
    again = replace(study, networks=tmp_path / "again")
    trained, asked = [], []
    epoch, fit = training._epoch, LatentAnonymizer.fit

    def counted(*args: Any, **options: Any) -> Any:
        trained.append(asked[-1])
        return epoch(*args, **options)

    def broken(self: LatentAnonymizer, *args: Any, **options: Any) -> LatentAnonymizer:
        asked.append(self.alpha)
        if len(asked) == 3:
            raise KeyboardInterrupt
        return fit(self, *args, **options)

    monkeypatch.setattr(training, "_epoch", counted)
    monkeypatch.setattr(LatentAnonymizer, "fit", broken)
    with pytest.raises(KeyboardInterrupt):
        grid_search(again, models, alphas=[1, 2, 3], betas=[0.1])
    begun = len(trained)
    found = grid_search(again, models, alphas=[1, 2, 3], betas=[0.1])
    assert set(trained[:begun]) == {1, 2}
    assert set(trained[begun:]) == {3}
    pd.testing.assert_frame_equal(found, whole)


def test_a_shift_is_chosen_that_keeps_the_public_class(
    anonymizer: LatentAnonymizer, windows: Windows, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, chosen = choose_shift(anonymizer, windows, [0.0, 1.0])
    rows = table.set_index("shift")
    assert chosen.transfer == MeanShift(1.0)
    assert chosen.vaes_ is anonymizer.vaes_
    assert rows["chosen"].tolist() == [False, True]
    assert rows.loc[0.0, "private_after"] > 0.9 > 0.5 > rows.loc[1.0, "private_after"]  # unmoved windows reveal it
    made = {0.0: (0.99, 0.8), 1.0: (0.97, 0.3), 2.0: (0.95, 0.2), 3.0: (0.8, 0.1)}  # public and private after
    asked = iter(made)

    def table(*_: object) -> pd.DataFrame:
        public, private = made[next(asked)]
        row = {"public_before": 0.98, "public_after": public, "private_after": private}
        return pd.DataFrame([row, row], index=["walk", "all"])

    monkeypatch.setattr(module, "inference_table", table)
    assert choose_shift(anonymizer, windows, list(made), lost=0.02)[1].transfer == MeanShift(1.0)
    asked = iter(made)
    assert choose_shift(anonymizer, windows, list(made), lost=0.04)[1].transfer == MeanShift(2.0)
    asked = iter(made)
    # all lose more: the one that loses least
    assert choose_shift(anonymizer, windows, list(made), lost=-0.05)[1].transfer == MeanShift(0.0)
    with pytest.raises(ValueError, match="give at least the paper's shift"):
        choose_shift(anonymizer, windows, [])
    with pytest.raises(ValueError, match="its redraws, 0"):
        choose_shift(anonymizer, windows, [1.0], redraws=[])


def test_redraws_are_chosen_beside_the_shift(anonymizer: LatentAnonymizer, windows: Windows) -> None:
    table, chosen = choose_shift(anonymizer, windows, [1.0, 2.0], redraws=[0, 20], lost=0.01)
    assert table[["shift", "redraws"]].to_numpy().tolist() == [[1, 0], [1, 20], [2, 0], [2, 20]]
    once, again = table["public_after"].to_numpy().reshape(2, 2).T
    assert (again >= once).all()
    assert again[1] > once[1]
    assert table.loc[table["chosen"], "redraws"].item() == chosen.redraw


def encoding_anew(one: LatentAnonymizer, windows: Windows, scale: float, redraw: int) -> Windows:
    """Return what Algorithm 1 with redraws publishes, if the windows are encoded anew for each draw."""
    source, models, scaled = SeededSource(0), one.models_, one.models_.scaled(windows)
    public, private = one.infer(windows)
    target = targets(private, one.modify, bijection_codes(None, models.private.classes), source)
    generator, published, misread = generator_of(source), np.empty_like(scaled), np.arange(len(scaled))
    for drawn in range(redraw + 1):
        if drawn:
            misread = misread[models.public_model.predict(published[misread]) != public[misread]]
        for code in np.unique(public[misread]):
            rows, means = misread[public[misread] == code], one.statistics_[code]["means"]
            z, log_variance = encode(one.vaes_[code], flatten(scaled[rows]), "cpu")
            z = z + generator.standard_normal(z.shape) * np.exp(0.5 * log_variance)
            published[rows] = one.decoded(code, z + scale * (means[target[rows]] - means[private[rows]]))
    return replace_values(windows, models.scaler.undo(published))


def test_windows_encoded_once_give_the_table_of_windows_encoded_anew(
    anonymizer: LatentAnonymizer, windows: Windows, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`choose_shift` took 9 minutes for the general autoencoder, half of them for encoding the same windows again."""
    scales, redraws, expected = [1.0, 2.0], [20, 0, 3], {}
    for pair in product(scales, redraws):
        found = inference_table(anonymizer.models_, windows, encoding_anew(anonymizer, windows, *pair)).loc["all"]
        expected[pair] = found[["public_after", "private_after"]].tolist()
    encoded: list[int] = []
    real = LatentAnonymizer._encode
    monkeypatch.setattr(
        LatentAnonymizer, "_encode", lambda self, code, x: encoded.append(len(x)) or real(self, code, x)
    )
    other = replace_values(windows, windows.values)  # of which nothing is remembered
    table = choose_shift(anonymizer, other, scales, redraws=redraws)[0].set_index(["shift", "redraws"])
    assert sum(encoded) == windows.n_windows
    for (scale, redraw), values in expected.items():
        # a redrawn window was encoded in another batch; its last digit can decide whether it is recognized
        near = 0 if redraw == 0 else 1 / windows.n_windows
        found = table.loc[(scale, redraw), ["public_after", "private_after"]].tolist()
        assert found == pytest.approx(values, abs=near, rel=0)


@pytest.mark.slow
def test_each_seed_is_a_training_of_its_own(study: Study) -> None:
    found = repeat_over_seeds(study, [0, 3], modify="deterministic", scales=[1.0, 2.0], redraws=[0, 2])
    assert found[["seed", "change"]].drop_duplicates().to_numpy().tolist() == [
        [0, "mean shift"],
        [0, "chosen"],
        [3, "mean shift"],
        [3, "chosen"],
    ]
    assert found["public class"].unique().tolist() == ["jog", "walk", "all"]
    plain = found[found["change"] == "mean shift"]
    assert set(plain["shift"]) == {1.0}
    assert set(plain["redraws"]) == {0}
    three = study.with_seed(3)
    assert (three.vae.seed, three.inference.seed, study.vae.seed) == (3, 3, 0)
    assert three.folder != study.folder
    models = three.inference_models()
    alone = inference_table(models, study.test, three.anonymizer(models).transform(study.test, SeededSource(3)))[SHARES]
    ours = plain[plain["seed"] == 3].set_index("public class")[SHARES]
    pd.testing.assert_frame_equal(ours, alone)


def test_the_spread_over_seeds_by_hand() -> None:
    rows = [(seed, "chosen", "walk", 0.9, value, 0.8, value / 2) for seed, value in enumerate((0.2, 0.6, 0.4))]
    table = pd.DataFrame(rows, columns=["seed", "change", "public class", *SHARES])
    found = spread_over_seeds(table).loc[("chosen", "walk")]
    assert found[["public_after", "public_after_min", "public_after_max"]].tolist() == pytest.approx([0.4, 0.2, 0.6])
    assert found[["private_after", "private_after_min", "private_after_max"]].tolist() == pytest.approx([0.2, 0.1, 0.3])
    assert found["seeds"] == 3


@pytest.mark.parametrize("seeds", [[], [1, 1]])
def test_seeds_are_named_once(study: Study, seeds: list[int]) -> None:
    with pytest.raises(ValueError, match="give at least one seed, and each seed once"):
        repeat_over_seeds(study, seeds, modify="deterministic", scales=[1.0], redraws=[0])
