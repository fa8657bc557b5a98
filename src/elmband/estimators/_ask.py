"""The one way to ask: any question about any rows, here or on workers, to memory or to a file."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from elmband.engines import engine
from elmband.engines.cluster import Answers, is_dask_frame, lazily, scan_partitions, write_parts
from elmband.engines.progress import shown
from elmband.estimators._clusters import check_collection, is_dask, spread
from elmband.estimators._open_rows import new_rows
from elmband.estimators._placement import block_size, careful, sent_blocks
from elmband.estimators._questions import Columns, Question, as_numbers
from elmband.estimators._scans import (
    answering,
    check_chunk_size,
    check_new_scan,
    check_out,
    refuse_left_out,
    refuse_own_rows,
)
from elmband.ground.arrays import Array, namespace, to_numpy
from elmband.ground.frames import framed
from elmband.models.fitted import Fitted
from elmband.sources.stream.errors import needed
from elmband.sources.stream.write import holds_any_type, open_table_writer, open_writer
from elmband.sums.moments import Chunk, Count

# Files that a folder of results has at most, besides one for every file of the rows.
_MOST_FILES = 1024


@dataclass(frozen=True, eq=False)
class Asked:
    """A question to a fitted model, which may travel to where rows are.

    Answers are arrays, or records (n,) with the names of columns.
    """

    fitted: Fitted
    question: Question
    size: int
    records: bool = False

    @classmethod
    def of(cls, model: Any, question: Question, *, records: bool = False) -> "Asked":
        """Take what answers need of a model."""
        return cls(model.fitted_.light(), question, block_size(model, np.empty((0, 1))), records)

    def block(self, X: Array) -> Any:
        """Answer a block of rows."""
        if self.records:
            return as_records(self.question.columns(self.fitted, X))
        return self.question.answer(self.fitted, X)

    def __call__(self, X: Array) -> Any:
        """Answer rows of this machine."""
        function = careful(self.fitted, self.block)
        return self.joined(engine.on_chunks(function, sent_blocks(self.fitted, X, self.size)))

    def joined(self, found: Iterator[Any]) -> Any:
        """Return the answers of blocks as one."""
        answers = list(found)
        if not isinstance(answers[0], tuple):
            return _concat(answers)
        parts = tuple(map(_concat, zip(*answers, strict=True)))
        return parts if self.question.kind is None else self.question.kind(*parts)


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
    check_is_fitted(model)
    if client is not None:
        return _on_workers(model, X, question, out, client)
    if is_dask(X):
        return _lazily(model, X, question, out)
    rows = new_rows(model, X, question.method)
    check_out(rows, out)
    size, fitted = block_size(model, rows), model.fitted_
    asked = Asked(fitted, question, size, records=as_frame or out is not None)
    with answering(model, rows, question.method) as on_chunks:
        found = on_chunks(careful(fitted, asked.block), sent_blocks(fitted, rows, size))
        if out is not None:
            return _written(found, question, Path(out))
        answers = asked.joined(found)
    return framed(_columns(answers), X) if as_frame else answers


def as_records(columns: Columns) -> Array:
    """Return columns (n, ...) of any types as one array (n,) of records."""
    there = {name: to_numpy(values) for name, values in columns.items()}
    kinds = [(name, values.dtype, values.shape[1:]) for name, values in there.items()]
    rows = np.empty(len(next(iter(there.values()))), dtype=kinds)
    for name, values in there.items():
        rows[name] = values
    return rows


def _columns(records: Array) -> Columns:
    return {name: np.ascontiguousarray(records[name]) for name in records.dtype.names}


def _concat(arrays: Any) -> Array:
    return arrays[0] if len(arrays) == 1 else namespace(*arrays).concat(list(arrays), axis=0)


def _written(found: Iterator[Array], question: Question, out: Path) -> Path:
    """Write records to a file, and return its path.

    Tables hold text and marks of a question of several types as they are. Files of numbers hold 1
    for a mark and the place of a word among all; text labels have no place there.
    """
    first = next(found)
    names = list(first.dtype.names)
    if question.typed and holds_any_type(out):
        with open_table_writer(out, _columns(first)) as write:
            write(_columns(first))
            for records in found:
                write(_columns(records))
        return out
    numbers = partial(as_numbers, question, names=names)
    dtype = np.dtype(np.float64)
    if not question.typed:
        dtype = np.result_type(*(first.dtype[name] for name in names))
        # Files hold floats: whole labels and marks fit into them.
        dtype = dtype if dtype.kind == "f" else np.dtype(np.float64)
    start = numbers(_columns(first))
    with open_writer(out, names, dtype) as write_block:
        write_block(start.astype(dtype, copy=False))
        for records in found:
            write_block(numbers(_columns(records)).astype(dtype, copy=False))
    return out


def _lazily(model: Any, X: Any, question: Question, out: str | Path | None) -> Any:
    """Return answers to the rows of a Dask collection, as others that are computed when asked."""
    check_collection(model, X, reset=False)
    if out is not None:
        raise ValueError(
            "out is for results of this machine; workers write those of a Dask collection by its "
            "own methods, such as predict_interval(X).to_parquet(...)."
        )
    two = np.zeros((2, model.fitted_.inputs.width))
    asked = Asked.of(model, question)
    example = asked(two)
    if is_dask_frame(X):
        table = Asked.of(model, question, records=True)
        names = table(two).dtype.names
        if len(names) == 1:
            return lazily(X, partial(_column, table), [question.series or names[0]])
        found = lazily(X, table, [])
        return _mean_apart(found) if type(example) is tuple else found
    if not isinstance(example, tuple):
        return lazily(X, asked, [])
    names = getattr(example, "_fields", ("mean", "more"))
    table = lazily(X, partial(_parts, asked, names), [])
    parts = [table[name] for name in names]
    return tuple(parts) if question.kind is None else question.kind(*parts)


def _column(asked: Asked, X: Array) -> Array:
    """Return the only column of an answer."""
    records = asked(X)
    return np.ascontiguousarray(records[records.dtype.names[0]])


def _parts(asked: Asked, names: tuple[str, ...], X: Array) -> Array:
    """Return an answer of several parts as records."""
    return as_records(dict(zip(names, asked(X), strict=True)))


def _mean_apart(table: Any) -> tuple[Any, Any]:
    """Return means and what `predict` gives with them, each a column or a table."""
    means = [name for name in table.columns if name.partition("_")[0] == "mean"]
    others = [name for name in table.columns if name not in means]
    first, second = (names[0] if len(names) == 1 else names for names in (means, others))
    return table[first], table[second]


def _on_workers(
    model: Any, X: Any, question: Question, out: str | Path | None, client: Any
) -> Path:
    """Let the workers of a client answer the rows of a scan, and write a folder of Parquet."""
    scan = spread(X, client).scan
    if out is None:
        raise ValueError(
            "Workers write their answers themselves: name a folder for them, as in out='answers'."
        )
    check_new_scan(model, scan)
    refuse_left_out(scan)
    refuse_own_rows(scan, out)
    asked = Asked.of(model, question, records=True)
    # What cannot be asked for is refused here, before any worker is.
    asked(np.zeros((2, scan.n_features), scan.dtype))
    with shown(model.verbose, scan.nbytes) as bar:
        if bar is not None:
            bar.begin(question.method, scan.n_rows)
        write_parts(
            client,
            scan_partitions(scan, _MOST_FILES),
            partial(_answered, asked=asked),
            [Path(out)],
            chunk_size=check_chunk_size(model.chunk_size, scan.chunk_size),
            advance=None if bar is None else bar.advance,
        )
    return Path(out)


def _answered(chunk: Chunk, asked: Asked) -> Answers:
    arrow = needed("pyarrow", "Parquet")
    return Answers((arrow.table(_columns(asked(chunk.X))),), Count(float(chunk.X.shape[0])))
