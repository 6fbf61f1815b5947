"""Write source files, and empty only folders that an earlier build made."""

import shutil
from pathlib import Path


class BookError(RuntimeError):
    """The book could not be built."""


def write(path: Path, text: str) -> Path:
    """Write a text file, with its folders, and return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")
    return path


def empty(folder: Path, mark: str) -> Path:
    """Remove a folder of an earlier build, and return its path.

    Parameters
    ----------
    folder : pathlib.Path
        The folder.
    mark : str
        Name of a file that shows that an earlier build made it.

    Raises
    ------
    BookError
        If the folder has other files only, so that somebody else may need them.
    """
    if folder.is_dir() and any(folder.iterdir()) and not (folder / mark).is_file():
        raise BookError(f"{folder} has files that no earlier build made; choose another folder with --out")
    shutil.rmtree(folder, ignore_errors=True)
    return folder
