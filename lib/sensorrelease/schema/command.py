"""The command ``sensorprivacy schema``: draft a schema, show it, and confirm it."""

import datetime as dt
from pathlib import Path
from typing import Any

from sensorrelease.schema.draft import draft
from sensorrelease.schema.storage import confirm, describe, save

ENDING = ".schema.yaml"


def schema_beside(source: Path) -> Path:
    """Return where a schema lies by default: home.schema.yaml beside home.csv.gz, or beside the folder home."""
    path = source.absolute() if source.name in ("", "..") else source
    return path.with_name((path.name if path.is_dir() else path.name.split(".")[0]) + ENDING)


def draft_schema(*, file: Path, out: Path | None, quiet: bool, **how: Any) -> int:
    """Write a draft, show it, and say the next command."""
    if how["task"] is None or how["user"] is None:
        raise ValueError(f"give --task and --user, or --confirm if {file} is a schema that you read")
    target = out or schema_beside(file)
    if target.exists():
        raise FileExistsError(f"{target} exists already: remove it, or give another name with --out")
    how.pop("confirm", None)
    found = draft(file, **how, progress=not quiet)
    save(found, target)
    print(describe(found))
    if (given := found.recordings) is not None:
        said = "without times, so gaps go unnoticed" if found.time is None else f"times in {found.time}"
        print(f"\nFiles {given.files}, names {given.names or 'not read'}, {given.rate:g} samples per second, {said}.")
    print(f"\nThis draft is in {target}. Read it, and change what is wrong: a role, a range, a level. Then confirm it:")
    print(f"  sensorprivacy schema {target} --confirm")
    return 0


def confirm_schema(file: Path) -> int:
    """Confirm a schema, and show what leaves."""
    found = confirm(file, dt.datetime.now(dt.UTC).date())
    leaving = ", ".join(field.title for field in found.released)
    print(f"{file} is confirmed. These columns may leave: {leaving}. Any change of it asks for a new confirmation.")
    return 0
