"""Folders of fitted defences: ``defence.json`` states format, version, its own digest, and those of the other files."""

import hashlib
import json
import stat
from collections.abc import Collection
from pathlib import Path
from typing import Annotated, Any, Literal

import pooch
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from sensorprivacy.paths import read_json

FILE, VERSION = "defence.json", 2


_Share = Annotated[float, Field(ge=0, le=1)] | None
_UNITS = ("rows", "groups", "people", "whole groups")


class _Score(BaseModel):
    """A measurement as `card.measured` writes it, with numbers in their range."""

    model_config = ConfigDict(extra="forbid")
    about: str
    attacker: str
    data: Literal["original", "published"]
    level: Literal["row", "group", "person", "window", "recording"]
    score: _Share
    low: _Share
    high: _Share
    n: Annotated[int, Field(ge=0)]
    unit: str
    chance: _Share
    p: _Share
    p_any: _Share
    balanced: _Share
    auc: _Share
    exposed_recall: _Share
    exposed_precision: _Share
    unseen: _Share
    of_strongest: tuple[_Share, _Share] = (None, None)


def scores(found: Any, about: Collection[str], attackers: Collection[str]) -> list[dict[str, Any]]:
    """Return the measurements in a folder: numbers in their range, and no text that could claim anything.

    Raises
    ------
    ValueError
        If a number is out of its range, or a measurement is of something else.
    """
    rows = TypeAdapter(list[_Score]).validate_python(found)
    if strange := [row.about for row in rows if row.about not in about]:
        raise ValueError(f"it has measurements of {strange[0]!r}")
    for row in rows:
        row.attacker = row.attacker if row.attacker in attackers else "another attacker"
        row.unit = row.unit if row.unit in _UNITS else "units"
    return [row.model_dump(mode="json", exclude_unset=True) for row in rows]


class FittedFolderError(ValueError):
    """A folder holds no fitted defence, one of another version, or a damaged one."""


def write_saved(folder: Path, kind: str, content: dict[str, Any]) -> None:
    """Write ``defence.json`` with the digests of its content and of all other files in the folder."""
    whole = {"format": kind, "version": VERSION, **content, "files": _digests(folder)}
    text = json.dumps(whole | {"digest": _digest(whole)}, indent=1, ensure_ascii=False)
    (folder / FILE).write_text(text + "\n", encoding="utf-8")
    read_json(folder / FILE)  # raises ValueError if it is too large to be loaded


def is_saved(folder: Path, kind: str) -> bool:
    """Return whether a folder states that it holds a fitted defence of this kind; `read_saved` checks it."""
    try:
        content = json.loads((folder / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(content, dict) and content.get("format") == kind


def read_saved(folder: Path, kind: str, other: str | None = None) -> dict[str, Any]:
    """Return the content of ``defence.json`` after checking format, version and all digests.

    The folder may hold the file `other` besides, and nothing else.

    Raises
    ------
    FittedFolderError
        If the folder holds no fitted defence of this kind, or one of another version, or a damaged one.
    """
    file = folder / FILE
    if not file.is_file():
        raise FittedFolderError(f"{folder} holds no fitted defence: there is no {FILE} in it")
    for one in sorted(folder.iterdir()):
        if one.name not in (FILE, other) or not stat.S_ISREG(one.lstat().st_mode):
            raise damaged(folder, f"it holds {one.name!r}, which is no file of a fitted defence")
    try:
        content = read_json(file)
    except ValueError as error:
        raise FittedFolderError(f"{folder} is damaged: {error}") from error
    if not isinstance(content, dict) or content.get("format") != kind:
        raise FittedFolderError(f"{folder} holds no fitted defence of this kind: {FILE} has not the format {kind!r}")
    if content.get("version") != VERSION:
        raise FittedFolderError(
            f"{folder} has version {content.get('version')}, this package reads version {VERSION}: fit and save again"
        )
    if content.pop("digest", None) != _digest(content):
        raise FittedFolderError(f"{folder} is damaged: the content of {FILE} does not have the digest that it states")
    found = _digests(folder)
    stated = content.pop("files", None)
    for name in sorted({*found, *stated} if isinstance(stated, dict) else ["files"]):
        if not isinstance(stated, dict) or found.get(name) != stated.get(name):
            raise FittedFolderError(f"{folder} is damaged: {name} is not the file that {FILE} states")
    return {name: value for name, value in content.items() if name not in ("format", "version")}


def damaged(folder: Path, what: str) -> FittedFolderError:
    """Return an error for content that no fitted defence has."""
    return FittedFolderError(f"{folder} is damaged: {what}")


def _digests(folder: Path) -> dict[str, str]:
    files = sorted(file for file in folder.iterdir() if file.name != FILE)
    return {file.name: pooch.file_hash(str(file)) for file in files}


def _digest(content: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
