"""Write a schema as YAML that a person can read and change, and read it."""

import datetime as dt
import shutil
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from sensorprivacy.paths import write_atomically
from sensorrelease.schema.formats import check_file
from sensorrelease.schema.model import Schema

_HEAD = """\
# What this holds, and what of it may leave. Read it, change it, and confirm it:
#   sensorprivacy schema {file} --confirm
"""
_LARGEST = 16 * 2**20  # bytes of a schema
_CONFIRMED = "# A person confirmed what stands here. Any change asks for a new confirmation."
_COMMENTS = {
    "name": "Title and file name of what leaves.",
    "k": "A level that fewer users have does not leave: it becomes \"other\".",
    "format": "How the file is written. Reading stops at a cell that does not fit.",
    "missingValues": "Cells that are missing.",
    "fields": "The columns. Role: task, user, recording, time, feature, withheld; of recordings also private.\n"
    "# Only task and features leave. "
    "Numbers leave inside their range and rounded to the step, texts only if they are one of the levels (enum).",
    "recordings": "How a folder of recordings is read.",
}  # fmt: skip


def load(path: str | Path) -> Schema:
    """Read a schema.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If a key or value is wrong. The message names file, key, value and remedy.
    """
    file = check_file(path)
    if file.stat().st_size > _LARGEST:
        raise ValueError(f"{file} is larger than {_LARGEST / 2**20:.0f} MiB: it is no schema")
    try:
        # every scalar stays a text until its key says what it is: 0100, 1E5, no and on are labels
        keys = yaml.load(file.read_text(encoding="utf-8-sig"), Loader=_Loader)  # noqa: S506 - builds no objects
        return Schema.model_validate(keys)
    except (yaml.YAMLError, UnicodeError, RecursionError) as error:
        where = getattr(error, "problem_mark", None)
        line = f", line {where.line + 1}" if where else ""
        raise ValueError(f"{file}{line} is no YAML: {getattr(error, 'problem', None) or error}") from error
    except ValidationError as error:
        raise ValueError(f"{file}: {_in_words(error, keys)}") from error


def _in_words(error: ValidationError, keys: Any) -> str:
    """Return the first mistake of a schema in words: key, value and remedy."""
    if not isinstance(keys, dict):
        return "a schema needs keys such as fields: draft one with `sensorprivacy schema`"
    found = error.errors(include_url=False)
    first = min(found, key=lambda one: one["type"] != "extra_forbidden")  # it may be a missing key misspelt
    where = [str(part) for part in first["loc"]]
    if where[:1] == ["fields"] and len(where) > 1:
        named = keys["fields"][int(where[1])]
        where = [f"field {named.get('name', where[1]) if isinstance(named, dict) else where[1]}", *where[2:]]
    shown = f" ({str(first['input'])[:60]!r})" if isinstance(first["input"], str | int | float) else ""
    said = {
        "extra_forbidden": "is no key of a schema: correct its spelling",
        "missing": "is missing: add it",
    }.get(first["type"], first["msg"].removeprefix("Value error, "))
    more = f" ({error.error_count() - 1} more)" if error.error_count() > 1 else ""
    return f"{': '.join(where)}{shown}{': ' if where else ''}{said}{more}"


def save(schema: Schema, path: str | Path) -> None:
    """Write a schema as YAML with a comment for each part."""
    file = Path(path)
    stated = schema.model_dump(mode="json", exclude_defaults=True)
    keys: dict[str, Any] = {"sensorprivacy": 1, "name": schema.name, "k": schema.k, "format": schema.format} | stated
    keys["missingValues"] = schema.missingValues
    fields = []
    for field, known in zip(schema.fields, stated["fields"], strict=True):
        known = {"name": field.name, "title": field.title, "type": field.type, "role": field.role} | known
        fields.append({key: value for key, value in known.items() if key != "title" or field.title != field.name})
    keys["fields"] = fields
    keys = {key: keys[key] for key in Schema.model_fields if key in keys}
    parts = [_HEAD.format(file=file.name)]
    for key, value in keys.items():
        comment = _COMMENTS.get(key)
        parts.append((f"\n# {comment}\n" if comment else "") + _dump({key: value}))
    write_atomically(file, lambda part: part.write_text("".join(parts), encoding="utf-8"))


def confirm(path: str | Path, today: dt.date) -> Schema:
    """Write into a schema that a person confirmed it, and return it. Comments and all other lines stay."""
    file, schema = Path(path).resolve(), load(path).confirm(today)
    old = ("confirmed:", "digest:", _CONFIRMED)
    lines = [line for line in file.read_text(encoding="utf-8-sig").splitlines() if not line.startswith(old)]
    lines += [_CONFIRMED, f"confirmed: {today}", f"digest: {schema.digest}", ""]

    def write(part: Path) -> None:
        part.write_text("\n".join(lines), encoding="utf-8")
        shutil.copymode(file, part)

    write_atomically(file, write)
    return schema


class _Loader(yaml.BaseLoader):
    """Read a key that stands twice as a mistake."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Return the keys and values of a node."""
        keys = [key.value for key, _ in node.value]
        if twice := [key for at, key in enumerate(keys) if key in keys[:at]]:
            raise yaml.constructor.ConstructorError(None, None, f"key {twice[0]!r} stands twice", node.start_mark)
        return super().construct_mapping(node, deep=deep)


class _Dumper(yaml.SafeDumper):
    """Write lists of scalars in one line, and records below each other."""


def _list(dumper: yaml.SafeDumper, items: list[Any]) -> yaml.Node:
    flow = not any(isinstance(item, dict | list) for item in items)
    return dumper.represent_sequence("tag:yaml.org,2002:seq", items, flow_style=flow)


_Dumper.add_representer(list, _list)


def _dump(keys: dict[str, Any]) -> str:
    return yaml.dump(keys, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=118)
