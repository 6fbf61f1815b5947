"""Run Algorithm 1 of paper 3 with onnxruntime: one window at a time without allocating, or many at once."""

from dataclasses import dataclass

import numpy as np
import onnxruntime as ort

from sensorprivacy.edge.board.bundle import Bundle, BundleError
from sensorprivacy.latent.modify import RandomSource, SecretSource, generator_of, targets

_TYPES = {"tensor(float)": np.float32, "tensor(int64)": np.int64}


@dataclass(frozen=True)
class Published:
    """Hold anonymized windows and the classes that the device inferred, for n windows.

    Attributes
    ----------
    values : numpy.ndarray of float32, shape (n, channels, length)
        Windows, in the channels' own units.
    public, private, target : numpy.ndarray of int64
        Inferred classes, and the private class that each window was moved to.
    """

    values: np.ndarray
    public: np.ndarray
    private: np.ndarray
    target: np.ndarray


class Bound:
    """Bind the inputs and outputs of a session to fixed arrays, so that a call allocates nothing.

    Parameters
    ----------
    session : onnxruntime.InferenceSession
        Session to run.
    arrays : dict of str to numpy.ndarray
        One array for each input and output name. Sessions that share an array pass their results on through it.
    """

    def __init__(self, session: ort.InferenceSession, arrays: dict[str, np.ndarray]) -> None:
        self._session, self._arrays = session, arrays
        self._binding = session.io_binding()
        for bind, ends in ((self._binding.bind_input, session.get_inputs()),
                           (self._binding.bind_output, session.get_outputs())):  # fmt: skip
            for end in ends:
                array = arrays[end.name]
                if array.dtype != _TYPES[end.type]:
                    raise BundleError(f"{end.name} is {end.type}, expected {array.dtype}: export the bundle again")
                bind(end.name, "cpu", 0, array.dtype.type, list(array.shape), array.ctypes.data)

    def run(self) -> None:
        """Read the input arrays and write the output arrays."""
        self._session.run_with_iobinding(self._binding)


class Pipeline:
    """Anonymize windows with the networks of a bundle.

    Parameters
    ----------
    bundle : Bundle
        Bundle with all steps of the pipeline.
    threads : int
        Threads of onnxruntime.

    Raises
    ------
    BundleError
        If a step is missing, or its file does not hold the expected network.
    """

    def __init__(self, bundle: Bundle, *, threads: int = 1) -> None:
        if not bundle.anonymizes:
            present = ", ".join(step.title for step in bundle.steps)
            raise BundleError(f"{bundle.folder} holds a part of the pipeline only, {present}: choose another bundle")
        self.bundle, self._source = bundle, SecretSource()
        self._generator = generator_of(self._source)
        self._mapping = np.asarray(bundle.mapping)
        self._mean, self._deviation = bundle.scale
        self._targets(np.zeros(1, dtype=np.int64), self._source)  # refuses an unknown `modify` now
        needed = [bundle.step(name) for name in ("public", "private", "transformation")]
        for code in range(len(bundle.public)):
            needed += [bundle.step("encoder", code), bundle.step("decoder", code)]
        self._sessions = {(step.name, step.code): bundle.open(step, threads) for step in needed}
        self.arrays = self._buffers()
        try:
            self._bound = {key: Bound(session, self.arrays) for key, session in self._sessions.items()}
        except KeyError as error:
            raise BundleError(f"{bundle.folder}: a network has an unknown input or output {error}") from error

    def anonymize_one(self, window: np.ndarray, out: np.ndarray) -> int:
        """Anonymize one window, and allocate no memory that stays in use.

        Parameters
        ----------
        window : numpy.ndarray of float32, shape (channels, length)
            Window in the channels' units; it is not changed.
        out : numpy.ndarray of float32, shape (channels, length)
            Array that receives the anonymized window.

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
        arrays["target"][:] = self._targets(arrays["private"], self._source)
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
            Windows in the channels' units.
        source : RandomSource, optional
            Source of randomness; by default this pipeline's own. The same source gives the same random draws as in
            `LatentAnonymizer`.

        Raises
        ------
        ValueError
            If the windows have another shape.
        """
        if values.ndim != 3 or values.shape[1:] != self.bundle.shape:
            raise ValueError(f"windows of shape {values.shape}: this bundle takes n x {self.bundle.shape}")
        source = source or self._source
        x = ((values - self._mean) / self._deviation).astype(np.float32)
        public, private = (self._run(name, None, x=x)[0].argmax(axis=1) for name in ("public", "private"))
        target = self._targets(private, source)
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

    def _targets(self, private: np.ndarray, source: RandomSource) -> np.ndarray:
        return targets(private, self.bundle.modify, self._mapping, source)  # type: ignore[arg-type]

    def _run(self, name: str, code: int | None, **given: np.ndarray) -> list[np.ndarray]:
        return self._sessions[name, code].run(None, given)

    def _buffers(self) -> dict[str, np.ndarray]:
        """Return the arrays of one window through which the steps pass their results on."""
        bundle, shape = self.bundle, (1, *self.bundle.shape)
        floats: dict[str, tuple[int, ...]] = dict.fromkeys(("mean", "log_variance", "noise", "z"), (1, bundle.latent))
        floats |= {"public_logits": (1, len(bundle.public)), "private_logits": (1, len(bundle.private))}
        floats |= {"x": shape, "published": shape}
        arrays = {name: np.zeros(size, dtype=np.float32) for name, size in floats.items()}
        return arrays | {name: np.zeros(1, dtype=np.int64) for name in ("public", "private", "target")}
