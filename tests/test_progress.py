import io

import numpy as np
import pytest
from rich.console import Console

from elmband import ELMRegressor, engine, progress
from elmband.moments import Count
from elmband.progress import shown
from elmband.rows import ArrayRows

ROWS = ArrayRows(np.zeros((1000, 2)), np.zeros((1000, 1)), chunk_size=100)


def drawn(verbose, *, terminal):
    text = io.StringIO()
    console = Console(file=text, force_terminal=terminal, width=120)
    with shown(verbose, 10**9, console) as bar, engine.running(engine.Job(bar)):
        engine.total(ROWS, lambda chunk: Count(chunk.n), "sums")
        engine.total(ROWS, lambda chunk: Count(chunk.n), "covariance")
    return text.getvalue()


def test_a_terminal_sees_pass_rows_rate_and_time(monkeypatch):
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    text = drawn("auto", terminal=True)
    assert "pass 1: sums" in text
    assert "pass 2: covariance" in text
    assert "1000/1000" in text
    assert "MB/s" in text


@pytest.mark.parametrize(("verbose", "terminal"), [("auto", False), (False, True)])
def test_nothing_is_drawn_where_nobody_looks(monkeypatch, verbose, terminal):
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    assert drawn(verbose, terminal=terminal) == ""


def test_short_work_draws_nothing():
    assert "pass" not in drawn("auto", terminal=True)


def test_rows_need_not_be_counted_beforehand(monkeypatch):
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)

    class Uncounted:
        def chunks(self, start=0):
            return ROWS.chunks(start)

    text = io.StringIO()
    console = Console(file=text, force_terminal=True, width=120)
    with shown(verbose=True, nbytes=None, console=console) as bar, engine.running(engine.Job(bar)):
        total = engine.total(Uncounted(), lambda chunk: Count(chunk.n), "sums")
    assert total.n == 1000
    assert "1000/?" in text.getvalue()


def test_fits_are_quiet_under_test(capsys):
    ELMRegressor(20, random_state=0).fit(np.random.default_rng(0).random((50, 2)), np.arange(50.0))
    assert capsys.readouterr() == ("", "")
