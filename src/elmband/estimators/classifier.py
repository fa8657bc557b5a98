"""The classifier: random hidden layers with ridge output layers on ±1 targets."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from elmband.engines.progress import Verbose
from elmband.estimators._class_targets import CodedModel
from elmband.estimators._distributed_predict import written_elsewhere
from elmband.estimators._updates import Grown, in_own_mean_weights
from elmband.estimators._validate import check_alpha
from elmband.estimators._written import written_here
from elmband.ground.arrays import Array, Precision, double, namespace, to_numpy
from elmband.layers.neurons import Kind, NeuronCounts
from elmband.layers.output_layer import AlphaRule
from elmband.stacks.search import MAX_NEURONS, Rounds
from elmband.sums.rows import Rows
from elmband.uncertainty.classes import ClassWeight
from elmband.uncertainty.left_out import LeftOut
from elmband.uncertainty.local_fit import LocalColumns
from elmband.uncertainty.mean import MeanModel, SelectionMethod
from elmband.uncertainty.probability import Probability, two_sided


class ELMClassifier(ClassifierMixin, CodedModel):
    """Extreme Learning Machine for classes: random hidden neurons, least squares on ±1.

    Two classes, many classes, or several labels for each row (columns of 0 and 1). Probabilities
    are calibrated on training rows left out in closed form.

    Parameters
    ----------
    n_neurons, activation, bias, density, weight_scale, alpha, n_estimators, \
learning_rounds, max_neurons, local_layers, selection, \
precision, chunk_size, device, random_state, verbose
        As for `ELMRegressor`.
    class_weight : dict, "balanced" or None, default=None
        How much a row of each class counts beside others. "balanced" lets all classes count alike.
        Weights act on all that is learned: scaling, output weights, L2 strength, selection,
        stacking and probabilities, which are then those of a population weighted so.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The classes in their order, or the numbers of columns of several labels.
    probability_ : tuple of Probability
        How probabilities follow from decisions; one for each label where there are several.
    hidden_, coef_, alpha_, members_, member_weights_, feature_relevance_, column_relevance_, \
relevant_directions_, training_histograms_, n_features_in_, feature_names_in_, target_name_
        As for `ELMRegressor`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from elmband import ELMClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = ELMClassifier(100, random_state=0).fit(X[:400], y[:400])
    >>> model.predict(X[400:403])
    array([0, 1, 1])
    >>> model.predict_proba(X[400:403]).shape
    (3, 2)
    """

    # Classes stay as they are.
    target_transform = None
    probability_: tuple[Probability, ...] | None

    def __init__(
        self,
        n_neurons: NeuronCounts | Literal["auto"] = "auto",
        *,
        class_weight: ClassWeight = None,
        activation: Kind = "tanh",
        bias: bool = True,
        density: float = 1.0,
        weight_scale: float = 1.0,
        alpha: AlphaRule = "auto",
        n_estimators: int | None = None,
        learning_rounds: Rounds = "auto",
        max_neurons: int = MAX_NEURONS,
        local_layers: LocalColumns = "auto",
        selection: SelectionMethod | None = None,
        precision: Precision = "auto",
        chunk_size: int | None = None,
        device: str | None = None,
        random_state: Any = None,
        verbose: Verbose = "auto",
    ) -> None:
        super().__init__(
            n_neurons,
            activation=activation,
            bias=bias,
            density=density,
            weight_scale=weight_scale,
            alpha=alpha,
            n_estimators=n_estimators,
            learning_rounds=learning_rounds,
            max_neurons=max_neurons,
            local_layers=local_layers,
            selection=selection,
            precision=precision,
            chunk_size=chunk_size,
            device=device,
            random_state=random_state,
            verbose=verbose,
        )
        self.class_weight = class_weight

    def _learn(self, left_out: Callable[[], LeftOut]) -> None:
        self.probability_ = self._probabilities(left_out())

    def _probabilities(self, left_out: LeftOut) -> tuple[Probability, ...]:
        """Calibrate on rows left out."""
        target, mean, s, *_ = left_out.numpy()
        assert s is not None
        scale, centre = (to_numpy(double(a)) for a in (self._targets.scale, self._targets.mean))
        decisions, codes = mean * scale + centre, target * scale + centre
        if self._classes.single_output or self._classes.multilabel:
            return tuple(
                Probability.fit(two_sided(d), (code > 0).astype(np.int64), s)
                for d, code in zip(decisions.T, codes.T, strict=True)
            )
        return (Probability.fit(decisions, np.argmax(codes, axis=1), s),)

    def decision_function(
        self, X: Any, *, out: str | Path | None = None, client: Any = None
    ) -> Any:
        """Return ŷ on the scale of ±1: (n,) for two classes, else (n, n_classes).

        A file name `out` streams it to a .parquet, .npy, .h5, .csv or .arrow file. With a
        `client`, its workers read the files of a scan and write to a folder `out` of Parquet files.
        """
        if client is not None:
            return written_elsewhere(self, X, client, out, "decision_function", {})
        columns = self._names("decision")
        return self._streamed(X, "decision_function", self._means, columns, out)

    def predict(self, X: Any, *, out: str | Path | None = None, client: Any = None) -> Any:
        """Return the label of every row, or columns of 0 and 1 where there are several.

        X is an array, a table or a scan. A file name `out` streams labels to a .parquet, .csv or
        .arrow file, or numeric ones to a .npy or .h5 file, and returns its path. With a `client`,
        its workers read the files of a scan and write to a folder `out` of Parquet files.
        """
        check_is_fitted(self)
        if client is not None:
            return written_elsewhere(self, X, client, out, "predict", {})
        if out is None:
            return self._streamed(X, "predict", self._labels, [], None)
        return written_here(self, X, out, "predict", {})

    def _labels(self, X: Array) -> Any:
        return self._classes.decided(self._means(X))

    def predict_proba(self, X: Any, *, out: str | Path | None = None, client: Any = None) -> Any:
        """Return the probability of every class, (n, n_classes).

        Where rows have several labels, the probability of each of them. A file name `out` streams
        the result to a file. With a `client`, its workers read the files of a scan and write to a
        folder `out` of Parquet files.
        """
        if client is not None:
            return written_elsewhere(self, X, client, out, "predict_proba", {})
        columns = [f"probability_{label}" for label in getattr(self, "classes_", [])]
        return self._streamed(X, "predict_proba", self._shares, columns, out)

    def _shares(self, X: Array) -> Array:
        decisions = self._means(X)
        probability = getattr(self, "probability_", None)
        if probability is None:
            raise ValueError(
                "Probabilities are older than the model, which rows were added to; call refresh "
                "with rows that it was trained on."
            )
        if self._classes.single_output:
            return probability[0](two_sided(decisions))
        if not self._classes.multilabel:
            return probability[0](decisions)
        shares = [p(two_sided(decisions[:, j]))[:, 1] for j, p in enumerate(probability)]
        return namespace(decisions).stack(shares, axis=1)

    @available_if(lambda self: self._may_grow())  # type: ignore[untyped-decorator]
    def partial_fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, classes: Any = None
    ) -> Self:
        """Add rows, arrays or a scan, to those that the model was trained on.

        The model has a single layer. Name all `classes` with the first rows if these do not have
        them all. The first rows decide on the scaling, for all that follow: let them be typical.
        Probabilities come from a sample of all rows that is kept.
        """
        with self._declaring(classes):
            super().partial_fit(X, y, sample_weight)
        return self

    def refresh(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Calibrate probabilities anew, on rows that the model was trained on by `partial_fit`."""
        if self._grown is None or self._grown.sums is None:
            raise ValueError("refresh is for models that partial_fit or merge has changed.")
        rows = in_own_mean_weights(self._more_rows(X, y, sample_weight), self._grown)
        mean = self._grown.mean_model(rows, check_alpha(self.alpha))
        self.probability_ = self._probabilities(mean.left_out(mean.some_rows(self._seed)))
        return self

    def _grow(self, rows: Rows, rule: AlphaRule, before: Grown | None = None) -> MeanModel:
        mean = super()._grow(rows, rule, before)
        assert self._grown is not None
        sample = self._grown.kept
        # Models merged from fits have kept no rows.
        self.probability_ = None if sample is None else self._probabilities(mean.left_out(sample))
        return mean

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = self.class_weight is None
        return tags
