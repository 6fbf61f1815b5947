"""The written schema of your own data: what is read, and what may leave."""

from sensorrelease.schema.model import Constraints, Dialect, Field, Schema, load, save

__all__ = ["Constraints", "Dialect", "Field", "Schema", "load", "save"]
