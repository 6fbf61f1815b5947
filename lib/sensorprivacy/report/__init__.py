"""Report results: verdicts on printed values, tables, figures, and the record of each run.

The package needs only data frames and the printed values in ``data/paper/``; it imports none of the strategies. One
package for each paper, `paper1`, `paper2` and `paper3`, turns a run's tables into values for the paper's claims and
draws the paper's figures. The docstring of each package lists where the code of each printed table is.

| module | subject |
|---|---|
| `printed` | the papers' printed values |
| `verdicts` | the verdict on each printed value |
| `basis` | what each verdict is based on |
| `intervals` | prediction intervals over trainings |
| `ledger` | known differences between a paper and its numbers, written to ``DEVIATIONS.md`` |
| `consistency` | printed values that contradict each other |
| `provenance` | open a run, write its tables, figures and verdicts with their digests |
| `earlier_runs` | read tables and settings of earlier runs |
| `replication` | all verdicts together, written to ``REPLICATION.md`` |
| `sentences` | the closing sentence of a notebook's section, from its numbers |
| `tables`, `figures` | tables as text, the common style of figures |
| `charts`, `diagrams` | general charts; boxes and arrows |
"""

from sensorprivacy import extras

__getattr__, __dir__, __all__ = extras.attach(__name__, __file__)
