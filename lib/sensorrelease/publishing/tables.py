"""Publish a table with a defence: rows without users and identifiers, and a data card that says what they reveal."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from sensorprivacy.checks import check_choice
from sensorprivacy.columns.cells import as_text, is_text, missing_cells
from sensorprivacy.columns.coding import misread
from sensorprivacy.columns.copies import find_names
from sensorprivacy.columns.identifiers import IdentifierWarning
from sensorprivacy.columns.judge import name_of
from sensorprivacy.game.joins import match_rows, unchanged_columns
from sensorrelease.card import IN_ORDER, SHUFFLED, Card, guarantee, measure_table, write_card
from sensorrelease.checks import refuse_chance, secret_seed, split_of
from sensorrelease.defences import Defence, Published, publishes_task
from sensorrelease.pages import render
from sensorrelease.publishing.columns import Columns, learn_columns, learn_fills, sample_problem
from sensorrelease.publishing.fitted import FittedTable, check_can_be_saved, load_fitted, save_fitted
from sensorrelease.publishing.matching import earlier_releases, matched, refitted
from sensorrelease.publishing.writing import Formulas, check_new, new_folder, write_rows
from sensorrelease.read.pieces import Pieces, Selection, Survey, survey
from sensorrelease.remarks import misreading, perhaps_dates
from sensorrelease.tables import Missing, Rare
from sensorrelease.words import Bounds, as_defence, check_bounds, with_bounds

SAMPLE = 20_000  # rows that a defence is fitted to and measured on


def publish(
    table: pd.DataFrame | Path | str,
    *,
    out: Path | str,
    defence: str | Defence | Any = None,
    task: str | None = None,
    user: str | None = None,
    groups: str | None = None,
    people: str | None = None,
    fitted: Path | str | None = None,
    save: Path | str | None = None,
    keep: Sequence[str] = (),
    drop: Sequence[str] = (),
    bounds: Bounds | None = None,
    sample: int = SAMPLE,
    seed: int | None = None,
    in_order: bool = False,
    rows: int | None = None,
    missing: Missing = "impute",
    rare: Rare = "aside",
    formulas: Literal["quote", "keep"] = "quote",
    about: Mapping[str, str | None] | None = None,
) -> Card:
    """Write a table that may be handed on, and its data card, to a new folder.

    The defence is fitted to half of a random sample of the rows, by whole groups if there are groups. A quarter of the
    sample measures it, with the split, the judge and the attackers of `compare`. Then all rows are published.

    Parameters
    ----------
    table : path, or pandas, polars or Arrow table
        The table, or a file of any format of `formats.read_table`, which may be larger than memory (Excel apart).
    out : path
        New or empty folder. It appears when everything in it is complete.
    defence : str, Defence or transformer, optional
        A word of the command line (see `defences.parse`), or any scikit-learn transformer.
    task, user, groups : str, optional
        Column to predict, column with the user, column with the recording. The last two are never published.
    people : str, optional
        Column with the person of each row, if `user` is an attribute of people, such as their gender. Then intervals
        count people. It is never published.
    fitted : path, optional
        Folder of a fitted defence, instead of `defence`, `task`, `user` and `groups`.
    save : path, optional
        New or empty folder for the fitted defence.
    keep : sequence of str
        Columns that are published although they look like identifiers.
    drop : sequence of str
        Columns that are not published.
    bounds : mapping, optional
        Lowest and highest value of columns that get noise, known without looking at the data. Cells outside are moved
        to the nearest end. Other bounds are read from the sample, and the card says that epsilon does not cover this.
    sample : int
        Rows of the sample.
    seed : int, optional
        Seed of sample, split and models. Default: a secret one, which is kept nowhere: whoever has the table and the
        seed can repeat the release. Noise is not seeded: it comes from the operating system's secure generator.
    in_order : bool
        Keep the rows' order. By default rows are shuffled, because a known order identifies them.
    rows : int, optional
        Rows in memory at a time. The default is chosen by the size of the file.
    missing : {"impute", "drop", "error"}
        Missing and infinite numbers are filled with the median of the training rows, and the card says so; or rows with
        missing cells are left out; or missing numbers are an error. A missing text is a category of its own.
    rare : {"aside", "keep", "error"}
        Rows of users and classes with one row are left out, published, or an error: such a row is easily recognized.
        Rows without task, user or group are always left out. The card counts the rows left out.
    formulas : {"quote", "keep"}
        Write an apostrophe before texts that a spreadsheet would run as a formula, or leave them. The card names their
        columns.
    about : mapping, optional
        Texts for the card: ``purpose``, ``publisher`` and ``contact``.

    Returns
    -------
    Card
        Also written as ``card.json`` and ``card.md``.

    Raises
    ------
    ValueError
        If a folder is not empty, a column or defence does not fit, or there is nothing to learn or to hide.
    FileNotFoundError
        If there is no such file.

    Examples
    --------
    >>> words = {"task": "room", "user": "owner", "defence": "minimize:threshold=.01"}
    >>> publish("home.csv", **words, out="published")  # doctest: +SKIP
    """
    _check_options(defence, task, user, fitted)
    seed = secret_seed(seed)
    out, save = _checked_targets(out, save, missing, rare)
    chosen = load_fitted(Path(fitted)) if fitted is not None else None
    made = as_defence(defence) if chosen is None else None
    if made is not None:
        check_bounds(bounds or {}, made)
        if save is not None:
            check_can_be_saved(made.make(seed), made.name)
    elif bounds or drop or keep:
        raise ValueError("a fitted defence has its own bounds and columns: leave out bounds, keep and drop")
    roles = vars(chosen.columns) if chosen is not None else {"task": task, "user": user, "groups": groups}
    labels = [name for role in ("task", "user", "groups") if (name := roles[role]) is not None]
    pieces = Pieces(Path(table) if isinstance(table, str) else table, rows, labels)
    selection = Selection(pieces, _labels(chosen, pieces, task=task, user=user, groups=groups))
    found = _survey(selection, sample, roles["user"], seed)
    if made is not None:
        drop = [*drop, people] if people is not None else drop
        columns = learn_columns(found, task=task or "", user=user or "", groups=groups, keep=keep, drop=drop)
        found = _select(selection, found, list(columns.features), missing, rare)
        made = with_bounds(made, bounds or {}, list(columns.features), columns.texts, list(selection.labels.values()))
        chosen, first = _fit(made, found, columns, pieces.name, seed, missing == "impute", people)
    else:
        assert chosen is not None
        if missing == "drop":
            found = _select(selection, found, chosen.needed, missing, "keep")
        chosen.columns.check_new(found, chosen.needed)
        first = chosen.release(found.sample)
    facts = {"matched": _matched(chosen, found.sample, first, out, pieces.digest, seed, reused=made is None)}
    with ExitStack() as stack:
        folder = stack.enter_context(new_folder(out, "out"))
        if save is not None:
            save_fitted(chosen, stack.enter_context(new_folder(save, "save")))
        file = folder / f"{pieces.name}{pieces.suffix}"
        checked = Formulas(formulas)
        released = map(checked, _released(selection, chosen, first))
        written = write_rows(released, file, rows=found.rows, in_order=in_order)
        facts |= {"formulas": checked.said} | _facts(chosen, selection, found, first, written, in_order=in_order)
        return write_card(folder, chosen, **facts, about=about or {}, reused=made is None)


def _checked_targets(out: Path | str, save: Path | str | None, missing: str, rare: str) -> tuple[Path, Path | None]:
    """Return the folders as paths; raise ValueError if one is not new, or a choice is unknown."""
    check_choice("missing", missing, Missing)
    check_choice("rare", rare, Rare)
    folders = Path(out), None if save is None else Path(save)
    for folder, option in zip(folders, ("out", "save"), strict=True):
        if folder is not None:
            check_new(folder, option)
    return folders


def _check_options(defence: Any, task: str | None, user: str | None, fitted: Any) -> None:
    given = [name for name, value in (("defence", defence), ("task", task), ("user", user)) if value is not None]
    if fitted is None and len(given) < 3:
        raise ValueError("name the defence, the task column and the user column, or a folder with a fitted defence")
    if fitted is not None and given:
        raise ValueError(f"a fitted defence has its own {' and '.join(given)}: leave them out")


def _labels(fitted: FittedTable | None, pieces: Pieces, **roles: str | None) -> dict[str, str]:
    """Return the columns that every published row needs a cell in, by role."""
    if fitted is not None:
        roles = {"task": fitted.columns.task if fitted.columns.task in pieces.columns else None}
    return {role: name for role, name in roles.items() if name is not None}


def _survey(selection: Selection, rows: int, user: str | None, seed: int) -> Survey:
    """Pass over the rows; a table whose file is called after a user gets another name."""
    user = user if user in selection.columns else None  # new rows of a fitted defence need none
    found = survey(selection, rows, user=user, seed=seed)
    if user is not None and find_names([selection.pieces.name], found.sample[user]):
        selection.pieces.name = "table"
    return found


def _select(selection: Selection, found: Survey, features: Sequence[str], missing: Missing, rare: Rare) -> Survey:
    """Leave out rows with missing cells and rare labels, and return the survey without them."""
    if missing == "drop":
        selection.gaps = tuple(features)
        if rare != "keep":
            for _ in selection:  # counts the labels that are left
                pass
    if rare != "keep":
        selection.rare = selection.find_rare()
        if selection.rare and rare == "error":
            counts = " and ".join(f"{len(labels):,} labels of the {role}" for role, labels in selection.rare.items())
            raise ValueError(f"{counts} have one row: leave them out with rare='aside', or publish with rare='keep'")
    return replace(found, sample=selection.select(found.sample))


def _fit(
    made: Any, found: Survey, columns: Columns, name: str, seed: int, fill: bool, people: str | None = None
) -> tuple[FittedTable, pd.DataFrame]:
    """Fit a defence to the training rows of the sample, and measure it; also return the released sample."""
    columns = learn_fills(columns, found.sample, seed) if fill else columns
    if people is not None:
        told = {columns.user: "the attribute to hide", people: "the person of each row"}
        columns = replace(columns, dropped=columns.dropped | told)
    problem = sample_problem(columns, found.sample, name)
    split = split_of(problem, None, seed, None)
    if people is not None:
        split = replace(split, people=found.sample[people].to_numpy())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IdentifierWarning)  # the user named these columns to keep
        published: Published = made.publish(problem, split.train, None)
    cells = columns.cells(published.values)
    results = measure_table(problem, cells, columns, split, seed, task_published=published.with_task)
    for row in results:
        if row["about"] == f"task {columns.task}" and row["data"] == "original":
            refuse_chance(repr(columns.task), row, row["p"], row["n"])
    missing = missing_cells(found.sample[list(columns.fills)]).sum()
    text = render(
        "measured_table.txt",
        split=split,
        sampled=problem.n_records,
        rows=found.rows,
        grouped=columns.groups is not None,
        filled=missing[missing > 0].to_dict(),
    )
    left_out = set(columns.dropped) - {columns.user, columns.groups}
    facts = {"measured": results, "measured_on": text.split("\n")}
    facts["misreading"] = misreading(problem, found.sample.reset_index(drop=True), left_out, seed)
    return FittedTable(made.name, made.about, columns, published.step, facts), cells.set_axis(found.sample.index)


def _originals(fitted: FittedTable, sample: pd.DataFrame) -> pd.DataFrame:
    """Return the original cells of the features as a defence reads them."""
    numbers = fitted.columns.numbers(sample, fitted.needed)
    return fitted.columns.cells(numbers)[[name for name in numbers if name in sample]]


def _matched(
    fitted: FittedTable, sample: pd.DataFrame, first: pd.DataFrame, out: Path, digest: str, seed: int, *, reused: bool
) -> dict[str, Any]:
    """Return the part of the card about attackers who match rows of the sample, and about earlier releases of them.

    A `reused` defence was loaded from a folder, and is not fitted again.
    """
    columns, step = fitted.columns, fitted.step
    labels = as_text(sample[columns.task]).to_numpy() if columns.task in sample else None
    originals = _originals(fitted, sample)
    kept = len(unchanged_columns(originals, first)) == first.shape[1]  # nothing to learn from another search
    refit = None if kept or reused else refitted(step, columns.numbers(sample, fitted.needed), labels, columns.texts)
    units = {"group": columns.groups, "user": columns.user}
    again = fitted.release(sample)
    found = match_rows(
        originals,
        first,
        labels if publishes_task(step) else None,
        refit=None if refit is None else columns.cells(refit),
        again=again,
        units={level: as_text(sample[name]) for level, name in units.items() if name in sample},
        seed=seed,
    )
    earlier = earlier_releases(out, digest, _with_task(first, sample, fitted))
    facts = matched(found, earlier, noisy=not first.equals(again))
    if reused and not kept and getattr(step, "epsilon_total_", None) is None:
        facts["in_words"] += " A saved defence is not fitted again: the first release's card has the attacker who does."
    return facts


def _released(pieces: Selection, fitted: FittedTable, first: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """Yield the published rows. Those of the sample are the measured ones: their noise is drawn once."""
    for piece in pieces:
        known = piece.index.isin(first.index)
        parts = [fitted.release(piece[~known])] if not known.all() else []
        if known.any():
            parts.append(first.loc[piece.index[known]])
        yield _with_task(pd.concat(parts).sort_index(), piece, fitted)


def _with_task(cells: pd.DataFrame, rows: pd.DataFrame, fitted: FittedTable) -> pd.DataFrame:
    """Return published cells of some rows with their task labels, if these are published."""
    task = fitted.columns.task
    if task not in rows or not publishes_task(fitted.step):
        return cells
    return cells.assign(**{task: as_text(rows[task]) if is_text(rows[task]) else rows[task]})


def _facts(
    fitted: FittedTable, selection: Selection, found: Survey, released: pd.DataFrame, written: int, *, in_order: bool
) -> dict[str, Any]:
    """Return the parts of the data card about the table and its guarantee."""
    pieces = selection.pieces
    step, columns = fitted.step, fitted.columns
    names = [*released.columns, *([columns.task] if columns.task in pieces.columns and publishes_task(step) else [])]
    noisy = getattr(step, "domains_", names if hasattr(step, "epsilon_total_") else [])
    unchanged = [name for name in unchanged_columns(_originals(fitted, found.sample), released) if name not in noisy]
    dropped = dict(columns.dropped)
    lost = [*columns.features, *([] if publishes_task(step) else [columns.task])]
    dropped |= {name: f"the defence {fitted.name} drops it" for name in lost if name not in released}
    dropped = {name_of(name, why, pieces.columns): why for name, why in dropped.items() if name in pieces.columns}
    strange = misread(found.sample, set(columns.dropped) - {columns.user, columns.groups})
    warned = [
        f"Column {name_of(name, columns.dropped[name], pieces.columns)} is dropped, but most of its cells are numbers. "
        "If it is a measurement, the original data identify users better than measured here: correct its other cells."
        for name in sorted(strange)
    ]
    dates = perhaps_dates(found.sample[[name for name in columns.features if name in unchanged]])
    warned += [said[0].upper() + said[1:] + "." for said in [*dates, *fitted.facts.get("misreading", [])]]
    read: dict[str, list[str]] = {}
    for name in names:
        how = columns.features[name].read if name in columns.features else "classes" if name == columns.task else ""
        how += f" ({pieces.numbers[name]})" if name in pieces.numbers else ""
        read.setdefault(how or "components of several columns", []).append(name)
    return {
        "name": pieces.name,
        "columns": {"task": columns.task, "published": names, "read": read, "unchanged": unchanged, "dropped": dropped},
        "warnings": warned,
        "guarantee": guarantee(step, columns, names, unchanged, found.most_rows, in_order=in_order),
        "size": [f"{written:,} rows, {len(names)} columns", *selection.left_out, *pieces.counts],
        "rows": written,
        "order": IN_ORDER if in_order else SHUFFLED,
        "users": found.sample[columns.user].nunique() if columns.user in found.sample else None,
        "input": {"digest": pieces.digest, "rows": found.rows, "sample": len(found.sample)},
    }
