"""One table of everything, in every library."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet

START = dt.datetime.fromisoformat("2019-11-03T04:05")


def mixed(n_rows=400, seed=0):
    """Columns of all kinds, with missing values in most of them, as an Arrow table."""
    rng = np.random.default_rng(seed)

    def gaps(values, share=0.1):
        missing = rng.random(n_rows) < share
        return [None if m else v for v, m in zip(values, missing, strict=True)]

    days = rng.integers(0, 900, n_rows)
    minutes = rng.integers(0, 1440, n_rows)
    when = [
        START + dt.timedelta(days=int(d), minutes=int(m))
        for d, m in zip(days, minutes, strict=True)
    ]
    size = rng.normal(3, 2, n_rows)
    colour = rng.choice(["red", "blue", "gréen", "a rare one"], n_rows, p=[0.5, 0.3, 0.18, 0.02])
    columns = {
        "size": pa.array(gaps(size), pa.float64()),
        "count": pa.array(rng.integers(0, 4, n_rows), pa.int16()),
        "whole": pa.array(gaps(rng.integers(0, 2**40, n_rows).tolist()), pa.int64()),
        "narrow": pa.array(gaps(rng.random(n_rows).tolist()), pa.float32()),
        "flag": pa.array(gaps((rng.random(n_rows) < 0.3).tolist()), pa.bool_()),
        "colour": pa.array(gaps(colour.tolist()), pa.string()),
        "when": pa.array(gaps(when), pa.timestamp("us")),
        "day": pa.array([moment.date() for moment in when], pa.date32()),
        "took": pa.array(
            gaps([dt.timedelta(seconds=float(s)) for s in rng.integers(1, 9999, n_rows)]),
            pa.duration("us"),
        ),
        "same": pa.array([7] * n_rows),
        "name": pa.array([f"row {k}" for k in range(n_rows)]),
    }
    return pa.table(columns)


def objects(table):
    """As pandas users have it: text, booleans and dates as Python objects."""
    frame = table.to_pandas()
    for name in ("flag", "colour", "day", "name"):
        frame[name] = pd.Series(table[name].to_pylist(), dtype=object)
    return frame


def with_categories(table):
    """Text as categories of pandas."""
    return table.to_pandas().astype({"colour": "category"})


LIBRARIES = {
    "arrow": lambda table: table,
    "batch": lambda table: table.combine_chunks().to_batches()[0],
    "pandas": lambda table: table.to_pandas(),
    "pandas arrow": lambda table: table.to_pandas(types_mapper=pd.ArrowDtype),
    "pandas nullable": lambda table: table.to_pandas().convert_dtypes(),
    "pandas objects": objects,
    "pandas categories": with_categories,
    "polars": pl.from_arrow,
    "polars categories": lambda table: pl.from_arrow(table).with_columns(
        pl.col("colour").cast(pl.Categorical)
    ),
    "arrow dictionaries": lambda table: table.set_column(
        table.schema.get_field_index("colour"), "colour", table["colour"].dictionary_encode()
    ),
}
"""The same table in the types of each library."""


FORMATS = ["parquet", "csv", "csv.gz", "feather", "arrow"]
"""Endings of files with named columns."""


def write(path, table, group=130):
    """Write a table to a file of any format, in pieces where it can have such."""
    kind = path.name.partition(".")[2]
    if kind == "parquet":
        pa.parquet.write_table(table, path, row_group_size=group)
    elif kind.startswith("csv"):
        # Durations have no place in this format.
        seconds = pa.compute.divide(table["took"].cast("int64").cast("float64"), 1e6)
        table = table.set_column(table.schema.get_field_index("took"), "took", seconds)
        with pa.output_stream(str(path), compression="detect") as file:
            pa.csv.write_csv(table, file)
    else:
        pa.feather.write_feather(table, str(path), chunksize=group)
    return path


def write_csv(path, columns):
    """Write columns as CSV, as they are."""
    pd.DataFrame(columns).to_csv(path, index=False)
    return path
