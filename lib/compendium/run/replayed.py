"""Execute the cells of a notebook in this process, so that each repetition gives the same files, and note what ran.

`replay` starts this file as a script, with the library of either of two states of the code. So it imports nothing of
ours before that library is on the path. Randomness is seeded, also that of secure sources. Clocks count their calls.
"""

import json
import os
import random
import secrets
import sys
import threading
import time
import timeit
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

_TICK = 1e-3  # seconds that a clock advances with each call


def main(job: dict[str, Any]) -> None:
    """Execute a notebook.

    Parameters
    ----------
    job : dict
        ``notebook`` and ``lib``, paths; ``name`` of the run; ``values`` of its parameters; ``ran``, the file to write:
        the functions of the library that ran, each as file and qualified name, and seconds of processor time.
    """
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    _seed_secure_sources(job["seed"])
    _count_clocks()
    ran = _note_functions(job["lib"])
    from compendium.run import notebook as opener
    from compendium.run.parameters import code_cells
    from sensorprivacy import mechanisms

    vars(opener)["run_name"] = lambda path, values: (job["name"], True)  # settings of replay are not in runs.yaml
    seeded = mechanisms.SeededNoise(job["seed"])
    for method in ("laplace", "flags", "integers"):  # OpenDP cannot be seeded
        setattr(mechanisms.SecureNoise, method, staticmethod(getattr(seeded, method)))
    space: dict[str, Any] = {"__name__": "__main__", "display": lambda *results: None}
    for source, tags in code_cells(Path(job["notebook"])):
        exec(compile(source, "<cell>", "exec"), space)  # noqa: S102 - our own notebook
        if "parameters" in tags:
            space.update(job["values"])
    seconds = sum(os.times()[:4])  # of this process and those that it started
    Path(job["ran"]).write_text(json.dumps({"functions": sorted(ran), "seconds": seconds}), encoding="utf-8")


def _end_with(parent: int) -> None:
    never = threading.Event()
    while os.getppid() == parent:
        never.wait(0.5)
    os._exit(1)


def _seed_secure_sources(seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311 - a replay publishes nothing
    of_secrets: dict[str, Any] = {"randbits": draw.getrandbits, "randbelow": draw.randrange}
    of_secrets["token_bytes"] = lambda count=32: draw.randbytes(count)
    vars(secrets).update(of_secrets)  # NumPy seeds its generators with them
    vars(os)["urandom"] = draw.randbytes


def _count_clocks() -> None:
    """Let each call of a clock return a little more than the last: measured times are then counts of calls."""
    calls = [0]

    def clock() -> float:
        calls[0] += 1
        return calls[0] * _TICK

    for function in (timeit.timeit, timeit.repeat, timeit.Timer.__init__):  # their defaults hold the clock
        known = function.__defaults__ or ()
        function.__defaults__ = tuple(clock if each is timeit.default_timer else each for each in known)
    time.perf_counter = time.process_time = time.thread_time = timeit.default_timer = clock
    time.perf_counter_ns = time.process_time_ns = lambda: round(1e9 * clock())


def _note_functions(lib: str) -> set[tuple[str, str]]:
    """Return a set that fills with the functions of the library that are called from now on."""
    ran: set[tuple[str, str]] = set()
    known: set[CodeType] = set()

    def note(frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if code not in known:
            known.add(code)
            if code.co_filename.startswith(lib):
                ran.add((code.co_filename[len(lib) + 1 :], code.co_qualname))

    threading.settrace(note)
    sys.settrace(note)
    return ran


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
