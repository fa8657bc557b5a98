"""The published algorithm, spelled out once for all tests."""

from elmband import ELMIntervalRegressor


def published(n_neurons="auto", **options):
    return ELMIntervalRegressor(n_neurons, noise="squared", calibration="gaussian", **options)
