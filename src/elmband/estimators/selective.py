"""The classifier that abstains: labels for the rows it is certain of, the others for a person."""

from typing import Any, Literal

from elmband.engines.progress import Verbose
from elmband.estimators._spreading import SpreadDecisions
from elmband.estimators.classifier import ELMClassifier
from elmband.ground.arrays import Precision
from elmband.layers.neurons import Kind, NeuronCounts
from elmband.layers.output_layer import AlphaRule
from elmband.stacks.search import MAX_NEURONS, Rounds
from elmband.uncertainty.classes import ClassWeight
from elmband.uncertainty.confidence import Rule
from elmband.uncertainty.local_fit import LocalColumns


class ELMSelectiveClassifier(SpreadDecisions):
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

    def __init__(
        self,
        n_neurons: NeuronCounts | Literal["auto"] = "auto",
        *,
        coverage: float | None = None,
        max_error: float | None = None,
        max_fpr: float | None = None,
        min_precision: float | None = None,
        rank_by: Rule = "probability",
        per_class: bool = False,
        pos_label: Any = None,
        class_weight: ClassWeight = None,
        activation: Kind = "tanh",
        bias: bool = True,
        density: float = 1.0,
        weight_scale: float = 1.0,
        alpha: AlphaRule = "auto",
        noise: Literal["log", "squared"] = "log",
        noise_neurons: NeuronCounts | None = None,
        noise_alpha: AlphaRule | None = None,
        mode: Literal["exact", "fast"] = "exact",
        n_estimators: int | None = None,
        learning_rounds: Rounds = "auto",
        max_neurons: int = MAX_NEURONS,
        local_layers: LocalColumns = "auto",
        precision: Precision = "auto",
        chunk_size: int | None = None,
        device: str | None = None,
        random_state: Any = None,
        verbose: Verbose = "auto",
    ) -> None:
        # Past `ELMClassifier`, which has fewer parameters.
        super(ELMClassifier, self).__init__(
            n_neurons,
            activation=activation,
            bias=bias,
            density=density,
            weight_scale=weight_scale,
            alpha=alpha,
            calibration="gaussian",
            noise=noise,
            noise_neurons=noise_neurons,
            noise_alpha=noise_alpha,
            mode=mode,
            n_estimators=n_estimators,
            learning_rounds=learning_rounds,
            max_neurons=max_neurons,
            local_layers=local_layers,
            precision=precision,
            chunk_size=chunk_size,
            device=device,
            random_state=random_state,
            verbose=verbose,
        )
        self.class_weight = class_weight
        self.coverage = coverage
        self.max_error = max_error
        self.max_fpr = max_fpr
        self.min_precision = min_precision
        self.rank_by = rank_by
        self.per_class = per_class
        self.pos_label = pos_label
