"""Every command that a message of ours tells a user to run exists, with exactly these words."""

import ast
import os
import re
import shlex
import shutil
import subprocess
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

from compendium.cli import main as compendium
from compendium.datasets.catalogue import catalogue
from compendium.paths import command
from sensorprivacy.extras import EXTRAS, remedy

ROOT = Path(__file__).resolve().parents[2]
# A command in a sentence. Names to replace are written large; values that the message fills in are in braces.
COMMAND = re.compile(
    r"(?:(?<=[\s`(:])|^)(?P<program>(?:\S+ -m )?pip install|(?:\S+ -m )?(?:compendium|sensor(?:privacy|release))|make)"
    r"(?P<words>(?: (?:-{1,2}[a-z][\w-]*|[A-Z]+=[\w{}]+|[\w{.][\w.{}=\[\]-]*))+)"
)
# The command ends where the sentence goes on.
SENTENCE = re.compile(r" (?:to|or|and|says|tries|finds|first|a|at|users|room|it|each|them)\b.*")
VALUES = {
    "{entry.name}": "adult",
    "NAME": "adult",
    "{path.parent}": ".",
    "FOLDER": ".",
    "{how}": "-r requirements-dev.lock",
}


def texts():
    """Yield the place and the text of each string of our packages that may be printed: no docstring, no comment."""
    for path in sorted((ROOT / "lib").rglob("*.py")):
        tree, place = ast.parse(path.read_text(encoding="utf-8")), path.relative_to(ROOT).as_posix()
        owners = [one for one in ast.walk(tree) if isinstance(one, ast.Module | ast.ClassDef | ast.FunctionDef)]
        left_out = {id(one.body[0].value) for one in owners if one.body and isinstance(one.body[0], ast.Expr)}
        left_out |= {id(part) for one in ast.walk(tree) if isinstance(one, ast.JoinedStr) for part in one.values}
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "command" and node.args:
                left_out.add(id(node.args[0]))
                yield f"{place}:{node.lineno}", f"command compendium {said(node.args[0])}"
            elif isinstance(node, ast.JoinedStr | ast.Constant) and id(node) not in left_out:
                yield f"{place}:{node.lineno}", said(node)
    yield from ((f"how to get {entry.name}", entry.how) for entry in catalogue().values())


def said(node):
    """Return the text of a string; the values that it fills in are in braces."""
    if isinstance(node, ast.JoinedStr):
        return "".join(said(part) for part in node.values)
    if isinstance(node, ast.FormattedValue):
        return f"{{{re.sub(r'[^A-Za-z.]', '', ast.unparse(node.value))}}}"
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def remedies():
    """Return every command in our messages, with the first place that prints it."""
    found: dict[str, str] = {}
    for place, text in texts():
        through = text.startswith("command ")
        for match in COMMAND.finditer(text.removeprefix("command ")):
            words = SENTENCE.sub("", f"{match[0]} ").strip(" .")
            if len(words.split()) > len(match["program"].split()):  # not "make room"
                found.setdefault(command(words.removeprefix("compendium ")) if through else words, place)
    return found


REMEDIES = remedies()


def test_the_remedies_are_found():
    assert len(REMEDIES) > 15
    assert {"make data", "make reproduce", "sensorprivacy edge export", "pip install openpyxl"} <= set(REMEDIES)


@pytest.mark.parametrize("words", REMEDIES)
def test_a_remedy_runs_as_printed(words, capsys, monkeypatch):
    """`python -m compendium data fetch` said "No module named compendium"."""
    monkeypatch.setenv("PATH", os.defpath)  # as when the texts were collected: our commands are not on it
    for name, value in VALUES.items():
        words = words.replace(name, value)
    program, *rest = shlex.split(words)
    if program == "make":
        assert_made(rest)
    elif "pip" in (program, *rest[:2]):
        assert_installable(rest[rest.index("install") + 1 :])
    elif program.endswith("sensorprivacy"):
        assert sensorprivacy()([*rest, "--help"]) == 0, capsys.readouterr()
    else:
        place = REMEDIES.get(words, "")
        assert Path(program).name == "compendium", (
            f"{words} of {place}: without .venv/bin/, the shell knows no {program}"
        )
        assert program == command("x").split()[0], f"{words} of {place}: paths.command writes where it is installed"
        assert compendium([*rest, "--help"]) == 0, capsys.readouterr()


def sensorprivacy():
    """Return the function behind the command `sensorprivacy`."""
    module, _, name = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"][
        "sensorprivacy"
    ].partition(":")
    return getattr(import_module(module), name)


def assert_made(words):
    """Check that the Makefile has the target and the variables; it accepts any name of a variable."""
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert [name for word in words if (name := word.partition("=")[0]) != word and f"\n{name} " not in text] == []
    if shutil.which("make"):
        done = subprocess.run(["make", "-n", *words], cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def assert_installable(words):
    """Check that the file is here, or that the lock has the packages."""
    if words[0] == "-r":
        assert (ROOT / words[1]).is_file()
        return
    lock = "".join(f"\n{(ROOT / name).read_text()}" for name in ("requirements-dev.lock", "requirements.lock"))
    names = [word.partition("==")[0] for word in words if "{" not in word]
    assert [name for name in names if f"\n{name}==" not in lock] == []


@pytest.mark.parametrize("module", sorted(name for names in EXTRAS.values() for name in names))
def test_what_a_missing_package_needs_is_installable(module):
    error = remedy(ModuleNotFoundError(f"No module named {module!r}", name=module))
    assert_installable(str(error).partition("pip install ")[2].replace("_", "-").split())


def test_packages_are_installed_where_this_python_finds_them():
    """A bare `pip install` fills another environment than .venv."""
    for name in ("cli", "run/cluster"):
        text = (ROOT / "lib" / "compendium" / f"{name}.py").read_text(encoding="utf-8")
        assert "{shlex.quote(sys.executable)} -m pip install" in text, name
