"""Sections on a model of classes, which knows how certain its labels are."""
