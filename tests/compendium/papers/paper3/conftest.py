"""The windows and the networks of the tests of `latent`, for what is computed with them here."""

import runpy
from pathlib import Path

_FIXTURES = runpy.run_path(str(Path(__file__).parents[3] / "latent" / "conftest.py"))
windows, unseen = _FIXTURES["windows"], _FIXTURES["unseen"]
trained, models, anonymizer = (_FIXTURES[name] for name in ("trained", "models", "anonymizer"))
