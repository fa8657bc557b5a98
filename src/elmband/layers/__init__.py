"""Neurons, hidden layers, output layers and the weighted jackknife, judged by leave-one-out."""
