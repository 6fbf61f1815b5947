import pandas as pd
import pytest

from sensorprivacy.report import paper3, printed_values
from sensorprivacy.report.verdicts import judge


@pytest.mark.parametrize(
    ("count", "text"), [(1947, "1.9k"), (2495, "2.5k"), (6225, "6.2k"), (2686, "2.7k"), (1010, "1k"), (42949, "42.9k")]
)
def test_counts_are_written_as_printed(count: int, text: str) -> None:
    assert paper3.thousands(count) == text


def test_every_cell_of_a_table_is_answered() -> None:
    for (dataset, private), number in paper3.TABLES.items():
        columns = [f"{who}_{when}" for who in ("public", "private") for when in ("before", "after")]
        row = {f"{name}{end}": 0.5 for name in columns for end in ("", "_low", "_high")} | {"windows": 1947}
        table = pd.DataFrame([row] * 4, index=list(paper3.ROWS[dataset]))
        ours = paper3.inference_claims(dataset, private, table)
        printed = printed_values(3)
        assert set(ours) == set(printed.loc[printed["table"] == number, "claim_id"])
        judged = judge(ours, run="test", unexplained="allow")
        assert len(judged) == 20
    assert paper3.inference_claims("smartwatch", "side", pd.DataFrame()) == {}


def test_the_printed_counts_come_out_exact() -> None:
    columns = [f"{who}_{when}" for who in ("public", "private") for when in ("before", "after")]
    row = {f"{name}{end}": 0.5 for name in columns for end in ("", "_low", "_high")}
    table = pd.DataFrame([row | {"windows": n} for n in (1947, 2495, 6225, 2686)], index=["dws", "ups", "wlk", "jog"])
    judged = judge(paper3.inference_claims("motionsense", "gender", table), run="test", unexplained="allow")
    counts = judged[judged["claim_id"].str.endswith("embeddings")]
    assert counts["verdict"].tolist() == ["exact"] * 4


def test_what_needs_mobiact() -> None:
    absent = paper3.absent_claims("mobiact", "ask")
    assert {"3-T2-walking-act-before", "3-T3-standing-embeddings", "3-text-mobiact-outperforms-aae"} <= set(absent)
    assert "3-text-probabilistic-prevents-mobiact-gender" in absent
    assert not any(claim.startswith(("3-T1", "3-T5", "3-text-motionsense")) for claim in absent)
