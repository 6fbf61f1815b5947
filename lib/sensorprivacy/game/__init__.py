"""The re-identification game: measure how well a published table serves its task and identifies its users."""

from sensorprivacy.game.attack import attack as attack
from sensorprivacy.game.attack import attack_all as attack_all
from sensorprivacy.game.measuring import Undefined as Undefined
from sensorprivacy.game.measuring import effectiveness_column as effectiveness_column
from sensorprivacy.game.measuring import relative_effectiveness as relative_effectiveness
from sensorprivacy.game.outcome import Attack as Attack
from sensorprivacy.game.outcome import Attacks as Attacks
from sensorprivacy.game.outcome import Measure as Measure
from sensorprivacy.game.outcome import Outcome as Outcome
from sensorprivacy.game.play import play as play
from sensorprivacy.game.splits import Split as Split
from sensorprivacy.game.splits import default_split as default_split
from sensorprivacy.game.splits import grouped_split as grouped_split
from sensorprivacy.game.splits import leak_free as leak_free
from sensorprivacy.game.splits import paper_split as paper_split
from sensorprivacy.game.splits import random_split as random_split
from sensorprivacy.game.tables import TABLE_ATTACKERS as TABLE_ATTACKERS
from sensorprivacy.game.tables import TableScene as TableScene
from sensorprivacy.game.units import difference as difference
from sensorprivacy.game.units import few_units as few_units
from sensorprivacy.game.units import share as share
from sensorprivacy.game.wilson import wilson as wilson
from sensorprivacy.game.wilson import with_intervals as with_intervals
