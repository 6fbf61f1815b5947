"""Verify that the committed results belong to this state of the code, without running anything."""

from pathlib import Path

import pandas as pd

from compendium.book import pages
from compendium.datasets import cards
from compendium.paths import VERDICTS_FILE, data_dir, figures_dir, project_root
from compendium.run.committed import WRONG, findings
from compendium.run.runs import read_runs
from compendium.verdicts import layout, ledger, recompute, replication
from compendium.verdicts.verdicts import read_verdicts


def verify() -> pd.DataFrame:
    """Compare the committed results with this state of the code, and recompute what follows from their tables.

    Returns
    -------
    pandas.DataFrame
        Columns kind, where, what. First the state of each run of the profile ``paper``, in the order of ``runs.yaml``.
        It is *computed* if today's code, parameters, packages and data made it, and *carried over* if other code made
        it that gives the same files in replay. It is *stale* if they are no longer those that made it, and *absent*
        without a record. A file is *wrong* if its digest is not the recorded one, or if verdicts or pages do not follow
        from the tables.
    """
    found = [finding for run in read_runs().values() if run.runs_in("paper") for finding in findings(run)]
    differ = recompute.differences("paper")
    found += [(WRONG, f"figures/{file}", f"{len(own)} cells do not follow") for file, own in differ.groupby("file")]
    for name in ("ledger", "data", "readme", "index", "replication"):
        path, text = document(name)
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            found.append((WRONG, path.relative_to(project_root()).as_posix(), "does not follow from the tables"))
    return pd.DataFrame(found, columns=["kind", "where", "what"])


def document(name: str) -> tuple[Path, str]:
    """Return the path of a generated page, and the text that it must have.

    Parameters
    ----------
    name : {"ledger", "data", "readme", "index", "replication"}
        The page: DEVIATIONS.md, data/README.md, README.md, data/paper/index.md or REPLICATION.md.
    """
    root, data = project_root(), data_dir()
    if name in ("data", "readme"):
        path = (data if name == "data" else root) / "README.md"
        text = path.read_text(encoding="utf-8")
        return path, cards.page(text) if name == "data" else pages.readme(text)
    if name == "index":
        return data / "paper" / "index.md", layout.index_page()
    verdicts = read_verdicts(figures_dir("paper") / VERDICTS_FILE)
    if name == "ledger":
        return root / "DEVIATIONS.md", ledger.page(verdicts)
    return root / "REPLICATION.md", replication.replication_text(verdicts)
