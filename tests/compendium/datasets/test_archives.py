"""Files in archives, at any depth, are found."""

import zipfile

import pytest

from compendium.datasets.archives import BROKEN, files_below, walk


def members(path):
    return {inner: opener().read() for inner, opener in walk(path)}


def test_zip_in_zip_in_zip_is_listed(tmp_path, kit):
    inner = kit.zipped({"data/a.csv": kit.A})
    kit.put(tmp_path, {"o.zip": kit.zipped({"m.zip": kit.zipped({"i.whl": inner}), "b.txt": kit.B})})
    assert members(tmp_path / "o.zip") == {("m.zip", "i.whl", "data/a.csv"): kit.A, ("b.txt",): kit.B}


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_walk_looks_into_tars_and_zips_in_each_other(tmp_path, kit, mode):
    suffix = {"w": ".tar", "w:gz": ".tgz", "w:bz2": ".tar.bz2", "w:xz": ".tar.xz"}[mode]
    tar = kit.tarred({"x/in.zip": kit.zipped({"a.csv": kit.A}), "x/b.txt": kit.B}, mode)
    kit.put(tmp_path, {"o.zip": kit.zipped({f"t{suffix}": tar})})
    assert members(tmp_path / "o.zip") == {(f"t{suffix}", "x/in.zip", "a.csv"): kit.A, (f"t{suffix}", "x/b.txt"): kit.B}


def test_walk_yields_a_file_that_is_no_archive(tmp_path, kit):
    kit.put(tmp_path, {"a.csv": kit.A})
    ((inner, opener),) = walk(tmp_path / "a.csv")
    with opener() as stream:
        assert (inner, stream.read()) == ((), kit.A)


def test_a_bomb_of_nested_zips_is_not_followed_for_ever(tmp_path, kit):
    content = kit.zipped({"a.csv": kit.A})
    for _ in range(12):
        content = kit.zipped({"next.zip": content})
    kit.put(tmp_path, {"o.zip": content})
    (inner,) = members(tmp_path / "o.zip")
    assert inner == ("next.zip",) * len(inner)


@pytest.mark.parametrize("name", ["x.zip", "x.tar", "x.tar.gz", "x.tar.xz", "x.tar.bz2"])
@pytest.mark.parametrize("damage", ["cut", "noise"])
def test_damage_is_an_error_of_a_known_kind(tmp_path, kit, name, damage):
    modes = {"x.tar": "w", "x.tar.gz": "w:gz", "x.tar.xz": "w:xz", "x.tar.bz2": "w:bz2"}
    noise = bytes(range(256)) * 200
    whole = kit.tarred({"a": noise}, modes[name]) if name in modes else kit.zipped({"a": noise})
    broken = whole[: len(whole) // 2] if damage == "cut" else b"\0\1\2\3" * 40 + whole[160:]
    kit.put(tmp_path, {name: broken})
    with pytest.raises((*BROKEN, OSError)) as caught:
        [opener().read() for _, opener in walk(tmp_path / name)]
    assert isinstance(caught.value, BROKEN), "what reading damaged archives raises must be in BROKEN"


def test_hidden_files_are_not_data(tmp_path, kit):
    kit.put(tmp_path, {"a.csv": kit.A, ".b": kit.B, ".partial/a.csv": kit.B, "d/c": kit.B})
    assert [path.relative_to(tmp_path).as_posix() for path in files_below(tmp_path)] == ["a.csv", "d/c"]
    assert list(files_below(tmp_path / "none")) == []


def test_a_zip_without_readable_directory_is_broken(tmp_path):
    (tmp_path / "x.zip").write_bytes(b"PK\3\4 not a zip")
    with pytest.raises(zipfile.BadZipFile):
        list(walk(tmp_path / "x.zip"))
