"""Fine detail of a window that decoding loses: its spectrum, and noise of that spectrum to publish in its place."""

import numpy as np


def spectra(lost: np.ndarray, private: np.ndarray, classes: int) -> np.ndarray:
    """Return the root mean square of the Fourier coefficients of what was lost, by private class.

    Parameters
    ----------
    lost : numpy.ndarray of shape (n, channels, length)
        Windows less their reconstructions, scaled.
    private : numpy.ndarray of int, shape (n,)
        Private class of each.
    classes : int
        Number of private classes, each with a window at least.

    Returns
    -------
    numpy.ndarray of float32, shape (classes, channels, length // 2 + 1)
    """
    power = np.abs(np.fft.rfft(lost, axis=2)) ** 2
    return np.stack([np.sqrt(power[private == code].mean(axis=0)) for code in range(classes)]).astype(np.float32)


def drawn(roots: np.ndarray, length: int, generator: np.random.Generator) -> np.ndarray:
    """Return Gaussian noise of given spectra: stationary, channels independent of each other.

    Parameters
    ----------
    roots : numpy.ndarray of shape (n, channels, length // 2 + 1)
        Root mean square of each coefficient, see `spectra`.
    length : int
        Samples of a window.
    generator : numpy.random.Generator
        Randomness.

    Returns
    -------
    numpy.ndarray of float32, shape (n, channels, length)
    """
    white = np.fft.rfft(generator.standard_normal((*roots.shape[:2], length)), axis=2) / np.sqrt(length)
    return np.fft.irfft(white * roots, length, axis=2).astype(np.float32)
