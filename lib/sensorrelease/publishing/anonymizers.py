"""Anonymizers of recordings: the words of the command line that name them, and fitted ones in a folder."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, get_args

import numpy as np
from pydantic import ConfigDict, Field, TypeAdapter, with_config
from typing_extensions import TypedDict

from sensorprivacy.data import Windows
from sensorprivacy.latent.adversaries import ON_RECORDINGS, Attacker, attackers
from sensorprivacy.latent.anonymizer import LatentAnonymizer
from sensorprivacy.latent.classifiers import Kind
from sensorprivacy.latent.comparison import ReleaseSettings
from sensorprivacy.latent.guaranteed import GuaranteedRelease
from sensorprivacy.latent.modify import Modify
from sensorprivacy.latent.networks import Sizes
from sensorprivacy.latent.storage import load, save
from sensorprivacy.latent.training import Settings
from sensorprivacy.latent.transfers import Codebook, Donor, Transfer, Transport
from sensorprivacy.mechanisms import LARGEST_EPSILON
from sensorrelease.publishing.saved import FILE, damaged, read_saved, scores, write_saved
from sensorrelease.schema.gate import Gate
from sensorrelease.words import TABLE_FAMILIES, read_settings, split_word

SAVED, MODEL = "sensorprivacy-fitted-recordings", "anonymizer.safetensors"
TASK_MODELS = (Attacker("task model: boosted trees", "trees"), Attacker("task model: 1-D CNN", "conv1d"))
_TRANSFERS = ("shift", "transport", "codebook", "donor")
_ONLY = {"kept": ("transport",), "cells": ("codebook",), "synthetic": ("codebook", "donor")}  # transfers that use it


@dataclass(frozen=True)
class Latent:
    """The word ``latent`` of the command line with its settings; see `LatentAnonymizer` for their meaning."""

    family: ClassVar[str] = "latent"
    unused: ClassVar[tuple[str, ...]] = ("sizes",)  # fields that no word sets
    modify: Modify = "deterministic"
    transfer: Literal["shift", "transport", "codebook", "donor"] = "shift"
    kept: float = 1.0
    cells: int = 8
    synthetic: Literal["no", "yes"] = "no"
    noise: float = 0.0
    redraw: int = 0
    alpha: float = 10.0
    beta: float = 0.1
    epochs: int = 50  # from He's initial weights: as good as 100 from PyTorch's, see `bench/publish_epochs.py`
    inference_epochs: int = 60
    batch: int = 512
    network: Kind = "mlp"
    length: int = 128
    stride: int = 10
    sizes: Sizes | None = None

    @property
    def name(self) -> str:
        """The word that `parse_latent` reads, with the settings that differ from their defaults."""
        usual = asdict(type(self)())
        given = {name: value for name, value in asdict(self).items() if name not in self.unused}
        words = ",".join(f"{name}={value}" for name, value in given.items() if value != usual[name])
        return f"{self.family}:{words}" if words else self.family

    @property
    def _moved_by(self) -> Transfer | None:
        """The transfer; None for the paper's shift."""
        if self.transfer == "transport":
            return Transport(self.kept)
        if self.transfer == "codebook":
            return Codebook(self.cells, self.synthetic == "yes")
        return Donor(synthetic=self.synthetic == "yes") if self.transfer == "donor" else None

    @property
    def guaranteed(self) -> dict[str, Any] | None:
        """Parameters of the `GuaranteedRelease`; None without a guarantee."""
        return None

    def anonymizer(self, hide: str, seed: int) -> LatentAnonymizer:
        """Return the anonymizer, not fitted."""
        vae = Settings(self.epochs, self.batch, start="he", seed=seed)
        return LatentAnonymizer(
            hide,
            modify=self.modify,
            transfer=self._moved_by,
            alpha=self.alpha,
            beta=self.beta,
            vae=vae,
            inference=replace(vae, epochs=self.inference_epochs, start="pytorch", batch=min(256, self.batch)),
            kind=self.network,
            redraw=self.redraw,
            spectral_noise=self.noise,
            sizes=self.sizes,
        )


@dataclass(frozen=True)
class Guaranteed(Latent):
    """The word ``guaranteed`` of the command line with its settings; see `GuaranteedRelease` for their meaning."""

    family: ClassVar[str] = "guaranteed"
    unused: ClassVar[tuple[str, ...]] = ("sizes", "modify", "transfer", "kept", "synthetic", "redraw")
    activity: float = 3.0
    cell: float = 1.0
    every: int = 0

    @property
    def guaranteed(self) -> dict[str, Any]:
        """Parameters of the `GuaranteedRelease`."""
        return {"activity_epsilon": self.activity, "cell_epsilon": self.cell, "every": self.every}

    def anonymizer(self, hide: str, seed: int) -> LatentAnonymizer:
        """Return the anonymizer, not fitted, with synthetic latents."""
        return super().anonymizer(hide, seed).set_params(transfer=Codebook(self.cells, synthetic=True))


_SETTINGS: Mapping[str, Sequence[Any]] = {
    "modify": get_args(Modify),
    "transfer": _TRANSFERS,
    "kept": (float, 0, 1),
    "synthetic": ("no", "yes"),
    "network": ("mlp", "cnn"),
    "noise": (float, 0, 1),
    "redraw": (int, 0, 1000),
    "alpha": (float, 0, 1e6),
    "beta": (float, 0, 1e6),
    "epochs": (int, 1, 100_000),
    "inference_epochs": (int, 1, 100_000),
    "batch": (int, 2, 100_000),
    "length": (int, 8, 100_000),
    "stride": (int, 1, 100_000),
    "activity": (float, 1e-6, LARGEST_EPSILON),
    "cell": (float, 0, LARGEST_EPSILON),
    "every": (int, 0, 100_000),
    "cells": (int, 1, 1000),
}
_WORDS: Mapping[str, type[Latent]] = {"latent": Latent, "guaranteed": Guaranteed}


def is_latent(text: str) -> bool:
    """Return whether a word is for recordings: one of `parse_latent`, or a name that no defence has."""
    return split_word(text)[0] not in TABLE_FAMILIES


def parse_latent(text: str) -> Latent:
    """Return the settings of a word such as ``latent:modify=probabilistic,epochs=60`` or ``guaranteed:activity=3``.

    The names of releases in the tables of `compare` and of notebook 50, such as ``codebook 8, synthetic``, are words,
    too: see `words_of`.

    Raises
    ------
    ValueError
        If a setting is unknown, out of range or of another transfer; the message lists the choices.

    Examples
    --------
    >>> parse_latent("codebook 8, synthetic").name
    'latent:modify=uniform,transfer=codebook,synthetic=yes,noise=0.5,redraw=20'
    """
    if (known := words_of(ReleaseSettings()).get(text.strip())) is not None:
        return known
    family, _ = split_word(text)
    if family not in _WORDS:
        raise ValueError(
            f"unknown defence {text!r} for recordings: choose latent or guaranteed, such as latent:epochs=60, or for "
            f"a table of window statistics {', '.join(TABLE_FAMILIES)}"
        )
    word = _WORDS[family]
    names = [one.name for one in fields(word) if one.name not in word.unused]
    given = read_settings(text, {name: _SETTINGS[name] for name in names})
    transfer = given.get("transfer", "shift")
    for name in [name for name in _ONLY if name in given and family == "latent"]:
        if transfer not in _ONLY[name]:
            raise ValueError(f"defence {text!r}: {name} is for transfer={' or '.join(_ONLY[name])}, not {transfer}")
    return word(**given)


def words_of(ways: ReleaseSettings) -> dict[str, Latent]:
    """Return the settings behind the names of a comparison's releases; ``shift`` names paper 3's own.

    Not of trivial releases, which are references, nor of a second reader, which no word sets.
    """
    if ways.second_reader != "none":
        return {}
    late: dict[str, Any] = {"noise": ways.amounts[-1], "redraw": ways.redraw}
    found = {f"shift, {name}": Latent(name) for name in ("deterministic", "probabilistic")}
    found |= {"shift, probabilistic, redrawn": Latent("probabilistic", **late)}
    for moved in ways.transfers:
        how: dict[str, Any] = {"transfer": "transport", "kept": getattr(moved, "kept", 1.0)}
        if isinstance(moved, Codebook):
            how = {"transfer": "donor"} if isinstance(moved, Donor) else {"transfer": "codebook", "cells": moved.cells}
            how |= {"synthetic": "yes" if moved.synthetic else "no"}
        for amount in ways.amounts:
            name = moved.name + (f", noise {amount:g}" if len(ways.amounts) > 1 else "")
            found[name] = Latent("uniform", **how | late | {"noise": amount})
    activity, cell = ways.epsilons
    sure: dict[str, Any] = {"activity": activity, "cell": cell, "cells": ways.cells[0], "noise": ways.amounts[-1]}
    return found | {
        f"guaranteed, per {unit}": Guaranteed(**sure, every=n) for unit, n in (("window", 1), ("recording", 0))
    }


@dataclass(frozen=True, eq=False)
class FittedRecordings:
    """An anonymizer that was fitted to recordings.

    Attributes
    ----------
    name, about : str
        Word of the command line, and one sentence.
    columns : Gate
        What may leave of recordings, with their schema.
    hide : str
        Private attribute, or ``subject``.
    length : int
        Samples of a window.
    facts : dict
        Parts of the data card that describe the fit.
    anonymizer : LatentAnonymizer
        Fitted.
    guaranteed : dict, optional
        Parameters of the `GuaranteedRelease`. Without them, the anonymizer rewrites windows and guarantees nothing.
    """

    name: str
    about: str
    columns: Gate
    hide: str
    length: int
    anonymizer: LatentAnonymizer
    facts: dict[str, Any] = field(default_factory=dict)
    guaranteed: dict[str, Any] | None = None

    @property
    def task(self) -> str:
        """Title of the column to predict."""
        return self.columns.task

    @property
    def channels(self) -> list[str]:
        """Titles of the channels."""
        return self.columns.features

    @property
    def release(self) -> GuaranteedRelease | None:
        """The release with a guarantee, if it is one."""
        return None if self.guaranteed is None else GuaranteedRelease(self.anonymizer, **self.guaranteed)

    def publish(self, windows: Windows) -> tuple[Windows, np.ndarray]:
        """Return published windows with secure randomness, and their published labels."""
        if self.release is not None:
            return self.release.publish(windows)
        published = self.anonymizer.transform(windows)
        return published, published.public.to_numpy()


@with_config(ConfigDict(extra="forbid"))
class _Known(TypedDict):
    """The content of ``defence.json``, besides what `read_saved` checks."""

    columns: Gate
    hide: str
    length: Annotated[int, Field(gt=0)]
    facts: dict[str, Any]
    guaranteed: dict[str, float] | None


def about_recordings(length: int, hide: str, guaranteed: Any) -> str:
    """Return one sentence about an anonymizer."""
    if guaranteed is not None:
        return f"Synthetic windows of {length} samples, drawn from randomized responses."
    return f"Paper 3's anonymizer: rewrites windows of {length} samples to hide {hide}."


def save_recordings(fitted: FittedRecordings, folder: Path) -> None:
    """Write a fitted anonymizer as ``anonymizer.safetensors`` and ``defence.json``, without the training people."""
    anonymous = fitted.anonymizer.with_()
    anonymous.people_ = ()
    save(anonymous, folder / MODEL)
    said = ("anonymizer", "name", "about")  # these follow from the others
    content = {name: value for name, value in vars(fitted).items() if name not in said}
    write_saved(folder, SAVED, content | {"columns": TypeAdapter(Gate).dump_python(fitted.columns, mode="json")})


def load_recordings(folder: Path) -> FittedRecordings:
    """Return the fitted anonymizer in a folder; raises `FittedFolderError` as `fitted.load_fitted`."""
    content = read_saved(folder, SAVED, MODEL)
    try:
        known = TypeAdapter(_Known).validate_python(content)
        anonymizer = load(folder / MODEL)
        modify, sure, length = anonymizer.modify, known["guaranteed"], known["length"]
        name = f"latent:modify={modify}" if sure is None else f"guaranteed:activity={sure['activity_epsilon']:g}"
        gate = known["columns"]
        about = [f"task {gate.task}", "the person", known["hide"]]
        every = (*TASK_MODELS, *ON_RECORDINGS, *(one for kind in get_args(Kind) for one in attackers(kind)))
        names = [one.name for one in every]
        facts = {"measured": scores(known["facts"].get("measured", []), about, names)}
        shape = len(gate.features), length
        if (
            shape != tuple(anonymizer.models_.shape)
            or known["hide"] != anonymizer.private
            or not gate.schema.recordings
        ):
            raise ValueError("its networks are of other windows or of another attribute")
        rest: dict[str, Any] = {**known, "facts": facts}
        found = FittedRecordings(name, about_recordings(length, known["hide"], sure), anonymizer=anonymizer, **rest)
        assert found.release is None or sure is not None  # checks the parameters of the guarantee
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise damaged(folder, f"{FILE} has wrong or missing values ({error})") from error
    return found
