# ruff: noqa: D103, E501 - the names of the short functions say what they do
"""Change valid files at random, and read them: each must end in success or in one line that names the file.

    python bench/hostile_inputs.py --full      # about five minutes; writes bench/results/hostile_inputs.csv and .md

A file of each kind is made once and changed once for each seed, so a failure is repeated by its kind and seed. Digests
are corrected after a change, as a forger would do. `tests/sensorrelease/test_hostile.py` runs the first seeds.
"""

import argparse
import copy
import hashlib
import json
import random
import resource
import shutil
import sqlite3
import tempfile
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

SEEDS, LEAST = 40, 2
VALUES = [None, True, -1, 0, 2.5, -5.0, 1e308, 10**30, float("nan"), float("inf"), "abc", "", "\x1b[2J", "../../etc/passwd",
          [], {}, [None], {"a": 1}, "1" * 5000, [[1]] * 9]  # fmt: skip
ROLES = {"task": "room", "user": "owner"}


def table(rows: int = 200) -> pd.DataFrame:
    """Return a table: load shows the room, voice the owner."""
    draw = np.random.default_rng(0)
    room, owner = draw.integers(0, 2, rows), draw.integers(0, 4, rows)
    columns = {"load": room + draw.normal(0, 0.2, rows), "voice": owner + draw.normal(0, 0.3, rows)}
    columns |= {"hour": draw.integers(0, 24, rows), "mode": draw.choice(["eco", "auto"], rows)}
    return pd.DataFrame(columns | {"room": np.where(room, "kitchen", "hall"), "owner": [f"p{one}" for one in owner]})


def change_value(content: Any, draw: random.Random) -> Any:
    """Return JSON values with one of them replaced, removed, doubled or buried in lists."""
    content = copy.deepcopy(content)
    inner, keys = content, []
    while isinstance(inner, dict | list) and inner and (not keys or draw.random() < 0.75):
        key = draw.choice(list(inner) if isinstance(inner, dict) else range(len(inner)))
        keys, before, inner = [*keys, key], inner, inner[key]
    if not keys:
        return draw.choice(VALUES)
    kind = draw.choice(["replace"] * 5 + ["remove", "add"])
    if kind == "remove":
        del before[keys[-1]]
    elif kind == "add" and isinstance(before, dict):
        before[draw.choice(["extra", "guarantees", "\x1b]0;x\x07"])] = draw.choice(VALUES)
    else:
        before[keys[-1]] = draw.choice(VALUES)
    return content


def change_bytes(content: bytes, draw: random.Random) -> bytes:
    """Return bytes with some of them replaced, cut off, doubled or moved."""
    changed = bytearray(content)
    for _ in range(draw.choice([1, 3, 30])):
        changed[draw.randrange(len(changed))] = draw.randrange(256)
    start = draw.randrange(len(changed))
    kind = draw.choice(["as it is", "cut", "repeat", "insert"])
    if kind == "cut":
        del changed[start:]
    elif kind == "repeat":
        changed += changed[start:]
    elif kind == "insert":
        changed[start:start] = draw.choice([b"[" * 50_000, b"\x00" * 100, b"\x1b[2J", b'"', b"9" * 400])
    return bytes(changed)


def in_bytes(file: Path, draw: random.Random) -> None:
    file.write_bytes(change_bytes(file.read_bytes(), draw))


# --- fitted defences ---


def fitted(word: Any) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        from sensorrelease.publishing.tables import publish

        publish(
            table(),
            defence=word,
            although_identifying=True,
            out=folder / "out",
            save=folder / "saved",
            accept_draft=True,
            **ROLES,
        )
        shutil.rmtree(folder / "out")

    return make


def change_folder(folder: Path, draw: random.Random) -> None:
    from sensorrelease.publishing.saved import write_saved

    file, step = folder / "saved" / "defence.json", folder / "saved" / "step.skops"
    if draw.random() < 0.15:
        return in_bytes(file, draw)
    content = json.loads(file.read_text())
    if step.exists() and draw.random() < 0.7:
        with zipfile.ZipFile(step) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        name = draw.choice(list(members))
        if name == "schema.json" and draw.random() < 0.8:
            members[name] = json.dumps(change_value(json.loads(members[name]), draw)).encode()
        else:
            members[name] = change_bytes(members[name], draw)
        with zipfile.ZipFile(step, "w") as archive:
            for name, inside in members.items():
                archive.writestr(name, inside)
    else:
        content = change_value(content, draw)
    kind = content.pop("format", "")
    rest = {name: value for name, value in content.items() if name not in ("digest", "files", "version")}
    return write_saved(folder / "saved", kind, rest)


def publish_again(folder: Path) -> None:
    from sensorrelease.publishing.tables import publish

    card = publish(table(), fitted=folder / "saved", out=folder / "again", although_identifying=True)
    assert "\x1b" not in card.to_markdown()


# --- results ---


def make_search(folder: Path) -> None:
    from sensorprivacy.minimize.search.results import ResultKey, ResultStore

    store = ResultStore(folder / "search.db", "digest")
    store.write(ResultKey(*["digest", "e", "m", "s", "p", "1"]), "task", {(0,): 0.5, (0, 1): 0.75})
    store.close()


def change_search(folder: Path, draw: random.Random) -> None:
    if draw.random() < 0.4:
        return in_bytes(folder / "search.db", draw)
    column, where = draw.choice([("accuracy", "scores"), ("subset", "scores"), ("label", "scores"), ("value", "meta")])
    value = draw.choice(["abc", -5, float("inf"), b"\xff", "1 x", "", 10**15, 1.0000001, "-1", "9" * 999])
    database = sqlite3.connect(folder / "search.db")
    if draw.random() < 0.15:
        database.execute(f"ALTER TABLE {where} RENAME TO gone")
    else:
        database.execute(f"UPDATE OR IGNORE {where} SET {column} = ?", (value,))
    database.commit()
    return database.close()


def read_search(folder: Path) -> None:
    from sensorprivacy.minimize.search.results import ResultKey, ResultStore

    store = ResultStore(folder / "search.db", "digest")
    try:
        key = ResultKey(*["digest", "e", "m", "s", "p", "1"])
        found = store.read(key, "task")
        assert all(0 <= share <= 1 for share in found.values())
        store.write(key, "task", {(1,): 0.5})
    finally:
        store.close()


def make_results(folder: Path) -> None:
    from sklearn.ensemble import RandomForestClassifier

    from sensorrelease.comparison import compare
    from sensorrelease.tables import own_problem

    table().to_csv(folder / "home.csv", index=False)
    problem = own_problem(folder / "home.csv", **ROLES)
    forest = RandomForestClassifier(5, random_state=0)
    compare(problem, ["none", "noise"], 5, model=forest, store=folder / "results.jsonl", progress=False)


def change_results(folder: Path, draw: random.Random) -> None:
    file = folder / "results.jsonl"
    if draw.random() < 0.3:
        return in_bytes(file, draw)
    lines = file.read_text().splitlines()
    at = draw.randrange(len(lines))
    lines[at] = json.dumps(change_value(json.loads(lines[at]), draw))
    file.write_text("\n".join(lines) + "\n")
    return None


def read_results(folder: Path) -> None:
    from sensorrelease.results import Store

    store = Store(folder / "results.jsonl")
    for key in store.found:
        result = store.restore(key, lambda *_: None)
        if result is not None:
            assert all(0 <= line.measure.score <= 1 for line in result.judged)


# --- models and bundles ---


def make_model(folder: Path) -> None:
    from sensorprivacy.data import Windows
    from sensorprivacy.latent import LatentAnonymizer, Settings, save
    from sensorprivacy.latent.networks import Sizes

    draw, n = np.random.default_rng(0), 96
    rows = pd.DataFrame({"act": np.tile(["a", "b"], n // 2), "sex": np.repeat(["f", "m"], n // 2)})
    facts = {"length": 16, "stride": 16, "rate": 50}
    windows = Windows(draw.normal(size=(n, 2, 16)), rows["act"], rows[["sex"]], np.arange(n) // 12,
                      np.arange(n) // 6, name="noise", provenance=facts)  # fmt: skip
    brief = Settings(1, 32)
    model = LatentAnonymizer("sex", vae=brief, inference=brief, sizes=Sizes((16, 8), 3)).fit(windows, progress=False)
    save(model, folder / "model.safetensors")


def change_model(folder: Path, draw: random.Random) -> None:
    from sensorprivacy.latent.files import read_parts, write_parts
    from sensorprivacy.latent.storage import FORMAT

    file = folder / "model.safetensors"
    if draw.random() < 0.3:
        return in_bytes(file, draw)
    header, parts = read_parts(file, FORMAT)
    changed = change_value(header, draw)
    if draw.random() < 0.2:
        changed = header | {"shape": [10**6, 10**6], "sizes": {"hidden": [10**6], "latent": 10**6}}
    return write_parts(file, FORMAT, changed, parts)


def read_model(folder: Path) -> None:
    from sensorprivacy.latent import load

    load(folder / "model.safetensors")


def make_bundle(folder: Path) -> None:
    network = b"not a network"
    (folder / "public.onnx").write_bytes(network)
    step = {"name": "public", "code": None, "file": "public.onnx", "sha256": hashlib.sha256(network).hexdigest(),
            "bytes": len(network), "kind": "MLP", "weights": 10, "macs": 10}  # fmt: skip
    manifest = {"format": "sensorprivacy-edge-bundle", "version": 1, "name": "n", "attribute": "sex", "rate": 50.0,
                "stride": 10, "channels": ["x", "y"], "length": 16, "precision": "float32", "trained": True,
                "mean": [0.0, 1.0], "deviation": [1.0, 1.0], "public": ["a", "b"], "private": ["f", "m"], "latent": 0,
                "modify": "deterministic", "mapping": [1, 0], "sampled": False, "steps": [step]}  # fmt: skip
    (folder / "manifest.json").write_text(json.dumps(manifest))
    np.save(folder / "windows.npy", np.zeros((4, 2, 16), np.float32))


def change_bundle(folder: Path, draw: random.Random) -> None:
    file = folder / "manifest.json"
    if draw.random() < 0.3:
        return in_bytes(draw.choice([file, folder / "windows.npy"]), draw)
    file.write_text(json.dumps(change_value(json.loads(file.read_text()), draw)))
    return None


def read_bundle(folder: Path) -> None:
    from sensorprivacy.edge.board import bundle

    found = bundle.read_bundle(folder)
    assert found.budget > 0
    found.samples(3)
    assert len(found.scale) == 2


# --- tables and descriptions ---


def written(name: str) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        suffix, data = name.partition(".")[2], table()
        if suffix.startswith("csv"):
            data.to_csv(folder / name, index=False)
        elif suffix == "jsonl":
            data.to_json(folder / name, orient="records", lines=True)
        else:
            {"parquet": data.to_parquet, "feather": data.to_feather, "xlsx": lambda to: data.to_excel(to, index=False)}[
                suffix
            ](folder / name)

    return make


def change_table(folder: Path, draw: random.Random) -> None:
    in_bytes(next(folder.glob("home.*")), draw)


def read_home(folder: Path) -> None:
    from sensorrelease.schema import draft, read

    file = next(folder.glob("home.*"))
    read(file, draft(file, **ROLES))


def make_description(folder: Path) -> None:
    text = (
        "fields:\n- name: x\n  role: withheld\n- name: who\n  role: user\nk: 2\nrecordings:\n  files: rec\n  rate: 50\n"
    )
    (folder / "recordings.schema.yaml").write_text(text)


def change_description(folder: Path, draw: random.Random) -> None:
    file = folder / "recordings.schema.yaml"
    if draw.random() < 0.5:
        return in_bytes(file, draw)
    lines = file.read_text().splitlines()
    at = draw.randrange(len(lines))
    new = [
        "../x",
        "nan",
        "-1",
        "[" * 3000 + "]" * 3000,
        '"a"',
        "[]",
        "true",
        "1e400",
        "0",
        '["a", "a"]',
        '"\\u001b[2J"',
    ]
    lines[at] = f"{lines[at].split(':')[0]}: {draw.choice(new)}"
    file.write_text("\n".join(lines))
    return None


def read_description(folder: Path) -> None:
    from sensorrelease.schema import load

    load(folder / "recordings.schema.yaml")


pipeline = make_pipeline(StandardScaler(), PCA(2))
KINDS: dict[str, tuple[Callable[[Path], None], Callable[[Path, random.Random], None], Callable[[Path], None]]] = {
    "fitted noise": (fitted("noise:epsilon=4"), change_folder, publish_again),
    "fitted three-way": (fitted("threeway:epsilon=4"), change_folder, publish_again),
    "fitted prediction": (fitted("prediction"), change_folder, publish_again),
    "fitted pipeline": (fitted(pipeline), change_folder, publish_again),
    "search results": (make_search, change_search, read_search),
    "results of compare": (make_results, change_results, read_results),
    "model": (make_model, change_model, read_model),
    "bundle": (make_bundle, change_bundle, read_bundle),
    **{name: (written(name), change_table, read_home)
       for name in ("home.csv", "home.csv.gz", "home.jsonl", "home.parquet", "home.feather", "home.xlsx")},
    "description": (make_description, change_description, read_description),
}  # fmt: skip


def outcome(kind: str, seed: int, valid: Path, folder: Path) -> str:
    """Return ``read``, ``refused: ...`` or ``fault: ...`` for a copy of a valid folder that is changed with a seed."""
    _, change, read = KINDS[kind]
    shutil.copytree(valid, folder, dirs_exist_ok=True)
    change(folder, random.Random(f"{kind} {seed}"))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            read(folder)
    except (ValueError, OSError) as error:
        said = str(error)
        return f"refused: {said}" if str(folder) in said or "the table" in said else f"fault: no file is named: {said}"
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise
        return f"fault: {type(error).__name__}: {error}"
    return "read"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--full", action="store_true", help="write the results")
    options.add_argument("--seeds", type=int, default=SEEDS)
    options.add_argument("--kinds", nargs="*", default=list(KINDS))
    given = options.parse_args()
    rows = []
    for kind in given.kinds:
        with tempfile.TemporaryDirectory() as root:
            valid = Path(root) / "valid"
            valid.mkdir()
            KINDS[kind][0](valid)
            KINDS[kind][2](shutil.copytree(valid, Path(root) / "unchanged"))  # must be read
            for seed in range(given.seeds):
                found = outcome(kind, seed, valid, Path(root) / str(seed))
                rows.append({"kind": kind, "seed": seed, "outcome": found.partition(":")[0]})
                if found.startswith("fault"):
                    print(kind, seed, ascii(found.replace(root, ""))[:300], flush=True)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(kind, pd.Series([row["outcome"] for row in rows if row["kind"] == kind]).value_counts().to_dict(),
              f"peak so far {peak:.0f} MB", flush=True)  # fmt: skip
    if given.full:
        place = Path(__file__).parent / "results"
        pd.DataFrame(rows).to_csv(place / "hostile_inputs.csv", index=False)
        counts = pd.DataFrame(rows).groupby("kind", sort=False)["outcome"].value_counts().unstack(fill_value=0)  # noqa: PD010
        lines = ["| kind | " + " | ".join(counts) + " |", "|---" * (1 + counts.shape[1]) + "|"]
        lines += [
            f"| {kind} | " + " | ".join(map(str, row)) + " |"
            for kind, row in zip(counts.index, counts.to_numpy(), strict=True)
        ]
        text = f"# {len(rows)} hostile inputs\n\nEach valid file was changed at random, see `bench/hostile_inputs.py`. "
        text += f"Peak memory of the process, with PyTorch: {peak:.0f} MB.\n\n"
        (place / "hostile_inputs.md").write_text(text + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
