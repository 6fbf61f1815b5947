from pathlib import Path

import pandas as pd
import pytest

from sensorprivacy.datasets import Windows
from sensorprivacy.latent import Guesses, LatentAnonymizer, MeanShift, Settings, Transport
from sensorprivacy.latent import sweep as module
from sensorprivacy.latent.networks import Sizes
from sensorprivacy.latent.sweep import shifts, sweep

BASE = LatentAnonymizer("gender", vae=Settings(epochs=2, batch=64), sizes=Sizes((16,), 2))


def test_every_cell_and_transfer_has_a_row(windows: Windows, unseen: Windows, guesses: Guesses) -> None:
    transfers = (MeanShift(), Transport(0.5))
    found = sweep(BASE, windows, unseen, guesses, alphas=[1, 10], betas=[0.1], transfers=transfers, progress=False)
    assert found[["alpha", "transfer"]].to_numpy().tolist() == [
        [1, "mean shift"],
        [1, "transport, 0.5 kept"],
        [10, "mean shift"],
        [10, "transport, 0.5 kept"],
    ]
    alone = LatentAnonymizer("gender", alpha=10, vae=BASE.vae, sizes=BASE.sizes)
    alone.fit(windows, validation=unseen, guesses=guesses, progress=False)
    last = alone.history_.groupby("public")["validation_total"].last().mean()
    assert found["loss"].iloc[2] == pytest.approx(last)
    assert (found["worst_public"] <= found["public_after"]).all()
    assert (found["worst_private"] >= found["private_after"]).all()
    assert BASE.alpha == 10
    assert not hasattr(BASE, "vaes_")


def test_a_sweep_cut_short_goes_on(
    windows: Windows, unseen: Windows, guesses: Guesses, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = sweep(BASE, windows, unseen, guesses, alphas=[1, 2, 3], betas=[0.1], progress=False)
    done = []
    real = module._cell

    def counted(*args: object) -> pd.DataFrame:
        done.append(args[4])
        if len(done) == 3:
            raise KeyboardInterrupt
        return real(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "_cell", counted)
    with pytest.raises(KeyboardInterrupt):
        sweep(BASE, windows, unseen, guesses, alphas=[1, 2, 3], betas=[0.1], folder=tmp_path, progress=False)
    found = sweep(BASE, windows, unseen, guesses, alphas=[1, 2, 3], betas=[0.1], folder=tmp_path, progress=False)
    assert done == [1, 2, 3, 3]
    pd.testing.assert_frame_equal(found, whole)


def test_other_data_or_settings_are_other_cells(
    windows: Windows, unseen: Windows, guesses: Guesses, tmp_path: Path
) -> None:
    for base, held in (
        (BASE, unseen),
        (BASE, windows),
        (LatentAnonymizer("gender", vae=Settings(epochs=1, batch=64), sizes=BASE.sizes), unseen),
    ):
        sweep(base, windows, held, guesses, alphas=[1], betas=[0.1], folder=tmp_path, progress=False)
    assert len(list(tmp_path.iterdir())) == 3


def test_a_shift_is_chosen_that_keeps_the_public_class(
    anonymizer: LatentAnonymizer, windows: Windows, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, chosen = shifts(anonymizer, windows, [0.0, 1.0])
    rows = table.set_index("shift")
    assert chosen.transfer == MeanShift(1.0)
    assert chosen.vaes_ is anonymizer.vaes_
    assert rows["chosen"].tolist() == [False, True]
    assert rows.loc[0.0, "private_after"] > 0.9 > 0.5 > rows.loc[1.0, "private_after"]  # unmoved, all is told
    made = {0.0: (0.99, 0.8), 1.0: (0.97, 0.3), 2.0: (0.95, 0.2), 3.0: (0.8, 0.1)}  # public and private after
    asked = iter(made)

    def told(*_: object) -> pd.DataFrame:
        public, private = made[next(asked)]
        row = {"public_before": 0.98, "public_after": public, "private_after": private}
        return pd.DataFrame([row, row], index=["walk", "all"])

    monkeypatch.setattr(module, "inference_table", told)
    assert shifts(anonymizer, windows, list(made), lost=0.02)[1].transfer == MeanShift(1.0)
    asked = iter(made)
    assert shifts(anonymizer, windows, list(made), lost=0.04)[1].transfer == MeanShift(2.0)
    asked = iter(made)
    # all lose more: the one that loses least
    assert shifts(anonymizer, windows, list(made), lost=-0.05)[1].transfer == MeanShift(0.0)
    with pytest.raises(ValueError, match="give at least the paper's shift"):
        shifts(anonymizer, windows, [])
    with pytest.raises(ValueError, match="its redraws, 0"):
        shifts(anonymizer, windows, [1.0], redraws=[])


def test_redraws_are_chosen_beside_the_shift(anonymizer: LatentAnonymizer, windows: Windows) -> None:
    table, chosen = shifts(anonymizer, windows, [1.0, 2.0], redraws=[0, 20], lost=0.01)
    assert table[["shift", "redraws"]].to_numpy().tolist() == [[1, 0], [1, 20], [2, 0], [2, 20]]
    once, again = table["public_after"].to_numpy().reshape(2, 2).T
    assert (again >= once).all()
    assert again[1] > once[1]
    assert table.loc[table["chosen"], "redraws"].item() == chosen.redraw
