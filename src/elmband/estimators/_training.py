"""Rows to train on, of whatever kind: checked, and noted what predictions need to know of them."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from elmband.engines import engine
from elmband.estimators._clusters import (
    Spread,
    check_collection,
    collected,
    collection_rows,
    is_dask,
    refuse_on_cluster,
    scan_on_workers,
)
from elmband.estimators._device_placement import PlacedModel
from elmband.estimators._roles import Roles
from elmband.estimators._scans import (
    check_training_scan,
    draw_seed,
    refuse_beside_groups,
    refuse_beside_scan,
    scan_rows,
    transform_of,
)
from elmband.estimators._tables import EncodedRows
from elmband.estimators._validate import (
    check_chunk_size,
    check_groups,
    check_labels,
    check_precision,
    training_rows,
)
from elmband.ground.arrays import product_dtype
from elmband.sources.device import resolve
from elmband.sources.encode import EncoderState, TableEncoder
from elmband.sources.stream import Scan
from elmband.sums.copies import merged_copies
from elmband.sums.moments import Chunk
from elmband.sums.rows import DEFAULT_CHUNK_SIZE, ArrayRows, Rows
from elmband.sums.scaling import Scaling
from elmband.uncertainty.mean import SelectionMethod
from elmband.uncertainty.targets import RangeChoice
from elmband.uncertainty.transform import TransformChoice, fit_transform


class TrainingModel(PlacedModel):
    """What models have in common that are trained on arrays, scans and Dask collections."""

    selection: SelectionMethod | None
    target_transform: TransformChoice
    target_range: RangeChoice
    device: str | None
    random_state: Any
    # What makes numbers of tables, None where they are numbers.
    _encoder_state: EncoderState | None = None
    # How many groups of rows were left out together, None where rows were left out one by one.
    _n_groups: int | None = None
    # Names of the columns besides the features, which models of earlier versions do not know.
    _roles: Roles = Roles()
    _targets: Scaling

    def _training(self, X: Any, y: Any, weight: Any, groups: Any) -> tuple[Rows, Any]:
        """Check the data; note what predictions need to know of them."""
        precision = check_precision(self.precision)
        self._encoder_state = None
        if isinstance(X, Scan | Spread):
            rows = self._training_scan(X, y, weight, groups)
            labels = None if groups is None else check_labels(groups, len(rows))
            return rows, self._noted(labels)
        if is_dask(X):
            return self._training_collection(X, y, weight, groups), self._noted(None)
        self._device = resolve(self.device)
        if isinstance(X, EncodedRows):
            self._encoder_state = X.encoder.state_
        checked = training_rows(self, X, y, weight, finite=self._device is None)
        labels = self._noted(check_groups(groups, checked))
        self._single_output = checked.single_output
        self._seed = engine.seed_of_job(draw_seed(self.random_state))
        self._dtype = product_dtype(checked.X, precision)
        self.target_transform_ = fit_transform(self.target_transform, checked.Y, checked.s)
        Y = self.target_transform_.forward(checked.Y)
        there = Chunk(checked.X, Y, checked.s)
        # Rows with labels are left out with these, whatever they are copies of.
        there = merged_copies(there) if labels is None else there
        return self._moved(ArrayRows.of(there, self._rows_at_once(checked.X))), labels

    def _noted(self, labels: Any) -> Any:
        """Note how many groups there are, and return their labels."""
        self.__dict__.pop("_n_groups", None)
        if labels is not None:
            self._n_groups = len(np.unique(labels))
        return labels

    def _training_scan(self, rows: Scan | Spread, y: Any, weight: Any, groups: Any) -> Rows:
        """Check a scan, and note the same of it."""
        scan = rows.scan if isinstance(rows, Spread) else rows
        refuse_beside_scan(y=y, sample_weight=weight, selection=self.selection)
        refuse_beside_groups(groups, client=rows if isinstance(rows, Spread) else None)
        check_training_scan(self, scan)
        if scan.encoder is not None:
            self._encoder_state = scan.encoder.state_
        self._seed = engine.seed_of_job(draw_seed(self.random_state))
        self._dtype = product_dtype(np.empty(0, scan.dtype), check_precision(self.precision))
        self.target_transform_ = transform_of(self.target_transform)
        if self.chunk_size is not None:
            check_chunk_size(self.chunk_size, DEFAULT_CHUNK_SIZE)
        self._note_targets(rows)
        if isinstance(rows, Spread):
            refuse_on_cluster(device=self.device)
            self._device = None
            return scan_on_workers(rows, self._prepare, self._dtype, self.chunk_size)
        self._device = resolve(self.device)
        whole = groups is not None
        found = scan_rows(scan, self._prepare, self._dtype, self.chunk_size, whole=whole)
        if isinstance(found, ArrayRows) and not whole:
            found = ArrayRows.of(merged_copies(found.whole()), found.chunk_size)
        return self._moved(found)

    def _training_collection(self, X: Any, y: Any, weight: Any, groups: Any) -> Rows:
        """Check Dask collections, and note the same of them."""
        refuse_on_cluster(groups=groups, selection=self.selection, device=self.device)
        check_collection(self, X, reset=True)
        found = collected(X, y, weight)
        self._single_output, self._device = found.single_output, None
        self._seed = engine.seed_of_job(draw_seed(self.random_state))
        self._dtype = product_dtype(np.empty(0, found.form.dtype), check_precision(self.precision))
        self.target_transform_ = transform_of(self.target_transform)
        return collection_rows(found, self._prepare_block, self._dtype, self.chunk_size)

    @property
    def encoder_(self) -> TableEncoder | None:
        """The encoder of the tables that the model was trained on, None for plain numbers."""
        check_is_fitted(self)
        state = self._encoder_state
        return None if state is None else TableEncoder.from_state(state)

    def _note_roles(self, X: Any, y: Any, weight: Any, groups: Any = None) -> None:
        """Note the names of the columns that the model was told of."""
        self.__dict__.pop("_roles", None)
        found = Roles.of(X, y, weight, groups)
        if found != Roles():
            self._roles = found

    @property
    def target_name_(self) -> str | None:
        """The name of the column that the model was trained to predict, None if it had none."""
        check_is_fitted(self)
        return self._roles.target

    @property
    def _n_targets(self) -> int:
        """How many targets a scan must have."""
        return int(self._targets.mean.shape[0])

    def _note_targets(self, rows: Scan | Spread) -> None:
        """Note what the targets of a scan to train on are like; text is for classifiers."""
        scan = rows.scan if isinstance(rows, Spread) else rows
        levels = None if scan.encoder is None else scan.encoder.target_levels_
        if levels is not None and levels.dtype.kind == "U":
            raise ValueError(
                f"The target of {scan!r} is text, such as {str(levels[0])!r}, and "
                f"{type(self).__name__} learns numbers: make it numbers, or train a classifier."
            )
        self._single_output = scan.single_output

    def _prepare(self, chunk: Chunk) -> Chunk:
        """Return rows read from a scan as they are learned from."""
        return chunk._replace(Y=self.target_transform_.forward(chunk.Y))

    def _prepare_block(self, chunk: Chunk) -> Chunk:
        """Return rows of a Dask collection as they are learned from."""
        return self._prepare(chunk)
