"""Read the logs of the network monitor Zeek (formerly Bro) as tables with tabs and a header."""

import re
from collections.abc import Iterator
from io import TextIOBase
from itertools import islice
from pathlib import Path
from typing import TextIO

ZEEK = "#separator"  # begins the first line of a log
_LINE = 64  # characters of a short record


class ZeekTable(TextIOBase):
    """A log of Zeek, read as a text whose first line names the fields.

    Lines that begin with ``#`` are no records. Unset fields become empty cells; ``(empty)`` stays, because a field
    without elements is known. IoT-23's last field holds three, with spaces between them: they become columns.

    Parameters
    ----------
    stream : text stream
        The log.
    file : pathlib.Path
        Its path, for errors.

    Raises
    ------
    ValueError
        If there is no line ``#fields`` before the first record, or a later one names other fields.
    """

    def __init__(self, stream: TextIO, file: Path) -> None:
        self._stream, self._file = stream, file
        self._lines = self._rows()

    def readable(self) -> bool:
        """Return True, as pandas asks."""
        return True

    def readline(self, size: int | None = -1) -> str:  # type: ignore[override]
        """Return the next line, and an empty text after the last one; `size` is not used."""
        return next(self._lines, "")

    def read(self, size: int | None = -1) -> str:
        """Return about so many characters, in whole lines; an empty text at the end."""
        return "".join(self._lines if size is None or size < 0 else islice(self._lines, 1 + size // _LINE))

    def close(self) -> None:
        """Close the log."""
        self._stream.close()
        super().close()

    def _rows(self) -> Iterator[str]:
        separator, unset, fields = "\t", "-", ""
        parts = 1  # in the last field
        for line in self._stream:
            line = line.rstrip("\r\n")
            if line.startswith(ZEEK):
                separator = re.sub(r"\\x([0-9a-fA-F]{2})", lambda code: chr(int(code[1], 16)), line.split(" ", 1)[1])
            elif line.startswith(f"#unset_field{separator}"):
                unset = line.split(separator)[1]
            elif line.startswith(f"#fields{separator}"):
                names = line.split(separator)[1:]
                names[-1:] = re.split(r"\s{2,}", names[-1].strip())
                parts = len(names) - line.count(separator) + 1
                if fields and fields != "\t".join(names):
                    raise ValueError(f"{self._file} has logs with different fields: give one of each kind")
                if not fields:
                    fields = "\t".join(names)
                    yield fields + "\n"
            elif line and not line.startswith("#"):
                if not fields:
                    raise ValueError(f"{self._file} has no line #fields before its first record: it is no log of Zeek")
                cells = line.split(separator)
                if parts > 1:
                    cells[-1:] = re.split(r"\s{2,}", cells[-1].strip(), maxsplit=parts - 1)
                yield "\t".join(_cell(cell) if cell != unset else "" for cell in cells) + "\n"


def _cell(cell: str) -> str:
    """Return a cell in quotes if a CSV reader would misunderstand it."""
    return '"' + cell.replace('"', '""') + '"' if '"' in cell else cell
