"""Fill the templates of pages, with numbers quoted from committed tables, and write pages.

A template never holds a number of a result: ``{{ numbers.share("RUN/TABLE", "COLUMN", KEY="ROW") }}`` reads it from
``figures/RUN/TABLE.csv``. The first page of the book and README.md state the same findings, from one template. What a
finding says of a verdict, it takes from the words that ``data/paper/claims.toml`` allows for this verdict.

Other functions say what the pages of the papers and of the ledger show of the verdicts.
"""

import contextlib
import json
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import jinja2
import pandas as pd

from compendium.paths import RUN_FILE, VERDICTS_FILE, figures_dir, project_root
from compendium.show.captions import titles
from compendium.show.tables import markdown_text
from compendium.verdicts.earlier_runs import gather
from compendium.verdicts.layout import legend, paper_table, title
from compendium.verdicts.ledger import Entry, one_line
from compendium.verdicts.printed import claims_file
from compendium.verdicts.quotes import cell, quoted, row_in
from compendium.verdicts.replication import headline_table, tally_apart
from compendium.verdicts.verdicts import read_verdicts
from compendium.verdicts.words import BASES, HEADLINE, VERDICTS
from sensorprivacy.paths import part_folder, replace_folder

MARK = ".made-by-sensorprivacy"
_PLACE = re.compile(r"(<!-- findings[^>]*-->\n).*?(<!-- end of findings -->)", re.DOTALL)


class BookError(RuntimeError):
    """The book could not be built."""


def write(path: Path, text: str) -> Path:
    """Write a text file, with its folders, and return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")
    return path


@contextlib.contextmanager
def in_place_of(folder: Path) -> Iterator[Path]:
    """Yield an empty folder that takes the place of one that an earlier build made, once it is complete.

    Raises
    ------
    BookError
        If the folder has files, and no earlier build made it.
    """
    if folder.is_dir() and any(folder.iterdir()) and not (folder / MARK).is_file():
        raise BookError(f"{folder} has files that no earlier build made; choose another folder with --out")
    with part_folder(folder) as part:
        write(part / MARK, "Made by `make book` or `make reproduce`, which put new pages in the place of these.\n")
        yield part
        replace_folder(folder, part)


class Numbers:
    """Numbers of committed results, in the words of a page.

    Parameters
    ----------
    verdicts : pandas.DataFrame
        ``figures/verdicts.csv``.
    long : bool
        Whether the interval of a share says its level, what it counts and how many. Otherwise it is in brackets.
    """

    def __init__(self, verdicts: pd.DataFrame, *, long: bool = True) -> None:
        self._verdicts, self._long = verdicts, long

    def cell(self, table: str, column: str, **where: str) -> Any:
        """Return a cell of a committed table: its column, in the only row with the given values."""
        return _plain(cell(table, _selector(where), column))

    def share(self, table: str, column: str, counted: str = "", **where: str) -> str:
        """Return a share in whole percents, with its interval if the table says what this counts.

        Parameters
        ----------
        table, column : str
            The table and the column of the share; the columns ``COLUMN_low`` and ``COLUMN_high``, or ``low`` and
            ``high``, have its interval.
        counted : str, optional
            What the interval counts, if another word than the table's is plainer.
        **where : str
            The row.
        """
        row = {name: _plain(text) for name, text in row_in(table, _selector(where)).items()}
        text = f"{100 * row[column]:.0f} %"
        low, high, n, unit = (row.get(f"{column}_{name}", row.get(name, "")) for name in ("low", "high", "n", "unit"))
        size = f"{n:,.0f} {counted or unit}" if n and isinstance(unit, str) and unit else ""
        size = n.removeprefix("n = ") if isinstance(n, str) else size
        if not size:
            return text
        ends = f"{100 * low:.0f}", f"{100 * high:.0f}"
        return f"{text} (95 % interval {' to '.join(ends)}, {size})" if self._long else f"{text} [{'–'.join(ends)}]"

    def claim(self, claim_id: str, column: str) -> Any:
        """Return a column of the verdict on one printed value."""
        return self._verdicts.set_index("claim_id").loc[claim_id, column]

    def tally(self, paper: int | None = None, tables: Iterable[str] = (), bases: Iterable[str] = BASES) -> pd.Series:
        """Return the number of each verdict, and of all (``all``), among some printed values."""
        own = self._verdicts[self._verdicts["basis"].isin(list(bases))]
        own = own if paper is None else own[(own["paper"] == paper) & own["table"].isin(list(tables))]
        counts = own["verdict"].value_counts().reindex(list(VERDICTS), fill_value=0)
        return pd.concat([counts, pd.Series({"all": len(own)})])

    def outcomes(self, table: str) -> pd.Series:
        """Return how often the tables ``RUN/claims`` have each verdict on a central claim; ``*`` in RUN is any text.

        A reason after a colon does not count: ``not tested: not among the defences`` is ``not tested``.
        """
        run, _, name = table.rpartition("/")
        return gather("paper", run, name)["verdict"].str.partition(":")[0].value_counts().sort_index()

    def words(self, number: str) -> str:
        """Return what the verdicts allow a finding to say, by ``[[finding]]`` of ``data/paper/claims.toml``.

        Raises
        ------
        BookError
            If a claim of the finding has a verdict without words, or none of its claims has a verdict.
        """
        asked = next(one for one in claims_file()["finding"] if one["number"] == number)
        found: set[str] = set()
        for claim in asked["claims"]:
            own = self._verdicts.loc[[fnmatchcase(one, claim) for one in self._verdicts["claim_id"]], "verdict"]
            found |= set(self.outcomes(claim).index if "/" in claim else own)
        if not found or not found <= set(asked["words"]):
            what = ", ".join(sorted(found - set(asked["words"]))) or "a claim without a verdict"
            raise BookError(f"finding {number} has no words for {what}: write it anew, in findings.md and claims.toml")
        return next(words for verdict, words in asked["words"].items() if verdict in found)


def _selector(where: dict[str, str]) -> str:
    return "; ".join(f"{name}={value}" for name, value in where.items())


def _plain(text: str) -> Any:
    """Return the number that a cell holds, or its text."""
    for number in (int, float):
        with contextlib.suppress(ValueError):
            return number(text)
    return text


def templates(*folders: Path) -> jinja2.Environment:
    """Return the environment of the templates in the given folders and in ``templates/`` beside this module."""
    loader = jinja2.FileSystemLoader([*folders, Path(__file__).with_name("templates")])
    return jinja2.Environment(
        loader=loader,
        autoescape=jinja2.select_autoescape(),  # of HTML; pages in Markdown are trusted
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
    )


def findings(verdicts: pd.DataFrame, *, book: bool) -> str:
    """Return the five findings in Markdown: one or two sentences each, and in the book with more."""
    numbers = Numbers(verdicts, long=book)
    return templates().get_template("findings.md").render(numbers=numbers, book=book, headline=HEADLINE).strip()


def readme(text: str) -> str:
    """Return the text of ``README.md`` with the findings of the committed results between its two marks."""
    found = findings(read_verdicts(figures_dir("paper") / VERDICTS_FILE), book=False)
    return _PLACE.sub(lambda match: f"{match[1]}{found}\n{match[2]}", text)


def outcome(verdicts: pd.DataFrame, paper: int) -> str:
    """Return a sentence with the counts of a paper's verdicts, computed from them."""
    own = verdicts[verdicts["paper"] == paper]
    rows = int(((own["basis"] == "rows") & (own["verdict"] != "no data")).sum())
    return f"We list {len(own)} values of the paper: {tally_apart(own)}. We recomputed {rows} of them from data."


def headlines(verdicts: pd.DataFrame, paper: int) -> str:
    """Return the paper's headline claims as a Markdown table: claim, printed, ours, verdict."""
    own = headline_table(verdicts, "paper").query("paper == @paper")[["claim", "printed", "ours", "verdict"]]
    return markdown_text(own.reset_index(drop=True)).replace("DEVIATIONS.md#", "../ledger.md#")


def changed(ledger: Iterable[Entry], paper: int) -> str:
    """Return the ledger entries that change a conclusion of the paper, as a Markdown list."""
    own = [entry for entry in ledger if entry.major and entry.paper == paper]
    return "\n".join(f"- [{entry.id}](../ledger.md#{entry.id.lower()}): {entry.title}." for entry in own)


def tables(verdicts: pd.DataFrame, paper: int) -> str:
    """Return all tables of a paper in its own layout, each below a heading with an anchor (``#paper-1-table-4``)."""
    own = verdicts[verdicts["paper"] == paper]
    parts = [legend(), "A link in a cell leads to the value's reason, its notebook and the command that recomputes it."]
    for table, claims in own.groupby("table", sort=False):
        anchor = "statements" if table == "text" else f"table-{table}"
        parts += [f"(paper-{paper}-{anchor})=", f"### {title(paper, str(table))}"]
        parts.append(paper_table(claims, lambda name: f"../verdicts.html#{name}", caption=False))
    return "\n\n".join(parts)


def figures(
    source: Path, target: Path, places: Mapping[str, Mapping[str, str]], paper: int, names: Iterable[str]
) -> str:
    """Return our drawings of a paper's figures in Markdown, in the paper's order, and copy them beside its page.

    A heading has the paper's number in full, and the text below it in short, so that the search finds "figure 8" and
    "Fig. 8".

    Parameters
    ----------
    source, target : pathlib.Path
        The committed results, and the folder of the papers' pages.
    places : mapping of str to mapping
        The addresses of each run's pages, as :func:`.notebooks.write_runs` returns them.
    paper : int
        The paper's number.
    names : iterable of str
        The figures, each as ``RUN/FILE``.
    """
    parts = []
    for name in names:
        path = source / name
        numbers = re.sub(r"^figures?-([\d-]+).*", r"\1", path.stem).strip("-").split("-")
        if len(numbers) == 2:  # a range, such as figures-5-7
            numbers = [str(number) for number in range(int(numbers[0]), int(numbers[1]) + 1)]
        head = f"Figure{'s' if len(numbers) > 1 else ''} {', '.join(numbers)}"
        record = json.loads((path.parent / RUN_FILE).read_text(encoding="utf-8"))
        beside = project_root() / "notebooks" / "captions" / f"{path.parent.name.partition('-')[0]}.toml"
        named = titles(beside, record["parameters"])
        caption = record["captions"].get(path.name) or named.get(path.stem, "drawn from our results")
        picture = f"paper-{paper}-{path.name}"
        target.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target / picture)
        parts += [f"### {head}", f"![{caption}]({picture})"]
        run = path.parent.name
        link = f" [All results of this run](../results/{run}.md)." if "results" in places[run] else ""
        short = "" if re.match(r"Figs?\.", caption) else f"Fig{'s' if len(numbers) > 1 else ''}. {', '.join(numbers)}: "
        parts.append(f"{short}{caption}.{link}")
    return "\n\n".join(parts)


def linker(ledger: Iterable[Entry]) -> Callable[[str], str]:
    """Return a function that puts a text of the ledger on one line, with the numbers that it quotes and with links."""
    known = "|".join(entry.id for entry in ledger)
    name = re.compile(rf"(?<![\w/\[])({known})\b(?!\])")
    return lambda text: name.sub(lambda match: f"[{match[1]}](#{match[1].lower()})", one_line(quoted(text)))
