"""The experiments of the paper, one module each, and the page that binds them.

``reproduce(chosen(["figures"]), Settings(seed=0), Path("out"))`` writes figures as PNG, numbers as
CSV and JSON, and ``index.html``. The command is ``elmband reproduce``.
"""

from elmband_experiments.paper.base import GROUPS, Experiment, Result, Settings
from elmband_experiments.paper.registry import EXPERIMENTS, chosen
from elmband_experiments.paper.write import Done, reproduce

__all__ = [
    "EXPERIMENTS",
    "GROUPS",
    "Done",
    "Experiment",
    "Result",
    "Settings",
    "chosen",
    "reproduce",
]
