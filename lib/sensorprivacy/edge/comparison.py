"""Compare a device's pipeline with PyTorch: equal results, and speed.

It also calculates whether the decoder should run in the cloud (paper 3, section 6.4), for stated network links. Only
transformed data may leave the device, so the decoder alone can move to the cloud. If the device needs the anonymized
window itself, moving the decoder costs a round trip. If a service in the cloud needs the window, it must be sent in any
case; then the latent variables can be sent instead, which are fewer bytes.
"""

import itertools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd
import torch

from sensorprivacy.data import Windows
from sensorprivacy.edge.board.measurement import repeated
from sensorprivacy.edge.board.pipeline import Pipeline
from sensorprivacy.edge.export import Networks
from sensorprivacy.latent.anonymizer import LatentAnonymizer
from sensorprivacy.latent.modify import RandomSource, SecretSource, SeededSource, targets
from sensorprivacy.progress import tqdm


def parity(anonymizer: LatentAnonymizer, pipeline: Pipeline, windows: Windows, seed: int = 0) -> pd.DataFrame:
    """Compare the output of a pipeline and of torch on the same windows with the same randomness.

    Returns
    -------
    pandas.DataFrame
        By ``step``: ``agree``, the share of windows with equal predictions, of the public class, of the private class,
        and of both (``published``); ``largest``, the greatest difference between published windows, in standard
        deviations of each channel. It is missing if any prediction differs: the noise is then different too.
    """
    theirs = anonymizer.anonymize(windows, SeededSource(seed))
    ours = pipeline.anonymize(windows.values, SeededSource(seed))
    public, private = theirs.public == ours.public, theirs.private == ours.private
    both = public & private
    difference = np.abs(theirs.windows.values - ours.values) / np.asarray(pipeline.bundle.deviation)[:, None]  # noqa: PD011
    agree = {"public": public.mean(), "private": private.mean(), "published": both.mean()}
    table = pd.DataFrame({"agree": agree, "largest": np.nan}).rename_axis("step")
    if both.all():
        table.loc["published", "largest"] = float(difference.max())
    return table


def eager(networks: Networks, source: RandomSource) -> Callable[[np.ndarray], np.ndarray]:
    """Return a function that runs Algorithm 1 on one window in eager torch, as the baseline for speed."""
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
    """Time one window with all steps on one thread: eager torch and pipelines in turns, in one process.

    Parameters
    ----------
    networks : Networks
        Networks for eager torch.
    pipelines : dict of str to Pipeline
        Pipelines by the name of their row.
    windows : numpy.ndarray of float32, shape (n, channels, length)
        Windows, used one after the other.
    rounds : int
        Number of turns. The median over turns counts, so that a busy moment of the machine does not matter.
    seconds : float
        Duration of a turn.

    Returns
    -------
    pandas.DataFrame
        By way: ``milliseconds``, ``times`` (eager torch over it), and the ``least`` and ``most`` of the rounds' ratios.
    """
    turn, out = itertools.count(), np.zeros(windows.shape[1:], dtype=np.float32)
    ways: dict[str, Callable[[np.ndarray], object]] = {"eager torch": eager(networks, SecretSource())}
    for name, pipeline in pipelines.items():
        ways[name] = lambda window, pipeline=pipeline: pipeline.anonymize_one(window, out)  # type: ignore[misc]

    def median(run: Callable[[np.ndarray], object]) -> float:
        return float(np.median(repeated(lambda: run(windows[next(turn) % len(windows)]), seconds=seconds, warm=20)))

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        turns = tqdm(range(rounds), "eager torch and pipelines", leave=False)
        found = pd.DataFrame([{name: median(run) for name, run in ways.items()} for _ in turns])
    finally:
        torch.set_num_threads(threads)
    ratios = found.rdiv(found["eager torch"], axis=0)
    times = {"times": ratios.median(), "least": ratios.min(), "most": ratios.max()}
    return pd.DataFrame({"milliseconds": 1000 * found.median(), **times}).rename_axis("way")


def routed(anonymizer: LatentAnonymizer, windows: Windows) -> pd.Series:
    """Count the windows that go to each public class's autoencoder, by the inferred class, as in paper 3's Table 4."""
    known = anonymizer.models_
    public, _ = anonymizer.infer(windows)
    return pd.Series(known.public.names(public)).value_counts().reindex(known.public.classes, fill_value=0)


class Link(NamedTuple):
    """Describe a network link from the device to the cloud.

    Parameters
    ----------
    name : str
        Kind of link.
    round_trip : float
        Seconds for an empty packet to the cloud and back.
    up, down : float
        Bits per second.
    """

    name: str
    round_trip: float
    up: float
    down: float


# Assumed, as typical of each kind. Pass measured values to `offloading` if you have them.
LINKS = (
    Link("server in the same network (Wi-Fi)", 0.003, 50e6, 50e6),
    Link("home broadband (Wi-Fi, fibre)", 0.015, 20e6, 100e6),
    Link("4G", 0.050, 10e6, 30e6),
    Link("3G", 0.100, 1e6, 5e6),
    Link("NB-IoT", 1.500, 60e3, 30e3),
)
HEADER = 66  # bytes: Ethernet, IPv4 and TCP with timestamps


def offloading(
    decoder: float, values: int, latent: int, *, cloud: float = 0.0, links: tuple[Link, ...] = LINKS
) -> list[dict[str, float | str]]:
    """Return the seconds per window of each way to run the decoder, for each link.

    Parameters
    ----------
    decoder : float
        Seconds that the decoder takes on the device.
    values, latent : int
        Number of values of a window and of its latent variables, four bytes each. One more value names the decoder.
    cloud : float
        Seconds that the decoder takes in the cloud; 0 favours the cloud.
    links : tuple of Link
        Links to compare.

    Returns
    -------
    list of dict
        ``link``; ``device``: decode on the device and use the window there; ``cloud_back``: send latent variables up
        and the window back; ``device_up``: decode on the device and send the window up; ``cloud_stays``: send latent
        variables up and use the decoded window in the cloud.
    """
    window, short = 4 * values + HEADER, 4 * (latent + 1) + HEADER
    return [
        {
            "link": link.name,
            "device": decoder,
            "cloud_back": link.round_trip + 8 * short / link.up + cloud + 8 * window / link.down,
            "device_up": decoder + link.round_trip / 2 + 8 * window / link.up,
            "cloud_stays": link.round_trip / 2 + 8 * short / link.up + cloud,
        }
        for link in links
    ]
