"""Finding, fetching and verifying, on a toy catalogue: no network, no real data."""

import base64
import contextlib
import ctypes
import errno
import math
import os
import random
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pooch
import pytest

from compendium.datasets import fetching, network, store
from compendium.datasets.catalogue import Dataset, lookup
from compendium.datasets.errors import CorruptDataError, DataUnavailableError, UnknownDatasetError
from compendium.datasets.finding import Search


@pytest.fixture
def whole(kit):
    return {"a.csv": kit.A, "deep/b.txt": kit.B}


def contents(located):
    return {member: located.read(member) for member in located.members}


# ---- finding


def test_nothing_there(toys):
    assert store.locate("toy") is None
    assert not store.available("toy")


def test_of_some_sets_those_present_and_an_error_for_none(toys, machine, kit, whole):
    with pytest.raises(DataUnavailableError, match=r"toy is not on this machine.*asked is not on this machine"):
        store.present(["toy", "asked"])
    kit.put(machine / "toy-folder", whole)
    assert store.present(["asked", "toy"]) == ["toy"]


def test_places_in_order(toys, machine, cache, tmp_path, monkeypatch, kit, whole):
    monkeypatch.setenv("SENSORPRIVACY_MIRROR", str(tmp_path / "mirror"))
    (tmp_path / "mirror").mkdir()
    seen = []
    for place in (cache, tmp_path / "mirror", machine):
        kit.put(place / "toy-folder", whole)
        seen.append(store.locate("toy").path)
    assert seen == [cache / "toy-folder", tmp_path / "mirror" / "toy-folder", machine / "toy-folder"]


def test_a_file_address_is_a_mirror(toys, tmp_path, monkeypatch, kit, whole):
    kit.put(tmp_path / "my mirror" / "toy-folder", whole)
    monkeypatch.setenv("SENSORPRIVACY_MIRROR", (tmp_path / "my mirror").as_uri())
    assert contents(store.locate("toy")) == whole


@pytest.mark.parametrize("named", ["/nowhere/at/all", "ftp://example.org/data"])
def test_a_mirror_that_is_none_is_an_error(toys, monkeypatch, named):
    monkeypatch.setenv("SENSORPRIVACY_MIRROR", named)
    with pytest.raises(FileNotFoundError, match=named):
        store.locate("toy")


def test_members_are_found_by_the_end_of_their_path_in_whatever_carries_them(toys, machine, kit):
    carried = kit.zipped({"x/inner.zip": kit.zipped({"y/most.whl": kit.zipped({"z/a.csv": kit.A})})})
    kit.put(machine / "toy-folder", {"anything.zip": carried, "some/where/deep/b.txt": kit.B, "other/a.csv.bak": b"no"})
    located = store.locate("toy")
    assert contents(located) == {"a.csv": kit.A, "deep/b.txt": kit.B}
    with pytest.raises(KeyError, match=r"has no member 'c\.csv'; it has a\.csv, deep/b\.txt"):
        located.open("c.csv")


def test_members_may_lie_in_different_places(toys, machine, cache, kit):
    kit.put(machine / "toy-folder", {"a.csv": kit.A})
    assert store.locate("toy") is None
    kit.put(cache / "toy-folder", {"deep/b.txt": kit.B})
    assert store.available("toy")


def test_another_form_and_optional_members(toys, machine, kit, whole):
    kit.put(machine / "toy-folder", {"both.bin": kit.A + kit.B})
    other = store.locate("toy")
    assert (other.form, other.members) == ("wheel", ("both.bin",))
    kit.put(machine / "toy-folder", {**whole, "notes.txt": b"notes"})
    first = store.locate("toy")
    assert (first.form, first.members) == ("plain", ("a.csv", "deep/b.txt", "notes.txt"))
    assert first.digest != other.digest


def test_digest_of_a_set_does_not_depend_on_where_or_what_carries_it(toys, machine, cache, kit, whole):
    kit.put(machine / "toy-folder", {"toy.zip": kit.zipped(whole), "notes.txt": b"notes"})
    carried = store.locate("toy")
    assert carried.addresses["a.csv"].is_relative_to(cache)
    kit.put(machine / "toy-folder", whole)
    plain = store.locate("toy")
    assert plain.path.is_relative_to(machine)
    assert carried.digest == plain.digest


def test_of_two_files_of_one_name_the_pinned_one_is_taken(toys, machine, kit, whole):
    kit.put(machine / "toy-folder", {**whole, "a-first/a.csv": b"another file of this name"})
    assert store.locate("toy").read("a.csv") == kit.A


# ---- damage


@pytest.mark.parametrize("damage", ["other content", "truncated", "empty"])
def test_corrupt_member_names_file_and_digests_and_is_left_alone(toys, machine, cache, kit, whole, damage):
    content = {"other content": b"x" * len(kit.A), "truncated": kit.A[:-7], "empty": b""}[damage]
    kit.put(machine / "toy-folder", {**whole, "a.csv": content})
    kit.put(cache / "toy-folder", whole)  # a sound copy elsewhere does not hide it
    for act in (store.locate, store.fetch, store.verify, store.state, store.available):
        with pytest.raises(CorruptDataError) as caught:
            act("toy")
        for part in (str(machine / "toy-folder" / "a.csv"), kit.sha(kit.A), kit.sha(content), "make it yourself"):
            assert part in str(caught.value)
    assert (machine / "toy-folder" / "a.csv").read_bytes() == content


def test_corrupt_member_of_a_zip(toys, machine, kit, whole):
    content = bytearray(kit.zipped(whole))
    content[38] ^= 255  # within the compressed bytes of the first member
    kit.put(machine / "toy-folder", {"toy.zip": bytes(content)})
    with pytest.raises(CorruptDataError, match=r"toy\.zip is corrupt: expected a readable archive, found error"):
        store.locate("toy")


def test_truncated_archive(toys, machine, kit, whole):
    content = kit.zipped(whole)
    kit.put(machine / "toy-folder", {"toy.zip": content[: len(content) // 2]})
    with pytest.raises(CorruptDataError, match=r"toy\.zip is corrupt: expected a readable archive, found BadZipFile"):
        store.locate("toy")
    kit.put(machine / "toy-folder", whole)
    assert store.available("toy"), "a damaged archive is no matter when its members lie beside it"


def test_truncated_tar(toys, machine, kit):
    listed = {f"t/{name}": content for name, content in kit.LISTED.items()}
    tar = kit.tarred(listed)
    kit.put(machine / "walks", {"people.csv": kit.B, "walks.tar.xz": tar[: len(tar) // 2]})
    with pytest.raises(
        CorruptDataError, match=r"walks\.tar\.xz is corrupt: expected a readable archive, found EOFError"
    ):
        store.locate("walks")


# ---- listings


@pytest.mark.parametrize("carrier", ["folder", "zip", "tar", "zip in zip", "tar in zip"])
def test_listed_members_in_every_carrier(toys, machine, cache, kit, carrier):
    listed = {f"any/top/{name}": content for name, content in kit.LISTED.items()}
    given = {
        "folder": listed,
        "zip": {"w.zip": kit.zipped(listed)},
        "tar": {"w.tar.xz": kit.tarred(listed)},
        "zip in zip": {"w.zip": kit.zipped({"v.zip": kit.zipped(listed)})},
        "tar in zip": {"w.tar": kit.tarred({"v.tar.gz": kit.tarred(listed, "w:gz")}, "w")},
    }[carrier]
    kit.put(machine / "walks", {"people.csv": kit.B, **given})
    located = store.locate("walks")
    assert contents(located) == {
        "people.csv": kit.B,
        **{f"top/{name}": content for name, content in kit.LISTED.items()},
    }
    assert (cache / "walks").exists() == (carrier != "folder"), "only archives are unpacked"
    assert located.digest == store.locate("walks", fresh=True).digest


def test_a_tar_is_unpacked_once(toys, machine, kit, monkeypatch):
    kit.put(machine / "walks", {"people.csv": kit.B, "w.tar.xz": kit.tarred(kit.LISTED)})
    assert store.available("walks")
    monkeypatch.setattr(fetching, "walk", lambda *_: pytest.fail("unpacked again"))
    assert store.available("walks")


def test_listing_with_one_changed_or_missing(toys, machine, kit):
    kit.put(machine / "walks" / "t", {**kit.LISTED, "people.csv": kit.B})
    assert store.available("walks")
    one = machine / "walks" / "t" / "walk_1" / "sub_2.csv"
    one.write_bytes(b"other")
    with pytest.raises(CorruptDataError, match=r"walks/t/ is corrupt: expected listing SHA-256 .* found [0-9a-f]{64}"):
        store.locate("walks")
    one.unlink()
    with pytest.raises(CorruptDataError, match="expected 6 members, found 5 members"):
        store.locate("walks")


def test_a_sister_folder_with_the_same_names_is_no_matter(toys, machine, kit):
    sister = {f"a-sister/{name}": b"other" for name in kit.LISTED}
    kit.put(machine / "walks", {**sister, **{f"t/{name}": c for name, c in kit.LISTED.items()}, "people.csv": kit.B})
    assert store.locate("walks").read("top/walk_1/sub_2.csv") == b"1,2\n"


# ---- memory


def test_a_second_look_is_free_and_a_changed_file_is_noticed(toys, machine, kit, whole, monkeypatch):
    kit.put(machine / "toy-folder", {"a.csv": kit.A, "rest.zip": kit.zipped({"deep/b.txt": kit.B})})
    assert store.available("toy")
    hashed = []
    real = pooch.file_hash
    monkeypatch.setattr(pooch, "file_hash", lambda *given: hashed.append(1) or real(*given))
    assert store.available("toy")
    assert not hashed
    store.verify("toy")
    assert len(hashed) == 2, "verify hashes anew"
    changed = machine / "toy-folder" / "a.csv"
    changed.write_bytes(b"x" * len(kit.A))
    os.utime(changed, ns=(1, 1))
    with pytest.raises(CorruptDataError):
        store.locate("toy")


def test_memory_that_is_damaged_is_no_memory(toys, machine, cache, kit, whole):
    kit.put(machine / "toy-folder", whole)
    for content in (b"{", b"[]", b"\xff", b'{"a": {"size": 1, "sha256": {}}}'):
        kit.put(cache / "verified", {"toy.json": content})
        assert store.available("toy")


# ---- fetching


PLAIN = 'form = "plain"\nurl = "{url}/{file}"'


def test_fetch_puts_verified_members_into_data_raw(toys, machine, web, kit, whole):
    web.files["/toy.zip"] = kit.zipped(
        {"in.zip": kit.zipped({f"x/{name}": content for name, content in whole.items()})}
    )
    toys(PLAIN.format(url=web.url, file="toy.zip"))
    located = store.fetch("toy")
    assert contents(located) == whole
    assert located.path == machine / "toy-folder"
    left = sorted(path.relative_to(machine).as_posix() for path in machine.rglob("*") if path.is_file())
    assert left == [".toy-folder.lock", "toy-folder/a.csv", "toy-folder/deep/b.txt"], "no archive, no scraps"
    assert len(web.asked) == 1
    store.fetch("toy")
    assert len(web.asked) == 1, "what is here is not fetched again"


def test_fetch_asks_only_for_what_is_missing(toys, machine, web, kit, whole):
    web.files.update({"/a.csv": kit.A, "/deep/b.txt": kit.B, "/notes.txt": b"notes"})
    toys(f'form = "plain"\nurl = "{web.url}/{{member}}"')
    kit.put(machine / "toy-folder", {"a.csv": kit.A})
    assert store.fetch("toy").members == ("a.csv", "deep/b.txt", "notes.txt")
    assert [path for path, _ in web.asked] == ["/deep/b.txt", "/notes.txt"]


def test_optional_members_from_an_origin_of_their_own(toys, machine, web, kit, whole):
    web.files["/toy.zip"] = kit.zipped(whole)
    notes = f'form = "plain"\nurl = "{web.url}/elsewhere"\nmembers = ["notes.txt"]'
    again = PLAIN.format(url=web.url, file="not-asked.zip")
    toys(PLAIN.format(url=web.url, file="toy.zip"), again, notes)
    assert store.fetch("toy").members == ("a.csv", "deep/b.txt"), "the set is complete without them"
    assert [path for path, _ in web.asked] == ["/toy.zip", "/elsewhere"]
    for file in ("a.csv", "deep/b.txt"):
        (machine / "toy-folder" / file).unlink()
    web.files["/elsewhere"] = b"notes"
    assert store.fetch("toy").members == ("a.csv", "deep/b.txt", "notes.txt")


def test_several_copies_in_one_archive_are_not_mixed_up(toys, machine, web, kit):
    web.files["/toy.zip"] = kit.zipped(
        {"old/a.csv": b"old", "old/deep/b.txt": b"old", "new/a.csv": kit.A, "new/deep/b.txt": kit.B, "x/a.csv": b"no"}
    )
    toys(PLAIN.format(url=web.url, file="toy.zip"))
    assert contents(store.fetch("toy")) == {"a.csv": kit.A, "deep/b.txt": kit.B}


def test_origins_in_order_until_one_has_it(toys, machine, web, kit, whole):
    web.files["/second.zip"] = kit.zipped({"z/both.bin": kit.A + kit.B})
    toys(
        PLAIN.format(url="http://127.0.0.1:9", file="never.zip"),
        PLAIN.format(url=web.url, file="missing.zip"),
        f'form = "wheel"\nurl = "{web.url}/second.zip"',
        PLAIN.format(url=web.url, file="not-asked.zip"),
    )
    assert store.fetch("toy").form == "wheel"
    assert [path for path, _ in web.asked] == ["/missing.zip", "/second.zip"]


def test_fetch_that_fails_is_one_line_with_reasons_and_remedy_and_leaves_nothing(toys, machine, web, kit):
    web.files["/page.zip"] = b"<html>log in to the hotel's network</html>"
    toys(PLAIN.format(url=web.url, file="missing.zip"), PLAIN.format(url=web.url, file="page.zip"))
    with pytest.raises(DataUnavailableError) as caught:
        store.fetch("toy")
    said = str(caught.value)
    assert "\n" not in said
    for part in (
        "toy cannot be fetched now",
        "404",
        "page.zip provides an archive that cannot be read",
        "make it yourself",
    ):
        assert part in said
    assert not (machine / "toy-folder").exists()


def test_an_origin_with_other_content_is_an_error_and_nothing_is_kept(toys, machine, web, kit, whole):
    web.files["/toy.zip"] = kit.zipped({**whole, "a.csv": b"changed upstream"})
    toys(PLAIN.format(url=web.url, file="toy.zip"))
    with pytest.raises(CorruptDataError) as caught:
        store.fetch("toy")
    assert kit.sha(kit.A) in str(caught.value)
    assert kit.sha(b"changed upstream") in str(caught.value)
    assert not (machine / "toy-folder" / "a.csv").exists()


@pytest.mark.parametrize("kind", ["zip", "tar.xz", "tar.gz", "tar.bz2", "plain"])
def test_one_changed_byte_is_a_digest_mismatch_in_one_line(toys, machine, web, kit, whole, kind):
    """REVIEW F7: it was reported as one decompressor message for each origin."""
    noise = {"a.csv": kit.A, "deep/b.txt": kit.B}
    packed = kit.zipped(noise) if kind == "zip" else kit.tarred(noise, f"w:{kind[4:]}") if kind != "plain" else kit.A
    name = "{member}" if kind == "plain" else f"toy.{kind}"
    at = 38 if kind == "zip" else len(packed) // 2
    changed = packed[:at] + bytes([packed[at] ^ 1]) + packed[at + 1 :]
    for host in ("one", "two"):
        web.files[f"/{host}/{'a.csv' if kind == 'plain' else name}"] = changed
    toys(*(PLAIN.format(url=f"{web.url}/{host}", file=name) for host in ("one", "two")))
    with pytest.raises(CorruptDataError) as caught:
        store.fetch("toy")
    said = str(caught.value)
    assert said.startswith(f"a.csv is corrupt: expected SHA-256 {kit.sha(kit.A)}, found ")
    assert said.count("found") == 1
    assert "\n" not in said
    assert "decompress" not in said
    assert not any(path.suffix != ".lock" for path in machine.rglob("*") if path.is_file())


def test_half_downloaded_archive_is_resumed(toys, machine, web, kit, whole):
    noise = os.urandom(500_000)
    web.files["/toy.zip"] = kit.zipped({**whole, "noise": noise})
    web.break_after = [200_000, 0, 0, 0]
    toys(PLAIN.format(url=web.url, file="toy.zip"))
    with pytest.raises(DataUnavailableError, match="cannot be fetched now"):
        store.fetch("toy")
    begun = (machine / "toy-folder" / ".partial" / "toy.zip.part").stat().st_size
    assert store.locate("toy") is None, "half a download is not data"
    web.asked.clear()
    assert contents(store.fetch("toy")) == whole
    assert web.asked == [("/toy.zip", f"bytes={begun}-")]


def test_half_downloaded_rubbish_is_begun_anew(toys, machine, web, kit, whole):
    """A part that a server continues though it is not the start of what it serves is told by the members' digests."""
    content = web.files["/toy.zip"] = kit.zipped({**whole, "noise": os.urandom(50_000)})
    toys(PLAIN.format(url=web.url, file="toy.zip"))
    kit.put(
        machine / "toy-folder" / ".partial",
        {
            "toy.zip.part": bytes(len(content) // 2),
            "toy.zip.part.json": f'{{"url": "{web.url}/toy.zip", "mark": "\\"one\\""}}'.encode(),
        },
    )
    assert contents(store.fetch("toy")) == whole
    assert [asked for _, asked in web.asked] == [f"bytes={len(content) // 2}-", None]


def test_a_mirror_on_the_web(toys, machine, web, kit, whole, monkeypatch):
    web.files["/my%20data/toy-folder/toy.zip"] = kit.zipped(whole)
    web.files["/my%20data/walks/walks.tar.xz"] = kit.tarred({f"w/{name}": c for name, c in kit.LISTED.items()})
    web.files["/my%20data/walks/people.csv"] = kit.B
    monkeypatch.setenv("SENSORPRIVACY_MIRROR", f"{web.url}/my%20data/")
    toys(PLAIN.format(url="http://127.0.0.1:9", file="never.zip"))
    assert store.locate("toy") is None, "finding uses no network"
    assert contents(store.fetch("toy")) == whole
    assert len(store.fetch("walks").members) == 7
    assert (machine / "walks" / "csv" / "top" / "walk_2" / "sub_3.csv").exists()
    assert network.NETWORK.unreachable == {}, "the mirror comes before the origins"


def test_a_wheel_as_carrier(toys, machine, tmp_path, kit, monkeypatch):
    wheel = kit.zipped(
        {
            "toydata/both.bin": kit.A + kit.B,
            "toydata-1.0.dist-info/METADATA": b"Metadata-Version: 2.1\nName: toydata\nVersion: 1.0\n",
            "toydata-1.0.dist-info/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
            "toydata-1.0.dist-info/RECORD": b"",
        }
    )
    kit.put(tmp_path / "wheels", {"toydata-1.0-py3-none-any.whl": wheel})
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "wheels"))
    toys(PLAIN.format(url="http://127.0.0.1:9", file="never.zip"), 'form = "wheel"\nwheel = "toydata==1.0"')
    assert contents(store.fetch("toy")) == {"both.bin": kit.A + kit.B}
    assert [path.name for path in (machine / "toy-folder").iterdir()] == ["both.bin"], "the wheel itself is not kept"


def test_a_declined_download_asks_no_host_and_uses_what_is_here(toys, machine, kit):
    with pytest.raises(DataUnavailableError, match=r"large is not on this machine: .*compendium data fetch large"):
        store.fetch("large", download=False)
    assert network.NETWORK.unreachable == {}, "it was not even asked for"
    with pytest.raises(DataUnavailableError, match=r"never\.zip"):
        store.fetch("large")
    kit.put(machine / "large", {"a.csv": kit.A})
    assert store.fetch("large", download=False).form == "plain"


def test_what_will_be_downloaded_is_said_with_size_and_time(toys, machine, cache, kit, web, monkeypatch):
    """MotionSense's 72 MB were not downloaded, and nothing said so before the runs started."""
    names = ["toy", "walks", "large", "asked"]
    assert store.announcement(names) == "to download: large 72 MB; 72 MB in all, about 29 s at 20 Mbit/s"
    toys(PLAIN.format(url=web.url, file="toy.zip"))
    everything = "to download: toy 40 MB, large 72 MB; 112 MB in all, about 45 s at 20 Mbit/s"
    assert store.announcement(names) == everything
    kit.put(machine / "large", {"a.csv": b"damaged"})
    assert store.announcement(["large"]) == "", "a damaged set is never replaced"
    kit.put(machine / "large", {"a.csv": kit.A})
    assert store.announcement(["large", "asked"]) == ""
    monkeypatch.setenv("SENSORPRIVACY_MIRROR", web.url)
    assert "walks 1 MB" in store.announcement(names), "a mirror on the web may have it"
    assert not web.asked, "nobody is asked"


@pytest.mark.parametrize("lie", ["longer archive", "endless archive", "longer member", "endless member"])
def test_an_answer_longer_than_the_catalogue_says_is_cut_off(toys, machine, web, kit, whole, lie, monkeypatch):
    file = "toy.zip" if "archive" in lie else "{member}"
    web.endless = "endless" in lie
    long = kit.zipped({**whole, "noise": os.urandom(1_100_000)})
    web.files.update({"/toy.zip": long, "/a.csv": kit.A + b"1,2\n", "/deep/b.txt": kit.B})
    toys(PLAIN.format(url=web.url, file=file))
    monkeypatch.setattr(Dataset, "megabytes", 0.01)
    with pytest.raises(DataUnavailableError, match=r"the answer is longer than the .* MB that the file may have"):
        store.fetch("toy")
    assert web.sent < 40_000_000 if web.endless else web.sent <= len(long)
    assert not any(path.suffix != ".lock" for path in machine.rglob("*") if path.is_file()), "nothing is kept"


def test_a_member_that_unpacks_to_more_than_its_size_is_not_unpacked(toys, machine, web, kit, monkeypatch):
    web.files["/toy.zip"] = kit.zipped({"a.csv": kit.A + bytes(50_000_000), "deep/b.txt": kit.B})
    toys(PLAIN.format(url=web.url, file="toy.zip"))
    hashed = []
    monkeypatch.setattr(pooch, "file_hash", lambda path: hashed.append(Path(path).stat().st_size) or "other")
    with pytest.raises(CorruptDataError):
        store.fetch("toy")
    assert max(hashed) == len(kit.A) + 1


def test_the_password_of_a_mirror_is_in_no_message_and_no_file(
    toys, machine, tmp_path, web, kit, whole, monkeypatch, caplog, capfd
):
    monkeypatch.setenv("SENSORPRIVACY_MIRROR", web.url.replace("//", "//ann:secret@"))
    web.password = "Basic " + base64.b64encode(b"ann:secret").decode()
    web.files["/toy-folder/toy.zip"] = content = kit.zipped({**whole, "noise": os.urandom(400_000)})
    messages, written = [], []
    for fault in ("break", "busy", "other content", "no file", "wrong password", "down"):
        network.NETWORK.__init__()
        web.break_after = [200_000, 0, 0, 0] if fault == "break" else []
        web.busy = 9 if fault == "busy" else 0
        web.files["/toy-folder/toy.zip"] = kit.zipped({"a.csv": b"x"}) if fault == "other content" else content
        if fault == "no file":
            del web.files["/toy-folder/toy.zip"]
        web.password += "x" * (fault == "wrong password")
        if fault == "down":
            monkeypatch.setenv("SENSORPRIVACY_MIRROR", "http://ann:secret@127.0.0.1:9")
        with pytest.raises((DataUnavailableError, CorruptDataError)) as caught:
            store.fetch("toy")
        messages.append(str(caught.value))
        written += [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert ["127.0.0.1" in message for message in messages].count(True) >= 5, messages
    assert any(b"127.0.0.1" in content for content in written), "the note of the unfinished download has the address"
    shown = "".join([*messages, caplog.text, *capfd.readouterr()]).encode()
    assert not [text for text in [shown, *written] if b"secret" in text or b"ann:" in text]


def test_state_is_plain_and_stable(toys, machine, kit, whole):
    absent = store.state("toy")
    assert (absent["status"], absent["digest"], absent["where"]) == ("absent", None, None)
    assert "make it yourself" in absent["why"]
    kit.put(machine / "toy-folder", whole)
    present = store.state("toy")
    assert present == store.state("toy")
    assert (present["status"], present["where"]) == ("present", str(machine / "toy-folder"))
    assert present["digest"] == store.locate("toy").digest


def test_a_set_on_request_is_what_the_user_puts_there(toys, machine, kit):
    with pytest.raises(DataUnavailableError, match="ask the owner"):
        store.fetch("asked")
    kit.put(machine / "asked", {"one/x.csv": kit.A, "y.zip": kit.zipped({"y.csv": kit.B}), "y/y.csv": kit.B})
    located = store.fetch("asked")
    assert contents(located) == {"one/x.csv": kit.A, "y/y.csv": kit.B}
    kit.put(machine / "asked", {"one/x.csv": kit.A + b"3,4\n"})
    assert store.locate("asked").digest != located.digest


def test_unknown_set(toys):
    for act in (store.locate, store.fetch, store.verify, store.state, store.available):
        with pytest.raises(UnknownDatasetError, match="Did you mean 'toy'"):
            act("toi")


# ---- other processes, other users


def process(kit, script, *origins_of_toy, **how):
    """Run a script in a process of its own that has the toy catalogue."""
    head = f"""
    import logging, runpy, sys
    toys = runpy.run_path({str(kit.path)!r})
    toys["use_text"]({kit.toy_text(*origins_of_toy)!r})
    from compendium.datasets import store
    """
    code = textwrap.dedent(head) + textwrap.dedent(script)
    return subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=kit.path.parents[3] / "lib",
        **how,
    )


def wait_for(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)


def test_two_processes_fetching_the_same_set_at_once(toys, machine, web, kit, whole):
    web.files["/toy.zip"] = kit.zipped(whole)
    web.hold = threading.Event()  # the first is kept in the middle of its download until the second has come
    script = """
    print("ready", flush=True)
    located = store.fetch("toy")
    print(located.read("a.csv") == toys["A"])
    """
    source = PLAIN.format(url=web.url, file="toy.zip")
    both = [process(kit, script, source) for _ in range(2)]
    for one in both:
        assert one.stdout.readline() == "ready\n"
    wait_for(lambda: web.asked)
    time.sleep(0.3)
    assert len(web.asked) == 1, "one downloads, the other waits"
    web.hold.set()
    for one in both:
        out, err = one.communicate(timeout=30)
        assert (out, one.returncode) == ("True\n", 0), err
    assert len(web.asked) == 1, "the second found what the first had fetched"


def test_a_process_killed_in_the_middle_loses_nothing(toys, machine, web, kit, whole):
    content = web.files["/toy.zip"] = kit.zipped({**whole, "noise": os.urandom(400_000)})
    web.hold = threading.Event()
    source = PLAIN.format(url=web.url, file="toy.zip")
    victim = process(kit, 'store.fetch("toy")', source)
    begun = machine / "toy-folder" / ".partial" / "toy.zip.part"
    wait_for(lambda: begun.exists() and begun.stat().st_size > len(content) // 4)
    victim.send_signal(signal.SIGKILL)
    victim.communicate()
    web.hold.set()
    web.hold, size = None, begun.stat().st_size
    (machine / "toy-folder" / ".partial" / "stage-left").mkdir()
    web.asked.clear()
    toys(source)
    assert contents(store.fetch("toy")) == whole
    assert web.asked == [("/toy.zip", f"bytes={size}-")]
    assert not (machine / "toy-folder" / ".partial").exists()


@pytest.mark.slow
def test_ends_at_random_moments_leave_a_set_whole_or_absent(toys, machine, web, kit, whole):
    web.files["/toy.zip"] = kit.zipped({**whole, "noise": os.urandom(60_000_000)})
    source = PLAIN.format(url=web.url, file="toy.zip")
    toys(source)
    script = """
    print("ready", flush=True)
    store.fetch("toy")
    """

    def fetch(signal_=None, after=math.inf):
        """Return the seconds of a fetch that came to its own end, and None for one that was ended."""
        one = process(kit, script, source)
        assert one.stdout.readline() == "ready\n"
        began = time.monotonic()
        with contextlib.suppress(subprocess.TimeoutExpired):
            one.wait(min(after, 60))
        ended = one.poll() is None
        if ended:
            one.send_signal(signal_)
        one.communicate(timeout=20)
        return None if ended else time.monotonic() - began

    draw, ends, parts, needed = random.Random(0), 0, 0, fetch()
    begun = machine / "toy-folder" / ".partial"
    while ends < 24 or (parts < 6 and ends < 96):
        if store.locate("toy") is not None:
            shutil.rmtree(machine / "toy-folder")
        anew = not begun.exists()
        signal_ = [signal.SIGKILL, signal.SIGTERM, signal.SIGINT][ends % 3]
        took = fetch(signal_, draw.uniform(0, needed))
        needed = took if took and anew else needed
        ends, parts = ends + 1, parts + begun.exists()
        located = store.locate("toy")
        assert located is None or contents(located) == whole
    assert parts >= 6, "some ends must fall into the work"
    assert contents(store.fetch("toy")) == whole
    assert not (machine / "toy-folder" / ".partial").exists()


def drop_override():
    """Take from root, for good, the right to write whatever a file's mode says."""
    # prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE)
    ctypes.CDLL(None).prctl(24, 1, 0, 0, 0)


@pytest.fixture
def other_user():
    """How to start a process that a file's mode stops from writing; root's would not be."""
    return {"preexec_fn": drop_override} if os.geteuid() == 0 else {}


def test_read_only_data_folder_falls_to_the_cache(toys, machine, cache, web, kit, whole, other_user):
    web.files["/toy.zip"] = kit.zipped(whole)
    machine.mkdir()
    machine.chmod(0o555)
    machine.parent.chmod(0o555)
    cache.mkdir()
    cache.chmod(0o777)
    script = """
    import os
    assert not os.access(os.environ["SENSORPRIVACY_HOME"] + "/data/raw", os.W_OK), "the test must not be able to write"
    print(store.fetch("toy").path)
    """
    one = process(kit, script, PLAIN.format(url=web.url, file="toy.zip"), **other_user)
    out, err = one.communicate(timeout=30)
    assert out.strip() == str(cache / "toy-folder"), err
    assert "cannot write to" in err
    assert list(machine.iterdir()) == []


def test_nowhere_to_write_is_a_clear_error(toys, machine, cache, web, kit, whole, other_user):
    web.files["/toy.zip"] = kit.zipped(whole)
    machine.mkdir()
    machine.chmod(0o555)
    cache.mkdir()
    cache.chmod(0o555)
    script = """
    try:
        store.fetch("toy")
    except LookupError as error:
        print(error)
    """
    one = process(kit, script, PLAIN.format(url=web.url, file="toy.zip"), **other_user)
    out, err = one.communicate(timeout=30)
    for part in (str(machine), str(cache), "Permission denied", "SENSORPRIVACY_CACHE"):
        assert part in out, err
    assert web.asked == []


def test_what_lies_in_a_read_only_folder_is_read(toys, machine, cache, kit, whole, other_user):
    kit.put(machine / "toy-folder", whole)
    cache.mkdir()
    cache.chmod(0o555)
    one = process(kit, 'print(store.fetch("toy").read("a.csv") == toys["A"])', **other_user)
    out, err = one.communicate(timeout=30)
    assert out == "True\n", err


def test_a_full_disk_is_a_clear_error(toys, machine, web, kit, whole, monkeypatch):
    web.files["/toy.zip"] = kit.zipped(whole)
    toys(PLAIN.format(url=web.url, file="toy.zip"))

    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(fetching, "walk", full)
    with pytest.raises(DataUnavailableError, match=r"toy cannot be written to .*toy-folder: No space left on device"):
        store.fetch("toy")


def test_a_search_lists_archives_and_finds_nothing_in_a_folder_that_is_not_there(toys, tmp_path, kit):
    kit.put(tmp_path / "here", {"a.tar": kit.tarred({"a.csv": kit.A}), "b.zip": b"no zip"})
    search = Search(lookup("toy"), [tmp_path / "none", tmp_path / "here"])
    assert search.located() is None
    assert search.archives == [tmp_path / "here" / "a.tar", tmp_path / "here" / "b.zip"]
