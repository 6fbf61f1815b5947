"""Model-free anonymization by moving latent representations: paper 3's Algorithm 1, and ours beside it."""

import copy
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
import torch
from sklearn.base import BaseEstimator
from torch import Tensor

from sensorprivacy.datasets.types import Windows
from sensorprivacy.latent.classifiers import Classifier, Kind
from sensorprivacy.latent.inference import Guesses, train_guesses
from sensorprivacy.latent.losses import Loss, vae_loss
from sensorprivacy.latent.modify import Modify, SecretSource, Source, bijection_codes, generator_of, targets
from sensorprivacy.latent.networks import PrivateVAE, Sizes, sizes_for
from sensorprivacy.latent.spectral_noise import drawn, spectra
from sensorprivacy.latent.training import Settings, pick_device, seeded, train
from sensorprivacy.latent.transfers import MeanShift, Statistics, Transfer
from sensorprivacy.latent.windows import flatten

_CHUNK = 8192
# what no training rests on
_LATE = {"modify", "transfer", "redraw", "insist", "sampled", "bijection", "detail", "witness"}


@dataclass(frozen=True)
class Anonymized:
    """Anonymized windows, with what the device thought of each.

    Attributes
    ----------
    windows : Windows
        The windows as published; labels are the true ones, for judging.
    public, private : numpy.ndarray of int64
        Inferred classes, as codes.
    target : numpy.ndarray of int64
        Private class that each window was moved to.
    distortion : float
        Mean squared difference to the original, in units of each channel's deviation.
    """

    windows: Windows
    public: np.ndarray
    private: np.ndarray
    target: np.ndarray
    distortion: float


class LatentAnonymizer(BaseEstimator):
    """Rewrites windows so that their activity can be told and their private attribute cannot.

    Parameters
    ----------
    private : str, default "gender"
        The private attribute to hide, or ``subject``.
    modify : {"deterministic", "probabilistic", "uniform", "constant"}, default "deterministic"
        To which private class a window is moved, see `modify.targets`.
    transfer : Transfer, optional
        How its latent is moved, see `transfers`; the paper's mean shift when left out.
    alpha, beta : float
        Weights of the private classification and of the divergence in the loss (Equation 2). `beta` is in the scale of
        a squared error summed over a window's values.
    vae, inference : Settings, optional
        How autoencoders and inference models are trained; 300 epochs at batch 512 (paper 3's, by its authors' code) and
        60 at batch 256 when left out.
    kind : {"mlp", "cnn"}
        Network of the inference models.
    sizes : Sizes, optional
        Layers of the autoencoders; those of the paper for windows of this size when left out.
    general : bool
        One autoencoder for all public classes, as in the authors' earlier work, instead of one a class.
    sampled : bool
        Sample z, as the paper does, or take the posterior's mean.
    redraw : int
        Ours: how often a window is drawn again that is not read as it should be, where the transfer or the sampled z is
        random.
    insist : {"public", "both"}
        Ours: as what the inference models must read a redrawn window: as its public class, or also as the
        private class that it was moved to.
    bijection : mapping of str to str, optional
        Where each private class goes; each to the next when left out.
    detail : float
        Ours: decoders publish smooth windows. Deviation, as a share of what decoding loses of training windows of the
        same public class and of the class moved to, of noise with the spectrum of that loss, added to what is
        published; 0 (the paper's) to 1. Of the window it tells those two classes at most: it is drawn without looking.
    witness : Classifier, optional
        Ours: a second model of the public class, of another kind of network, trained on windows as scaled by
        `guesses`. Both models' probabilities together say what a window's public class is, and a window is drawn again
        unless both read it rightly.

    Attributes
    ----------
    guesses_ : Guesses
        Inference models, classes, scaling.
    vaes_ : list of PrivateVAE
        One a public class; the same one again and again if `general`.
    statistics_ : list of dict
        What the transfer knows, one a public class; for the paper's, the mean latents m(y, p).
    latents_ : list of tuple (z, private codes)
        Mean latents of the training windows of each public class.
    losses_ : list of numpy.ndarray of float32, shape (private classes, channels, length // 2 + 1)
        Spectra of what decoding loses of the training windows, one a public class, see `details`.
    history_ : pandas.DataFrame
        Loss curves, with the column ``public``.

    References
    ----------
    Paper 3, Algorithm 1 and Equation 2.
    """

    def __init__(
        self,
        private: str = "gender",
        *,
        modify: Modify = "deterministic",
        transfer: Transfer | None = None,
        alpha: float = 10.0,
        beta: float = 0.1,
        vae: Settings | None = None,
        inference: Settings | None = None,
        kind: Kind = "mlp",
        sizes: Sizes | None = None,
        general: bool = False,
        sampled: bool = True,
        redraw: int = 0,
        insist: Literal["public", "both"] = "public",
        bijection: Mapping[str, str] | None = None,
        detail: float = 0.0,
        witness: Classifier | None = None,
    ) -> None:
        self.private = private
        self.modify = modify
        self.transfer = transfer
        self.alpha = alpha
        self.beta = beta
        self.vae = vae
        self.inference = inference
        self.kind = kind
        self.sizes = sizes
        self.general = general
        self.sampled = sampled
        self.redraw = redraw
        self.insist = insist
        self.bijection = bijection
        self.detail = detail
        self.witness = witness

    def fit(
        self,
        windows: Windows,
        y: object = None,
        *,
        validation: Windows | None = None,
        guesses: Guesses | None = None,
        checkpoints: Path | None = None,
        progress: bool = True,
    ) -> "LatentAnonymizer":
        """Train inference models and autoencoders, and store the mean latents.

        Parameters
        ----------
        windows : Windows
            Training windows.
        y : ignored
            Labels are in the windows.
        validation : Windows, optional
            Held back; needed for early stopping.
        guesses : Guesses, optional
            Inference models trained before; trained here when left out.
        checkpoints : pathlib.Path, optional
            Folder in which interrupted trainings are kept and taken up.
        progress : bool
            Show bars.

        Returns
        -------
        LatentAnonymizer
            This one.

        Raises
        ------
        ValueError
            If a private class has no training window for some public class, a class is unknown or single, or there are
            too few windows for a batch.
        """
        self.guesses_ = guesses or train_guesses(
            windows,
            self.private,
            validation=validation,
            kind=self.kind,
            settings=self.inference,
            checkpoints=checkpoints,
            progress=progress,
        )
        if self.guesses_.attribute != self.private:
            raise ValueError(f"guesses tell {self.guesses_.attribute!r}, but {self.private!r} is to be hidden")
        public, private = self.guesses_.codes(windows)
        self._check_cells(public, private)
        x = flatten(self.guesses_.scaled(windows))
        held = None
        if validation is not None:
            held = (flatten(self.guesses_.scaled(validation)), *self.guesses_.codes(validation))
        self.vaes_: list[PrivateVAE] = []
        histories = []
        for code, name in enumerate(self.guesses_.public.classes):
            if self.general and code:
                self.vaes_.append(self.vaes_[0])
                continue
            network, history = self._train_one(code, name, (x, public, private), held, checkpoints, progress)
            self.vaes_.append(network)
            histories.append(history.assign(public="all" if self.general else name))
        self.history_ = pd.concat(histories, ignore_index=True)
        self.latents_, self.losses_ = [], []
        for code in range(len(self.guesses_.public.classes)):
            rows = public == code
            z = self._encode(code, x[rows])[0]
            lost = (x[rows] - self._decode(code, z)).reshape(-1, *self.guesses_.shape)
            self.latents_.append((z, private[rows]))
            self.losses_.append(spectra(lost, private[rows], len(self.guesses_.private.classes)))
        return self._learn_transfer()

    def transform(self, windows: Windows, source: Source | None = None) -> Windows:
        """Return the windows anonymized; see `anonymize`."""
        return self.anonymize(windows, source).windows

    def anonymize(self, windows: Windows, source: Source | None = None) -> Anonymized:
        """Anonymize windows by Algorithm 1: infer, encode, sample, move, decode.

        Parameters
        ----------
        windows : Windows
            Windows of the training windows' shape; their labels are not looked at.
        source : Source, optional
            Randomness; the operating system's secure generator when left out.

        Returns
        -------
        Anonymized
            The published windows and what the device inferred.

        Raises
        ------
        ValueError
            If the windows have another shape, or `detail` is out of range.
        AttributeError
            If it is not fitted.
        """
        if not 0 <= self.detail <= 1:
            raise ValueError(f"detail={self.detail}: the share of the lost detail lies between 0 and 1")
        source = source or SecretSource()
        scaled = self.guesses_.scaled(windows)
        public, private = self.infer(scaled)
        mapping = bijection_codes(self.bijection, self.guesses_.private.classes)
        target = targets(private, self.modify, mapping, source)
        generator = generator_of(source)
        published = self._rewrite(scaled, public, private, target, generator)
        lost = np.arange(len(published))
        for _ in range(self.redraw):
            lost = lost[self._misread(published[lost], public[lost], target[lost])]  # who is read rightly stays so
            if not len(lost):
                break
            published[lost] = self._rewrite(scaled[lost], public[lost], private[lost], target[lost], generator)
        distortion = float(np.mean((published - scaled) ** 2, dtype=np.float64))
        shown = replace_values(windows, self.guesses_.scaler.undo(published))
        return Anonymized(shown, public, private, target, distortion)

    def _misread(self, published: np.ndarray, public: np.ndarray, target: np.ndarray) -> np.ndarray:
        """Return which published windows the device's models do not read as they should."""
        if self.insist not in ("public", "both"):
            raise ValueError(f"insist {self.insist!r} is unknown: choose from public, both")
        wrong = self.guesses_.public_model.predict(published) != public
        if self.witness is not None:
            wrong |= self.witness.predict(published) != public
        if self.insist == "both":
            wrong |= self.guesses_.private_model.predict(published) != target
        return wrong

    def infer(self, scaled: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the inferred public and private codes of scaled windows."""
        odds = self.guesses_.public_model.probabilities(scaled)
        if self.witness is not None:
            odds = odds + self.witness.probabilities(scaled)
        return odds.argmax(axis=1), self.guesses_.private_model.predict(scaled)

    def latents(self, windows: Windows, public: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return mean and log variance of q(z|x), each n x d, by the autoencoder of each window's public code."""
        x = flatten(self.guesses_.scaled(windows))
        mean = np.zeros((len(x), self._sizes().latent), dtype=np.float32)
        log_variance = np.zeros_like(mean)
        for code in np.unique(public):
            rows = np.flatnonzero(public == code)
            mean[rows], log_variance[rows] = self._encode(int(code), x[rows])
        return mean, log_variance

    def with_(self, **changes: Any) -> "LatentAnonymizer":
        """Return a copy that shares all networks but modifies or transfers otherwise.

        Parameters
        ----------
        **changes
            Any of ``modify``, ``transfer``, ``redraw``, ``insist``, ``sampled``, ``bijection``, ``detail`` and
            ``witness``.

        Raises
        ------
        ValueError
            If something is to change that the networks were trained with.
        """
        if fixed := sorted(set(changes) - _LATE):
            raise ValueError(f"{', '.join(fixed)} cannot change without training anew")
        other = copy.copy(self).set_params(**changes)
        return other._learn_transfer() if "transfer" in changes else other

    def _learn_transfer(self) -> "LatentAnonymizer":
        transfer, classes = self.transfer or MeanShift(), len(self.guesses_.private.classes)
        self.statistics_: list[Statistics] = [
            transfer.fit(z.astype(np.float64), private, classes) for z, private in self.latents_
        ]
        return self

    def _train_one(
        self,
        code: int,
        name: str,
        data: tuple[np.ndarray, ...],
        held: tuple[np.ndarray, ...] | None,
        checkpoints: Path | None,
        progress: bool,
    ) -> tuple[PrivateVAE, pd.DataFrame]:
        """Train the autoencoder of one public class, or the general one."""
        settings = self.vae or Settings()
        settings = replace(settings, seed=settings.seed * 101 + code)
        values, classes = data[0].shape[1], len(self.guesses_.private.classes)
        network = seeded(lambda: PrivateVAE(values, self._sizes(), classes), settings.seed)

        def chosen(parts: tuple[np.ndarray, ...]) -> tuple[Tensor, Tensor]:
            x, public, private = parts
            rows = slice(None) if self.general else public == code
            return torch.as_tensor(x[rows]), torch.as_tensor(private[rows])

        def step(model: PrivateVAE, x: Tensor, private: Tensor) -> Loss:
            return vae_loss(model(x), x, private, beta=self.beta, alpha=self.alpha)

        history = train(
            network,
            step,
            chosen(data),
            settings,
            validation=chosen(held) if held is not None else None,
            checkpoint=checkpoints / f"vae-{code}.pt" if checkpoints else None,
            progress=progress,
            label="general autoencoder" if self.general else f"autoencoder of {name}",
        )
        assert isinstance(network, PrivateVAE)
        return network, history

    def _rewrite(
        self,
        scaled: np.ndarray,
        public: np.ndarray,
        private: np.ndarray,
        target: np.ndarray,
        generator: np.random.Generator,
    ) -> np.ndarray:
        """Return scaled windows encoded, moved and decoded, n x channels x length."""
        x, published = flatten(scaled), np.empty((len(scaled), scaled[0].size), dtype=np.float32)
        transfer = self.transfer or MeanShift()
        for code in np.unique(public):
            rows = np.flatnonzero(public == code)
            z, log_variance = self._encode(int(code), x[rows])
            if self.sampled:
                z = z + generator.standard_normal(z.shape) * np.exp(0.5 * log_variance)
            known = self.statistics_[code]
            moved = transfer.move(known, z.astype(np.float64), private[rows], target[rows], generator)
            published[rows] = self._decode(int(code), moved.astype(np.float32))
            if self.detail:
                noise = drawn(self.losses_[code][target[rows]], scaled.shape[2], generator)
                published[rows] += self.detail * noise.reshape(len(rows), -1)
        return published.reshape(scaled.shape)

    @torch.no_grad()
    def _encode(self, code: int, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        network, device = self._network(code)
        parts = [network.encode(torch.as_tensor(x[at : at + _CHUNK]).to(device)) for at in range(0, len(x), _CHUNK)]
        means, variances = zip(*parts, strict=True)
        return torch.cat(means).cpu().numpy(), torch.cat(variances).cpu().numpy()

    @torch.no_grad()
    def _decode(self, code: int, z: np.ndarray) -> np.ndarray:
        network, device = self._network(code)
        parts = [network.decoder(torch.as_tensor(z[at : at + _CHUNK]).to(device)) for at in range(0, len(z), _CHUNK)]
        return torch.cat(parts).cpu().numpy()

    def _network(self, code: int) -> tuple[PrivateVAE, torch.device]:
        device = pick_device((self.vae or Settings()).device)
        return self.vaes_[code].to(device).eval(), device

    def _sizes(self) -> Sizes:
        return self.sizes or sizes_for(int(np.prod(self.guesses_.shape)), self.general)

    def _check_cells(self, public: np.ndarray, private: np.ndarray) -> None:
        """Raise if a private class has no training window for a public class: it has no mean latent m(y, p)."""
        known = self.guesses_
        counts = np.zeros((len(known.public.classes), len(known.private.classes)), dtype=np.int64)
        np.add.at(counts, (public, private), 1)
        if (counts < 2).any():
            which, whose = (int(at) for at in np.argwhere(counts < 2)[0])
            raise ValueError(
                f"{known.public.classes[which]!r} has {counts[which, whose]} training window(s) of {self.private} "
                f"{known.private.classes[whose]!r}: their mean latent needs two; bring more, or leave the class out"
            )


def replace_values(windows: Windows, values: np.ndarray) -> Windows:
    """Return windows with other values and the same labels."""
    return Windows(
        values,
        windows.public,
        windows.private,
        windows.subject,
        windows.trial,
        name=windows.name,
        provenance=windows.provenance,
    )
