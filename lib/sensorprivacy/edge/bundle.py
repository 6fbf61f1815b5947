"""A bundle: the folder of ONNX files, with a manifest, that a device needs to anonymize."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort

FORMAT, VERSION = "sensorprivacy-edge-bundle", 1
MANIFEST, SAMPLES = "manifest.json", "windows.npy"
PIPELINE = ("public", "private", "encoder", "transformation", "decoder")  # in the order in which they run


class BundleError(ValueError):
    """A folder that is no bundle, of another version, incomplete or damaged."""


@dataclass(frozen=True)
class Step:
    """One network of a bundle.

    Parameters
    ----------
    name : str
        What it does: one of `PIPELINE`, or ``replacement`` or ``anonymization`` (paper 3's rivals).
    code : int or None
        The public class that it is for; None where there is one for all.
    file, sha256 : str
        The ONNX file in the bundle's folder, and its digest.
    bytes : int
        The file's size.
    kind : str
        ``MLP``, ``CNN`` or ``-``, as paper 3's tables call it.
    weights, macs : int
        Trained values, and multiply-adds of one window.
    """

    name: str
    code: int | None
    file: str
    sha256: str
    bytes: int
    kind: str
    weights: int
    macs: int

    @property
    def title(self) -> str:
        """Name and code."""
        return self.name if self.code is None else f"{self.name} {self.code}"


@dataclass(frozen=True)
class Bundle:
    """What a device must know to anonymize a stream.

    Parameters
    ----------
    name, attribute : str
        Data set and private attribute.
    precision : {"float32", "int8"}
        Of the weights.
    trained : bool
        False: random weights, for timing alone.
    rate : float
        Samples a second.
    stride, length : int
        Samples from one window to the next, and of a window.
    channels : tuple of str
        In order.
    mean, deviation : tuple of float
        Scale of each channel, in its unit.
    public, private : tuple of str
        Classes, in the order of their codes.
    latent : int
        Latent variables; 0 where nothing is encoded (rivals).
    modify : str
        To which class windows are moved, see `latent.modify`.
    mapping : tuple of int
        Where Modify sends each private class.
    sampled : bool
        Whether z is drawn, or the posterior's mean taken.
    steps : tuple of Step
        The networks.
    folder : pathlib.Path
        Where they lie.
    """

    name: str
    attribute: str
    precision: str
    trained: bool
    rate: float
    stride: int
    length: int
    channels: tuple[str, ...]
    mean: tuple[float, ...]
    deviation: tuple[float, ...]
    public: tuple[str, ...]
    private: tuple[str, ...]
    latent: int
    modify: str
    mapping: tuple[int, ...]
    sampled: bool
    steps: tuple[Step, ...]
    folder: Path

    @property
    def budget(self) -> float:
        """Seconds from one window to the next."""
        return self.stride / self.rate

    @property
    def shape(self) -> tuple[int, int]:
        """Channels and samples of a window."""
        return len(self.channels), self.length

    @property
    def anonymizes(self) -> bool:
        """Whether it holds the whole pipeline."""
        return set(PIPELINE) <= {step.name for step in self.steps}

    def step(self, name: str, code: int | None = None) -> Step:
        """Return a step by its name, and the public class that it is for.

        Raises
        ------
        BundleError
            If the bundle has no such step.
        """
        for step in self.steps:
            if step.name == name and step.code == code:
                return step
        raise BundleError(f"{self.folder} has no step {name}{'' if code is None else f' {code}'}")

    def samples(self, count: int) -> np.ndarray:
        """Return so many windows to time with, n x channels x length, float32: the bundle's own, or random ones."""
        path = self.folder / SAMPLES
        if path.is_file():
            try:
                own = np.load(path, allow_pickle=False)
            except ValueError as error:
                raise BundleError(f"{path} is damaged: {error}") from error
        else:
            own = np.random.default_rng(0).standard_normal((256, *self.shape)).astype(np.float32)
        if own.shape[1:] != self.shape:
            raise BundleError(f"{path} holds windows of shape {own.shape[1:]}, the bundle takes {self.shape}")
        return np.ascontiguousarray(np.resize(own, (count, *self.shape)))

    def open(self, step: Step, threads: int = 1) -> ort.InferenceSession:
        """Return a session that runs one step.

        Raises
        ------
        BundleError
            If onnxruntime cannot read the file.
        """
        options = ort.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        options.log_severity_level = 3
        try:
            return ort.InferenceSession(str(self.folder / step.file), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime raises classes of its own that share no base but this
            said = str(error).splitlines()[0]
            raise BundleError(f"{self.folder / step.file}: onnxruntime {ort.__version__} refuses it: {said}") from error


def read_bundle(folder: Path | str) -> Bundle:
    """Return the bundle in a folder, its files verified.

    Parameters
    ----------
    folder : path
        What `export.export` wrote.

    Raises
    ------
    FileNotFoundError
        If there is no manifest.
    BundleError
        If the manifest is damaged or of another version, or a file is missing, truncated or changed.
    """
    folder = Path(folder)
    path = folder / MANIFEST
    if not path.is_file():
        raise FileNotFoundError(f"no {MANIFEST} in {folder}: make a bundle with `python -m sensorprivacy edge export`")
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise BundleError(f"{path} is damaged: {error}") from error
    if not isinstance(said, dict) or said.get("format") != FORMAT:
        raise BundleError(f"{path} is no manifest of a bundle (expected format {FORMAT!r})")
    if said.get("version") != VERSION:
        raise BundleError(
            f"{path} is of version {said.get('version')}, this program reads version {VERSION}: export the bundle anew"
        )
    try:
        bundle = _bundle(said, folder)
    except (KeyError, TypeError) as error:
        raise BundleError(f"{path}: a field is missing or unknown: {error}") from error
    for step in bundle.steps:
        _verify(folder, step)
    return bundle


def write_manifest(bundle: Bundle) -> Path:
    """Write a bundle's manifest into its folder and return its path."""
    fields = {key: value for key, value in asdict(bundle).items() if key != "folder"}
    path = bundle.folder / MANIFEST
    text = json.dumps({"format": FORMAT, "version": VERSION, **fields}, indent=1, sort_keys=True)
    path.write_text(text + "\n", encoding="utf-8")
    return path


def find_bundles(folder: Path | str) -> list[Path]:
    """Return the folders of bundles in a folder, or the folder itself if it is one.

    Raises
    ------
    FileNotFoundError
        If there is none.
    """
    folder = Path(folder)
    found = [folder] if (folder / MANIFEST).is_file() else sorted(path.parent for path in folder.glob(f"*/{MANIFEST}"))
    if not found:
        raise FileNotFoundError(f"no bundle in {folder}: make one with `python -m sensorprivacy edge export`")
    return found


def digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _bundle(said: Mapping[str, Any], folder: Path) -> Bundle:
    fields = {key: value for key, value in said.items() if key not in ("format", "version", "steps")}
    listed: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in fields.items()}
    return Bundle(**listed, steps=tuple(Step(**step) for step in said["steps"]), folder=folder)


def _verify(folder: Path, step: Step) -> None:
    path = folder / step.file
    if not path.is_file():
        raise BundleError(f"{path} is missing: copy the whole folder, or export it anew")
    if (size := path.stat().st_size) != step.bytes:
        word = "truncated" if size < step.bytes else "changed"
        raise BundleError(f"{path} is {word}: {size} bytes, the manifest says {step.bytes}: copy it again")
    if (found := digest(path)) != step.sha256:
        raise BundleError(f"{path} is damaged: SHA-256 {found[:12]}..., the manifest says {step.sha256[:12]}...")
