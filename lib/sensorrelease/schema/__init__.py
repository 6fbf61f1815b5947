"""The written schema of your own data: what is read, and what may leave."""

from sensorrelease.schema.draft import draft
from sensorrelease.schema.model import Constraints, Dialect, Field, Schema
from sensorrelease.schema.read import Pieces, Table, read
from sensorrelease.schema.storage import confirm, describe, load, save

__all__ = [
    "Constraints", "Dialect", "Field", "Pieces", "Schema", "Table", "confirm", "describe", "draft", "load", "read",
    "save",
]  # fmt: skip
