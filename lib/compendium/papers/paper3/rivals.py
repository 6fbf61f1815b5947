"""Train paper 3's rivals with the budget of ours, and compare all methods over several trainings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from compendium.papers.paper3.tuning import choose_shift, repeat_over_seeds, spread_over_seeds, with_choice
from compendium.papers.paper3.values import GENERAL, change_statements, layer_statement, set_statements
from sensorprivacy.data import Windows
from sensorprivacy.latent.comparison import ReleaseSettings
from sensorprivacy.latent.inference import InferenceModels
from sensorprivacy.latent.measures import inference_table
from sensorprivacy.latent.modify import Modify
from sensorprivacy.latent.releases import SeededRelease, anonymized
from sensorprivacy.latent.study import Study
from sensorprivacy.latent.trainings import Made, Rights, mean_over_trainings, read_all
from sensorprivacy.progress import tqdm


def search_rival(
    study: Study, models: InferenceModels, *, hides: Sequence[float], changes: Sequence[float], epochs: int
) -> tuple[pd.DataFrame, dict[str, float]]:
    """Search the weights of the Anonymization Autoencoder on validation windows, by the rule of `tuning.choose_shift`.

    Parameters
    ----------
    study : Study
        Windows to learn from and to choose on; thin ones make the search affordable. Networks that exist are not
        trained again.
    models : InferenceModels
        Inference models.
    hides, changes : sequence of float
        Weights of the private divergence and of the change, beside 1 for the activity.
    epochs : int
        Epochs of each training.

    Returns
    -------
    table : pandas.DataFrame
        One row per pair: ``hide``, ``change``, ``public_before``, ``public_after``, ``private_after``, ``chosen``. A
        single pair is chosen without a training.
    chosen : dict of str to float
        ``hide`` and ``change``.
    """
    rows: list[dict[str, float]] = []
    pairs = [{"hide": float(hide), "change": float(change)} for hide, change in product(hides, changes)]
    if len(pairs) == 1:
        return pd.DataFrame(pairs).assign(chosen=True), pairs[0]
    for pair in tqdm(pairs, "hide x change"):
        rival = study.anonymization_autoencoder(epochs, **pair)
        overall = inference_table(models, study.validation, rival.transform(study.validation)).loc["all"]
        rows.append(pair | {name: overall[name] for name in ("public_before", "public_after", "private_after")})
    table = with_choice(pd.DataFrame(rows))
    return table, pairs[int(table["chosen"].to_numpy().argmax())]


class Rivals(NamedTuple):
    """The trained rivals of a run, and how they were chosen.

    Attributes
    ----------
    searched : pandas.DataFrame
        The search for the weights of the Anonymization Autoencoder, see `search_rival`.
    budget : dict of str to object
        Parameters of `ReleaseSettings.rivals`, with the chosen weights.
    releases : dict of str to SeededRelease
        Their releases by name.
    """

    searched: pd.DataFrame
    budget: dict[str, Any]
    releases: dict[str, SeededRelease]

    def read(self, models: InferenceModels, test: Windows, *, untrained: bool = False) -> dict[str, pd.DataFrame]:
        """Return the inference on test windows after the general VAE's and the Anonymization Autoencoder's change.

        The Anonymization Autoencoder is called untrained if it had too few epochs to be judged.
        """
        names = {GENERAL: "general VAE", "Anonymization AE": "Anonymization AE" + ", untrained" * untrained}
        return {
            shown: inference_table(models, test, self.releases[name](test))
            for name, shown in names.items()
            if name in self.releases
        }


def train_rivals(parameters: Mapping[str, Any], study: Study, models: InferenceModels) -> Rivals:
    """Choose the rivals' weights on validation windows and train them, as a notebook's parameters say.

    Parameters
    ----------
    parameters : mapping of str to object
        ``rival_epochs``, ``general_epochs``, ``search_every``, ``search_epochs``, ``hides``, ``changes``, ``seed``.
    study : Study
        The study.
    models : InferenceModels
        Its inference models.
    """
    thinned = parameters["search_every"]
    search = {name: parameters[name] for name in ("hides", "changes")} | {"epochs": parameters["search_epochs"]}
    searched, weights = search_rival(study.thinned(thinned), models, **search)
    budget = {name: parameters[name] for name in ("rival_epochs", "general_epochs")}
    budget |= {"thinned": thinned, "weights": weights}
    return Rivals(searched, budget, ReleaseSettings(seed=parameters["seed"]).rivals(study, models, **budget))


def needed(tables: Mapping[str, pd.DataFrame]) -> str:
    """Say what each method needs to look good: the least private accuracy among its settings, and its price.

    Parameters
    ----------
    tables : mapping of str to pandas.DataFrame
        By method, its settings on validation windows: ``public_before``, ``public_after``, ``private_after`` and
        ``chosen``. A table without these accuracies was not searched and is left out.
    """
    sentences = []
    for name, table in tables.items():
        if "public_after" in table:
            best, chosen = table.sort_values("private_after").iloc[0], table[table["chosen"]].iloc[0]
            sentences.append(
                f"{name} hides most with an accuracy of {best['private_after']:.0%} on the private class and "
                f"{best['public_after']:.0%} on the activity; the chosen setting has {chosen['private_after']:.0%} and "
                f"{chosen['public_after']:.0%} (activity before: {chosen['public_before']:.0%})"
            )
    return "; ".join(sentences)


def with_rivals(
    study: Study,
    seeds: Sequence[int],
    *,
    modify: Modify,
    scales: Sequence[float],
    redraws: Sequence[int],
    **budget: Any,
) -> list[Made]:
    """Train the paper's anonymizer and its rivals under each seed; see `ReleaseSettings.rivals` for their `budget`.

    Anonymizers that shift a mean latent are there twice: with the paper's shift, and ``chosen``, with the length and
    the redraws that `choose_shift` chooses for each training.
    """
    made = []
    for own in map(study.with_seed, seeds):
        models, seed = own.inference_models(), own.vae.seed
        shifted = {"mean shift": anonymized(own.anonymizer(models, modify=modify), seed)}
        rivals = ReleaseSettings(seed=seed).rivals(own, models, **budget)
        shifted |= {name: one for name, one in rivals.items() if name == GENERAL}
        chosen = {}
        for name, one in shifted.items():
            assert one.anonymizer is not None
            best = choose_shift(one.anonymizer, own.validation, scales, redraws=redraws)[1]
            chosen[f"{name}, chosen"] = anonymized(best, seed)
        made.append(Made(own, models, shifted | rivals | chosen))
    return made


def with_and_without_layer(study: Study, seeds: Sequence[int], *, thinned: int, epochs: int) -> list[Made]:
    """Train the anonymizer with and without the private classification term, under each seed, on thin windows.

    Parameters
    ----------
    study : Study
        Windows, and the weights alpha and beta. Its inference models judge.
    seeds : sequence of int
        Seeds of all trainings.
    thinned, epochs : int
        One training window in so many is used, see `Study.thinned`, for so many epochs.
    """
    made = []
    for own in map(study.with_seed, seeds):
        models, few = own.inference_models(), own.thinned(thinned)
        vae = replace(few.vae, epochs=epochs)
        pairs = {"with the term": study.alpha, "without it": 0.0}
        trained = {name: replace(few, alpha=alpha, vae=vae).anonymizer(models) for name, alpha in pairs.items()}
        made.append(Made(own, models, {name: anonymized(one, own.vae.seed) for name, one in trained.items()}))
    return made


@dataclass(frozen=True)
class Repeats:
    """All methods trained under several seeds, read by the same models on the same test windows; see `repeat`.

    Attributes
    ----------
    study : Study
        The study.
    again : pandas.DataFrame or None
        The shifts under each seed, see `tuning.repeat_over_seeds`; None if there is one seed.
    found, layer : mapping of str to Rights
        Readings by method, and with and without the private classification term; empty if there is one seed.
    needs : str
        What each method needs, see `needed`.
    """

    study: Study
    again: pd.DataFrame | None = None
    found: Mapping[str, Rights] = field(default_factory=dict)
    layer: Mapping[str, Rights] = field(default_factory=dict)
    needs: str = ""

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """The tables of the notebook by name, of several seeds."""
        assert self.again is not None
        return {
            "seeds": self.again,
            "seeds-spread": spread_over_seeds(self.again),
            "rivals": compared_over_trainings(self.found, "mean shift", self._people),
            "layer": compared_over_trainings(self.layer, "with the term", self._people),
        }

    def statements(self, public: int) -> dict[str, object]:
        """Return our values by claim id; `public` is the number of the paper's data sets that have a public address."""
        name, windows = self.study.name, self.study.windows
        owners = windows.private.assign(subject=windows.subject)
        return (
            set_statements(name, self.study.private, owners, windows.provenance, public)
            | change_statements(name, self.study.private, self.found, self._people)
            | layer_statement(name, self.layer, self._people)
        )

    @property
    def _people(self) -> np.ndarray:
        return self.study.test.subject.to_numpy()


def repeat(
    study: Study,
    seeds: Sequence[int],
    fair: Rivals,
    judged: pd.DataFrame,
    *,
    trainings: int,
    thinned: int,
    epochs: int,
    **shift: Any,
) -> Repeats:
    """Train all methods again under each seed, if there are several.

    Parameters
    ----------
    study : Study
        The study.
    seeds : sequence of int
        Seeds of all trainings.
    fair : Rivals
        The rivals of the first training.
    judged : pandas.DataFrame
        The choice of our shift, see `tuning.choose_shift`.
    trainings : int
        Number of these seeds with which rivals are trained, too, and the networks without the classification term.
    thinned, epochs : int
        As for `with_and_without_layer`.
    **shift
        ``modify``, ``scales`` and ``redraws``, as for `tuning.repeat_over_seeds`.
    """
    if len(seeds) < 2:
        return Repeats(study)
    again, searches = (
        repeat_over_seeds(study, seeds, **shift),
        {"mean shift": judged, "Anonymization AE": fair.searched},
    )
    found = read_all(with_rivals(study, seeds[:trainings], **shift, **fair.budget))
    if GENERAL in fair.releases:
        general = fair.releases[GENERAL].anonymizer
        assert general is not None
        searches["general VAE"], _ = choose_shift(general, study.validation, shift["scales"], shift["redraws"])
    layer = read_all(with_and_without_layer(study, seeds[:trainings], thinned=thinned, epochs=epochs))
    return Repeats(study, again, found, layer, needed(searches))


def compared_over_trainings(found: Mapping[str, Rights], ours: str, people: np.ndarray) -> pd.DataFrame:
    """Return the accuracies of all methods over trainings, and how far ours are from those of the others.

    Parameters
    ----------
    found : mapping of str to Rights
        Readings of the same test windows, by method; see `sensorprivacy.latent.trainings.read_all`.
    ours : str
        The method from whose accuracies those of the others are subtracted.
    people : numpy.ndarray
        Person of each test window.

    Returns
    -------
    pandas.DataFrame
        By method: ``public`` and ``private`` (mean accuracies), ``public_difference`` and ``private_difference``
        (ours - theirs), all with ``_low`` and ``_high`` over people and trainings, ``p`` (of the private difference),
        ``trainings`` and ``n``. One training has no intervals.
    """
    rows: dict[str, dict[str, object]] = {}
    for name, rights in found.items():
        row: dict[str, object] = {}
        pairs = {"": rights, "_difference": found[ours] - rights}
        for ending, some in pairs.items() if name != ours else [("", rights)]:
            for column, values in some._asdict().items():
                each = mean_over_trainings(values, people)
                ends = (each.low, each.high) if np.isfinite(each.low) else (np.nan, np.nan)
                ends = ends if ending else tuple(np.clip(ends, 0, 1))  # an accuracy
                row |= {f"{column}{ending}": each.value}
                row |= dict(zip((f"{column}{ending}_low", f"{column}{ending}_high"), ends, strict=True))
                row |= {"p": each.p} if (ending, column) == ("_difference", "private") else {}
        rows[name] = row | {"trainings": len(rights.public), "n": f"{len(np.unique(people))} people"}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("method")
