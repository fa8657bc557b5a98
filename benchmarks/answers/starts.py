"""How long imports and commands take until they do something, as processes of their own."""

import subprocess
import sys
from time import perf_counter

_PYTHON = {
    "python": "pass",
    "import sklearn": "import sklearn",
    "import elmband": "import elmband",
    "from elmband import load": "from elmband import load",
    "import sklearn, then the same": "import sklearn; from elmband import load",
    "import lightgbm": "import lightgbm",
    "import catboost": "import catboost",
    "import quantile_forest": "import quantile_forest",
}
_COMMANDS = {
    "elmband --version": ("--version",),
    "elmband --help": ("--help",),
    "elmband fit --help": ("fit", "--help"),
    "elmband info (no such file)": ("info", "nothing.safetensors"),
}


def starts(repeats: int) -> dict[str, float]:
    """Return the best seconds of each, in turns: the speed of a machine drifts."""
    calls = {name: ("-c", code) for name, code in _PYTHON.items()}
    calls |= {name: ("-m", "elmband", *words) for name, words in _COMMANDS.items()}
    best: dict[str, float] = {}
    # One turn more, which does not count: it writes bytecode and reads files for the first time.
    for turn in range(repeats + 1):
        for name, words in calls.items():
            begun = perf_counter()
            done = subprocess.run([sys.executable, *words], capture_output=True, check=False)
            seconds = perf_counter() - begun
            missing = done.returncode and name.startswith("import")
            if turn and not missing:
                best[name] = min(seconds, best.get(name, seconds))
    return best
