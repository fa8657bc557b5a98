"""Answers of several kinds to files of this machine, column by column as workers write them."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from elmband.estimators._clusters import is_dask, lazy_result
from elmband.estimators._interval_triage import REASONS as WIDTH_REASONS
from elmband.estimators._remote_call import Asked, Columns
from elmband.estimators._scans import answering, blocks_of, check_out
from elmband.estimators._triage import REASONS
from elmband.ground.arrays import to_numpy
from elmband.sources.stream.write import (
    WriteColumns,
    holds_any_type,
    open_table_writer,
    open_writer,
)


def written_here(
    model: Any, X: Any, out: str | Path, method: str, options: Mapping[str, Any]
) -> Path:
    """Answer the rows of an array, a table or a scan, and write the answers to a file.

    Tables hold text and marks as they are. Files of numbers hold 1 for a mark and the place of a
    reason among all; text labels have no place there.
    """
    check_is_fitted(model)
    if is_dask(X):
        lazy_result(X, np.asarray, [], out)
    X = model._new_rows(X, method)  # noqa: SLF001
    check_out(X, out)
    asked = Asked.of(model, method, options)
    with answering(model, X, method) as on_chunks:
        # Blocks are as small as those that a call makes of them: only one of both has threads.
        size = model._rows_at_once(X)  # noqa: SLF001
        walk = on_chunks if model._device is None else map  # noqa: SLF001
        answers = walk(asked.columns, blocks_of(X, size, size))
        first = next(answers)
        with _opened(out, first, asked) as write:
            write(first)
            for columns in answers:
                write(columns)
    return Path(out)


@contextmanager
def _opened(out: str | Path, like: Columns, asked: Asked) -> Iterator[WriteColumns]:
    if holds_any_type(out):
        with open_table_writer(out, like) as write:
            yield write
        return
    _as_numbers(like, asked)
    with open_writer(out, list(like)) as write_block:
        yield lambda columns: write_block(_as_numbers(columns, asked))


def _as_numbers(columns: Mapping[str, Any], asked: Asked) -> Any:
    """Return columns as numbers, side by side."""
    found = []
    for name, given in columns.items():
        values = to_numpy(given)
        if name == "reason":
            reasons = REASONS if hasattr(asked.model, "classes_") else WIDTH_REASONS
            values = np.argmax(values[:, None] == reasons, axis=1)
        elif values.dtype.kind not in "iufb":
            raise ValueError(
                f"{asked.method} writes numbers only to such a file, and its {name}s are text; "
                "write a table, such as .parquet or .csv."
            )
        found.append(values.astype(np.float64))
    return np.stack(found, axis=1)
