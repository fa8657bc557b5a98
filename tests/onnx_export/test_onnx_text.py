"""Numbers and dates that came as text: graphs take them as the numbers and dates that they are."""

import json

import numpy as np
import pandas as pd
import pytest
from exported import Session, assert_close

from elmband import ELMIntervalRegressor, TableEncoder, scan
from elmband.models.onnx_export import to_onnx

N = 200


@pytest.fixture(scope="module")
def tables():
    """The same table as text and with types."""
    rng = np.random.default_rng(0)
    days = pd.Series(pd.Timestamp("2012-01-01") + pd.to_timedelta(rng.integers(0, 900, N), "D"))
    hp = pd.Series(rng.integers(40, 200, N).astype(float))
    hp[3] = np.nan
    typed = pd.DataFrame({"hp": hp, "us": days, "iso": days, "compact": days, "zoned": days})
    typed["zoned"] = typed["zoned"].dt.tz_localize("UTC")
    text = pd.DataFrame(
        {
            "hp": hp.map(str).where(hp.notna(), "-"),
            "us": days.dt.strftime("%m/%d/%Y"),
            "iso": days.dt.strftime("%Y-%m-%d"),
            "compact": days.dt.strftime("%Y%m%d"),
            "zoned": days.dt.strftime("%Y-%m-%dT%H:%M:%SZ"),
        }
    )
    y = hp.fillna(100) / 50 + days.dt.month + rng.normal(size=N)
    return text.assign(y=y), typed.assign(y=y)


def test_graphs_take_what_text_stands_for(tables):
    text, typed = tables
    rows = scan(text, target="y", encoder=TableEncoder(types={"compact": "date"}))
    model = ELMIntervalRegressor({"linear": 5, "tanh": 20}, random_state=0).fit(rows)
    proto = to_onnx(model)
    notes = {note.key: note.value for note in proto.metadata_props}
    names = json.loads(notes["columns"])
    inputs = {
        names[name]: column.to_numpy(np.float64)
        if name == "hp"
        else column.dt.tz_localize(None).astype("M8[us]").to_numpy().astype(np.int64)
        for name, column in typed.drop(columns="y").items()
    }
    run = Session(proto)
    found = dict(zip(run.names, run.inner.run(None, inputs), strict=True))
    for table in (text, typed):
        expected = model.predict(scan(table.drop(columns="y"), encoder=model.encoder_))
        assert_close(found["mean"], expected, float(expected.std()), times=10)
