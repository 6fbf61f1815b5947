"""Replace the fine detail that decoding loses by noise with the same spectrum."""

import numpy as np


def lost_spectra(lost: np.ndarray, private: np.ndarray, classes: int) -> np.ndarray:
    """Return the spectrum of what decoding lost, for each private class.

    Parameters
    ----------
    lost : numpy.ndarray of shape (n, channels, length)
        Scaled windows minus their reconstructions.
    private : numpy.ndarray of int, shape (n,)
        Private class of each window.
    classes : int
        Number of private classes. Each needs at least one window.

    Returns
    -------
    numpy.ndarray of float32, shape (classes, channels, length // 2 + 1)
        Root mean square of each Fourier coefficient.
    """
    power = np.abs(np.fft.rfft(lost, axis=2)) ** 2
    return np.stack([np.sqrt(power[private == code].mean(axis=0)) for code in range(classes)]).astype(np.float32)


def draw_noise(spectra: np.ndarray, length: int, generator: np.random.Generator) -> np.ndarray:
    """Draw stationary Gaussian noise with given spectra; channels are independent.

    Parameters
    ----------
    spectra : numpy.ndarray of shape (n, channels, length // 2 + 1)
        Root mean square of each Fourier coefficient, see `lost_spectra`.
    length : int
        Samples per window.
    generator : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    numpy.ndarray of float32, shape (n, channels, length)
    """
    white = np.fft.rfft(generator.standard_normal((*spectra.shape[:2], length)), axis=2) / np.sqrt(length)
    return np.fft.irfft(white * spectra, length, axis=2).astype(np.float32)
