"""Descriptions of recordings with keys that cannot be used."""

import pytest

from sensorrelease.read.description import read_description


@pytest.mark.parametrize("key", ["files", "people"])
def test_a_description_names_no_file_outside_its_folder(tmp_path, key):
    lines = {"name": "x", "files": "*.csv", "subject": "p", "public": "a", "people": "p.csv"} | {key: "../../etc/*"}
    text = "".join(f'{name} = "{value}"\n' for name, value in lines.items())
    (tmp_path / "my.toml").write_text(text + 'rate = 1\nchannels = ["x"]\nprivate = ["p"]\n')
    with pytest.raises(ValueError, match=rf"key '{key}' = '../../etc/\*' is invalid: give a path in the folder"):
        read_description(tmp_path / "my.toml")


def test_sensors_need_times(tmp_path):
    lines = {"name": "x", "files": "*", "subject": "p", "public": "a"}
    text = "".join(f'{name} = "{value}"\n' for name, value in lines.items())
    (tmp_path / "my.toml").write_text(text + 'rate = 1\nchannels = ["a.x"]\nprivate = ["p"]\nsensors = ["a.csv"]\n')
    with pytest.raises(ValueError, match="give a key `time`, too: sensors are joined by their times"):
        read_description(tmp_path / "my.toml")
