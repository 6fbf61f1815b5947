"""What the book says follows from committed results: findings, verdicts, thresholds, executed notebooks, ledger."""

import json
import re
import shutil
from pathlib import Path

import nbformat
import pandas as pd
import pytest

from compendium.book import explorers, notebooks, pages, site
from compendium.book.pages import BookError, Numbers, in_place_of, write
from compendium.paths import figures_dir, project_root
from compendium.run.runs import read_runs
from compendium.show.captions import titles
from compendium.verdicts import quotes
from compendium.verdicts.ledger import entries
from compendium.verdicts.verdicts import read_verdicts
from compendium.verdicts.words import HEADLINE


@pytest.fixture(scope="module")
def verdicts():
    return read_verdicts(figures_dir("paper") / "verdicts.csv")


@pytest.fixture
def changed(root, tmp_path, monkeypatch):
    """Return a function that changes a cell of a committed table in a copy of the results."""

    def change(place, row, column, value):
        run, name = place.split("/")
        folder = tmp_path / "figures"
        folder.mkdir(exist_ok=True)
        for path in (root / "figures").iterdir():
            if path.name != run and not (folder / path.name).exists():
                (folder / path.name).symlink_to(path)
        if (folder / run).is_symlink():
            (folder / run).unlink()
        if not (folder / run).is_dir():
            shutil.copytree(root / "figures" / run, folder / run)
        table = pd.read_csv(folder / run / f"{name}.csv", dtype=str, keep_default_na=False)
        table.loc[(table[list(row)] == list(row.values())).all(axis=1), column] = value
        table.to_csv(folder / run / f"{name}.csv", index=False)
        monkeypatch.setenv("SENSORPRIVACY_OUTPUT", str(tmp_path))

    return change


def numbered(text):
    """Return the findings of a text by their numbers."""
    parts = re.split(r"^(\d)\. ", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def short(verdicts):
    return numbered(pages.findings(verdicts, book=False))


def test_there_are_five_findings_with_numbers_of_committed_tables(verdicts):
    table = pd.read_csv(figures_dir("paper") / "50_one_game-motionsense-subject" / "defences.csv")
    raw = table.set_index("defence").loc["none"]
    for book in (True, False):
        found = numbered(pages.findings(verdicts, book=book))
        assert list(found) == list("12345")
        assert f"{100 * raw['attack']:.0f} %" in found["1"]
        assert ("95 % interval" in found["1"]) is book
    assert f"[{100 * raw['attack_low']:.0f}–{100 * raw['attack_high']:.0f}] of {raw['n']} motion" in found["1"]


def test_a_short_finding_has_at_most_45_words_and_accuracies_have_interval_and_chance(verdicts):
    found = short(verdicts)
    for text in found.values():
        words = re.sub(r"(?<=\])\([^)]*\)", "", text).split()
        assert len([word for word in words if re.search(r"\w", word)]) <= 45
    for number in "124":  # the others count values and places
        assert re.search(r"chance \d+ %", found[number]), number
        assert re.search(r"\d % \[\d+–\d+\]", found[number]), number


def test_bases_of_the_decided_values_add_up(verdicts):
    """The first two sentences: recomputed, read from logs, and in words make all decided values."""
    text = pages.findings(verdicts, book=False)
    decided, recomputed, logs, lacking = (
        int(re.search(pattern, text)[1])
        for pattern in (r"Of (\d+) ", r"(\d+) were recomputed", r"(\d+) read from", r"(\d+) more lack")
    )
    counted = verdicts[verdicts["basis"].isin(HEADLINE)]
    assert lacking == (counted["verdict"] == "no data").sum()
    own = counted[~counted["verdict"].isin(["no data", "undecided"])]["basis"].value_counts()
    assert [recomputed, logs] == own[["rows", "log"]].tolist()
    assert decided == own.sum()


@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        ("differs", "does not prevent re-identification**"),
        ("undecided", "is not shown to prevent re-identification (*undecided*)**"),
        ("exact", "coin toss prevents re-identification**"),
        ("no data", None),
        ("not reproducible", None),
    ],
)
def test_finding_4_says_what_the_verdict_allows(verdicts, verdict, words):
    other = verdicts.copy()
    other.loc[other["claim_id"] == "3-text-probabilistic-prevents", "verdict"] = verdict
    if words is None:
        with pytest.raises(BookError, match=f"finding 4 has no words for {verdict}"):
            short(other)
    else:
        assert words in short(other)["4"]
    with pytest.raises(BookError, match="finding 4 has no words for a claim without a verdict"):
        short(verdicts[verdicts["claim_id"] != "3-text-probabilistic-prevents"])


def test_finding_1_says_what_the_runs_decided(verdicts, changed):
    claims = [pd.read_csv(path) for path in figures_dir("paper").glob("50_one_game-*/claims.csv")]
    found = pd.concat(claims)["verdict"].str.partition(":")[0].value_counts()
    text = short(verdicts)["1"]
    assert f"{found.sum()} verdicts, " in text
    for verdict, count in found.items():
        assert f"{count} *{verdict}*" in text
    assert "holds" not in found
    assert text.startswith("**No defence of the papers is shown to keep accuracy and privacy**")
    game = "50_one_game-motionsense-subject/claims"
    changed(game, {"paper": "2"}, "verdict", "holds")
    text = short(verdicts)["1"]
    assert text.startswith("**Some defence of the papers keeps accuracy and privacy in some game**")
    assert f"{found['undecided'] - 1} *undecided*" in text
    assert "1 *holds*" in text
    assert "*Holds*. The accuracy falls by 11.2 points" in numbered(pages.findings(verdicts, book=True))["1"]
    changed(game, {"paper": "2"}, "verdict", "maybe")
    with pytest.raises(BookError, match="finding 1 has no words for maybe"):
        short(verdicts)


def test_finding_1_is_undecided_if_no_claim_fails(verdicts, root, changed):
    for run in (root / "figures").glob("50_*"):
        changed(f"{run.name}/claims", {"verdict": "does not hold"}, "verdict", "undecided")
    assert short(verdicts)["1"].startswith("**It is undecided whether a defence of the papers keeps")


def test_finding_2_needs_intervals_that_are_apart_without_sitting_and_standing(verdicts, root, monkeypatch):
    assert short(verdicts)["2"].startswith("**The split decides")
    table = pd.read_csv(root / "bench/results/split_by_activity.csv", dtype=str)
    table.loc[(table["apart"] == "recordings") & (table["activities"] == "others"), "high"] = "0.985"
    monkeypatch.setattr(quotes, "_measurement", lambda name: table)
    assert short(verdicts)["2"].startswith("**The split is not shown to decide")


def test_the_measured_split_is_that_of_the_committed_game(root):
    """The bench has trained the forest of notebook 10 again."""
    base = pd.read_csv(root / "figures/10_reidentification_game-motionsense/base.csv")
    own = pd.read_csv(root / "bench/results/split_by_activity.csv").query("activities == 'all'")
    for ours, theirs in (("score", ""), ("low", "_low"), ("high", "_high"), ("chance", "_chance")):
        assert own[ours].tolist() == pytest.approx(base[f"identifiability{theirs}"].tolist(), abs=1e-6)


def test_finding_3_needs_fewer_values_from_the_text(verdicts, changed):
    assert "reproduce, but not from its text**: 148 of 150" in short(verdicts)["3"]
    changed("22_threeway_summary/by-the-text", {"data set": "all"}, "and Eq. (10)", "148")
    assert "reproduce, also from its text**: 148 of 150" in short(verdicts)["3"]


def test_finding_5_needs_most_places(verdicts, changed):
    assert "ranking rewards settings that hardly change the accuracy**: 17 of 18" in short(verdicts)["5"]
    changed("12_game_summary/measure", {"dataset": "all"}, "below half a point", "9")
    assert "ranking is not shown to reward settings" in short(verdicts)["5"]


def test_the_home_says_where_the_predicted_activity_lies(root):
    """Its caption: the prediction alone lies in the lower right corner, and no defence of the papers does."""
    assert "The predicted activity alone lies there; the papers'" in (root / "book/index.md").read_text()
    folder = root / "figures/50_one_game-motionsense-subject"
    table = pd.read_csv(folder / "defences.csv").set_index("defence")
    alone, papers = table.loc["prediction"], table.loc[pd.read_csv(folder / "claims.csv")["defence"]]
    assert (papers["attack_low"] > alone["attack_high"]).all()
    assert (papers["accuracy"] < alone["accuracy"]).all()


@pytest.mark.parametrize(("unit", "shown"), [("groups", "45 % (95 % interval 31 to 60, 96 groups)"), (None, "45 %")])
def test_an_interval_is_shown_where_the_result_says_what_it_counts(monkeypatch, unit, shown):
    row = {"identifiability": 0.45, "identifiability_low": 0.31, "identifiability_high": 0.6, "identifiability_n": 96}
    table = pd.DataFrame([row | {"unit": unit or "", "split": "a"}]).astype(str)
    monkeypatch.setattr(quotes, "tables_of", lambda profile, run: {"base": table}.get)
    numbers = Numbers(pd.DataFrame())
    assert numbers.share("run/base", "identifiability", split="a") == shown
    brief = Numbers(pd.DataFrame(), long=False).share("run/base", "identifiability")
    assert brief == ("45 % [31–60]" if unit else "45 %")
    with pytest.raises(quotes.QuoteError, match=r"figures/run/base.csv has no row 'split=b'"):
        numbers.cell("run/base", "identifiability", split="b")


def test_the_explorer_has_every_printed_value_and_its_run(verdicts):
    places = {name: {"page": "x.html", "section": "", "profile": "quick"} for name in read_runs()}
    data = explorers.verdicts_data(verdicts, places)
    assert [claim["id"] for claim in data["claims"]] == verdicts["claim_id"].tolist()
    assert {claim["run"] for claim in data["claims"]} <= set(data["runs"])
    one = next(claim for claim in data["claims"] if claim["id"] == "1-T2-cicids-identifiability")
    assert one["interval"].startswith("[")
    assert one["unit"] == "8 draws"
    assert next(claim for claim in data["claims"] if claim["id"] == "1-T1-iot23-users")["entries"] == ["D11"]


def test_data_in_a_script_cannot_end_it():
    assert "</script>" not in explorers.script({"text": "</script>"}, "DATA")
    assert json.loads(explorers.script({"a": [1]}, "DATA").partition(" = ")[2].rstrip(";\n")) == {"a": [1]}


def test_the_lattice_agrees_with_the_committed_search():
    for division in explorers.divisions(figures_dir("paper")):
        rows = {(alpha, beta): values for alpha, beta, *values in division["rows"]}
        trace = pd.read_csv(figures_dir("paper") / division["run"] / "trace.csv")
        for row in trace.itertuples():
            found = rows[round(row.alpha, 2), round(row.beta, 2)]
            assert found == pytest.approx([row.utility, row.stability, row.suitability], abs=1e-4)


def test_the_papers_choices_are_positions_of_the_sliders():
    for division in explorers.divisions(figures_dir("paper")):
        assert tuple(division["printed"]) in {(row[0], row[1]) for row in division["rows"]}
    assert all(0.01 in [row["threshold"] for row in one["rows"]] for one in explorers.searches(figures_dir("paper")))
    assert 1 in [row["length"] for row in explorers.shifts(figures_dir("paper"))["rows"]]


def test_every_epsilon_is_a_committed_row():
    for one in explorers.noise(figures_dir("paper")):
        assert {row["kind"] for row in one["rows"]} >= {"noise", "threeway"}
        assert all(row["epsilon"] > 0 for row in one["rows"])


def test_names_of_entries_in_a_text_of_the_ledger_are_links():
    linked = pages.linker(entries())
    text = "See D31,\nD4 (D6) and [D7], not D999 or figures/D5.csv."
    assert linked(text) == "See [D31](#d31), [D4](#d4) ([D6](#d6)) and [D7], not D999 or figures/D5.csv."


def test_a_paper_page_counts_its_verdicts(verdicts):
    own = verdicts[verdicts["paper"] == 2]
    assert f"We list {len(own)} values" in pages.outcome(verdicts, 2)
    recomputed = (own["basis"] == "rows") & (own["verdict"] != "no data")
    assert f"We recomputed {recomputed.sum()} of them from data" in pages.outcome(verdicts, 2)
    apart = own["basis"] == "construction"
    assert f": {(own.loc[~apart, 'verdict'] == 'exact').sum()} exact" in pages.outcome(verdicts, 2)
    assert apart.sum() == 0 or f"; {apart.sum()} by construction." in pages.outcome(verdicts, 2)
    assert "[D6](../ledger.md#d6)" in pages.changed(entries(), 2)
    assert "(paper-2-table-14)=" in pages.tables(verdicts, 2)
    assert "../ledger.md#d6" in pages.headlines(verdicts, 2)


def test_the_paper_profile_is_preferred(tmp_path):
    assert notebooks.find("a", tmp_path) is None
    for profile in ("quick", "paper"):
        (tmp_path / profile).mkdir()
        (tmp_path / profile / "a.ipynb").touch()
        assert notebooks.find("a", tmp_path) == (tmp_path / profile / "a.ipynb", profile)


def test_warnings_go_and_wide_tables_scroll(executed_notebook):
    made = notebooks.cleaned(executed_notebook)
    text = "".join(str(output) for cell in made.cells for output in cell.get("outputs", []))
    assert "TqdmWarning" not in text
    assert '<div class="sp-table" style="overflow-x:auto"' in text
    assert "TqdmWarning" in str(executed_notebook.cells[1].outputs)  # the given notebook is not changed


def test_a_run_shows_its_own_parameters_below_the_defaults(tmp_path):
    new, run = nbformat.v4, read_runs()["10_reidentification_game-smartwatch"]
    given = new.new_code_cell('# Parameters\ndataset = "smartwatch"', metadata={"tags": ["injected-parameters"]})
    notebook = new.new_notebook(cells=[new.new_markdown_cell("# The game"), given])
    link = new.new_markdown_cell("[The attack](31_reidentification_attack.ipynb)")
    notebook.cells.append(link)
    made = notebooks._with_notes(run, notebook, "Executed.", {"31_reidentification_attack": "31-a"})
    assert made.cells[2].source == "[The attack](31-a)"
    assert made.cells[0].source == "# The game (smartwatch)\n\nExecuted.\n"
    assert made.cells[1].source == '# the values of this run\ndataset = "smartwatch"'


def test_a_page_of_results_has_each_file_once_with_its_caption(tmp_path):
    run = read_runs()["21_threeway_division-titanic"]
    (tmp_path / "in" / "drawn").mkdir(parents=True)
    pd.DataFrame({"a": range(70)}).to_csv(tmp_path / "in" / "long.csv", index=False)
    pd.DataFrame({"b": [1]}).to_csv(tmp_path / "in" / "drawn" / "noise.csv", index=False)
    (tmp_path / "in" / "line.png").write_bytes(b"PNG")
    record = {"files": ["long.csv", "line.png"], "drawn": ["drawn/noise.csv"], "parameters": {"names": ["x"]}}
    captions = {"long.csv": "A <long> table", "line.png": "A line"}
    (tmp_path / "in" / "run.json").write_text(json.dumps(record | {"captions": captions}))
    text = notebooks._results(run, tmp_path / "in", tmp_path / "out", pages.templates())
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == ["A line", "Noise", "A &lt;long> table", "Settings"]
    for words in ("![A line](", "A &lt;long&gt; table", "The first 60 of 70 rows.", "names = ['x']"):
        assert words in text
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"long.csv", "line.png", "drawn-noise.csv"}


@pytest.mark.parametrize(
    ("caption", "heading"),
    [
        (
            "iot-23: the subset chosen at each threshold, of 31 subsets",
            "The subset chosen at each threshold, of 31 subsets",
        ),
        ("Fig. 8. The attacker on windows; intervals", "Fig. 8. The attacker on windows"),
        ("", ""),
    ],
)
def test_a_heading_of_results_says_what_is_shown(caption, heading):
    assert notebooks._heading(caption) == heading


@pytest.mark.parametrize(("paper", "heads"), [(2, 5), (3, 5), (1, 3)])
def test_a_paper_s_figures_stand_on_its_page(paper, heads, tmp_path):
    places = {name: {"page": "x.html", "results": "x"} for name in read_runs()}
    page = (project_root() / "book" / "papers" / f"paper-{paper}.md").read_text(encoding="utf-8")
    names = re.findall(r'"([\w-]+/figures?-[\w-]+\.png)"', page)
    text = pages.figures(figures_dir("paper"), tmp_path, places, paper, names)
    assert len(re.findall(r"^### Figures? \d", text, re.MULTILINE)) == heads
    named = re.findall(r"^!\[.{20,}\]\((.+)\)$", text, re.MULTILINE)
    assert sorted(named) == sorted(path.name for path in tmp_path.iterdir())
    assert len(named) == heads
    assert "](../results/" in text
    nowhere: dict = {name: {} for name in places}
    assert "](../results/" not in pages.figures(figures_dir("paper"), tmp_path, nowhere, paper, names)


def test_the_section_of_the_verdicts_is_found(executed_notebook):
    assert notebooks.section_of_verdicts(executed_notebook) == "what-came-out"
    assert notebooks.title_of(executed_notebook) == "Three-way division"


def test_only_a_folder_of_an_earlier_build_is_replaced_and_only_by_a_complete_one(tmp_path):
    def build(folder, name):
        with in_place_of(folder) as part:
            write(part / f"{name}.html", name)
            assert part != folder
            if name == "killed":
                raise KeyboardInterrupt

    folder = tmp_path / "html"
    build(folder, "first")
    with pytest.raises(KeyboardInterrupt):  # it left half of the pages
        build(folder, "killed")
    assert [path.name for path in folder.glob("*.html")] == ["first.html"]
    build(folder, "second")
    assert [path.name for path in folder.glob("*.html")] == ["second.html"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["html"]
    write(tmp_path / "papers" / "thesis.tex", "precious")
    with pytest.raises(BookError, match="choose another folder"):
        build(tmp_path / "papers", "first")
    assert (tmp_path / "papers" / "thesis.tex").read_text() == "precious"


def test_a_lesson_shows_its_pictures_but_those_of_solutions():
    new, picture = nbformat.v4, new_picture()
    text = new.new_output("stream", name="stdout", text="the answer is 42")
    solved = "### BEGIN SOLUTION\nplot(42)\n### END SOLUTION"
    cells = [new.new_code_cell("plot(1)", outputs=[text, picture]), new.new_code_cell(solved, outputs=[picture])]
    made = notebooks.student_version(new.new_notebook(cells=[new.new_markdown_cell("## The scale"), *cells]))
    assert [cell.outputs for cell in made.cells[1:]] == [[picture], []]
    assert made.cells[1].metadata["mystnb"]["image"]["alt"] == "Picture: The scale"


def test_a_lesson_is_executed_once_and_again_when_it_has_changed(isolated, tmp_path):
    new = nbformat.v4
    path, forms = tmp_path / "in" / "1_noise.ipynb", pages.templates()
    path.parent.mkdir()
    head = new.new_markdown_cell("# Lesson 1\n\n**Duration.** 60 minutes.")
    show = "from IPython.display import Image\nimport base64\nImage(base64.b64decode('{}'), format='png')"
    for shown in ("aGVsbG8=", "d29ybGQ="):
        nbformat.write(new.new_notebook(cells=[head, new.new_code_cell(show.format(shown))]), path)
        for execute, pictures in ((False, 0), (True, 1), (False, 1)):
            notebooks.write_lessons(path.parent, tmp_path, forms, execute=execute)
            _, cell = nbformat.read(tmp_path / "lessons" / "1_noise.ipynb", as_version=4).cells
            assert len(cell.outputs) == pictures, (shown, execute)
        assert cell.outputs[0].data["image/png"].strip() == shown


def new_picture():
    return nbformat.v4.new_output("display_data", data={"image/png": "aGVsbG8=", "text/plain": "<Figure>"})


def test_a_folder_whose_removal_was_interrupted_is_still_ours(tmp_path, monkeypatch):
    """The mark was removed with the first files, and no later build replaced the others."""
    folder = tmp_path / "html"
    with in_place_of(folder) as part:
        write(part / "index.html", "an earlier build")

    def interrupted(path, **_):
        for file in (path / ".made-by-sensorprivacy", *path.rglob(".made-by-sensorprivacy")):
            file.unlink(missing_ok=True)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("shutil.rmtree", interrupted)
        with pytest.raises(KeyboardInterrupt), in_place_of(folder):
            pass
    with in_place_of(folder):
        pass
    assert [path.name for path in folder.iterdir()] == [".made-by-sensorprivacy"]


def test_a_guide_written_later_joins_the_list(tmp_path):
    (tmp_path / "index.md").write_text("# Guides")
    (tmp_path / "own.md").write_text("# Protect your table")
    (tmp_path / "cluster.md").write_text("# Run on a cluster")
    assert site._guides(tmp_path) == {"own": "Protect your table", "cluster": "Run on a cluster"}


def test_a_lesson_shows_no_solution_and_no_hidden_test(tmp_path):
    source = "def f(x):\n    ### BEGIN SOLUTION\n    return 42\n    ### END SOLUTION"
    tested = "check(f)\n### BEGIN HIDDEN TESTS\nassert f(1) == 42\n### END HIDDEN TESTS"
    new = nbformat.v4
    head = new.new_markdown_cell("# Lesson 1: noise\n\n**Duration.** 60 minutes: all of them. See entry D8.")
    notebook = new.new_notebook(cells=[head, new.new_code_cell(source), new.new_code_cell(tested)])
    (tmp_path / "in").mkdir()
    nbformat.write(notebook, tmp_path / "in" / "1_noise.ipynb")
    (tmp_path / "in" / "README.md").write_text(
        "# For teachers\n\n[A file](../x.py), [answers](ANSWERS.md), [work](STUDENTS.md)\n"
    )
    (tmp_path / "in" / "ANSWERS.md").write_text("# The answers\n")
    (tmp_path / "in" / "STUDENTS.md").write_text("# How to work\n\nRun the cells.\n")
    assert notebooks.write_lessons(tmp_path / "in", tmp_path, pages.templates()) == [
        "index",
        "1_noise",
        "README",
        "ANSWERS",
    ]
    page = (tmp_path / "lessons" / "1_noise.ipynb").read_text()
    assert "42" not in page
    assert "See [entry D8](../ledger.md#d8)." in page
    assert "...  # your answer" in page
    contents = (tmp_path / "lessons" / "index.md").read_text()
    assert "| [Lesson 1: noise](1_noise) | 60 minutes |" in contents
    begin, _, teachers = contents.partition("## For teachers")
    assert begin.startswith("# How to work\n\nRun the cells.")  # students need no page of the teacher
    assert ".md" not in begin
    assert "[For teachers](README.md)" in teachers
    assert "A file, [answers](ANSWERS.md), [work](index.md)" in (tmp_path / "lessons" / "README.md").read_text()
    assert notebooks.write_lessons(tmp_path / "nowhere", tmp_path, pages.templates()) == []


def test_every_committed_figure_and_table_has_a_heading_of_words():
    """Headings were names of files: "Plane", "Frontier", "Figure 8"."""
    named = []
    for run in read_runs().values():
        record = figures_dir("paper") / run.name / "run.json"
        if not record.is_file():
            continue
        about = json.loads(record.read_text(encoding="utf-8"))
        known = titles(run.notebook.parent / "captions" / f"{run.notebook.stem}.toml", about["parameters"])
        for name in {*about["files"], *about["drawn"]} - {"verdicts.csv"}:
            title = notebooks._heading(about["captions"].get(name, "")) or known.get(Path(name).stem)
            told = name.endswith(".png") or name in about["captions"]  # tables of older runs may have no caption
            named += [(run.name, name, title)] if told and len((title or "").split("{")[0].split()) < 2 else []
    assert named == []
