"""The result of an anonymizer: published windows, and the codes behind them, which are not published."""

from dataclasses import dataclass

import numpy as np

from sensorprivacy.data import Windows


@dataclass(frozen=True)
class Anonymized:
    """Anonymized windows, and the classes that the device inferred.

    Attributes
    ----------
    windows : Windows
        The published windows, with their true labels for evaluation.
    public, private : numpy.ndarray of int64
        Inferred classes, as codes.
    target : numpy.ndarray of int64
        Private class that each window was moved to.
    distortion : float
        Mean squared difference from the original, in units of each channel's deviation.
    donor : numpy.ndarray of int64
        Code of the training person whose latent is published, in the order of ``people_``; -1 if it is nobody's.
    """

    windows: Windows
    public: np.ndarray
    private: np.ndarray
    target: np.ndarray
    distortion: float
    donor: np.ndarray
