"""Where sums run: chunks in threads, each with one BLAS thread.

Results are added in the order of the chunks, so that the sum does not depend on how many threads
there are or which of them is the fastest.
"""

import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar, copy_context
from dataclasses import fields
from functools import reduce
from itertools import chain, islice, pairwise
from threading import local
from typing import Any, NamedTuple, Protocol, Self, TypeVar, cast

import numpy as np
from joblib import cpu_count

from elmband.engines.blas_limit import one_blas_thread
from elmband.engines.checkpoint import Begun, Checkpoint, Pass
from elmband.engines.progress import Bar
from elmband.ground.arrays import namespace
from elmband.sources.hidden_cache import forget
from elmband.sums.moments import Chunk, Moments


class Summable(Protocol):
    """Anything that adds up."""

    def __add__(self, other: Any, /) -> Self: ...


S = TypeVar("S", bound=Summable)
R = TypeVar("R")

# Rows of a block: a chunk is mapped in blocks that stay near the processor.
BLOCK_ROWS = 2048
# Least rows at once on a device whose memory is short; with fewer the error is raised.
_LEAST_ROWS = 256
# Matrices up to this size are solved quickly by one thread.
_SMALL_SIZE = 1000
# State of the thread: whether it works for an engine (it then starts no threads of its own), and
# its scratch memory.
_here = local()


class Job(NamedTuple):
    """What accompanies a long fit: a progress bar and a checkpoint; either may be None."""

    bar: Bar | None = None
    checkpoint: Checkpoint | None = None


_job: ContextVar[Job | None] = ContextVar("job", default=None)


@contextmanager
def running(job: Job) -> Iterator[None]:
    """Let all sums within the context show their progress and go to the checkpoint."""
    token = _job.set(job)
    try:
        yield
    finally:
        _job.reset(token)


def seed_of_job(seed: int) -> int:
    """Return the seed that a checkpoint began with, or this one."""
    job = _job.get()
    return seed if job is None or job.checkpoint is None else job.checkpoint.seed


def total(rows: Iterable[Chunk], chunk_map: Callable[[Chunk], S], label: str = "") -> S:
    """Add up what `chunk_map` makes of every chunk.

    NumPy chunks run in threads while the next ones are being read. Other array libraries have
    threads or devices of their own: their chunks run one after the other. The `label` says to
    people what is being summed.
    """
    job = _job.get()
    if not hasattr(rows, "chunks"):
        # Chunks as they are: the dual form needs all rows at once.
        return reduced(on_chunks(chunk_map, rows))
    remote, job = hasattr(rows, "summed"), job or Job()
    if job == Job() and not remote:
        return reduced(on_chunks(in_blocks(chunk_map), rows))
    kept = None if job.checkpoint is None else job.checkpoint.next_pass()
    this = OnePass(label, job.bar, kept, None if kept is None else kept.load())
    if this.begun is not None and this.begun.done:
        return cast("S", _finished(rows, this.begun, job.bar))
    return cast("S", (_remote if remote else _followed)(rows, chunk_map, this))


class OnePass(NamedTuple):
    """A pass with its bar and its file, and with what was begun before; all may be None."""

    label: str
    bar: Bar | None
    kept: Pass | None
    begun: Begun | None


def _followed(rows: Any, chunk_map: Callable[[Chunk], Any], this: OnePass) -> Any:
    """Add up chunk by chunk from where a checkpoint left off; show how far it is, and keep it."""
    label, bar, kept, begun = this
    count, sums = (0, None) if begun is None else begun[:2]
    sizes: deque[int] = deque()

    def counted() -> Iterator[Chunk]:
        for chunk in rows.chunks(count):
            sizes.append(int(chunk.X.shape[0]))
            yield chunk

    if bar is not None:
        bar.begin(label, _length(rows), _rows_of_first(rows, count))
    for result in on_chunks(in_blocks(chunk_map), counted()):
        sums = result if sums is None else plus(sums, result)
        count += 1
        size = sizes.popleft()
        if bar is not None:
            bar.advance(size)
        if kept is not None and kept.due:
            kept.save(Begun(count, sums, done=False))
    if kept is not None:
        kept.save(Begun(count, sums, done=True, n_rows=_length(rows)))
    assert sums is not None
    return sums


def _remote(rows: Any, chunk_map: Callable[[Chunk], Any], this: OnePass) -> Any:
    """Let rows add themselves up where they are; they keep sums on the way to a checkpoint."""
    label, bar, kept, begun = this
    if bar is not None:
        # Sums of another fit have no such number, and are refused when they are used.
        done = 0 if begun is None else getattr(begun.sums, "n_rows", 0)
        bar.begin(label, rows.known_length, done)
    sums = rows.summed(in_blocks(chunk_map), label, None if bar is None else bar.advance, kept)
    if kept is not None:
        kept.save(Begun(0, sums, done=True))
    return sums


def _finished(rows: Any, begun: Begun, bar: Bar | None) -> Any:
    """Return the sums of a pass that a checkpoint holds as a whole, and the rows it counted."""
    if bar is not None:
        bar.skip()
    if begun.n_rows is not None and hasattr(rows, "counted"):
        rows.counted(begun.n_rows)
    return begun.sums


def _rows_of_first(rows: Any, count: int) -> int:
    """Return how many rows the first chunks have, without reading them."""
    if count == 0:
        return 0
    if rows.in_memory:
        return sum(int(chunk.X.shape[0]) for chunk in islice(rows.chunks(), count))
    # Rows that chunks leave out are part of the length as well.
    most, n = count * int(rows.chunk_size), _length(rows)
    return most if n is None else min(most, n)


def _length(rows: Any) -> int | None:
    """Return the number of rows, or None where no pass has counted them yet."""
    try:
        return len(rows)
    except TypeError:
        return None


def on_chunks(function: Callable[[Any], R], chunks: Iterable[Any]) -> Iterator[R]:
    """Yield what `function` makes of every chunk, or of every array, in their order."""
    rest = iter(chunks)
    first = list(islice(rest, 2))
    together = chain(first, rest)
    if len(first) < 2 or not isinstance(getattr(first[0], "X", first[0]), np.ndarray):
        return map(function, together)
    return in_threads(function, together)


def reduced(results: Iterable[S]) -> S:
    """Add up one after the other."""
    return reduce(plus, results)


def plus(sums: Any, more: Any) -> Any:
    """Return the sum of both, in the arrays of the first, which nobody else holds."""
    if type(sums).__add__ is not Moments.__add__:
        return sums + more
    parts = []
    for field in fields(sums):
        a, b = getattr(sums, field.name), getattr(more, field.name)
        if isinstance(a, np.ndarray) and a.ndim and a.dtype == np.float64:
            parts.append(np.add(a, b, out=a))
        else:
            parts.append(plus(a, b) if isinstance(a, Moments) else a + b)
    return type(sums)(*parts)


def in_blocks(chunk_map: Callable[[Chunk], S]) -> Callable[[Chunk], S]:
    """Return the same map, made of blocks of rows that stay near the processor."""
    careful: Callable[[Chunk], S] = halving(chunk_map, plus)

    def blockwise(chunk: Chunk) -> S:
        n = int(chunk.X.shape[0])
        if not isinstance(chunk.X, np.ndarray):
            return careful(chunk)
        if n <= BLOCK_ROWS:
            return chunk_map(chunk)
        return reduced(map(chunk_map, _cut(chunk, -(-n // BLOCK_ROWS))))

    return blockwise


def _cut(rows: Any, count: int) -> Iterator[Any]:
    """Cut a chunk, or an array, into so many parts of nearly equal length."""
    arrays = rows if isinstance(rows, Chunk) else (rows,)
    n = int(arrays[0].shape[0])
    for start, stop in pairwise(n * k // count for k in range(count + 1)):
        parts = [None if a is None else a[start:stop, ...] for a in arrays]
        yield Chunk(*parts) if isinstance(rows, Chunk) else parts[0]


def joined(one: Any, other: Any) -> Any:
    """Return results of rows one after the other, arrays or tuples of them."""
    if isinstance(one, tuple):
        return tuple(map(joined, one, other))
    return namespace(one).concat([one, other], axis=0)


def halving(function: Callable[[Any], R], add: Callable[[R, R], R]) -> Callable[[Any], R]:
    """Return the same function of chunks, or of arrays, that makes do with the memory of a device.

    Where there is too little, it takes half the rows at a time, from then on.
    """
    most = math.inf

    def careful(rows: Any) -> R:
        nonlocal most
        n = int(getattr(rows, "X", rows).shape[0])
        if n <= most:
            try:
                return function(rows)
            except Exception as error:
                if type(error).__name__ != "OutOfMemoryError" or n < 2 * _LEAST_ROWS:
                    raise
            # Outside the except block: only here the memory of the failed attempt is free again.
            forget()
            most = n // 2
        one, other = _cut(rows, 2)
        return add(careful(one), careful(other))

    return careful


def in_threads(
    function: Callable[[Any], R], items: Iterable[Any], ahead: int | None = None
) -> Iterator[R]:
    """Yield what `function` makes of every item, in their order.

    So many are begun or waiting beyond the next one; by default few, whose results are held.
    """
    workers = cpu_count()
    ahead = workers if ahead is None else ahead
    if workers < 2 or getattr(_here, "busy", False):
        yield from map(function, items)
        return
    pending: deque[Future[R]] = deque()
    with ExitStack() as stack:
        stack.enter_context(one_blas_thread)
        pool = ThreadPoolExecutor(workers, initializer=_begin_thread)
        stack.callback(pool.shutdown, wait=True, cancel_futures=True)
        for item in items:
            # The caller's context, for settings such as np.errstate.
            pending.append(pool.submit(copy_context().run, function, item))
            if len(pending) > ahead:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()


def _begin_thread() -> None:
    _here.busy = True
    _here.buffers = {}


def scratch(name: object, shape: tuple[int, ...], dtype: Any) -> np.ndarray[Any, np.dtype[Any]]:
    """Return an array to be overwritten, which lasts until the same thread asks for `name` again.

    Chunk maps work in the same memory for every chunk: fresh memory has to be cleared by the
    system each time, which takes longer than some of the arithmetic. Outside the threads of the
    engine the array is a new one.
    """
    buffers = getattr(_here, "buffers", None)
    if buffers is None:
        return np.empty(shape, dtype)
    size = math.prod(shape)
    buffer = buffers.get((name, dtype))
    if buffer is None or buffer.size < size:
        buffer = buffers[name, dtype] = np.empty(size, dtype)
    return cast("np.ndarray[Any, np.dtype[Any]]", buffer[:size].reshape(shape))


@contextmanager
def alone() -> Iterator[None]:
    """Keep to this thread and to one BLAS thread: the others belong to whoever called."""
    before = dict(vars(_here))
    _begin_thread()
    try:
        with one_blas_thread:
            yield
    finally:
        # Buffers go too: the thread is Dask's or the caller's, and may do other work next.
        vars(_here).clear()
        vars(_here).update(before)


@contextmanager
def limit_blas(size: int) -> Iterator[None]:
    """Keep BLAS to one thread around passes whose matrices between them are no larger than `size`.

    Its threads wait for more work by spinning, for tens of milliseconds after each small product,
    on processors that the chunks of the next pass could use.
    """
    if size > _SMALL_SIZE:
        yield
        return
    with one_blas_thread:
        yield


def for_all(function: Callable[[Any], R], items: Sequence[Any]) -> list[R]:
    """Run `function` for every item: in threads where that keeps them busy.

    Where the last round would leave most threads idle, the items run one after the other and
    leave the threads to BLAS, unless that is kept to one.
    """
    workers = cpu_count()
    rounds = -(-len(items) // workers)
    idle = len(items) < 0.8 * rounds * workers and not one_blas_thread.holds
    if len(items) < 2 or idle:
        return [function(item) for item in items]
    return list(in_threads(function, items, len(items)))
