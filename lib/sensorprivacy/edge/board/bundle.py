"""A bundle: a folder with the ONNX files that a device needs, and a manifest that describes them."""

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np
import onnxruntime as ort

from sensorprivacy.paths import read_json

FORMAT, VERSION = "sensorprivacy-edge-bundle", 1
MANIFEST, SAMPLES = "manifest.json", "windows.npy"
_LONGEST = 1_000_000  # samples of a window
_LEAST = {"rate": 1e-12, "deviation": 1e-12, "mean": -1e12, "stride": 1, "length": 1}  # of a field; of others, 0
PIPELINE = ("public", "private", "encoder", "transformation", "decoder")  # in the order in which they run


class BundleError(ValueError):
    """The folder is no bundle, or the bundle has another version, is incomplete or is damaged."""


@dataclass(frozen=True)
class Step:
    """Describe one network of a bundle.

    Parameters
    ----------
    name : str
        One of `PIPELINE`, or ``replacement`` or ``anonymization`` (the methods that paper 3 compares with).
    code : int or None
        Code of the public class that the network is for; None for a network that serves all classes.
    file, sha256 : str
        Name and digest of the ONNX file.
    bytes : int
        Size of the file.
    kind : str
        ``MLP``, ``CNN`` or ``-``, as in paper 3's tables.
    weights, macs : int
        Number of trained values, and of multiply-adds for one window.
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
class Signal:
    """Describe the windows that a bundle works on.

    Parameters
    ----------
    name, attribute : str
        Data set and private attribute.
    rate : float
        Samples per second.
    stride : int
        Samples from the start of one window to the start of the next.
    channels : tuple of str
        Names of the channels, in order.
    length : int
        Samples per window.
    """

    name: str
    attribute: str
    rate: float
    stride: int
    channels: tuple[str, ...]
    length: int

    @property
    def budget(self) -> float:
        """Seconds from one window to the next."""
        return self.stride / self.rate

    @property
    def shape(self) -> tuple[int, int]:
        """Channels and samples of a window."""
        return len(self.channels), self.length


@dataclass(frozen=True, kw_only=True)
class Bundle(Signal):
    """Describe everything that a device needs to anonymize a stream.

    Parameters
    ----------
    precision : str
        Precision of the weights: ``float32``.
    trained : bool
        False for random weights, which serve to measure time.
    mean, deviation : tuple of float
        Mean and standard deviation of each channel, in its unit.
    public, private : tuple of str
        Classes, in the order of their codes.
    latent : int
        Number of latent variables; 0 for a bundle without an encoder.
    modify : str
        How the target class is chosen, see `latent.modify`.
    mapping : tuple of int
        Code of the class that Modify sends each private class to.
    sampled : bool
        True: draw z from the posterior. False: use the posterior's mean.
    steps : tuple of Step
        The networks.
    folder : pathlib.Path
        Folder of the files.
    """

    precision: str
    trained: bool
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
    def anonymizes(self) -> bool:
        """Whether the bundle holds the whole pipeline."""
        return set(PIPELINE) <= {step.name for step in self.steps}

    @property
    def scale(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean and standard deviation as float32 columns of shape (channels, 1)."""
        mean, deviation = (np.asarray(part, dtype=np.float32)[:, None] for part in (self.mean, self.deviation))
        return mean, deviation

    def step(self, name: str, code: int | None = None) -> Step:
        """Return the step with this name and class code.

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
        """Return windows for timing, count x channels x length, float32: stored ones if there are any, else random.

        Raises
        ------
        BundleError
            If the file is damaged or its windows have another shape.
        """
        path = self.folder / SAMPLES
        if not path.is_file():
            windows = np.random.default_rng(0).standard_normal((256, *self.shape)).astype(np.float32)
            return np.ascontiguousarray(np.resize(windows, (count, *self.shape)))
        try:
            windows = np.load(path, mmap_mode="r", allow_pickle=False)
        except (ValueError, EOFError) as error:
            raise BundleError(f"{path} is damaged: {error}; copy it again") from error
        if not isinstance(windows, np.ndarray) or windows.dtype.kind != "f" or not windows.size:
            raise BundleError(f"{path} holds no windows of decimal numbers; copy it again")
        if windows.shape[1:] != self.shape:
            raise BundleError(f"{path} holds windows of shape {windows.shape[1:]}, but the bundle takes {self.shape}")
        return np.ascontiguousarray(np.resize(windows, (count, *self.shape)))

    def open(self, step: Step, threads: int = 1) -> ort.InferenceSession:
        """Return an onnxruntime session that runs one step.

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
        except Exception as error:  # onnxruntime's own exceptions have no other base class in common
            reason = f"onnxruntime {ort.__version__} cannot read it: {str(error).splitlines()[0]}"
            raise BundleError(f"{self.folder / step.file}: {reason}") from error


def read_bundle(folder: Path | str) -> Bundle:
    """Read a bundle from its folder and verify its files.

    Raises
    ------
    FileNotFoundError
        If the folder has no manifest.
    BundleError
        If the manifest is damaged or has another version, or a file is missing, truncated or changed.
    """
    folder = Path(folder)
    path = folder / MANIFEST
    if not path.is_file():
        raise FileNotFoundError(f"no {MANIFEST} in {folder}: make a bundle with `sensorprivacy edge export`")
    try:
        manifest = read_json(path)
    except ValueError as error:
        raise BundleError(f"{path} is damaged: {error}; copy it again") from error
    if not isinstance(manifest, dict) or manifest.pop("format", None) != FORMAT:
        raise BundleError(f"{path} is not the manifest of a bundle (expected format {FORMAT!r})")
    if (version := manifest.pop("version", None)) != VERSION:
        raise BundleError(f"{path} has version {version}, expected {VERSION}: export the bundle again")
    try:
        steps = tuple(Step(**step) for step in manifest.pop("steps"))
        fields: dict[str, Any] = {key: tuple(v) if isinstance(v, list) else v for key, v in manifest.items()}
        bundle = Bundle(**fields, steps=steps, folder=folder)
    except (KeyError, TypeError) as error:
        raise BundleError(f"{path}: a field is missing or unknown: {error}") from error
    if wrong := _wrong_field(bundle):
        raise BundleError(f"{path}: {wrong}: export the bundle again")
    for step in bundle.steps:
        _verify(folder, step)
    return bundle


def _wrong_field(bundle: Bundle) -> str:
    """Return what is wrong with a field of a manifest; an empty text if they are in their ranges."""
    for part in (bundle, *bundle.steps):
        for name, kind in get_type_hints(type(part)).items():
            if not _fits(getattr(part, name), kind, _LEAST.get(name, 0)):
                return f"{name}{' of a step' * isinstance(part, Step)} is out of its range"
    if any(step.file != Path(step.file).name or not step.file for step in bundle.steps):
        return "file of a step is out of its range"
    if bundle.length > _LONGEST or not (bundle.channels and bundle.public and bundle.private):
        return "length, or the number of channels or classes, is out of its range"
    sizes = {len(bundle.channels), len(bundle.mean), len(bundle.deviation)}
    codes = all(code < len(bundle.private) for code in bundle.mapping)
    return "" if len(sizes) == 1 and codes else "channels, mean, deviation or mapping do not fit together"


def _fits(value: Any, kind: Any, least: float) -> bool:
    """Return whether a value has the type of its field, and numbers are in their range."""
    if get_origin(kind) is tuple:
        return isinstance(value, tuple) and all(_fits(one, get_args(kind)[0], least) for one in value)
    if not isinstance(value, float | int if kind is float else kind) or isinstance(value, bool) != (kind is bool):
        return False
    return not isinstance(value, float | int) or least <= value < 1e12


def write_manifest(bundle: Bundle) -> None:
    """Write a bundle's manifest into its folder."""
    manifest = {"format": FORMAT, "version": VERSION, **asdict(bundle)}
    del manifest["folder"]
    text = json.dumps(manifest, indent=1, sort_keys=True)
    (bundle.folder / MANIFEST).write_text(text + "\n", encoding="utf-8")


def find_bundles(folder: Path | str) -> list[Path]:
    """Return the folder itself if it is a bundle, else the bundles in it.

    Raises
    ------
    FileNotFoundError
        If there is none.
    """
    folder = Path(folder)
    found = [folder] if (folder / MANIFEST).is_file() else sorted(path.parent for path in folder.glob(f"*/{MANIFEST}"))
    if not found:
        remedy = "copy the whole folder of `sensorprivacy edge export`, or name --bundles"
        raise FileNotFoundError(f"no bundle in {folder}: {remedy}")
    return found


def digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _verify(folder: Path, step: Step) -> None:
    path = folder / step.file
    if not path.is_file():
        raise BundleError(f"{path} is missing: copy the whole folder, or export it again")
    if (size := path.stat().st_size) != step.bytes:
        state = "truncated" if size < step.bytes else "changed"
        raise BundleError(f"{path} is {state}: {size} bytes, expected {step.bytes}: copy it again")
    if (found := digest(path)) != step.sha256:
        raise BundleError(f"{path} is damaged: SHA-256 {found[:12]}..., expected {step.sha256[:12]}...: copy it again")
