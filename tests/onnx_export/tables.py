"""A table with columns of every kind, and how a user hands its columns to a graph."""

import datetime as dt

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

START = dt.datetime.fromisoformat("2019-11-03T04:05")
ZONE = "America/New_York"
NAT = np.iinfo(np.int64).min


def gaps(rng, values, share=0.1):
    """Lose some of the values."""
    missing = rng.random(len(values)) < share
    return [None if m else v for v, m in zip(values, missing, strict=True)]


def table(n=300, seed=0):
    """Return the table of training; some of its names are those of outputs."""
    rng = np.random.default_rng(seed)
    days, minutes = rng.integers(0, 900, n), rng.integers(0, 1440, n)
    pairs = zip(days.tolist(), minutes.tolist(), strict=True)
    when = [START + dt.timedelta(days=d, minutes=m) for d, m in pairs]
    took = [dt.timedelta(seconds=s) for s in rng.integers(1, 9999, n).tolist()]
    colours = rng.choice(["red", "blue", "gréen", "a rare one"], n, p=[0.5, 0.3, 0.18, 0.02])
    return pa.table(
        {
            "mean": pa.array(gaps(rng, rng.normal(3, 2, n).tolist()), pa.float64()),
            "whole": pa.array(gaps(rng, rng.integers(0, 2**40, n).tolist()), pa.int64()),
            "constant": pa.array(gaps(rng, [7] * n), pa.int8()),
            "flag": pa.array(gaps(rng, (rng.random(n) < 0.3).tolist()), pa.bool_()),
            "label": pa.array(gaps(rng, colours.tolist()), pa.string()),
            "closed": pa.array(rng.choice(["yes", "no"], n).tolist(), pa.string()),
            "empty": pa.array(gaps(rng, rng.choice(["", "full"], n).tolist()), pa.string()),
            "name": pa.array(gaps(rng, [f"row {k}" for k in range(n)]), pa.string()),
            "code": pa.array(gaps(rng, rng.choice([7, 11, 2.5], n).tolist()), pa.float64()),
            "when": pa.array(gaps(rng, when), pa.timestamp("us")),
            "zoned": pa.array(gaps(rng, when), pa.timestamp("us", ZONE)),
            "day": pa.array([moment.date() for moment in when], pa.date32()),
            "clock": pa.array(gaps(rng, [moment.time() for moment in when]), pa.time64("us")),
            "took": pa.array(gaps(rng, took), pa.duration("us")),
            "add_1": pa.array(rng.random(n).tolist(), pa.float32()),
        }
    )


def narrow(n=300, seed=0):
    """Return a table whose features are float32."""
    whole = table(n, seed)
    names = ["constant", "flag", "label", "closed", "add_1"]
    return whole.select(names)


def goal(frame, seed=1):
    """Return targets that all of it has a part in."""
    n = len(frame)
    rng = np.random.default_rng(seed)
    flag = pc.fill_null(frame["flag"].cast(pa.float64()), 0.5).to_numpy()
    red = pc.fill_null(pc.equal(frame["label"], "red").cast(pa.float64()), 0.3).to_numpy()
    noise = rng.normal(size=n) * (0.2 + 0.3 * red)
    return 2 * flag + 3 * red + frame["add_1"].to_numpy() + noise


def new_rows(n=120, seed=5):
    """Return other rows: unseen levels, dates far away, and a row without anything."""
    frame = table(n, seed)
    lists = {name: frame[name].to_pylist() for name in frame.column_names}
    lists["label"][:4] = ["purple", " ", "gréen ", "RED"]
    lists["closed"][:4] = ["perhaps", None, "", "no"]
    lists["code"][:4] = [11.0, 3.0, -0.0, 2.5]
    moments = ["1600-02-29", "1899-12-31T23:59:59.999999", "1900-03-01", "2100-12-31T12:00"]
    lists["when"][:4] = [dt.datetime.fromisoformat(moment) for moment in moments]
    lists["day"][:4] = [dt.date(1, 1, 1), dt.date(9999, 12, 31), dt.date(2000, 2, 29), None]
    for values in lists.values():
        values[5] = None
    return pa.table({field.name: pa.array(lists[field.name], field.type) for field in frame.schema})


def given(frame, names, dtype="float64"):
    """Return the inputs of a graph, made of a table by its text; `names` are those of inputs."""
    return {names[name]: _given(frame[name], name, dtype) for name in names}


def _given(column, name, dtype):
    kind = column.type
    if name == "code":
        words = {11.0: "11", 7.0: "7", 3.0: "3", 0.0: "0", 2.5: "2.5", None: ""}
        return np.array([words[value] for value in column.to_pylist()], dtype=object)
    if pa.types.is_string(kind):
        absent = "<missing>" if name == "empty" else ""
        return np.array(pc.fill_null(column, absent).to_pylist(), dtype=object)
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        clocks = pd.Series(column.to_pandas()).dt.tz_convert(kind.tz).dt.tz_localize(None)
        return clocks.to_numpy().astype("M8[us]").astype(np.int64)
    if pa.types.is_date(kind):
        column = column.cast(pa.timestamp("us"))
    if pa.types.is_timestamp(column.type) or pa.types.is_time(kind):
        return pc.fill_null(column.cast(pa.int64()), NAT).to_numpy()
    if pa.types.is_duration(kind):
        return column.cast(pa.int64()).to_numpy().astype(dtype) / 1e6
    return np.array(column.cast(pa.float64()).to_numpy(), dtype=dtype)
