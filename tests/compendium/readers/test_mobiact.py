"""MobiAct's reader on small files in the owner's own formats."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from compendium import datasets
from compendium.readers.mobiact import GRAVITY, PAPER_MEN, PAPER_WOMEN, read_mobiact
from compendium.readers.mobiact_files import owner_folders
from compendium.readers.motion import cut_windows
from sensorprivacy.data import Windows
from sensorprivacy.latent.windows import split

README = """===========================MobiActDataset===========================


Filename format:
<ADL OR FALL_CODE>_<SENSOR_CODE>_<SUBJECT_ID>_<TRIAL_NO>.txt


Subjects:
+------+---------+-----------+-------+----------+----------+----------+
|  ID  |  Name   |  Surname  |  Age  |  Height  |  Weight  |  Gender  |
+------+---------+-----------+-------+----------+----------+----------+
|    1 | sub1    | sub1      |    32 |      180 |       91 |  M       |
|    2 | sub2    | sub2      |    26 |      164 |       70 |  F       |
|    3 | sub3    | sub3      |    23 |      178 |       71 |  \xcc       |
|    4 | sub4    | sub4      |    36 |      160 |       50 |  F       |
+------+---------+-----------+-------+----------+----------+----------+
"""
CODES = ("WAL", "STD", "JOG", "STU")


class Files:
    def __init__(self, files: dict[str, bytes]) -> None:
        self.files = files

    @property
    def members(self) -> tuple[str, ...]:
        return tuple(self.files)

    def read(self, member: str) -> bytes:
        return self.files[member]


def annotated(code: str, seconds: float = 4.0, rate: int = 200, extra: str = "") -> bytes:
    lines = ["timestamp,rel_time,acc_x,acc_y,acc_z,gyro_x,gyro_y,gyro_z,azimuth,pitch,roll,label"]
    for at in np.arange(0, seconds, 1 / rate):
        lines.append(f"{int(1e9 * at)},{at:.6f},{at},{2 * at},9.80665,{3 * at},{4 * at},{5 * at},0,0,0,{code}")
    return ("\n".join(lines) + extra + "\n").encode()


PEOPLE = {1: (32, 180, 91, "Male"), 2: (26, 164, 70, "Female"), 3: (23, 178, 71, "Male")}
VALUES = [(10 + at, at, 0.0, 0.0) for at in np.arange(0, 2, 1 / 50)]


def raw(
    code: str,
    number: int,
    values: list[tuple[float, float, float, float]] = VALUES,
    person: tuple[int, int, int, str] | None = None,
) -> bytes:
    age, height, weight, gender = person or PEOPLE[number]
    head = f"""#Acceleration force along the x y z axes (including gravity).
#timestamp(ns),x,y,z(m/s^2)
#Datetime: 05/08/2013 11:20:15
##########################################
#Activity: 2 - {code} - Walking - 300s
#Subject ID: {number}
#First Name: sub{number}
#Last Name: sub{number}
#Age: {age}
#Height(cm): {height}
#Weight(kg): {weight}
#Gender: {gender}
##########################################


@DATA
"""
    return (head + "".join(f"{int(1e9 * t)}, {x}, {y}, {z}\n" for t, x, y, z in values)).encode()


@pytest.fixture
def owner() -> Files:
    files = {"MobiAct_Dataset_v2.0/Readme.txt": README.encode("latin-1")}
    for subject in (1, 2, 3, 4):
        for code in CODES:
            files[f"MobiAct_Dataset_v2.0/Annotated Data/{code}/{code}_{subject}_1_annotated.csv"] = annotated(code)
    return Files(files)


def test_who_is_who(owner: Files) -> None:
    people = owner_folders(owner)[0].people
    assert people["gender"].tolist() == ["male", "female", "male", "female"]  # the Greek letter too
    assert people["weight"].tolist() == [91, 70, 71, 50]
    assert people["weight_class"].tolist() == ["> 90", "<= 70", "70-90", "<= 70"]


def test_annotated_files_become_recordings(owner: Files) -> None:
    found = read_mobiact(owner, subjects=None)
    assert found.table["activity"].tolist() == list(CODES) * 4
    assert found.table["subject"].tolist() == np.repeat([1, 2, 3, 4], 4).tolist()
    assert found.private["gender"].tolist() == np.repeat(["male", "female", "male", "female"], 4).tolist()
    assert len(found.signal) == 16 * 800
    # rotation rate first, then acceleration in g; sample 200 is one second in
    assert found.signal[200] == pytest.approx([3, 4, 5, 1 / GRAVITY, 2 / GRAVITY, 1], rel=1e-5)


def test_windows_of_six_channels(owner: Files) -> None:
    found = cut_windows(read_mobiact(owner, subjects=None), channels="raw")
    assert found.values.shape[1:] == (6, 128)
    assert set(found.private["weight"]) == {"<= 70", "70-90", "> 90"}
    assert found.name == "mobiact"


def test_another_rate(owner: Files) -> None:
    slow = read_mobiact(owner, rate=20, subjects=None)
    assert len(slow.signal) == 16 * 80
    assert slow.signal[20, :3] == pytest.approx([3, 4, 5], rel=1e-5)


def test_samples_of_another_activity_are_left_out(owner: Files) -> None:
    member = "MobiAct_Dataset_v2.0/Annotated Data/WAL/WAL_1_1_annotated.csv"
    owner.files[member] = annotated("WAL", extra="\n4000000000,4.0,0,0,0,0,0,0,0,0,0,STD")
    assert len(read_mobiact(owner, subjects=None).signal) == 16 * 800


def test_raw_files_are_brought_to_common_times() -> None:
    times = np.arange(0, 3, 1 / 50)
    acc = [(10 + t, GRAVITY * t, 0.0, 0.0) for t in times]
    gyro = [(10 + t, 2 * t, 1.0, 0.0) for t in np.arange(0.5, 3, 1 / 37)]  # starts later, another rate
    files = {"Readme.txt": README.encode("latin-1")}
    for code in CODES:
        for subject in (1, 2):
            for sensor, values in (("acc", acc), ("gyro", gyro)):
                files[f"{code}/{code}_{sensor}_{subject}_1.txt"] = raw(code, subject, values)
    found = read_mobiact(Files(files), "raw", rate=20, subjects=(1, 2))
    first = found.signal[found.recording == 0]
    # acceleration is t in g, rotation 2 t: their ratio holds at every common time
    assert np.allclose(first[:, 0], 2 * first[:, 3], atol=1e-4)
    assert np.allclose(first[:, 1], 1, atol=1e-6)
    assert np.allclose(np.diff(first[:, 3]), 1 / 20, atol=1e-4)
    assert first[0, 3] >= 0.5


def test_people_without_all_activities_are_left_out(owner: Files) -> None:
    del owner.files["MobiAct_Dataset_v2.0/Annotated Data/STU/STU_2_1_annotated.csv"]
    found = read_mobiact(owner, subjects=None)
    assert set(found.table["subject"]) == {1, 3, 4}
    with pytest.raises(ValueError, match=r"subject 2 lacks a recording .* subjects=None to read everyone"):
        read_mobiact(owner, subjects=(1, 2))


def test_the_people_of_the_printed_tables_are_the_default(owner: Files) -> None:
    """The lowest numbers differ from them in nine men."""
    with pytest.raises(ValueError, match="subject 5, 6, 8, 9, 10, "):
        read_mobiact(owner)
    assert (len(PAPER_MEN), len(PAPER_WOMEN), len({*PAPER_MEN, *PAPER_WOMEN})) == (20, 16, 36)


@pytest.mark.parametrize(
    ("member", "content", "words"),
    [
        ("MobiAct_Dataset_v2.0/Readme.txt", None, r"Readme.txt \(MobiFall: DataDescribe.txt\) is missing"),
        ("MobiAct_Dataset_v2.0/Readme.txt", b"nothing", "has no table"),
        ("MobiAct_Dataset_v2.0/Readme.txt", README.replace("F ", "X ").encode("latin-1"), "gender 'X' of subject 2"),
        ("MobiAct_Dataset_v2.0/Annotated Data/WAL/WAL_1_1_annotated.csv", b"a,b\n1,2\n", "has no column .*'acc_x'"),
        ("MobiAct_Dataset_v2.0/Annotated Data/WAL/WAL_1_1_annotated.csv", annotated("STD"), "no sample labelled WAL"),
        ("MobiAct_Dataset_v2.0/Annotated Data/WAL/WAL_9_1_annotated.csv", annotated("WAL"), "does not list subject 9"),
    ],
)
def test_what_is_wrong_with_a_folder(owner: Files, member: str, content: bytes | None, words: str) -> None:
    if content is None:
        del owner.files[member]
    else:
        owner.files[member] = content
    with pytest.raises(ValueError, match=words):
        read_mobiact(owner, subjects=None)


def test_wrong_choices(owner: Files) -> None:
    with pytest.raises(ValueError, match=r"form 'cooked' is unknown"):
        read_mobiact(owner, "cooked")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"no raw file such as WAL_acc_1_1.txt"):
        read_mobiact(owner, "raw")
    with pytest.raises(ValueError, match=r"rate=0"):
        read_mobiact(owner, rate=0)


def test_raw_files_come_in_pairs() -> None:
    files = {"Readme.txt": README.encode("latin-1"), "WAL/WAL_acc_1_1.txt": raw("WAL", 1)}
    with pytest.raises(ValueError, match=r"WAL_acc_1_1.txt has no partner WAL_gyro_1_1.txt: copy the missing file"):
        read_mobiact(Files(files), "raw", activities=["WAL"], subjects=None)
    files["WAL/WAL_gyro_1_1.txt"] = b"#no data line\n"
    with pytest.raises(ValueError, match=r"WAL_gyro_1_1.txt has no line @DATA"):
        read_mobiact(Files(files), "raw", activities=["WAL"], subjects=None)


DESCRIBE = """===========================MobiFallDatasetv2.0===========================


Subjects:
+----+-------+---------+-----+--------+--------+--------+
| id | Name  | Surname | Age | Height | Weight | Gender |
+----+-------+---------+-----+--------+--------+--------+
| 2  | pat2  | pat2    | 26  | 164    | 70     | F      |
| 3  | Pat3  | pat3    | 23  | 178    | 71     | M      |
+----+-------+---------+-----+--------+--------+--------+
"""
FALL = "MobiFall_Dataset_v2.0"


@pytest.fixture
def mobifall() -> Files:
    """MobiFall's folder as the owner sends it, with two people and two trials of stairs."""
    files = {f"{FALL}/DataDescribe.txt": DESCRIBE.encode("latin-1")}
    for subject in (2, 3):
        for trial, codes in ((1, CODES), (2, ("STU",))):
            for code in codes:
                for sensor in ("acc", "gyro"):
                    files[f"{FALL}/sub{subject}/ADL/{code}/{code}_{sensor}_{subject}_{trial}.txt"] = raw(code, subject)
    return Files(files)


def test_mobifalls_table_of_people(mobifall: Files) -> None:
    """Its names are pat2 and Pat3 where MobiAct has sub2 and sub3."""
    people = owner_folders(mobifall)[0].people.sort_index()
    assert people.index.tolist() == [2, 3]
    assert people["gender"].tolist() == ["female", "male"]
    assert people["weight_class"].tolist() == ["<= 70", "70-90"]


def test_trials(mobifall: Files) -> None:
    first = read_mobiact(mobifall, "raw", subjects=None)
    assert first.table["name"].tolist() == [f"{code}_{subject}_1" for subject in (2, 3) for code in CODES]
    every = read_mobiact(mobifall, "raw", subjects=None, trials=None)
    assert every.table["name"].tolist()[3:5] == ["STU_2_1", "STU_2_2"]
    assert len(every.table) == 10
    assert set(every.table["source"]) == {"MobiFall"}


def test_both_folders_side_by_side(owner: Files, mobifall: Files) -> None:
    """MobiAct lacks a recording of person 2, who is then read from MobiFall as a whole; person 3 is read once."""
    del owner.files["MobiAct_Dataset_v2.0/Annotated Data/STU/STU_2_1_annotated.csv"]
    both = Files(mobifall.files | owner.files)
    found = read_mobiact(both, subjects=(1, 2, 3, 4))
    assert found.table["subject"].tolist() == np.repeat([1, 2, 3, 4], 4).tolist()
    sources = found.table.groupby("subject")["source"].unique().map(list).to_dict()
    assert sources == {1: ["MobiAct"], 2: ["MobiFall"], 3: ["MobiAct"], 4: ["MobiAct"]}
    assert found.private["gender"].tolist() == np.repeat(["male", "female", "male", "female"], 4).tolist()


def test_a_number_that_stands_for_two_people(owner: Files, mobifall: Files) -> None:
    mobifall.files[f"{FALL}/DataDescribe.txt"] = DESCRIBE.replace("| 71 ", "| 95 ").encode("latin-1")
    both = Files(owner.files | mobifall.files)
    with pytest.raises(
        ValueError, match=r"subject 3 is 23 years, 71 kg, male in MobiAct.*, but 23 years, 95 kg, male in .*Describe"
    ):
        read_mobiact(both, subjects=None)
    assert len(read_mobiact(both, subjects=(1, 2, 4)).table) == 12


@pytest.mark.parametrize(
    ("person", "words"),
    [
        (
            (27, 164, 70, "Female"),
            r"WAL_acc_2_1.txt: its header has Age 27, but the owner's table has 26 for subject 2",
        ),
        ((26, 164, 71, "Female"), r"Weight\(kg\) 71, but the owner's table has 70"),
        ((26, 164, 70, "Male"), r"Gender Male, but the owner's table has female"),
    ],
)
def test_a_header_that_contradicts_the_table(mobifall: Files, person: tuple[int, int, int, str], words: str) -> None:
    mobifall.files[f"{FALL}/sub2/ADL/WAL/WAL_acc_2_1.txt"] = raw("WAL", 2, person=person)
    with pytest.raises(ValueError, match=words):
        read_mobiact(mobifall, "raw", subjects=None)


def test_a_header_of_another_person(mobifall: Files) -> None:
    mobifall.files[f"{FALL}/sub2/ADL/WAL/WAL_acc_2_1.txt"] = raw("WAL", 3, person=(26, 164, 70, "Female"))
    with pytest.raises(ValueError, match="its header has Subject ID 3"):
        read_mobiact(mobifall, "raw", subjects=None)


def test_a_header_without_numbers_states_nothing(mobifall: Files) -> None:
    """As in the real standing files of person 5."""
    mobifall.files[f"{FALL}/sub2/ADL/STD/STD_acc_2_1.txt"] = raw("STD", 2, person=(0, 0, 0, "Female"))
    assert len(read_mobiact(mobifall, "raw", subjects=None).table) == 8


def test_time_that_goes_backwards(owner: Files, mobifall: Files) -> None:
    back = [*VALUES[:50], (10.5, 0.0, 0.0, 0.0), *VALUES[50:]]
    mobifall.files[f"{FALL}/sub3/ADL/JOG/JOG_gyro_3_1.txt"] = raw("JOG", 3, back)
    with pytest.raises(
        ValueError, match=r"JOG_gyro_3_1.txt: .* backwards at sample 51 of 101 \(from 10.980 to 10.500 s"
    ):
        read_mobiact(mobifall, "raw", subjects=None)
    member = "MobiAct_Dataset_v2.0/Annotated Data/WAL/WAL_1_1_annotated.csv"
    owner.files[member] = annotated("WAL", extra="\n0,1.0,0,0,0,0,0,0,0,0,0,WAL")
    with pytest.raises(ValueError, match=r"WAL_1_1_annotated.csv: the time stamps go backwards at sample 801 of 801"):
        read_mobiact(owner, subjects=None)


def test_a_missing_gyroscope_file(mobifall: Files) -> None:
    del mobifall.files[f"{FALL}/sub3/ADL/JOG/JOG_gyro_3_1.txt"]
    with pytest.raises(ValueError, match=r"JOG_acc_3_1.txt has no partner JOG_gyro_3_1.txt: copy the missing file"):
        read_mobiact(mobifall, "raw", subjects=None)


def test_a_person_without_a_row_in_the_table(mobifall: Files) -> None:
    mobifall.files[f"{FALL}/sub9/ADL/WAL/WAL_acc_9_1.txt"] = raw("WAL", 2)
    with pytest.raises(ValueError, match=r"DataDescribe.txt does not list subject 9, who has .*WAL_acc_9_1.txt"):
        read_mobiact(mobifall, "raw", subjects=None)


@cache
def loaded() -> Windows:
    return datasets.windows("mobifall", activities=("STD", "JOG", "STU"))


@pytest.fixture
def nine(mirror: Path) -> Windows:
    """Windows of the real set, at the paper's stride; without walking, which takes as long as all others."""
    if not (mirror / "mobifall").is_dir():
        pytest.skip("the mirror has no mobifall")
    return loaded()


@pytest.mark.slow
def test_the_nine_real_people(nine: Windows) -> None:
    people = nine.private.groupby(nine.subject).first()
    assert people.index.tolist() == [2, 3, 4, 5, 7, 8, 9, 10, 11]
    assert people["gender"].value_counts().to_dict() == {"male": 5, "female": 4}
    assert people["weight"].value_counts().to_dict() == {"<= 70": 3, "70-90": 3, "> 90": 3}
    assert set(people.index) - {*PAPER_MEN, *PAPER_WOMEN} == {7}
    assert {s for s in people.index if people.loc[s, "gender"] == "male"} - set(PAPER_MEN) == {7}
    assert nine.provenance["people"] == {"MobiFall": people.index.tolist()}


@pytest.mark.slow
def test_the_windows_of_nine_people_are_a_quarter_of_the_papers(nine: Windows) -> None:
    """Standing: 43.2k test windows of 36 people, so 10.8k of nine; of a person's stairs, 37 windows of ten seconds."""
    test = nine.take(split(nine, "paper").test)
    counts = test.public.value_counts()
    assert round(counts["STD"] / 1000, 1) == 10.8
    assert 4 * counts["JOG"] / 1000 == pytest.approx(4.2, rel=0.03)
    assert test.public[test.public == "STU"].groupby(test.subject).size().between(25, 50).all()
    assert nine.public[nine.public == "STU"].groupby(nine.subject).size().between(183, 187).all()


def test_the_owners_folder_goes_through_the_one_door(owner: Files, machine: Path) -> None:
    readme = README.partition("|    1 | sub1")[0]
    owner.files = {}
    for subject in range(1, 62):
        gender = "M" if subject in PAPER_MEN else "F"
        readme += (
            f"|   {subject} | sub{subject}   | sub{subject}     |    30 |      170 |       75 |  {gender}       |\n"
        )
        for code in CODES:
            owner.files[f"{code}/{code}_{subject}_1_annotated.csv"] = annotated(code, seconds=0.7)
    owner.files["MobiAct_Dataset_v2.0/Readme.txt"] = readme.encode("latin-1")
    for member, content in owner.files.items():
        (machine / "mobiact" / member).parent.mkdir(parents=True, exist_ok=True)
        (machine / "mobiact" / member).write_bytes(content)
    found = datasets.windows("mobiact")
    assert found.values.shape[1:] == (6, 128)
    assert set(found.subject) == {*PAPER_MEN, *PAPER_WOMEN}
    assert found.provenance["rate"] == 200
    people = found.private["gender"].groupby(found.subject).first()
    assert people.value_counts().to_dict() == {"male": 20, "female": 16}
