"""Checks of the lessons' exercises, which answer with hints: one module for each lesson.

A lesson imports its module as ``from checks import entropy as check``, so this folder must lie beside the notebook.
"""
