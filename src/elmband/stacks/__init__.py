"""Layers that are searched for and stacked, and output layers for every level of a column."""
