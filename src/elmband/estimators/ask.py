"""The one way to ask: any question about any rows, here or on workers, to memory or to a file.

Rows are checked, cut into blocks, sent where the model works, and answered block by block.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from array_api_compat import device as device_of
from sklearn.utils.validation import check_is_fitted, validate_data

from elmband.engines import engine
from elmband.engines.cluster import is_dask
from elmband.estimators._ask_clusters import ask_lazily, ask_workers
from elmband.estimators._parameters import rows_at_once
from elmband.estimators._progress import OnChunks, answer_progress
from elmband.estimators._scans import check_new_scan, check_out, refuse_left_out
from elmband.estimators.tables import inputs_of
from elmband.ground.arrays import Array, namespace, to_numpy
from elmband.ground.frames import framed
from elmband.models.fitted import Fitted
from elmband.models.question import Question, as_columns, as_numbers, as_records
from elmband.sources import device
from elmband.sources.stream import Scan
from elmband.sources.stream.write import holds_any_type, open_table_writer, open_writer
from elmband.sums.products import precisely
from elmband.sums.rows import DEFAULT_CHUNK_SIZE, chunk_slices


def ask(
    model: Any,
    X: Any,
    question: Question,
    out: str | Path | None = None,
    client: Any = None,
    *,
    as_frame: bool = False,
) -> Any:
    """Answer a question about rows.

    Rows are an array, a table, a scan or a Dask collection, which is answered when it is computed.
    With a file name `out`, answers are written to it; with a `client`, its workers read a scan and
    write to a folder. With `as_frame`, the answer is a table of the library of X.
    """
    if "fitted_" not in vars(model):
        check_is_fitted(model)
    if client is not None:
        return ask_workers(model, X, out, client, Query.of(model, question, records=True))
    if is_dask(X):
        records = Query.of(model, question, records=True)
        return ask_lazily(model, X, out, Query.of(model, question), records)
    rows = new_rows(model, X, question.method)
    if out is not None:
        check_out(rows, out)
    size = block_size(model, rows)
    query = Query(model.fitted_, question, size, records=as_frame or out is not None)
    with on_chunks_of(model, rows, question.method) as on_chunks:
        found = query.blocks(rows, on_chunks)
        if out is not None:
            return _written(found, question, Path(out))
        answers = query.joined(found)
    return framed(as_columns(answers), X) if as_frame else answers


def on_chunks_of(model: Any, X: Any, label: str) -> AbstractContextManager[OnChunks]:
    """Give the engine's way through chunks, which shows how far it is where X is a scan."""
    return (
        answer_progress(model, X, label) if isinstance(X, Scan) else nullcontext(engine.on_chunks)
    )


def new_rows(model: Any, X: Any, method: str) -> Any:
    """Check rows to be answered: their features, and that their array library is that of fit."""
    if "fitted_" not in vars(model):
        check_is_fitted(model)
    fitted: Fitted = model.fitted_
    # A device checks numbers faster.
    finite = fitted.training.device is None
    if finite and _is_usual(X, fitted):
        return X
    if is_dask(X):
        raise ValueError(f"{method} takes arrays or a scan; X is a Dask collection.")
    if isinstance(X, Scan):
        check_new_scan(model, X)
    elif fitted.inputs.encoder is not None:
        X = inputs_of(model, X, method, finite=finite)
    else:
        X = validate_data(model, X, dtype="numeric", reset=False, ensure_all_finite=finite)
    if finite:
        like = np.empty((0, 1)) if isinstance(X, Scan) else X
        _check_same_library(model, like, fitted.targets.scaling.mean, method)
    return X


def _is_usual(X: Any, fitted: Fitted) -> bool:
    """Tell whether rows are what most are, at a hundredth of the time that all checks take."""
    inputs = fitted.inputs
    if (
        type(X) is not np.ndarray
        or type(fitted.targets.scaling.mean) is not np.ndarray
        or X.dtype not in (np.float64, np.float32)
        or X.ndim != 2
        or not len(X)
        or X.shape[1] != inputs.given
        or inputs.encoder is not None
        or inputs.given_names is not None
    ):
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        # A sum of finite numbers may be none: then the other checks tell.
        return bool(np.isfinite(X.sum()))


def _check_same_library(model: Any, X: Any, fitted: Any, method: str) -> None:
    """Refuse rows whose array library is not that of the training rows."""
    ours, theirs = namespace(fitted), namespace(X)
    if ours is not theirs or device_of(fitted) != device_of(X):
        raise ValueError(
            f"Inputs passed to {type(model).__name__}.{method}() must use the same namespace "
            f"and the same device as those passed to fit(): {ours.__name__} on "
            f"{device_of(fitted)}; these are {theirs.__name__} on {device_of(X)}."
        )


def block_size(model: Any, X: Any) -> int:
    """Return how many rows like X a fitted model is query about at once."""
    where = model.fitted_.training.device
    if where is None and model.chunk_size is None and type(X) is np.ndarray:
        return DEFAULT_CHUNK_SIZE
    return rows_at_once(model, where, X, read=isinstance(X, Scan))


@dataclass(frozen=True, eq=False)
class Query:
    """A question to a fitted model, which may travel to where rows are.

    Answers are arrays, or records (n,) with the names of columns.
    """

    fitted: Fitted
    question: Question
    size: int
    records: bool = False

    @classmethod
    def of(cls, model: Any, question: Question, *, records: bool = False) -> "Query":
        """Take what answers need of a model."""
        return cls(model.fitted_.light(), question, block_size(model, np.empty((0, 1))), records)

    def __call__(self, X: Array) -> Any:
        """Answer rows of this machine."""
        return self.joined(self.blocks(X, engine.on_chunks))

    def blocks(self, X: Any, on_chunks: Callable[..., Iterator[Any]]) -> Iterator[Any]:
        """Answer block by block; on a device, blocks are halved until there is memory for them."""
        where = self.fitted.training.device
        if isinstance(X, Scan):
            refuse_left_out(X)
            parts: Iterator[Array] = (
                chunk.X for chunk in X.chunks(None if where is None else self.size)
            )
        else:
            parts = (X[part, :] for part in chunk_slices(X.shape[0], self.size))
        if where is not None:
            parts = device.sent(parts, where)
        return on_chunks(engine.halving(self.block, engine.joined), parts)

    def block(self, X: Array) -> Any:
        """Answer a block of rows, as precisely as the model was told to.

        Results are in the library that was given. Rows at the end of numbers have infinite
        variances, which is no reason for warnings.
        """
        fitted, question = self.fitted, self.question
        with precisely(fitted.targets.precision), np.errstate(over="ignore", invalid="ignore"):
            if self.records:
                return as_records(question.named(fitted, X))
            found = question.answer(fitted, X)
        if fitted.training.device is None:
            return found
        return tuple(map(to_numpy, found)) if isinstance(found, tuple) else to_numpy(found)

    def joined(self, found: Iterator[Any]) -> Any:
        """Return the answers of blocks as one."""
        answers = list(found)
        if not isinstance(answers[0], tuple):
            return answers[0] if len(answers) == 1 else _concat(answers)
        parts = tuple(map(_concat, zip(*answers, strict=True)))
        return parts if self.question.kind is None else self.question.kind(*parts)


def _concat(arrays: Any) -> Array:
    return namespace(*arrays).concat(list(arrays), axis=0)


def _written(found: Iterator[Array], question: Question, out: Path) -> Path:
    """Write records to a file, and return its path.

    Tables hold text and marks of a question of several types as they are. Files of numbers hold 1
    for a mark and the place of a word among all; text labels have no place there.
    """
    first = next(found)
    names = list(first.dtype.names)
    if question.typed and holds_any_type(out):
        with open_table_writer(out, as_columns(first)) as write:
            write(as_columns(first))
            for records in found:
                write(as_columns(records))
        return out
    numbers = partial(as_numbers, question, names=names)
    dtype = np.dtype(np.float64)
    if not question.typed:
        dtype = np.result_type(*(first.dtype[name] for name in names))
        # Files hold floats: whole labels and marks fit into them.
        dtype = dtype if dtype.kind == "f" else np.dtype(np.float64)
    start = numbers(as_columns(first))
    with open_writer(out, names, dtype) as write_block:
        write_block(start.astype(dtype, copy=False))
        for records in found:
            write_block(numbers(as_columns(records)).astype(dtype, copy=False))
    return out
