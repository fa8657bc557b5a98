"""Monotone transforms of targets, so that a price is never negative and a share never above one.

The model is trained on T = forward(Y), and what it predicts is mapped back. A rising map keeps
order: quantiles stay quantiles, an interval covers y if and only if it covered forward(y), and the
middle of the noise of T becomes the median of y, not its mean. Every forward here rises; a falling
function of a user's is taken with a minus sign.

Y and T have one column for every output. `forward` refuses targets outside its domain in one
sentence; `inverse` takes every number, and infinite ones to the end of the range.

>>> import numpy as np
>>> log = fit_transform("log", np.array([[1.0], [10.0], [100.0]]))
>>> log.inverse(np.array([[-np.inf], [0.0], [np.inf]])).tolist()
[[0.0], [1.0], [inf]]
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, Protocol, Self, TypeAlias

import numpy as np
from scipy.optimize import minimize_scalar

from elmband.ground.arrays import Array, namespace, place

TransformChoice: TypeAlias = str | tuple[Any, ...] | None
Function: TypeAlias = Callable[[Array], Array]

# Beyond these shapes a Box-Cox transform bends intervals more than data can tell.
_LARGEST_SHAPE = 2.0
# Below this one the transform is the logarithm to working precision.
_SMALLEST_SHAPE = 1e-12
# exp of it, and the square of that, are finite in float64.
_LARGEST_POWER = 300.0
_ROUND_TRIP = 1e-6


class TargetError(ValueError):
    """Targets that a parameter is not for.

    The sentence is in the words of Python; its parts are for those who speak others: `parameter`
    and its `value`, what it `needs` of targets, and what was `found`.
    """

    parameter = value = needs = found = ""

    @classmethod
    def of(cls, parameter: str, value: str, needs: str, found: str, sentence: str) -> Self:
        """Make an error with the whole `sentence`, and its parts."""
        error = cls(sentence)
        error.parameter, error.value, error.needs, error.found = parameter, value, needs, found
        return error


class Transform(Protocol):
    """A rising map of targets."""

    def forward(self, Y: Array) -> Array:
        """Transform targets (n, m)."""

    def inverse(self, T: Array) -> Array:
        """Map predictions or bounds (n, m) back."""


def fit_transform(choice: Any, Y: Array, s: Array | None = None) -> Transform:
    """Return the transform that a user asks for; Box-Cox learns from Y (n, m), each `s` times."""
    if choice is None or (isinstance(choice, str) and choice == "auto"):
        # What "auto" chooses is found by fitting, see `elmband.uncertainty.transform_choice`.
        return Identity()
    if isinstance(choice, str) and choice in _BY_NAME:
        return _BY_NAME[choice]()
    if isinstance(choice, str) and choice == "box-cox":
        return BoxCox.fit(Y, s)
    parts = tuple(choice) if isinstance(choice, tuple | list) else ()
    if len(parts) == 2 and all(map(callable, parts)):
        return Pair.fit(*parts, Y)
    if len(parts) == 3 and parts[0] == "logit":
        return Logit.between(*parts[1:])
    raise ValueError(
        "target_transform must be 'auto', None, 'log', 'log1p', 'logit', ('logit', low, high), "
        f"'box-cox' or a pair of functions (function, inverse); got {choice!r}."
    )


@dataclass(frozen=True)
class Identity:
    """Targets as they are."""

    def forward(self, Y: Array) -> Array:
        """Return Y."""
        return Y

    def inverse(self, T: Array) -> Array:
        """Return T."""
        return T


@dataclass(frozen=True)
class Log:
    """T = log Y, for Y > 0."""

    def forward(self, Y: Array) -> Array:
        """Return log Y."""
        _check_positive(Y, "log")
        return namespace(Y).log(Y)

    def inverse(self, T: Array) -> Array:
        """Return exp T."""
        return _large(namespace(T).exp, T)


@dataclass(frozen=True)
class Log1p:
    """T = log(1 + Y), for Y >= 0. Unlike `Log` it depends on the unit of Y.

    T < 0 maps to 0: a bound moves, but there are no targets between.
    """

    def forward(self, Y: Array) -> Array:
        """Return log(1 + Y)."""
        for name, least, _ in _columns(Y):
            if least < 0:
                raise _unfit(
                    "log1p",
                    (name, "of at least 0", f"its least value is {least:g}"),
                    "Add a constant to y, or give a pair (function, inverse).",
                )
        return namespace(Y).log1p(Y)

    def inverse(self, T: Array) -> Array:
        """Return max(exp(T) - 1, 0)."""
        xp = namespace(T)
        return _large(xp.expm1, xp.clip(T, min=0.0))


@dataclass(frozen=True)
class Logit:
    """T = log((Y - low) / (high - Y)), for low < Y < high."""

    low: float = 0.0
    high: float = 1.0

    @classmethod
    def between(cls, low: Any, high: Any) -> Self:
        """Check bounds that a user gave."""
        numbers = all(isinstance(b, Real) and math.isfinite(b) for b in (low, high))
        if not numbers or not low < high:
            raise ValueError(
                "target_transform=('logit', low, high) needs two finite numbers, the lower first; "
                f"got {low!r} and {high!r}."
            )
        return cls(float(low), float(high))

    def forward(self, Y: Array) -> Array:
        """Return the logarithm of the odds of Y between the bounds."""
        for name, least, greatest in _columns(Y):
            if not self.low < least <= greatest < self.high:
                needs = f"strictly between {self.low:g} and {self.high:g}"
                raise _unfit(
                    "logit",
                    (name, needs, f"its values go from {least:g} to {greatest:g}"),
                    "Give bounds that no target reaches: target_transform=('logit', low, high).",
                )
        xp = namespace(Y)
        return xp.log(Y - self.low) - xp.log(self.high - Y)

    def inverse(self, T: Array) -> Array:
        """Return low + (high - low) / (1 + exp(-T)), counted from the nearer bound."""
        xp = namespace(T)
        odds = xp.exp(-xp.abs(T))
        step = (self.high - self.low) * (odds / (1 + odds))
        return xp.where(T < 0, self.low + step, self.high - step)


@dataclass(frozen=True)
class BoxCox:
    """T = ((Y/g)^λ - 1) / λ, log(Y/g) where λ = 0, with g the geometric mean of Y > 0.

    The range of T ends at -1/λ: past that end Y is 0 where λ > 0, and infinite where λ < 0. With
    λ > 0 it takes targets of 0 as well.
    """

    shape: tuple[float, ...]
    log_centre: tuple[float, ...]

    @classmethod
    def fit(cls, Y: Array, s: Array | None = None) -> Self:
        """Choose λ of every output by maximum likelihood, between -2 and 2."""
        _check_positive(Y, "box-cox")
        xp = namespace(Y)
        weights = xp.ones_like(Y[:, 0]) if s is None else s
        share = weights / xp.sum(weights)
        logs = xp.log(Y)
        centres = share @ logs
        columns = range(Y.shape[1])
        shapes = tuple(_likeliest_shape(logs[:, j] - centres[j], share) for j in columns)
        return cls(shapes, tuple(float(centres[j]) for j in columns))

    def forward(self, Y: Array) -> Array:
        """Return T, which rises whatever the sign of λ."""
        if min(self.shape) <= 0 or min(least for _, least, _ in _columns(Y)) < 0:
            _check_positive(Y, "box-cox")
        xp = namespace(Y)
        with np.errstate(divide="ignore"):
            z = xp.log(Y) - place(self.log_centre, Y)
        return xp.stack([_bent(z[:, j], lam) for j, lam in enumerate(self.shape)], axis=1)

    def inverse(self, T: Array) -> Array:
        """Return g · (1 + λT)^(1/λ)."""
        xp = namespace(T)
        z = xp.stack([_straight(T[:, j], lam) for j, lam in enumerate(self.shape)], axis=1)
        return _large(xp.exp, z + place(self.log_centre, T))


def _likeliest_shape(z: Array, share: Array) -> float:
    """Return the likeliest λ for z = log(y/g) of rows with these shares.

    If T is normal with any mean and variance, the logarithm of the likelihood of y is, up to a
    constant, -n/2 · log var(T) + (λ - 1) Σz. The last sum is zero, for g is the geometric mean:
    the likeliest λ is that of least variance.
    """
    xp = namespace(z)
    reach = float(xp.max(xp.abs(z)))
    if reach < 1e-12:
        return 1.0

    def log_variance(lam: float) -> float:
        T = _bent(z, float(lam))
        return math.log(float(share @ (T - share @ T) ** 2))

    edge = min(_LARGEST_SHAPE, _LARGEST_POWER / reach)
    options = {"xatol": 1e-9}
    return float(
        minimize_scalar(log_variance, bounds=(-edge, edge), method="bounded", options=options).x
    )


def _bent(z: Array, lam: float) -> Array:
    """Return (exp(λz) - 1) / λ."""
    return _large(namespace(z).expm1, lam * z) / lam if abs(lam) > _SMALLEST_SHAPE else z


def _straight(t: Array, lam: float) -> Array:
    """Return log(1 + λt) / λ, infinite past the end of the range."""
    if abs(lam) <= _SMALLEST_SHAPE:
        return t
    xp = namespace(t)
    inside = lam * t > -1
    return xp.where(inside, xp.log1p(xp.where(inside, lam * t, 0.0)), -math.inf) / lam


@dataclass(frozen=True)
class Pair:
    """A user's function and its inverse.

    `sign` is -1 for outputs where the function falls. `known` are the least and the greatest
    training targets, transformed and as they were: beyond them the inverse must go on as before.
    """

    function: Function
    back: Function
    sign: tuple[float, ...]
    known: tuple[tuple[float, ...], ...] = ()

    @classmethod
    def fit(cls, function: Function, back: Function, Y: Array) -> Self:
        """Try a pair on training targets: it must rise or fall throughout, and undo itself."""
        xp, columns = namespace(Y), range(Y.shape[1])
        T = cls(function, back, (1.0,) * len(columns)).forward(Y)
        pair = cls(function, back, tuple(_direction(Y[:, j], T[:, j]) for j in columns))
        T = pair.forward(Y)
        again = pair.inverse(T)
        slack = _ROUND_TRIP * (xp.abs(Y) + xp.max(Y, axis=0) - xp.min(Y, axis=0))
        _refuse(
            xp.abs(again - Y) > slack,
            "The inverse of target_transform does not undo its function: y = {:g} comes back as "
            "{:g}. A pair is (function, inverse), such as (np.log, np.exp).",
            *(Y, again),
        )
        low, high = xp.min(T, axis=0), xp.max(T, axis=0)
        ends = (low, high, xp.min(Y + slack, axis=0), xp.max(Y - slack, axis=0))
        pair = replace(pair, known=tuple(tuple(float(end[j]) for j in columns) for end in ends))
        # Predictions and bounds reach beyond training targets: better to hear of a gap now.
        pair.inverse(xp.stack([2 * low - high, 2 * high - low]))
        return pair

    def forward(self, Y: Array) -> Array:
        """Return the user's function of Y, with a minus sign where it falls."""
        T = _called(self.function, Y)
        undefined = ~namespace(T).isfinite(T)
        _refuse(undefined, "The function of target_transform is not finite at y = {:g}.", Y)
        return T * place(self.sign, T)

    def inverse(self, T: Array) -> Array:
        """Return the user's inverse; where it has no limit at infinity, infinity itself."""
        xp = namespace(T)
        turned = T * place(self.sign, T)
        Y = _called(self.back, turned)
        failed = xp.isnan(Y)
        if self.known:
            low, high, least, greatest = (place(end, T) for end in self.known)
            failed = failed | ((low > T) & (least < Y)) | ((high < T) & (greatest > Y))
        _refuse(
            failed & xp.isfinite(T),
            "The inverse of target_transform gives {:g} at {:g}, where a prediction or a bound may "
            "fall; let it stay at the end of the range there, as lambda t: np.maximum(t, 0) ** 2 "
            "does for np.sqrt.",
            *(Y, turned),
        )
        return xp.where(failed, T, Y)


def _called(function: Function, values: Array) -> Array:
    """Call a user's function; infinities that it meets or makes are no reason for warnings."""
    with np.errstate(all="ignore"):
        result = place(function(values), values)
    if result.shape != values.shape:
        raise ValueError(
            "The functions of target_transform must work element by element; one of them made "
            f"shape {tuple(result.shape)} of {tuple(values.shape)}."
        )
    return result


def _direction(y: Array, t: Array) -> float:
    """Return 1.0 for a rising function, -1.0 for a falling one; refuse one that turns."""
    xp = namespace(y)
    order = xp.argsort(y)
    y, t = xp.take(y, order), xp.take(t, order)
    sign = -1.0 if bool(t[-1] < t[0]) else 1.0
    _refuse(
        # A step back within rounding is none.
        sign * (t[1:] - t[:-1]) < -1e-9 * (xp.max(t) - xp.min(t)),
        "The function of target_transform must rise throughout or fall throughout; "
        "it turns between y = {:g} and y = {:g}.",
        *(y[:-1], y[1:]),
    )
    return sign


def _refuse(wrong: Array, sentence: str, *values: Array) -> None:
    """Raise a sentence about the first element that is wrong, if any."""
    xp = namespace(wrong)
    if bool(xp.any(wrong)):
        first = int(xp.argmax(xp.reshape(xp.astype(wrong, xp.int64), (-1,))))
        raise ValueError(sentence.format(*(float(xp.reshape(v, (-1,))[first]) for v in values)))


def _check_positive(Y: Array, choice: str) -> None:
    for name, least, _ in _columns(Y):
        if least <= 0:
            raise _unfit(
                choice,
                (name, "above 0", f"its least value is {least:g}"),
                "Use 'log1p' for targets of at least 0, or a pair (function, inverse).",
            )


def _unfit(choice: str, said: tuple[str, str, str], advice: str) -> TargetError:
    """Say what a transform needs of an output, what was found, and what to do."""
    name, needs, found = said
    sentence = f"target_transform={choice!r} needs {name} {needs}; {found}. {advice}"
    return TargetError.of("target_transform", choice, needs, found, sentence)


def _columns(Y: Array) -> list[tuple[str, float, float]]:
    """Return name, least and greatest value of every output."""
    xp, m = namespace(Y), int(Y.shape[1])
    names = ["y"] if m == 1 else [f"output {j} of y" for j in range(m)]
    return [(name, float(xp.min(Y[:, j])), float(xp.max(Y[:, j]))) for j, name in enumerate(names)]


def _large(function: Function, T: Array) -> Array:
    """Return exp or expm1 of T, infinite without a warning where that is too large."""
    xp = namespace(T)
    # A little less than the logarithm of the largest number: that itself may round up.
    limit = math.log(float(xp.finfo(T.dtype).max)) * (1 - 1e-6)
    return xp.where(limit < T, math.inf, function(xp.clip(T, max=limit)))


_BY_NAME: dict[str, Callable[[], Transform]] = {"log": Log, "log1p": Log1p, "logit": Logit}
