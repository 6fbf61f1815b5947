"""Bringing a set to this machine; test_store.py asks for it through `store.fetch`, as everybody else does."""

import pytest

from compendium.datasets import fetching
from compendium.datasets.catalogue import lookup
from compendium.datasets.errors import DataUnavailableError


def test_a_set_without_origins_names_the_remedy(toys):
    with pytest.raises(DataUnavailableError, match=r"toy is not on this machine .*: make it yourself"):
        fetching.bring(lookup("toy"))


def test_a_set_that_only_its_owner_gives_says_whom_to_ask():
    with pytest.raises(DataUnavailableError, match=r"mobiact is not on this machine .*: on request from its owner"):
        fetching.bring(lookup("mobiact"))
