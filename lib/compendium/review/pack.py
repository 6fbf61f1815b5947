"""Pack the compendium for a review: an RO-Crate, a CODECHECK manifest, the environment, and a report of one page."""

import mimetypes
import platform
import shutil
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
_LICENCES = {CODE: "of code and settings", TEXT: "of text, figures and tables"}
_SPDX = "https://spdx.org/licenses/"
_OF_CODE = {".py", ".pyi", ".ipynb", ".toml", ".yaml", ".yml", ".lock", ".mplstyle", ".sh", ".js", ".css", ""}
_KINDS = {".ipynb": "application/x-ipynb+json", ".md": "text/markdown", ".toml": "application/toml"}


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
    verdicts, listed = read_verdicts(figures_dir("paper") / "verdicts.csv"), _files(project_root())
    words = {"summary": summary_line(verdicts), "made": _made()}
    texts = {"environment.txt": _environment(), "codecheck.yml": _codecheck(verdicts, **words)}
    texts["report.md"] = _report(verdicts, **words)
    with part_folder(folder) as part:
        for name, text in texts.items():
            (part / name).write_text(text, encoding="utf-8")
        _crate(part, listed, texts)
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
    """Return the files that git knows."""
    if (listed := git("ls-files", "-z")) is None:
        raise RuntimeError(f"git knows no files of {root}: a pack needs a clone of the repository")
    return [name for name in listed.split("\0") if (root / name).is_file()]


def _citation() -> dict[str, Any]:
    return dict(yaml.safe_load((project_root() / "CITATION.cff").read_text(encoding="utf-8")))


def _address(paper: Mapping[str, Any]) -> str:
    return paper.get("url") or f"https://doi.org/{paper['doi']}"


def _crate(folder: Path, files: list[str], made: Iterable[str]) -> None:
    """Copy the files and describe them as an RO-Crate: each with its licence, each run with what it wrote."""
    from rocrate.model.contextentity import ContextEntity
    from rocrate.rocrate import ROCrate

    cited, crate, root = _citation(), ROCrate(), project_root()
    whole = crate.root_dataset

    def entity(address: str, kind: str, name: str, about: str, **properties: Any) -> Any:
        given = {"@type": kind, "name": name, "description": about, **properties}
        return crate.add(ContextEntity(crate, address, given))

    crate.name, crate.description = cited["title"], cited["message"]
    crate.metadata["name"] = "Description of the reviewer's pack"
    for place, author in enumerate(cited["authors"]):
        wrote = entity(f"#author-{place}", "Organization", author["name"], "wrote the compendium")
        whole.append_to("creator", wrote)
        whole.append_to("publisher", wrote)
    for paper in cited["references"]:
        dated = {"datePublished": str(paper["year"])}
        whole.append_to(
            "citation", entity(_address(paper), "ScholarlyArticle", paper["title"], "replicated here", **dated)
        )
    for name, of in _LICENCES.items():
        whole.append_to("license", entity(_SPDX + name, "CreativeWork", name, f"licence {of}", identifier=name))
    for path in [*(root / name for name in files), *(folder / name for name in made)]:
        name = path.relative_to(folder if path.is_relative_to(folder) else root).as_posix()
        crate.add_file(path, name, properties=_about(path, name))
    version = {"version": platform.python_version(), "url": "https://www.python.org/"}
    python = entity("#python", "ComputerLanguage", "Python", "language of the notebooks", **version)
    for run in read_runs().values():
        notebook = run.notebook.resolve().relative_to(root).as_posix()
        results = [{"@id": name} for name in files if name.startswith(f"figures/{run.name}/")]
        if results:
            given = {"instrument": {"@id": notebook}, "result": results}
            whole.append_to("mentions", entity(f"#run-{run.name}", "CreateAction", run.name, run.about, **given))
            crate.get(notebook)["programmingLanguage"] = python
    crate.write(folder)


def _about(path: Path, name: str) -> dict[str, Any]:
    """Return the properties of a file in the crate; files of an unknown kind are text, like all files here."""
    kind = _KINDS.get(path.suffix) or mimetypes.guess_type(name)[0] or "text/plain"
    about = {"name": name, "description": "file of the compendium", "contentSize": str(path.stat().st_size)}
    return about | {"encodingFormat": kind, "license": {"@id": _SPDX + licence(name)}}


def _environment() -> str:
    names = {f"{found.metadata['Name']}=={found.version}\n" for found in distributions()}
    head = f"# Python {platform.python_version()}, {platform.system()} {platform.machine()}, {sys.byteorder}-endian\n"
    return head + "".join(sorted(names, key=str.lower))


def _codecheck(verdicts: pd.DataFrame, **words: str) -> str:
    """Return a CODECHECK manifest of version 2.0: our part complete, the checker's part marked as such.

    References
    ----------
    https://codecheck.org.uk/spec/config/2.0/
    """
    cited = _citation()
    files = {"figures/verdicts.csv": f"{len(verdicts)} printed values with ours"}
    for name, claims in verdicts.groupby("run")["claim_id"]:
        if (figures_dir("paper") / str(name) / "verdicts.csv").is_file():
            comment = f"{len(claims)} printed values; make reproduce PROFILE=paper ONLY={name}"
            files[f"figures/{name}/verdicts.csv"] = comment
    papers = []
    for paper in cited["references"]:
        names = [f"{author['given-names']} {author['family-names']}" for author in paper["authors"]]
        papers.append({"title": paper["title"], "authors": names, "reference": _address(paper)})
    given = words | {"commit": git("rev-parse", "HEAD"), "version": __version__}
    return page("codecheck.yml", cited=cited, files=files, papers=papers, **given) + "\n"


def _made() -> str:
    """Return in words how many runs this code computed, and which ones replay carried over or are stale."""
    paper = [run for run in read_runs().values() if run.runs_in("paper")]
    found = [finding for run in paper for finding in findings(run) if finding[0] not in (ABSENT, WRONG)]
    others = [f"{name} ({kind}: {what})" for kind, name, what in found if kind != COMPUTED]
    told = f"Of {len(found)} runs, {len(found) - len(others)} were computed by this state of the code."
    return f"{told} The others: {'; '.join(others)}." if others else told


def _report(verdicts: pd.DataFrame, **words: str) -> str:
    """Return a report of about one page in Markdown."""
    known = catalogue().values()
    sets = [{"data set": f"`{each.name}`", "licence": each.licence, "used for": each.role} for each in known]
    counted = tables.markdown_text(counts(verdicts, by=("paper", "basis")).reset_index())
    return page("reviewers.md", counts=counted, sets=tables.markdown_text(pd.DataFrame(sets)), **words) + "\n"
