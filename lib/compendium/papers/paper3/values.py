"""Paper 3 (anonymization in latent space): the tables and statements that its printed values are compared with.

Statements are values by claim id.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from compendium.verdicts.prediction import with_prediction
from sensorprivacy.game.units import Difference
from sensorprivacy.latent.trainings import Rights, mean_over_trainings

#: The printed table of each data set and private attribute, and its rows by our names of the activities.
TABLES = {("motionsense", "gender"): "1", ("mobiact", "gender"): "2", ("mobiact", "weight"): "3"}
ROWS = {
    "motionsense": {"dws": "down-stairs", "ups": "up-stairs", "wlk": "walking", "jog": "jogging"},
    "mobiact": {"WAL": "walking", "STD": "standing", "JOG": "jogging", "STU": "stairs-up"},
}
#: The set with a printed table that each set of other people stands for.
OTHERS = {"mobifall": "mobiact"}
EQUAL = 0.02
"""A loss of activity up to this, on average over test windows, counts as none."""
#: Levels at which re-identification must be prevented.
PREVENTED = ("recording", "person")

#: The earlier general autoencoder with the paper's change, among the releases of `ReleaseSettings.rivals`.
GENERAL = "general VAE, deterministic"
_CHANGES = {
    ("motionsense", "gender"): {
        "3-text-activity-improves": "gained",
        "3-text-outperforms-aae": "aae",
        "3-text-general-vae-gender": "general private",
        "3-text-general-vae-activity": "general public",
    },
    ("mobiact", "gender"): {
        "3-text-mobiact-gender-activity-drops": "lost",
        "3-text-mobiact-outperforms-aae": "aae",
    },
    ("mobiact", "weight"): {"3-text-mobiact-weight-activity-drops": "lost"},
}
Decided = dict[str, bool | None]  # statements by claim id; None if the data decide neither way
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


def with_chance(overall: pd.Series, public: np.ndarray, private: np.ndarray) -> dict[str, Any]:
    """Return a row of `latent.inference_table` with both chance levels, and the number of private classes.

    Parameters
    ----------
    overall : pandas.Series
        The row of all windows.
    public, private : numpy.ndarray
        True classes of the test windows as codes.
    """
    found: dict[str, Any] = {str(name): value for name, value in overall.items()}
    for kind, codes in (("public", public), ("private", private)):
        found[f"{kind}_chance"] = np.bincount(codes).max() / len(codes)
    return found | {"private_classes": len(np.unique(private))}


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


def decided(shown: bool, excluded: bool) -> bool | None:
    """Return True if a statement is shown, False if it is excluded, and None if the data decide neither."""
    return True if shown else False if excluded else None


def below(difference: Difference) -> bool | None:
    """Return whether a difference is below 0: True or False if its interval lies on one side, None if it contains 0."""
    return decided(difference.high < 0, difference.low > 0)


def hides_better(difference: Rights, people: np.ndarray) -> bool | None:
    """Return whether one method hides the private class better than another at equal activity.

    Parameters
    ----------
    difference : Rights
        The first method's readings minus the second's, trainings x test windows.
    people : numpy.ndarray
        Person of each window. Intervals are over people and trainings.

    Returns
    -------
    bool or None
        True: the private accuracy is lower (95 % interval), and the activity at most `EQUAL` lower (non-inferiority).
        False: the same holds for the second method. None: neither is shown; so less activity never wins.
    """
    private, public = (mean_over_trainings(values, people) for values in (difference.private, difference.public))
    lower = below(private)
    return decided(lower is True and public.low > -EQUAL, lower is False and public.high < EQUAL)


def change_statements(dataset: str, private: str, found: Mapping[str, Rights], people: np.ndarray) -> Decided:
    """Return our values for sections 5.3.1 and 5.4.1: the deterministic change over all activities.

    Parameters
    ----------
    dataset, private : str
        Data set and private attribute. A pair that the paper does not treat has no claims.
    found : mapping of str to Rights
        Readings under several trainings: ``raw``, ``mean shift`` (the paper's change), ``Anonymization AE``, `GENERAL`.
        A claim about a method that is missing is None.
    people : numpy.ndarray
        Person of each test window.
    """
    claims = _CHANGES.get((dataset, private), {})
    if not {"raw", "mean shift"} <= set(found):
        return dict.fromkeys(claims)
    ours = found["mean shift"]
    lost = below(mean_over_trainings((ours - found["raw"]).public, people))
    said: dict[str, bool | None] = {"lost": lost, "gained": None if lost is None else not lost}
    for name, claim in (("Anonymization AE", "aae"), (GENERAL, "general")):
        if name in found:
            each = ours - found[name]
            said |= {claim: hides_better(each, people)}
            said |= {f"{claim} private": below(mean_over_trainings(each.private, people))}
            said |= {f"{claim} public": below(mean_over_trainings(-each.public, people))}
    return {claim: said.get(what) for claim, what in claims.items()}


def layer_statement(dataset: str, found: Mapping[str, Rights], people: np.ndarray) -> Decided:
    """Return whether the private classification term helps to hide the class at equal activity, on MotionSense.

    Parameters
    ----------
    dataset : str
        Data set. The claim is judged only on MotionSense.
    found : mapping of str to Rights
        Readings under several trainings: ``with the term`` and ``without it``.
    people : numpy.ndarray
        Person of each test window.
    """
    if dataset != "motionsense":
        return {}
    helps = hides_better(found["with the term"] - found["without it"], people) if found else None
    return {"3-text-classification-layer-helps": helps}


def why_open(statements: Mapping[str, object], trainings: int) -> dict[str, str]:
    """Return why the statements without a value are undecided."""
    reason = "the interval over people and trainings contains 0, or the activity is not equal within 2 points"
    reason = reason if trainings > 1 else "one training does not show how far the next one lies"
    return {claim: reason for claim, value in statements.items() if value is None}


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
        data make neither true. With 24 people and a margin of .1, no release gives True: the upper bound of a constant
        guess lies above the limit. That takes about 100 people.
    """
    asked = attacks[attacks["level"].isin(PREVENTED)]
    if (asked["about"] != "subject").any():
        asked = asked[asked["about"] != "subject"]
    if asked["level"].nunique() < len(PREVENTED):
        return None
    limit = asked["chance"] + margin
    return decided(bool((asked["high"] < limit).all()), bool((asked["low"] > limit).any()))


def exceeded(attack: pd.Series) -> bool | None:
    """Return whether an attack's interval is above the chance level: True, False if below, None if it contains it."""
    return decided(attack["low"] > attack["chance"], attack["high"] < attack["chance"])


def attack_statements(
    dataset: str,
    private: str,
    attacks: pd.DataFrame,
    strongest: pd.DataFrame,
    rival: str,
    found: Mapping[str, Rights],
    people: np.ndarray,
) -> Decided:
    """Return our values for sections 5.3 and 5.4.2: re-identification. None means that the data cannot decide.

    Each claim is asked of one attacker: "prevents" of the strongest, the others of the paper's. `claims.attack_claims`
    asks both, and decides.

    Parameters
    ----------
    dataset, private : str
        Data set and private attribute, one that the paper attacks.
    attacks : pandas.DataFrame
        The paper's attacker over several trainings: ``release``, ``level``, ``low``, ``high``, ``chance``. Single
        windows count.
    strongest : pandas.DataFrame
        The strongest attackers: ``release``, and see `prevented`. Those on the probabilistic change count.
    rival : str
        Release of the autoencoders of other papers.
    found : mapping of str to Rights
        Readings of the inference models under several trainings: ``raw`` and `rival`. ``attacked: NAME`` for the
        probabilistic change and for `rival`: the activity, and whether the paper's attacker is right.
    people : numpy.ndarray
        Person of each test window.
    """
    hidden = prevented(strongest[strongest["release"] == "probabilistic"])
    if dataset == "mobiact":
        return {f"3-text-probabilistic-prevents-mobiact-{private}": hidden}
    ours, theirs = (found[f"attacked: {name}"] for name in ("probabilistic", rival))
    windows = attacks[attacks["level"] == "window"].set_index("release")
    # one training does not show how far the next one lies
    reached = {name: exceeded(row) if len(ours.public) > 1 else None for name, row in windows.iterrows()}
    return {
        "3-text-probabilistic-prevents": hidden,
        "3-text-deterministic-reidentified": reached["deterministic"],
        "3-text-model-free-less-vulnerable": hides_better(ours - theirs, people),
        "3-text-rivals-lower-gender": below(mean_over_trainings((found[rival] - found["raw"]).private, people)),
        "3-text-rivals-reidentified": reached[rival],
    }
