"""Values for the claims of paper 3 (anonymization in latent space)."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from compendium.verdicts.intervals import FEWEST, prediction_interval
from compendium.verdicts.verdicts import Ours

#: The printed table of each data set and private attribute, and its rows by our names of the activities.
TABLES = {("motionsense", "gender"): "1", ("mobiact", "gender"): "2", ("mobiact", "weight"): "3"}
ROWS = {
    "motionsense": {"dws": "down-stairs", "ups": "up-stairs", "wlk": "walking", "jog": "jogging"},
    "mobiact": {"WAL": "walking", "STD": "standing", "JOG": "jogging", "STU": "stairs-up"},
}
#: Levels at which re-identification must be prevented.
PREVENTED = ("recording", "person")
_PROTOCOL = {
    "motionsense": ("magnitude", "mlp"),
    "mobiact": ("raw", "cnn"),
}  # channels and network
_COLUMNS = {
    "act-before": "public_before",
    "act-after": "public_after",
    "{}-before": "private_before",
    "{}-after": "private_after",
}


def as_printed(
    dataset: str, private: str, *, scheme: str, channels: str, network: str, modify: str = "deterministic"
) -> bool:
    """Return whether a run follows the paper's protocol, so that its values can be compared with the printed ones.

    Parameters
    ----------
    dataset, private : str
        Data set and private attribute. A pair without a printed table has no protocol.
    scheme, channels, network, modify : str
        The notebooks' parameters.
    """
    chosen = (scheme, modify, channels, network)
    return (dataset, private) in TABLES and chosen == ("paper", "deterministic", *_PROTOCOL[dataset])


def inference_claims(
    dataset: str, private: str, table: pd.DataFrame, trainings: pd.DataFrame | None = None
) -> dict[str, object]:
    """Return the cells of Table 1, 2 or 3.

    The paper's networks are not published, so its numbers and ours come from different trainings on the same windows.
    An accuracy is the mean over our trainings. From five trainings on, its interval is the prediction interval of one
    more training. Intervals over the test recordings do not count, because the paper used the same recordings.

    Parameters
    ----------
    dataset, private : str
        Data set and private attribute. A pair without a printed table has no claims.
    table : pandas.DataFrame
        For each public class: accuracies before and after, and ``windows``.
    trainings : pandas.DataFrame, optional
        The same accuracies for each training: columns ``seed``, ``change`` (rows other than "mean shift" are ignored),
        ``public class`` and the accuracies. The default is the only training in `table`.

    Returns
    -------
    dict of str to Ours or str
        By claim id. Numbers of windows are in thousands, as printed.
    """
    number = TABLES.get((dataset, private))
    if number is None:
        return {}
    short = "weight" if private == "weight" else "gen"
    ours: dict[str, object] = {}
    for name, slug in ROWS[dataset].items():
        if name not in table.index:
            continue
        row = table.loc[name].to_dict()
        for ending, column in _COLUMNS.items():
            found = [float(row[column])] if trainings is None else _over_trainings(trainings, name, column)
            ours[f"3-T{number}-{slug}-{ending.format(short)}"] = _trained(found)
        ours[f"3-T{number}-{slug}-embeddings"] = thousands(int(row["windows"]))
    return ours


def _over_trainings(trainings: pd.DataFrame, name: str, column: str) -> list[float]:
    own = trainings[(trainings["public class"] == name) & (trainings["change"] == "mean shift")]
    if own["seed"].duplicated().any():
        raise ValueError(f"{name}: a seed occurs more than once; give one row for each training and public class")
    return own[column].astype(float).tolist()


def _trained(values: Sequence[float]) -> Ours:
    """Return the mean over trainings, with a prediction interval if there are enough of them."""
    low, high = prediction_interval(values) if len(values) >= FEWEST else (None, None)
    return Ours(sum(values) / len(values), low, high, over="trainings", n=len(values))


def thousands(count: int) -> str:
    """Return a count as the paper prints it: 1.9k, 42.9k, and 1k if the decimal is zero."""
    return f"{round(count / 1000, 1):g}k"


def set_claims(
    dataset: str, private: str, people: pd.DataFrame, provenance: Mapping[str, Any], public: int
) -> dict[str, object]:
    """Return our values for sections 1, 5.1.1 and 5.1.2: the data sets.

    Parameters
    ----------
    dataset, private : str
        Data set and private attribute.
    people : pandas.DataFrame
        Private attributes and ``subject`` of each window.
    provenance : mapping
        ``rate`` (Hz), ``length`` and ``stride`` of a window (samples), ``activities``. MotionSense also has
        ``whole set``: ``activities``, ``trials`` of a person, ``features`` of a sample.
    public : int
        Number of the paper's two data sets that anyone can download.
    """
    if (dataset, private) == ("motionsense", "gender"):
        genders = people.groupby("subject")["gender"].first().value_counts()
        whole = provenance["whole set"]
        return {
            "3-text-contributions-datasets": public,
            "3-text-motionsense-subjects": int(genders.sum()),
            "3-text-motionsense-males": int(genders["male"]),
            "3-text-motionsense-females": int(genders["female"]),
            "3-text-motionsense-trials": whole["trials"],
            "3-text-motionsense-activities": whole["activities"],
            "3-text-motionsense-features": whole["features"],
            "3-text-motionsense-rate": provenance["rate"],
            "3-text-motionsense-window": provenance["length"],
            "3-text-motionsense-stride": provenance["stride"],
        }
    if (dataset, private) == ("mobiact", "weight"):
        return {"3-text-mobiact-weight-classes": int(people["weight"].nunique())}
    return {"3-text-mobiact-activities": provenance["activities"]} if dataset == "mobiact" else {}


def change_claims(dataset: str, private: str, ours: pd.Series, rival: pd.Series) -> dict[str, object]:
    """Return our values for sections 5.3.1 and 5.4.1: the deterministic change over all activities.

    Parameters
    ----------
    dataset, private : str
        Data set and private attribute. A pair that the paper does not treat has no claims.
    ours, rival : pandas.Series
        ``public_before``, ``public_after``, ``private_after`` over all windows, for the paper's change and for the
        Anonymization Autoencoder.
    """
    gained = bool(ours["public_after"] > ours["public_before"])
    beats = bool(ours["private_after"] < rival["private_after"])
    found: dict[tuple[str, str], dict[str, object]] = {
        ("motionsense", "gender"): {"3-text-activity-improves": gained, "3-text-outperforms-aae": beats},
        ("mobiact", "gender"): {
            "3-text-mobiact-gender-activity-drops": not gained,
            "3-text-mobiact-outperforms-aae": beats,
        },
        ("mobiact", "weight"): {"3-text-mobiact-weight-activity-drops": not gained},
    }
    return found.get((dataset, private), {})


def layer_claim(dataset: str, grid: pd.DataFrame, alpha: float, beta: float) -> dict[str, object]:
    """Return whether the private classification term helps: lower private accuracy than without it, at the same beta.

    Parameters
    ----------
    dataset : str
        Data set. The claim is judged only on MotionSense.
    grid : pandas.DataFrame
        ``alpha``, ``beta``, ``private_after`` on validation windows.
    alpha, beta : float
        The chosen weights. A grid without them, or without alpha = 0, has no claim.
    """
    accuracy = grid[grid["beta"] == beta].set_index("alpha")["private_after"]
    if dataset != "motionsense" or not {0.0, float(alpha)} <= set(accuracy.index):
        return {}
    return {"3-text-classification-layer-helps": bool(accuracy[alpha] < accuracy[0.0])}


def prevented(attacks: pd.DataFrame, margin: float = 0.1) -> bool | None:
    """Return whether re-identification is prevented: a test of equivalence with the chance level.

    Parameters
    ----------
    attacks : pandas.DataFrame
        The strongest attackers on one release: ``about``, ``level``, ``low``, ``high``, ``chance``. Rows about
        ``subject`` count only if there are no others.
    margin : float
        Accuracy above the chance level that counts as equal to it.

    Returns
    -------
    bool or None
        True: at recording and person level, the upper bound of the strongest attacker lies below chance + margin.
        False: at one of them, its lower bound lies above that. None: neither is shown, so the data cannot decide. Fewer
        data make neither true.
    """
    asked = attacks[attacks["level"].isin(PREVENTED)]
    others = asked[asked["about"] != "subject"]
    asked = others if len(others) else asked
    if asked["level"].nunique() < len(PREVENTED):
        return None
    limit = asked["chance"] + margin
    if (asked["low"] > limit).any():
        return False
    return True if (asked["high"] < limit).all() else None


def exceeded(attack: pd.Series) -> bool | None:
    """Return whether an attack's interval is above the chance level: True, False if below, None if it contains it."""
    if attack["low"] > attack["chance"]:
        return True
    return False if attack["high"] < attack["chance"] else None


def attack_claims(
    dataset: str,
    private: str,
    attacks: pd.DataFrame,
    rivals: Sequence[str],
    inferred: pd.Series,
    strongest: pd.DataFrame,
) -> dict[str, object]:
    """Return our values for sections 5.3 and 5.4.2: re-identification. None means that the data cannot decide.

    Parameters
    ----------
    dataset, private : str
        Data set and private attribute.
    attacks : pandas.DataFrame
        The paper's attacker: ``release``, ``level``, ``score``, ``low``, ``high``, ``chance``. Single windows count.
    rivals : sequence of str
        Releases by the autoencoders of other papers.
    inferred : pandas.Series
        ``private_before``, ``private_after`` of the inference model on the rivals' releases.
    strongest : pandas.DataFrame
        The strongest attackers: ``release``, and see `prevented`. Those on the probabilistic change count.
    """
    prevents: dict[str, object] = {
        "3-text-probabilistic-prevents": prevented(strongest[strongest["release"] == "probabilistic"])
    }
    if dataset == "mobiact":
        return {f"{claim}-mobiact-{private}": value for claim, value in prevents.items()}
    if (dataset, private) != ("motionsense", "gender"):
        return {}
    attacks = attacks[attacks["level"] == "window"].set_index("release")
    best, reached = attacks["score"], {name: exceeded(row) for name, row in attacks.iterrows()}
    theirs = [reached[name] for name in rivals]
    return prevents | {
        "3-text-deterministic-reidentified": reached["deterministic"],
        "3-text-model-free-less-vulnerable": bool(best["probabilistic"] < best[list(rivals)].min()),
        "3-text-rivals-lower-gender": bool(inferred["private_after"] < inferred["private_before"]),
        "3-text-rivals-reidentified": False if False in theirs else None if None in theirs else True,
    }
