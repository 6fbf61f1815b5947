"""The judge: one game that measures what any strategy keeps for the task and gives away about the users."""

from sensorprivacy.game.effectiveness import Undefined, effectiveness_column, relative_effectiveness
from sensorprivacy.game.intervals import wilson, with_intervals
from sensorprivacy.game.play import Measure, Outcome, play, play_repeated, seeded, summarize
from sensorprivacy.game.splits import (
    PAPER_SPLITS,
    Split,
    default_split,
    grouped_split,
    paper_split,
    random_split,
    repeat,
)

__all__ = [
    "PAPER_SPLITS",
    "Measure",
    "Outcome",
    "Split",
    "Undefined",
    "default_split",
    "effectiveness_column",
    "grouped_split",
    "paper_split",
    "play",
    "play_repeated",
    "random_split",
    "relative_effectiveness",
    "repeat",
    "seeded",
    "summarize",
    "wilson",
    "with_intervals",
]
