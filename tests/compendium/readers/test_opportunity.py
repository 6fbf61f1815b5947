"""Opportunity, from small files in exactly the archive's format: 250 columns, spaces, NaN."""

import io

import numpy as np
import pytest

from compendium.readers.opportunity import BODY_CHANNELS, opportunity_problem

LABELS = [2, 1, 4, 5, 0]


class Files:
    def __init__(self, files):
        self.files = files
        self.members = tuple(files)

    def read(self, member):
        return self.files[member]

    def open(self, member):
        return io.BytesIO(self.files[member])


def lines(base, labels=LABELS, width=250):
    """Rows as the archive writes them: time in ms, whole numbers in milli-g, some of them NaN."""
    rows = []
    for at, label in enumerate(labels):
        row = [str(at * 33), *(str(base + at * 1000 + column) for column in range(1, 243))]
        row[5] = "NaN"
        row += [str(label), "104", "201", "0", "0", "0", "404521"]
        rows.append(" ".join(row[:width]))
    return ("\n".join(rows) + "\n").encode()


@pytest.fixture
def files():
    folder = "OpportunityUCIDataset/dataset/"
    return Files(
        {
            f"{folder}S2-ADL1.dat": lines(-500),
            f"{folder}S1-Drill.dat": lines(7, LABELS[:3]),
            f"{folder}S1-ADL2.dat": lines(100),
            f"{folder}column_names.txt": b"Data columns:\n",
        }
    )


def test_channels_are_those_of_the_archive():
    # its column_names.txt counts from 1: 2-37 accelerometers, 38-102 five units, 103-134 two shoes
    assert len(BODY_CHANNELS) == 133
    assert len(set(BODY_CHANNELS)) == 133
    assert BODY_CHANNELS[0] == "Accelerometer RKN^ accX"
    assert BODY_CHANNELS[35] == "Accelerometer RH accZ"
    assert BODY_CHANNELS[36] == "InertialMeasurementUnit BACK accX"
    assert BODY_CHANNELS[100] == "InertialMeasurementUnit LLA Quaternion4"
    assert BODY_CHANNELS[101] == "InertialMeasurementUnit L-SHOE EuX"
    assert BODY_CHANNELS[132] == "InertialMeasurementUnit R-SHOE Compass"


def test_body_channels(files):
    problem = opportunity_problem(files, channels="body")
    assert (problem.n_records, problem.n_features) == (13, 133)
    assert (problem.features.dtypes == np.float32).all()
    assert problem.groups.tolist() == ["S1-ADL2"] * 5 + ["S1-Drill"] * 3 + ["S2-ADL1"] * 5
    assert problem.users.tolist() == ["S1"] * 8 + ["S2"] * 5
    assert problem.task.tolist()[:5] == ["walk", "stand", "sit", "lie", "none"]
    # channel j stands in column j + 1, after the time
    assert problem.features.iloc[1, 0] == 100 + 1000 + 1
    assert problem.features.iloc[12, 132] == -500 + 4000 + 133
    assert problem.features.iloc[:, 4].eq(0).all()  # the missing ones


def test_135_columns_as_printed(files):
    problem = opportunity_problem(files)
    assert problem.n_features == 135
    assert problem.features.columns[:3].tolist() == ["row", "MILLISEC", BODY_CHANNELS[0]]
    assert problem.features["row"].tolist() == [0, 1, 2, 3, 4, 0, 1, 2, 0, 1, 2, 3, 4]
    assert problem.features["MILLISEC"].tolist()[:5] == [0, 33, 66, 99, 132]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (lines(0, width=243), "S1-ADL1.dat has 243 columns, but the archive's"),
        (lines(0, [3]), "label 3"),
    ],
)
def test_another_format_is_named(content, words):
    with pytest.raises(ValueError, match=words):
        opportunity_problem(Files({"S1-ADL1.dat": content}))


def test_bad_choices_are_named(files):
    with pytest.raises(ValueError, match="channels 'all' is unknown, one of as_printed, body"):
        opportunity_problem(files, channels="all")
    with pytest.raises(ValueError, match="there is no file S<person>"):
        opportunity_problem(Files({"S1.dat": b""}))
