"""Judge the stored values of committed runs again, after the ledger or the rules of verdicts have changed.

    python bench/tools/rejudge.py [--profile paper] [RUN ...]

No model is trained: the values, intervals and units are those in each run's ``verdicts.csv``. Each run's ``run.json``
gets the new digest of that file. Then run the notebook 90_replication_report, which collects all verdicts. A run whose
values change needs to be executed instead.
"""

import argparse
import hashlib
import json
import re
import sys
from typing import Any

import pandas as pd

from compendium.paths import RUN_FILE, VERDICTS_FILE, figures_dir
from compendium.run.provenance import in_paper_order
from compendium.show.tables import csv_text
from compendium.verdicts import judge, printed_values
from compendium.verdicts.printed import kind_of, number_in, pair_in, set_in
from compendium.verdicts.replication import read_verdicts
from compendium.verdicts.verdicts import Ours


def value_of(kind: str, text: str) -> Any:
    """Return our value from its text in a file of verdicts."""
    if kind == "number":
        stated = number_in(text)
        return float(text) if stated is None else stated[0]
    if kind == "pair":
        return tuple(part[0] for part in pair_in(text))
    return {"set": set_in(text), "truth": text == "true"}.get(kind, text)


def again(stored: pd.DataFrame, run: str) -> pd.DataFrame:
    """Return the verdicts of a run, judged again from its stored values."""
    printed = printed_values().set_index("claim_id")
    ours: dict[str, Ours] = {}
    reasons: dict[str, dict[str, str]] = {"no data": {}, "undecided": {}, "not reproducible": {}}
    for row in stored.to_dict("records"):
        claim = str(row["claim_id"])
        if row["verdict"] in reasons:
            # a verdict that also quotes the ledger gets the quotation again
            reasons[row["verdict"]][claim] = re.split(r"; (?=D\d+: )", row["reason"])[0]
        if row["ours"]:
            low, high = (None if pd.isna(row[end]) else float(row[end]) for end in ("low", "high"))
            count, _, name = row["unit"].rpartition(" ")
            number = int(count.replace(",", "")) if count else None
            kind = kind_of(printed.loc[claim, "printed"], printed.loc[claim, "value"])
            over = name if number != 1 else f"{name}s"
            ours[claim] = Ours(value_of(kind, row["ours"]), low, high, over, number)
    return judge(
        ours,
        run=run,
        impossible=reasons["not reproducible"],
        no_data=reasons["no data"],
        undecided=reasons["undecided"],
        basis=dict(zip(stored["claim_id"], stored["basis"], strict=True)),
    )


def main() -> int:
    """Judge the runs again and print how their verdicts change."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="*")
    parser.add_argument("--profile", default="paper")
    given = parser.parse_args()
    for path in sorted(figures_dir(given.profile).glob(f"*/{VERDICTS_FILE}")):
        folder = path.parent
        if given.runs and folder.name not in given.runs:
            continue
        before = read_verdicts(path)
        judged = again(before, folder.name)
        content = csv_text(in_paper_order(judged)).encode()
        record = json.loads((folder / RUN_FILE).read_text(encoding="utf-8"))
        record["files"][VERDICTS_FILE] = hashlib.sha256(content).hexdigest()
        path.write_bytes(content)
        text = json.dumps(record, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
        (folder / RUN_FILE).write_text(text, encoding="utf-8")
        changes = before.merge(judged, on="claim_id", suffixes=("_before", "_after"))
        changes = changes[changes["verdict_before"] != changes["verdict_after"]]
        for (old, new), own in changes.groupby(["verdict_before", "verdict_after"]):
            print(f"{folder.name}: {len(own)} {old} -> {new}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
