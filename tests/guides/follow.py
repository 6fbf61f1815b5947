"""Follow guides in the current folder, as a reader does: every command as printed, in the guide's order.

``python follow.py GUIDE.md... WORD...`` runs commands that begin with ``sensorprivacy`` and blocks of Python. A command
that holds one of the words is left out. One process follows all, so that the library is imported once.
"""

import re
import shlex
import sys
import time
from pathlib import Path

_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def steps(guide: str) -> list[tuple[str, str]]:
    """Return language and text of each step: a line of a shell, or a whole block of another language."""
    found = []
    for language, text in _BLOCK.findall(guide):
        lines = text.replace("\\\n", " ").splitlines() if language in ("", "sh") else [text]
        found += [(language or "sh", line.strip()) for line in lines if line.strip()]
    return found


def follow(guide: Path, without: list[str]) -> int:
    """Follow a guide and return 1 at the first step that fails."""
    from sensorrelease.cli import main as sensorprivacy

    names: dict = {}
    for language, text in steps(guide.read_text(encoding="utf-8")):
        if any(word in text for word in without):
            continue
        began = time.process_time()
        if language == "python":
            exec(text, names)
        elif language == "sh" and text.startswith("sensorprivacy "):
            if code := sensorprivacy(shlex.split(text, comments=True)[1:]):
                print(f"FAILED with {code}: {text}")
                return 1
        else:
            continue
        print(f"FOLLOWED in {time.process_time() - began:.1f} s: {text.splitlines()[0]}", flush=True)
    return 0


if __name__ == "__main__":
    guides = [Path(word) for word in sys.argv[1:] if word.endswith(".md")]
    sys.exit(max(follow(guide, sys.argv[1 + len(guides) :]) for guide in guides))
