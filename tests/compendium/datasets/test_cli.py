"""``data list | fetch | verify | where`` as a user types them."""

import pytest

from compendium.cli import main
from compendium.datasets import catalogue as catalogue_module
from compendium.datasets import cli


def run(*words):
    return main(["data", *words])


def test_list_shows_every_set_with_size_licence_and_presence(machine, capsys):
    assert run("list") == 0
    shown = " ".join(capsys.readouterr().out.split())
    for entry in catalogue_module.catalogue().values():
        assert entry.name in shown
    for words in ("72 MB", "CC BY 4.0", "by hand", "no"):
        assert words in shown


def test_list_of_one_set_is_its_card(mirror, machine, capsys, monkeypatch):
    monkeypatch.setenv("SENSORPRIVACY_MIRROR", str(mirror))
    assert run("list", "titanic", "mobiact") == 0
    shown = capsys.readouterr().out
    for words in (
        "yes, ",
        "titanic.zip",
        "891 + 418 rows",
        "not redistributable",
        "on request from its owner",
        "here     no",
    ):
        assert words in shown


def test_list_goes_on_past_a_corrupt_set(toys, machine, kit, capsys, monkeypatch):
    monkeypatch.setattr(cli, "catalogue", catalogue_module.catalogue)
    kit.put(machine / "toy-folder", {"a.csv": b"x"})
    assert run("list") == 0
    shown = capsys.readouterr().out
    assert "corrupt" in shown
    assert "asked" in shown


def test_fetch_of_an_absent_set_is_one_line_and_exit_code_1(toys, machine, kit, capsys):
    kit.put(machine / "toy-folder", {"a.csv": kit.A, "deep/b.txt": kit.B})
    assert run("fetch", "asked", "toy") == 1
    told = capsys.readouterr()
    assert told.err.count("\n") == 1
    assert "ask the owner" in told.err
    assert told.out == f"toy: {machine / 'toy-folder'}\n", "the others are fetched all the same"
    assert run("fetch", "toy") == 0


def test_fetch_of_all_minds_only_corrupt_sets(toys, machine, kit, capsys, monkeypatch):
    monkeypatch.setattr(cli.store, "catalogue", catalogue_module.catalogue)
    kit.put(machine / "toy-folder", {"a.csv": kit.A, "deep/b.txt": kit.B})
    assert run("fetch", "--all") == 0
    told = capsys.readouterr()
    assert (told.out.count("\n"), told.err.count("ask the owner")) == (1, 1)
    kit.put(machine / "toy-folder", {"a.csv": b"x"})
    assert run("fetch", "--all") == 1
    assert run("fetch") == 2
    assert "name data sets or give --all" in capsys.readouterr().err


def test_verify(toys, machine, kit, capsys):
    assert run("verify", "toy") == 1
    assert "not on this machine" in capsys.readouterr().err
    kit.put(machine / "toy-folder", {"a.csv": kit.A, "deep/b.txt": kit.B})
    assert run("verify", "toy") == 0
    assert "2 members verified, digest" in capsys.readouterr().out
    kit.put(machine / "toy-folder", {"a.csv": kit.A[:-1]})
    assert run("verify", "toy") == 1
    assert kit.sha(kit.A) in capsys.readouterr().err


def test_where_prints_the_path_and_nothing_else(toys, machine, kit, capsys):
    assert run("where", "toy") == 1
    assert capsys.readouterr().out == ""
    kit.put(machine / "toy-folder", {"a.csv": kit.A, "deep/b.txt": kit.B})
    assert run("where", "toy") == 0
    assert capsys.readouterr().out == f"{machine / 'toy-folder'}\n"


@pytest.mark.parametrize("action", ["list", "fetch", "verify", "where"])
def test_unknown_set(machine, action, capsys):
    assert run(action, "titanik") == 1
    assert "Did you mean 'titanic'" in capsys.readouterr().err


def test_a_misspelt_name_is_told_before_anything_is_fetched(toys, machine, monkeypatch):
    monkeypatch.setattr(cli.store, "fetch", lambda *_, **__: pytest.fail("fetched"))
    assert run("fetch", "toy", "toi") == 1


def test_help_names_the_places(capsys):
    assert run("--help") == 0
    assert "SENSORPRIVACY_MIRROR" in capsys.readouterr().out


@pytest.mark.parametrize("words", [[], ["verify"], ["where", "a", "b"], ["remove", "adult"]])
def test_misuse_is_exit_code_2(words):
    assert run(*words) == 2
