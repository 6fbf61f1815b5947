"""Pack the compendium for a review: an RO-Crate, a CODECHECK manifest, the environment, and a report of one page."""

import mimetypes
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from importlib.metadata import distributions
from pathlib import Path, PurePosixPath
from typing import Any

import pandas as pd
import yaml

from compendium.datasets.catalogue import catalogue
from compendium.paths import build_dir, figures_dir, project_root
from compendium.run.committed import ABSENT, COMPUTED, WRONG, findings
from compendium.run.runs import read_runs
from compendium.run.states import git
from compendium.show import tables
from compendium.show.tables import page
from compendium.verdicts.replication import counts, summary_line
from compendium.verdicts.verdicts import read_verdicts
from sensorprivacy import __version__
from sensorprivacy.paths import part_folder, replace_folder

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
    root = project_root()
    verdicts = read_verdicts(figures_dir("paper") / "verdicts.csv")
    with part_folder(folder) as part:
        (part / "environment.txt").write_text(_environment(), encoding="utf-8")
        (part / "codecheck.yml").write_text(_codecheck(root, verdicts), encoding="utf-8")
        (part / "report.md").write_text(_report(verdicts), encoding="utf-8")
        _crate(root, part, ["environment.txt", "codecheck.yml", "report.md"])
        replace_folder(folder, part)
    return folder


def write_archive(folder: Path | None = None) -> Path:
    """Write the reviewer's pack as one file, for an archive such as Zenodo.

    Parameters
    ----------
    folder : path, optional
        Folder for the file; default ``build``.

    Returns
    -------
    pathlib.Path
        ``sensor-privacy-compendium-<version>.zip``: sources, results, environment and licences, described by an
        RO-Crate.
    """
    folder = folder or build_dir()
    path = folder / f"sensor-privacy-compendium-{__version__}.zip"
    with part_folder(path) as made:
        pack = write_pack(made / "pack")
        return Path(shutil.make_archive(str(made / path.stem), "zip", pack)).replace(path)


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
    """Return a CODECHECK manifest of version 2.0: our part complete, the checker's part marked as such.

    References
    ----------
    https://codecheck.org.uk/spec/config/2.0/
    """
    cited = _citation(root)
    files = {"figures/verdicts.csv": f"{len(verdicts)} printed values with ours"}
    for name, claims in verdicts.groupby("run")["claim_id"]:
        if (figures_dir("paper") / str(name) / "verdicts.csv").is_file():
            comment = f"{len(claims)} printed values; make reproduce PROFILE=paper ONLY={name}"
            files[f"figures/{name}/verdicts.csv"] = comment
    papers = [
        {"title": paper["title"], "authors": _names(paper), "reference": _address(paper)}
        for paper in cited["references"]
    ]
    words = {"summary": summary_line(verdicts), "made": _made(), "commit": git("rev-parse", "HEAD")}
    return page("codecheck.yml", cited=cited, files=files, papers=papers, version=__version__, **words) + "\n"


def _names(paper: Mapping[str, Any]) -> list[str]:
    return [f"{author['given-names']} {author['family-names']}" for author in paper["authors"]]


def _made() -> str:
    """Return in words how many runs this code computed, and which ones replay carried over or are stale."""
    paper = [run for run in read_runs().values() if run.runs_in("paper")]
    found = [finding for run in paper for finding in findings(run) if finding[0] not in (ABSENT, WRONG)]
    others = [f"{name} ({kind}: {what})" for kind, name, what in found if kind != COMPUTED]
    told = f"Of {len(found)} runs, {len(found) - len(others)} were computed by this state of the code."
    return f"{told} The others: {'; '.join(others)}." if others else told


def _report(verdicts: pd.DataFrame) -> str:
    """Return a report of about one page in Markdown."""
    known = catalogue().values()
    sets = [{"data set": f"`{each.name}`", "licence": each.licence, "used for": each.role} for each in known]
    words = {
        "summary": summary_line(verdicts),
        "made": _made(),
        "counts": tables.markdown_text(counts(verdicts, by=("paper", "basis")).reset_index()),
        "sets": tables.markdown_text(pd.DataFrame(sets)),
    }
    return page("reviewers.md", **words) + "\n"
