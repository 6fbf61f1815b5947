"""Train small networks on a CPU or a GPU: the whole set as one tensor, seeded, with early stopping, resumable.

Each epoch's randomness (order, dropout, sampled z) depends on the seed and the epoch's number alone, so that a training
taken up from a checkpoint follows the same loss curve as one never interrupted.
"""

import hashlib
import os
import pickle
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import pandas as pd
import torch
from torch import Tensor, nn

from sensorprivacy.latent.losses import finite
from sensorprivacy.progress import tqdm

Precision = Literal["float32", "bfloat16"]
Step = Callable[..., NamedTuple]  # (model, *batch) -> terms of the loss, the first is what is minimized
CHECKPOINT_VERSION = 1
_CHUNK = 8192  # windows judged at a time


class CheckpointError(ValueError):
    """A checkpoint that does not belong to this training, or cannot be read."""


@dataclass(frozen=True)
class Settings:
    """How a network is trained.

    Parameters
    ----------
    epochs : int
        Passes over the data, at most.
    batch : int
        Windows of a batch, at most; batches are made equally large.
    rate : float
        Learning rate of Adam.
    patience : int or None
        Stop when the validation loss has not fallen for so many epochs, and keep the weights of its lowest. None: train
        all epochs and keep the last weights.
    precision : {"float32", "bfloat16"}
        ``bfloat16``: multiply in 16 bits (autocast), keep weights in 32.
    device : str
        ``auto``: a GPU where there is one, else the CPU; or any name that torch knows.
    seed : int
        Fixes order, initial weights and all draws.

    Raises
    ------
    ValueError
        If a value is out of range.
    """

    epochs: int = 300
    batch: int = 512
    rate: float = 1e-3
    patience: int | None = None
    precision: Precision = "float32"
    device: str = "auto"
    seed: int = 0

    def __post_init__(self) -> None:
        if self.epochs < 1 or self.batch < 2 or not self.rate > 0:
            raise ValueError(
                f"epochs={self.epochs}, batch={self.batch}, rate={self.rate}: "
                "give at least 1 epoch, batches of 2 and a rate above 0"
            )
        if self.patience is not None and self.patience < 1:
            raise ValueError(f"patience={self.patience}: give at least 1 epoch, or None")
        if self.precision not in get_args(Precision):
            raise ValueError(f"precision {self.precision!r} is unknown: choose from {', '.join(get_args(Precision))}")


def pick_device(name: str = "auto") -> torch.device:
    """Return the device of a name; ``auto`` is a GPU where there is one."""
    return torch.device(("cuda" if torch.cuda.is_available() else "cpu") if name == "auto" else name)


def seeded(build: Callable[[], nn.Module], seed: int) -> nn.Module:
    """Return a network with initial weights of this seed, leaving the session's random state as it was."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return build()


def train(
    model: nn.Module,
    step: Step,
    data: Sequence[Tensor],
    settings: Settings,
    *,
    validation: Sequence[Tensor] | None = None,
    checkpoint: Path | None = None,
    every: int = 10,
    progress: bool = True,
    label: str = "training",
) -> pd.DataFrame:
    """Train a network in place and return its loss curve.

    Parameters
    ----------
    model : torch.nn.Module
        Left on the settings' device, in evaluation mode.
    step : callable
        ``step(model, *batch)`` returns the terms of the batch's loss as a named tuple; the first is minimized.
    data : sequence of Tensor
        Equally long; windows first, then labels.
    settings : Settings
        How.
    validation : sequence of Tensor, optional
        Held back, judged after every epoch.
    checkpoint : pathlib.Path, optional
        File to which the state is written every few epochs; if it is there, training goes on from it.
    every : int
        Epochs between checkpoints.
    progress : bool
        Show a bar.
    label : str
        What the bar and errors call this training.

    Returns
    -------
    pandas.DataFrame
        One row an epoch: ``epoch`` (from 1), the terms of the loss, and those on the validation windows with
        ``validation_`` before their names.

    Raises
    ------
    ValueError
        If there are fewer windows than a batch holds, or patience is asked for without validation windows.
    CheckpointError
        If the checkpoint is of another training.
    FloatingPointError
        If the loss is no number any more.
    """
    _check(data, validation, settings, label)
    device = pick_device(settings.device)
    model.to(device)
    data = [part.to(device) for part in data]
    validation = [part.to(device) for part in validation] if validation is not None else None
    optimizer = torch.optim.Adam(model.parameters(), lr=settings.rate, fused=device.type in ("cpu", "cuda"))
    state = _Progress(model, optimizer, _fingerprint(model, data, validation, settings) if checkpoint else "")
    if checkpoint and checkpoint.is_file():
        state.load(checkpoint)
        if len(state.rows) > settings.epochs:
            raise CheckpointError(
                f"checkpoint {checkpoint} has {len(state.rows)} epochs, more than the {settings.epochs} asked for: "
                "delete or move it"
            )
    bar = tqdm(total=settings.epochs, initial=len(state.rows), desc=label, disable=not progress, leave=False)
    with bar, torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        while len(state.rows) < settings.epochs and not state.stale(settings.patience):
            _epoch(state, step, data, validation, settings)
            bar.update()
            bar.set_postfix({name: f"{value:.4g}" for name, value in list(state.rows[-1].items())[1:2]})
            if checkpoint and len(state.rows) % every == 0:
                state.save(checkpoint)
    if checkpoint:
        state.save(checkpoint)
    if settings.patience is not None:
        model.load_state_dict(state.best)
    model.eval()
    return pd.DataFrame(state.rows)


class _Progress:
    """A network on its way: weights, optimizer, loss curve, and the best weights so far."""

    def __init__(self, model: nn.Module, optimizer: torch.optim.Optimizer, fingerprint: str) -> None:
        self.model, self.optimizer, self.fingerprint = model, optimizer, fingerprint
        self.rows: list[dict[str, float]] = []
        self.lowest, self.lowest_epoch = float("inf"), 0
        self.best: dict[str, Tensor] = {}

    def note(self, row: dict[str, float], judged: float | None) -> None:
        self.rows.append(row)
        if judged is not None and judged < self.lowest:
            self.lowest, self.lowest_epoch = judged, len(self.rows)
            self.best = {name: part.detach().clone() for name, part in self.model.state_dict().items()}

    def stale(self, patience: int | None) -> bool:
        return patience is not None and len(self.rows) - self.lowest_epoch >= patience

    def save(self, path: Path) -> None:
        content = {
            "version": CHECKPOINT_VERSION,
            "fingerprint": self.fingerprint,
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "best": self.best,
            "rows": self.rows,
            "lowest": [self.lowest, self.lowest_epoch],
        }
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f"{path.name}.{os.getpid()}.part")  # two processes may write the same file
        torch.save(content, part)
        part.replace(path)

    def load(self, path: Path) -> None:
        try:
            content = torch.load(path, map_location="cpu", weights_only=True)
        except (pickle.UnpicklingError, RuntimeError, EOFError) as error:
            raise CheckpointError(
                f"checkpoint {path} cannot be read: {str(error).splitlines()[0]}; delete it"
            ) from error
        if content.get("version") != CHECKPOINT_VERSION or content.get("fingerprint") != self.fingerprint:
            raise CheckpointError(
                f"checkpoint {path} is of another training (data, network or settings): delete or move it"
            )
        self.model.load_state_dict(content["model"])
        self.optimizer.load_state_dict(content["optimizer"])
        self.best, self.rows = content["best"], content["rows"]
        self.lowest, self.lowest_epoch = content["lowest"]


def _epoch(
    state: _Progress, step: Step, data: Sequence[Tensor], validation: Sequence[Tensor] | None, settings: Settings
) -> None:
    """Train one epoch and note its losses."""
    number = len(state.rows) + 1
    torch.manual_seed(settings.seed * 1_000_003 + number)
    model, device = state.model, data[0].device
    size = len(data[0])
    batches = torch.randperm(size, device=device).tensor_split(-(-size // settings.batch))
    sums: dict[str, Tensor] = {}
    model.train()
    for rows in batches:
        with torch.autocast(device.type, dtype=torch.bfloat16, enabled=settings.precision == "bfloat16"):
            terms = step(model, *(part[rows] for part in data))
        state.optimizer.zero_grad(set_to_none=True)
        terms[0].backward()
        state.optimizer.step()
        for name, term in zip(terms._fields, terms, strict=True):
            sums[name] = sums.get(name, torch.zeros((), device=device)) + term.detach() * len(rows)
    row: dict[str, Any] = {"epoch": number} | {name: total.item() / size for name, total in sums.items()}
    finite(next(iter(sums.values())), number)
    judged = None
    if validation is not None:
        held = evaluate(model, step, validation)
        judged = next(iter(held.values()))
        row |= {f"validation_{name}": value for name, value in held.items()}
    state.note(row, judged)


@torch.no_grad()
def evaluate(model: nn.Module, step: Step, data: Sequence[Tensor]) -> dict[str, float]:
    """Return the terms of the loss over some data, in evaluation mode and full precision."""
    model.eval()
    sums: dict[str, float] = {}
    for start in range(0, len(data[0]), _CHUNK):
        terms = step(model, *(part[start : start + _CHUNK] for part in data))
        count = len(data[0][start : start + _CHUNK])
        for name, term in zip(terms._fields, terms, strict=True):
            sums[name] = sums.get(name, 0.0) + term.item() * count
    return {name: total / len(data[0]) for name, total in sums.items()}


def _check(data: Sequence[Tensor], validation: Sequence[Tensor] | None, settings: Settings, label: str) -> None:
    size = len(data[0])
    if size < settings.batch:
        raise ValueError(
            f"{label}: {size} windows are too few for a batch of {settings.batch}: lower batch, or bring more"
        )
    if settings.patience is not None and not (validation is not None and len(validation[0])):
        raise ValueError(f"{label}: early stopping needs validation windows; pass them, or patience=None")


def _fingerprint(
    model: nn.Module, data: Sequence[Tensor], validation: Sequence[Tensor] | None, settings: Settings
) -> str:
    """Return a digest of all that a loss curve depends on, but for its length and the device."""
    choices = {name: value for name, value in asdict(settings).items() if name not in ("epochs", "device")}
    digest = hashlib.sha256(f"{choices}{model}".encode())
    parts = [*model.state_dict().values(), *data, *(validation or ())]
    for part in parts:
        digest.update(str(tuple(part.shape)).encode())
        digest.update(part.detach().cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()
