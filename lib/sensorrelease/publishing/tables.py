"""Publish a table with a defence: what its schema lets out, and a data card that says what the rows reveal."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from sensorprivacy.game.joins import match_rows, unchanged_columns
from sensorprivacy.game.outcome import LEVEL
from sensorrelease.card import IN_ORDER, SHUFFLED, Card, guarantee, measure_table, write_card
from sensorrelease.checks import refuse_chance, secret_seed, split_of
from sensorrelease.defences import Defence, publishes_task
from sensorrelease.own_table import OwnTable, find_schema, for_new_rows, refuse_unlike
from sensorrelease.pages import render
from sensorrelease.publishing.fitted import FittedTable, check_can_be_saved, load_fitted, save_fitted
from sensorrelease.publishing.matching import earlier_releases, matched, refitted
from sensorrelease.publishing.writing import check_new, new_folder, write_rows
from sensorrelease.schema.model import Schema
from sensorrelease.tables import assumed
from sensorrelease.words import as_defence, takes_bounds, with_bounds

SAMPLE = 20_000  # rows that a defence is fitted to and measured on
IDENTIFYING = 0.9  # share of users that the strongest attack may identify


class IdentifyingError(ValueError):
    """Raised if the strongest attack on a release identifies nearly all users."""


def publish(
    table: Any,
    *,
    out: Path | str,
    defence: str | Defence | Any = None,
    schema: Schema | Path | str | None = None,
    task: str | None = None,
    user: str | None = None,
    recording: str | None = None,
    people: Sequence[Any] | None = None,
    accept_draft: bool = False,
    although_identifying: bool = False,
    fitted: Path | str | None = None,
    save: Path | str | None = None,
    sample: int = SAMPLE,
    seed: int | None = None,
    in_order: bool = False,
    rows: int | None = None,
    about: Mapping[str, str | None] | None = None,
    progress: bool = False,
) -> Card:
    """Write what may leave of a table, and its data card, to a new folder.

    The schema decides what is read and what leaves: its columns under their titles, numbers in their range and rounded
    to their step, and levels that enough users have. The defence is fitted to half of a random sample of the rows, by
    whole recordings if there are any. A quarter of the sample measures it, with the split and the judge of `compare`,
    and with more attackers: those of `sensorprivacy.game.RELEASE_ATTACKERS`. Then all rows are published.

    Parameters
    ----------
    table : path, or table of pandas, polars, Arrow or NumPy
        The table, or a CSV, JSON lines, Parquet, Feather or Excel file, which may be larger than memory (Excel apart).
    out : path
        New or empty folder. It appears when everything in it is complete.
    defence : str, Defence or transformer, optional
        A word of the command line (see `defences.parse`), or any scikit-learn transformer.
    schema : Schema or path, optional
        What a person confirmed. Default: the file ``NAME.schema.yaml`` beside ``NAME.csv``.
    task, user, recording : str, optional
        Columns with a role, to draft a schema.
    people : sequence of length n, optional
        Person of each row of a table in memory, if `user` is an attribute of people, such as their gender. Then
        intervals count people. It is never published.
    accept_draft : bool
        Publish by a schema that nobody confirmed, or by a draft if there is none. The card says so.
    although_identifying : bool
        Publish although the strongest attack identifies more than `IDENTIFYING` of the users.
    fitted : path, optional
        Folder of a fitted defence, instead of defence, schema and roles. New rows meet the schema in it.
    save : path, optional
        New or empty folder for the fitted defence.
    sample : int
        Rows of the sample.
    seed : int, optional
        Seed of sample, split and models. Default: a secret one, which is kept nowhere: whoever has the table and the
        seed can repeat the release. Noise is not seeded: it comes from the operating system's secure generator.
    in_order : bool
        Keep the rows' order. By default rows are shuffled, because a known order identifies them.
    rows : int, optional
        Rows in memory at a time. The default is chosen by the size of the file.
    about : mapping, optional
        Texts for the card: ``purpose``, ``publisher`` and ``contact``.
    progress : bool
        Show progress bars.

    Returns
    -------
    Card
        Also written as ``card.json`` and ``card.md``.

    Raises
    ------
    IdentifyingError
        If the strongest attack identifies more than `IDENTIFYING` of the users.
    ValueError
        If a folder is not empty, nobody confirmed the schema, a cell does not conform, a defence does not fit, or there
        is nothing to learn or to hide.
    FileNotFoundError
        If there is no such file.

    Examples
    --------
    >>> publish("home.csv", defence="minimize:threshold=.01", out="published")  # doctest: +SKIP
    """
    out, save, seed = Path(out), None if save is None else Path(save), secret_seed(seed)
    for folder, option in ((out, "out"), (save, "save")):
        if folder is not None:
            check_new(folder, option)
    if fitted is None:
        if defence is None:
            raise ValueError("name the defence, or a folder with a fitted defence")
        made = as_defence(defence)
        if save is not None:
            check_can_be_saved(made.make(seed), made.name)
        how: dict[str, Any] = {"task": task, "user": user, "recording": recording, "progress": progress}
        declared, whence = find_schema(table, schema, **how)
        check_confirmed(declared, whence, accept_draft=accept_draft)
        if schema is None and not declared.is_confirmed:
            warnings.warn(assumed(declared, whence), UserWarning, stacklevel=2)
        own = OwnTable(table, declared, rows, progress=progress)
        own.learn(sample, seed)
        chosen, first = _fit(made, own, seed, people, confirmed=declared.is_confirmed)
    else:
        given = {"defence": defence, "schema": schema, "task": task, "user": user, "recording": recording}
        if named := [name for name, value in given.items() if value is not None]:
            raise ValueError(f"a fitted defence has its own {' and '.join(named)}: leave them out")
        chosen, whence = load_fitted(Path(fitted)), "that of the fitted defence"
        own = OwnTable(table, for_new_rows(table, chosen.columns.schema, chosen.needed), rows, progress=progress)
        own.learn(sample, seed, chosen.columns)
        refuse_unlike(own)
        first = chosen.release(own.sample)
    if not although_identifying:
        refuse_identifying(chosen.facts.get("measured", []), f"user {chosen.columns.user}")
    facts = {"matched": _matched(chosen, own, first, out, seed, reused=fitted is not None)}
    with ExitStack() as stack:
        folder = stack.enter_context(new_folder(out, "out"))
        if save is not None:
            save_fitted(chosen, stack.enter_context(new_folder(save, "save")))
        file = folder / f"{chosen.columns.schema.name}{own.suffix}"
        written = write_rows(_released(own, chosen, first), file, rows=own.rows, in_order=in_order)
        facts |= _facts(chosen, own, first, written, whence, in_order=in_order)
        return write_card(folder, chosen, **facts, about=about or {}, reused=fitted is not None)


def check_confirmed(schema: Schema, whence: str, *, accept_draft: bool) -> None:
    """Raise ValueError unless a person confirmed a schema, or accepts it as it is."""
    if schema.is_confirmed or accept_draft:
        return
    first = "draft one with `sensorprivacy schema`, read it" if whence.startswith("drafted") else "read it"
    raise ValueError(
        f"data leave only by a schema that a person confirmed, and this one is {whence}: {first}, and confirm it with "
        "`sensorprivacy schema FILE --confirm`; or publish by it as it is with accept_draft=True"
    )


def _fit(
    made: Defence, own: OwnTable, seed: int, people: Sequence[Any] | None, *, confirmed: bool
) -> tuple[FittedTable, pd.DataFrame]:
    """Fit a defence to the training rows of the sample, and measure it; also return the released sample."""
    problem, gate = own.problem(), own.gate
    split = split_of(problem, None, seed, None)
    if people is not None:
        split = replace(split, people=pd.Series(people).iloc[own.sample.index].to_numpy())
    medians = problem.features[list(problem.gaps or ())].iloc[split.train].median().fillna(0)
    filled = {name: int(problem.features[name].isna().sum()) for name in problem.gaps or ()}
    names = [name for name in gate.features if name not in gate.texts]
    every = problem.features[names].iloc[split.train].median().fillna(0) if names else medians
    gate = replace(gate, fills={str(name): float(value) for name, value in every.items()})
    problem = problem.filled(split.train)
    if confirmed and takes_bounds(made):
        ends = {name: gate.declared[name].constraints for name in names}
        known = {
            name: (one.minimum, one.maximum)
            for name, one in ends.items()
            if one.minimum is not None and one.maximum is not None
        }
        made = with_bounds(made, known, gate.features)
    published = made.publish(problem, split.train, None)
    theirs = not type(published.step).__module__.startswith("sensor") and made.word != "none"
    gate = gate.with_steps(published.values, problem.features if theirs else None)
    cells = gate.cells(published.values)
    results = measure_table(problem, cells, gate, split, seed, task_published=published.with_task)
    for row in results:
        if row["about"] == f"task {gate.task}" and row["data"] == "original":
            refuse_chance(repr(gate.task), row, row["p"], row["n"])
    text = render(
        "measured_table.txt",
        split=split,
        sampled=problem.n_records,
        rows=own.rows,
        grouped=problem.groups is not None,
        filled=filled,
    )
    facts = {"measured": results, "measured_on": text.split("\n")}
    return FittedTable(made.name, made.about, gate, published.step, facts), cells.set_axis(own.sample.index)


def refuse_identifying(measured: Sequence[Mapping[str, Any]], about: str) -> None:
    """Raise IdentifyingError if the strongest attack on the release identifies nearly all users, and beats chance."""
    published = [row for row in measured if (row["about"], row["data"]) == (about, "published")]
    attacks = [row for row in published if row["score"] is not None]
    strongest = max(attacks, key=lambda row: row["score"], default=None)
    if strongest is not None and strongest["score"] > IDENTIFYING and (strongest["p"] or 0) <= LEVEL:
        raise IdentifyingError(
            f"the release identifies users: the strongest attack predicts the user of {strongest['score']:.1%} of "
            f"{strongest['n']:,} {strongest['unit']} (chance {strongest['chance']:.1%}). Choose a stronger defence, "
            "withhold columns in the schema, or publish with although_identifying=True"
        )


def _originals(fitted: FittedTable, sample: pd.DataFrame) -> pd.DataFrame:
    """Return the original cells of the features as a defence reads them."""
    return fitted.columns.cells(fitted.columns.numbers(sample, fitted.needed))


def _matched(
    fitted: FittedTable, own: OwnTable, first: pd.DataFrame, out: Path, seed: int, *, reused: bool
) -> dict[str, Any]:
    """Return the part of the card about attackers who match rows of the sample, and about earlier releases of them.

    A `reused` defence was loaded from a folder, and is not fitted again.
    """
    gate, step, sample = fitted.columns, fitted.step, own.sample
    labels = gate.classes(sample).to_numpy() if own.has_task else None
    originals = _originals(fitted, sample)
    kept = len(unchanged_columns(originals, first)) == first.shape[1]  # nothing to learn from another search
    refit = None if kept or reused else refitted(step, gate.numbers(sample, fitted.needed), labels, gate.texts)
    try:
        refit = None if refit is None else gate.cells(refit)
    except ValueError:  # a second fit may name its columns in another way
        refit = None
    again = fitted.release(sample)
    units = {"group": gate.schema.recording, "user": gate.schema.user}
    found = match_rows(
        originals,
        first,
        labels if publishes_task(step) else None,
        refit=refit,
        again=again,
        units={level: sample[name].astype(str) for level, name in units.items() if name in sample},
        seed=seed,
    )
    shown = gate.leaving(_with_task(first, sample, fitted, own))
    facts = matched(found, earlier_releases(out, own.digest, shown), noisy=not first.equals(again))
    if reused and not kept and getattr(step, "epsilon_total_", None) is None:
        facts["in_words"] += " A saved defence is not fitted again: the first release's card has the attacker who does."
    return facts


def _released(own: OwnTable, fitted: FittedTable, first: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """Yield the published rows. Those of the sample are the measured ones: their noise is drawn once."""
    for piece in own:
        known = piece.index.isin(first.index)
        parts = [fitted.release(piece[~known])] if not known.all() else []
        if known.any():
            parts.append(first.loc[piece.index[known]])
        yield fitted.columns.leaving(_with_task(pd.concat(parts).sort_index(), piece, fitted, own))


def _with_task(cells: pd.DataFrame, rows: pd.DataFrame, fitted: FittedTable, own: OwnTable) -> pd.DataFrame:
    """Return published cells of some rows with their task labels, if these are published."""
    gate = fitted.columns
    if not own.has_task or not publishes_task(fitted.step):
        return cells
    return cells.assign(**{gate.task: gate.labels(gate.classes(rows))})


def _facts(
    fitted: FittedTable, own: OwnTable, first: pd.DataFrame, written: int, whence: str, *, in_order: bool
) -> dict[str, Any]:
    """Return the parts of the data card about the table and its guarantee."""
    step, gate = fitted.step, fitted.columns
    names = [*map(str, first), *([gate.task] if own.has_task and publishes_task(step) else [])]
    noisy = getattr(step, "domains_", names if hasattr(step, "epsilon_total_") else [])
    unchanged = [name for name in unchanged_columns(_originals(fitted, own.sample), first) if name not in noisy]
    lost = [*gate.features, *([] if publishes_task(step) else [gate.task])]
    return {
        "name": gate.schema.name,
        "schema": gate.stated(whence, names),
        "columns": {
            "task": gate.task,
            "published": names,
            "unchanged": unchanged,
            "dropped": [name for name in lost if name not in names],
        },
        "guarantee": guarantee(step, gate.task, names, unchanged, own.most_rows, in_order=in_order),
        "size": [f"{written:,} rows, {len(names)} columns", *own.left_out, *own.notices],
        "rows": written,
        "order": IN_ORDER if in_order else SHUFFLED,
        "users": own.sample[gate.schema.user].nunique() if gate.schema.user in own.sample else None,
        "input": {"digest": own.digest, "rows": own.rows, "sample": len(own.sample)},
    }
