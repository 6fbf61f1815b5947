import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensorprivacy.data import Windows
from sensorprivacy.latent import LatentAnonymizer, SeededSource
from sensorprivacy.latent.modify import draw_noise, lost_spectra


@given(st.integers(0, 2**31), st.sampled_from([16, 17, 32]))
def test_noise_has_the_spectrum_that_was_lost(seed: int, length: int) -> None:
    generator = np.random.default_rng(seed)
    # two private classes, two channels: a slow wave in one, white noise in the other, of another height by class
    time = np.arange(length)
    private = np.arange(200) % 2
    slow = np.sin(2 * np.pi * (2 * time / length + generator.random((200, 1))))
    lost = (1 + 2 * private)[:, None, None] * np.stack([slow, generator.normal(size=(200, length))], axis=1)
    roots = lost_spectra(lost, private, 2)
    noise = draw_noise(roots[private], length, np.random.default_rng(seed + 1))
    assert roots.shape == (2, 2, length // 2 + 1)
    assert noise.shape == lost.shape
    # the slow wave stays in its line of the spectrum, and the white noise has its deviation
    power = (np.abs(np.fft.rfft(noise[:, 0], axis=1)) ** 2).mean(axis=0)
    assert power[2] > 0.99 * power.sum()
    for code in (0, 1):
        among = private == code
        assert np.isclose(noise[among].std(axis=(0, 2)), lost[among].std(axis=(0, 2)), rtol=0.3).all()


def test_noise_does_not_depend_on_the_window(anonymizer: LatentAnonymizer, unseen: Windows) -> None:
    plain, rough = anonymizer.with_(sampled=False), anonymizer.with_(sampled=False, spectral_noise=1.0)
    scale = np.array(anonymizer.models_.scaler.deviation)[:, None]
    found = plain.anonymize(unseen, SeededSource(5))
    # other windows of the same inferred classes in the same places get the same noise
    order = np.arange(unseen.n_windows)
    for code in np.unique(found.public):
        for private in np.unique(found.private):
            rows = np.flatnonzero((found.public == code) & (found.private == private))
            order[rows] = np.roll(rows, 1)
    noises = []
    for some in (unseen, unseen.take(order)):
        smooth, noisy = (one.anonymize(some, SeededSource(5)) for one in (plain, rough))
        noises.append((noisy.windows.values - smooth.windows.values) / scale)
    assert np.allclose(*noises, atol=1e-4)
    for code in np.unique(found.public):
        for target in np.unique(found.target):
            rows = (found.public == code) & (found.target == target)
            expected = anonymizer.lost_spectra_[code][target]  # a window's coefficients have this root mean square
            power = np.sqrt((np.abs(np.fft.rfft(noises[0][rows], axis=2)) ** 2).mean(axis=0))
            assert np.allclose(power[:, 1:-1], expected[:, 1:-1], rtol=0.6)
    assert abs(np.corrcoef(noises[0].ravel(), found.windows.values.ravel())[0, 1]) < 0.05


@pytest.mark.parametrize("spectral_noise", [-0.1, 1.5, float("nan")])
def test_the_amount_of_noise_is_checked(anonymizer: LatentAnonymizer, unseen: Windows, spectral_noise: float) -> None:
    with pytest.raises(ValueError, match=r"spectral_noise=.* is out of range: give a number from 0 to 1"):
        anonymizer.with_(spectral_noise=spectral_noise).transform(unseen)
