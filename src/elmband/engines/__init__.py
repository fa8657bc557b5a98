"""Where sums run: threads, progress, checkpoints and clusters."""
