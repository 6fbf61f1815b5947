"""Errors in a bundle name the file and the remedy."""

import json
import shutil

import numpy as np
import pytest

from sensorprivacy.edge.board.bundle import MANIFEST, BundleError, digest, find_bundles, read_bundle
from sensorprivacy.edge.board.pipeline import Pipeline


@pytest.fixture
def copy(bundle, tmp_path):
    return shutil.copytree(bundle.folder, tmp_path / "bundle")


def change(folder, **fields):
    path = folder / MANIFEST
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))


def test_reading_a_bundle_returns_what_was_written(copy, bundle):
    found = read_bundle(copy)
    assert found.steps == bundle.steps
    assert found.step("encoder", 1).file == "encoder-1.onnx"
    with pytest.raises(BundleError, match="has no step encoder 7"):
        found.step("encoder", 7)


def test_a_truncated_file_is_named(copy):
    path = copy / "decoder-0.onnx"
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(BundleError, match=rf"decoder-0.onnx is truncated: {len(content) // 2} bytes, expected"):
        read_bundle(copy)
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(BundleError, match=r"decoder-0.onnx is damaged: SHA-256"):
        read_bundle(copy)
    path.unlink()
    with pytest.raises(BundleError, match=r"decoder-0\.onnx is missing: copy the whole folder, or export it again"):
        read_bundle(copy)


def test_onnxruntime_refuses_a_truncated_file_that_the_manifest_agrees_with(copy):
    path = copy / "public.onnx"
    path.write_bytes(path.read_bytes()[:500])
    steps = json.loads((copy / MANIFEST).read_text())["steps"]
    change(copy, steps=[s | ({"bytes": 500, "sha256": digest(path)} if s["file"] == path.name else {}) for s in steps])
    with pytest.raises(BundleError, match=r"public.onnx: onnxruntime .* cannot read it"):
        Pipeline(read_bundle(copy))


def test_a_manifest_of_another_version_or_kind_is_refused(copy):
    change(copy, version=2)
    with pytest.raises(BundleError, match="has version 2, expected 1: export the bundle again"):
        read_bundle(copy)
    change(copy, version=1, colour="blue")
    with pytest.raises(BundleError, match=r"a field is missing or unknown: .*colour"):
        read_bundle(copy)
    change(copy, format="diary")
    with pytest.raises(BundleError, match="is not the manifest of a bundle"):
        read_bundle(copy)
    (copy / MANIFEST).write_text("{")
    with pytest.raises(BundleError, match="is damaged"):
        read_bundle(copy)
    (copy / MANIFEST).unlink()
    with pytest.raises(FileNotFoundError, match="make a bundle with `sensorprivacy edge export`"):
        read_bundle(copy)


def test_bundles_are_found_in_a_folder(copy, tmp_path):
    assert find_bundles(copy) == find_bundles(tmp_path) == [copy]
    with pytest.raises(FileNotFoundError, match="no bundle in"):
        find_bundles(tmp_path / "bundle" / "nothing")


def test_samples_of_another_shape_are_refused(copy):
    np.save(copy / "windows.npy", np.zeros((4, 3, 32), dtype=np.float32))
    with pytest.raises(BundleError, match=r"holds windows of shape \(3, 32\), but the bundle takes \(2, 32\)"):
        read_bundle(copy).samples(2)
    (copy / "windows.npy").write_bytes(b"no array")
    with pytest.raises(BundleError, match=r"windows.npy is damaged"):
        read_bundle(copy).samples(2)
