"""elmband's defaults as an ONNX file, by ONNX Runtime."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import onnxruntime
from benchmarks.answers.data import Floats
from benchmarks.answers.rivals import LEVEL

from elmband import ELMIntervalRegressor


class Model:
    """A session over the graph, with as many threads as it is told."""

    def __init__(self, threads: int | None) -> None:
        self._threads, self._file = threads, b""
        self._session: Any = None

    def fit(self, X: Floats, y: Floats) -> None:
        """Learn from rows, and export."""
        model = ELMIntervalRegressor(random_state=0).fit(X, y)
        with TemporaryDirectory() as folder:
            path = Path(folder, "model.onnx")
            model.to_onnx(path)
            self._file = path.read_bytes()
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        options.intra_op_num_threads = self._threads or 0
        self._session = onnxruntime.InferenceSession(self._file, options)

    def answer(self, X: Floats) -> tuple[Floats, Floats]:
        """Return means and bounds."""
        given = {"X": X, "confidence_level": np.array(LEVEL)}
        mean, lower, upper = self._session.run(["mean", "lower", "upper"], given)
        return mean, np.stack([lower, upper], axis=1)

    def save(self, folder: Path) -> int:
        """Write the graph."""
        (folder / "model.onnx").write_bytes(self._file)
        return len(self._file)
