"""How a file is written is guessed from its first lines; what is no table is refused."""

import bz2
import gzip
import lzma

import openpyxl
import pytest

from sensorrelease.schema.sniff import sniff

ROWS = "".join(f"{k}.5;{'hall' if k % 2 else 'bath'};P{k % 4}\n" for k in range(30))
HEAD = "load;room;owner\n"


def sniffed(tmp_path, text, name="home.csv", encoding="utf-8"):
    (tmp_path / name).write_bytes(text.encode(encoding))
    return sniff(tmp_path / name)


@pytest.mark.parametrize(
    ("above", "keys"),
    [
        ("", {}),
        ("# made by Anna\n", {"headerRows": [2], "commentChar": "#"}),
        ("sep=;\n", {"headerRows": [2]}),
        ("a title\n\n", {"headerRows": [3]}),
        ("station;7\n", {"headerRows": [2]}),
    ],
)
def test_the_header_is_found_below_other_lines(tmp_path, above, keys):
    dialect = sniffed(tmp_path, above + HEAD + ROWS)["dialect"]
    assert dialect.model_dump(exclude_defaults=True) == {"delimiter": ";"} | keys


def test_a_table_above_the_table_is_no_banner(tmp_path):
    dialect = sniffed(tmp_path, "a;b;c;d\n1;2;3;4\n" + HEAD + ROWS)["dialect"]
    assert dialect.headerRows == [1]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "cp1252"])
def test_the_encoding_is_found(tmp_path, encoding):
    found = sniffed(tmp_path, HEAD + "1.5;Küche;Jörg\n" * 9, encoding=encoding)
    assert found["encoding"] == encoding.removesuffix("-sig")


def test_a_letter_far_below_decides_the_encoding_too(tmp_path):
    text = HEAD + ROWS * 3000
    assert sniffed(tmp_path, text + "1.5;hall;Jörg\n", encoding="cp1252")["encoding"] == "cp1252"
    assert sniffed(tmp_path, text + "1.5;hall;Jörg\n")["encoding"] == "utf-8"


@pytest.mark.parametrize(
    "write", [gzip.compress, bz2.compress, lzma.compress, str, lambda text: b"PAR1\x15\x81" + text]
)
def test_what_is_no_text_is_refused(tmp_path, write):
    """A packed file with the name of a text was read, and its bytes shown as an odd line; so was Japanese text."""
    content = (
        write((HEAD + ROWS).encode()) if write is not str else "温度;行動;名前\n1.5;座る;佐藤\n".encode("shift_jis")
    )
    (tmp_path / "home.csv").write_bytes(content)
    with pytest.raises(ValueError, match=r"home\.csv is not text in UTF-8 or Windows-1252.*unpack it.*as UTF-8"):
        sniff(tmp_path / "home.csv")


def test_the_name_says_the_format(tmp_path):
    assert sniffed(tmp_path, "{}", "home.jsonl.gz".removesuffix(".gz"))["format"] == "jsonl"
    for name in ("home.json", "home.xls", "home", "home.xlsx.gz"):
        with pytest.raises(ValueError, match="unknown format"):
            sniffed(tmp_path, HEAD, name)
    for text in ("\n\n", "# nothing\n"):
        with pytest.raises(ValueError, match="has no header"):
            sniffed(tmp_path, text)
    with pytest.raises(ValueError, match="line 1, where the header is"):
        sniffed(tmp_path, ROWS)
    with pytest.raises(ValueError, match=r"home\.dat has spaces between its columns: write commas"):
        sniffed(tmp_path, (HEAD + ROWS).replace(";", "  "), "home.dat")


def test_the_longest_sheet_is_the_table(tmp_path):
    """A workbook whose first sheet describes the project had "no rows below its header", and no remedy."""
    book = openpyxl.Workbook()
    book.active.append(["project", "home"])
    page = book.create_sheet("data")
    for line in ["made in 2026", *(HEAD + ROWS).splitlines()]:
        page.append(line.split(";"))
    book.create_sheet("hidden").sheet_state = "hidden"
    book.save(tmp_path / "home.xlsx")
    dialect = sniff(tmp_path / "home.xlsx")["dialect"]
    assert (dialect.sheet, dialect.headerRows) == ("data", [2])
    page.delete_rows(1, 99)
    book.active.delete_rows(1)
    book.save(tmp_path / "home.xlsx")
    with pytest.raises(ValueError, match="no visible sheet with rows"):
        sniff(tmp_path / "home.xlsx")


def test_a_text_that_unpacks_to_far_more_than_its_size_is_refused(tmp_path, monkeypatch):
    """A packed file of 2 MB was unpacked to its end, 2 GB, to find its encoding."""
    monkeypatch.setattr("sensorrelease.schema.files._UNPACKED", 1000)
    with gzip.open(tmp_path / "home.csv.gz", "wb") as file:
        file.write(b"room,owner\n" * 10**6)
    with pytest.raises(ValueError, match=r"home\.csv\.gz unpacks to more than 100 times its size"):
        sniff(tmp_path / "home.csv.gz")
