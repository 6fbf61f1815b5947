"""The re-identification game: measure how well a published table serves its task and identifies its users."""

from sensorprivacy.game.attack import attack, attack_all
from sensorprivacy.game.measuring import Undefined, effectiveness_column, relative_effectiveness
from sensorprivacy.game.outcome import Attack, Attacks, Measure, Outcome
from sensorprivacy.game.panel import RELEASE_ATTACKERS
from sensorprivacy.game.play import play
from sensorprivacy.game.splits import Split, default_split, grouped_split, leak_free, paper_split, random_split
from sensorprivacy.game.tables import TABLE_ATTACKERS, TableScene
from sensorprivacy.game.units import difference, few_units, share
from sensorprivacy.game.wilson import wilson, with_intervals

__all__ = [
    "RELEASE_ATTACKERS", "TABLE_ATTACKERS", "Attack", "Attacks", "Measure", "Outcome", "Split", "TableScene",
    "Undefined", "attack", "attack_all", "default_split", "difference", "effectiveness_column", "few_units",
    "grouped_split", "leak_free", "paper_split", "play", "random_split", "relative_effectiveness", "share",
    "wilson", "with_intervals",
]  # fmt: skip
