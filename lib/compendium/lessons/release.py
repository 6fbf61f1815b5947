"""Make the student versions of the lessons with nbgrader: a course folder that a teacher can hand out and grade."""

import json
import os
import shutil
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from compendium.paths import digest_of, project_root
from sensorprivacy.paths import write_atomically

COURSE = "sensor-privacy"
WRITTEN = ".lessons.json"  # digests of the sources that `make_course` wrote last
_COMPILED = shutil.ignore_patterns("__pycache__")
CONFIG = Path(__file__).with_name("nbgrader_config.txt")  # the settings of a new course folder


def lessons() -> list[Path]:
    """Return the lesson notebooks with their solutions, in order."""
    return sorted((project_root() / "notebooks" / "lessons").glob("6*_*.ipynb"))


def make_course(out: Path, notice: Callable[[str], object] = lambda _: None) -> list[Path]:
    """Write a course folder for nbgrader, with the lessons, their student versions and the checks beside both.

    Parameters
    ----------
    out : Path
        The course folder. Existing student versions in it are replaced. Submissions, grades and sources that a teacher
        has changed stay.
    notice : callable, optional
        Called with a line of text for each changed source.

    Returns
    -------
    list of Path
        The student notebooks, ``out/student/<lesson>/<lesson>.ipynb``.

    Raises
    ------
    RuntimeError
        If nbgrader refuses a lesson; the message names it.
    """
    from nbgrader.apps import NbGraderAPI
    from traitlets.config import Config

    if shutil.which("alembic") is None:  # nbgrader calls it, also if the environment is not activated
        os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    out = out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    config_file = out / "nbgrader_config.py"
    if not config_file.is_file():  # a teacher may have changed it
        write_atomically(config_file, partial(shutil.copyfile, CONFIG))
    config = Config()
    config.CourseDirectory.update({"root": str(out), "course_id": COURSE, "release_directory": "student"})
    api = NbGraderAPI(config=config)
    written = json.loads((out / WRITTEN).read_text(encoding="utf-8")) if (out / WRITTEN).is_file() else {}
    made = []
    for lesson in lessons():
        source = out / "source" / lesson.stem / lesson.name
        source.parent.mkdir(parents=True, exist_ok=True)
        if source.is_file() and digest_of(source) not in (written.get(lesson.stem), digest_of(lesson)):
            shown = source.relative_to(out).as_posix()
            notice(f"{shown} is changed and stays; the student version follows it. To get the lesson again, delete it.")
        else:
            write_atomically(source, partial(shutil.copyfile, lesson))
            written[lesson.stem] = digest_of(source)
            write_atomically(out / WRITTEN, lambda path: path.write_text(json.dumps(written), encoding="utf-8"))
        checks = lesson.parent / "checks"  # nbgrader copies what lies beside a source to its student version
        shutil.copytree(checks, source.parent / "checks", ignore=_COMPILED, dirs_exist_ok=True)
        result = api.generate_assignment(lesson.stem, force=True, create=True)
        if not result["success"]:
            why = result.get("error") or result.get("log")
            raise RuntimeError(f"nbgrader made no student version of {lesson.stem}: {why}")
        made.append(out / "student" / lesson.stem / lesson.name)
    return made
