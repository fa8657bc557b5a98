"""The classifier that abstains: labels for the rows it is certain of, the others for a person."""

from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from elmband.estimators._class_targets import ClassTask
from elmband.estimators._evaluate import decided_rows, scored_rows
from elmband.estimators._fit_classes import decided, request_of, with_decisions, with_probability
from elmband.estimators._fit_layer import fit_published
from elmband.estimators._fit_stack import fit_log_variance
from elmband.estimators._more_rows import check_one_noise_layer, refreshed, with_old_noise
from elmband.estimators._open_rows import Opened, open_rows
from elmband.estimators._parameters import Settings, check_choice
from elmband.estimators.ask import ask
from elmband.estimators.classifier import ELMClassifier
from elmband.layers.neurons import NeuronCounts
from elmband.layers.output_layer import AlphaRule
from elmband.metrics.decided import SelectiveEvaluation
from elmband.models.classes import accept_question, confidence_question, triage_question
from elmband.models.fitted import Fitted
from elmband.models.grown import Grown
from elmband.models.intervals import check_levels
from elmband.models.thresholds import WISHES, Thresholds
from elmband.sums.rows import Rows
from elmband.uncertainty.confidence import RULES, Confidence, Rule
from elmband.uncertainty.fit_predictive import Symmetric
from elmband.uncertainty.mean import MeanModel, SelectionMethod
from elmband.uncertainty.promise import Threshold


@dataclass(eq=False, repr=False)
class ELMSelectiveClassifier(ELMClassifier):
    """Extreme Learning Machine that answers only the rows it is certain of.

    An interval model is trained on classes as ±1. Its interval tells for every row how certain
    the label is; the rows above a threshold are answered, the others are for a person.

    Ask for one of four things. Shares and risks are those of rows as weighted:

    - ``coverage=0.3``: answer this share of the rows;
    - ``max_error=0.01``: of the answered rows, at most this share is wrong;
    - ``max_fpr=0.01``: of the rows that are not positive, answered or not, at most this share is
      answered as positive;
    - ``min_precision=0.99``: of the rows answered as positive, at least this share is.

    `fit` chooses the threshold by training rows left out: an estimate. `calibrate` chooses it by
    held-out rows: a promise with a stated confidence. `statement_` says which, in words.

    Parameters
    ----------
    n_neurons, activation, bias, density, weight_scale, alpha, noise, noise_neurons, noise_alpha, \
mode, n_estimators, learning_rounds, max_neurons, local_layers, precision, chunk_size, device, \
random_state, verbose
        As for `ELMIntervalRegressor`.
    coverage, max_error, max_fpr, min_precision : float, default=None
        What is asked for, one of them at most; see `choose` to change it after `fit`.
    rank_by : {"probability", "interval", "margin", "model"}, default="probability"
        What makes a row certain: the probability that its label is right, learned from the margin
        and the variances of training rows left out; the margin |ŷ| relative to the row's own
        interval, as published; the margin alone, which is one threshold for all; or the margin
        relative to the standard deviation of what the models of mean and noise do not know. With
        more than two classes the margin is the lead over the next class.
    per_class : bool, default=False
        Whether each class has a threshold of its own. For `max_fpr` and `min_precision` that
        means that only rows called positive have one: the others are always answered.
    pos_label : label, default=None
        The positive class; by default the second of two.
    class_weight : dict, "balanced" or None, default=None
        How often a row of each class counts, see `ELMClassifier`.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The classes in their order.
    thresholds_ : dict
        The `Threshold` of every class; None for a class that is always answered.
    statement_ : str
        What can be relied on, in words.
    confidence_ : Confidence
        The rule in use.
    feature_relevance_, column_relevance_, relevant_directions_, training_histograms_, \
target_name_
        As for `ELMRegressor`; the noise is that of classes as ±1.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from elmband import ELMSelectiveClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = ELMSelectiveClassifier(100, coverage=0.5, random_state=0).fit(X[:300], y[:300])
    >>> model.triage(X[300:303]).accepted.shape
    (3,)
    >>> model = model.choose(max_error=0.05).calibrate(X[300:], y[300:], confidence_level=0.9)
    >>> model.statement_.startswith("Promised with 90 % confidence: at most 5 % of the answered")
    True
    """

    # Intervals are a means here: these parameters of the interval model stay as they are.
    calibration: ClassVar[Literal["loo", "gaussian"]] = "gaussian"
    symmetric: ClassVar[Symmetric] = "auto"
    covariance: ClassVar[Literal["jackknife", "wild"]] = "jackknife"

    _: KW_ONLY
    noise: Literal["log", "squared"] = "log"
    noise_neurons: NeuronCounts | None = None
    noise_alpha: AlphaRule | None = None
    mode: Literal["auto", "exact", "fast"] = "auto"
    coverage: float | None = None
    max_error: float | None = None
    max_fpr: float | None = None
    min_precision: float | None = None
    rank_by: Rule = "probability"
    per_class: bool = False
    pos_label: Any = None
    # Of other classifiers: noise is learned from all neurons.
    selection: SelectionMethod | None = field(default_factory=lambda: None, init=False)

    def _opened(
        self, X: Any, y: Any, weight: Any, groups: Any = None, declared: Any = None
    ) -> Opened:
        """Check the rows of a fit, and that what is asked for can be asked of their classes."""
        check_choice(self.rank_by, RULES, "rank_by")
        task = ClassTask(self.class_weight, declared, several=False)
        opened = open_rows(self, X, y, weight, groups, task)
        # Classes are known: what cannot be asked of them is refused before a long fit.
        request_of(self, opened.classes)
        return opened

    def _learned(self, opened: Opened, settings: Settings) -> Fitted:
        fit = fit_published if settings.single_layer else fit_log_variance
        fitted, left_out = fit(self, opened, settings)
        found = left_out()
        return with_decisions(self, with_probability(fitted, found), found)

    def _may_grow(self) -> bool:
        """Tell that rows can be added to the model, or why they cannot."""
        check_one_noise_layer(self)
        return super()._may_grow()

    def _regrown(self, fitted: Fitted, before: Grown | None, rows: Rows, mean: MeanModel) -> Fitted:
        """Return a model to whose mean `rows` were added; its noise is older."""
        fitted = with_old_noise(self, fitted, before, rows, mean)
        return super()._regrown(fitted, before, rows, mean)

    def refresh(self, X: Any = None, y: Any = None, sample_weight: Any = None) -> Self:
        """Bring intervals, probabilities and thresholds up to date after `partial_fit` or `merge`.

        See `ELMIntervalRegressor.refresh`. A promise becomes an estimate again.
        """
        fitted, left_out = refreshed(self, X, y, sample_weight)
        found = left_out()
        self.fitted_ = with_decisions(self, with_probability(fitted, found), found)
        return self

    @property
    def confidence_(self) -> Confidence:
        """The rule in use."""
        deciding = self._part("confidence_", self._of("confidence_").deciding)
        return deciding.confidence  # type: ignore[no-any-return]

    @property
    def has_thresholds(self) -> bool:
        """Whether anything says which rows to answer."""
        deciding = self.fitted_.deciding if self.__sklearn_is_fitted__() else None
        return deciding is not None and deciding.thresholds is not None

    @property
    def thresholds_(self) -> dict[Any, Threshold | None]:
        """The threshold of every class; None for a class that is always answered."""
        chosen = self._chosen_or_missing()
        return dict(zip(self.classes_.tolist(), chosen.by_class, strict=True))

    @property
    def statement_(self) -> str:
        """What can be relied on, in words."""
        return self._chosen_or_missing().statement(self.classes_)

    def _chosen_or_missing(self) -> Thresholds:
        """Return the thresholds for an attribute, which may be missing but not fail otherwise."""
        try:
            return self._chosen()
        except ValueError as error:
            raise AttributeError(str(error)) from error

    def _chosen(self) -> Thresholds:
        check_is_fitted(self)
        self.fitted_.check_fresh()
        deciding = self.fitted_.deciding
        if deciding is None or deciding.thresholds is None:
            raise ValueError(
                "Nothing says which rows to answer: ask for a coverage, max_error, max_fpr or "
                "min_precision, as in choose(coverage=0.5)."
            )
        return deciding.thresholds

    def choose(
        self,
        *,
        coverage: float | None = None,
        max_error: float | None = None,
        max_fpr: float | None = None,
        min_precision: float | None = None,
        per_class: bool | None = None,
        pos_label: Any = None,
    ) -> Self:
        """Ask for something else, as in ``choose(max_error=0.01)``, without a new fit.

        Thresholds come from the rows of `calibrate`, or else from training rows left out. A
        promise holds for one wish; do not try several and keep the best. `per_class` and
        `pos_label` stay as they are where they are not given.
        """
        check_is_fitted(self)
        self.fitted_.check_fresh()
        numbers = (coverage, max_error, max_fpr, min_precision)
        asked: dict[str, Any] = dict(zip(WISHES, numbers, strict=True))
        if all(number is None for number in numbers):
            raise ValueError(f"choose needs one of {', '.join(WISHES)}, as in coverage=0.5.")
        others = {"per_class": per_class, "pos_label": pos_label}
        asked |= {name: value for name, value in others.items() if value is not None}
        deciding = self.fitted_.deciding
        assert deciding is not None
        request = request_of(self, self.fitted_.classes, **asked)
        self.fitted_ = decided(self.fitted_, request, deciding.held_out)
        for name, value in asked.items():
            setattr(self, name, value)
        return self

    def calibrate(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        groups: Any = None,
        confidence_level: float = 0.95,
    ) -> Self:
        """Turn the threshold into a promise, by held-out rows that training did not see.

        With probability `confidence_level` over the draw of these rows, the risk that was asked
        for is kept on new rows of the same kind. Rows of a group (a photo, a patient) are not
        independent: with `groups` the groups are counted, and the promise is for the average
        group of those with an answered row. Too few rows for the promise are refused with the
        number that is needed, and the model stays as it was. A coverage is no risk, and stays an
        estimate.

        Of all promises made with 90 % confidence up to a tenth may be broken, and more of those
        that were tried for again and again, with other limits, models or rows, until one was made.

        X and y are arrays, or X is a scan; `groups` has one label for each row. A row of weight s
        counts as s rows in every share, but as one row of evidence at the most: a common factor of
        `sample_weight` changes nothing. Some ten bytes are kept for each row, for `choose`.
        """
        levels = check_levels(confidence_level)
        if not levels.single:
            raise ValueError("calibrate takes a single confidence_level.")
        rows = scored_rows(self, X, y, sample_weight, groups).small(len(self.classes_))
        request = request_of(self, self.fitted_.classes)
        self.fitted_ = decided(self.fitted_, request, (rows, levels.values[0]))
        return self

    def confidence(self, X: Any, *, out: str | Path | None = None, client: Any = None) -> Any:
        """Return how certain every row is by the rule `rank_by`, larger for more certain rows.

        A file name `out` streams it to a .parquet, .npy, .h5, .csv or .arrow file. With a
        `client`, its workers read the files of a scan and write to a folder `out` of Parquet files.
        """
        return ask(self, X, confidence_question(), out, client)

    def accept(self, X: Any, *, out: str | Path | None = None, client: Any = None) -> Any:
        """Return which rows are answered, (n,) of bool.

        A file name `out` streams it to a .parquet, .npy, .h5, .csv or .arrow file. With a
        `client`, its workers read the files of a scan and write to a folder `out` of Parquet files.
        """
        return ask(self, X, accept_question(self._chosen()), out, client)

    def triage(
        self,
        X: Any,
        *,
        as_frame: bool = False,
        out: str | Path | None = None,
        client: Any = None,
    ) -> Any:
        """Return labels, which of them are accepted, how certain they are, and the reasons.

        It is a `Triage` of NumPy arrays, or with `as_frame` a table of the library of X. A file
        name `out` streams the table to a .parquet, .csv or .arrow file, or numbers to a .npy or
        .h5 file, with the reason as its place: 0 accepted, 1 between classes, 2 noisy here,
        3 unlike training rows.

        A Dask array gives a `Triage` of Dask arrays, a Dask data frame a table. With a `client`,
        its workers read the files of a scan and write the table, reasons in words, to a folder
        `out` of Parquet files.
        """
        question = triage_question(self._chosen())
        return ask(self, X, question, out, client, as_frame=as_frame)

    def evaluate(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, client: Any = None
    ) -> SelectiveEvaluation:
        """Return shares answered and wrong on rows that training did not see.

        Rows are arrays, Dask collections or a scan, of any number: memory does not grow with them.
        With a `client`, its workers read the files of a scan.
        """
        return decided_rows(self, X, y, sample_weight, self._chosen(), client)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = False
        return tags
