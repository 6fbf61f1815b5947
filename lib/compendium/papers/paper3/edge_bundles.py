"""Make the bundles behind paper 3's timing tables: MotionSense, MobiAct's shapes, and Table 7's methods."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from sensorprivacy.data import Windows
from sensorprivacy.edge import graphs
from sensorprivacy.edge.board.bundle import Bundle, Signal
from sensorprivacy.edge.export import Networks, anonymizer_bundle, export, signal_of, timed_windows, write_bundle
from sensorprivacy.latent.anonymizer import LatentAnonymizer
from sensorprivacy.latent.classifiers import Classifier, Kind
from sensorprivacy.latent.modify import bijection_codes
from sensorprivacy.latent.networks import PrivateVAE, sizes_for, weights
from sensorprivacy.latent.rivals import AnonymizationAutoencoder, ReplacementAutoencoder
from sensorprivacy.latent.study import Study
from sensorprivacy.latent.training import Settings, seeded
from sensorprivacy.latent.windows import Scaler

MOBIACT_CHANNELS = tuple(f"{sensor}_{axis}" for sensor in ("acceleration", "rotation") for axis in "xyz")
MOBIACT = ("JOG", "STD", "STU", "WAL")
PRIVATE = {"gender": ("female", "male"), "weight": ("70-90", "<= 70", "> 90")}


def random_networks(kind: Kind, shape: tuple[int, int], public: tuple[str, ...], private: tuple[str, ...]) -> Networks:
    """Return networks of the paper's sizes with random weights: times do not depend on the training.

    Parameters
    ----------
    kind : {"mlp", "cnn"}
        Inference models.
    shape : tuple of int
        Channels and samples of a window.
    public, private : tuple of str
        Classes.
    """
    channels, values = shape[0], shape[0] * shape[1]
    sizes = sizes_for(values)
    return Networks(
        Classifier(kind).build(shape, len(public)),
        Classifier(kind).build(shape, len(private)),
        [seeded(lambda: PrivateVAE(values, sizes, len(private)), code) for code in range(len(public))],
        np.random.default_rng(0).standard_normal((len(public), len(private), sizes.latent)),
        Scaler((0.0,) * channels, (1.0,) * channels),
        public,
        private,
        mapping=tuple(bijection_codes(None, private).tolist()),
        trained=False,
    )


def mobiact_bundle(attribute: str, folder: Path, windows: Windows | None = None) -> Bundle:
    """Write networks of MobiAct's shapes with random weights.

    Parameters
    ----------
    attribute : str
        Private attribute.
    folder : pathlib.Path
        Folder that gets the bundle's folder.
    windows : Windows, optional
        Windows to time, such as MobiFall's; other shapes than MobiAct's are left out. The default is random windows.
    """
    signal = Signal("mobiact", attribute, 20.0, 10, MOBIACT_CHANNELS, 128)
    networks = random_networks("cnn", signal.shape, MOBIACT, PRIVATE[attribute])
    if windows is None or (windows.n_channels, windows.length) != signal.shape:
        return export(networks, signal, folder / f"mobiact-{attribute}")
    networks = replace(networks, scaler=Scaler.fit(windows.values))
    signal = replace(signal, channels=signal_of(windows, attribute).channels)
    return export(networks, signal, folder / f"mobiact-{attribute}", samples=timed_windows(windows))


def rivals_bundle(windows: Windows, attribute: str, folder: Path) -> Bundle:
    """Write Table 7's pipeline: two CNNs, and the Replacement and the Anonymization Autoencoder.

    Parameters
    ----------
    windows : Windows
        Windows for one epoch of training. A few suffice, because times do not depend on the training.
    attribute : str
        Private attribute.
    folder : pathlib.Path
        Folder that gets the bundle's folder.
    """
    signal, once = signal_of(windows, attribute), Settings(epochs=1, batch=64)
    replacement = ReplacementAutoencoder(settings=once).fit(windows, progress=False)
    anonymization = AnonymizationAutoencoder(attribute, settings=once).fit(windows, progress=False)
    labels = (windows.public, windows.private[attribute])
    public, private = (tuple(sorted(map(str, some.unique()))) for some in labels)
    models: dict[tuple[str, int | None], graphs.Graph] = {}
    for name, classes in (("public", public), ("private", private)):
        network = Classifier("cnn").build(signal.shape, len(classes)).eval()
        models[name, None] = graphs.classifier(network, signal.shape, "logits")
    for name, method in (("anonymization", anonymization), ("replacement", replacement)):
        models[name, None] = graphs.autoencoder(method.network_.cpu().eval(), signal.shape)
    bundle = Bundle(
        **vars(signal), **vars(replacement.scaler_),
        precision="float32", trained=False, public=public, private=private,
        latent=0, modify="deterministic", mapping=(), sampled=False, steps=(), folder=folder / "rivals",
    )  # fmt: skip
    return write_bundle(bundle, models, timed_windows(windows))


def write_all(study: Study, anonymizer: LatentAnonymizer, folder: Path) -> dict[str, Bundle]:
    """Write every bundle that the notebook times, and return them by name.

    They are the anonymizer, Table 7's methods if the study has MotionSense's shape, and MobiAct's networks, on the
    study's windows if these have MobiAct's shape.
    """
    few = study.train.take(np.arange(0, study.train.n_windows, max(1, study.train.n_windows // 500)))
    made = [anonymizer_bundle(anonymizer, study.test, folder)]
    if study.windows.n_channels == 2:
        made.append(rivals_bundle(few, anonymizer.private, folder))
    made += [mobiact_bundle(attribute, folder, study.test) for attribute in PRIVATE]
    return {bundle.folder.name: bundle for bundle in made}


def weight_counts() -> pd.DataFrame:
    """Count the trained weights of the general and of the attribute-specific autoencoders, for paper 3's two shapes.

    Returns
    -------
    pandas.DataFrame
        By data set: ``general``, ``specific`` (one), ``all_specific`` (four) and ``times`` (general / all specific).
    """
    rows = {}
    for name, values in (("motionsense", 256), ("mobiact", 768)):
        general, specific = (weights(PrivateVAE(values, sizes_for(values, general=kind), 2)) for kind in (True, False))
        every = 4 * specific
        rows[name] = {"general": general, "specific": specific, "all_specific": every, "times": general / every}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("data set")
