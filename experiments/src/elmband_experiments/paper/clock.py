"""How long experiments will still take."""

from collections.abc import Callable, Sequence
from time import monotonic

# So many seconds of work count as done in the time expected of them: before that, the machine at
# hand is judged by too little.
_PRIOR = 3.0


class Clock:
    """The time left, by what is expected of each experiment and by the pace so far.

    Parameters
    ----------
    expected : sequence of float
        Seconds that each experiment takes on the machine where they were measured.
    now : callable, default=time.monotonic
        Tells the time in seconds.

    Examples
    --------
    >>> times = iter([0.0, 20.0, 25.0])
    >>> clock = Clock([10.0, 10.0], now=lambda: next(times))
    >>> clock.reach(1, 0.0)  # the first took twice as long as expected, more or less
    >>> round(clock.left())
    13
    """

    def __init__(self, expected: Sequence[float], now: Callable[[], float] = monotonic) -> None:
        self._expected, self._now = tuple(expected), now
        self._begun = self._told = now()
        self._here, self._later = 0.0, sum(self._expected)
        self.done = 0.0

    def reach(self, number: int, share: float) -> None:
        """Note that this share of the experiment of this number is done, and all before it."""
        self._told = self._now()
        here, later = self._expected[number], sum(self._expected[number + 1 :])
        work = sum(self._expected[:number]) + share * here
        pace = (self._told - self._begun + _PRIOR) / (work + _PRIOR)
        self._here, self._later = pace * (1 - share) * here, pace * later
        total = sum(self._expected)
        self.done = work / total if total else 1.0

    def left(self) -> float:
        """Return the seconds left.

        They are fewer with every second since something was told, down to those of the
        experiments that have not begun.
        """
        return self._later + max(self._here - (self._now() - self._told), 0.0)


def in_words(seconds: float) -> str:
    """Write a time left for people.

    Examples
    --------
    >>> in_words(0.0), in_words(38.0), in_words(100.0), in_words(7000.0)
    ('nearly done', 'about 40 s left', 'about 2 min left', 'about 117 min left')
    """
    if seconds < 1:
        return "nearly done"
    if seconds < 90:
        return f"about {10 * -(-seconds // 10):.0f} s left"
    return f"about {seconds / 60:.0f} min left"
