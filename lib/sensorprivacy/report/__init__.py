"""What goes out: verdicts on printed values, tables, figures, and the record of each run.

Knows data frames and the printed values in ``data/paper/``, nothing of the strategies.
"""

from sensorprivacy.report.charts import (
    group_shares,
    grouped_bars,
    intervals_by_set,
    lines_with_markers,
    partition_strip,
    privacy_loop,
    search_path,
    verdict_bars,
)
from sensorprivacy.report.consistency import contradictions
from sensorprivacy.report.diagrams import Arrow, Box, architecture, flow_diagram, three_actions
from sensorprivacy.report.ledger import entries
from sensorprivacy.report.paper2 import smart_home
from sensorprivacy.report.paper2 import summary as paper2_summary
from sensorprivacy.report.paper2 import values as paper2
from sensorprivacy.report.printed import printed_values
from sensorprivacy.report.provenance import Run, open_run
from sensorprivacy.report.replication import collect, counts, write_replication
from sensorprivacy.report.verdicts import Ours, judge

__all__ = [
    "Arrow",
    "Box",
    "Ours",
    "Run",
    "architecture",
    "collect",
    "contradictions",
    "counts",
    "entries",
    "flow_diagram",
    "group_shares",
    "grouped_bars",
    "intervals_by_set",
    "judge",
    "lines_with_markers",
    "open_run",
    "paper2",
    "paper2_summary",
    "partition_strip",
    "printed_values",
    "privacy_loop",
    "search_path",
    "smart_home",
    "three_actions",
    "verdict_bars",
    "write_replication",
]
