"""Recompute printed values without a run: from other printed values, published logs, data sets, or networks' layers.

Each function calls the same functions of the library as the notebook that judges the value, and leaves out the rest of
the notebook. Values that need a trained model or a measured time are not here.
"""

import io
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from compendium import datasets
from compendium.datasets import catalogue, store
from compendium.datasets.errors import DataUnavailableError
from compendium.run.runs import Run
from compendium.verdicts.consistency import contradictions
from compendium.verdicts.verdicts import judge


@dataclass(frozen=True)
class Values:
    """Values of a run's printed claims, as arguments of `report.judge`.

    Attributes
    ----------
    source : str
        What they are computed from, in words.
    ours : mapping
        Our values by claim id.
    options : dict
        Further arguments by name, each by claim id: no_data, undecided, basis, impossible.
    """

    source: str
    ours: Mapping[str, Any]
    options: dict[str, Mapping[str, Any]] = field(default_factory=dict)

    def verdict(self, claim: str, run: str) -> pd.Series | None:
        """Return the row of ``verdicts.csv`` for one claim, or None if it is not among the values."""
        given: dict[str, Any] = {
            name: {claim: by_claim[claim]} for name, by_claim in self.options.items() if claim in by_claim
        }
        ours = {claim: self.ours[claim]} if claim in self.ours else {}
        judged = judge(ours, run=run, unexplained="allow", **given) if ours or "no_data" in given else pd.DataFrame()
        return judged.iloc[0] if len(judged) else None


def without_run(claim: str, run: Run, profile: str) -> tuple[pd.Series, str] | None:
    """Return the verdict on a printed value without a run, and what it was computed from, in words.

    Parameters
    ----------
    claim : str
        Id of the printed value.
    run : Run
        The run that judges it.
    profile : {"quick", "paper"}
        Settings of the run. The quick profile downloads no large data set.

    Returns
    -------
    tuple of pandas.Series and str, or None
        None if the value needs the run.
    """
    for compute in _SOURCES.get(run.name, ()):
        try:
            found = compute(claim, run, profile)
        except DataUnavailableError:  # the run says what is missing and how to get it
            continue
        verdict = None if found is None else found.verdict(claim, run.name)
        if found is not None and verdict is not None:
            return verdict, found.source
    return None


def _printed_1(*_: object) -> Values:
    """Return relative effectiveness and the numbers in the text, from paper 1's printed values."""
    from compendium.papers.paper1 import text, values
    from sensorprivacy import game, minimize

    pairs = values.effectiveness_pairs()
    rows = zip(pairs.index, pairs.to_numpy(), strict=True)
    ours = {claim: game.relative_effectiveness(*row, decimals=4) for claim, row in rows} | text.text_claims()
    ours["1-text-methods"] = len({method.number for method in minimize.METHODS.values()})
    return Values("the paper's own printed values", ours)


def _sizes_1(claim: str, _: Run, profile: str) -> Values | None:
    """Return a data set's row of Table 1, from the data set."""
    from compendium.papers.paper1 import values

    names = [name for name, word in values.SETS.items() if claim.startswith(f"1-T1-{word}-")]
    if not names or names[0] in _absent_1():
        return None
    problem = datasets.problem(names[0])
    sizes = {"classes": problem.task.nunique(), "users": problem.users.nunique(), "features": problem.n_features}
    return Values(f"the data set {names[0]}", values.size_claims(pd.DataFrame([sizes], index=names)))


def _logs(claim: str, _: Run, profile: str) -> Values | None:
    """Return what paper 1's authors published: the choices from their logs, and facts from their notebooks."""
    from compendium.papers.paper1 import published, text
    from sensorprivacy.minimize import select_table
    from sensorprivacy.readers.iot23 import IOT23_FEATURES

    located = store.fetch("published", limit_mb=store.limit_of(profile))
    protocol = pd.read_csv(io.BytesIO(located.read("protocol.csv")))
    chosen = published.choices(located.read, select_table)
    logged, undecided = published.log_claims(chosen.picked, chosen.subsets, protocol)
    if claim in logged and claim not in text.unanswered((), _absent_1()):
        return None  # the data set is on this machine, so its run measures this cell
    row: Any = chosen.picked["4"].loc[0.01]
    ours = (
        logged
        | text.protocol_claims(protocol, chosen.searched)
        | {"1-text-iot23-feature": IOT23_FEATURES[row["features"][0]]}
    )
    options: dict[str, Mapping[str, Any]] = {"undecided": undecided, "basis": dict.fromkeys(logged, "log")}
    return Values("the authors' published logs", ours, options)


def _no_data_1(*_: object) -> Values:
    """Return the cells of paper 1's data sets that are not on this machine."""
    from compendium.papers.paper1 import text

    missing = text.unanswered((), _absent_1())
    missing = {claim: why for claim, why in missing.items() if not claim.startswith("1-text-")}
    return Values("the list of the data sets on this machine", {}, {"no_data": missing})


def _absent_1() -> dict[str, str]:
    """Return how to get each of paper 1's data sets that is not on this machine."""
    from compendium.papers.paper1.values import SETS

    states = {name: store.state("amir" if name.startswith("amir-") else name)["why"] for name in SETS}
    return {name: why for name, why in states.items() if why}


def _motionsense(claim: str, run: Run, profile: str) -> Values | None:
    """Return what paper 3 says of MotionSense, from its recordings."""
    from compendium.papers.paper3 import values

    if not claim.startswith(("3-text-motionsense-", "3-text-contributions-")):
        return None
    dataset, private = run.parameters["dataset"], run.parameters["private"]
    windows = datasets.windows(dataset)
    people = windows.private.assign(subject=windows.subject)
    public = sum(bool(catalogue.catalogue()[each].origins) for each in values.ROWS)
    ours = values.set_claims(dataset, private, people, windows.provenance, public)
    return Values(f"the data set {dataset}", ours, {"impossible": contradictions(3)})


def _steps(claim: str, run: Run, profile: str) -> Values | None:
    """Return what Tables 4 to 7 give without a board's record: batch sizes, networks, rows that contradict themselves.

    The counts of windows in Tables 4 and 7 need trained models, and the kinds of Table 7's rivals their training.
    """
    from compendium.papers.paper3 import edge_values
    from compendium.papers.paper3.edge_tables import BATCHES

    if run.values(profile).get("records") or not claim.startswith("3-T"):
        return None
    printed = edge_values.printed_steps()
    kinds = _kinds() if claim.endswith("-type") else {}
    both = printed.assign(
        batch_ours=printed["table"].map(BATCHES),
        kind_ours=[kinds.get(step, "") for step in zip(printed["table"], printed["row"], strict=True)],
    )
    ours, absent = edge_values.table_claims(both, {})
    trained = {name for name in absent if name.endswith("-embeddings") and name.startswith(("3-T4-", "3-T7-"))}
    ours = {name: value for name, value in ours.items() if value != ""}
    shown = edge_values.contradictions(printed)
    options: dict[str, Mapping[str, Any]] = {
        "impossible": shown,
        "basis": dict.fromkeys(shown, "arithmetic"),
        "no_data": {name: why for name, why in absent.items() if name not in trained},
    }
    return Values("the printed tables, the settings and the networks' layers", ours, options)


def _kinds() -> dict[tuple[str, str], str]:
    """Return the kind of each network of Tables 4 to 6 by table and row, from networks that are not trained."""
    from compendium.papers.paper3 import edge_bundles
    from compendium.papers.paper3.edge_tables import row_name
    from sensorprivacy.edge.board.bundle import Signal
    from sensorprivacy.edge.export import export

    found: dict[tuple[str, str], str] = {}
    signal = Signal("motionsense", "gender", 50.0, 10, ("acceleration", "rotation"), 128)
    mlp = edge_bundles.random_networks("mlp", signal.shape, edge_bundles.MOBIACT, edge_bundles.PRIVATE["gender"])
    with tempfile.TemporaryDirectory() as folder:
        made = {"4": export(mlp, signal, Path(folder) / "motionsense")}
        for table, private in (("5", "gender"), ("6", "weight")):
            made[table] = edge_bundles.mobiact_bundle(private, Path(folder))
    for table, bundle in made.items():
        found |= {(table, row_name(step.name, step.code, bundle.attribute)): step.kind for step in bundle.steps}
    return found


def _section_6(claim: str, run: Run, profile: str) -> Values | None:
    """Return the statements of section 6 of paper 3 that need no measured time: weights, the budget, the cloud."""
    from compendium.papers.paper3 import edge_bundles, edge_values
    from sensorprivacy.edge import comparison
    from sensorprivacy.edge.export import signal_of
    from sensorprivacy.latent.networks import sizes_for

    timed = ("3-text-transformation-negligible", "3-text-comparable-to-rivals")
    if run.values(profile).get("records") or not claim.startswith("3-text-"):
        return None
    signal = signal_of(datasets.windows(run.parameters["dataset"]), run.parameters["private"])
    printed = edge_values.printed_steps()
    decoder = printed.query("table == '4' and row.str.startswith('decoder')")["printed"].max()
    size = signal.shape[0] * signal.shape[1]
    ours = edge_values.text_claims(
        weights=edge_bundles.weight_counts(),
        transformation=0.0,
        networks=0.0,
        shares={},
        totals={"4": 0.0, "7": 0.0},
        offloading=pd.DataFrame(comparison.offloading(decoder, size, sizes_for(size).latent)),
        budget=signal.budget,
    )
    ours = {name: value for name, value in ours.items() if name not in timed}
    absent = edge_values.realtime_without_record({})
    return Values("the networks' layers, the sampling rate and the printed times", ours, {"no_data": absent})


_SOURCES: dict[str, tuple[Callable[[str, Run, str], Values | None], ...]] = {
    "12_game_summary": (_printed_1, _sizes_1, _logs, _no_data_1),
    "30_vae_anonymization-motionsense-gender": (_motionsense,),
    "40_edge_timing-motionsense": (_steps, _section_6),
}
