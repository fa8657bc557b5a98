"""The classifier: random hidden layers with ridge output layers on ±1 targets."""

from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Any, Self

from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from elmband.estimators._class_targets import ClassTask, declared_classes
from elmband.estimators._fit_classes import with_kept_probability, with_probability
from elmband.estimators._fit_stack import fit_point
from elmband.estimators._model import ELMModel
from elmband.estimators._more_rows import grown_of, more_rows, with_more
from elmband.estimators._open_rows import Opened, open_rows
from elmband.estimators._parameters import Settings, check_alpha
from elmband.estimators._progress import fit_progress
from elmband.estimators._sklearn import ClassifierMixin
from elmband.estimators.ask import ask
from elmband.models.classes import decision_question, label_question, probability_question
from elmband.models.fitted import Fitted
from elmband.models.grown import Grown, in_own_mean_weights
from elmband.sums.rows import Rows
from elmband.uncertainty.classes import ClassWeight, Labels
from elmband.uncertainty.mean import MeanModel
from elmband.uncertainty.probability import Probability
from elmband.uncertainty.targets import RangeChoice
from elmband.uncertainty.transform import TransformChoice


@dataclass(eq=False, repr=False)
class ELMClassifier(ClassifierMixin, ELMModel):
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

    _: KW_ONLY
    class_weight: ClassWeight = None
    # Of all models, but no parameters of classifiers.
    target_transform: TransformChoice = field(default_factory=lambda: "auto", init=False)
    target_range: RangeChoice = field(default_factory=lambda: "auto", init=False)

    @property
    def classes_(self) -> Labels:
        """The classes in their order; numbers of columns where targets are several labels."""
        classes = self._of("classes_").classes
        assert classes is not None
        return classes.labels

    @property
    def probability_(self) -> tuple[Probability, ...] | None:
        """How probabilities follow from decisions, None where rows were added and none kept."""
        return self._of("probability_").probability

    def _opened(
        self, X: Any, y: Any, weight: Any, groups: Any = None, declared: Any = None
    ) -> Opened:
        """Check the rows of a fit, and code their classes."""
        return open_rows(self, X, y, weight, groups, ClassTask(self.class_weight, declared))

    def _learned(self, opened: Opened, settings: Settings) -> Fitted:
        fitted, left_out = fit_point(self, opened, settings)
        return with_probability(fitted, left_out())

    def _may_grow(self) -> bool:
        """Tell that rows can be added to the model, or why they cannot."""
        if isinstance(self.class_weight, str) and self.class_weight == "balanced":
            raise AttributeError(
                "partial_fit needs weights of classes by number: 'balanced' needs all rows at once."
            )
        return super()._may_grow()

    @available_if(lambda self: self._may_grow())  # type: ignore[untyped-decorator]
    def partial_fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, classes: Any = None
    ) -> Self:
        """Add rows, arrays or a scan, to those that the model was trained on.

        The model has a single layer. Name all `classes` with the first rows if these do not have
        them all. The first rows decide on the scaling, for all that follow: let them be typical.
        Probabilities come from a sample of all rows that is kept.
        """
        known = self.fitted_.classes if self.__sklearn_is_fitted__() else None
        declared = declared_classes(classes, known)
        with fit_progress(self, X, None):
            self.fitted_ = with_more(
                self, X, y, sample_weight, declared, opening=self._opened, regrown=self._regrown
            )
        return self

    def _regrown(self, fitted: Fitted, before: Grown | None, rows: Rows, mean: MeanModel) -> Fitted:
        """Return a model to whose mean `rows` were added, with probabilities of rows kept."""
        del before, rows
        return with_kept_probability(fitted, mean)

    def refresh(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Calibrate probabilities anew, on rows that the model was trained on by `partial_fit`."""
        only_grown = "refresh is for models that partial_fit or merge has changed."
        if not self.__sklearn_is_fitted__():
            raise ValueError(only_grown)
        grown = grown_of(self.fitted_, only_grown)
        rows = in_own_mean_weights(more_rows(self, X, y, sample_weight), grown)
        mean = grown.mean_model(rows, check_alpha(self.alpha))
        left_out = mean.left_out(mean.some_rows(self.fitted_.training.seed))
        self.fitted_ = with_probability(self.fitted_, left_out)
        return self

    def decision_function(
        self, X: Any, *, out: str | Path | None = None, client: Any = None
    ) -> Any:
        """Return ŷ on the scale of ±1: (n,) for two classes, else (n, n_classes).

        A file name `out` streams it to a .parquet, .npy, .h5, .csv or .arrow file. With a
        `client`, its workers read the files of a scan and write to a folder `out` of Parquet files.
        """
        return ask(self, X, decision_question(), out, client)

    def predict(self, X: Any, *, out: str | Path | None = None, client: Any = None) -> Any:
        """Return the label of every row, or columns of 0 and 1 where there are several.

        X is an array, a table or a scan. A file name `out` streams labels to a .parquet, .csv or
        .arrow file, or numeric ones to a .npy or .h5 file, and returns its path. With a `client`,
        its workers read the files of a scan and write to a folder `out` of Parquet files.
        """
        return ask(self, X, label_question(), out, client)

    def predict_proba(self, X: Any, *, out: str | Path | None = None, client: Any = None) -> Any:
        """Return the probability of every class, (n, n_classes).

        Where rows have several labels, the probability of each of them. A file name `out` streams
        the result to a file. With a `client`, its workers read the files of a scan and write to a
        folder `out` of Parquet files.
        """
        check_is_fitted(self)
        return ask(self, X, probability_question(self.classes_), out, client)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = self.class_weight is None
        return tags
