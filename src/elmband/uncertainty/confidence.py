"""How certain a classifier is of a row, by several rules, each with its name.

The margin of a row is |ŷ| for two classes, else the lead of its class over the next one. It is
certain where the margin is large against what may be wrong with it: the noise, and what the models
of mean and noise do not know. Rules:

- "interval": the margin divided by the width of its own interval, as published;
- "margin": the margin alone, which is one threshold for all rows;
- "model": the margin divided by the standard deviation of what the models do not know;
- "probability": the probability that the label is right, by logistic regression on the margin, both
  variances and their products, learned from training rows left out. Where all of these were right
  there is nothing to learn, and Cantelli's inequality bounds it by the margin relative to its
  standard deviation, t: it is at least t² / (1 + t²).
"""

import warnings
from typing import Any, Literal, NamedTuple, Self, TypeAlias

import numpy as np
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning

Floats = np.ndarray[Any, np.dtype[np.float64]]
Ints = np.ndarray[Any, np.dtype[np.int64]]

Rule: TypeAlias = Literal["probability", "interval", "margin", "model"]
RULES = ("probability", "interval", "margin", "model")

# How much less certain such a row is for each factor e of its standard deviation.
_PENALTY = 10.0
# Strength of the L2 penalty of the judge, inverse: products of features must not run wild where
# rows are few, which is where thresholds lie.
_JUDGE_C = 0.02
# The margin is penalised so many times less (squared): with few wrong rows it decides alone.
_MARGIN_FIRST = 30.0
# Noise is told apart on the logarithmic scale, down to this.
_LEAST_NOISE = 0.05
_TINY = 1e-30


class Answer(NamedTuple):
    """What is said of rows: the place of their class among the classes, and how clear it is.

    Variances are parts of that of the margin: `noise`, and `model` for what the models of mean and
    noise do not know. `side` is +1 or -1 for the two classes and 0 where there are more.
    """

    place: Ints
    margin: Floats
    noise: Floats
    model: Floats
    side: Floats

    @classmethod
    def of(cls, decision: Floats, noise: Floats, model: Floats) -> Self:
        """Read decisions (n, m) on the scale of ±1, and the parts of their variances."""
        if decision.shape[1] == 1:
            d = decision[:, 0]
            place = (d > 0).astype(np.int64)
            side = (2 * place - 1).astype(np.float64)
            return cls(place, np.abs(d), noise[:, 0], model[:, 0], side)
        order = np.argsort(decision, axis=1, kind="stable")
        # Of equal decisions the first class is taken, as by argmax.
        best = np.argmax(decision, axis=1)
        next_best = np.where(order[:, -1] == best, order[:, -2], order[:, -1])
        rows = np.arange(len(decision))
        margin = decision[rows, best] - decision[rows, next_best]
        noise, model = (v[rows, best] + v[rows, next_best] for v in (noise, model))
        return cls(best, margin, noise, model, np.zeros(len(decision)))

    @property
    def total(self) -> Floats:
        """The variance of the margin of a new row."""
        return self.noise + self.model


class Judge(NamedTuple):
    """Probability that an answer is right, from features that were standardised like this.

    Features stay within the range of the rows that taught it, for beyond it curves of any kind may
    rise; models that know less than they did there make an answer less certain all the same.
    """

    low: Floats
    high: Floats
    centre: Floats
    scale: Floats
    coef: Floats
    intercept: float

    def __repr__(self) -> str:
        return f"Judge({len(self.coef)} features of answers)"

    @classmethod
    def fit(cls, answer: Answer, right: Any, s: Floats) -> Self | None:
        """Learn from rows left out; None where all of them, or none, were right."""
        if right.all() or not right.any():
            return None
        basic = _basic(answer)
        low, high = basic.min(axis=0), basic.max(axis=0)
        features = _products(basic)
        n = s.sum()
        centre = s @ features / n
        scale = np.sqrt(s @ (features - centre) ** 2 / n)
        scale[scale < 1e-9] = np.inf
        scale[0] /= _MARGIN_FIRST
        from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 - slow to load

        regression = LogisticRegression(
            C=_JUDGE_C, solver="newton-cholesky", tol=1e-9, max_iter=200
        )
        with warnings.catch_warnings():
            # Where features tell nothing its line search may end early: another solver goes on.
            warnings.simplefilter("ignore", ConvergenceWarning)
            regression.fit((features - centre) / scale, right, s)
        return cls(low, high, centre, scale, regression.coef_[0], float(regression.intercept_[0]))

    def __call__(self, answer: Answer) -> Floats:
        """Return the probability of every row, (n,)."""
        basic = _basic(answer).T
        beyond = np.maximum(basic[_DEVIATION] - self.high[_DEVIATION], 0)
        within = np.clip(basic, self.low[:, None], self.high[:, None])
        logit = self._logit(within) - _PENALTY * beyond
        return np.asarray(expit(logit, out=logit))

    def _logit(self, features: Floats) -> Floats:
        """Return the weighted sum of features (k, n), their squares and products, (n,).

        It is a quadratic form, in which none of the products has to be held.
        """
        k = len(features)
        weights = self.coef / self.scale
        squares = np.zeros((k, k))
        squares[np.triu_indices(k)] = weights[k:]
        slopes = weights[:k, None] + squares @ features
        constant = self.intercept - float(self.centre @ weights)
        return np.asarray(np.sum(np.multiply(features, slopes, out=slopes), axis=0) + constant)


# The place of the standard deviation of the models among the features.
_DEVIATION = 2


def _basic(answer: Answer) -> Floats:
    """Return what a judge looks at, (n, 4)."""
    deviation = np.log(np.maximum(answer.model, _TINY)) / 2
    columns = [answer.margin, np.log(answer.noise + _LEAST_NOISE), deviation, answer.side]
    # Column by column in memory, in which order they are worked on.
    return np.stack(columns, axis=0).T


def _products(basic: Floats) -> Floats:
    """Return features, their squares and their products."""
    left, right = np.triu_indices(basic.shape[1])
    return np.concatenate([basic, basic[:, left] * basic[:, right]], axis=1)


class Confidence(NamedTuple):
    """A rule, with the judge of "probability" (None: there was nothing to learn)."""

    rule: Rule
    judge: Judge | None = None

    def __call__(self, answer: Answer) -> Floats:
        """Return how certain every row is, larger for more certain ones, (n,)."""
        if self.rule == "margin":
            return answer.margin
        if self.rule == "model":
            return answer.margin / np.sqrt(np.maximum(answer.model, _TINY))
        ratio = answer.margin / np.sqrt(np.maximum(answer.total, _TINY))
        if self.rule == "interval":
            return ratio
        return self.judge(answer) if self.judge is not None else ratio**2 / (1 + ratio**2)
