"""The way in to tables of any size."""

from typing import Any, Literal

from elmband.sources.encode import TableEncoder
from elmband.sources.stream.csv_dialect import asked_dialect
from elmband.sources.stream.scan import Scan
from elmband.sources.stream.sources import as_source


def scan(
    source: Any,
    *,
    target: Any = None,
    features: Any = None,
    weight: Any = None,
    chunk_size: int | None = None,
    encoder: TableEncoder | None = None,
    missing_target: Literal["refuse", "drop"] = "refuse",
    delimiter: str | None = None,
    decimal: Literal[".", ","] | None = None,
    encoding: str | None = None,
) -> Scan:
    """Open a table that need not fit in memory; rows are read only where they are used.

    Parameters
    ----------
    source : path, list, tuple, array, table or callable
        - A path, a glob or a folder of files, those in its folders included, or a list of paths.
          Formats are npy, HDF5 (``.h5``, ``.hdf5``), Zarr, Parquet, CSV (``.csv``, ``.tsv``, also
          with ``.gz``, ``.bz2``, ``.zst``, ``.xz`` or ``.zip`` behind) and Arrow (``.arrow``,
          ``.feather``, ``.ipc``).
        - A tuple ``(X, y)`` or ``(X, y, weight)`` of ``.npy`` paths or arrays.
        - An array with two dimensions or a table of pandas, Polars or Arrow; or a list of such
          pieces, or of tuples.
        - A function without arguments that returns an iterator of pieces. It is called for every
          pass, and once more for the first piece.
    target : str, int or list of them, default=None
        Column to predict, by name or by index, which may count from the end. A list gives several
        outputs. None is for rows to predict.
    features : str, int or list of them, default=None
        Columns to learn from; all others by default. HDF5 and Zarr files: names of data sets, by
        default the only one that has two dimensions and is not named otherwise.
    weight : str or int, default=None
        Column that counts how often each row is there. Rows of weight 0 are left out.
    chunk_size : int, default=None
        Rows to read at a time; by default those whose features take about 4 MiB.
    encoder : TableEncoder, default=None
        Makes numbers of text, dates and missing values; without it, features must be numbers. One
        that is not fitted yet is fitted on these rows when the first of them, or the number or
        the names of the features, are asked for, which takes a pass over them. So fit it, or a
        model, on the rows to learn from before it is used for others. If it was fitted before,
        its columns are the features by default. The target may be text then: chunks hold the
        place of each level in ``encoder.target_levels_``.
    missing_target : {"refuse", "drop"}, default="refuse"
        Rows without a target are an error, or are left out, which `Scan.n_dropped` counts.
    delimiter : str, default=None
        What ends a cell of a CSV file. By default ``,``, ``;``, tab or ``|``, whichever splits the
        first lines into as many cells; of several that do, the comma.
    decimal : {".", ","}, default=None
        The decimal point of a CSV file. By default a point; in files without commas between cells
        a comma, if more columns are numbers then.
    encoding : str, default=None
        The encoding of a CSV file, by a name that Python knows. By default UTF-8, or UTF-16 if a
        file begins so; no other is guessed.

    Returns
    -------
    Scan
        An iterable of chunks that holds no rows.

    Notes
    -----
    In columns of a CSV file that otherwise hold numbers, dates or true and false, ``-``, ``.``,
    ``?``, ``N/A``, ``none``, ``null`` and the like are missing values. In text only nothing at all
    and words such as ``NA`` and ``null`` are. With an encoder, whole numbers are text if some begin
    with zeros, as ``00501`` does, unless they are the target.

    Examples
    --------
    >>> import numpy as np
    >>> rows = scan(np.arange(12.0).reshape(4, 3), target=-1, chunk_size=3)
    >>> rows
    Scan(source, 4 rows, 2 features, target: column 2)
    >>> for chunk in rows:
    ...     print(chunk.X.shape, chunk.Y.ravel())
    (3, 2) [2. 5. 8.]
    (1, 2) [11.]
    """
    if encoder is not None and not isinstance(encoder, TableEncoder):
        raise ValueError(f"encoder must be a TableEncoder; got {type(encoder).__name__}.")
    if missing_target not in ("refuse", "drop"):
        raise ValueError(f"missing_target must be 'refuse' or 'drop'; got {missing_target!r}.")
    return Scan(
        as_source(source, asked_dialect(delimiter, decimal, encoding)),
        target=target,
        features=features,
        weight=weight,
        chunk_size=chunk_size,
        encoder=encoder,
        missing_target=missing_target,
    )
