"""runs.yaml: what is said, what is refused, and that the real one is true."""

from pathlib import Path

import pytest

from compendium.datasets.catalogue import catalogue
from compendium.run import runs as runs_module
from compendium.run.parameters import code_cells, read_parameters, resolve
from compendium.run.runs import Run, RunsError, before, read_runs, select
from compendium.verdicts.prediction import FEWEST

ONE = """\
runs:
  21_division-adult:
    about: the Adult data set
    parameters: {dataset: adult, step: 0.1}
    profiles: {paper: {step: 0.05}}
    needs: [adult]
    minutes: {quick: 1, paper: 2}
  90_report:
    about: everything
    minutes: {quick: 1, paper: 1}
    after_all: true
"""


@pytest.fixture
def written(tmp_path):
    (tmp_path / "notebooks").mkdir()

    def write(text: str):
        (tmp_path / "runs.yaml").write_text(text)
        return tmp_path / "runs.yaml"

    return write


def test_a_run_says_its_notebook_values_and_needs(written):
    runs = read_runs(written(ONE))
    run = runs["21_division-adult"]
    assert list(runs) == ["21_division-adult", "90_report"]
    assert run.notebook.name == "21_division.ipynb"
    assert run.values("quick") == {"dataset": "adult", "step": 0.1, "profile": "quick"}
    assert run.values("paper") == {"dataset": "adult", "step": 0.05, "profile": "paper"}
    assert run.sets == ("adult",)
    assert not run.after_all
    assert runs["90_report"].after_all


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("needs:", "nedes:", "21_division-adult > nedes: unknown key"),
        ("about: everything", "about: ''", "90_report > about"),
        ("{quick: 1, paper: 2}", "{}", "21_division-adult > minutes: Dictionary should have at least 1 item"),
        ("quick: 1, paper: 2", "quick: 1", "21_division-adult: Value error, profiles has paper, but minutes has not"),
        (
            "quick: 1, paper: 2",
            "quick: fast, paper: 2",
            "21_division-adult > minutes > quick: Input should be a valid number",
        ),
        ("needs: [adult]", "needs: adult", "21_division-adult > needs: Input should be a valid tuple"),
        (
            "profiles: {paper:",
            "profiles: {papers:",
            "21_division-adult > profiles > papers: Input should be 'quick' or 'paper'",
        ),
        ("90_report:", "report:", "runs > report: String should match pattern"),
        ("90_report:", "21_division-adult:", "21_division-adult twice"),
        (
            "about: the Adult data set",
            "about: x\n    after_all: true",
            "21_division-adult is after_all, which only the",
        ),
        ("runs:", "runs: [", "is no YAML"),
        ("runs:", "name: x\nruns:", "name: unknown key"),
        ("needs: [adult]", "after: [22_summary]", "comes after '22_summary', which names no run"),
        ("needs: [adult]", "after: ['90_*']", "comes after 90_report, which must be written above it"),
    ],
)
def test_a_mistake_is_named_with_its_place(written, old, new, said):
    with pytest.raises(RunsError) as refused:
        read_runs(written(ONE.replace(old, new)))
    assert said in str(refused.value)


def test_a_run_reads_the_results_of_those_it_comes_after(written):
    summary = "  22_summary:\n    about: x\n    minutes: {quick: 1, paper: 1}\n    after: ['21_division-*']\n"
    runs = read_runs(written(ONE.replace("  90_report:", f"{summary}  90_report:")))
    assert before(runs["22_summary"], runs) == ["21_division-adult"]
    assert before(runs["21_division-adult"], runs) == []


@pytest.mark.parametrize(
    ("here", "missing"),
    [("abc", []), ("ab", []), ("ac", []), ("bc", ["a"]), ("a", ["b", "c"]), ("", ["a", "b", "c"])],
)
def test_a_run_may_need_one_set_of_several(here, missing):
    minutes = {"quick": 1, "paper": 1}
    sets = {"needs": ("a",), "needs_one": ("b", "c"), "uses": ("d",)}
    run = Run(name="x", notebook=Path("x.ipynb"), about="x", minutes=minutes, **sets)
    assert run.missing(lambda name: name in here) == missing
    assert run.sets == ("a", "b", "c", "d")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(RunsError, match=r"no file .*runs\.yaml"):
        read_runs(tmp_path / "runs.yaml")


def test_words_select_runs(written):
    runs = read_runs(written(ONE))
    assert list(select(runs, [])) == list(runs)
    assert list(select(runs, ["21_*"])) == ["21_division-adult"]
    with pytest.raises(RunsError, match="no run '22'; there are 21_division-adult, 90_report"):
        select(runs, ["22"])


def test_a_run_may_belong_to_one_profile(written):
    runs = read_runs(written(ONE.replace("quick: 1, paper: 2", "paper: 2")))
    assert list(select(runs, [], "quick")) == ["90_report"]
    assert list(select(runs, ["*"], "quick")) == ["90_report"]
    assert list(select(runs, [], "paper")) == list(select(runs, [])) == list(runs)
    with pytest.raises(RunsError, match="21_division-adult is in the profile paper only: add --profile paper"):
        select(runs, ["21_*"], "quick")


def test_the_real_runs_take_what_their_notebooks_declare():
    runs = read_runs()
    for run in runs.values():
        assert set(run.sets) <= catalogue().keys(), run.name
        for profile in run.minutes:
            resolve(read_parameters(run.notebook), run.values(profile))
    assert [run.name for run in runs.values() if run.after_all] == ["90_replication_report"]
    # the package index has their data set, and the paper prints no value for it
    without = {"33_activity_loss-smartwatch-side", "40_edge_timing-smartwatch"}
    assert {run.name for run in runs.values() if "paper" not in run.minutes} == without
    assert all(isinstance(run, Run) for run in runs.values())


NETWORKS = ("alpha", "beta", "network", "most", "every", "scheme", "channels", "epochs", "inference_epochs", "batch")
NETWORKS += ("precision", "start", "seed", "dataset", "private", "rival_epochs", "hides", "changes", "search_epochs")


def with_defaults(run: Run, profile: str) -> dict[str, object]:
    return {name: one.default for name, one in read_parameters(run.notebook).items()} | run.values(profile)


def test_no_run_of_the_paper_profile_depends_on_the_machine():
    """REVIEW A9: `precision: auto` trained Table 1 in bfloat16 and Fig. 8 in float32."""
    found = {name: with_defaults(run, "paper") for name, run in read_runs().items() if run.runs_in("paper")}
    chosen = {name: values["precision"] for name, values in found.items() if "precision" in values}
    assert len(chosen) > 20
    assert set(chosen.values()) == {"float32"}
    for notebook in {run.notebook for run in read_runs().values()}:  # notebook 50 trained in what was faster here
        code = "\n".join(source for source, _ in code_cells(notebook))
        fixed = "precision" in read_parameters(notebook) or '"precision": "float32"' in code
        assert fixed or "prepare" not in code, notebook.name


def test_table_1_and_figure_8_are_about_the_same_networks():
    """REVIEW A9: and the rivals have our number of epochs, chosen settings and several trainings (REVIEW A3)."""
    runs = read_runs()
    for profile in ("quick", "paper"):
        first, second = (
            with_defaults(runs[f"{notebook}-motionsense-gender"], profile)
            for notebook in ("30_vae_anonymization", "31_reidentification_attack")
        )
        assert {name: first[name] for name in NETWORKS} == {name: second[name] for name in NETWORKS}
    assert len(first["seeds"]) >= FEWEST, "with fewer trainings, no cell of Table 1 can be judged"
    assert second["seeds"] == first["seeds"][: first["rival_trainings"]]
    assert len(second["seeds"]) >= 3
    assert second["runs"] == 20
    assert second["runs"] % len(second["seeds"]) == 0
    assert len(first["hides"]) * len(first["changes"]) == len(first["alphas"]) * len(first["betas"]) == 16
    for name, run in runs.items():
        if name.startswith(("30_", "31_")) and run.runs_in("paper"):
            values = with_defaults(run, "paper")
            assert values["rival_epochs"] == values["epochs"], name
            assert values["general_epochs"] in (0, values["epochs"]), name


def test_a_run_that_never_started_names_the_data_it_needs(monkeypatch, tmp_path, root):
    """Its owner gives MobiAct on request, so "make reproduce" cannot help."""
    for name in ("runs.yaml", "notebooks", "data", "lib"):
        (tmp_path / name).symlink_to(root / name)
    monkeypatch.setenv("SENSORPRIVACY_HOME", str(tmp_path))
    monkeypatch.setattr(runs_module.store, "available", lambda name: name != "mobiact")
    monkeypatch.setattr(runs_module.store, "locate", lambda name: None)
    found = runs_module.statuses("paper")
    assert found["30_vae_anonymization-mobiact-gender-raw"].status == "no data"
    assert "on request from its owner" in found["30_vae_anonymization-mobiact-gender-raw"].reason
    assert found["30_vae_anonymization-motionsense-gender"].status == "not run"
