"""Descriptions of recordings with keys that cannot be used."""

import json

import pytest

from sensorrelease.read.description import matched_files, read_description

LINES = {"name": "x", "files": "*.csv", "subject": "p", "public": "a", "rate": 1, "channels": ["x"], "private": ["p"]}


def write(folder, **changes):
    text = "".join(f"{name} = {json.dumps(value)}\n" for name, value in (LINES | changes).items())
    (folder / "my.toml").write_text(text)
    return read_description(folder / "my.toml")


@pytest.mark.parametrize("value", ["../../etc/*", "/etc/passwd", "rec/../../x", "a\0b"])
@pytest.mark.parametrize("key", ["files", "people", "sensors"])
def test_a_description_names_no_file_outside_its_folder(tmp_path, key, value):
    given = {key: ["a.csv", value], "time": "t"} if key == "sensors" else {key: value}
    with pytest.raises(ValueError, match=rf"key '{key}' = .* is invalid: give a path in the folder"):
        write(tmp_path, **given)


@pytest.mark.parametrize("key", ["files", "people", "sensors"])
def test_no_link_leads_out_of_the_folder(tmp_path, key):
    """Issue 57: each path of a description goes through one function, which follows symbolic links."""
    (tmp_path / "secret.csv").write_text("p,x,t,a\n1,2,3,4\n")
    folder = tmp_path / "mine"
    (folder / "rec").mkdir(parents=True)
    (folder / "rec" / "link.csv").symlink_to(tmp_path / "secret.csv")
    given = {
        "files": {"files": "rec/*.csv"},
        "people": {"files": "my.toml", "people": "rec/link.csv"},
        "sensors": {"files": "rec", "sensors": ["link.csv"], "time": "t"},
    }[key]
    with pytest.raises(ValueError, match=r"leads out of|key 'people' = 'rec/link.csv' is invalid"):
        matched_files(folder, write(folder, **given))


def test_a_link_within_the_folder_is_followed(tmp_path):
    (tmp_path / "a.csv").write_text("p,x\n")
    (tmp_path / "b.csv").symlink_to(tmp_path / "a.csv")
    assert [path.name for path in matched_files(tmp_path, write(tmp_path))] == ["a.csv", "b.csv"]


def test_sensors_need_times(tmp_path):
    lines = {"name": "x", "files": "*", "subject": "p", "public": "a"}
    text = "".join(f'{name} = "{value}"\n' for name, value in lines.items())
    (tmp_path / "my.toml").write_text(text + 'rate = 1\nchannels = ["a.x"]\nprivate = ["p"]\nsensors = ["a.csv"]\n')
    with pytest.raises(ValueError, match="give a key `time`, too: sensors are joined by their times"):
        read_description(tmp_path / "my.toml")
