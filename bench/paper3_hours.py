"""Count the minutes of each part of a run of paper 3, without waiting for them.

The notebook runs as it is, but of each shape of training only two epochs are made. All other epochs are counted with
the second one's processor time, up to the greatest number (early stopping makes fewer; `STOPPED` has known ones). All
else is computed and measured: publications, re-encoding, attackers, judges. Untrained networks would misread
everything, so a fixed share of windows is redrawn. The results of such a run mean nothing: they go to a folder that is
deleted.

    python bench/paper3_hours.py 31_reidentification_attack-motionsense-gender
"""

import collections
import os
import sys
import tempfile
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pandas as pd

from compendium.papers.paper3 import rivals, tuning
from compendium.run.parameters import code_cells
from compendium.run.runs import read_runs
from sensorprivacy import latent
from sensorprivacy.latent import adversaries, inference, measures, scene, study, training, trainings, utility
from sensorprivacy.latent import rivals as networks

MISREAD, AGAIN = 0.10, 0.75  # share of windows that are redrawn once, and of these again
STOPPED = {"general autoencoder": 40, "inference": 45}  # epochs after which early stopping usually ended a training
SPENT: collections.Counter[str] = collections.Counter()
TIMES: collections.Counter[str] = collections.Counter()
SECONDS: dict[tuple, float] = {}
STACK, BEGUN = ["other"], [time.process_time()]
# one release stands for all that are published alike
ALIKE = {"raw": 4, "deterministic": 4, "codebook 32": 7, "guaranteed, per window": 2}
TIMES_OF = [1]
STICKY = ("search", "grid", "layer", "fold")


def switch():
    """Book the time since the last switch to the current part."""
    now = time.process_time()
    SPENT[STACK[-1]] += (now - BEGUN[0]) * TIMES_OF[0]
    BEGUN[0] = now


def part(owner, name, label):
    """Book the time of a function to a part, unless an outer part is named after all it contains."""
    real = getattr(owner, name)

    def timed(*given, **named):
        text = label(*given) if callable(label) else label
        switch()
        STACK.append(STACK[-1] if STACK[-1].startswith(STICKY) else text)
        TIMES[STACK[-1]] += 1
        try:
            return real(*given, **named)
        finally:
            switch()
            STACK.pop()

    setattr(owner, name, timed)


def counted(shape, epochs, make):
    """Return how many of some epochs are to be made, and count the others."""
    if shape not in SECONDS:
        make(1)
        begun = time.process_time()
        make(1)
        SECONDS[shape] = time.process_time() - begun
        epochs -= 2
    SPENT[STACK[-1]] += SECONDS[shape] * max(epochs, 0) * TIMES_OF[0]


def few_epochs(state, step, data, validation, settings, real=training._epoch):
    """Train two epochs of the first training of a shape, and count all others."""
    label = sys._getframe(2).f_locals["label"]
    stops = next((most for name, most in STOPPED.items() if label.startswith(name)), settings.epochs)
    epochs = min(settings.epochs, stops) if settings.patience else settings.epochs
    if not state.rows:
        shape = (str(state.model), tuple(data[0].shape), len(validation[0]) if validation else 0, settings.batch)
        counted(shape, epochs, lambda _: real(state, step, data, validation, settings))
        if not state.rows:  # the losses and the optimizer's moments, from a few windows
            few = [[each[:16] for each in some] for some in (data, validation)]
            real(state, step, *few, settings)
    last = state.rows[-1]
    while len(state.rows) < settings.epochs:
        state.add({**last, "epoch": len(state.rows) + 1}, state.lowest - 1 if validation else None)


def few_rival_epochs(self, state, data, settings, real=networks.AnonymizationAutoencoder._epoch):
    """Train two epochs of the Anonymization Autoencoder, and count the others."""
    have = len(state.rows)
    shape = ("rival", tuple(data[0].shape), settings.batch)
    counted(shape, settings.epochs - have, lambda _: real(self, state, data, settings))
    if len(state.rows) == have:
        real(self, state, [each[:16] for each in data], settings)
    while len(state.rows) < settings.epochs:
        state.add({**state.rows[-1], "epoch": len(state.rows) + 1}, None)


def misread(
    self, published, public, target, second_reader=None, insist="public", real=inference.InferenceModels.misread
):
    """Read windows as usual, but call a fixed share of them misread."""
    real(self, published, public, target, second_reader, insist)
    whole = self.__dict__.setdefault("_whole", {})
    share = MISREAD if len(published) >= whole.get("n", 0) * MISREAD * 1.01 else AGAIN
    whole["n"] = len(published) if share == MISREAD else whole["n"]
    mask = np.zeros(len(published), dtype=bool)
    mask[: int(len(published) * share)] = True
    return mask


def few_scenes(releases, train, test, attribute, real=latent.scenes, **options):
    """Yield one scene of each kind of release, and count it as often as there are releases of the kind."""
    whole = TIMES_OF[0]
    for one in real({name: releases[name] for name in ALIKE}, train, test, attribute, **options):
        switch()
        TIMES_OF[0] = whole * ALIKE[one.name]
        yield one
    switch()
    TIMES_OF[0] = whole


def first_fold(studies, releases, **options):
    """Yield the scenes of the first fold, and count it as often as there are folds."""
    many = list(studies)
    TIMES_OF[0] = len(many)
    own = many[0]
    anonymizer = own.anonymizer(own.inference_models())
    yield from few_scenes(releases(own, anonymizer), own.train, own.test, own.private, anonymizer=anonymizer, **options)
    TIMES_OF[0] = 1


def one_run(made, attackers, *, runs, real=trainings.attack_trainings, **options):
    """Attack the first training once, and count it as all runs."""
    TIMES_OF[0] = max(runs // len(made), 1) * len(made)
    found = real(made[:1], attackers, runs=1, **options)
    switch()
    TIMES_OF[0] = 1
    return found


def main(name):
    """Count one run."""
    run = read_runs()[name]
    values = run.values("paper") | {"profile": "paper"}
    training._epoch, networks.AnonymizationAutoencoder._epoch = few_epochs, few_rival_epochs
    inference.InferenceModels.misread = misread
    Study = study.Study
    part(Study, "inference_models", "inference models")
    for one in ("second_reader", "independent_model"):
        part(Study, one, "judges and second reader")
    part(Study, "anonymizer", "our autoencoders")
    part(Study, "general_vae", "general autoencoder")
    for one in ("anonymization_autoencoder", "replacement_autoencoder"):
        part(Study, one, "rivals' two autoencoders")
    part(rivals, "search_rival", "search of the rival")
    part(tuning, "grid_search", "grid")
    part(rivals, "with_and_without_layer", "layer")
    for module in (tuning, rivals):
        part(module, "choose_shift", "choose_shift")
    for module in (measures, latent, tuning, rivals):
        part(module, "inference_table", "inference tables")
    part(latent, "exposure", "donors (exposure)")
    part(latent, "residual_leak", "residual leak")
    part(utility, "activity_kept", "judges of activity")
    part(latent, "utility_table", "cadence, intensity")
    part(sys.modules["sensorprivacy.game.attack"], "_score", "attack: scores")
    part(scene.WindowScene, "published", "attack: publishing")
    part(scene.WindowScene, "_inputs", "attack: inputs, re-encoding")
    part(scene.WindowScene, "_known", "attack: sampling known windows")
    part(scene.joblib, "hash", "attack: hashing")
    part(adversaries.Attacker, "predict", lambda self, *_: f"attack: {self.name}")
    latent.scenes, latent.fold_scenes, trainings.attack_trainings = few_scenes, first_fold, one_run
    print(name, flush=True)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["SENSORPRIVACY_OUTPUT"] = folder
        space = {"__name__": "__main__"}
        for source, tags in code_cells(run.notebook):
            begun, spent = time.process_time(), sum(SPENT.values())
            try:
                exec(compile(source, "cell", "exec", optimize=1), space)
            except Exception as error:  # tables of releases that were not attacked
                print("  not counted:", source.strip().splitlines()[0], repr(error)[:120], flush=True)
            switch()
            if "parameters" in tags:
                space.update(values)
            passed = sum(SPENT.values()) - spent
            if passed > 20:
                first = source.strip().splitlines()[0]
                print(
                    f"  {passed / 60:6.1f} min ({time.process_time() - begun:.0f} s of them made): {first}", flush=True
                )
    switch()
    table = pd.DataFrame({"minutes": pd.Series(SPENT) / 60, "times": pd.Series(TIMES)}).sort_values("minutes")[::-1]
    print(table.round(2).to_string())
    print(f"{name}: {table['minutes'].sum():.0f} minutes of one core")


if __name__ == "__main__":
    main(*sys.argv[1:] or ["30_vae_anonymization-mobifall-weight-raw-subjects"])
