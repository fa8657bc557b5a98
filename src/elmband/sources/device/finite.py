"""Values that cannot be, found where the rows are."""

from collections.abc import Callable
from typing import Any

from elmband.ground.arrays import Array, namespace


def check_finite(X: Any, name: str = "X") -> None:
    """Refuse rows with missing or infinite values, in the words of scikit-learn."""
    xp = namespace(X)
    if bool(xp.isfinite(xp.sum(X))) or bool(xp.all(xp.isfinite(X))):
        return
    what = "NaN" if bool(xp.any(xp.isnan(X))) else "infinity or a value too large for its dtype"
    raise ValueError(f"Input {name} contains {what}.")


class LateCheck:
    """Checks chunks while the device goes on: each one is judged when the next has arrived.

    An answer at once would have to wait for all work that the device has been given.
    """

    def __init__(self) -> None:
        self._asked: tuple[Array, Any, Any, Callable[[], None]] | None = None

    def ask(self, X: Any, refuse: Callable[[], None]) -> None:
        """Begin to check a chunk; `refuse` may raise a better sentence if it is not finite."""
        self.settle()
        if X.device.type != "cuda":
            _checked(X, refuse)
            return
        import torch  # noqa: PLC0415

        answer = torch.empty((), dtype=torch.bool, pin_memory=True)
        answer.copy_(torch.isfinite(torch.sum(X)), non_blocking=True)
        event = torch.cuda.Event()
        event.record(torch.cuda.current_stream(X.device))
        self._asked = X, answer, event, refuse

    def settle(self) -> None:
        """Judge the chunk that was asked about last."""
        if self._asked is None:
            return
        X, answer, event, refuse = self._asked
        self._asked = None
        event.synchronize()
        # A sum may overflow where no value is too large.
        if not bool(answer):
            _checked(X, refuse)


def _checked(X: Array, refuse: Callable[[], None]) -> None:
    try:
        check_finite(X)
    except ValueError:
        refuse()
        raise
