"""Decide the claims of paper 3 that need tables of several runs, or printed values alone.

Claims on re-identification are asked of the same two attackers: the paper's, and the strongest one. Notebook 31 asks
each claim of one of them.
"""

import math
from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd
from scipy.stats import page_trend_test

from compendium.papers.paper3.edge_tables import TABLES, step_totals, worst_case
from compendium.papers.paper3.edge_values import printed_steps
from compendium.papers.paper3.summary import ANSWERS
from compendium.papers.paper3.values import EQUAL, Decided, below, decided, exceeded, prevented
from compendium.verdicts.printed import printed_values
from sensorprivacy.game.units import Difference
from sensorprivacy.latent.comparison import ATTACKED, CHAIN

_MOTIONSENSE = "31_reidentification_attack-motionsense-gender"
#: The attacks under the paper's own protocol, and the end of the claim id of "the probabilistic change prevents".
_PROTOCOLS = {
    _MOTIONSENSE: "",
    "31_reidentification_attack-mobiact-gender-raw": "-mobiact-gender",
    "31_reidentification_attack-mobiact-weight-raw": "-mobiact-weight",
}
_STATED: dict[str, bool | None] = {"yes": True, "no": False}  # otherwise undecided
#: Columns of `two_attackers`, beside ``people``.
ATTACKS = ["run", "release", "attacker", "about", "level", "accuracy", "low", "high", "chance"]
_TAIL = 0.025  # a test on each side, as a 95 % interval
_SLOWER = 1.1  # "without significant overhead": at most a tenth longer
_ORDERS = 100  # "several orders of magnitude": at least two
# G. Vavoulas et al., "The MobiAct dataset", ICT4AWE 2016: one trial of standing lasts five minutes. Paper 3 uses 36
# people, a stride of 10 samples, and tests on a fifth of the windows.
_STANDING = {"people": 36, "seconds": 300, "stride": 10, "tested": 0.2}


def two_attackers(figure8: pd.DataFrame, strongest: pd.DataFrame) -> pd.DataFrame:
    """Return both attackers on each release of the claims, under the paper's own protocol.

    Parameters
    ----------
    figure8, strongest : pandas.DataFrame
        Tables of notebook 31 with a column ``run``: the paper's attacker over several trainings, and the strongest
        attacker on one training.

    Returns
    -------
    pandas.DataFrame
        ``run``, ``release``, ``attacker`` (``paper's`` or ``strongest``), ``about``, ``level``, ``accuracy``, ``low``,
        ``high``, ``chance``, ``people``. Attacks on identity are left out.
    """
    both = pd.concat([figure8.assign(attacker="paper's"), strongest.assign(attacker="strongest")], ignore_index=True)
    if "release" not in both:
        return pd.DataFrame(columns=[*ATTACKS, "people"])
    asked = both["run"].isin(list(_PROTOCOLS)) & both["release"].isin(ATTACKED) & (both["about"] != "subject")
    found = both[asked].rename(columns={"score": "accuracy"})
    return found[ATTACKS].assign(people=found["n"].str.split().str[0].astype(int))


def every(answers: Iterable[bool | None]) -> bool | None:
    """Return whether a claim holds in all cases: False if it fails in one, None if one is open and none fails."""
    found = list(answers)
    return decided(all(answer is True for answer in found), any(answer is False for answer in found))


def attack_claims(attacks: pd.DataFrame, kept: pd.DataFrame, earlier: pd.DataFrame) -> tuple[Decided, dict[str, str]]:
    """Return our values for the claims on re-identification, and why some are undecided.

    A claim holds if it holds with the paper's attacker and with the strongest one, and fails if it fails with one.

    Parameters
    ----------
    attacks : pandas.DataFrame
        Result of `two_attackers`.
    kept : pandas.DataFrame
        ``run``, ``release``, ``activity``, ``low``, ``high``: the activity that independent judges recognize.
    earlier : pandas.DataFrame
        Statements of notebook 31, with ``run``, ``claim`` and ``ours``: what holds with the paper's attacker, over
        several trainings.

    Returns
    -------
    tuple of two dict
        Values by claim id; and the answers with each attacker, for claims that they leave open.
    """
    asked: dict[str, dict[str, bool | None]] = {}
    for run, end in _PROTOCOLS.items():
        own = attacks[attacks["run"] == run]
        coin = own[own["release"] == "probabilistic"]
        if len(coin):
            answers = {str(who): prevented(rows) for who, rows in coin.groupby("attacker")}
            asked[f"3-text-probabilistic-prevents{end}"] = answers
    windows = attacks[(attacks["attacker"] == "strongest") & (attacks["level"] == "window")]
    windows, activity, stated = (part[part["run"] == _MOTIONSENSE] for part in (windows, kept, earlier))
    if len(windows) and len(stated):
        found, judged = ({row["release"]: row for _, row in part.iterrows()} for part in (windows, activity))
        strong = {"3-text-deterministic-reidentified": exceeded(found["deterministic"])}
        strong |= dict.fromkeys(("3-text-rivals-reidentified", "3-text-model-free-less-vulnerable"))
        if CHAIN in found:  # the profile quick does not train the rivals, and gives them another name
            private = unpaired(found["probabilistic"], found[CHAIN], "accuracy")
            public = unpaired(judged["probabilistic"], judged[CHAIN], "activity")
            strong["3-text-rivals-reidentified"] = exceeded(found[CHAIN])
            strong["3-text-model-free-less-vulnerable"] = _hides_better(private, public)
        papers = dict(zip(stated["claim"], stated["ours"], strict=True))
        asked |= {claim: {"paper's": _STATED.get(papers[claim]), "strongest": strong[claim]} for claim in strong}
    said = {claim: every(answers.values()) for claim, answers in asked.items()}
    why = {
        claim: "; ".join(f"the {attacker} attacker: {ANSWERS[answer]}" for attacker, answer in asked[claim].items())
        for claim, value in said.items()
        if value is None
    }
    return said, why


def unpaired(first: Mapping[Any, Any] | pd.Series, second: Mapping[Any, Any] | pd.Series, value: str) -> Difference:
    """Return the difference of two shares from their intervals alone, as if they were of different people.

    Two releases of the same people are alike, so this interval is wider than a paired one. The p-value is missing.

    References
    ----------
    R. G. Newcombe, "Interval estimation for the difference between independent proportions: comparison of eleven
    methods", Statistics in Medicine 17 (1998), 873-890, method 10.

    Examples
    --------
    >>> one, other = ({"accuracy": score, "low": score - 0.03, "high": score + 0.03} for score in (0.6, 0.9))
    >>> found = unpaired(one, other, "accuracy")
    >>> round(found.value, 3), round(found.low, 3), round(found.high, 3)
    (-0.3, -0.342, -0.258)
    """
    change = first[value] - second[value]
    less = math.hypot(first[value] - first["low"], second["high"] - second[value])
    more = math.hypot(first["high"] - first[value], second[value] - second["low"])
    return Difference(change, change - less, change + more, math.nan, 0, "people")


def _hides_better(private: Difference, public: Difference) -> bool | None:
    """Return whether a release hides better at equal activity, as `values.hides_better`."""
    lower = below(private)
    return decided(lower is True and public.low > -EQUAL, lower is False and public.high < EQUAL)


def trade_off(grids: pd.DataFrame) -> pd.DataFrame:
    """Return how the accuracies after the paper's shift change with beta, in each run with a grid of weights.

    Parameters
    ----------
    grids : pandas.DataFrame
        Tables ``grid`` of notebook 30 with a column ``run``: one training of each pair of alpha and beta.

    Returns
    -------
    pandas.DataFrame
        By ``run`` and ``measure``: means over alphas at the smallest (``first``) and the largest beta (``last``), and
        the p-values that the accuracy ``falls`` and ``rises`` with beta. The alphas are the blocks of Page's trend
        test. Grids of fewer than three betas or two alphas are left out.
    """
    rows = []
    for run, grid in grids[grids["transfer"] == "mean shift"].groupby("run") if len(grids) else ():
        for measure, column in (("activity", "public_after"), ("private", "private_after")):
            cells = grid.pivot_table(index="alpha", columns="beta", values=column)
            if len(cells) < 2 or len(cells.columns) < 3:
                continue
            falls, rises = (page_trend_test(each, method="exact").pvalue for each in (cells.iloc[:, ::-1], cells))
            ends = {"first": cells.iloc[:, 0].mean(), "last": cells.iloc[:, -1].mean()}
            rows.append({"run": run, "measure": measure} | ends | {"falls": falls, "rises": rises})
    return pd.DataFrame(rows, columns=["run", "measure", "first", "last", "falls", "rises"])


def beta_claims(trends: pd.DataFrame) -> tuple[Decided, dict[str, str]]:
    """Return our values for sections 3.1 and 4.1, beta's trade-off on MotionSense's gender, and why some are undecided.

    `trends` is the result of `trade_off`. Without its grid there are no values.
    """
    own = trends[trends["run"] == "30_vae_anonymization-motionsense-gender"].set_index("measure")
    claims = {"activity": "3-text-beta-lowers-activity", "private": "3-text-beta-lowers-private"}
    said, why = {}, {}
    for measure, row in own.iterrows():
        claim = claims[str(measure)]
        said[claim] = decided(row["falls"] < _TAIL, row["rises"] < _TAIL)
        if said[claim] is None:
            why[claim] = f"no trend with beta: p = {row['falls']:.2g} that it falls, {row['rises']:.2g} that it rises"
    return said, why


def transformation_times(steps: pd.DataFrame) -> pd.DataFrame:
    """Return the ratio of the networks' time to the transformation's, for one window and in the paper's batches.

    Parameters
    ----------
    steps : pandas.DataFrame
        Table ``steps`` of notebook 40: ``machine``, ``bundle``, ``row``, ``batch``, ``median_us``.

    Returns
    -------
    pandas.DataFrame
        By ``machine``, ``bundle`` (the paper's) and ``batch`` (1 and 256): ``networks`` and ``transformation`` in
        microseconds per window, and ``times``. The networks are both inference models, the slowest encoder and the
        slowest decoder.
    """
    rows: list[dict[str, Any]] = []
    kept = steps
    if len(steps):
        papers = [name for table, name in TABLES.items() if table != "7"]
        kept = steps[steps["bundle"].isin(papers) & steps["batch"].isin([1, 256])]
    for place, own in kept.groupby(["machine", "bundle", "batch"]) if len(kept) else ():
        total = step_totals(own, "median_us") / 1000
        networks, transformation = total.drop("transformation").sum(), total["transformation"]
        found = {"networks": networks, "transformation": transformation, "times": networks / transformation}
        rows.append(dict(zip(("machine", "bundle", "batch"), place, strict=True)) | found)
    return pd.DataFrame(rows, columns=["machine", "bundle", "batch", "networks", "transformation", "times"])


def device_claims(
    times: pd.DataFrame, steps: pd.DataFrame, weights: pd.DataFrame
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return our values for section 6's claims on the transformation and on MobiAct's networks, and why one is open.

    Parameters
    ----------
    times : pandas.DataFrame
        Result of `transformation_times`. A device anonymizes one window at a time, and the paper measured batches of
        256: the claim holds if it holds for both, and fails if it fails for both.
    steps : pandas.DataFrame
        As for `transformation_times`, with ``weights``.
    weights : pandas.DataFrame
        Table ``weights`` of notebook 40: ``data set`` and ``specific``, the weights of one autoencoder.
    """
    if times.empty or weights.empty:
        return {}, {}
    long = times["times"] >= _ORDERS
    said: dict[str, Any] = {"3-text-transformation-negligible": decided(bool(long.all()), not long.any())}
    single = times["batch"] == 1
    counts = [f"{long[part].sum()} of {part.sum()}" for part in (single, ~single)]
    why = f"the networks take {_ORDERS} times as long in {counts[0]} pipelines with one window, "
    why += f"and in {counts[1]} with batches of 256"
    specific = weights.set_index("data set")["specific"]
    models = steps[steps["row"].isin(["activity", "gender"])].groupby("bundle")["weights"].max()
    said["3-text-mobiact-larger-models"] = bool(
        specific["mobiact"] > specific["motionsense"] and models["mobiact-gender"] > models["motionsense-gender"]
    )
    return said, {claim: why for claim, value in said.items() if value is None}


def printed_claims() -> dict[str, Any]:
    """Return the values of section 6 that follow from other printed values: the rivals' times, and MobiAct's rate.

    The worst case of Table 4 is compared with the pipeline of Table 7, as printed, because our rivals are other
    networks (D53). The rate follows from the printed number of standing windows (D45).
    """
    total = worst_case(printed_steps(), "printed")
    printed: str = printed_values(3).set_index("claim_id")["printed"]["3-T2-standing-embeddings"]
    windows = 1000 * float(printed.removesuffix("k")) / _STANDING["tested"]
    rate = windows * _STANDING["stride"] / (_STANDING["people"] * _STANDING["seconds"])
    return {
        "3-text-comparable-to-rivals": bool(total["4"] <= _SLOWER * total["7"]),
        "3-text-mobiact-sample-interval": 1000 / rate,
        "3-text-budget-mobiact": 1000 * _STANDING["stride"] / rate,
    }
