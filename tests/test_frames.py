"""Tables of other libraries."""

import pandas as pd
import pytest

from sensorprivacy.data import as_frame


def test_other_tables_become_pandas_and_anything_else_is_refused():
    polars, pyarrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"a": [1, 2], "b": ["x", "y"]})
    assert as_frame(frame) is frame
    for other in (polars.from_pandas(frame), polars.from_pandas(frame).lazy(), pyarrow.Table.from_pandas(frame)):
        assert as_frame(other).to_dict("list") == frame.to_dict("list")
    with pytest.raises(TypeError, match="a table must be a pandas, polars or Arrow table, or a path, got list"):
        as_frame([1, 2])
