"""Work that lasts: its progress, sums kept in a checkpoint, and columns that stay known."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from functools import partial
from hashlib import sha256
from importlib import metadata
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

from elmband.engines import engine
from elmband.engines.checkpoint import Checkpoint, described, owner
from elmband.engines.progress import Bar, Verbose, shown
from elmband.estimators._parameters import draw_seed
from elmband.sources.stream import Scan

# What scikit-learn notes of columns, beside the fitted value.
COLUMNS = ("n_features_in_", "feature_names_in_")
# Parameters that change nothing in what is learned.
_SILENT = ("verbose", "random_state")

OnChunks = Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]]


@contextmanager
def fit_progress(
    estimator: Any, X: Any, checkpoint: str | Path | None, client: Any = None
) -> Iterator[None]:
    """Show the progress of a fit, and keep its sums in the folder `checkpoint`.

    A fit that ends early leaves the columns that a model knows as they were.
    """
    verbose = _verbose(estimator)
    with _columns_kept(estimator), ExitStack() as stack:
        kept = None
        if checkpoint is not None:
            place = _checkpoint_of(checkpoint, estimator, X, client)
            kept = owner(stack).enter_context(place.until_complete())
            stack.enter_context(kept.noting_refusal())
        bar = stack.enter_context(shown(verbose, X.nbytes if isinstance(X, Scan) else None))
        with engine.running(engine.Job(bar, kept)):
            yield


@contextmanager
def _columns_kept(estimator: Any) -> Iterator[None]:
    """Let a model whose fit ends early know the columns of the fit before, not of the new rows."""
    known = vars(estimator)
    before = {name: known[name] for name in COLUMNS if name in known}
    try:
        yield
    except BaseException:
        for name in COLUMNS:
            known.pop(name, None)
        known.update(before)
        raise


def _checkpoint_of(folder: str | Path, estimator: Any, X: Any, client: Any) -> Checkpoint:
    """Return the checkpoint of a fit in a folder."""
    if not isinstance(X, Scan):
        raise ValueError("checkpoint is for fits on a scan; arrays are soon summed again.")
    # Chunks are counted here, partitions where workers read.
    fingerprint = _fingerprint(estimator, X, "here" if client is None else "workers")
    return Checkpoint(folder, fingerprint, draw_seed(estimator.random_state))


def _fingerprint(estimator: Any, scan: Scan, where: str) -> str:
    """Return what tells a fit from another: rows, how they are cut, parameters and versions."""
    parameters = {
        name: described(value)
        for name, value in estimator.get_params(deep=False).items()
        if name not in _SILENT
    }
    seed = estimator.random_state if isinstance(estimator.random_state, Integral) else "random"
    versions = metadata.version("elmband"), np.__version__
    rows = where, scan.chunk_size, scan.fingerprint()
    text = f"{type(estimator).__name__}{parameters}{seed}{versions}{rows}"
    return sha256(text.encode()).hexdigest()


def _verbose(estimator: Any) -> Verbose:
    verbose: Verbose = estimator.verbose
    if verbose not in (True, False, "auto"):
        raise ValueError(f"verbose must be True, False or 'auto'; got {verbose!r}.")
    return verbose


def scan_progress(estimator: Any, X: Any) -> AbstractContextManager[None]:
    """Show the progress of sums over a scan; those over arrays are soon there."""
    return fit_progress(estimator, X, None) if isinstance(X, Scan) else nullcontext()


@contextmanager
def answer_progress(estimator: Any, scan: Scan, label: str) -> Iterator[OnChunks]:
    """Give the engine's way through the chunks of a scan, which shows how far it is."""
    with shown(_verbose(estimator), scan.nbytes) as bar:
        if bar is None:
            yield engine.on_chunks
            return
        bar.begin(label, scan.n_rows)
        yield partial(_advancing, bar)


def _advancing(bar: Bar, function: Callable[[Any], Any], chunks: Iterable[Any]) -> Iterator[Any]:
    def sized(chunk: Any) -> tuple[int, Any]:
        return int(getattr(chunk, "X", chunk).shape[0]), function(chunk)

    for n_rows, found in engine.on_chunks(sized, chunks):
        bar.advance(n_rows)
        yield found
