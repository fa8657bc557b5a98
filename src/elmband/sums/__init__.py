"""Chunks of rows, frozen values with +, and products in the precision asked for."""
