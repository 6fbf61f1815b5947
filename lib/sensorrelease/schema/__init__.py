"""The written schema of your own data: what is read, and what may leave."""

from sensorrelease.schema.model import Constraints, Dialect, Field, Schema
from sensorrelease.schema.read import Pieces, Table, pieces, read
from sensorrelease.schema.storage import load, save

__all__ = ["Constraints", "Dialect", "Field", "Pieces", "Schema", "Table", "load", "pieces", "read", "save"]
