"""Rows that are read in chunks: what estimators need to train on them and to predict them."""

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from functools import partial
from hashlib import sha256
from importlib import metadata
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from elmband.engines import engine
from elmband.engines.checkpoint import Checkpoint, described, owner
from elmband.engines.progress import Bar, Verbose, shown
from elmband.ground.files import check_name, check_writable, lies_in
from elmband.sources.stream import Scan
from elmband.sources.stream.write import format_of
from elmband.sums.moments import Chunk
from elmband.sums.rows import ArrayRows, StreamRows
from elmband.uncertainty.transform import Transform, fit_transform

# What scikit-learn notes of columns, beside the fitted value.
COLUMNS = ("n_features_in_", "feature_names_in_")
# Parameters that change nothing in what is learned.
_SILENT = ("verbose", "random_state")
# So many rows, if their features take no more than these bytes, are read once and kept: few rows
# allow what many do not.
_KEPT_ROWS = 100_000
_KEPT_BYTES = 2**25

OnChunks = Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]]


def refuse_beside_scan(**given: Any) -> None:
    """Refuse what a scan brings itself, or what needs all rows at hand."""
    for name, value in given.items():
        if value is None:
            continue
        if name == "y":
            raise ValueError("y is part of a scan: name it there, as in scan(..., target='price').")
        if name == "sample_weight":
            raise ValueError("Weights are part of a scan: name them there, as scan(..., weight=).")
        raise ValueError(f"{name} needs rows in memory; give arrays instead of a scan.")


def refuse_beside_groups(groups: Any, **given: Any) -> None:
    """Refuse what is for rows that are not in memory, where groups need all of them there."""
    for name, value in given.items():
        if groups is not None and value is not None:
            raise ValueError(f"groups needs all rows in memory, without {name}; leave one out.")


def check_training_scan(estimator: BaseEstimator, scan: Scan) -> None:
    """Check that a scan has a target, and note its features in the estimator."""
    if scan.n_outputs == 0:
        raise ValueError(f"{scan!r} has no target to learn; name it, as in scan(..., target=).")
    estimator.n_features_in_ = scan.n_features
    if scan.feature_names is not None:
        estimator.feature_names_in_ = np.asarray(scan.feature_names, dtype=object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_


def check_new_scan(estimator: BaseEstimator, scan: Scan) -> None:
    """Refuse a scan whose features are not those of the training rows."""
    name, inputs = type(estimator).__name__, estimator.fitted_.inputs
    count, known = inputs.width, inputs.names
    mend = "choose them with features=[...]."
    if scan.encoder is None and inputs.encoder is not None:
        mend = "give it the encoder of the model, as in scan(..., encoder=model.encoder_)."
    if scan.n_features != count:
        raise ValueError(
            f"{scan!r} has {scan.n_features} features, but {name} is expecting {count} features as "
            f"input; {mend}"
        )
    if known is not None and scan.feature_names is not None:
        for mine, theirs in zip(known, scan.feature_names, strict=True):
            if mine != theirs:
                raise ValueError(
                    f"{scan!r} has the feature {theirs!r} where {name} was trained on {mine!r}; "
                    "name the features in that order, with features=[...]."
                )


def refuse_left_out(scan: Scan) -> None:
    """Refuse to predict rows of which some may be left out."""
    if scan.has_weights:
        raise ValueError(
            "Rows to predict have no weights: rows of weight 0 would be missing from the result. "
            "Leave weight= out of the scan."
        )
    if scan.leaves_rows_out:
        raise ValueError(
            "Rows to predict need no target: with missing_target='drop' those without one would be "
            "missing from the result. Leave missing_target= and target= out of the scan."
        )


def refuse_own_rows(X: Any, out: str | Path | None) -> None:
    """Refuse to write results over the rows of a scan or of a mapped file, or among them."""
    if out is None:
        return
    check_name(out)
    if isinstance(X, Scan) and X.reads(Path(out)):
        raise ValueError(
            f"out={str(out)!r} is what the scan reads, or lies in a folder that it reads; name "
            "another place for the results."
        )
    if lies_in(Path(out), _mapped_files(X)):
        raise ValueError(f"out={str(out)!r} is the file that X lies in; name another file.")


def check_out(X: Any, out: str | Path | None) -> None:
    """Refuse a file for results that cannot be written, before any row is read for it."""
    if out is None:
        return
    refuse_own_rows(X, out)
    format_of(Path(out))
    check_writable(Path(out))


def _mapped_files(X: Any) -> Iterator[Path]:
    """Yield the file of an array that was mapped into memory, if it is one or a view of one."""
    while isinstance(X, np.ndarray):
        if isinstance(X, np.memmap) and X.filename is not None:
            yield Path(X.filename)
        X = X.base


def check_targets(estimator: BaseEstimator, scan: Scan, n_outputs: int) -> None:
    """Refuse a scan to be judged by that has not as many targets as the model."""
    if scan.n_outputs != n_outputs:
        raise ValueError(
            f"{scan!r} has {scan.n_outputs} targets, {type(estimator).__name__} was trained on "
            f"{n_outputs}; name them, as in scan(..., target=)."
        )


def transform_of(choice: Any) -> Transform:
    """Return the transform of targets that are read in chunks."""
    if choice == "box-cox" or (isinstance(choice, tuple | list) and len(choice) == 2):
        raise ValueError(
            "A target_transform that is fitted to the targets needs rows in memory; for a scan "
            "choose 'log', 'log1p' or 'logit'."
        )
    return fit_transform(choice, np.empty((0, 1)))


def check_chunk_size(value: Any, default: int) -> int:
    """Return the number of rows per chunk."""
    if value is None:
        return default
    if isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1:
        return int(value)
    raise ValueError(f"chunk_size must be a whole number of rows, at least 1; got {value!r}.")


def scan_rows(
    scan: Scan,
    prepare: Callable[[Chunk], Chunk],
    dtype: Any,
    chunk_size: int | None,
    *,
    whole: bool = False,
) -> ArrayRows | StreamRows:
    """Return the rows of a scan: in memory where they are few, else to be read for every pass.

    Every chunk goes through `prepare`. With `whole`, all rows are taken into memory.
    """
    size = scan.chunk_size if chunk_size is None else chunk_size
    kept = _loaded(scan, size, math.inf if whole else few_rows(scan.n_features, scan.dtype))
    if kept is not None:
        return ArrayRows.of(prepare(kept), size)
    return read_rows(scan, prepare, dtype, size)


def read_rows(
    scan: Scan, prepare: Callable[[Chunk], Chunk], dtype: Any, chunk_size: int
) -> StreamRows:
    """Return the rows of a scan, to be read for every pass, however few they are."""
    like = np.empty((0, scan.n_features), scan.dtype)
    return StreamRows(scan, like, dtype, prepare, chunk_size)


def few_rows(n_features: int, dtype: Any) -> int:
    """Return how many rows are few enough to be kept."""
    return min(_KEPT_BYTES // (n_features * int(dtype.itemsize)), _KEPT_ROWS)


def _loaded(scan: Scan, chunk_size: int, most: float) -> Chunk | None:
    """Read all rows, or none if they are more than `most`."""
    if scan.n_rows is not None and scan.n_rows > most:
        return None
    kept: list[Chunk] = []
    for chunk in scan.chunks(chunk_size):
        kept.append(chunk)
        if sum(part.X.shape[0] for part in kept) > most:
            return None
    s = None if kept[0].s is None else np.concatenate([part.s for part in kept])
    X, Y = (np.concatenate([part[k] for part in kept]) for k in (0, 1))
    if X.shape[0] < 2:
        raise ValueError(f"{scan!r} has {X.shape[0]} row; training needs 2 at least.")
    return Chunk(X, Y, s)


def draw_seed(random_state: Any) -> int:
    """Return a seed for the hidden layers."""
    return int(check_random_state(random_state).randint(2**31))


@contextmanager
def followed(
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


def _verbose(estimator: Any) -> Verbose:
    verbose: Verbose = estimator.verbose
    if verbose not in (True, False, "auto"):
        raise ValueError(f"verbose must be True, False or 'auto'; got {verbose!r}.")
    return verbose


def judging(estimator: Any, X: Any) -> AbstractContextManager[None]:
    """Show the progress of sums over a scan; those over arrays are soon there."""
    return followed(estimator, X, None) if isinstance(X, Scan) else nullcontext()


@contextmanager
def answering(estimator: Any, X: Any, label: str) -> Iterator[OnChunks]:
    """Give the engine's way through chunks, which shows how far it is where X is a scan."""
    if not isinstance(X, Scan):
        yield engine.on_chunks
        return
    with shown(_verbose(estimator), X.nbytes) as bar:
        if bar is None:
            yield engine.on_chunks
            return
        bar.begin(label, X.n_rows)
        yield partial(_advancing, bar)


def _advancing(bar: Bar, function: Callable[[Any], Any], chunks: Iterable[Any]) -> Iterator[Any]:
    def sized(chunk: Any) -> tuple[int, Any]:
        return int(getattr(chunk, "X", chunk).shape[0]), function(chunk)

    for n_rows, found in engine.on_chunks(sized, chunks):
        bar.advance(n_rows)
        yield found


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
