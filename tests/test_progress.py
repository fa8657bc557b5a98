import io
from concurrent.futures import ThreadPoolExecutor
from copy import copy

import numpy as np
import pytest
from rich.console import Console
from rich.progress import Progress

from elmband import ELMClassifier, ELMIntervalRegressor, ELMRegressor, ELMSelectiveClassifier
from elmband.engines import checkpoint, engine, progress
from elmband.engines.checkpoint import Checkpoint
from elmband.engines.progress import shown
from elmband.sources.stream import scan
from elmband.sums.moments import Count
from elmband.sums.rows import ArrayRows, StreamRows

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


class KilledError(Exception):
    pass


def streamed():
    """Return the same rows, to be read for every pass."""
    rows = scan(np.zeros((1000, 3)), target=-1, chunk_size=100)
    return StreamRows(rows, np.empty((0, 2)), np.float64, lambda chunk: chunk, 100)


# 12 chunks of nearly equal length, or 10 of 100 rows.
@pytest.mark.parametrize(
    ("rows", "done", "rate"),
    [(ROWS, 333, "42 MB/s"), (streamed(), 600, "50 MB/s")],
    ids=["in memory", "read"],
)
def test_a_fit_that_goes_on_begins_where_it_was(tmp_path, monkeypatch, rows, done, rate):
    monkeypatch.setattr(checkpoint, "_PATIENCE", -1.0)
    clock = [0.0]
    monkeypatch.setattr(progress, "monotonic", lambda: clock[0])

    def slow(n_chunks):
        left = iter(range(n_chunks))

        def chunk_map(chunk):
            if next(left, None) is None:
                raise KilledError
            clock[0] += 2.0
            return Count(chunk.n)

        return chunk_map

    def fitted(n_chunks, console):
        chunk_map = slow(n_chunks)
        job = shown(verbose=True, nbytes=10**9, console=console)
        begun = Checkpoint(tmp_path / "kept", "a fit", 0)
        with begun as kept, job as bar, engine.running(engine.Job(bar, kept)):
            engine.total(rows, chunk_map, "sums")
            engine.total(rows, chunk_map, "covariance")

    monkeypatch.setattr(engine, "cpu_count", lambda: 1)
    with pytest.raises(KilledError):
        fitted(16, Console(file=io.StringIO()))
    seen = []
    monkeypatch.setattr(Progress, "update", _noting(seen))
    text = io.StringIO()
    fitted(100, Console(file=text, force_terminal=True, width=120))
    assert "pass 1" not in text.getvalue()
    assert seen[0] == ("pass 2: covariance", done, 1000, rate)
    assert "1000/1000" in text.getvalue()


def _noting(seen):
    """Return the way to update a bar that notes what it shows before, and the new rate."""
    update = Progress.update

    def noted(self, task, **given):
        seen.append((*_line(self), given["rate"]))
        update(self, task, **given)

    return noted


def _line(bar):
    task = bar.tasks[0]
    return task.description, task.completed, task.total


JUDGING = ("evaluate", "calibrate")
RNG = np.random.default_rng(0)
X = RNG.standard_normal((1000, 3))
Y = X[:, 0] + RNG.standard_normal(1000)
FITTED = {
    "point": ELMRegressor(10, random_state=0).fit(X, Y),
    "interval": ELMIntervalRegressor(10, random_state=0).fit(X, Y),
    "classes": ELMClassifier(10, random_state=0).fit(X, Y > 0),
    "selective": ELMSelectiveClassifier(10, coverage=0.5, random_state=0).fit(X, Y > 0),
}
ANSWERS = [
    ("point", "predict", {}),
    ("interval", "predict", {"return_std": True}),
    ("interval", "predict_interval", {}),
    ("interval", "predict_quantiles", {}),
    ("interval", "predict_variance", {}),
    ("interval", "triage", {"max_width": 1.0}),
    ("classes", "predict", {}),
    ("classes", "predict_proba", {}),
    ("classes", "decision_function", {}),
    ("selective", "accept", {}),
    ("selective", "triage", {}),
]
JUDGED = [(kind, method, {}) for kind in ("interval", "selective") for method in JUDGING]


def targets(kind):
    return (Y > 0).astype(float) if kind == "selective" else Y


def rows_for(kind, method):
    """Return the rows of a question as a scan, of chunks that are no whole part of all rows."""
    labelled = method in JUDGING
    table = np.column_stack([X, targets(kind)]) if labelled else X
    return scan(table, target=-1 if labelled else None, chunk_size=300)


@pytest.fixture
def terminal(monkeypatch):
    """Let bars be drawn at once, into a text that is returned."""
    monkeypatch.setattr(progress, "_PATIENCE", -1.0)
    text = io.StringIO()

    def console(*, stderr):
        assert stderr
        return Console(file=text, force_terminal=True, width=120)

    monkeypatch.setattr("rich.console.Console", console)
    return text


@pytest.mark.one_quick
@pytest.mark.parametrize(("kind", "method", "options"), [*ANSWERS, *JUDGED])
def test_answers_to_a_scan_show_how_far_they_are(terminal, kind, method, options):
    getattr(copy(FITTED[kind]), method)(rows_for(kind, method), **options)
    text = terminal.getvalue()
    assert f"pass 1: {method} " in text
    assert "300/1000" in text
    assert "1000/1000" in text
    assert "MB/s" in text
    assert "pass 2" not in text


def test_files_of_answers_show_how_far_they_are(terminal, tmp_path):
    FITTED["interval"].predict_interval(rows_for("interval", ""), out=tmp_path / "out.npy")
    assert "1000/1000" in terminal.getvalue()


@pytest.mark.parametrize(
    ("kind", "method"),
    [("interval", "evaluate"), ("interval", "calibrate"), ("selective", "evaluate")],
)
def test_workers_that_judge_show_how_far_they_are(terminal, tmp_path, kind, method):
    np.save(tmp_path / "rows.npy", np.column_stack([X, targets(kind)]))
    with ThreadPoolExecutor(1) as client:
        getattr(copy(FITTED[kind]), method)(scan(tmp_path / "rows.npy", target=-1), client=client)
    assert f"pass 1: {method} " in terminal.getvalue()
    assert "1000/?" in terminal.getvalue()


@pytest.mark.parametrize(("kind", "method", "options"), [*ANSWERS, *JUDGED])
def test_answers_to_arrays_show_nothing(terminal, kind, method, options):
    given = (X, targets(kind)) if method in JUDGING else (X,)
    getattr(copy(FITTED[kind]).set_params(verbose=True), method)(*given, **options)
    assert terminal.getvalue() == ""


@pytest.mark.parametrize(("kind", "method", "options"), [*ANSWERS, *JUDGED])
def test_answers_show_nothing_to_who_does_not_want_it(terminal, kind, method, options):
    model = copy(FITTED[kind]).set_params(verbose=False)
    getattr(model, method)(rows_for(kind, method), **options)
    assert terminal.getvalue() == ""


@pytest.mark.parametrize(("kind", "method", "options"), [*ANSWERS, *JUDGED])
def test_answers_are_quiet_without_a_terminal(monkeypatch, capsys, kind, method, options):
    monkeypatch.setattr(progress, "_PATIENCE", -1.0)
    getattr(copy(FITTED[kind]), method)(rows_for(kind, method), **options)
    assert capsys.readouterr() == ("", "")


@pytest.mark.usefixtures("terminal")
def test_a_failure_takes_the_bar_away(monkeypatch, tmp_path):
    ended, end = [], progress.Bar.end
    monkeypatch.setattr(progress.Bar, "end", lambda bar: ended.append(bar) or end(bar))
    rows = scan(np.vstack([X[:50], X[:50] * np.nan]), chunk_size=50)
    with pytest.raises(ValueError, match="holds 50 missing values"):
        FITTED["interval"].predict_interval(rows, out=tmp_path / "out.npy")
    assert len(ended) == 1


def test_an_answer_checks_what_is_to_be_shown():
    with pytest.raises(ValueError, match="verbose must be"):
        copy(FITTED["point"]).set_params(verbose="loud").predict(rows_for("point", "predict"))
