"""Figures of others to compare with.

MC-dropout: Gal and Ghahramani's method on the standard splits, trained a hundred times longer than
in the paper, means over all splits of the result files of its authors: RMSE and negative log
likelihood. Intervals: Akusok, Miche, Björk and Lendasse, "Per-sample Prediction Intervals for
Extreme Learning Machines", nominal 90 %, median of 30 splits: coverage and NMPIW in per cent.
"""

MC_DROPOUT = {
    "uci-boston": (2.904, 2.402),
    "uci-concrete": (4.826, 2.937),
    "uci-energy": (0.539, 1.212),
    "uci-kin8nm": (0.079, -1.136),
    "uci-naval": (0.001, -4.450),
    "uci-power": (4.014, 2.808),
    "uci-protein": (4.274, 2.871),
    "uci-wine": (0.622, 0.928),
    "uci-yacht": (0.666, 1.250),
}
# The paper's two power-plant rows look exchanged: compare them together.
INTERVALS = {
    "paper-concrete": (91.59, 34.01),
    "paper-plasma": (92.63, 40.66),
    "paper-pressure": (93.33, 39.29),
    "paper-temperature": (88.33, 18.38),
}
