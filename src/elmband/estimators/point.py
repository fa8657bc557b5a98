"""The point model: random hidden layers with ridge output layers."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from elmband.estimators._fit_stack import fit_point
from elmband.estimators._model import ELMModel
from elmband.estimators._open_rows import Opened
from elmband.estimators._parameters import Settings
from elmband.estimators._sklearn import MultiOutputMixin, RegressorMixin
from elmband.estimators.ask import ask
from elmband.models.fitted import Fitted
from elmband.models.intervals import mean_question
from elmband.uncertainty.targets import smearing_points


class ELMRegressor(MultiOutputMixin, RegressorMixin, ELMModel):
    """Extreme Learning Machine: random hidden neurons, output weights by ridge regression.

    Inputs and targets are standardised inside, so units do not matter.

    Parameters
    ----------
    n_neurons : "auto", int or dict, default="auto"
        "auto" compares layers of several families and scales by leave-one-out, and stacks those
        that help. A number is that of hidden neurons of the kind `activation` in one layer; a
        mix such as ``{"linear": 8, "sigmoid": 200}`` names them by kind. Kinds are "linear",
        "tanh", "sigmoid", "relu", "rbf_l1", "rbf_l2", "rbf_linf", "laplace" and your own vectorised
        function.
    activation : str or callable, default="tanh"
        Kind of the neurons where `n_neurons` is a number.
    bias : bool, default=True
        Whether neurons have a random bias.
    density : float, default=1.0
        Share of the inputs that each neuron sees.
    weight_scale : float, default=1.0
        Standard deviation of a neuron's weighted input; larger values make the model less
        smooth (RBF neurons narrower).
    alpha : float, "auto", "loo" or "gcv", default="auto"
        L2 strength γ of the output layer: a number, or chosen for each output by exact
        leave-one-out or by generalised cross-validation. "auto" is leave-one-out; for a single
        layer trained on a scan it is generalised cross-validation, which needs no further pass.
    n_estimators : int, default=None
        Number of layers to stack, with different random weights. By default one where
        `n_neurons` is given, and as many as help where it is "auto".
    learning_rounds : int or "auto", default="auto"
        How often neurons of a stack learn where to look: after a fit in closed form, the mean of
        ∇f ∇fᵀ over rows tells which directions of the inputs the target depends on, and the next
        round's neurons are drawn from it. "auto" goes on while errors of rows left out fall by
        2.5 % (of fewer than 600 rows, as long as rows held out gain); 0 leaves neurons blind.
    max_neurons : int, default=6000
        Number of neurons that all layers of a stack have together, at most. Layers with most weight
        are kept first.
    local_layers : "auto", None or list of str, default="auto"
        Columns whose levels have output layers of their own: categories, days, weeks and months of
        dates, values and quantiles of numbers. A ridge layer for every level is fitted to what the
        stack leaves over, on neurons shared by all, column after column. "auto" tries all columns
        from 10,000 rows on, and keeps what lowers errors of rows left out by 1 %; a list names
        columns (of a table, or features) to choose from; None is none. For one output, without
        `groups`.
    target_transform : "auto", None, str or tuple, default="auto"
        A monotone transform of y to train on; predictions are mapped back, so that they stay in
        its range. `predict` returns the mean of y all the same. "auto" is none for a point model;
        None is none, and no `target_range` is looked for.
        "log" is for y > 0, "log1p" for y >= 0, "logit" for 0 < y < 1 and
        ``("logit", low, high)`` for y between other bounds, "box-cox" for y > 0 with the bend λ
        chosen for each output by maximum likelihood (far above the targets, bounds become
        infinite where λ < 0). A pair ``(function, inverse)`` of your own
        rises or falls throughout, works element by element on arrays (n, n_outputs) of the
        library in use, and takes every number back to the range.
    target_range : "auto", None or pair, default="auto"
        What predictions and bounds cannot leave: a pair (low, high) with None where there is no
        end, such as ``(0, None)``. "auto" finds it from 20 rows on, where `target_transform` is
        "auto" and the model is a stack: at or above 0 where no target is negative (at or below 0
        where none is positive), between 0 and 1 where all are.
    selection : {"op-elm", "trop-elm", "loo", "cv", "validation"}, default=None
        Which neurons of a single layer to keep: those best ranked by LARS, cut by leave-one-out
        ("op-elm"), with the L2 strength chosen for each cut ("trop-elm"), or the first ones, their
        number chosen by leave-one-out, cross-validation or a validation set.
    precision : {"auto", "float32", "float64", "high", "fast"}, default="auto"
        Precision of matrix products. By default that of the data: float32 for float32 and for
        integers of at most 16 bits, else float64. "high" is float32 with products in float64,
        "fast" lets GPUs round to 11 bits, with an error of covariances of about 4e-4. Sums over
        rows are float64 in any case.
    chunk_size : int, default=None
        Rows worked on at a time; it changes memory and speed, not results.
    device : str or None, default=None
        Where to work on NumPy arrays and scans: "cuda" moves them to a GPU, through PyTorch, and
        brings results back; "auto" does so if there is one. By default arrays are worked on where
        they are.
    random_state : int, RandomState instance or None, default=None
        Seed of the hidden layers.
    verbose : bool or "auto", default="auto"
        Whether to show progress; by default on a terminal, where work lasts over a second.

    Attributes
    ----------
    fitted_ : Fitted
        All that was learned, in one frozen value that is saved, exported and sent to workers.
    hidden_ : HiddenLayer
        The neurons of a single layer, with their weights as NumPy arrays.
    coef_ : array of shape (L,) or (L, n_outputs)
        Output weights β of a single layer, for standardised targets.
    alpha_ : float or array of shape (n_outputs,)
        The L2 strength used in a single layer.
    members_ : tuple of Member
        The layers of a stack; their `alpha` is for weights of mean one.
    member_weights_ : array of shape (n_members, n_outputs)
        Their weights.
    target_transform_ : Transform
        The transform in use, with `forward` and `inverse` on arrays (n, n_outputs).
    target_range_ : pair of float, or one for each output
        The range that predictions and bounds stay in, infinite where it has no end.
    local_layers_ : tuple of LocalSummary
        The columns that have local layers, with the number of levels and what they gained.
    encoder_ : TableEncoder or None
        What makes numbers of tables: of a scan, or learned where a table has text, categories,
        dates or missing values. None where rows were plain numbers.
    n_features_in_ : int
        Number of features seen in `fit`: columns of a table as it was given, or features of a scan.
    feature_relevance_ : FeatureRelevance
        The share of each input in how the mean changes.
    column_relevance_ : FeatureRelevance
        The same by the columns of a table, of which an encoder makes several inputs each.
    relevant_directions_ : RelevantDirections
        The directions of standardised inputs in which the mean changes, with their shares.
    training_histograms_ : TrainingHistograms
        Small histograms of the inputs and targets, never rows, to compare later rows with.
    feature_names_in_ : array of shape (n_features_in_,)
        Their names, where X had string column names.
    target_name_ : str or None
        The name of the target: its column in a scan, or that of a Series. None for arrays, for
        several outputs, and for models of earlier versions.

    Examples
    --------
    >>> from elmband import ELMRegressor
    >>> from elmband.datasets import make_heteroscedastic
    >>> data = make_heteroscedastic(500, random_state=0)
    >>> model = ELMRegressor(random_state=0).fit(data.X, data.y)
    >>> model.predict(data.X[:3]).shape
    (3,)
    """

    def _learned(self, opened: Opened, settings: Settings) -> Fitted:
        fitted, left_out = fit_point(self, opened, settings)
        if not fitted.targets.transformed:
            return fitted
        smearing = smearing_points(left_out())
        return replace(fitted, targets=replace(fitted.targets, smearing=smearing))

    def predict(self, X: Any, *, out: str | Path | None = None, client: Any = None) -> Any:
        """Return the predicted mean of every row of an array or of a scan, (n,) or (n, m).

        It is the mean of y whatever the `target_transform`. A file name `out` streams the result to
        a .parquet, .npy, .h5, .csv or .arrow file, and returns its path. With a `client`, its
        workers read the files of a scan and write to a folder `out` of Parquet files.
        """
        return ask(self, X, mean_question(), out, client)
