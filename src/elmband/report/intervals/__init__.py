"""Sections on a model of numbers, whose every prediction has an interval."""
