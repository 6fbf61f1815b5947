"""Train small networks on a CPU or a GPU: seeded, with early stopping, and able to continue after an interruption.

The randomness of an epoch (order, dropout, sampled z) depends only on the seed and the epoch's number. A training that
continues from a checkpoint therefore follows the same loss curve as one that was never interrupted.
"""

import hashlib
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar, get_args

import numpy as np
import pandas as pd
import torch
from torch import Tensor, nn

from sensorprivacy.latent.devices import Precision, by_onednn, faster_precision, multiplying, pick_device
from sensorprivacy.latent.files import CheckpointError, read_checkpoint, write_checkpoint
from sensorprivacy.progress import tqdm

Network = TypeVar("Network", bound=nn.Module)
Start = Literal["pytorch", "he"]
Step = Callable[..., NamedTuple]  # (model, *batch) -> terms of the loss; the first is minimized
_CHUNK = 512  # windows passed through a network at a time: more do not stay in a core's cache
_HELD = 256  # validation windows at a time: the activations of few windows of a CNN stay in a core's cache


@dataclass(frozen=True)
class Settings:
    """How a network is trained.

    Parameters
    ----------
    epochs : int
        Maximum number of passes over the data.
    batch : int
        Maximum number of windows in a batch. All batches are about equally large.
    rate : float
        Learning rate of Adam.
    patience : int or None
        Stop when the validation loss has not fallen for this many epochs, and keep the weights of the lowest loss.
        None: train all epochs and keep the last weights.
    start : {"pytorch", "he"}
        Initial weights of autoencoders, see `networks.he_start`. With ``he``, half the epochs or fewer give the same
        accuracy after the shift. Classifiers always have PyTorch's.
    precision : {"float32", "bfloat16", "auto"}
        ``bfloat16`` multiplies in 16 bits (autocast) and keeps weights in 32 bits, in training and validation. ``auto``
        becomes the one that is faster on the device, see `faster_precision`.
    device : str
        ``auto`` (a GPU if there is one, otherwise the CPU), or any device name of PyTorch.
    seed : int
        Fixes order, initial weights and all random draws.

    Raises
    ------
    ValueError
        If a value is out of range.
    """

    epochs: int = 300
    batch: int = 512
    rate: float = 1e-3
    patience: int | None = None
    start: Start = "pytorch"
    precision: Precision = "float32"
    device: str = "auto"
    seed: int = 0

    def __post_init__(self) -> None:
        if self.epochs < 1 or self.batch < 2 or not self.rate > 0:
            given = f"epochs={self.epochs}, batch={self.batch}, rate={self.rate}"
            raise ValueError(f"{given}: give at least 1 epoch, batches of 2 and a rate above 0")
        if self.patience is not None and self.patience < 1:
            raise ValueError(f"patience={self.patience}: give at least 1 epoch, or None")
        for name, known in (("precision", get_args(Precision)), ("start", get_args(Start))):
            if getattr(self, name) not in known:
                raise ValueError(f"{name} {getattr(self, name)!r} is unknown: choose from {', '.join(known)}")
        if self.precision == "auto":
            object.__setattr__(self, "precision", faster_precision(self.device))


def seeded(build: Callable[[], Network], seed: int) -> Network:
    """Build a network with initial weights of this seed, without changing PyTorch's random state."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return build()


@by_onednn()
@torch.no_grad()
def apply_in_chunks(
    network: nn.Module, function: Callable[[Tensor], Tensor], values: np.ndarray, device: str, chunk: int = _CHUNK
) -> np.ndarray:
    """Apply a function of a network in evaluation mode to the rows of an array, some at a time."""
    place = pick_device(device)
    network.to(place).eval()
    starts = range(0, max(len(values), 1), chunk)  # no rows are one empty chunk
    return torch.cat([function(torch.as_tensor(values[at : at + chunk]).to(place)).cpu() for at in starts]).numpy()


def adam(weights: Iterable[nn.Parameter], settings: Settings) -> torch.optim.Adam:
    """Return the optimizer of a training; fused, if the device can do it."""
    fused = pick_device(settings.device).type in ("cpu", "cuda")
    return torch.optim.Adam(weights, lr=settings.rate, fused=fused)


@by_onednn()
def train(
    model: nn.Module,
    step: Step,
    data: Sequence[Tensor | np.ndarray],
    settings: Settings,
    *,
    validation: Sequence[Tensor | np.ndarray] | None = None,
    checkpoint: Path | None = None,
    every: float = 120.0,
    progress: bool = True,
    label: str = "training",
) -> pd.DataFrame:
    """Train a network in place and return its loss curve.

    Parameters
    ----------
    model : torch.nn.Module
        The network. It stays on the settings' device, in evaluation mode.
    step : callable
        ``step(model, *batch)`` returns the terms of the batch's loss as a named tuple; the first is minimized.
    data : sequence of Tensor or numpy.ndarray
        Windows, then labels, all of one length.
    settings : Settings
        How to train.
    validation : sequence of Tensor or numpy.ndarray, optional
        Validation data, evaluated after every epoch.
    checkpoint : pathlib.Path, optional
        File to which the state is written every few minutes and at the end. If it exists, training continues from it.
    every : float
        Seconds between checkpoints, which are written after an epoch.
    progress : bool
        Show a progress bar.
    label : str
        Name of this training in the bar and in errors.

    Returns
    -------
    pandas.DataFrame
        One row per epoch: ``epoch`` (from 1), the terms of the loss, and the same terms on validation data with the
        prefix ``validation_``.

    Raises
    ------
    ValueError
        If there are fewer windows than one batch holds, or early stopping has no validation data.
    CheckpointError
        If the checkpoint belongs to another training.
    FloatingPointError
        If the loss becomes infinite or not a number.
    """
    if len(data[0]) < settings.batch:
        few = f"{len(data[0])} windows are too few for a batch of {settings.batch}"
        raise ValueError(f"{label}: {few}: lower batch, or add windows")
    if settings.patience is not None and not (validation is not None and len(validation[0])):
        raise ValueError(f"{label}: early stopping needs validation windows; pass them, or patience=None")
    device = pick_device(settings.device)
    model.to(device)
    tensors = [torch.as_tensor(part).to(device) for part in data]
    held = [torch.as_tensor(part).to(device) for part in validation or ()]
    optimizer = adam(model.parameters(), settings)
    state = State(model, optimizer, fingerprint(model, [*tensors, *held], settings) if checkpoint else "")

    def epoch() -> None:
        _epoch(state, step, tensors, held, settings)

    make_epochs(state, epoch, settings, checkpoint=checkpoint, every=every, progress=progress, label=label)
    if settings.patience is not None:
        model.load_state_dict(state.best)
    model.eval()
    return pd.DataFrame(state.rows)


def make_epochs(
    state: "State",
    epoch: Callable[[], None],
    settings: Settings,
    *,
    checkpoint: Path | None,
    every: float = 120.0,
    progress: bool,
    label: str,
) -> None:
    """Make the epochs of a training that are missing; the parameters are those of `train`."""
    if checkpoint and checkpoint.is_file():
        state.load(checkpoint)
        if len(state.rows) > settings.epochs:
            much = f"{len(state.rows)} epochs, more than the {settings.epochs} asked for"
            raise CheckpointError(f"checkpoint {checkpoint} has {much}: delete or move it")
    device, written, known = pick_device(settings.device), time.monotonic(), len(state.rows)
    bar = tqdm(total=settings.epochs, initial=len(state.rows), desc=label, disable=not progress, leave=False)
    with bar, torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        while len(state.rows) < settings.epochs and not state.stale(settings.patience):
            epoch()
            bar.update()
            bar.set_postfix({name: f"{value:.4g}" for name, value in list(state.rows[-1].items())[1:2]})
            if checkpoint and time.monotonic() - written >= every:
                state.save(checkpoint)
                written = time.monotonic()
    if checkpoint and len(state.rows) > known:
        state.save(checkpoint)


class State:
    """The state of a training: weights, optimizer, loss curve, and the best weights so far."""

    def __init__(self, model: nn.Module, optimizer: torch.optim.Optimizer, fingerprint: str) -> None:
        self.model, self.optimizer, self.fingerprint = model, optimizer, fingerprint
        self.rows: list[dict[str, float]] = []
        self.lowest, self.lowest_epoch = float("inf"), 0
        self.best: dict[str, Tensor] = {}

    def add(self, row: dict[str, float], validation_loss: float | None) -> None:
        """Add the losses of an epoch, and keep its weights if they are the best so far."""
        self.rows.append(row)
        if validation_loss is not None and validation_loss < self.lowest:
            self.lowest, self.lowest_epoch = validation_loss, len(self.rows)
            self.best = {name: part.detach().clone() for name, part in self.model.state_dict().items()}

    def stale(self, patience: int | None) -> bool:
        """Return whether the validation loss has not fallen for so many epochs."""
        return patience is not None and len(self.rows) - self.lowest_epoch >= patience

    def save(self, path: Path) -> None:
        """Write a checkpoint."""
        moments = {f"optimizer.{at}": some for at, some in self.optimizer.state_dict()["state"].items()}
        state = {"rows": self.rows, "lowest": [self.lowest, self.lowest_epoch]}
        write_checkpoint(
            path, self.fingerprint, state, {"model": self.model.state_dict(), "best": self.best, **moments}
        )

    def load(self, path: Path) -> None:
        """Go on from a checkpoint; raise CheckpointError if it is of another training."""
        state, parts = read_checkpoint(path, self.fingerprint)
        self.model.load_state_dict(parts["model"])
        # a fused optimizer needs moments with the memory layout of their weights
        moments = {
            at: {
                name: torch.empty_like(weight, device="cpu").copy_(part) if part.shape == weight.shape else part
                for name, part in parts[f"optimizer.{at}"].items()
            }
            for at, weight in enumerate(self.model.parameters())
        }
        self.optimizer.load_state_dict({**self.optimizer.state_dict(), "state": moments})
        self.best, self.rows = parts.get("best", {}), state["rows"]
        self.lowest, self.lowest_epoch = state["lowest"]


def _epoch(state: State, step: Step, data: Sequence[Tensor], validation: Sequence[Tensor], settings: Settings) -> None:
    """Train one epoch and record its losses."""
    number, size, device = len(state.rows) + 1, len(data[0]), data[0].device
    torch.manual_seed(settings.seed * 1_000_003 + number)
    batches = torch.randperm(size, device=device).tensor_split(-(-size // settings.batch))
    sums: dict[str, Tensor] = {}
    state.model.train()
    for rows in batches:
        with multiplying(device, settings.precision):
            terms = step(state.model, *(part[rows] for part in data))
        state.optimizer.zero_grad(set_to_none=True)
        terms[0].backward()
        state.optimizer.step()
        for name, term in terms._asdict().items():
            sums[name] = sums.get(name, torch.zeros((), device=device)) + term.detach() * len(rows)
    row: dict[str, Any] = {"epoch": number} | {name: total.item() / size for name, total in sums.items()}
    check_finite(next(iter(sums.values())), number)
    held = evaluate(state.model, step, validation, settings.precision) if validation else {}
    row |= {f"validation_{name}": value for name, value in held.items()}
    state.add(row, next(iter(held.values()), None))


@torch.no_grad()
def evaluate(
    model: nn.Module, step: Step, data: Sequence[Tensor], precision: Precision = "float32"
) -> dict[str, float]:
    """Return the mean terms of the loss over some data, in evaluation mode."""
    model.eval()
    sums: dict[str, float] = {}
    for start in range(0, len(data[0]), _HELD):
        batch = [part[start : start + _HELD] for part in data]
        with multiplying(data[0].device, precision):
            terms = step(model, *batch)
        for name, term in terms._asdict().items():
            sums[name] = sums.get(name, 0.0) + term.item() * len(batch[0])
    return {name: total / len(data[0]) for name, total in sums.items()}


def fingerprint(model: nn.Module, data: Sequence[Tensor], settings: Settings) -> str:
    """Return a digest of everything that a loss curve depends on, except its length and the device.

    The initial weights are part of it, so their name need not be.
    """
    choices = {name: value for name, value in asdict(settings).items() if name not in ("epochs", "device", "start")}
    digest = hashlib.sha256(f"{choices}{model}".encode())
    for part in [*model.state_dict().values(), *data]:
        digest.update(str(tuple(part.shape)).encode())
        digest.update(part.detach().cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()


def check_finite(loss: Tensor, epoch: int) -> None:
    """Raise FloatingPointError, naming epoch and remedy, if a loss is infinite or not a number."""
    if not torch.isfinite(loss).all():
        raise FloatingPointError(f"loss {loss.tolist()} in epoch {epoch}: lower the learning rate, or train in float32")
