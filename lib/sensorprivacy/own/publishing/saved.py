"""Folders of fitted defences: ``defence.json`` states format, version, its own digest, and those of the other files."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pooch

FILE, VERSION = "defence.json", 1


class FittedFolderError(ValueError):
    """A folder holds no fitted defence, one of another version, or a damaged one."""


def write_saved(folder: Path, kind: str, content: dict[str, Any]) -> None:
    """Write ``defence.json`` with the digests of its content and of all other files in the folder."""
    whole = {"format": kind, "version": VERSION, **content, "files": _digests(folder)}
    text = json.dumps(whole | {"digest": _digest(whole)}, indent=1, ensure_ascii=False)
    (folder / FILE).write_text(text + "\n", encoding="utf-8")


def is_saved(folder: Path, kind: str) -> bool:
    """Return whether a folder states that it holds a fitted defence of this kind; `read_saved` checks it."""
    try:
        content = json.loads((folder / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(content, dict) and content.get("format") == kind


def read_saved(folder: Path, kind: str) -> dict[str, Any]:
    """Return the content of ``defence.json`` after checking format, version and all digests.

    Raises
    ------
    FittedFolderError
        If the folder holds no fitted defence of this kind, or one of another version, or a damaged one.
    """
    file = folder / FILE
    if not file.is_file():
        raise FittedFolderError(f"{folder} holds no fitted defence: there is no {FILE} in it")
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise FittedFolderError(f"{folder} is damaged: {FILE} is no JSON ({error})") from error
    if not isinstance(content, dict) or content.get("format") != kind:
        raise FittedFolderError(f"{folder} holds no fitted defence of this kind: {FILE} has not the format {kind!r}")
    if content.get("version") != VERSION:
        raise FittedFolderError(
            f"{folder} has version {content.get('version')}, this package reads version {VERSION}: fit and save again"
        )
    if content.pop("digest", None) != _digest(content):
        raise FittedFolderError(f"{folder} is damaged: the content of {FILE} does not have the digest that it states")
    found = _digests(folder)
    for name, digest in content.pop("files").items():
        if found.get(name) != digest:
            raise FittedFolderError(f"{folder} is damaged: {name} is not the file that {FILE} states")
    return {name: value for name, value in content.items() if name not in ("format", "version")}


def damaged(folder: Path, what: str) -> FittedFolderError:
    """Return an error for content that no fitted defence has."""
    return FittedFolderError(f"{folder} is damaged: {what}")


def _digests(folder: Path) -> dict[str, str]:
    files = sorted(file for file in folder.iterdir() if file.is_file() and file.name != FILE)
    return {file.name: pooch.file_hash(str(file)) for file in files}


def _digest(content: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
