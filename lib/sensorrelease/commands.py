"""Do the work of ``minimize``, ``compare``, ``publish`` and ``edge export``; `sensorrelease.cli` has their options."""

import json
import sys
import time
from dataclasses import replace
from types import SimpleNamespace as Options
from typing import Any

from sklearn.ensemble import RandomForestClassifier

from sensorprivacy.data import Problem
from sensorprivacy.game.joins import match_rows
from sensorprivacy.game.splits import Split
from sensorprivacy.minimize.minimizer import FeatureMinimizer, fit_problem
from sensorprivacy.minimize.settings import OWN, Preselection
from sensorprivacy.paths import cache_folder, write_atomically
from sensorrelease import comparison, minimize_page
from sensorrelease.compare_page import page
from sensorrelease.own_table import find_schema
from sensorrelease.publishing import tables as publishing
from sensorrelease.publishing.tables import check_confirmed
from sensorrelease.publishing.writing import check_new, check_targets
from sensorrelease.recordings import is_recorded, located
from sensorrelease.running import plain_notices
from sensorrelease.schema.coarse import title
from sensorrelease.schema.gate import withholding
from sensorrelease.schema.storage import describe
from sensorrelease.stability import repeat_selection
from sensorrelease.tables import own_problem

# what recordings need imports PyTorch, which takes seconds, so the functions below import it

_FINAL = 15_000  # training rows of the evaluation: a forest for 50 users needs about 0.5 GB
INTERRUPTED = 130  # exit code of a process that Ctrl-C ended
_ROLES = ("task", "user", "recording")
_OF_TABLES = ("bins", "keep_order", "sample")


def minimize(options: Options) -> int:
    """Minimize a table, print the report, and publish the kept columns if asked to; return the exit code."""
    check_targets({"--json": options.json, "--store": options.store}, options.file)
    minimizer = FeatureMinimizer(
        options.threshold,
        n_preselect=options.preselect,
        estimator=RandomForestClassifier(options.trees, n_jobs=-1),
        rare="keep",  # the reader of the table has set rare labels and constant columns aside
        constant="drop",
        preselection=Preselection(score=options.score, by=options.by, variant="own"),
        search=replace(
            OWN,
            engine=options.engine,
            result_store=options.store,
            max_rows=options.max_rows,
            race=options.race,
            final_rows=_FINAL,
        ),
        allow_long=options.allow_long,
        n_jobs=options.jobs,
        random_state=options.seed,
        progress=not options.quiet,
    )
    roles, shown = _named(options, _ROLES), not options.quiet
    declared = None
    if options.out is not None:  # an unconfirmed schema is refused before the search
        check_new(options.out, "--out")
        declared = _declared(options)["schema"]
    try:
        with plain_notices():
            problem = own_problem(
                options.file, options.schema, bins=options.bins, seed=options.seed, progress=shown, **roles
            )
            fit_problem(minimizer, problem)
        stability = repeat_selection(minimizer, problem, options.repeat)
    except KeyboardInterrupt:
        saved = "nothing was saved; with --store FILE, a later run can continue"
        if options.store is not None:
            saved = f"finished models are saved in {options.store}; run the same command again to continue"
        print(f"interrupted; {saved}", file=sys.stderr)
        return INTERRUPTED
    kept = minimizer.summary()["kept"]
    filled = problem.filled(minimizer.split_.train)
    matches = match_rows(filled.features, filled.features[kept], filled.task)
    print(minimize_page.page(minimizer, problem, matches=matches, stability=stability))
    if options.json is not None:
        text = json.dumps(minimize_page.facts(minimizer, problem, matches, stability), indent=1, default=str)
        write_atomically(options.json, lambda part: part.write_text(text, encoding="utf-8"))
        print(f"\nWritten: {options.json}")
    if declared is not None:
        dropped = {title(one) for one in declared.features} - set(kept)
        return _write(options, schema=withholding(declared, dropped, "minimize dropped it"), defence="none")
    return 0


def compare(options: Options) -> int:
    """Compare defences on a table or recordings and print the page; return the exit code."""
    began = time.monotonic()
    recorded = _check_kind(options)
    check_targets({"--report": options.report, "--json": options.json, "--store": options.store}, options.file)
    try:
        with plain_notices():
            problem, split, defences = _recordings(options) if recorded else _table(options)
            # results name people, so they do not belong beside a report to hand on
            store = options.store or cache_folder() / "compare" / f"{problem.digest[:16]}.jsonl"
            found, code = comparison.compare(
                problem,
                defences or None,
                options.minutes,
                began=began,
                split=split,
                model=RandomForestClassifier(options.trees, n_jobs=options.jobs),
                max_rows=options.max_rows,
                seed=options.seed,
                store=store,
                progress=not options.quiet,
            ), 0  # fmt: skip
    except comparison.ComparisonInterrupted as stopped:
        found, code = stopped.comparison, INTERRUPTED
        print("interrupted: this is the best answer so far; run the same command again to continue", file=sys.stderr)
    print(page(found, options.max_loss))
    if options.report is not None:
        found.to_html(options.report, options.max_loss)
    if options.json is not None:
        found.to_json(options.json)
    if written := [str(path) for path in (options.report, options.json) if path is not None]:
        print(f"\nWritten: {', '.join(written)}")
    return code


def _table(options: Options) -> tuple[Problem, None, list[str]]:
    how: dict[str, Any] = {"bins": options.bins, "seed": options.seed, "progress": not options.quiet}
    return own_problem(options.file, options.schema, **_named(options, _ROLES), **how), None, list(options.defences)


def _recordings(options: Options) -> tuple[Problem, Split, list[Any]]:
    from sensorrelease.windows import TABLE_WORDS, own_game

    game = own_game(options.file, options.hide, options.schema, **_named(options, _ROLES), seed=options.seed)
    releases = {name: one for one in game.defences for name in (one.name, one.word) if name}
    words = options.defences or [*TABLE_WORDS, *(one.name for one in game.defences)]
    return game.problem, game.split, [releases.get(word, word) for word in words]


def publish(options: Options) -> int:
    """Publish a file, print what was written, and return the exit code."""
    if options.defence is None and options.fitted is None:
        first = "latent" if is_recorded(options.file) else "minimize:threshold=.01"
        raise ValueError(
            f"--defence is missing: {first} is a good first choice, and `sensorprivacy compare` finds the best one for "
            "your data; or name a folder with --fitted"
        )
    return _write(options)


def _write(options: Options, **given: Any) -> int:
    """Publish a file, and print the card."""
    common = _named(options, ("out", "seed", "although_identifying")) | {"progress": not options.quiet}
    common["about"] = {name: getattr(options, name, None) for name in ("purpose", "publisher", "contact")}
    more = ("task", "defence", "save", "fitted")
    check_new(options.out, "out")
    if not given and options.save is not None:
        check_new(options.save, "save")
    try:
        with plain_notices():
            if given:
                card = publishing.publish(options.file, accept_draft=True, **common, **given)
            elif _check_kind(options):
                from sensorrelease.publishing.recordings import publish_recordings, rewrites

                common |= _named(options, ("hide", "defence", "save", "fitted", "accept_draft"))
                common |= {} if rewrites(options.fitted) else _declared(options)
                card = publish_recordings(options.file, **common)
            else:
                common |= _named(options, (*more, "accept_draft", "sample"))
                common |= (
                    _declared(options) if options.fitted is None else _named(options, ("user", "recording", "schema"))
                )
                card = publishing.publish(options.file, in_order=options.keep_order, **common)
    except KeyboardInterrupt:
        print("interrupted; nothing was written", file=sys.stderr)
        return INTERRUPTED
    print(card.to_markdown())
    print(f"Written: {options.out} ({', '.join(card.facts['size'])}, card.md, card.json)")
    if not given and options.save is not None:
        print(f"Saved: {options.save} (keep it private: it describes the training rows)")
    return 0


def _declared(options: Options) -> dict[str, Any]:
    """Return the schema by which a command publishes; show what is accepted if nobody confirmed it."""
    how = _named(options, _ROLES) | {"progress": not options.quiet}
    declared, whence = find_schema(options.file, options.schema, **how)
    check_confirmed(declared, whence, accept_draft=options.accept_draft)
    if not declared.is_confirmed:
        print(f"Accepted without confirmation ({whence}):\n{describe(declared)}\n")
    return {"schema": declared, "task": None}


def export(options: Options) -> int:
    """Write the networks of your recordings and edge.pyz into a folder; return the exit code."""
    from sensorrelease.boards import own_bundles, write_program

    choices = _named(options, ("model", "epochs", "inference_epochs"))
    made = own_bundles(options.recordings, options.hide, options.out, keep=options.save, **choices)
    for bundle in made.values():
        print(f"{bundle.folder}  {sum(step.bytes for step in bundle.steps) / 1e6:.1f} MB, {len(bundle.steps)} files")
    program = write_program(options.out)
    print(f"{program}  copy the folder to a board and run: python3 edge.pyz measure --out board.json")
    return 0


def _named(options: Options, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: getattr(options, name) for name in names}


def _check_kind(options: Options) -> bool:
    """Return whether the file describes recordings; reject options on the command line that are for the other kind."""
    recorded = is_recorded(options.file)
    if recorded:
        options.file, options.schema = located(options.file, options.schema)
    for name in _OF_TABLES if recorded else ("hide",):
        if name in options.given:
            kinds = ("tables", "holds recordings") if recorded else ("recordings", "is a table")
            option = f"--{name.replace('_', '-')}"
            raise ValueError(f"{option} is for {kinds[0]}, but {options.file} {kinds[1]}: leave it out")
    return recorded
