"""Publish recordings: rewrite them window by window with paper 3's anonymizer, and attack what is published."""

import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from sensorprivacy.data import Windows, draw_rows
from sensorprivacy.game.attack import attack_all
from sensorprivacy.game.chance import DRAWS
from sensorprivacy.game.joins import ROWS, Match, match_rows, match_units
from sensorprivacy.game.outcome import Attacks
from sensorprivacy.latent.adversaries import ON_RECORDINGS, Attacker, attackers
from sensorprivacy.latent.anonymizer import LatentAnonymizer
from sensorprivacy.latent.guaranteed import GuaranteedRelease
from sensorprivacy.latent.releases import anonymized
from sensorprivacy.latent.scene import PUBLIC, scenes
from sensorprivacy.latent.transfers import Codebook
from sensorprivacy.latent.windows import common_classes, private_labels, recording_of, replace_values
from sensorrelease.card import Card, measured, write_card
from sensorrelease.checks import secret_seed
from sensorrelease.defences import Defence
from sensorrelease.pages import render
from sensorrelease.publishing.anonymizers import (
    TASK_MODELS,
    FittedRecordings,
    Latent,
    about_recordings,
    is_latent,
    load_recordings,
    parse_latent,
    save_recordings,
)
from sensorrelease.publishing.fitted import FORMAT
from sensorrelease.publishing.held import TEST, ends_in_window, held_recordings, last_recordings, part_windows
from sensorrelease.publishing.matching import earlier_releases, matched
from sensorrelease.publishing.saved import is_saved
from sensorrelease.publishing.tables import check_confirmed, publish, refuse_identifying
from sensorrelease.publishing.writing import check_new, new_folder
from sensorrelease.recordings import OwnRecordings, as_declared, read_recordings, signal_gated
from sensorrelease.schema.coarse import plain
from sensorrelease.schema.draft import draft
from sensorrelease.schema.model import Constraints, Schema
from sensorrelease.windows import is_of_people, statistics_of

_RECORDING, _PERSON = "recording of the window", "person of the window"


def publish_recordings(
    source: Path | str,
    *,
    out: Path | str,
    defence: str | Latent | Defence | None = None,
    schema: Schema | Path | str | None = None,
    task: str | None = None,
    user: str | None = None,
    recording: str | None = None,
    hide: str | None = None,
    accept_draft: bool = False,
    fitted: Path | str | None = None,
    save: Path | str | None = None,
    adversaries: Sequence[Attacker] | None = None,
    seed: int | None = None,
    although_identifying: bool = False,
    about: Mapping[str, str | None] | None = None,
    progress: bool = False,
) -> Card:
    """Write recordings that may be handed on, one file each, and their data card, to a new folder.

    Networks learn from windows in the first 75 % of each recording, or, of short recordings, from all but the last of
    each person and public class. Each recording is then cut in windows that do not
    overlap, and every window is rewritten, or drawn from randomized responses with a guarantee. Samples after the last
    complete window are left out. The rest of the published recordings measures the release.

    A defence for tables publishes a table of window statistics instead, through `publish.publish`.

    Parameters
    ----------
    source : path
        The folder of the recordings.
    schema, task, user, recording, accept_draft
        As for `publish.publish`. Only declared channels leave, in their range and at their step, and classes of the
        task that enough users have. Names of recordings do not leave.
    out, fitted, save, seed, although_identifying, about
        As for `publish.publish`. Windows are rewritten with randomness from the secure source, whatever the seed is.
    defence : str, Latent or Defence, optional
        A word, see `parse_latent`, or one for tables, see `own.parse`.
    hide : str, optional
        The private attribute to hide; by default the user.
    adversaries : sequence of Attacker, optional
        Default: all of `latent.attackers`, and those on statistics of windows and recordings.
    progress : bool
        Show progress bars.

    Returns
    -------
    Card

    Raises
    ------
    ValueError, FileNotFoundError
        As `publish.publish` and `recordings.read_recordings`.
    """
    out, save_to = Path(out), None if save is None else Path(save)
    seed = secret_seed(seed)
    for folder, option in ((out, "out"), (save_to, "save")):
        if folder is not None:
            check_new(folder, option)
    how: dict[str, Any] = {"seed": seed, "although_identifying": although_identifying, "about": about}
    roles: dict[str, Any] = {"task": task, "user": user, "recording": recording}
    if fitted is not None and (given := [n for n, v in {"defence": defence, **roles, "hide": hide}.items() if v]):
        raise ValueError(f"a fitted defence has its own {' and '.join(given)}: leave them out")
    if rewrites(fitted):
        done = load_recordings(Path(str(fitted)))
        own = as_declared(Path(source), _for_new(done.columns.schema), "of the fitted defence", done.columns)
    else:
        if fitted is None and defence is None:
            raise ValueError("name the defence, or a folder with a fitted defence")
        own = read_recordings(source, schema, **roles, progress=progress)
        check_confirmed(own.schema, own.provenance["schema"], accept_draft=accept_draft)
        if fitted is not None:
            return _publish_statistics(own, None, fitted=fitted, out=out, save=save_to, **how)
        settings = parse_latent(defence) if isinstance(defence, str) and is_latent(defence) else defence
        hide = own.hidden(hide)
        if not isinstance(settings, Latent):
            return _publish_statistics(own, hide, defence=settings, out=out, save=save_to, **how)
        panel = adversaries or (*attackers(settings.network), *ON_RECORDINGS)
        done = _fit(own, settings, hide, panel, seed, progress)
    if not although_identifying:
        refuse_identifying(done.facts.get("measured", []), "the person")
    with ExitStack() as stack:
        folder = stack.enter_context(new_folder(out, "out"))
        if save_to is not None:
            save_recordings(done, stack.enter_context(new_folder(save_to, "save")))
        sizes, windows, matches = _write(own, done, folder, seed)
        facts = _facts(own, done) | {"guarantee": _guarantee(done, windows), "size": sizes}
        facts["matched"] = matched(matches, earlier_releases(out, facts["input"]["digest"]), noisy=True)
        return write_card(folder, done, **facts, about=about or {}, reused=fitted is not None)


def rewrites(fitted: Path | str | None) -> bool:
    """Return whether a folder holds a fitted defence that rewrites recordings; the others publish statistics."""
    return fitted is not None and not is_saved(Path(fitted), FORMAT)


def _fit(
    own: OwnRecordings,
    settings: Latent,
    hide: str,
    adversaries: Sequence[Attacker],
    seed: int,
    progress: bool,
) -> FittedRecordings:
    task = own.gate.task
    held = held_recordings(own, settings.length, hide)
    train = own.windows(settings.length, settings.stride)
    early = part_windows(own, settings.length, settings.stride, held, "train")
    common = early.any() and common_classes(train, train.take(early), hide)
    if not np.any(common):
        raise ValueError(f"no class of {task!r} has two training windows of each class of {hide!r}: record more")
    train = train.take(early & common)
    cut = own.windows(settings.length, settings.length)
    known = cut.public.isin(set(train.public)).to_numpy()
    masks = [known & part_windows(own, settings.length, settings.length, held, part) for part in ("train", "test")]
    if not all(mask.any() for mask in masks):
        most = int(np.median(np.bincount(own.run)))
        shorter = range(min(int(TEST * most), settings.length - 1), 0, -1)
        fits = next((length for length in shorter if ends_in_window(most, length)), 1)
        raise ValueError(
            f"the recordings are too short: there are {masks[0].sum()} windows of {settings.length} samples to learn "
            f"from and {masks[1].sum()} to measure on. Give a smaller length, such as length={fits}, or record two "
            f"sessions of each {task}"
        )
    parts = [cut.take(mask) for mask in masks]
    fewest = int(train.public.value_counts().min())
    anonymizer = replace(settings, batch=min(settings.batch, fewest)).anonymizer(hide, seed)
    anonymizer.fit(train, progress=progress)
    sure = settings.guaranteed
    release = anonymized(anonymizer, seed) if sure is None else GuaranteedRelease(anonymizer, **sure).seeded(seed)
    whole = last_recordings(own, hide)[own.run[own.starts(settings.length, settings.length)]]
    pooled = held.any() or whole.any()
    attacked = parts if held.any() or not pooled else [cut.take(known & ~whole), cut.take(known & whole)]
    measured_on = render(
        "measured_recordings.txt",
        parts=parts,
        attacked=attacked,
        fitted=train.n_windows,
        share=None if held.any() else TEST,
        whole=pooled,
        task=task,
        guaranteed=sure,
    )
    scores = _measure(anonymizer, release, parts, attacked, task, hide, adversaries, seed, progress)
    facts = {"measured": scores, "measured_on": measured_on.split("\n")}
    about = about_recordings(settings.length, hide, sure)
    return FittedRecordings(settings.name, about, own.gate, hide, settings.length, anonymizer, facts, sure)


def _publish_statistics(own: OwnRecordings, hide: str | None, **options: Any) -> Card:
    """Publish one row of statistics for each window with a defence for tables; windows do not overlap."""
    windows = own.windows(Latent.length, Latent.length)
    table = statistics_of(windows)
    table[own.gate.task], table[_RECORDING] = windows.public, recording_of(windows)
    if hide is not None:
        table[hide] = hidden = private_labels(windows, hide)
        people = windows.subject if hide != "subject" and is_of_people(hidden, windows.subject) else None
        declared = draft(table, own.gate.task, hide, _RECORDING, identifying=True)  # the schema declares the channels
        options |= {"schema": declared, "accept_draft": True, "people": people}
    return publish(table, **options)


def _measure(
    anonymizer: LatentAnonymizer,
    publish: Callable[[Windows], Windows],
    parts: Sequence[Windows],
    attacked: Sequence[Windows],
    task: str,
    hide: str,
    adversaries: Sequence[Attacker],
    seed: int,
    progress: bool,
) -> list[dict[str, Any]]:
    """Return the accuracy of task models and adversaries on original and on published windows.

    The task is measured on windows that the networks have not seen. Adversaries attack whole recordings if they can.
    """
    releases: dict[str, Callable[[Windows], Windows]] = {"original": lambda windows: windows, "published": publish}
    options: Any = {"share_known": 1.0, "seed": seed}
    asked = scenes(releases, parts[0], parts[1], PUBLIC, **options)
    tasks = attack_all(asked, TASK_MODELS, levels=["window"], progress=progress)
    against = scenes(releases, attacked[0], attacked[1], hide, anonymizer=anonymizer, **options)
    attacks = attack_all(against, adversaries, draws=DRAWS, progress=progress)
    words = {PUBLIC: f"task {task}", "subject": "the person"}
    if not any(attack.about == hide for attack in attacks):
        raise ValueError(f"no attack on {hide!r} could be measured, so the card would be silent about it: record more")
    return measured(Attacks([*tasks, *attacks]), words)


def _for_new(schema: Schema) -> Schema:
    """Return the schema by which recordings for a fitted defence are read; the gate limits numbers when they leave."""
    beside = schema.recordings is not None and schema.recordings.people is not None
    fields = [
        one.model_copy(update={"constraints": Constraints()} if one.role == "feature" else {"role": "withheld"})
        if one.role in ("feature", "private")
        else one
        for one in schema.fields
        if not (beside and one.role == "private")
    ]
    return schema.model_copy(update={"fields": fields})


def _write(
    own: OwnRecordings, fitted: FittedRecordings, folder: Path, seed: int
) -> tuple[list[str], Windows, list[Match]]:
    """Write one file for each recording, in random order; return statements of their size, the raw windows, matches."""
    gate, length = fitted.columns, fitted.length
    windows, run = own.windows(length, length), own.run[own.starts(length, length)]
    known = windows.public.astype(str).isin(fitted.anonymizer.models_.public.classes).to_numpy()
    if not known.any():
        raise ValueError(f"no recording has a class of {gate.task!r} that the fitted defence knows")
    published, labels = fitted.publish(windows.take(known))
    raw, values, run = windows.values[known], published.values, run[known]  # noqa: PD011 (windows)
    if np.count_nonzero(values == raw, axis=(1, 2)).max() > raw[0].size / 2:
        raise ValueError("some rewritten windows equal their originals: fit the defence again with more epochs")
    published = replace_values(published, values := signal_gated(values, gate))
    kept = np.unique(run)
    suffix = ".parquet" if gate.schema.format in ("parquet", "feather") else ".csv"
    order = np.random.default_rng(secrets.randbits(256)).permutation(kept)
    for number, one in enumerate(order, start=1):
        signal = np.concatenate(list(values[run == one]), axis=1).T
        label = pd.Series(np.repeat(labels[run == one], length)).astype(object)
        cells = gate.cells(pd.DataFrame(signal, columns=gate.features))
        table = gate.leaving(cells).assign(**{plain(gate.task): gate.labels(label)})
        file = folder / f"recording-{number:0{len(str(len(order)))}}{suffix}"
        table.to_parquet(file, index=False) if suffix == ".parquet" else table.to_csv(file, index=False)
    all_samples, samples = len(own.run), len(run) * length
    strange = len(np.unique(own.run[own.starts(length, length)][~known]))
    short = int((np.bincount(own.run) < length).sum())
    sizes = [
        f"{len(order):,} recordings of {len(np.bincount(own.run)):,}, {samples:,} samples of {all_samples:,} at "
        f"{own.rate:g} per second",
        f"{short:,} recordings shorter than {length} samples left out",
        f"{strange:,} recordings left out because too few training windows show their {gate.task}",
        f"the last {(all_samples - samples) / all_samples:.1%} of the samples, after the last complete windows or in "
        "recordings left out, are dropped",
    ]
    at = draw_rows(len(raw), ROWS, seed)
    again = signal_gated(fitted.publish(windows.take(known).take(at))[0].values, gate)
    task = None if fitted.guaranteed else published.public
    both = pd.DataFrame(raw[at].reshape(len(at), -1)), pd.DataFrame(values[at].reshape(len(at), -1))
    second = pd.DataFrame(again.reshape(len(at), -1))
    found = match_rows(*both, None if task is None else task[at], again=second, seed=seed)
    whole = windows.take(known)
    units = {"recording": run, "user": whole.subject}
    return sizes, whole, match_units(statistics_of(whole), statistics_of(published), units, task) + found


def _guarantee(fitted: FittedRecordings, windows: Windows) -> dict[str, Any]:
    """Return the guarantee of published recordings: ``statements``, and epsilon of a recording and of a person."""
    release, transfer = fitted.release, fitted.anonymizer.transfer
    spent: Any = release.budget(windows)["epsilon"] if release else {}
    donors = isinstance(transfer, Codebook) and not (transfer.own or transfer.synthetic)
    text = render("guarantee_recordings.txt", fitted=fitted, release=release, spent=spent, donors=donors)
    epsilon = {f"epsilon_{unit}": float(spent[unit]) for unit in ("person", "recording") if release}
    return {"epsilon_row": None, "epsilon_person": None, "most_rows": None, "statements": text.split("\n"), **epsilon}


def _facts(own: OwnRecordings, fitted: FittedRecordings) -> dict[str, Any]:
    """Return the parts of the data card about the recordings and their columns."""
    published = list(fitted.columns.declared)
    dropped = len(own.schema.fields) - len(published)
    return {
        "name": fitted.columns.schema.name,
        "columns": {
            "task": fitted.columns.task,
            "published": [name for name in published if name != fitted.columns.task] + [fitted.columns.task],
            "unchanged": [],
            "dropped": [f"{dropped} columns besides the channels, with the user of each recording"],
        },
        "schema": fitted.columns.stated(own.provenance["schema"], fitted.channels),
        "order": "Recordings are numbered in random order. Samples keep their order in time.",
        "users": int(own.users.nunique()),
        "input": {"digest": own.provenance["digest"], "recordings": int(own.run.max()) + 1},
    }
