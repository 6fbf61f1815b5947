"""``runs.yaml``: which notebook runs with which parameters, what it needs and which claims it answers for."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from sensorprivacy.paths import figures_dir, project_root
from sensorprivacy.runner.parameters import ParameterError, read_parameters, resolve
from sensorprivacy.runner.states import NOT_RUN, OK, PROFILES, RunState, read_status

_WORDS = {"type": "array", "items": {"type": "string"}, "uniqueItems": True}
_PROFILED = {
    "type": "object",
    "additionalProperties": False,
    "properties": {name: {"type": "object"} for name in PROFILES},
}
_SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "required": ["runs"],
    "properties": {
        "runs": {
            "type": "object",
            "minProperties": 1,
            "propertyNames": {"pattern": r"^[0-9]{2}_[a-z0-9_]+(-[A-Za-z0-9_.]+)*$"},
            "additionalProperties": {
                "type": "object",
                "additionalProperties": False,
                "required": ["about", "minutes"],
                "properties": {
                    "about": {"type": "string", "minLength": 1},
                    "parameters": {"type": "object"},
                    "profiles": _PROFILED,
                    "needs": _WORDS,
                    "needs_one": _WORDS,
                    "uses": _WORDS,
                    "claims": _WORDS,
                    "minutes": {
                        "type": "object",
                        "additionalProperties": False,
                        "required": list(PROFILES),
                        "properties": {name: {"type": "number", "exclusiveMinimum": 0} for name in PROFILES},
                    },
                    "threads": {"type": "integer", "minimum": 1},
                    "after": _WORDS,
                    "after_all": {"type": "boolean"},
                },
            },
        }
    },
}


class RunsError(ValueError):
    """``runs.yaml`` does not say what it should; the message lists every place."""


@dataclass(frozen=True)
class Run:
    """One run: a notebook with its parameters."""

    name: str
    notebook: Path
    about: str
    minutes: Mapping[str, float]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    profiles: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    needs_one: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()
    claims: tuple[str, ...] = ()
    threads: int = 1
    after: tuple[str, ...] = ()
    after_all: bool = False

    def values(self, profile: str) -> dict[str, Any]:
        """Return the run's parameters in a profile: its own, what the profile changes, and the profile's name."""
        return {**self.parameters, **self.profiles.get(profile, {}), "profile": profile}

    @property
    def sets(self) -> tuple[str, ...]:
        """The data sets it reads: those it cannot do without, then those it takes where they are there."""
        return (*self.needs, *self.needs_one, *self.uses)

    def missing(self, here: Callable[[str], bool]) -> list[str]:
        """Return the data sets for want of which it cannot start: those it needs, or all of which it needs one."""
        lacking = [name for name in self.needs if not here(name)]
        return lacking if any(map(here, self.needs_one)) else [*lacking, *self.needs_one]


def read_runs(path: Path | None = None) -> dict[str, Run]:
    """Return the runs by name, in the file's order.

    Parameters
    ----------
    path : path, optional
        The file; ``runs.yaml`` of the checkout by default. Its notebooks lie in ``notebooks/`` beside it, a run being
        called ``<notebook>`` or ``<notebook>-<variant>``.

    Returns
    -------
    dict of str to Run

    Raises
    ------
    RunsError
        If the file is missing, no YAML, or says something that no run has.
    """
    path = path or project_root() / "runs.yaml"
    try:
        said = yaml.load(path.read_text(encoding="utf-8"), Loader=_NoRepeats)  # noqa: S506 - a safe loader
    except FileNotFoundError:
        raise RunsError(f"no file {path}") from None
    except yaml.YAMLError as error:
        raise RunsError(f"{path} is no YAML: {error}") from error
    problems = [
        f"{' > '.join(map(str, error.absolute_path)) or 'the file'}: {error.message}"
        for error in jsonschema.Draft202012Validator(_SCHEMA).iter_errors(said)
    ]
    if problems:
        raise RunsError("\n".join([f"{path}:", *problems]))
    folder = path.parent / "notebooks"
    runs = {name: _run(name, entry, folder) for name, entry in said["runs"].items()}
    _check_order(runs, path)
    last = [run.name for run in runs.values() if run.after_all]
    if len(last) > 1:
        raise RunsError(f"{path}: only one run can be after_all, not {', '.join(last)}")
    return runs


def before(run: Run, runs: Mapping[str, Run]) -> list[str]:
    """Return the names of the runs whose results a run reads: those that the words of its ``after`` match."""
    return [name for name in runs if name != run.name and any(fnmatchcase(name, word) for word in run.after)]


def check_runs(runs: Iterable[Run], known_sets: Iterable[str]) -> None:
    """Raise RunsError unless every run's notebook exists and takes its parameters, and its data sets are known."""
    problems = []
    known = set(known_sets)
    for run in runs:
        problems += [f"{run.name}: unknown data set {name!r}" for name in run.sets if name not in known]
        for profile in PROFILES:
            try:
                resolve(read_parameters(run.notebook), run.values(profile))
            except (FileNotFoundError, ParameterError) as error:
                problems.append(f"{run.name}: {error}")
    if problems:
        raise RunsError("\n".join(dict.fromkeys(problems)))


def select(runs: Mapping[str, Run], wanted: Iterable[str]) -> dict[str, Run]:
    """Return the runs whose names match a word (``*`` for any part), all for no word; RunsError for a word without."""
    words = list(wanted)
    for word in words:
        if not any(fnmatchcase(name, word) for name in runs):
            raise RunsError(f"no run {word!r}; there are {', '.join(runs)}")
    return {name: run for name, run in runs.items() if not words or any(fnmatchcase(name, word) for word in words)}


def statuses(profile: str) -> dict[str, RunState]:
    """Return how each run of a profile ended, for the report; the report itself is left out.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Whose results.

    Returns
    -------
    dict of str to RunState
        As `reproduce` last told it. A run that it has not told of, such as one executed by hand, counts as ok where its
        record lies in ``figures/``.
    """
    told = read_status(profile)
    return {
        name: told.get(name) or RunState(OK if _recorded(name, profile) else NOT_RUN, claims=run.claims)
        for name, run in read_runs().items()
        if not run.after_all
    }


def _check_order(runs: Mapping[str, Run], path: Path) -> None:
    place = {name: number for number, name in enumerate(runs)}
    for run in runs.values():
        for word in run.after:
            if not any(fnmatchcase(name, word) for name in runs):
                raise RunsError(f"{path}: {run.name} comes after {word!r}, which names no run")
        # written in the order they run, so that no two can wait for each other
        late = [name for name in before(run, runs) if place[name] > place[run.name] or runs[name].after_all]
        if late:
            raise RunsError(f"{path}: {run.name} comes after {', '.join(late)}, which must be written above it")


def _recorded(name: str, profile: str) -> bool:
    return (figures_dir(profile) / name / "run.json").is_file()


def _run(name: str, entry: dict[str, Any], folder: Path) -> Run:
    said: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()}
    return Run(name=name, notebook=folder / f"{name.split('-')[0]}.ipynb", **said)


class _NoRepeats(yaml.SafeLoader):
    """YAML would let a second run of the same name silently replace the first."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        names = [self.construct_object(key, deep=True) for key, _ in node.value]
        repeated = {str(name) for name in names if names.count(name) > 1}
        if repeated:
            raise yaml.constructor.ConstructorError(None, None, f"{', '.join(sorted(repeated))} twice", node.start_mark)
        return super().construct_mapping(node, deep=deep)
