from pathlib import Path

import numpy as np
import pytest
from safetensors.torch import load_file

from sensorprivacy.data import Windows
from sensorprivacy.latent import Classifier, Codebook, LatentAnonymizer, ModelFileError, SeededSource, load, save
from sensorprivacy.latent.files import read_parts, write_parts
from sensorprivacy.latent.storage import FORMAT


@pytest.fixture
def saved(anonymizer: LatentAnonymizer, tmp_path: Path) -> Path:
    return save(anonymizer, tmp_path / "kept.safetensors")


def rewritten(path: Path, drop: str = "", kind: str = FORMAT, **changes: object) -> Path:
    """Return a copy with another kind or header, or without a part; its digest is right."""
    header, parts = read_parts(path, FORMAT)
    other = path.with_name("other.safetensors")
    write_parts(other, kind, header | changes, {name: part for name, part in parts.items() if name != drop})
    return other


def test_a_loaded_anonymizer_publishes_the_same(anonymizer: LatentAnonymizer, saved: Path, unseen: Windows) -> None:
    again = load(saved)
    one, two = (some.transform(unseen, SeededSource(2)).values for some in (anonymizer, again))
    assert np.array_equal(one, two)
    assert again.modify == anonymizer.modify
    assert again.models_.public.classes == ("jog", "walk")


def test_a_transfer_with_parameters_is_restored(anonymizer: LatentAnonymizer, tmp_path: Path, unseen: Windows) -> None:
    book = anonymizer.with_(
        transfer=Codebook(2, own=True), modify="uniform", bijection={"male": "female", "female": "male"}
    )
    again = load(save(book, tmp_path / "book.safetensors"))
    assert again.transfer == Codebook(2, own=True)
    assert again.bijection == {"male": "female", "female": "male"}
    one, two = (some.transform(unseen, SeededSource(2)).values for some in (book, again))
    assert np.array_equal(one, two)


def test_spectral_noise_and_second_reader_are_restored(
    anonymizer: LatentAnonymizer, second_reader: Classifier, tmp_path: Path, unseen: Windows
) -> None:
    ours = anonymizer.with_(spectral_noise=0.5, second_reader=second_reader, redraw=3)
    again = load(save(ours, tmp_path / "ours.safetensors"))
    assert again.spectral_noise == 0.5
    assert again.second_reader is not None
    assert again.second_reader.kind == "conv1d"
    one, two = (some.transform(unseen, SeededSource(2)).values for some in (ours, again))
    assert np.array_equal(one, two)


def test_training_latents_are_not_saved(saved: Path) -> None:
    assert not any(name.startswith("latents") for name in load_file(saved))
    assert not hasattr(load(saved), "latents_")


def test_another_kind_or_version_is_refused(saved: Path) -> None:
    with pytest.raises(ModelFileError, match="holds 'something', not 'sensorprivacy-anonymizer-5': fit and save again"):
        load(rewritten(saved, kind="something"))


@pytest.mark.parametrize("place", [-1, 100])
def test_a_changed_byte_is_refused(saved: Path, place: int) -> None:
    content = bytearray(saved.read_bytes())
    content[place] ^= 1
    saved.write_bytes(content)
    with pytest.raises(ModelFileError, match=r"was changed|damaged"):
        load(saved)


@pytest.mark.parametrize("drop", ["vae.1", "public", "statistics.0", "lost.1"])
def test_missing_parts_are_reported(saved: Path, drop: str) -> None:
    with pytest.raises(ModelFileError, match="parts do not fit together"):
        load(rewritten(saved, drop))


def test_parts_of_another_network_are_reported(saved: Path) -> None:
    sizes = read_parts(saved, FORMAT)[0]["sizes"] | {"latent": 7}
    with pytest.raises(ModelFileError, match="parts do not fit together"):
        load(rewritten(saved, sizes=sizes))


def test_a_damaged_or_absent_file_is_reported(saved: Path) -> None:
    saved.write_bytes(saved.read_bytes()[:2000])
    with pytest.raises(ModelFileError, match="damaged or not a safetensors file"):
        load(saved)
    with pytest.raises(FileNotFoundError, match="no saved anonymizer"):
        load(saved.with_name("none"))


def test_the_file_holds_no_pickle(saved: Path) -> None:
    assert FORMAT.encode() in saved.read_bytes()[:20000]
    import pickle

    with pytest.raises(pickle.UnpicklingError), saved.open("rb") as file:
        pickle.load(file)
