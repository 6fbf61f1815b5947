"""No release holds the user, a copy of the user, or an identifier."""

import numpy as np
import pandas as pd
import pytest

from sensorprivacy.datasets import shareable_table


@pytest.fixture
def home():
    owner = np.array(["ann", "bob", "cyd"])[np.arange(60) % 3]
    return pd.DataFrame(
        {
            "owner": owner,
            "code": np.arange(60) % 3 * 17,  # the owner as a number
            "mail": [f"{name}@home.org" for name in owner],
            "device": [f"{name}'s phone {at % 7}" for at, name in enumerate(owner)],
            "record": range(60),
            "lux": np.random.default_rng(0).normal(size=60).round(1),
            "room": np.random.default_rng(1).choice(["hall", "attic"], 60),
        }
    )


def test_owner_and_mail_are_left_out(home, tmp_path):
    """REVIEW E2: notebook 21 published both with noise, and 41 % of the addresses stayed true."""
    home.to_csv(tmp_path / "home.csv", index=False)
    for source in (home, tmp_path / "home.csv"):
        found = shareable_table(source, user="owner")
        assert list(found) == ["lux", "room"]
        assert set(found.attrs["left_out"]) == {"owner", "mail", "record", "code", "device"}
        assert found.attrs["left_out"]["mail"] == "e-mail addresses"
        assert found.attrs["left_out"]["device"].endswith("its value alone identifies the user")
    assert list(shareable_table(home, user="owner", drop=["lux"], keep=["record"])) == ["record", "room"]


def test_the_user_must_be_named(home):
    with pytest.raises(ValueError, match=r"user is missing: name the column .*, or give user='-'"):
        shareable_table(home, user=None)
    assert "owner" in shareable_table(home, user="-")
    with pytest.raises(ValueError, match="no column is left"):
        shareable_table(home[["owner", "mail"]], user="owner")
