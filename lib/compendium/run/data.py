"""Find or fetch data sets for `reproduce` and ``compendium run``."""

from collections.abc import Callable, Iterable

from compendium.datasets import store
from compendium.datasets.errors import CorruptDataError, DataUnavailableError
from compendium.run.states import DataState


def looker(profile: str) -> Callable[[str], DataState]:
    """Return a function that finds or fetches one data set for `reproduce`.

    Parameters
    ----------
    profile : {"quick", "paper"}
        ``quick`` downloads no set above about 30 MB, but uses one that is on the machine already.
    """

    def look(name: str) -> DataState:
        try:
            return DataState(name, digest=store.fetch(name, limit_mb=store.limit_of(profile)).digest)
        except DataUnavailableError as error:
            return DataState(name, reason=str(error), how=store.state(name)["how"])
        except CorruptDataError as error:
            return DataState(name, reason=str(error), broken=True)

    return look


def fetch(names: Iterable[str], say: Callable[[str], None] = print) -> list[str]:
    """Fetch data sets, with one line for each; return the names of those that are unavailable or corrupt."""
    missing = []
    for name in names:
        try:
            say(f"{name}: {store.fetch(name).path}")
        except (DataUnavailableError, CorruptDataError) as error:
            say(f"{name}: {error}")
            missing.append(name)
    return missing
