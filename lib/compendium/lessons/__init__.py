"""Lessons: checks of the exercises that answer with hints, and the student versions of the lesson notebooks.

Each lesson in ``notebooks/lessons`` imports the module with its checks. `release` makes the student versions.
"""
