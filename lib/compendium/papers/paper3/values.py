"""Paper 3 (anonymization in latent space): the tables and statements that its printed values are compared with.

Statements are values by claim id.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from compendium.papers.intervals import with_prediction

#: The printed table of each data set and private attribute, and its rows by our names of the activities.
TABLES = {("motionsense", "gender"): "1", ("mobiact", "gender"): "2", ("mobiact", "weight"): "3"}
ROWS = {
    "motionsense": {"dws": "down-stairs", "ups": "up-stairs", "wlk": "walking", "jog": "jogging"},
    "mobiact": {"WAL": "walking", "STD": "standing", "JOG": "jogging", "STU": "stairs-up"},
}
#: The set with a printed table that each set of other people stands for.
OTHERS = {"mobifall": "mobiact"}
#: Levels at which re-identification must be prevented.
PREVENTED = ("recording", "person")
_PREVENTS = {
    "gender": "3-text-probabilistic-prevents-mobiact-gender",
    "weight": "3-text-probabilistic-prevents-mobiact-weight",
}
_MEASURED = ("public_before", "public_after", "private_before", "private_after")


def printed_code(dataset: str, code: int | None) -> int | None:
    """Return the number that Tables 4 to 6 give to the encoder of one of our codes; the code itself for other data.

    Our codes follow the sorted names of the activities. The paper's encoders follow its Tables 1 to 3: the third
    encoder of Table 4 has the most windows, which are walking's.

    Examples
    --------
    >>> [printed_code("motionsense", code) for code in range(4)]  # dws, jog, ups, wlk
    [0, 3, 1, 2]
    """
    order = list(ROWS.get(OTHERS.get(dataset, dataset), ()))
    return code if code is None or not order else order.index(sorted(order)[code])


def over_trainings(table: pd.DataFrame, trainings: pd.DataFrame | None = None) -> pd.DataFrame:
    """Return the accuracies of Tables 1 to 3: means over trainings, with prediction intervals.

    The paper's networks are not published, so its numbers and ours come from different trainings on the same windows.
    From five trainings on, the interval is the prediction interval of one more training. Intervals over the test
    recordings do not count, because the paper used the same recordings.

    Parameters
    ----------
    table : pandas.DataFrame
        For each public class: accuracies before and after.
    trainings : pandas.DataFrame, optional
        The same accuracies for each training: columns ``seed``, ``change`` (rows other than "mean shift" are ignored),
        ``public class`` and the accuracies. The default is the only training in `table`.

    Returns
    -------
    pandas.DataFrame
        By public class, without the row ``all``: each accuracy with the ends and the unit of its interval.
    """
    rows = {}
    for name in table.index.drop("all", errors="ignore"):
        row: dict[str, object] = {}
        for column in _MEASURED:
            found = [float(table[column][name])]
            if trainings is not None:
                own = (trainings["public class"] == name) & (trainings["change"] == "mean shift")
                found = trainings.loc[own, column].astype(float).tolist()
            row |= with_prediction(column, sum(found) / len(found), found, "trainings")
        rows[name] = row
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("public class")


def set_statements(
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


def change_statements(dataset: str, private: str, ours: pd.Series, rival: pd.Series) -> dict[str, object]:
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


def layer_statement(dataset: str, grid: pd.DataFrame, alpha: float, beta: float) -> dict[str, object]:
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


def attack_statements(
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
        Data set and private attribute, one that the paper attacks.
    attacks : pandas.DataFrame
        The paper's attacker: ``release``, ``level``, ``score``, ``low``, ``high``, ``chance``. Single windows count.
    rivals : sequence of str
        Releases by the autoencoders of other papers.
    inferred : pandas.Series
        ``private_before``, ``private_after`` of the inference model on the rivals' releases.
    strongest : pandas.DataFrame
        The strongest attackers: ``release``, and see `prevented`. Those on the probabilistic change count.
    """
    hidden = prevented(strongest[strongest["release"] == "probabilistic"])
    if dataset == "mobiact":
        return {_PREVENTS[private]: hidden}
    attacks = attacks[attacks["level"] == "window"].set_index("release")
    best, reached = attacks["score"], {name: exceeded(row) for name, row in attacks.iterrows()}
    theirs = [reached[name] for name in rivals]
    return {
        "3-text-probabilistic-prevents": hidden,
        "3-text-deterministic-reidentified": reached["deterministic"],
        "3-text-model-free-less-vulnerable": bool(best["probabilistic"] < best[list(rivals)].min()),
        "3-text-rivals-lower-gender": bool(inferred["private_after"] < inferred["private_before"]),
        "3-text-rivals-reidentified": False if False in theirs else None if None in theirs else True,
    }
