"""A schema is YAML that a person reads: all labels are texts, and comments stay."""

import datetime as dt
from pathlib import Path

import pytest

from sensorrelease.schema import Constraints, Field, Schema, confirm, load, save

LEVELS = ["no", "1E5", "0100", "on", "", "x: y", "null", "~", "2026-11-27"]


@pytest.fixture
def written(tmp_path):
    room = Field(name="room", role="task", constraints=Constraints(enum=LEVELS), why="seen: 'three'")
    number = Field(
        name="load", title="x2", type="number", role="feature", constraints={"minimum": 0, "maximum": 9}, step=0.1
    )
    schema = Schema(fields=[room, number], missingValues=["", "NA", "-999"], compression="gz")
    save(schema, tmp_path / "home.schema.yaml")
    return schema, tmp_path / "home.schema.yaml"


def test_a_schema_comes_back_as_it_was(written):
    schema, file = written
    assert load(file) == schema


def test_confirming_keeps_the_comments_and_any_change_ends_it(written):
    _, file = written
    file.write_text(file.read_text() + "# my note\n")
    for day in (26, 27):
        assert confirm(file, dt.date(2026, 11, day)).is_confirmed
    text = file.read_text()
    assert text.count("confirmed: 2026-11-27") == text.count("# my note") == text.count("digest:") == 1
    assert load(file).is_confirmed
    file.write_text(text.replace("maximum: 9.0", "maximum: 99"))
    assert not load(file).is_confirmed


@pytest.mark.parametrize("linked", [False, True])
def test_a_schema_that_cannot_be_written_whole_stays_as_it_was(written, monkeypatch, linked):
    """A disk that was full while a schema was confirmed left half of what a person had written."""
    _, file = written
    file.chmod(0o600)
    if linked:
        (file.parent / "link.yaml").symlink_to(file)
    before, write = file.read_text(), Path.write_text

    def half(path, text, **how):
        write(path, text[: len(text) // 2], **how)
        raise OSError(28, "No space left on device")

    for call in (lambda path: confirm(path, dt.date(2026, 11, 27)), lambda path: save(written[0], path)):
        with monkeypatch.context() as patch:
            patch.setattr(Path, "write_text", half)
            with pytest.raises(OSError, match="No space"):
                call(file)
        assert file.read_text() == before
    assert confirm(file.parent / "link.yaml" if linked else file, dt.date(2026, 11, 27)).is_confirmed
    assert file.stat().st_mode & 0o777 == 0o600
    assert "digest:" in file.read_text()
    assert len(list(file.parent.iterdir())) == 1 + linked


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("role: task", "role: tsk", "field room: role ('tsk'): Input should be 'task'"),
        ("step: 0.1", "stp: 0.1", "field load: stp ('0.1'): is no key of a schema: correct its spelling"),
        ("maximum: 9.0", "maximum: abc", "field load: constraints: maximum ('abc')"),
        ("maximum: 9.0", "maximum: .inf", "field load: constraints: maximum"),
        ("- name: room", "- nam: room", "field 0: nam ('room'): is no key of a schema: correct its spelling"),
        ("role: task", "role: task\n  role: user", "line 21 is no YAML: key 'role' stands twice"),
        ("- name", "- - [", "is no YAML"),
        ("sensorprivacy: 1", "sensorprivacy: 2", "sensorprivacy ('2')"),
        ("k: 5", "k: 0", "k ('0')"),
        ("step: 0.1", "step: 1e-320", "step 9.99989e-321 is finer than numbers of this size: give at least 9e-15"),
        ("k: 5", "k: 5\ndialect: {quoteChar: '\"\"'}", "dialect: quoteChar"),
        ("k: 5", "k: !!python/object/apply:os.getcwd []", "k"),
    ],
)
def test_a_mistake_is_named_with_file_key_and_value(written, old, new, said):
    _, file = written
    file.write_text(file.read_text().replace(old, new, 1))
    with pytest.raises(ValueError, match=r"home\.schema\.yaml") as caught:
        load(file)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_schema_is_a_regular_file_of_bounded_size(tmp_path):
    """The device /dev/zero filled 5.7 GB."""
    with pytest.raises(ValueError, match="/dev/zero is no regular file"):
        load("/dev/zero")
    with (tmp_path / "large.yaml").open("wb") as stream:
        stream.truncate(17 * 2**20)
    with pytest.raises(ValueError, match=r"large\.yaml is larger than 16 MiB: it is no schema"):
        load(tmp_path / "large.yaml")


def test_a_file_that_is_no_schema_is_named(tmp_path):
    file = tmp_path / "x.yaml"
    for content in (b"hello", b"", b"\xff\xfe\x00", b"- 1"):
        file.write_bytes(content)
        with pytest.raises(ValueError, match=r"x\.yaml"):
            load(file)
