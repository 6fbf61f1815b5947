"""What a reader has: the library from its wheel, and data of their own in a folder."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import dpkt
import numpy as np
import pandas as pd
import pytest

PEOPLE, ACTIVITIES = ("ann", "bob", "cem", "dee"), {"walk": 2, "jog": 4}


@pytest.fixture(scope="session")
def wheel(root, tmp_path_factory):
    """Return a folder with the library installed from its wheel, without this checkout."""
    source, target = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("installed")
    for name in ("pyproject.toml", "README.md", "LICENSE", "LICENSE-TEXT"):
        shutil.copy(root / name, source)
    for name in ("lib/sensorprivacy", "lib/sensorrelease"):
        shutil.copytree(root / name, source / name, ignore=shutil.ignore_patterns("*.pyc"))
    words = ["pip", "install", "--quiet", "--no-deps", "--no-index", "--no-build-isolation", "--target", target, source]
    subprocess.run([sys.executable, "-m", *map(str, words)], check=True, capture_output=True, text=True)
    assert not (target / "compendium").exists()
    for path in target.rglob("*.py"):  # the same files have been compiled for Python and by Numba in the checkout
        if (ours := root / "lib" / path.relative_to(target)).is_file() and ours.read_bytes() == path.read_bytes():
            shutil.copystat(ours, path)
            for made in (ours.parent / "__pycache__").glob(f"{ours.stem}.*"):
                (path.parent / "__pycache__").mkdir(exist_ok=True)
                shutil.copy2(made, path.parent / "__pycache__")
    return target


@pytest.fixture
def follow(wheel, root, tmp_path) -> Callable[..., str]:
    """Return a function that follows guides in a folder with a reader's files, and returns what was printed."""

    def followed(*guides: str, without: tuple[str, ...] = ()) -> str:
        pages = [str(root / "book" / "howto" / f"{guide}.md") for guide in guides]
        words = [sys.executable, str(Path(__file__).with_name("follow.py")), *pages, *without]
        away = ("SENSORPRIVACY_HOME", "SENSORPRIVACY_MIRROR")
        clean = {name: value for name, value in os.environ.items() if name not in away}
        clean |= {"PYTHONPATH": str(wheel), "PYTHONWARNINGS": "ignore", "MPLBACKEND": "agg"}
        done = subprocess.run(words, cwd=tmp_path, env=clean, capture_output=True, text=True)
        assert done.returncode == 0, f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
        return done.stdout

    return followed


@pytest.fixture
def home(root, tmp_path):
    """Copy the table of the guide on tables, with later rows beside it, and write the files to convert."""
    table = pd.read_csv(root / "book" / "howto" / "files" / "home.csv")
    table.to_csv(tmp_path / "home.csv", index=False)
    table.sample(60, random_state=1).assign(power=lambda rows: rows["power"].round()).to_csv(
        tmp_path / "new.csv", index=False
    )
    exports(tmp_path)
    return table


def exports(folder):
    """Write a history, an app's export, an annotated CSV of InfluxDB, a log of Zeek and a capture."""
    states = [f"sensor.{name},{state},2026-01-01T0{hour}:00:05Z" for hour in range(9) for name, state in
              (("lux", 10 * hour), ("power", "unavailable" if hour == 3 else hour))]  # fmt: skip
    (folder / "history.csv").write_text("\n".join(["entity_id,state,last_changed", *states]))
    (folder / "heart.csv").write_text("com.samsung.health.heart_rate,5,2\nheart_rate,device\n71,a,\n84,b,\n")
    uplink = '{"device": {"id": "a%d"}, "payload": {"temp": 2%d.5, "hum": 40}}\n'
    (folder / "uplinks.jsonl").write_text("".join(uplink % (at % 2, at) for at in range(4)))
    (folder / "spaces.dat").write_text("temp  hum\n21.5  40\n 9.5 141\n")
    (folder / "influx.csv").write_text(
        "#group,false,false\n#datatype,string,long\n,result,table,_time,_value,_field,host\n"
        ",,0,2026-01-01T00:00:00Z,21.5,temp,a\n,,0,2026-01-01T00:00:00Z,40,humidity,a\n"
    )
    (folder / "conn.log").write_text(
        "#separator \\x09\n#fields\tts\tid.orig_h\tduration\n#types\ttime\taddr\tinterval\n"
        "1.5\t10.0.0.1\t-\n2.5\t10.0.0.2\t.3\n"
    )
    draw = np.random.default_rng(0)
    with (folder / "capture.pcap").open("wb") as stream:
        writer = dpkt.pcap.Writer(stream)
        for at in range(400):
            protocol = (dpkt.ip.IP_PROTO_TCP, dpkt.ip.IP_PROTO_UDP)[draw.integers(2)]
            packet = dpkt.ip.IP(src=bytes([10, 0, 0, int(draw.integers(6))]), dst=bytes(4), p=protocol)
            packet.ttl, packet.data = int(draw.integers(30, 64)), bytes(int(draw.integers(10, 500)))
            packet.len = len(packet)
            writer.writepkt(bytes(dpkt.ethernet.Ethernet(data=packet)), ts=1e9 + at)


@pytest.fixture
def recordings(tmp_path):
    """Write recordings of the guide's two channels: frequency is the activity, height the gender."""
    draw = np.random.default_rng(0)
    (tmp_path / "recordings").mkdir()
    for at, who in enumerate(PEOPLE):
        for activity, frequency in ACTIVITIES.items():
            for session in (1, 2):
                samples = 700
                clock = np.arange(samples) / 50
                wave = 0.5 * (at % 2) + np.sin(2 * np.pi * frequency * clock / 2 + draw.normal())
                table = pd.DataFrame({"gyro_x": wave, "acc_x": 0.1 * (at % 2) - wave}) + draw.normal(
                    0, 0.1, (samples, 2)
                )
                file = tmp_path / "recordings" / f"{activity}_{who}_{session}.csv"
                table.assign(timestamp=clock).to_csv(file, index=False)
    pd.DataFrame({"person": PEOPLE, "gender": ["f", "m"] * 2}).to_csv(
        tmp_path / "recordings" / "people.csv", index=False
    )
    return tmp_path / "recordings"
