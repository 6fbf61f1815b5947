"""Algorithm 1 of paper 3 through onnxruntime: window by window without allocating, or many at a time."""

from dataclasses import dataclass

import numpy as np
import onnxruntime as ort

from sensorprivacy.edge.bundle import Bundle, BundleError
from sensorprivacy.latent.modify import RandomSource, SecretSource, generator_of, targets

_TYPES = {"tensor(float)": np.float32, "tensor(int64)": np.int64}


@dataclass(frozen=True)
class Published:
    """Anonymized windows and what the device thought of each; n windows.

    Attributes
    ----------
    values : numpy.ndarray of float32, shape (n, channels, length)
        In the channels' own units.
    public, private, target : numpy.ndarray of int64
        Inferred classes, and the private class that each was moved to.
    """

    values: np.ndarray
    public: np.ndarray
    private: np.ndarray
    target: np.ndarray


class Bound:
    """A session with its inputs and outputs bound to arrays that live as long as it does.

    Parameters
    ----------
    session : onnxruntime.InferenceSession
        Opened.
    arrays : dict of str to numpy.ndarray
        By input and output name; shared with other sessions where the same name is the same thing.
    """

    def __init__(self, session: ort.InferenceSession, arrays: dict[str, np.ndarray]) -> None:
        self._session, self._arrays = session, arrays
        self._binding = session.io_binding()
        for bind, ends in ((self._binding.bind_input, session.get_inputs()),
                           (self._binding.bind_output, session.get_outputs())):  # fmt: skip
            for end in ends:
                array = arrays[end.name]
                if array.dtype != _TYPES[end.type]:
                    raise BundleError(f"{end.name} is {end.type}, expected {array.dtype}")
                bind(end.name, "cpu", 0, array.dtype.type, list(array.shape), array.ctypes.data)

    def run(self) -> None:
        """Run on what the input arrays hold; what comes out is in the output arrays."""
        self._session.run_with_iobinding(self._binding)


class Pipeline:
    """The networks of a bundle, loaded once.

    Parameters
    ----------
    bundle : Bundle
        With all steps of the pipeline.
    threads : int
        Threads of onnxruntime.
    modify : str, optional
        See `latent.modify.targets`; the bundle's own when left out.
    source : RandomSource, optional
        Randomness; the operating system's secure generator when left out.

    Raises
    ------
    BundleError
        If a step is missing, or its file is no network that fits.
    """

    def __init__(
        self, bundle: Bundle, *, threads: int = 1, modify: str | None = None, source: RandomSource | None = None
    ) -> None:
        if not bundle.anonymizes:
            held = ", ".join(step.title for step in bundle.steps)
            raise BundleError(f"{bundle.folder} holds no whole pipeline, only {held}")
        self.bundle, self.modify = bundle, modify or bundle.modify
        self._source = source or SecretSource()
        self._generator = generator_of(self._source)
        self._mapping = np.asarray(bundle.mapping)
        self._mean = np.asarray(bundle.mean, dtype=np.float32)[:, None]
        self._deviation = np.asarray(bundle.deviation, dtype=np.float32)[:, None]
        targets(np.zeros(1, dtype=np.int64), self.modify, self._mapping, self._source)  # type: ignore[arg-type]
        codes = range(len(bundle.public))
        self._sessions = {
            (step.name, step.code): bundle.open(step, threads)
            for step in (
                *(bundle.step(name) for name in ("public", "private", "transformation")),
                *(bundle.step(name, code) for code in codes for name in ("encoder", "decoder")),
            )
        }
        self.arrays = self._buffers()
        self._bound = {key: self._bind(*key) for key in self._sessions}

    def anonymize_one(self, window: np.ndarray, out: np.ndarray) -> int:
        """Anonymize one window, without allocating anything that stays.

        Parameters
        ----------
        window : numpy.ndarray of float32, shape (channels, length)
            In the channels' units; not changed.
        out : numpy.ndarray of float32, shape (channels, length)
            Where the published window goes.

        Returns
        -------
        int
            Code of the inferred public class.
        """
        arrays, bound = self.arrays, self._bound
        scaled = arrays["x"][0]
        np.subtract(window, self._mean, out=scaled)
        np.divide(scaled, self._deviation, out=scaled)
        bound["public", None].run()
        bound["private", None].run()
        code = int(arrays["public_logits"].argmax())
        arrays["public"][0] = code
        arrays["private"][0] = arrays["private_logits"].argmax()
        arrays["target"][:] = targets(arrays["private"], self.modify, self._mapping, self._source)  # type: ignore[arg-type]
        bound["encoder", code].run()
        if self.bundle.sampled:
            self._generator.standard_normal(out=arrays["noise"], dtype=np.float32)
        bound["transformation", None].run()
        bound["decoder", code].run()
        np.multiply(arrays["published"][0], self._deviation, out=out)
        np.add(out, self._mean, out=out)
        return code

    def anonymize(self, values: np.ndarray, source: RandomSource | None = None) -> Published:
        """Anonymize many windows, class by class.

        Parameters
        ----------
        values : numpy.ndarray of float32, shape (n, channels, length)
            In the channels' units.
        source : RandomSource, optional
            Randomness; this pipeline's own when left out. Draws are those of `LatentAnonymizer` for the same source.

        Raises
        ------
        ValueError
            If the windows have another shape.
        """
        if values.ndim != 3 or values.shape[1:] != self.bundle.shape:
            raise ValueError(f"windows of shape {values.shape}, this bundle takes n x {self.bundle.shape}")
        source = source or self._source
        x = ((values - self._mean) / self._deviation).astype(np.float32)
        public, private = (self._run(name, None, x=x)[0].argmax(axis=1) for name in ("public", "private"))
        target = targets(private, self.modify, self._mapping, source)  # type: ignore[arg-type]
        generator, published = generator_of(source), np.empty_like(x)
        for code in np.unique(public).tolist():
            rows = np.flatnonzero(public == code)
            mean, log_variance = self._run("encoder", code, x=x[rows])
            noise = generator.standard_normal(mean.shape) if self.bundle.sampled else np.zeros(mean.shape)
            classes = {"public": public[rows], "private": private[rows], "target": target[rows]}
            drawn = {"mean": mean, "log_variance": log_variance, "noise": noise.astype(np.float32)}
            (z,) = self._run("transformation", None, **drawn, **classes)
            (published[rows],) = self._run("decoder", code, z=z)
        shown = (published * self._deviation + self._mean).astype(np.float32)
        return Published(shown, public, private, target)

    def _run(self, name: str, code: int | None, **given: np.ndarray) -> list[np.ndarray]:
        return self._sessions[name, code].run(None, given)

    def _buffers(self) -> dict[str, np.ndarray]:
        """Return the arrays of one window that its steps hand on to each other."""
        bundle, shape = self.bundle, (1, *self.bundle.shape)
        floats: dict[str, tuple[int, ...]] = dict.fromkeys(("mean", "log_variance", "noise", "z"), (1, bundle.latent))
        floats |= {"public_logits": (1, len(bundle.public)), "private_logits": (1, len(bundle.private))}
        floats |= {"x": shape, "published": shape}
        arrays = {name: np.zeros(size, dtype=np.float32) for name, size in floats.items()}
        return arrays | {name: np.zeros(1, dtype=np.int64) for name in ("public", "private", "target")}

    def _bind(self, name: str, code: int | None) -> Bound:
        try:
            return Bound(self._sessions[name, code], self.arrays)
        except KeyError as error:
            raise BundleError(f"{self.bundle.folder}: step {name} has an unknown input or output {error}") from error


def inputs_for(bundle: Bundle, session: ort.InferenceSession, batch: int) -> dict[str, np.ndarray]:
    """Return arrays for every input and output of a step at a batch size; windows are the bundle's samples, scaled."""
    mean, deviation = (np.asarray(part, dtype=np.float32)[:, None] for part in (bundle.mean, bundle.deviation))
    arrays = {}
    generator = np.random.default_rng(0)
    for end in (*session.get_inputs(), *session.get_outputs()):
        shape = tuple(size if isinstance(size, int) else batch for size in end.shape)
        if end.name == "x":
            array = np.ascontiguousarray((bundle.samples(batch) - mean) / deviation, dtype=np.float32)
        elif end.type == "tensor(int64)":
            array = np.zeros(shape, dtype=np.int64)
        else:
            array = generator.standard_normal(shape).astype(np.float32)
        arrays[end.name] = array
    return arrays
