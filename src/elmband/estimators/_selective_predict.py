"""What a classifier that abstains answers: confidence, acceptance and triage."""

from pathlib import Path
from typing import Any

import numpy as np

from elmband.engines import engine
from elmband.estimators._clusters import Spread, is_dask
from elmband.estimators._scans import answering
from elmband.estimators._selective_calibrate import Promising
from elmband.estimators._triage import REASONS, Triage
from elmband.ground.arrays import Array, namespace, place
from elmband.ground.frames import framed
from elmband.metrics.decided import Decided, SelectiveEvaluation
from elmband.sums.moments import Chunk


class Deciding(Promising):
    """Answers of `ELMSelectiveClassifier`."""

    def confidence(self, X: Any, *, out: str | Path | None = None) -> Any:
        """Return how certain every row is by the rule `rank_by`, larger for more certain rows.

        A file name `out` streams it to a .parquet, .npy, .h5, .csv or .arrow file.
        """

        def block(part: Array) -> Array:
            answer = self._answer(part)
            return _placed(self.confidence_(answer), part)

        return self._streamed(X, "confidence", block, ["confidence"], out)

    def accept(self, X: Any, *, out: str | Path | None = None) -> Any:
        """Return which rows are answered, (n,) of bool.

        A file name `out` streams it to a .parquet, .npy, .h5, .csv or .arrow file.
        """
        thresholds = self._chosen()

        def block(part: Array) -> Array:
            answer = self._answer(part)
            return _placed(thresholds.accepted(self.confidence_(answer), answer.place), part)

        return self._streamed(X, "accept", block, ["accepted"], out)

    def triage(self, X: Any, *, as_frame: bool = False) -> Any:
        """Return labels, which of them are accepted, how certain they are, and the reasons.

        It is a `Triage` of NumPy arrays, or with `as_frame` a table of the library of X.
        """
        thresholds, usual = self._chosen(), self._usual

        def block(part: Array) -> tuple[Any, ...]:
            answer = self._answer(part, whole=True)
            score = self.confidence_(answer)
            accepted = thresholds.accepted(score, answer.place)
            return answer.place, accepted, score, usual.reasons(answer, accepted)

        place_of, accepted, score, reason = self._tupled(X, "triage", block)
        labels, reasons = self.classes_.take(place_of), REASONS.take(reason)
        found = Triage(labels, accepted, score, reasons)
        return framed(found._asdict(), X) if as_frame else found

    def evaluate(self, X: Any, y: Any = None, sample_weight: Any = None) -> SelectiveEvaluation:
        """Return shares answered and wrong on rows that training did not see.

        Rows are arrays or a scan, of any number: memory does not grow with them.
        """
        thresholds, count = self._chosen(), len(self.classes_)

        def block(rows: Chunk) -> Decided:
            score, called, true = self._judged(rows)
            cell = (true * count + called) * 2 + thresholds.accepted(score, called)
            counts = np.bincount(cell, rows.s, 2 * count**2)
            return Decided(counts.reshape(count, count, 2).astype(np.float64))

        if is_dask(X) or isinstance(X, Spread):
            found = self._summed(X, y, block, sample_weight)
        else:
            with answering(self, X, "evaluate") as on_chunks:
                rows = self._labelled(X, y, "evaluate", sample_weight)
                found = engine.reduced(on_chunks(block, rows))
        return SelectiveEvaluation.of(found, self._positive())


def _placed(values: Any, like: Array) -> Array:
    """Return an array in the library of the rows, of its own dtype."""
    if isinstance(like, np.ndarray):
        return values
    xp = namespace(like)
    return place(values, like, xp.bool if values.dtype == np.bool_ else xp.float64)
