"""Each command that a message of the data sets prints runs as it is printed, in a shell at the checkout."""

import re
import shlex
import subprocess
import sys

import pytest

from compendium.datasets import finding, store
from compendium.datasets.catalogue import lookup
from compendium.datasets.errors import CorruptDataError, DataUnavailableError
from compendium.paths import command

COMMAND = r"(?:\.venv/bin/)?compendium(?: [a-z0-9-]+)+"


@pytest.fixture
def checkout(toys, machine, tmp_path, web, kit, monkeypatch):
    """A checkout whose installed command has the toy catalogue, and whose hosts are a local server."""
    web.files["/toy.zip"] = kit.zipped({"a.csv": kit.A, "deep/b.txt": kit.B})
    origin = f'form = "plain"\nurl = "{web.url}/toy.zip"'
    toys(origin)
    program = f"""
import runpy, sys
toys = runpy.run_path({str(kit.path)!r})
toys["use_text"](toys["toy_text"]({origin!r}))
from compendium.cli import main
sys.exit(main())
"""
    home = machine.parents[1]
    (home / "program.py").write_text(program)
    for folder in (".venv/bin", "elsewhere"):
        installed = home / folder / "compendium"
        installed.parent.mkdir(parents=True)
        installed.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {home}/program.py "$@"\n')
        installed.chmod(0o755)
    monkeypatch.setenv("PYTHONPATH", str(kit.path.parents[3] / "lib"))
    return home


def printed_by(act, *given, **options):
    with pytest.raises((DataUnavailableError, CorruptDataError)) as caught:
        act(*given, **options)
    return str(caught.value)


def typed(line, home):
    return subprocess.run(line, shell=True, cwd=home, capture_output=True, text=True, check=False, timeout=60)


def remedies(machine, kit):
    """Return every message of the data sets that prints a command, by its place."""
    found = {
        "declined": printed_by(store.fetch, "toy", download=False),
        "verify": printed_by(store.verify, "toy"),
        "none present": printed_by(store.present, ["toy", "large"]),
        "state": store.state("toy")["how"],
        "remedy": finding.remedy(lookup("toy")),
    }
    kit.put(machine / "toy-folder", {"a.csv": b"damaged"})
    found["corrupt"] = printed_by(store.fetch, "toy")
    (machine / "toy-folder" / "a.csv").unlink()
    return found


@pytest.mark.parametrize("place", ["declined", "verify", "none present", "state", "remedy", "corrupt"])
def test_the_command_of_a_message_downloads_the_set(checkout, machine, kit, place):
    """`python -m compendium data fetch motionsense` said: No module named compendium."""
    line = re.search(COMMAND, remedies(machine, kit)[place])[0]
    assert line == ".venv/bin/compendium data fetch toy"
    done = typed(line, checkout)
    assert (done.returncode, done.stdout) == (0, f"toy: {machine / 'toy-folder'}\n"), done.stderr
    assert store.available("toy")


def test_the_commands_that_the_command_line_prints(checkout):
    listed = typed(".venv/bin/compendium data list", checkout)
    shown = typed(re.search(COMMAND + "$", listed.stdout.strip())[0].replace("adult", "toy"), checkout)
    assert shown.returncode == 0, shown.stderr
    assert "make it yourself" in shown.stdout
    nameless = typed(".venv/bin/compendium data fetch", checkout)
    assert nameless.returncode == 2
    assert typed(re.search(COMMAND + "$", nameless.stderr.strip())[0], checkout).stdout == listed.stdout


def test_in_an_environment_of_the_user_the_command_is_on_the_path(checkout, monkeypatch):
    for each in (".venv/bin/compendium", ".venv/bin", ".venv"):
        (checkout / each).unlink() if each.endswith("compendium") else (checkout / each).rmdir()
    monkeypatch.setenv("PATH", f"{checkout / 'elsewhere'}:/usr/bin:/bin")
    line = store.state("toy")["how"]
    assert line == "compendium data fetch toy"
    assert typed(line, checkout).returncode == 0
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    assert command("data list") == ".venv/bin/compendium data list", "make will put it there"


def test_no_message_names_a_python_that_lacks_the_package(root):
    texts = [
        path.read_text(encoding="utf-8")
        for path in (root / "lib" / "compendium" / "datasets").iterdir()
        if path.is_file()
    ]
    assert not [text for text in texts if "python -m compendium" in text]


def test_the_word_that_declines_downloads_reaches_the_command(root):
    for words, expected in (("DATA=no", True), ("", False), ("DATA=yes", False)):
        done = typed(f"make -n reproduce {words} PYTHON={shlex.quote(sys.executable)}", root)
        assert done.returncode == 0, done.stderr
        assert (" --no-data" in done.stdout) == expected
