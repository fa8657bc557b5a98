"""Fits and predictions on a GPU: checked against the processor in float64, then timed."""
