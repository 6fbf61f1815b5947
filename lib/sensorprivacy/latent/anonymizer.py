"""Anonymize windows by moving their latent representations: paper 3's Algorithm 1, and our additions."""

import copy
from collections.abc import Collection, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.random import Generator
from sklearn.base import BaseEstimator

from sensorprivacy.data import Windows
from sensorprivacy.latent.classifiers import Classifier, Kind
from sensorprivacy.latent.inference import Anonymized, InferenceModels, Readings, train_inference_models
from sensorprivacy.latent.modify import (
    Modify,
    RandomSource,
    SecretSource,
    bijection_codes,
    draw_noise,
    generator_of,
    lost_spectra,
    targets,
)
from sensorprivacy.latent.networks import PrivateVAE, Sizes, decode, encode, sizes_for, train_autoencoder
from sensorprivacy.latent.training import Settings
from sensorprivacy.latent.transfers import MeanShift, Statistics, Transfer, rewrite
from sensorprivacy.latent.windows import flatten, replace_values

# parameters that can change without training again
_FREE = {"modify", "transfer", "redraw", "insist", "sampled", "bijection", "spectral_noise", "second_reader"}


@dataclass(eq=False, repr=False)
class LatentAnonymizer(BaseEstimator):
    """Rewrite windows so that a model can infer their activity but not their private attribute.

    Parameters
    ----------
    private : str, default "gender"
        The private attribute to hide, or ``subject``.
    modify : {"deterministic", "probabilistic", "uniform", "constant"}, default "deterministic"
        How the new private class is chosen, see `modify.targets`.
    transfer : Transfer, optional
        How a latent is moved, see `transfers`. The default is the paper's mean shift.
    alpha, beta : float
        Weights of the private classification and of the divergence in the loss (Equation 2). `beta` refers to a
        squared error that is summed over a window's values.
    vae, inference : Settings, optional
        How autoencoders and inference models are trained. Defaults: 300 epochs with batches of 512 (the authors'
        code), and 60 epochs with batches of 256.
    kind : {"mlp", "cnn", "conv1d"}
        Network of the inference models.
    sizes : Sizes, optional
        Layers of the autoencoders. The default is the paper's layers for windows of this size.
    general : bool
        Train one autoencoder for all public classes, as in the authors' earlier work, instead of one per class.
    sampled : bool
        Sample z, as the paper does, instead of using the posterior's mean.
    redraw : int
        Ours: how often a window is drawn again while its class is misread. This needs a random transfer or sampled z.
    insist : {"public", "both"}
        Ours: whether a window is redrawn until its public class is recognized, or also its new private class.
    bijection : mapping of str to str, optional
        The new class of each private class. By default each class becomes the next one.
    spectral_noise : float
        Ours: amount of noise added to published windows, 0 (the paper's) to 1. Decoded windows are too smooth. The
        noise has the spectrum of what decoding lost of training windows with the same public class and the target
        private class; 1 adds all of it. It depends on the window only through these two classes.
    second_reader : Classifier, optional
        Ours: a second model of the public class, with another kind of network, trained on windows that `models_`
        scaled. Both models' probabilities are added to infer the public class, and a window is redrawn unless both
        recognize it.

    Attributes
    ----------
    models_ : InferenceModels
        Inference models, classes and scaling.
    vaes_ : list of PrivateVAE
        One per public class; the same one repeated if `general`.
    statistics_ : list of dict
        The arrays that the transfer learned, per public class. For the paper's transfer: the mean latents m(y, p).
    latents_ : list of tuple (z, private codes)
        Mean latents of the training windows, per public class.
    people_, owners_ : tuple of str, list of numpy.ndarray of int64
        Training people, and the code of the person of each training latent, per public class.
    lost_spectra_ : list of numpy.ndarray of float32, shape (private classes, channels, length // 2 + 1)
        Spectra of what decoding lost of the training windows, per public class, see `spectral_noise`.
    history_ : pandas.DataFrame
        Loss curves, with the column ``public``.

    References
    ----------
    Paper 3, Algorithm 1 and Equation 2.

    Examples
    --------
    >>> LatentAnonymizer("weight").with_(redraw=20).redraw
    20
    """

    private: str = "gender"
    _: KW_ONLY
    modify: Modify = "deterministic"
    transfer: Transfer | None = None
    alpha: float = 10.0
    beta: float = 0.1
    vae: Settings | None = None
    inference: Settings | None = None
    kind: Kind = "mlp"
    sizes: Sizes | None = None
    general: bool = False
    sampled: bool = True
    redraw: int = 0
    insist: Literal["public", "both"] = "public"
    bijection: Mapping[str, str] | None = None
    spectral_noise: float = 0.0
    second_reader: Classifier | None = None
    _encoded: Readings = field(init=False, default_factory=Readings)  # copies that share networks share it

    def fit(
        self,
        windows: Windows,
        y: object = None,
        *,
        validation: Windows | None = None,
        models: InferenceModels | None = None,
        checkpoints: Path | None = None,
        progress: bool = True,
    ) -> "LatentAnonymizer":
        """Train inference models and autoencoders, and learn the transfer.

        Parameters
        ----------
        windows : Windows
            Training windows.
        validation : Windows, optional
            Validation windows; early stopping needs them.
        models : InferenceModels, optional
            Inference models trained before. By default they are trained here.
        checkpoints : pathlib.Path, optional
            Folder for checkpoints, from which interrupted trainings continue.
        progress : bool
            Show progress bars.

        Raises
        ------
        ValueError
            If a private class has no training window in some public class, a class is unknown or the only one, or
            there are fewer windows than one batch holds.
        """
        how: dict[str, Any] = {"validation": validation, "checkpoints": checkpoints, "progress": progress}
        how |= {"kind": self.kind, "settings": self.inference}
        self.models_ = models or train_inference_models(windows, self.private, **how)
        known = self.models_
        if known.attribute != self.private:
            raise ValueError(f"models of {known.attribute!r}, but private={self.private!r}: train models of it")
        data = self._arrays(windows)
        held = self._arrays(validation) if validation is not None else None
        known.check_cells(*data[1:])
        self.vaes_: list[PrivateVAE] = []
        self._encoded = Readings()
        histories = []
        for code, name in enumerate(known.public.classes[:1] if self.general else known.public.classes):
            settings = replace(self.vae or Settings(), seed=(self.vae or Settings()).seed * 101 + code)
            network, history = train_autoencoder(
                self._of_class(code, data),
                self._sizes(),
                len(known.private.classes),
                settings,
                alpha=self.alpha,
                beta=self.beta,
                validation=self._of_class(code, held) if held is not None else None,
                checkpoint=checkpoints / f"vae-{code}.safetensors" if checkpoints else None,
                progress=progress,
                label="general autoencoder" if self.general else f"autoencoder of {name}",
            )
            self.vaes_.append(network)
            histories.append(history.assign(public="all" if self.general else name))
        if self.general:
            self.vaes_ *= len(known.public.classes)
        self.history_ = pd.concat(histories, ignore_index=True)
        self.people_ = tuple(sorted(set(windows.subject.astype(str))))
        return self._learn_latents(*data, self.people_of(windows))._learn_transfer()

    def transform(self, windows: Windows, source: RandomSource | None = None) -> Windows:
        """Return the anonymized windows; see `anonymize`."""
        return self.anonymize(windows, source).windows

    def anonymize(self, windows: Windows, source: RandomSource | None = None) -> Anonymized:
        """Anonymize windows by Algorithm 1: infer, encode, sample, move, decode.

        Parameters
        ----------
        windows : Windows
            Windows of the training windows' shape. Their labels are not used, except that a transfer which publishes
            training latents leaves out those of the same ``subject``.
        source : RandomSource, optional
            Randomness. The default is the operating system's secure generator.

        Returns
        -------
        Anonymized
            The published windows and the inferred classes.

        Raises
        ------
        ValueError
            If the windows have another shape, or `spectral_noise` is out of range.
        """
        return next(self.publications(windows, [self.redraw], source))

    def publications(
        self, windows: Windows, redraws: Collection[int], source: RandomSource | None = None
    ) -> Iterator[Anonymized]:
        """Yield the publication after each number of redraws, in ascending order.

        Parameters
        ----------
        windows, source
            As for `anonymize`, which yields the same with the same source.
        redraws : collection of int
            Numbers of redraws; they take the place of the parameter `redraw`.
        """
        if not 0 <= self.spectral_noise <= 1:
            raise ValueError(f"spectral_noise={self.spectral_noise} is out of range: give a number from 0 to 1")
        source = source or SecretSource()
        scaled = self.models_.scaled(windows)
        public, private = self.infer(windows)
        mapping = bijection_codes(self.bijection, self.models_.private.classes)
        target = targets(private, self.modify, mapping, source)
        generator = generator_of(source)
        codes = np.stack([public, private, target, self.people_of(windows)])
        posterior = self._posterior(windows, public)
        published, donor = np.empty_like(scaled), np.full(len(scaled), -1)
        misread = np.arange(len(published))
        for drawn in range(max(redraws) + 1):
            if drawn:  # windows that are recognized are not redrawn
                of = published[misread], public[misread], target[misread]
                misread = misread[self.models_.misread(*of, self.second_reader, self.insist)]
            if len(misread):
                new = rewrite(self, posterior[:, misread], codes[:, misread], generator)
                published[misread], donor[misread] = new
            if drawn in redraws:
                distortion = float(np.mean((published - scaled) ** 2, dtype=np.float64))
                shown = replace_values(windows, self.models_.scaler.undo(published))
                yield Anonymized(shown, public, private, target, distortion, donor.copy())

    def infer(self, windows: Windows) -> tuple[np.ndarray, np.ndarray]:
        """Return the inferred public and private codes of windows."""
        public, private = self.models_.probabilities(windows)
        if self.second_reader is not None:
            public = public + self.second_reader.probabilities(self.models_.scaled(windows))
        return public.argmax(axis=1), private.argmax(axis=1)

    def latents(self, windows: Windows, public: np.ndarray) -> np.ndarray:
        """Return the mean of q(z|x), n x d, by the autoencoder of each window's public code."""
        return self._posterior(windows, public)[0]

    def decoded(self, code: int, z: np.ndarray) -> np.ndarray:
        """Return the scaled windows that an activity's decoder makes of latents, n x channels x length."""
        flat = decode(self.vaes_[code], z.astype(np.float32), (self.vae or Settings()).device)
        return flat.reshape(-1, *self.models_.shape)

    def decoded_with_noise(self, code: int, z: np.ndarray, target: np.ndarray, generator: Generator) -> np.ndarray:
        """Return `decoded` latents with the spectral noise of their target classes, if there is any."""
        shown = self.decoded(code, z)
        if self.spectral_noise:
            noise = draw_noise(self.lost_spectra_[code][target], shown.shape[2], generator)
            shown = shown + self.spectral_noise * noise
        return shown

    def echo(self, code: int, z: np.ndarray) -> np.ndarray:
        """Return the mean of q(z|x) of the decoded latents, n x d: how they look to who encodes what is published."""
        return self._encode(code, flatten(self.decoded(code, z)))[0]

    def with_(self, **changes: Any) -> "LatentAnonymizer":
        """Return a copy that shares all networks but has other values of the parameters that need no training.

        Other parameters raise a ValueError.
        """
        if fixed := sorted(set(changes) - _FREE):
            raise ValueError(f"{', '.join(fixed)} cannot change without a new training: fit another LatentAnonymizer")
        other = copy.copy(self).set_params(**changes)
        return other._learn_transfer() if "transfer" in changes else other

    def _arrays(self, windows: Windows) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return scaled, flattened windows with their true public and private codes."""
        return flatten(self.models_.scaled(windows)), *self.models_.codes(windows)

    def _of_class(self, code: int, data: tuple[np.ndarray, ...]) -> tuple[np.ndarray, np.ndarray]:
        """Return the windows that one autoencoder learns from, and their private codes."""
        x, public, private = data
        rows = slice(None) if self.general else public == code
        return x[rows], private[rows]

    def people_of(self, windows: Windows) -> np.ndarray:
        """Return the code of each window's person among the training people, -1 for a stranger; int64."""
        return pd.Index(self.people_).get_indexer(pd.Index(windows.subject.astype(str))).astype(np.int64)

    def _learn_latents(
        self, x: np.ndarray, public: np.ndarray, private: np.ndarray, people: np.ndarray
    ) -> "LatentAnonymizer":
        """Store the mean latents of the training windows, and the spectra of what decoding loses of them."""
        self.latents_, self.lost_spectra_ = [], []
        self.owners_ = [people[public == code] for code in range(len(self.models_.public.classes))]
        for code in range(len(self.models_.public.classes)):
            rows = public == code
            z = self._encode(code, x[rows])[0]
            lost = x[rows].reshape(-1, *self.models_.shape) - self.decoded(code, z)
            self.latents_.append((z, private[rows]))
            self.lost_spectra_.append(lost_spectra(lost, private[rows], len(self.models_.private.classes)))
        return self

    def _learn_transfer(self) -> "LatentAnonymizer":
        transfer, classes = self.transfer or MeanShift(), len(self.models_.private.classes)
        self.statistics_: list[Statistics] = [
            transfer.fit(z.astype(np.float64), private, classes, own)
            for (z, private), own in zip(self.latents_, self.owners_, strict=True)
        ]
        return self

    def _posterior(self, windows: Windows, public: np.ndarray) -> np.ndarray:
        """Return mean and log variance of q(z|x), 2 x n x d, by the autoencoder of each window's public code."""
        known, both = self._encoded.get(windows, (public[:0], public))
        if not np.array_equal(known, public):
            x = flatten(self.models_.scaled(windows))
            both = np.zeros((2, len(public), self._sizes().latent), np.float32)
            for code in np.unique(public):
                both[:, public == code] = self._encode(code, x[public == code])
            both.flags.writeable = False
            self._encoded[windows] = public, both
        return both

    def _encode(self, code: int, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return encode(self.vaes_[code], x, (self.vae or Settings()).device)

    def _sizes(self) -> Sizes:
        return self.sizes or sizes_for(int(np.prod(self.models_.shape)), self.general)
