"""Snakemake's words and variables for this machine and for clusters; tests/cluster/ tries them on a real Slurm."""

import os
import sys
from pathlib import Path

import pytest

from compendium.run.executors import left_jobs, variables, words_for
from sensorprivacy.paths import cache_folder


def _program(folder: Path, name: str, code: int) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\nexit {code}\n")
    path.chmod(0o755)


def test_this_machine_needs_the_number_of_runs_only():
    assert words_for(None, 3) == ["--cores", "3"]


def test_an_executor_that_is_not_installed_is_named_with_its_remedy(monkeypatch):
    """Snakemake printed all its 150 options."""
    monkeypatch.setattr("compendium.run.executors.find_spec", lambda _: None)
    with pytest.raises(RuntimeError, match=r"no executor 'slurm' here.* pip install \"sensorprivacy\[cluster\]\""):
        words_for("slurm", 2)
    with pytest.raises(RuntimeError, match="pip install snakemake-executor-plugin-kubernetes"):
        words_for("kubernetes", 2)


@pytest.mark.skipif(os.name != "posix", reason="shell scripts stand for Slurm's commands")
def test_a_slurm_without_accounts_is_asked_by_squeue(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(OSError, match="there is no sbatch on this machine"):
        words_for("slurm", 2)
    _program(tmp_path, "sbatch", 0)
    for code, by_squeue in ((0, False), (1, True)):
        _program(tmp_path, "sacct", code)
        words = words_for("slurm", 2)
        assert words[2:6] == ["--executor", "slurm", "--jobs", "2"]
        assert ("squeue" in words) is by_squeue


@pytest.mark.skipif(os.name != "posix", reason="a shell script stands for squeue")
def test_jobs_that_an_ended_reproduce_left_are_found(tmp_path, monkeypatch):
    home, commands = tmp_path / "my checkout", tmp_path / "bin"
    for folder in (commands, *(home / name for name in ("notebooks", "data", "lib"))):
        folder.mkdir(parents=True)
    monkeypatch.setenv("SENSORPRIVACY_HOME", str(home))
    monkeypatch.setenv("PATH", str(commands))
    assert left_jobs() == []  # no Slurm here
    lines = [f"7|rule_10_table|{home}", "8|rule_10_table|/elsewhere", f"9|(null)|{home}", f"11|rule_20_b|{home}"]
    answer = "".join(f"echo '{line}'\n" for line in lines)
    for code, found in ((0, ["7", "11"]), (1, [])):
        (commands / "squeue").write_text(f"#!/bin/sh\n{answer}exit {code}\n")
        (commands / "squeue").chmod(0o755)
        assert left_jobs() == found


def test_jobs_keep_their_caches_in_the_checkout_and_data_sets_in_the_users_cache(tmp_path, monkeypatch):
    """The home folder may be read-only on the nodes of a cluster."""
    for name in ("notebooks", "data", "lib"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("SENSORPRIVACY_HOME", str(tmp_path))
    monkeypatch.delenv("SENSORPRIVACY_CACHE", raising=False)
    before, found = cache_folder(), variables()
    assert found["XDG_CACHE_HOME"] == str(tmp_path / "build" / "cache")
    assert found["PATH"].startswith(str(Path(sys.executable).parent))
    for name, value in found.items():
        monkeypatch.setenv(name, value)
    assert cache_folder() == before
