"""Means with noise models, calibration, targets, promises and probabilities."""
