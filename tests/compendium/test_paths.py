"""Where the compendium lies."""

import pytest

from compendium import paths


@pytest.fixture
def checkout(tmp_path):
    for name in ("notebooks", "data", "lib"):
        (tmp_path / "here" / name).mkdir(parents=True)
    return tmp_path / "here"


def test_the_environment_comes_first(checkout, monkeypatch):
    monkeypatch.setenv("SENSORPRIVACY_HOME", str(checkout))
    assert paths.project_root() == checkout.resolve()
    assert paths.data_dir() == checkout.resolve() / "data"
    assert paths.build_dir() == checkout.resolve() / "build"


def test_results_of_a_read_only_checkout_go_elsewhere(checkout, monkeypatch, tmp_path):
    """REVIEW C15: figures could not go to another folder."""
    monkeypatch.setenv("SENSORPRIVACY_HOME", str(checkout))
    monkeypatch.setenv("SENSORPRIVACY_OUTPUT", str(tmp_path / "mine"))
    assert paths.build_dir() == tmp_path / "mine" / "build"
    assert paths.figures_dir("quick") == tmp_path / "mine" / "figures" / "quick"
    assert paths.data_dir() == checkout.resolve() / "data"


@pytest.mark.parametrize("name", ["{tmp}/mine", "mine", "./a b", "~/mine", "{tmp}/größe/", "../mine"])
def test_results_go_to_any_folder(name, checkout, monkeypatch, tmp_path):
    monkeypatch.setenv("SENSORPRIVACY_HOME", str(checkout))
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SENSORPRIVACY_OUTPUT", name.format(tmp=tmp_path))
    expected = (tmp_path / "me" / name[2:] if name[0] == "~" else tmp_path / name.format(tmp=tmp_path)).resolve()
    for folder in (paths.build_dir(), paths.figures_dir("paper"), paths.figures_dir("quick")):
        assert folder.is_relative_to(expected)
        assert not folder.is_relative_to(checkout)


def test_a_folder_that_is_no_checkout_is_refused_by_name(tmp_path, monkeypatch):
    monkeypatch.setenv("SENSORPRIVACY_HOME", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="SENSORPRIVACY_HOME"):
        paths.project_root()


def test_an_installed_package_finds_its_own_checkout(root, monkeypatch, tmp_path):
    monkeypatch.delenv("SENSORPRIVACY_HOME", raising=False)
    monkeypatch.chdir(tmp_path)
    assert paths.project_root() == root


def test_a_package_outside_of_a_checkout_is_told_so(monkeypatch, tmp_path):
    monkeypatch.delenv("SENSORPRIVACY_HOME", raising=False)
    monkeypatch.setattr(paths, "__file__", str(tmp_path / "site" / "lib" / "compendium" / "paths.py"))
    with pytest.raises(FileNotFoundError, match="point SENSORPRIVACY_HOME at the checkout"):
        paths.project_root()


def test_only_the_paper_profile_writes_what_is_committed(checkout, monkeypatch):
    monkeypatch.setenv("SENSORPRIVACY_HOME", str(checkout))
    assert paths.figures_dir("paper") == checkout.resolve() / "figures"
    assert paths.figures_dir("quick") == checkout.resolve() / "figures" / "quick"


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://ann:secret@host.example/data", "https://host.example/data"),
        ("http://ann:se@cret@host:8000", "http://host:8000"),
        ("http://ann:secret@[::1]:8000/a@b", "http://[::1]:8000/a@b"),
        ("http://host/a@b", "http://host/a@b"),
    ],
)
def test_the_remembered_address_of_a_mirror_has_no_password(checkout, monkeypatch, address, shown):
    monkeypatch.setenv("SENSORPRIVACY_HOME", str(checkout))
    monkeypatch.setenv("SENSORPRIVACY_MIRROR", address)
    assert paths.mirror() == address, "the password is used"
    paths.remember_mirror()
    assert (checkout / "build" / "mirror.txt").read_text() == f"{shown}\n"
    monkeypatch.delenv("SENSORPRIVACY_MIRROR")
    assert paths.mirror() == shown


@pytest.mark.parametrize("address", ["ftp://ann:secret@host", "ann:secret@host/data", "http://ann:sec/ret@host/data"])
def test_an_address_that_is_none_is_refused_without_its_password(checkout, monkeypatch, address):
    monkeypatch.setenv("SENSORPRIVACY_HOME", str(checkout))
    monkeypatch.setenv("SENSORPRIVACY_MIRROR", address)
    with pytest.raises(FileNotFoundError, match="SENSORPRIVACY_MIRROR") as refused:
        paths.remember_mirror()
    assert not [part for part in ("ann", "sec", "ret@") if part in str(refused.value)]
    assert not (checkout / "build" / "mirror.txt").exists()


def test_a_broken_address_of_the_mirror_names_its_variable(monkeypatch):
    monkeypatch.setenv("SENSORPRIVACY_MIRROR", "http://[::1")
    with pytest.raises(FileNotFoundError, match="SENSORPRIVACY_MIRROR is no valid address: Invalid IPv6 URL"):
        paths.mirror()
