"""Bundles for the notebook and the command: MotionSense trained, MobiAct's shapes with random weights, the rivals.

Also what the device's arithmetic does to the results: parity with torch, the effect of int8, the speed of eager torch.
"""

import itertools
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import torch

from sensorprivacy.datasets.types import Windows
from sensorprivacy.edge import graphs
from sensorprivacy.edge.bundle import Bundle
from sensorprivacy.edge.export import Networks, Signal, export, networks_of, quantize, write_bundle
from sensorprivacy.edge.pipeline import Pipeline
from sensorprivacy.edge.timing import repeated
from sensorprivacy.latent.anonymizer import LatentAnonymizer, replace_values
from sensorprivacy.latent.classifiers import Classifier
from sensorprivacy.latent.measures import inference_table
from sensorprivacy.latent.modify import RandomSource, SecretSource, SeededSource, bijection_codes, targets
from sensorprivacy.latent.networks import PrivateVAE, sizes_for, weights
from sensorprivacy.latent.rivals import AnonymizationAutoencoder, ReplacementAutoencoder
from sensorprivacy.latent.study import Study
from sensorprivacy.latent.training import Settings, seeded
from sensorprivacy.latent.windows import Scaler

SAMPLES = 256  # windows that a bundle carries to be timed with
TOLERANCE = 1e-4  # stated: greatest difference to torch, in units of each channel's deviation
MOBIACT_CHANNELS = tuple(f"{sensor}_{axis}" for sensor in ("acceleration", "rotation") for axis in "xyz")
MOBIACT = ("JOG", "STD", "STU", "WAL")
PRIVATE = {"gender": ("female", "male"), "weight": ("70-90", "<= 70", "> 90")}


def signal_of(windows: Windows, attribute: str) -> Signal:
    """Return what a bundle must know of windows, from their provenance.

    Raises
    ------
    ValueError
        If they do not say at which rate and stride they were cut.
    """
    known = windows.provenance
    if absent := [name for name in ("rate", "stride", "channels") if name not in known]:
        raise ValueError(f"{windows.name} does not say its {', '.join(absent)}: a device must know")
    channels = tuple(map(str, known["channels"]))
    return Signal(windows.name, attribute, float(known["rate"]), int(known["stride"]), channels, windows.length)


def anonymizer_bundles(anonymizer: LatentAnonymizer, windows: Windows, folder: Path) -> tuple[Bundle, Bundle]:
    """Write a fitted anonymizer in float32 and int8, with some windows to time with, and return both bundles."""
    signal = signal_of(windows, anonymizer.private)
    name = f"{signal.name}-{signal.attribute}"
    some = np.linspace(0, windows.n_windows - 1, min(SAMPLES, windows.n_windows)).astype(int)
    full = export(networks_of(anonymizer), signal, folder / name, samples=windows.take(some).values)
    return full, quantize(full, folder / f"{name}-int8")


def mobiact_bundle(attribute: str, folder: Path) -> Bundle:
    """Write the networks of MobiAct's shapes with random weights: timings do not depend on what they have learnt."""
    classes, shape = PRIVATE[attribute], (len(MOBIACT_CHANNELS), 128)
    values = shape[0] * shape[1]
    vaes = [seeded(lambda: PrivateVAE(values, sizes_for(values), len(classes)), code) for code in range(len(MOBIACT))]
    means = np.random.default_rng(0).standard_normal((len(MOBIACT), len(classes), sizes_for(values).latent))
    networks = Networks(
        Classifier("cnn").build(shape, len(MOBIACT)),
        Classifier("cnn").build(shape, len(classes)),
        vaes,
        means,
        Scaler((0.0,) * shape[0], (1.0,) * shape[0]),
        MOBIACT,
        classes,
        mapping=tuple(bijection_codes(None, classes).tolist()),
        trained=False,
    )
    signal = Signal("mobiact", attribute, 20.0, 10, MOBIACT_CHANNELS, shape[1])
    return export(networks, signal, folder / f"mobiact-{attribute}")


def rivals_bundle(windows: Windows, attribute: str, folder: Path) -> Bundle:
    """Write Table 7's pipeline: two CNNs, Replacement and Anonymization Autoencoder, trained for one epoch each.

    Parameters
    ----------
    windows : Windows
        A few are enough: timings do not depend on the training.
    attribute : str
        Private attribute.
    folder : pathlib.Path
        Where the bundle's folder goes.
    """
    signal, once = signal_of(windows, attribute), Settings(epochs=1, batch=64)
    replacement = ReplacementAutoencoder(settings=once).fit(windows, progress=False)
    anonymization = AnonymizationAutoencoder(attribute, settings=once).fit(windows, progress=False)
    public = tuple(sorted(map(str, windows.public.unique())))
    private = tuple(sorted(map(str, windows.private[attribute].unique())))
    models = {
        "public": graphs.classifier(Classifier("cnn").build(signal.shape, len(public)).eval(), signal.shape, "logits"),
        "private": graphs.classifier(
            Classifier("cnn").build(signal.shape, len(private)).eval(), signal.shape, "logits"
        ),
        "replacement": graphs.autoencoder(replacement.network_.cpu().eval(), signal.shape),
        "anonymization": graphs.autoencoder(anonymization.network_.cpu().eval(), signal.shape),
    }
    bundle = Bundle(
        signal.name,
        attribute,
        "float32",
        False,
        signal.rate,
        signal.stride,
        signal.length,
        signal.channels,
        replacement.scaler_.mean,
        replacement.scaler_.deviation,
        public,
        private,
        latent=0,
        modify="deterministic",
        mapping=(),
        sampled=False,
        steps=(),
        folder=folder / "rivals",
    )
    some = windows.take(np.arange(min(SAMPLES, windows.n_windows))).values  # noqa: PD011
    return write_bundle(bundle, {(name, None): graph for name, graph in models.items()}, some)


def write_all(study: Study, anonymizer: LatentAnonymizer, folder: Path) -> dict[str, Bundle]:
    """Write every bundle that the notebook times: ours in both precisions, MobiAct's shapes, the rivals; by name."""
    few = study.train.take(np.arange(0, study.train.n_windows, max(1, study.train.n_windows // 500)))
    made = [*anonymizer_bundles(anonymizer, study.test, folder), rivals_bundle(few, anonymizer.private, folder)]
    made += [mobiact_bundle(attribute, folder) for attribute in PRIVATE]
    return {bundle.folder.name: bundle for bundle in made}


def parity(anonymizer: LatentAnonymizer, pipeline: Pipeline, windows: Windows, seed: int = 0) -> pd.DataFrame:
    """Hold a pipeline against torch on windows, both with the same randomness.

    Returns
    -------
    pandas.DataFrame
        By ``step`` (public, private: share of windows told alike; published: greatest difference among windows told
        alike, in units of each channel's deviation): ``agree``, ``largest``.
    """
    theirs = anonymizer.anonymize(windows, SeededSource(seed))
    ours = pipeline.anonymize(windows.values, SeededSource(seed))
    alike = (theirs.public == ours.public) & (theirs.private == ours.private)
    scale = np.asarray(pipeline.bundle.deviation)[:, None]
    shown, own = theirs.windows.values, ours.values  # noqa: PD011
    apart = np.abs(shown - own) / scale
    whole = bool(alike.all())  # one window told otherwise, and all noise after it is another
    rows = [("public", float((theirs.public == ours.public).mean()), np.nan)]
    rows += [("private", float((theirs.private == ours.private).mean()), np.nan)]
    rows += [("published", float(alike.mean()), float(apart.max()) if whole else np.nan)]
    return pd.DataFrame(rows, columns=["step", "agree", "largest"]).set_index("step")


def precision_effect(
    anonymizer: LatentAnonymizer, pipelines: dict[str, Pipeline], windows: Windows, seed: int = 0
) -> pd.DataFrame:
    """Return what activity and private inference give on windows published by pipelines of several precisions.

    The judges are the float32 models in torch, for all alike.

    Returns
    -------
    pandas.DataFrame
        By precision: ``activity`` and the private attribute after anonymization with ``_low`` and ``_high``,
        ``distortion``, ``same_public`` and ``same_private`` (share of windows that the device tells as torch does),
        ``bytes`` of the files.
    """
    known, rows = anonymizer.models_, {}
    scaled = known.scaled(windows)
    public, private = anonymizer.infer(scaled)
    for name, pipeline in pipelines.items():
        given = pipeline.anonymize(windows.values, SeededSource(seed))
        published = replace_values(windows, given.values)
        after = inference_table(known, windows, published).loc["all"]
        ends = ("", "_low", "_high")
        rows[name] = (
            {f"activity{end}": after[f"public_after{end}"] for end in ends}
            | {f"{anonymizer.private}{end}": after[f"private_after{end}"] for end in ends}
            | {
                "distortion": float(np.mean((known.scaled(published) - scaled) ** 2, dtype=np.float64)),
                "same_public": float((given.public == public).mean()),
                "same_private": float((given.private == private).mean()),
                "bytes": sum(step.bytes for step in pipeline.bundle.steps),
            }
        )
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("precision")


def weight_counts() -> pd.DataFrame:
    """Return trained weights of the general and of all attribute-specific autoencoders, for both of paper 3's shapes.

    Returns
    -------
    pandas.DataFrame
        By data set: ``general``, ``specific`` (one), ``all_specific`` (four) and ``times`` (general / all specific).
    """
    rows = {}
    for name, values, classes, activities in (("motionsense", 256, 2, 4), ("mobiact", 768, 2, 4)):
        general, specific = (
            weights(PrivateVAE(values, sizes_for(values, general=kind), classes)) for kind in (True, False)
        )
        every = activities * specific
        rows[name] = {"general": general, "specific": specific, "all_specific": every, "times": general / every}
    return (
        pd.DataFrame.from_dict(rows, orient="index")
        .rename_axis("data set")
        .astype({"general": int, "specific": int, "all_specific": int})
    )


def eager(networks: Networks, source: RandomSource) -> Callable[[np.ndarray], np.ndarray]:
    """Return Algorithm 1 for one window in eager torch, with nothing around it: what onnxruntime is held against."""
    mean, deviation = (torch.tensor(part)[:, None] for part in (networks.scaler.mean, networks.scaler.deviation))
    means, mapping = torch.as_tensor(networks.means, dtype=torch.float32), np.asarray(networks.mapping)
    models = [model.cpu().eval() for model in (networks.public_model, networks.private_model)]
    vaes = [vae.cpu().eval() for vae in networks.vaes]

    @torch.inference_mode()
    def anonymize(window: np.ndarray) -> np.ndarray:
        x = ((torch.from_numpy(window) - mean) / deviation)[None]
        public, private = (int(model(x).argmax()) for model in models)
        target = int(targets(np.array([private]), networks.modify, mapping, source)[0])  # type: ignore[arg-type]
        centre, log_variance = vaes[public].encode(torch.flatten(x, 1))
        z = centre + torch.randn_like(centre) * torch.exp(0.5 * log_variance) if networks.sampled else centre
        z = z - means[public, private] + means[public, target]
        return (vaes[public].decoder(z).reshape(x.shape)[0] * deviation + mean).numpy()

    return anonymize


def against_eager(
    networks: Networks, pipelines: dict[str, Pipeline], windows: np.ndarray, *, rounds: int = 5, seconds: float = 0.1
) -> pd.DataFrame:
    """Return seconds of one window, all steps, one thread: eager torch and pipelines in turns, in one process.

    Parameters
    ----------
    networks : Networks
        What eager torch runs.
    pipelines : dict of str to Pipeline
        By the name of their row.
    windows : numpy.ndarray of float32, shape (n, channels, length)
        Taken one after the other.
    rounds : int
        Turns; the median of their medians counts, so that a busy moment of the machine does not.
    seconds : float
        Of each turn.

    Returns
    -------
    pandas.DataFrame
        By way: ``milliseconds``, ``times`` (eager torch over it), and the ``least`` and ``most`` of the rounds' ratios.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    turn, out = itertools.count(), np.zeros(windows.shape[1:], dtype=np.float32)
    call = eager(networks, SecretSource())

    def way(run: Callable[[np.ndarray], object]) -> Callable[[], object]:
        return lambda: run(windows[next(turn) % len(windows)])

    ways = {"eager torch": way(call)}
    for name, pipeline in pipelines.items():
        ways[name] = way(lambda window, pipeline=pipeline: pipeline.anonymize_one(window, out))  # type: ignore[misc]
    try:
        found = pd.DataFrame(
            [
                {name: np.median(repeated(run, seconds=seconds, warm=20)) for name, run in ways.items()}
                for _ in range(rounds)
            ]
        )
    finally:
        torch.set_num_threads(threads)
    ratios = found.rdiv(found["eager torch"], axis=0)
    table = {
        "milliseconds": 1000 * found.median(),
        "times": ratios.median(),
        "least": ratios.min(),
        "most": ratios.max(),
    }
    return pd.DataFrame(table).rename_axis("way")


def routed(anonymizer: LatentAnonymizer, windows: Windows) -> pd.Series:
    """Return how many windows go to each public class's autoencoder, by the inferred class, as in paper 3's Table 4."""
    public, _ = anonymizer.infer(anonymizer.models_.scaled(windows))
    names = anonymizer.models_.public.names(public)
    return pd.Series(names).value_counts().reindex(anonymizer.models_.public.classes, fill_value=0)
