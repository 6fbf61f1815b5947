"""Write an anonymizer as a bundle: ONNX files, a manifest, some windows."""

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import onnx
from torch import nn

from sensorprivacy.data import Windows
from sensorprivacy.edge import graphs
from sensorprivacy.edge.board.bundle import MANIFEST, SAMPLES, Bundle, Signal, Step, digest, read_bundle, write_manifest
from sensorprivacy.latent.anonymizer import LatentAnonymizer
from sensorprivacy.latent.modify import bijection_codes
from sensorprivacy.latent.networks import PrivateVAE
from sensorprivacy.latent.transfers import MeanShift
from sensorprivacy.latent.windows import Scaler

_TIMED = 256  # windows that a bundle stores for timing
_BOUND = 10.0  # PrivateVAE.encode limits the log variance to this
Models = Mapping[tuple[str, int | None], graphs.Graph]


@dataclass(frozen=True)
class Networks:
    """Hold the networks and settings of Algorithm 1.

    Parameters
    ----------
    public_model, private_model : torch.nn.Module
        Inference models.
    vaes : sequence of PrivateVAE
        One per public class.
    means : numpy.ndarray of shape (public, private, d)
        Mean latents m(y, p).
    scaler : Scaler
        Scale of the channels.
    public, private : tuple of str
        Classes.
    modify : str
        How the target class is chosen, see `latent.modify`.
    mapping : tuple of int
        Code of the class that Modify sends each private class to.
    sampled : bool
        True: draw z from the posterior. False: use the posterior's mean.
    trained : bool
        False for random weights.
    """

    public_model: nn.Module
    private_model: nn.Module
    vaes: Sequence[PrivateVAE]
    means: np.ndarray
    scaler: Scaler
    public: tuple[str, ...]
    private: tuple[str, ...]
    modify: str = "deterministic"
    mapping: tuple[int, ...] = (1, 0)
    sampled: bool = True
    trained: bool = True


def networks_of(anonymizer: LatentAnonymizer) -> Networks:
    """Return the networks and settings of a fitted anonymizer.

    Raises
    ------
    ValueError
        If it uses an option that a device does not support: another transfer than the paper's shift, redrawn windows,
        spectral noise, or a second reader.
    """
    transfer = anonymizer.transfer or MeanShift()
    supported = {"redraw": 0, "spectral_noise": 0.0, "second_reader": None}
    given = {name: getattr(anonymizer, name) for name in supported}
    if not isinstance(transfer, MeanShift) or given != supported:
        found = ", ".join([transfer.name, *(f"{name}={value}" for name, value in given.items())])
        remedy = ", ".join(f"{name}={value}" for name, value in supported.items())
        raise ValueError(f"{found}: a device runs the paper's mean shift only: with_(transfer=MeanShift(), {remedy})")
    known = anonymizer.models_
    return Networks(
        known.public_model.network_,
        known.private_model.network_,
        anonymizer.vaes_,
        transfer.scale * np.stack([statistics["means"] for statistics in anonymizer.statistics_]),
        known.scaler,
        known.public.classes,
        known.private.classes,
        anonymizer.modify,
        tuple(bijection_codes(anonymizer.bijection, known.private.classes).tolist()),
        anonymizer.sampled,
    )


def export(networks: Networks, signal: Signal, folder: Path | str, *, samples: np.ndarray | None = None) -> Bundle:
    """Write networks as a bundle; an earlier bundle is replaced after all files are written.

    Parameters
    ----------
    networks : Networks
        Networks and settings, see `networks_of`.
    signal : Signal
        Description of the windows.
    folder : path
        Folder to write.
    samples : numpy.ndarray, optional
        Windows for timing, n x channels x length; random ones by default.
    """
    shape, latent = signal.shape, int(networks.means.shape[2])
    models: dict[tuple[str, int | None], graphs.Graph] = {
        ("public", None): graphs.classifier(networks.public_model.cpu().eval(), shape, "public_logits"),
        ("private", None): graphs.classifier(networks.private_model.cpu().eval(), shape, "private_logits"),
    }
    vaes = [vae.cpu().eval() for vae in networks.vaes]
    for code, vae in enumerate(vaes):
        models["encoder", code] = graphs.encoder(vae.encoder, vae.mean, vae.log_variance, shape, _BOUND)
    models["transformation", None] = graphs.transformation(networks.means)
    for code, vae in enumerate(vaes):
        models["decoder", code] = graphs.decoder(vae.decoder, latent, shape)
    names = ("public", "private", "modify", "mapping", "sampled", "trained")
    settings = {name: getattr(networks, name) for name in names}
    described = asdict(signal) | asdict(networks.scaler) | settings
    bundle = Bundle(**described, precision="float32", latent=latent, steps=(), folder=Path(folder))
    return write_bundle(bundle, models, samples)


def write_bundle(bundle: Bundle, models: Models, samples: np.ndarray | None = None) -> Bundle:
    """Write graphs, manifest and samples to a temporary folder, move it to its place, and read it back.

    Each graph becomes a step, in this order.
    """
    target = bundle.folder
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as part:
        made, steps = Path(part) / "bundle", []
        made.mkdir()
        for (name, code), graph in models.items():
            path = made / (f"{name}.onnx" if code is None else f"{name}-{code}.onnx")
            onnx.save(graph.model(), path)
            size = path.stat().st_size
            steps.append(Step(name, code, path.name, digest(path), size, graph.kind, graph.weights, graph.macs))
        if samples is not None:
            np.save(made / SAMPLES, samples.astype(np.float32))
        write_manifest(replace(bundle, steps=tuple(steps), folder=made))
        if target.exists():
            if any(path.is_dir() for path in target.iterdir()) or not (target / MANIFEST).is_file():
                raise FileExistsError(f"{target} exists and is not a bundle: choose another folder")
            shutil.rmtree(target)
        made.replace(target)
    return read_bundle(target)


def anonymizer_bundle(anonymizer: LatentAnonymizer, windows: Windows, folder: Path) -> Bundle:
    """Write a fitted anonymizer, with some windows for timing, and return its bundle."""
    signal, samples = signal_of(windows, anonymizer.private), timed_windows(windows)
    return export(networks_of(anonymizer), signal, folder / f"{signal.name}-{signal.attribute}", samples=samples)


def signal_of(windows: Windows, attribute: str) -> Signal:
    """Describe windows for a bundle, from their provenance.

    Raises
    ------
    ValueError
        If the provenance lacks the sampling rate, the stride or the channels.
    """
    known = windows.provenance
    if absent := [name for name in ("rate", "stride", "channels") if name not in known]:
        raise ValueError(f"the provenance of {windows.name} lacks {', '.join(absent)}: add them, a device needs them")
    channels = tuple(map(str, known["channels"]))
    return Signal(windows.name, attribute, float(known["rate"]), int(known["stride"]), channels, windows.length)


def timed_windows(windows: Windows) -> np.ndarray:
    """Return the windows that a bundle stores for timing, evenly spread."""
    kept = np.linspace(0, windows.n_windows - 1, min(_TIMED, windows.n_windows)).astype(int)
    return windows.take(kept).values
