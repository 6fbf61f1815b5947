"""The catalogue against the mirror's own SHA256SUMS and README, which were written apart from it."""

import re
from importlib import resources

import pytest

from compendium.datasets.catalogue import catalogue, lookup
from compendium.datasets.errors import UnknownDatasetError
from sensorprivacy.paths import listing_digest

EVERY = (
    *(
        "titanic",
        "adult",
        "bank",
        "heart",
        "student",
        "smart-home",
        "smart-home-kitchen",
        "motionsense",
        "iot-sentinel",
        "iot-23",
    ),
    *("cic-ids-2017", "smartwatch", "smart-home-readings", "mobiact", "mobifall", "opportunity"),
    *("amir", "service-recognition"),
)


def test_every_set_is_there_and_says_what_people_need():
    assert set(catalogue()) == set(EVERY)
    for entry in catalogue().values():
        for word in (entry.title, entry.role, entry.folder, entry.licence, entry.citation, entry.how, entry.counts):
            assert word, entry.name
        assert bool(entry.forms) != bool(entry.patterns), f"{entry.name} is either pinned or on request"


def test_origins_provide_members_of_a_form():
    for entry in catalogue().values():
        forms = {form.name: form for form in entry.forms}
        for origin in entry.origins:
            assert bool(origin.url) != bool(origin.wheel), entry.name
            assert set(origin.members) <= {member.path for member in forms[origin.form].members}, entry.name
            assert origin.members or origin.listing, entry.name
            if origin.url:
                assert origin.url.startswith("https://"), entry.name
            else:
                assert re.fullmatch(r"[a-z]+==[\d.]+", origin.wheel), entry.name
        for form in entry.forms:
            required = {member.path for member in form.members if not member.optional}
            given = {path for origin in entry.origins if origin.form == form.name for path in origin.members}
            assert not entry.origins or required <= given, f"{entry.name}: no origin provides all of {form.name}"


def test_no_package_index_is_named():
    text = resources.files("compendium.datasets").joinpath("catalogue.toml").read_text().lower()
    assert "py" + "pi" not in text
    assert "python" + "hosted" not in text


def test_plain_members_are_those_of_the_mirrors_own_sums(mirror):
    sums = dict(reversed(line.split("  ")) for line in (mirror / "SHA256SUMS").read_text().splitlines())
    compared = 0
    for entry in catalogue().values():
        for form in entry.forms:
            for member in form.members:
                path = f"{entry.folder}/{member.path}"
                if path in sums:
                    assert member.sha256 == sums[path], path
                    assert member.size == (mirror / path).stat().st_size, path
                    compared += 1
    assert compared == 23
    for entry in catalogue().values():  # what a mirror that cannot be listed is asked for is what the mirror has
        for file in entry.mirror:
            assert f"{entry.folder}/{file}" in sums or entry.name in ("smartwatch", "opportunity"), (
                f"{entry.folder}/{file}"
            )


def test_opportunity_is_pinned_by_its_24_members(mirror):
    lines = (
        line.split() for line in (mirror / "opportunity" / "members.txt").read_text().splitlines() if line[0] != "#"
    )
    stated = {(name, int(size), sha256) for name, size, sha256 in lines}
    (form,) = lookup("opportunity").forms
    assert {(member.path, member.size, member.sha256) for member in form.members} == stated
    assert len(stated) == 24
    assert form.size == sum(size for _, size, _ in stated)


def test_digests_that_the_mirrors_readme_states(mirror):
    readme = (mirror / "README.md").read_text()
    stated = {
        "motionsense": catalogue()["motionsense"].forms[0].listing.sha256,
        "iot-sentinel": catalogue()["iot-sentinel"].forms[0].listing.sha256,
        "adult": catalogue()["adult"].forms[1].members[0].sha256,
        "smartwatch": catalogue()["smartwatch"].forms[0].members[0].sha256,
    }
    for name, digest in stated.items():
        assert digest in readme, name


def test_listing_digest_is_the_one_defined():
    import hashlib

    lines = "aa  a/1\nbb  b/1\n"
    assert listing_digest({"b/1": "bb", "a/1": "aa"}) == hashlib.sha256(lines.encode()).hexdigest()


@pytest.mark.parametrize(
    ("path", "split"),
    [
        (
            "/x/A_DeviceMotion_data/wlk_7/sub_12.csv",
            ("/x/A_DeviceMotion_data/", "A_DeviceMotion_data/wlk_7/sub_12.csv"),
        ),
        ("wlk_7/sub_12.csv", ("", "A_DeviceMotion_data/wlk_7/sub_12.csv")),
        ("/x/__MACOSX/wlk_7/._sub_12.csv", None),
        ("/x/wlk_7/sub_12.csv.bak", None),
        ("/x/awlk_7/sub_12.csv", None),
    ],
)
def test_listed_members_are_told_by_the_end_of_their_path(path, split):
    assert lookup("motionsense").forms[0].listing.split(path) == split


def test_members_of_a_flat_listing_lie_in_any_folders():
    """The owner's archive has a folder for each person and activity; other activities and sensors are no members."""
    listing = lookup("mobifall").forms[0].listing
    assert listing.split("/x/sub2/ADL/WAL/WAL_acc_2_1.txt") == ("", "WAL_acc_2_1.txt")
    assert listing.split("/x/DataDescribe.txt") == ("", "DataDescribe.txt")
    assert listing.split("/x/sub2/ADL/WAL/WAL_ori_2_1.txt") is None
    assert listing.split("/x/sub2/FALLS/FOL/FOL_acc_2_1.txt") is None


def test_a_set_is_found_by_its_folder_too():
    assert lookup("bank-marketing") is lookup("bank")


def test_unknown_set_names_the_closest_and_all():
    with pytest.raises(
        UnknownDatasetError, match=r"unknown data set 'motionsens'\. Did you mean 'motionsense'"
    ) as caught:
        lookup("motionsens")
    assert all(name in str(caught.value) for name in EVERY)
    with pytest.raises(UnknownDatasetError, match="Known: titanic"):
        lookup("xyzzy")
