"""Write source files only if they change, so that Sphinx reads only changed pages again."""

from pathlib import Path


def write(path: Path, text: str) -> Path:
    """Write a text file unless it already has this text, and return its path."""
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    return path
