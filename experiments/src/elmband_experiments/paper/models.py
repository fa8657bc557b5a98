"""The two ways in which every experiment is run: as published, and as elmband comes."""

from collections.abc import Callable
from typing import Any

from elmband import ELMIntervalRegressor

ARTIFICIAL = {"linear": 1, "tanh": 10}
"""Neurons of both models in all artificial experiments of the paper."""

PUBLISHED, DEFAULT = "published mode", "elmband's defaults"


def published(neurons: Any, seed: int, **options: Any) -> Any:
    """Return the published algorithm: least squares on squared residuals, normal quantiles."""
    return ELMIntervalRegressor(
        neurons,
        noise="squared",
        calibration="gaussian",
        random_state=seed,
        verbose=False,
        **options,
    )


def artificial(seed: int) -> Any:
    """Return the published algorithm of the artificial experiments, two layers of one kind."""
    return published(ARTIFICIAL, seed, noise_neurons=ARTIFICIAL)


def default(seed: int) -> Any:
    """Return elmband's own model as it comes."""
    return ELMIntervalRegressor(random_state=seed, verbose=False)


MODES: dict[str, Callable[[int], Any]] = {PUBLISHED: artificial, DEFAULT: default}
