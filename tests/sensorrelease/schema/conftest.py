"""A small table, the schema that reads it, and helpers that write and compare it."""

from types import SimpleNamespace

import pandas as pd
import pytest

from sensorrelease.schema import Constraints, Field, Schema

HEAD = "load,room,owner"
ROWS = [f"{k * 37 % 61 / 2},{'hall' if k % 3 else 'bath'},P{k % 4}" for k in range(60)]
FRAME = pd.DataFrame([row.split(",") for row in ROWS], columns=HEAD.split(",")).astype({"load": float})


def schema(**keys):
    load = Field(name="load", type="number", role="feature", constraints={"minimum": 0, "maximum": 99}, step=0.5)
    room = Field(name="room", role="task", constraints=Constraints(enum=["hall", "bath"]))
    return Schema(fields=[load, room, Field(name="owner", role="user")], **keys)


def write(tmp_path, lines, name="home.csv", end="\n", encoding="utf-8"):
    file = tmp_path / name
    file.write_bytes((end.join(lines) + end).encode(encoding))
    return file


def same(found):
    pd.testing.assert_frame_equal(found.frame, FRAME, check_dtype=False)


@pytest.fixture
def home():
    """Return the table and its helpers."""
    return SimpleNamespace(schema=schema, write=write, same=same)
