"""Parameters of estimators: checks of what users ask for, in sentences that say what to do."""

import math
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, Literal, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from elmband.ground.arrays import PRECISIONS, Precision
from elmband.layers.hidden import LayerSpec
from elmband.layers.neurons import NeuronCounts
from elmband.layers.output_layer import AlphaRule
from elmband.sources import device
from elmband.stacks.search import Rounds
from elmband.sums.rows import DEFAULT_CHUNK_SIZE
from elmband.uncertainty.mean import SELECTION_METHODS

# What "auto" means where there can be only one layer.
SINGLE_LAYER_NEURONS = 200


class Settings(NamedTuple):
    """What a fit is asked for, once it is known to make sense.

    `specs` are the layers, None where they are to be chosen; `rule` tells how γ is, and
    `noise_rule` how that of the noise model is, None for as its kind of model has it. `rounds` are
    of learning, `most` neurons there may be.
    """

    specs: list[LayerSpec] | None
    rule: AlphaRule
    noise_rule: AlphaRule | None
    precision: Precision
    single_layer: bool
    rounds: Rounds = 0
    most: int = 0


def settings_of(model: Any, *, grouped: bool) -> Settings:
    """Check the parameters of a model, before any row is looked at."""
    precision = check_precision(model.precision)
    has_noise = hasattr(model, "noise")
    if has_noise:
        check_noise(model)
    rule, noise_rule = check_alpha(model.alpha), None
    if has_noise and model.noise_alpha is not None:
        noise_rule = check_alpha(model.noise_alpha, "noise_alpha")
    squared = has_noise and model.noise == "squared"
    if squared:
        check_published(model, grouped=grouped)
    elif has_noise:
        check_log_variance(model, noise_rule)
    specs = layer_specs(model)
    if squared:
        specs = specs or [layer_spec(model, SINGLE_LAYER_NEURONS)]
    alone = squared or (not has_noise and not grouped and specs is not None and len(specs) == 1)
    found = Settings(specs, rule, noise_rule, precision, single_layer=alone)
    if alone:
        return found
    if not has_noise and model.selection is not None:
        raise ValueError("selection is for a single layer without groups or n_estimators.")
    rounds: Rounds = 0 if specs is not None else check_rounds(model.learning_rounds)
    return found._replace(rounds=rounds, most=check_max_neurons(model.max_neurons))


def check_noise(model: Any) -> None:
    """Check the parameters of interval models that are words."""
    check_choice(model.noise, ("log", "squared"), "noise")
    check_choice(model.calibration, ("loo", "gaussian"), "calibration")
    check_choice(model.covariance, ("jackknife", "wild"), "covariance")
    check_choice(model.mode, ("auto", "exact", "fast"), "mode")
    check_symmetric(model.symmetric)


def check_published(model: Any, *, grouped: bool) -> None:
    """Refuse parameters that the published model does not have."""
    if grouped or not model.symmetric or (model.n_estimators or 1) > 1:
        raise ValueError(
            "groups, symmetric=False and n_estimators need noise='log'; the published noise "
            "model has one layer and leaves out single rows."
        )
    special = (model.noise_neurons, model.selection) != (None, None)
    if model.mode == "fast" and (special or model.covariance != "jackknife"):
        raise ValueError(
            "mode='fast' has one hidden layer for both models and the jackknife: leave "
            "noise_neurons, selection and covariance as they are."
        )


def check_log_variance(model: Any, noise_rule: AlphaRule | None) -> None:
    """Refuse parameters that a model of the logarithm of the variance does not have."""
    if isinstance(noise_rule, str) and noise_rule != "loo":
        raise ValueError("noise_alpha must be a number or 'loo' where noise='log'.")
    if model.selection is not None or model.covariance != "jackknife":
        raise ValueError("selection and covariance='wild' need noise='squared'.")


def layer_spec(model: Any, n_neurons: NeuronCounts) -> LayerSpec:
    """Return a layer of so many neurons, with the parameters of a model."""
    return LayerSpec.parse(
        n_neurons,
        model.activation,
        bias=model.bias,
        density=model.density,
        weight_scale=model.weight_scale,
    )


def layer_specs(model: Any) -> list[LayerSpec] | None:
    """Return the layers that a model is asked for, or None where they are to be chosen."""
    count = check_members(model.n_estimators)
    if model.selection is not None:
        check_choice(model.selection, SELECTION_METHODS, "selection")
    auto = isinstance(model.n_neurons, str) and model.n_neurons == "auto"
    if isinstance(model.local_layers, list | tuple) and not (auto and model.selection is None):
        raise ValueError("local_layers needs n_neurons='auto'; layers asked for stay as they are.")
    if auto:
        single = layer_spec(model, SINGLE_LAYER_NEURONS)
        return None if model.selection is None else [single]
    return [layer_spec(model, model.n_neurons)] * (count or 1)


def check_alpha(alpha: Any, name: str = "alpha") -> AlphaRule:
    """Return the rule for γ: a number of at least 0, "auto", "loo" or "gcv"."""
    if isinstance(alpha, str) and alpha in ("auto", "loo", "gcv"):
        return alpha  # type: ignore[return-value]
    if isinstance(alpha, Real) and not isinstance(alpha, bool) and 0 <= float(alpha) < math.inf:
        return float(alpha)
    raise ValueError(
        f"{name} must be a number of at least 0, 'auto', 'loo' (exact leave-one-out) or 'gcv' "
        f"(generalised cross-validation); got {alpha!r}."
    )


def check_choice(value: Any, choices: Sequence[str], name: str) -> str:
    """Return a word that must be one of `choices`."""
    if isinstance(value, str) and value in choices:
        return value
    known = " or ".join(repr(choice) for choice in choices)
    raise ValueError(f"{name} must be {known}; got {value!r}.")


def check_symmetric(value: Any) -> bool | Literal["auto"]:
    """Check that both tails are alike, are not, or are to be looked at."""
    if isinstance(value, str) and value == "auto":
        return "auto"
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"symmetric must be True, False or 'auto'; got {value!r}.")
    return bool(value)


def check_precision(value: Any) -> Any:
    """Return the precision of the products."""
    return check_choice(value, PRECISIONS, "precision")


def check_rounds(learning_rounds: Any) -> Rounds:
    """Return the parameter `learning_rounds`, "auto" or a whole number from 0 on."""
    whole = isinstance(learning_rounds, Integral) and not isinstance(learning_rounds, bool)
    if whole and learning_rounds >= 0:
        return int(learning_rounds)
    if isinstance(learning_rounds, str) and learning_rounds == "auto":
        return "auto"
    raise ValueError(
        f"learning_rounds must be 'auto' or a whole number from 0 on; got {learning_rounds!r}."
    )


def check_max_neurons(max_neurons: Any) -> int:
    """Return the parameter `max_neurons`, a whole number from 1 on."""
    whole = isinstance(max_neurons, Integral) and not isinstance(max_neurons, bool)
    if whole and max_neurons >= 1:
        return int(max_neurons)
    raise ValueError(f"max_neurons must be a whole number from 1 on; got {max_neurons!r}.")


def check_members(n_estimators: Any) -> int | None:
    """Return the number of layers to stack, or None."""
    whole = isinstance(n_estimators, Integral) and not isinstance(n_estimators, bool)
    if n_estimators is None or (whole and int(n_estimators) >= 1):
        return None if n_estimators is None else int(n_estimators)
    raise ValueError(f"n_estimators must be None or at least 1; got {n_estimators!r}.")


def check_chunk_size(value: Any, default: int) -> int:
    """Return the number of rows per chunk."""
    if value is None:
        return default
    if isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1:
        return int(value)
    raise ValueError(f"chunk_size must be a whole number of rows, at least 1; got {value!r}.")


def rows_at_once(model: Any, where: Any, X: Any, *, read: bool = False) -> int:
    """Return how many rows like X are mapped at once, on a device fewer if they are `read`."""
    default = DEFAULT_CHUNK_SIZE
    if where is not None or device.is_gpu_array(X):
        widest = [spec.n_neurons for spec in layer_specs(model) or ()]
        default = device.rows_at_once(max(widest, default=SINGLE_LAYER_NEURONS))
        default = device.sent_rows(X, default) if read else default
    return default if model.chunk_size is None else check_chunk_size(model.chunk_size, default)


def draw_seed(random_state: Any) -> int:
    """Return a seed for the hidden layers."""
    return int(check_random_state(random_state).randint(2**31))
