"""Read ``runs.yaml``: which notebook runs with which parameters, and what it needs."""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import yaml
from pydantic import BaseModel, ConfigDict, Field, PositiveFloat, ValidationError, model_validator

from compendium.datasets import store
from compendium.paths import figures_dir, project_root
from compendium.run.parameters import complete, read_parameters
from compendium.run.states import NO_DATA, NOT_RUN, OK, RunState, read_status

Profile = Literal["quick", "paper"]
PROFILES = get_args(Profile)
RunName = Annotated[str, Field(pattern=r"^[0-9]{2}_[a-z0-9_]+(-[A-Za-z0-9_.]+)*$")]


class RunsError(ValueError):
    """``runs.yaml`` is wrong; the message lists every mistake with its run and key."""


class Entry(BaseModel):
    """A run as ``runs.yaml`` describes it; the head of that file explains each key."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    about: str = Field(min_length=1)
    minutes: dict[Profile, PositiveFloat] = Field(min_length=1)
    parameters: dict[str, Any] = {}
    profiles: dict[Profile, dict[str, Any]] = {}
    replay: dict[str, Any] = {}
    needs: tuple[str, ...] = ()
    needs_one: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    after_all: bool = False

    @model_validator(mode="after")
    def _check_profiles(self) -> "Entry":
        if missing := set(self.profiles) - set(self.minutes):
            raise ValueError(f"profiles has {', '.join(sorted(missing))}, but minutes has not")
        return self


class Run(Entry):
    """One run: a notebook with its parameters."""

    name: str
    notebook: Path

    def values(self, profile: str) -> dict[str, Any]:
        """Return the run's parameters in a profile: its own, the profile's changes, and the profile's name."""
        return {**self.parameters, **dict(self.profiles).get(profile, {}), "profile": profile}  # type: ignore[call-overload]

    def runs_in(self, profile: str | None) -> bool:
        """Return whether a profile has this run; None stands for any."""
        return profile is None or profile in self.minutes

    @property
    def sets(self) -> tuple[str, ...]:
        """The data sets that it reads: required ones first, then optional ones."""
        return (*self.needs, *self.needs_one, *self.uses)

    @property
    def replayed(self) -> dict[str, Any]:
        """The parameters of a replay: those of the profile ``paper``, with tiny settings and the stamp of ``quick``."""
        return {**self.values("paper"), **self.replay, "profile": "quick"}

    @property
    def reads(self) -> tuple[str, ...]:
        """The data sets whose readers it calls, by the names that the notebook gives them."""
        return (*self.sets, str(self.parameters.get("dataset", "")))

    @property
    def summarizes(self) -> bool:
        """Whether it reads nothing but the tables of other runs and optional data sets."""
        return bool(self.after) and not (self.needs or self.needs_one)

    def missing(self, here: Callable[[str], bool]) -> list[str]:
        """Return the data sets whose absence prevents the run.

        These are absent sets among ``needs``, and all of ``needs_one`` if none of them is available.
        """
        lacking = [name for name in self.needs if not here(name)]
        return lacking if any(map(here, self.needs_one)) else [*lacking, *self.needs_one]


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    runs: dict[RunName, Entry] = Field(min_length=1)


def read_runs(path: Path | None = None) -> dict[str, Run]:
    """Return the runs by name, in the file's order.

    Parameters
    ----------
    path : path, optional
        The file; ``runs.yaml`` of the checkout by default. Its notebooks are in ``notebooks/`` beside it. A run is
        called ``<notebook>`` or ``<notebook>-<variant>``.

    Returns
    -------
    dict of str to Run

    Raises
    ------
    RunsError
        If the file is missing, is no YAML, or has unknown keys, wrong values or repeated names.
    """
    path = path or project_root() / "runs.yaml"
    try:
        content = yaml.load(path.read_text(encoding="utf-8"), Loader=_NoRepeats)  # noqa: S506 - a safe loader
        entries = _File.model_validate(content).runs
    except FileNotFoundError:
        raise RunsError(f"no file {path}") from None
    except yaml.YAMLError as error:
        raise RunsError(f"{path} is no YAML: {error}") from error
    except ValidationError as error:
        raise RunsError("\n".join([f"{path}:", *map(_mistake, error.errors())])) from None
    folder = path.parent / "notebooks"
    places = {name: folder / f"{name.partition('-')[0]}.ipynb" for name in entries}
    runs = {name: Run(name=name, notebook=places[name], **dict(entry)) for name, entry in entries.items()}
    _check_order(runs, path)
    return runs


def before(run: Run, runs: Mapping[str, Run]) -> list[str]:
    """Return the names of the runs whose results a run reads: those that a pattern of its ``after`` matches."""
    return [name for name in runs if name != run.name and any(fnmatchcase(name, word) for word in run.after)]


def select(runs: Mapping[str, Run], wanted: Iterable[str], profile: str | None = None) -> dict[str, Run]:
    """Return the runs of a profile whose names match one of the patterns, or all its runs if there is no pattern.

    Parameters
    ----------
    runs : mapping of str to Run
        The runs, of both profiles.
    wanted : iterable of str
        Patterns of names; ``*`` stands for any part.
    profile : {"quick", "paper"}, optional
        The profile. None: both.

    Raises
    ------
    RunsError
        If a pattern matches no run of the profile.
    """
    chosen: set[str] = set()
    for word in list(wanted) or ["*"]:
        found = [run for name, run in runs.items() if fnmatchcase(name, word)]
        here = {run.name for run in found if run.runs_in(profile)}
        if not found:
            raise RunsError(f"no run {word!r}; there are {', '.join(runs)}")
        if not here:
            only = " and ".join(found[0].minutes)
            how = f"add --profile {only} (with make: PROFILE={only})"
            raise RunsError(f"{found[0].name} is in the profile {only} only: {how}")
        chosen |= here
    return {name: run for name, run in runs.items() if name in chosen}


def last_states(profile: str) -> dict[str, RunState]:
    """Return how each run of a profile last ended."""
    return {name: read_status(name, profile) for name in select(read_runs(), (), profile)}


def statuses(profile: str) -> dict[str, RunState]:
    """Return how each run of a profile ended, for the report; the report itself is left out.

    A run that `reproduce` was never asked to start counts as ok if ``figures/`` holds its record: it was committed, or
    executed by hand. A run that could not start because an earlier one failed does not: its results are out of date. A
    run that never started because its data sets are absent has no data.

    Parameters
    ----------
    profile : {"quick", "paper"}
        The profile whose results are reported.
    """
    runs, known = read_runs(), store.names()
    found = {name: state for name, state in last_states(profile).items() if not runs[name].after_all}
    for name, state in found.items():
        if state.status != NOT_RUN or state.blocked:
            continue
        if (figures_dir(profile) / name / "run.json").is_file():
            found[name] = RunState(OK)
        elif missing := runs[name].missing(lambda one: one not in known or store.available(one)):
            found[name] = RunState(NO_DATA, "; ".join(store.state(one)["why"] for one in missing))
    return found


def run_name(notebook: Path, values: Mapping[str, Any]) -> tuple[str, bool]:
    """Return the name of a run, and whether it replicates: whether ``runs.yaml`` lists it.

    Parameters
    ----------
    notebook : path
        The notebook.
    values : mapping of str to object
        The value of every parameter, as `complete` returns them.

    Returns
    -------
    tuple of str and bool
        If ``runs.yaml`` has a run of this notebook with all these values, its name. Otherwise a name of its own,
        ``<notebook>-<data set>-<eight hexadecimal digits>``. The digits depend on all values, and on the content of
        the user's files. So runs that differ in any way never share a folder.
    """
    listed = read_runs().values() if (project_root() / "runs.yaml").is_file() else []
    same = [run for run in listed if run.notebook.stem == notebook.stem and run.runs_in(values.get("profile"))]
    declared = read_parameters(same[0].notebook) if same else {}
    for run in same:
        if complete(declared, run.values(values.get("profile", ""))) == values:
            return run.name, True
    described = json.dumps({name: _content(value) for name, value in values.items()}, sort_keys=True)
    dataset = re.sub(r"[^A-Za-z0-9.]+", "_", Path(str(values.get("dataset", ""))).stem)[:60]
    words = [notebook.stem, dataset, hashlib.sha256(described.encode()).hexdigest()[:8]]
    return "-".join(filter(None, words)), False


def _content(value: Any) -> Any:
    """Return a parameter's value; if it names a file, the digest of the file's content."""
    if isinstance(value, list):
        return [_content(each) for each in value]
    if not (isinstance(value, str) and Path(value).suffix and Path(value).expanduser().is_file()):
        return value
    content = b"".join(file.read_bytes() for file in _files(Path(value).expanduser()))
    return hashlib.sha256(content).hexdigest()


def _files(path: Path) -> list[Path]:
    """Return a file, and all files in the folder beside it if it is the schema of recordings."""
    folder = path.with_name(path.name.removesuffix(".schema.yaml"))
    return [path, *(sorted(file for file in folder.rglob("*") if file.is_file()) if folder.is_dir() else [])]


def _check_order(runs: Mapping[str, Run], path: Path) -> None:
    above: list[str] = []
    for run in runs.values():
        for word in run.after:
            if not any(fnmatchcase(name, word) for name in runs):
                raise RunsError(f"{path}: {run.name} comes after {word!r}, which names no run")
        # The file lists runs in an order in which they can run, so no two wait for each other.
        if late := set(before(run, runs)) - set(above):
            raise RunsError(f"{path}: {run.name} comes after {', '.join(sorted(late))}, which must be written above it")
        above.append(run.name)
        if run.after_all and run.name != list(runs)[-1]:
            raise RunsError(f"{path}: {run.name} is after_all, which only the last run can be")


def _mistake(error: Any) -> str:
    """Return pydantic's account of a mistake as one line: where, what."""
    where = " > ".join(str(part) for part in error["loc"] if part != "[key]") or "the file"
    return f"{where}: {'unknown key' if error['type'] == 'extra_forbidden' else error['msg']}"


class _NoRepeats(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc] # C where it is compiled
    """Refuse repeated names: YAML lets the second run of a name silently replace the first."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = (key for key, _ in node.value if key.tag != "tag:yaml.org,2002:merge")
        names = [self.construct_object(key, deep=True) for key in keys]
        repeated = {str(name) for name in names if names.count(name) > 1}
        if repeated:
            raise yaml.constructor.ConstructorError(None, None, f"{', '.join(sorted(repeated))} twice", node.start_mark)
        return super().construct_mapping(node, deep=deep)
