"""Options that click lacks refuse what is no number."""

import click
import pytest

from sensorrelease.options import Jobs, Numbers


@pytest.mark.parametrize(("kind", "value"), [(Jobs(-1, 8), "0"), (Jobs(-1, 8), "-2"), (Numbers(0, 1), "nan")])
def test_no_work_and_no_number_are_refused(kind, value):
    with pytest.raises(click.BadParameter):
        kind.convert(value, None, None)
    assert kind.convert("1", None, None) == 1
