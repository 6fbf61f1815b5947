"""The stated guarantees: each limit appears where it applies, and only there."""

import pandas as pd
import pytest

from sensorprivacy.threeway import Division
from sensorprivacy.threeway.domains import domain_of
from sensorprivacy.threeway.publication import state_guarantees

AGES = pd.Series([20, 50, 80], name="age")
GIVEN, READ = {"age": domain_of(AGES, bounds=(0, 120))}, {"age": domain_of(AGES)}
SPENT = pd.Series({"age": 2.0})
LIMITS = {
    "comparison": "chosen by comparing draws",
    "division": "one other cell can change the groups",
    "domain": "Bounds or categories of age were read from the data",
    "unchanged": "Published unchanged and without any guarantee: sex",
}


@pytest.mark.parametrize("domains", [GIVEN, READ])
@pytest.mark.parametrize("compared", [False, True])
@pytest.mark.parametrize("learned", [False, True])
@pytest.mark.parametrize("raw", [(), ("sex",)])
def test_each_limit_is_stated_where_it_applies(domains, compared, learned, raw):
    division = Division(0.9, 0.1, ("id",), raw, ("age",))
    said = " ".join(state_guarantees(division, domains, SPENT, compared=compared, division_from_data=learned))
    assert "noisy cells of one row have a total epsilon of 2" in said
    assert "Rows keep their original order" in said
    applies = {"comparison": compared, "division": learned, "domain": domains is READ, "unchanged": bool(raw)}
    assert {limit: words in said for limit, words in LIMITS.items()} == applies


def test_without_noise_there_is_no_epsilon():
    said = " ".join(state_guarantees(Division(0.5, 0.5, ("id",), ("sex",), ()), {}, pd.Series(dtype=float)))
    assert "epsilon of" not in said
