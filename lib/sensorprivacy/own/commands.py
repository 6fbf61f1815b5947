"""Do the work of ``minimize``, ``compare``, ``publish`` and ``edge export``; `sensorprivacy.cli` has their options."""

import sys
import time
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from json import dumps
from pathlib import Path
from typing import Any

from sklearn.ensemble import RandomForestClassifier

from sensorprivacy.columns.identifiers import IdentifierWarning
from sensorprivacy.columns.judge import in_words
from sensorprivacy.data import Problem
from sensorprivacy.game.joins import join_rows
from sensorprivacy.game.splits import Split
from sensorprivacy.minimize.minimizer import FeatureMinimizer
from sensorprivacy.minimize.settings import OWN, Preselection
from sensorprivacy.minimize.stability import repeat_selection
from sensorprivacy.own import comparison, minimize_page
from sensorprivacy.own.compare_page import page
from sensorprivacy.own.defences import parse_bounds
from sensorprivacy.own.publishing import tables as publishing
from sensorprivacy.own.publishing.writing import check_room, check_targets, write_table
from sensorprivacy.own.running import plain_notices
from sensorprivacy.own.tables import load_table
from sensorprivacy.paths import cache_folder, write_atomically

# what recordings need imports PyTorch, which takes seconds, so the functions below import it

INTERRUPTED = 130  # exit code of a process that Ctrl-C ended
_OF_TABLES = ("user", "groups", "keep", "drop", "missing", "rare", "constant", "bins", "bounds", "keep_order")


def minimize(
    file: Path,
    *,
    task: str,
    user: str,
    threshold: float,
    out: Path | None,
    json: Path | None,
    preselect: int,
    score: str,
    by: str,
    trees: int,
    engine: str,
    store: Path | None,
    jobs: int | None,
    max_rows: int,
    repeat: int,
    allow_long: bool,
    race: bool | None,
    seed: int,
    quiet: bool,
    **table: Any,
) -> int:
    """Minimize a table, print the report and write the kept columns; return the exit code."""
    check_targets({"--out": out, "--json": json}, file)
    if out is not None:
        check_room(out, file)
    minimizer = FeatureMinimizer(
        threshold,
        n_preselect=preselect,
        estimator=RandomForestClassifier(trees, n_jobs=-1),
        rare="keep",  # the reader of the table has set rare labels and constant columns aside
        constant="drop",
        preselection=Preselection(score=score, by=by),
        search=replace(OWN, engine=engine, result_store=store, allow_long=allow_long, max_rows=max_rows, race=race),
        n_jobs=jobs,
        random_state=seed,
        progress=not quiet,
    )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", IdentifierWarning)  # the page names these columns
            loaded = load_table(file, task=task, user=user, **table)
            minimizer.fit_problem(loaded.problem)
        stability = repeat_selection(minimizer, loaded.problem, repeat)
    except KeyboardInterrupt:
        saved = "nothing was saved; with --store FILE, a later run can continue"
        if store is not None:
            saved = f"finished models are saved in {store}; run the same command again to continue"
        print(f"interrupted; {saved}", file=sys.stderr)
        return INTERRUPTED
    kept = minimizer.summary()["kept"]
    joined = join_rows(loaded.problem.features, kept)
    print(minimize_page.page(minimizer, loaded.problem, task, user, joined=joined, stability=stability))
    if json is not None:
        _write_json(minimize_page.facts(minimizer, loaded.problem, joined, stability), json)
        print(f"\nWritten: {json}")
    if out is not None:
        write_table(loaded.frame.iloc[loaded.rows][[*kept, task]], out)
        print(f"\nWritten: {out} ({len(kept)} features and {task}; not {user}; rows in random order)")
    return 0


def _write_json(facts: Mapping[str, Any], file: Path) -> None:
    text = dumps(facts, indent=1, default=str)
    write_atomically(file, lambda part: part.write_text(text, encoding="utf-8"))


def compare(
    file: Path,
    *,
    given: Collection[str],
    task: str,
    user: str | None,
    hide: str | None,
    defences: Sequence[str],
    max_loss: float,
    minutes: float,
    report: Path | None,
    json: Path | None,
    store: Path | None,
    trees: int,
    jobs: int,
    max_rows: int,
    seed: int,
    quiet: bool,
    **table: Any,
) -> int:
    """Compare defences on a table or recordings and print the page; return the exit code."""
    began = time.monotonic()
    recorded = _check_kind(file, given, {"--user": user, "--hide": hide})
    check_targets({"--report": report, "--json": json, "--store": store}, file)
    split: Split | None = None
    chosen: list[Any] | None = list(defences) or None
    try:
        with plain_notices():
            if recorded:
                problem, split, chosen = _recordings(file, task, str(hide), defences, seed)
            else:
                problem = _table(file, task=task, user=user, **table)
            model = RandomForestClassifier(trees, n_jobs=jobs)
            # results name people, so they do not belong beside a report to hand on
            store = store or cache_folder() / "compare" / f"{problem.digest[:16]}.jsonl"
            options: Any = {"began": began, "split": split, "model": model, "max_rows": max_rows, "seed": seed}
            found = comparison.compare(problem, chosen, minutes, store=store, progress=not quiet, **options)
            code = 0
    except comparison.ComparisonInterrupted as stopped:
        found, code = stopped.comparison, INTERRUPTED
        print("interrupted: this is the best answer so far; run the same command again to continue", file=sys.stderr)
    print(page(found, max_loss))
    if report is not None:
        found.to_html(report, max_loss)
    if json is not None:
        found.to_json(json)
    if written := [str(path) for path in (report, json) if path is not None]:
        print(f"\nWritten: {', '.join(written)}")
    return code


def _table(file: Path, **options: Any) -> Problem:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IdentifierWarning)  # printed below
        problem = load_table(file, **options).problem
    if left_out := problem.provenance["left_out"]:
        print(
            f"left out, because these columns identify rows or users: {in_words(left_out)}; use one with --keep",
            file=sys.stderr,
        )
    return problem


def _recordings(
    file: Path, task: str, hide: str, defences: Sequence[str], seed: int
) -> tuple[Problem, Split, list[Any]]:
    from sensorprivacy.own.windows import TABLE_WORDS, own_game

    game = own_game(file, task, hide, seed=seed)
    releases = {one.name: one for one in game.defences}
    words = defences or [*TABLE_WORDS, *releases]
    return game.problem, game.split, [releases.get(word, word) for word in words]


def publish(
    file: Path,
    *,
    given: Collection[str],
    user: str | None,
    hide: str | None,
    defence: str | None,
    out: Path,
    save: Path | None,
    fitted: Path | None,
    bounds: Sequence[str],
    keep_order: bool,
    sample: int,
    quiet: bool,
    task: str | None,
    seed: int,
    **table: Any,
) -> int:
    """Publish a file, print what was written, and return the exit code."""
    if defence is None and fitted is None:
        first = "latent" if _is_description(file) else "minimize:threshold=.01"
        raise ValueError(
            f"--defence is missing: {first} is a good first choice, and `sensorprivacy compare` finds the best one for "
            "your data; or name a folder with --fitted"
        )
    recorded = _check_kind(file, given, {})
    common: Any = {"task": task, "defence": defence, "out": out, "save": save, "fitted": fitted, "seed": seed}
    try:
        if recorded:
            from sensorprivacy.own.publishing.recordings import publish_recordings

            with plain_notices():
                card = publish_recordings(file, hide=hide, progress=not quiet, **common)
        else:
            table |= {"bounds": parse_bounds(bounds), "sample": sample, "in_order": keep_order}
            card = publishing.publish(file, user=user, **common, **table)
    except KeyboardInterrupt:
        print("interrupted; nothing was written", file=sys.stderr)
        return INTERRUPTED
    print(card.to_markdown())
    print(f"Written: {out} ({', '.join(card.facts['size'])}, card.md, card.json)")
    if save is not None:
        print(f"Saved: {save} (keep it private: it describes the training rows)")
    return 0


def _is_description(file: Path) -> bool:
    return file.suffix.lower() == ".toml"


def _check_kind(file: Path, given: Collection[str], needed: Mapping[str, str | None]) -> bool:
    """Return whether a file describes recordings; reject options that are for the other kind, and a missing label.

    Parameters
    ----------
    file : path
        A table, or a description of recordings.
    given : collection of str
        Names of the options on the command line.
    needed : mapping
        ``--user`` and ``--hide`` with their values, if tables need the first and recordings the second.
    """
    recorded = _is_description(file)
    for name in _OF_TABLES if recorded else ("hide",):
        if name in given:
            kinds = ("tables", "describes recordings") if recorded else ("recordings", "is a table")
            option = f"--{name.replace('_', '-')}"
            raise ValueError(f"{option} is for {kinds[0]}, but {file} {kinds[1]}: leave it out")
    option, what = ("--hide", "attribute to hide") if recorded else ("--user", "column with the users")
    if option in needed and needed[option] is None:
        raise ValueError(f"{option} is missing: name the {what}")
    return recorded


def export(
    recordings: Path,
    *,
    hide: str | None,
    save: Path | None,
    out: Path,
    model: Path | None,
    epochs: int,
    inference_epochs: int,
) -> int:
    """Write the networks of your recordings and edge.pyz into a folder; return the exit code."""
    from sensorprivacy.edge.program import write_program
    from sensorprivacy.own.boards import own_bundles

    choices = {"epochs": epochs, "inference_epochs": inference_epochs}
    made = own_bundles(recordings, hide, out, model=model, keep=save, **choices)
    for bundle in made.values():
        print(f"{bundle.folder}  {sum(step.bytes for step in bundle.steps) / 1e6:.1f} MB, {len(bundle.steps)} files")
    print(f"{write_program(out)}  copy the folder to a board and run: python3 edge.pyz measure --out board.json")
    return 0
