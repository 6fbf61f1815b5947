"""For reviewers: recompute one printed value, or pack the compendium as an RO-Crate with a CODECHECK manifest."""

import difflib
import json
import mimetypes
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import distributions
from pathlib import Path, PurePosixPath
from typing import Any

import pandas as pd
import yaml

from compendium.datasets.catalogue import catalogue
from compendium.paths import MACHINE_FILE, build_dir, figures_dir, project_root
from compendium.run.reproduce import looker, reproduce
from compendium.run.runs import Profile, before, read_runs, select
from compendium.run.states import FAILED, RunState, status_file
from compendium.show import tables
from compendium.show.tables import page
from compendium.verdicts.printed import printed_values
from compendium.verdicts.replication import counts, summary_line
from compendium.verdicts.verdicts import read_verdicts

CODE, TEXT = "MIT", "CC-BY-4.0"
_LICENCES = {CODE: "https://spdx.org/licenses/MIT", TEXT: "https://spdx.org/licenses/CC-BY-4.0"}
_LICENSED = {CODE: "licence of code and settings", TEXT: "licence of text, figures and tables"}
_OF_CODE = {".py", ".pyi", ".ipynb", ".toml", ".yaml", ".yml", ".lock", ".mplstyle", ".sh", ".js", ".css", ""}
_KINDS = {".ipynb": "application/x-ipynb+json", ".md": "text/markdown", ".toml": "application/toml"}
_KEPT = {  # the folders of the repository, and what a file in each is
    **{"bench": "benchmark, or its result", "book": "source of the book", "data": "printed values, or data catalogue"},
    **{"figures": "committed result", "lib": "code of the packages", "notebooks": "notebook, captions or lesson"},
    "tests": "test",
}


def licence(path: str | PurePosixPath) -> str:
    """Return the SPDX name of a file's licence: MIT for code and settings, CC-BY-4.0 for text, figures and tables.

    Examples
    --------
    >>> licence("lib/compendium/cli.py"), licence("figures/verdicts.csv"), licence("Makefile")
    ('MIT', 'CC-BY-4.0', 'MIT')
    """
    path = PurePosixPath(path)
    return CODE if path.suffix in _OF_CODE and path.parts[0] not in ("figures", "LICENSE-TEXT") else TEXT


def write_pack(folder: Path | None = None) -> Path:
    """Write the reviewer's pack.

    Parameters
    ----------
    folder : path, optional
        Folder that is replaced; default ``build/review``.

    Returns
    -------
    pathlib.Path
        The folder with ``ro-crate-metadata.json``, ``codecheck.yml``, ``environment.txt``, ``report.md`` and all files
        of the compendium.
    """
    folder = folder or build_dir() / "review"
    part = folder.with_name(f".{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    root = project_root()
    verdicts = read_verdicts(figures_dir("paper") / "verdicts.csv")
    (part / "environment.txt").write_text(_environment(), encoding="utf-8")
    (part / "codecheck.yml").write_text(_codecheck(root, verdicts), encoding="utf-8")
    (part / "report.md").write_text(_report(verdicts), encoding="utf-8")
    _crate(root, part, ["environment.txt", "codecheck.yml", "report.md"])
    shutil.rmtree(folder, ignore_errors=True)
    part.rename(folder)
    return folder


def _files(root: Path) -> list[str]:
    """Return the files that git knows, or without git those of the folders that the repository has."""
    try:
        words = ["git", "ls-files", "-z"]
        listed = subprocess.run(words, cwd=root, capture_output=True, text=True, check=True).stdout
        names = [name for name in listed.split("\0") if name]
    except (OSError, subprocess.CalledProcessError):
        paths = [*root.glob("*"), *(path for kept in _KEPT for path in (root / kept).rglob("*"))]
        names = [path.relative_to(root).as_posix() for path in paths if path.is_file()]
        away = ("figures/quick/", "figures/own/", "data/raw/", "data/derived/")
        names = [name for name in names if not name.startswith(away) and "__pycache__" not in name]
    return sorted(name for name in names if (root / name).is_file())


def _citation(root: Path) -> dict[str, Any]:
    return dict(yaml.safe_load((root / "CITATION.cff").read_text(encoding="utf-8")))


def _address(paper: Mapping[str, Any]) -> str:
    return paper.get("url") or f"https://doi.org/{paper['doi']}"


def _crate(root: Path, folder: Path, made: Iterable[str]) -> None:
    """Copy the files and describe them as an RO-Crate: each with its licence, each run with what it wrote."""
    from rocrate.model.contextentity import ContextEntity
    from rocrate.rocrate import ROCrate

    cited = _citation(root)
    crate = ROCrate()

    def entity(address: str, kind: str, name: str, description: str, **properties: Any) -> Any:
        about = {"@type": kind, "name": name, "description": description, **properties}
        return crate.add(ContextEntity(crate, address, about))

    crate.name, crate.description = cited["title"], cited["message"]
    crate.metadata["name"] = "Description of the reviewer's pack"
    authors = [
        entity(f"#author-{k}", "Organization", who["name"], "wrote the compendium")
        for k, who in enumerate(cited["authors"])
    ]
    crate.root_dataset["creator"] = crate.root_dataset["publisher"] = authors if len(authors) > 1 else authors[0]
    crate.root_dataset["citation"] = [
        entity(_address(paper), "ScholarlyArticle", paper["title"], "replicated here", datePublished=str(paper["year"]))
        for paper in cited["references"]
    ]
    crate.root_dataset["license"] = [
        entity(address, "CreativeWork", name, _LICENSED[name], identifier=name) for name, address in _LICENCES.items()
    ]
    files = _files(root)
    for name in files:
        crate.add_file(root / name, name, properties=_about(root / name, name, licence(name)))
    for name in made:
        crate.add_file(folder / name, name, properties=_about(folder / name, name, TEXT))
    version = {"version": platform.python_version(), "url": "https://www.python.org/"}
    python = entity("#python", "ComputerLanguage", "Python", "language of the notebooks", **version)
    for run in read_runs().values():
        if (figures_dir("paper") / run.name / "run.json").is_file():
            notebook = run.notebook.resolve().relative_to(root).as_posix()
            results = [{"@id": name} for name in files if name.startswith(f"figures/{run.name}/")]
            action: dict[str, Any] = {"instrument": {"@id": notebook}, "result": results}
            crate.root_dataset.append_to(
                "mentions", entity(f"#run-{run.name}", "CreateAction", run.name, run.about, **action)
            )
            crate.get(notebook)["programmingLanguage"] = python
    crate.write(folder)


def _about(path: Path, name: str, spdx: str) -> dict[str, Any]:
    """Return the properties of a file in the crate; files of an unknown kind are text, like all files here."""
    kind = _KINDS.get(path.suffix) or mimetypes.guess_type(name)[0] or "text/plain"
    size = str(path.stat().st_size)
    role = _KEPT.get(PurePosixPath(name).parts[0], "file of the whole compendium")
    about = {"name": name, "description": role, "contentSize": size, "encodingFormat": kind}
    return about | {"license": {"@id": _LICENCES[spdx]}}


def _environment() -> str:
    names = {f"{found.metadata['Name']}=={found.version}\n" for found in distributions()}
    head = f"# Python {platform.python_version()}, {platform.system()} {platform.machine()}, {sys.byteorder}-endian\n"
    return head + "".join(sorted(names, key=str.lower))


def _codecheck(root: Path, verdicts: pd.DataFrame) -> str:
    """Return a CODECHECK manifest of version 1.0, complete as our own check: an independent checker replaces the name.

    References
    ----------
    https://codecheck.org.uk/spec/config/1.0/
    """
    cited = _citation(root)
    authors = [{"name": author["name"]} for author in cited["authors"]]
    files = [{"file": "figures/verdicts.csv", "comment": f"{len(verdicts)} printed values with ours"}]
    for name, claims in verdicts.groupby("run")["claim_id"]:
        if (figures_dir("paper") / str(name) / "verdicts.csv").is_file():
            comment = f"{len(claims)} printed values; make reproduce PROFILE=paper ONLY={name}"
            files.append({"file": f"figures/{name}/verdicts.csv", "comment": comment})
    papers = [{"title": paper["title"], "reference": _address(paper)} for paper in cited["references"]]
    record = {
        "version": "https://codecheck.org.uk/spec/config/1.0/",
        "paper": {"title": cited["title"], "authors": authors, "reference": "README.md"},
        "replicates": papers,
        "manifest": files,
        "codechecker": authors,
        "report": "report.md",
        "summary": summary_line(verdicts),
        "check_time": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    return yaml.safe_dump(record, explicit_start=True, sort_keys=False, allow_unicode=True, width=100)


def _report(verdicts: pd.DataFrame) -> str:
    """Return a report of about one page in Markdown."""
    known = catalogue().values()
    sets = [{"data set": f"`{each.name}`", "licence": each.licence, "used for": each.role} for each in known]
    words = {
        "summary": summary_line(verdicts),
        "counts": tables.markdown_text(counts(verdicts, by=("paper", "basis")).reset_index()),
        "sets": tables.markdown_text(pd.DataFrame(sets)),
    }
    return page("reviewers.md", **words) + "\n"


@dataclass(frozen=True)
class Cell:
    """A printed value with our committed one, and the one that was recomputed.

    Attributes
    ----------
    committed, recomputed : pandas.Series
        Rows of ``verdicts.csv``.
    run, profile : str
        The run that gives the value, and the settings it was recomputed with.
    place : str
        The cell that holds our value: table, row and column.
    ran, kept : mapping of str to str
        When each run started that was repeated for this value, and each that was up to date.
    """

    committed: pd.Series
    recomputed: pd.Series
    run: str
    profile: str
    place: str
    ran: Mapping[str, str]
    kept: Mapping[str, str]

    def text(self) -> str:
        """Return what is printed for the reviewer."""
        row = self.recomputed
        table = f"Table {row['table']}" if str(row["table"]).isdigit() else "text"
        lines = [f"{row['claim_id']}: paper {row['paper']}, {table}, row {row['row']!r}, column {row['column']!r}"]
        lines.append(f"printed     {row['printed']}")
        first = "recomputed" if self.run in self.ran else "kept"
        for name, found, profile in ((first, row, self.profile), ("committed", self.committed, "paper")):
            about = f"{found['verdict']} (basis {found['basis']}; {profile} profile)"
            lines.append(f"{name:11} {_value(found)}  {about}")
        lines += [f"reason      {row['reason']}"] if row["reason"] else []
        lines += [f"run         {self.run}", f"cell        {self.place}"]
        lines += [f"repeated    {name}, started {when}" for name, when in self.ran.items()]
        again = "FORCE=1 repeats it"
        lines += [f"not run     {name}: up to date since {when}; {again}" for name, when in self.kept.items()]
        return "\n".join(lines)


def _value(row: pd.Series) -> str:
    ours = str(row["ours"]) or "none"
    interval = "" if pd.isna(row["low"]) else f" [{row['low']:.4g}, {row['high']:.4g}], unit {row['unit']}"
    return ours + interval


def find(claim: str) -> "pd.Series[str]":
    """Return a printed value with the run and the cell that give ours, as :func:`.printed_values` has it.

    Raises
    ------
    LookupError
        If there is no such value; the message names similar ones.
    """
    values = printed_values()
    known = values["claim_id"]
    if claim not in set(known):
        near = difflib.get_close_matches(claim, known, n=5, cutoff=0.5)
        hint = f"similar: {', '.join(near)}" if near else "figures/verdicts.csv lists all"
        raise LookupError(f"there is no printed value {claim}; {hint}")
    return values[known == claim].iloc[0]


def recompute(claim: str, profile: Profile, cores: int = 1, *, force: bool = False) -> Cell:
    """Recompute what a printed value needs, and return both values.

    The run that the value's row in ``data/paper/paper-<n>.csv`` names, the runs before it and the report are repeated
    unless they are up to date. Then the cell is read again.

    Parameters
    ----------
    claim : str
        Id of the value, such as ``2-T10-r1-utility``: paper, table and cell. ``figures/verdicts.csv`` lists all.
    profile : {"quick", "paper"}
        Settings. With "paper", the results of runs replace the committed ones in ``figures/``.
    cores : int, default=1
        Number of runs at a time.
    force : bool, default=False
        Whether runs that are up to date are repeated, too.

    Raises
    ------
    LookupError
        If there is no such value.
    RunsError
        If its run belongs to the other profile only.
    RuntimeError
        If a run failed.
    """
    value, runs = find(claim), select(read_runs(), (), profile)
    name, place = value["run"], f"{value['our_table']}, {value['where']}, {value['our_column']}"
    select(read_runs(), [name], profile)  # raises if only the other profile has the run
    committed = _row(claim, "paper")
    needed = [name, *before(runs[name], runs)]
    report = [run.name for run in runs.values() if run.after_all]
    minutes = sum(runs[each].minutes[profile] for each in [*needed, *report])
    about = f"about {minutes:.3g} min on two idle cores"
    print(f"{claim} needs {len(needed)} run(s) and the report, {about}: {', '.join(needed)}")
    earlier = {each: _started(each, profile) for each in needed}
    for each in needed if force else ():
        status_file(each, profile).unlink(missing_ok=True)
    ended = reproduce(profile, looker(profile), cores=cores, only=[name])
    if failed := [_failure(each, ended[each]) for each in needed if each in ended and ended[each].status == FAILED]:
        raise RuntimeError("; ".join(failed))
    now = {each: _started(each, profile) for each in needed}
    kept = {each: when for each, when in now.items() if when == earlier[each]}
    ran = {each: when for each, when in now.items() if each not in kept}
    return Cell(committed, _row(claim, profile), name, profile, place, ran, kept)


def _started(run: str, profile: str) -> str:
    """Return when a run last started on this machine; without its record, that it is not known."""
    path = figures_dir(profile) / run / MACHINE_FILE
    return str(json.loads(path.read_text(encoding="utf-8"))["started"]) if path.is_file() else "an unknown time"


def _failure(name: str, state: RunState) -> str:
    return f"{name} failed: {state.reason}" + (f" ({state.log})" if state.log else "")


def _row(claim: str, profile: str) -> pd.Series:
    verdicts = read_verdicts(figures_dir(profile) / "verdicts.csv")
    return verdicts[verdicts["claim_id"] == claim].iloc[0]
