import numpy as np
import pandas as pd
import pytest
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from compendium.papers.paper3 import charts, pictures
from compendium.show.figures import render


def test_a_latent_picture_shows_all_windows_and_one_vector() -> None:
    points = pd.DataFrame({"panel": ["before", "after"] * 4, "class": list("aabb") * 2, "x": range(8), "y": range(8)})
    means = pd.DataFrame({"class": ["a", "b"], "x": [0.0, 5.0], "y": [0.0, 5.0]})
    fig = charts.latent_space(points, means)
    assert [axes.get_title(loc="left") or axes.get_title() for axes in fig.axes] == [
        "before the shift",
        "after the shift",
    ]
    assert sum(len(part.get_offsets()) for axes in fig.axes for part in axes.collections) == 8
    assert len(fig.axes[0].texts) == 1


def test_windows_lie_over_each_other() -> None:
    time = np.arange(10) / 50
    parts = [
        pd.DataFrame({"public": public, "channel": channel, "time": time, "original": 1.0, "published": 2.0})
        for public in ("walk", "jog")
        for channel in ("rotation", "acceleration")
    ]
    fig = charts.windows_over(pd.concat(parts))
    assert len(fig.axes) == 4
    assert all(len(axes.lines) == 2 for axes in fig.axes)


def test_a_network_diagram_has_a_box_for_each_layer_with_its_size() -> None:
    vae = [
        ("input", 256),
        ("dense", 512),
        ("mean", 10),
        ("log variance", 10),
        ("z", 10),
        ("private", 2),
        ("output", 256),
    ]
    others = {"activity": [("input", 768), ("conv", 64)], "gender": [("input", 768)]}
    fig = pictures.network_diagrams({"vae": vae, **others})
    *others, vae_axes = fig.axes
    texts = [text.get_text() for text in vae_axes.texts]
    assert texts == [word for kind, size in vae for word in (str(size), kind)]
    boxes = [patch for patch in vae_axes.patches if isinstance(patch, Rectangle)]
    heights = dict(zip([kind for kind, _ in vae], [box.get_height() for box in boxes], strict=True))
    assert heights["dense"] > heights["input"] == heights["output"] > heights["z"] > heights["private"]
    at = {kind: box.get_x() for (kind, _), box in zip(vae, boxes, strict=True)}
    assert at["mean"] == at["log variance"] < at["z"] == at["private"] < at["output"]
    assert len(others) == 2


def test_the_grid_has_a_cell_for_each_pair() -> None:
    table = pd.DataFrame([(a, b, a * b) for a in (1, 10) for b in (0.1, 1, 2)], columns=["alpha", "beta", "loss"])
    fig = charts.weight_grid(table, ["loss"])
    assert [text.get_text() for text in fig.axes[0].texts] == ["2", "20", "1", "10", "0.1", "1"]  # beta rises upwards
    assert fig.axes[1].get_xlabel() == "loss per window"  # the colour key


@pytest.mark.parametrize(("values", "least"), [([0.800, 0.801], 10), ([0.2, 0.9], 70)])
def test_nearly_equal_shares_have_nearly_equal_colours(values, least) -> None:
    table = pd.DataFrame({"alpha": [0, 10], "beta": 0.1, "public_after": values})
    (mesh,) = charts.weight_grid(table, ["public_after"]).axes[0].collections
    low, high = mesh.get_clim()
    assert high - low == pytest.approx(least)
    assert (low + high) / 2 == pytest.approx(50 * sum(values))


def test_raw_windows_are_drawn_alone() -> None:
    raw = pd.DataFrame({"public": "walk", "channel": "rotation", "time": [0.0, 0.02], "original": 1.0})
    fig = charts.windows_over(raw)
    assert len(fig.axes[0].lines) == 1
    assert [text.get_text() for text in fig.legends[0].get_texts()] == ["original"]


def test_each_cell_of_the_grid_is_a_line_through_the_lengths_of_its_shift() -> None:
    rows = [
        (a, 0.1, name, 0.9 - a / 100 - step / 50, 0.5 - step / 10)
        for a in (1, 10)
        for step, name in enumerate(("mean shift", "mean shift x1.5"))
    ]
    table = pd.DataFrame(rows, columns=["alpha", "beta", "transfer", "public_after", "private_after"])
    axes = charts.weight_frontier(table, chance=0.57, raw=0.96).axes[0]
    lines = [line for line in axes.lines if line.get_label().startswith("alpha")]
    assert [line.get_label() for line in lines] == ["alpha 1", "alpha 10"]
    assert lines[0].get_xdata().tolist() == [50, 40]
    assert axes.get_title(loc="left") == "beta 0.1"


def test_the_bars_begin_with_raw_windows() -> None:
    columns = ["public_before", "public_after", "private_before", "private_after"]
    tables = {
        name: pd.DataFrame([[0.97, kept, 0.91, told]], index=["walk"], columns=columns)
        for name, kept, told in (("mean shift", 0.95, 0.26), ("transport", 0.96, 0.09))
    }
    panels = charts.inference_panels(tables, "gender")
    assert list(panels) == ["(a) activity", "(b) gender"]
    assert panels["(a) activity"].loc["walk"].to_dict() == {"raw": 0.97, "mean shift": 0.95, "transport": 0.96}
    assert panels["(b) gender"].loc["walk"].to_dict() == {"raw": 0.91, "mean shift": 0.26, "transport": 0.09}


def test_no_untrained_rival_is_drawn_beside_ours() -> None:
    row = {"attacker": "a", "about": "gender", "level": "window", "score": 0.6, "low": 0.5, "high": 0.7, "chance": 0.5}
    attacks = pd.DataFrame([{"release": name} | row for name in ("ours", "AE, untrained")])
    ends = attacks.assign(activity=0.9, strongest=0.6, trivial=False)
    columns = {f"{who}_{when}": [0.5] for who in ("public", "private") for when in ("before", "after")}
    table = pd.DataFrame(columns | {"chance": 0.5, "windows": 1}, index=["all"])
    for fig in (
        charts.attack_levels(attacks, rows="release", panels="about"),
        charts.privacy_frontier(ends),
        charts.inference_bars({"ours": table, "AE, untrained": table}, "smartwatch", "side"),
    ):
        words = " ".join(text.get_text() for text in fig.findobj(Text))
        assert "ours" in words
        assert "untrained" not in words


def test_attacks_have_levels_intervals_and_chance() -> None:
    levels = ("window", "recording", "person")
    rows = [(r, a, at, 0.7, 0.6, 0.8, 0.57) for r in ("det.", "prob.") for a in ("paper's", "trees") for at in levels]
    table = pd.DataFrame(rows, columns=["release", "attacker", "level", "score", "low", "high", "chance"])
    fig = charts.attack_levels(table.assign(about="gender"))
    assert [axes.get_xlabel() for axes in fig.axes] == [
        f"{name}:\naccuracy of the attacker" for name in ("det.", "prob.")
    ]
    assert [label.get_text() for label in fig.axes[0].get_yticklabels()] == ["paper's", "trees"]
    chances = [line.get_xdata().tolist() for line in fig.axes[0].lines if line.get_marker() == "|"]
    assert chances == [[0.57, 0.57]] * len(levels)
    turned = charts.attack_levels(
        table[table["attacker"] == "trees"].assign(about="gender"), rows="release", panels="about"
    )
    assert [label.get_text() for label in turned.axes[0].get_yticklabels()] == ["det.", "prob."]


@pytest.mark.slow
def test_frontier_and_loss_curves_render_the_same_bytes() -> None:
    table = pd.DataFrame({"release": ["mean shift", "codebook"], "activity": [0.94, 0.95], "strongest": [0.9, 0.6]})
    table = table.assign(trivial=[False, True], chance=0.57)
    history = pd.DataFrame({"epoch": [1, 2] * 2, "public": ["a", "a", "b", "b"], "total": [3.0, 2, 4, 1]})
    for draw in (
        lambda: charts.privacy_frontier(table),
        lambda: charts.loss_curves(history, ["total"]),
    ):
        assert render(draw()) == render(draw())


def test_the_pipeline_names_every_class_and_the_cloud_server() -> None:
    fig = pictures.anonymization_pipeline(["dws", "ups"], ["female", "male"], "deterministic", "mean shift")
    words = " ".join(text.get_text().replace("\n", " ") for text in fig.axes[0].texts)
    names = ("down stairs", "up stairs", "female", "male", "mean shift", "deterministic", "Cloud server")
    assert all(word in words for word in names)


def test_each_of_many_releases_has_a_row_with_its_name() -> None:
    names = ["raw", "deterministic", "general VAE, probabilistic", *(f"codebook {at}" for at in range(9))]
    table = pd.DataFrame({"release": names, "activity": 0.9, "strongest": 1.0, "trivial": False, "chance": 0.57})
    fig = charts.privacy_frontier(table)
    rows = [label.get_text() for axes in fig.axes[::2] for label in axes.get_yticklabels()]
    assert rows == names
    looks = {
        (line.get_color(), line.get_marker()) for axes in fig.axes for line in axes.lines if line.get_ls() == "None"
    }
    assert len(looks) == 4  # groups


def test_printed_accuracies_have_the_form_of_our_bars() -> None:
    printed = charts.printed_panels("motionsense", "gender")
    assert printed["(a) activity"].loc["down stairs"].tolist() == [0.9558, 0.8973]
    assert printed["(b) gender"].loc["up stairs", "mean shift"] == 0.1703
    assert set(charts.printed_panels("mobiact", "weight")) == {"(a) activity", "(b) weight"}
    assert charts.printed_panels("smartwatch", "side") == {}
    columns = {f"{who}_{when}": [0.5] * 5 for who in ("public", "private") for when in ("before", "after")}
    table = pd.DataFrame(columns, index=["dws", "jog", "ups", "wlk", "all"])
    table = table.assign(chance=0.57, windows=[1, 1, 1, 7, 10])
    fig = charts.inference_bars({"mean shift": table}, "motionsense", "gender")
    levels = [line[0][1] for axes in fig.axes for some in axes.collections for line in some.get_segments() if len(line)]
    assert levels == [0.7] + [0.57] * 5  # of the activity for all windows only
    marks = [line.get_ydata() for axes in fig.axes for line in axes.lines if line.get_marker() == "D"]
    assert [values[0] for values in marks] == [0.9558, 0.8973, 0.8767, 0.2625]
    assert np.isnan(marks[0][-1])  # the paper prints no value for all activities together
