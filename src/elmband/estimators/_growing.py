"""Models that rows can be added to, and models trained apart put together."""

from copy import copy
from typing import Any, Self, TypeVar

from sklearn.utils.metaestimators import available_if

from elmband.estimators._point import PointModel
from elmband.estimators._scans import check_targets, followed, refuse_beside_scan, scan_rows
from elmband.estimators._tables import rows_to_fit
from elmband.estimators._updates import Grown, check_growing_rule, check_mergeable
from elmband.estimators._validate import (
    check_alpha,
    check_chunk_size,
    held_out_rows,
    with_weight,
)
from elmband.ground.arrays import double, epsilon, namespace
from elmband.layers.output_layer import AlphaRule
from elmband.sources.stream import Scan
from elmband.sums.rows import DEFAULT_CHUNK_SIZE, ArrayRows, Rows
from elmband.uncertainty.mean import MeanModel


class GrowingModel(PointModel):
    """A point model whose single layer can be trained on more rows."""

    def _may_grow(self) -> bool:
        """Tell whether rows can be added, or why they cannot."""
        auto = isinstance(self.n_neurons, str)
        single = not auto and self.n_estimators in (None, 1)
        transformed = self.target_transform not in (None, "auto")
        if not single or self.selection is not None or transformed:
            raise AttributeError(
                "partial_fit is for a single layer: give n_neurons a number or a mix, and leave "
                "n_estimators, selection and target_transform as they are."
            )
        return True

    @available_if(lambda self: self._may_grow())  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Add rows, arrays or a scan, to those that the model was trained on.

        The model has a single layer. The first rows decide on the scaling of inputs and targets,
        for all that follow: let them be typical. γ is a number or chosen by generalised
        cross-validation.
        """
        rule = check_alpha(self.alpha)
        check_growing_rule(rule)
        specs = self._specs()
        assert specs is not None
        with followed(self, X, None):
            if not hasattr(self, "_targets"):
                given = rows_to_fit(X, sample_weight)
                rows, _ = self._training(given, y, sample_weight, None)
                eps = epsilon(self._dtype, namespace(rows.like))
                grown = Grown.begin(rows, specs[0], self._dtype, eps, self._seed)
                self._note_roles(X, y, sample_weight)
            elif self._grown is not None:
                rows, grown = self._more_rows(X, y, sample_weight), self._grown
            else:
                raise ValueError(
                    "fit has trained what cannot grow, with other parameters; begin with "
                    "partial_fit on a new model."
                )
            self._grown = grown.plus(rows, self._seed)
            self._grow(rows, rule, grown)
        return self

    def _more_rows(self, X: Any, y: Any, weight: Any) -> Rows:
        """Check rows beside those that the model knows."""
        X = self._new_rows(X, "partial_fit")
        if isinstance(X, Scan):
            refuse_beside_scan(y=y, sample_weight=weight)
            check_targets(self, X, self._n_targets)
            return self._moved(scan_rows(X, self._prepare, self._dtype, self.chunk_size))
        Y, s = held_out_rows(X, y, weight, int(self._targets.mean.shape[0]))
        X, Y, s = with_weight(X, Y, s)
        size = check_chunk_size(self.chunk_size, DEFAULT_CHUNK_SIZE)
        return self._moved(ArrayRows(X, Y, s, size))

    def _grow(self, rows: Rows, rule: AlphaRule, before: Grown | None = None) -> MeanModel:
        """Solve with the sums of all rows so far, the last of them added to those `before`."""
        del before
        assert self._grown is not None
        mean = self._grown.mean_model(rows, rule)
        self._set_layer(mean)
        return mean

    def _no_rows(self) -> Rows:
        like = self._features.inputs.mean[None, :][:0, :]
        Y = double(self._targets.mean)[None, :][:0, :]
        return ArrayRows(like, Y)

    def untrained(self) -> Self:
        """Return a model with the same hidden layer and scalings and no rows.

        Train it by `partial_fit` on other rows, anywhere, and put both together with `merge`.
        """
        if self._grown is None:
            raise ValueError("Only a fitted single layer can be copied untrained.")
        other = copy(self)
        other._grown = self._grown.emptied()  # noqa: SLF001
        return other


G = TypeVar("G", bound=GrowingModel)


def merge(one: G, other: G) -> G:
    """Return the model of the rows of both, which were trained apart on the same hidden layer.

    It equals one model trained on all rows. Intervals have to be refreshed, see
    `ELMIntervalRegressor.refresh`.

    Examples
    --------
    >>> from elmband import ELMRegressor, merge
    >>> from elmband.datasets import make_heteroscedastic
    >>> data = make_heteroscedastic(500, random_state=0)
    >>> first = ELMRegressor(50, random_state=0).partial_fit(data.X[:300], data.y[:300])
    >>> second = first.untrained().partial_fit(data.X[300:], data.y[300:])
    >>> merge(first, second).predict(data.X[:3]).shape
    (3,)
    """
    check_mergeable(one, other)
    both = copy(one)
    assert one._grown is not None  # noqa: SLF001
    assert other._grown is not None  # noqa: SLF001
    both._grown = one._grown.joined(other._grown)  # noqa: SLF001
    both._grow(both._no_rows(), check_alpha(both.alpha))  # noqa: SLF001
    return both
