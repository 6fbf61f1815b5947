"""Write source files, and empty only folders that an earlier build made."""

import shutil
from pathlib import Path

MARK = ".made-by-sensorprivacy"


class BookError(RuntimeError):
    """The book could not be built."""


def write(path: Path, text: str) -> Path:
    """Write a text file, with its folders, and return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")
    return path


def empty(folder: Path) -> Path:
    """Make an empty folder in place of one that an earlier build made, and return its path.

    Raises
    ------
    BookError
        If the folder has files, and no earlier build made it.
    """
    if folder.is_dir() and any(folder.iterdir()) and not (folder / MARK).is_file():
        raise BookError(f"{folder} has files that no earlier build made; choose another folder with --out")
    shutil.rmtree(folder, ignore_errors=True)
    write(folder / MARK, "Made by `compendium book`, which empties this folder before each build.\n")
    return folder
