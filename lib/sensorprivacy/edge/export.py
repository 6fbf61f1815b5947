"""Write an anonymizer as a bundle: ONNX files, a manifest, a few windows; in float32 or with weights in 8 bits."""

import logging
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import onnx
from torch import nn

from sensorprivacy.edge import graphs
from sensorprivacy.edge.bundle import PIPELINE, SAMPLES, Bundle, Step, digest, read_bundle, write_manifest
from sensorprivacy.latent.anonymizer import LatentAnonymizer
from sensorprivacy.latent.modify import bijection_codes
from sensorprivacy.latent.networks import PrivateVAE
from sensorprivacy.latent.transfers import MeanShift
from sensorprivacy.latent.windows import Scaler

_BOUND = 10.0  # PrivateVAE.encode keeps the log variance within this


@dataclass(frozen=True)
class Signal:
    """What a bundle must know of the windows.

    Parameters
    ----------
    name, attribute : str
        Data set and private attribute.
    rate : float
        Samples a second.
    stride : int
        Samples from one window to the next.
    channels : tuple of str
        In order.
    length : int
        Samples of a window.
    """

    name: str
    attribute: str
    rate: float
    stride: int
    channels: tuple[str, ...]
    length: int

    @property
    def shape(self) -> tuple[int, int]:
        """Channels and samples of a window."""
        return len(self.channels), self.length


@dataclass(frozen=True)
class Networks:
    """All that Algorithm 1 rests on.

    Parameters
    ----------
    public_model, private_model : torch.nn.Module
        Inference models.
    vaes : sequence of PrivateVAE
        One a public class.
    means : numpy.ndarray of shape (public, private, d)
        Mean latents m(y, p).
    scaler : Scaler
        Of the channels.
    public, private : tuple of str
        Classes.
    modify : str
        See `latent.modify`.
    mapping : tuple of int
        Where Modify sends each private class.
    sampled : bool
        Whether z is drawn.
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
    """Return what a fitted anonymizer rests on.

    Raises
    ------
    ValueError
        If its transfer is not the paper's shift, or it redraws windows, adds spectral noise or has a second reader.
    """
    transfer = anonymizer.transfer or MeanShift()
    ours = {"redraw": 0, "spectral_noise": 0.0, "second_reader": None}
    given = {name: getattr(anonymizer, name) for name in ours}
    if not isinstance(transfer, MeanShift) or given != ours:
        asked = ", ".join([transfer.name, *(f"{name}={value}" for name, value in given.items())])
        undone = ", ".join(f"{name}={value}" for name, value in ours.items())
        raise ValueError(f"{asked}: a device runs the paper's mean shift only: with_(transfer=MeanShift(), {undone})")
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
    """Write a bundle, replacing the one that is there only when all is written.

    Parameters
    ----------
    networks : Networks
        See `networks_of`.
    signal : Signal
        What the windows are.
    folder : path
        Where to.
    samples : numpy.ndarray, optional
        Windows to time with, n x channels x length; random ones are used when left out.

    Returns
    -------
    Bundle
        As `read_bundle` gives it.
    """
    shape = signal.shape
    models: dict[tuple[str, int | None], graphs.Graph] = {
        ("public", None): graphs.classifier(networks.public_model.cpu().eval(), shape, "public_logits"),
        ("private", None): graphs.classifier(networks.private_model.cpu().eval(), shape, "private_logits"),
        ("transformation", None): graphs.transformation(networks.means),
    }
    for code, vae in enumerate(networks.vaes):
        vae.cpu().eval()
        models["encoder", code] = graphs.encoder(vae.encoder, vae.mean, vae.log_variance, shape, _BOUND)
        models["decoder", code] = graphs.decoder(vae.decoder, networks.means.shape[2], shape)
    bundle = Bundle(
        name=signal.name,
        attribute=signal.attribute,
        precision="float32",
        trained=networks.trained,
        rate=float(signal.rate),
        stride=signal.stride,
        length=signal.length,
        channels=tuple(signal.channels),
        mean=networks.scaler.mean,
        deviation=networks.scaler.deviation,
        public=networks.public,
        private=networks.private,
        latent=int(networks.means.shape[2]),
        modify=networks.modify,
        mapping=networks.mapping,
        sampled=networks.sampled,
        steps=(),
        folder=Path(folder),
    )
    return write_bundle(bundle, models, samples)


def write_bundle(
    bundle: Bundle, models: dict[tuple[str, int | None], graphs.Graph], samples: np.ndarray | None = None
) -> Bundle:
    """Write graphs, manifest and samples into a bundle's folder; steps are those of the graphs."""
    target = bundle.folder
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as part:
        made, steps = Path(part) / "bundle", []
        made.mkdir()
        for (name, code), graph in sorted(models.items(), key=lambda item: _place(item[0])):
            file = f"{name}.onnx" if code is None else f"{name}-{code}.onnx"
            onnx.save(graph.model(), made / file)
            counted = {"weights": graph.weights, "macs": graph.macs}
            steps.append(_step(made / file, name, code, _kind(graph), counted))
        if samples is not None:
            np.save(made / SAMPLES, samples.astype(np.float32))
        write_manifest(replace(bundle, steps=tuple(steps), folder=made))
        _put(made, target)
    return read_bundle(target)


def quantize(bundle: Bundle, folder: Path | str) -> Bundle:
    """Write the bundle with the weights of its dense layers in 8 bits, activations quantized as they come.

    Convolutions stay in float32: onnxruntime multiplies them in 8 bits only with fixed activation scales.

    Parameters
    ----------
    bundle : Bundle
        In float32.
    folder : path
        Where to.

    Returns
    -------
    Bundle
        Of precision ``int8``; what it does to accuracy is for `study.int8_effect` to measure.
    """
    from onnxruntime.quantization import QuantType, quantize_dynamic

    target = Path(folder)
    target.parent.mkdir(parents=True, exist_ok=True)
    log = logging.getLogger()
    level = log.level
    with tempfile.TemporaryDirectory(dir=target.parent) as part:
        made, steps = Path(part) / "bundle", []
        made.mkdir()
        log.setLevel(logging.ERROR)  # it advises a preprocessing that these graphs do not need
        try:
            for step in bundle.steps:
                quantize_dynamic(
                    bundle.folder / step.file,
                    made / step.file,
                    op_types_to_quantize=["MatMul"],
                    weight_type=QuantType.QInt8,
                )
                counted = {"weights": step.weights, "macs": step.macs}
                steps.append(_step(made / step.file, step.name, step.code, step.kind, counted))
        finally:
            log.setLevel(level)
        if (bundle.folder / SAMPLES).is_file():
            shutil.copy(bundle.folder / SAMPLES, made)
        write_manifest(replace(bundle, precision="int8", steps=tuple(steps), folder=made))
        _put(made, target)
    return read_bundle(target)


def _step(path: Path, name: str, code: int | None, kind: str, counted: dict[str, int]) -> Step:
    return Step(name, code, path.name, digest(path), path.stat().st_size, kind, **counted)


def _kind(graph: graphs.Graph) -> str:
    return "CNN" if graph.convolves else "MLP" if graph.weights else "-"


def _place(key: tuple[str, int | None]) -> tuple[int, str, int]:
    name, code = key
    return (PIPELINE.index(name) if name in PIPELINE else len(PIPELINE), name, -1 if code is None else code)


def _put(made: Path, target: Path) -> None:
    """Move a finished folder into its place."""
    if target.exists():
        if any(path.is_dir() for path in target.iterdir()) or not (target / "manifest.json").is_file():
            raise FileExistsError(f"{target} holds something else than a bundle: name another folder")
        shutil.rmtree(target)
    made.replace(target)
