"""Commands run the model once for each batch, and say what its methods say."""

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from elmband import ELMIntervalRegressor, ELMSelectiveClassifier, load
from elmband.cli import app
from elmband.layers.hidden import HiddenLayer

N = 400


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    where = tmp_path_factory.mktemp("once")
    X = np.random.default_rng(0).normal(size=(N, 3))
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    noise = np.random.default_rng(1).normal(size=N) * (1 + np.abs(X[:, 1]))
    table.to_parquet(where / "rows.parquet")
    ELMIntervalRegressor(20, random_state=0).fit(table, X[:, 0] + noise).save(where / "numbers")
    for classes, name in ((2, "two"), (3, "three")):
        y = np.clip(np.digitize(X[:, 0] + 0.3 * noise, [-0.5, 0.5]), 0, classes - 1)
        model = ELMSelectiveClassifier(20, coverage=0.6, random_state=0)
        model.fit(table, np.array(["p", "q", "r"])[y]).save(where / name)
    return where


@pytest.fixture
def looks(monkeypatch):
    """Count the rows that hidden layers are asked of."""
    seen = []
    kept = HiddenLayer.__call__

    def called(self, Z, *more):
        # Those of a single row try a model that is loaded.
        seen.append(len(Z) == N)
        return kept(self, Z, *more)

    monkeypatch.setattr(HiddenLayer, "__call__", called)
    return seen


def command(*words):
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == 0, result.output


def triaged(folder, name, *wish):
    places = [folder / f"{name}-{what}.parquet" for what in ("certain", "review")]
    model = folder / name
    command("triage", model, folder / "rows.parquet", "-o", places[0], "--review", places[1], *wish)
    return pd.concat([pd.read_parquet(place) for place in places])


@pytest.mark.parametrize(
    ("name", "wish"),
    [("numbers", ("--max-width", 6)), ("two", ()), ("three", ())],
    ids=["numbers", "two", "three"],
)
def test_triage_looks_once_and_says_the_same(folder, looks, name, wish):
    found = triaged(folder, name, *wish).sort_index(axis=1)
    often = sum(looks)
    model, rows = load(folder / name), pd.read_parquet(folder / "rows.parquet")
    X = rows[["a", "b", "c"]]
    looks.clear()
    if name == "numbers":
        told = model.triage(X, max_width=6)
        once = sum(looks)
        mean, interval = model.predict(X, confidence_level=0.95)
        sides = {"lower_0.95": interval[:, 0], "upper_0.95": interval[:, 1]}
        expected = rows.assign(mean=mean, **sides, reason=told.reason)
    else:
        told = model.triage(X)
        once = sum(looks)
        shares = dict(zip(model.classes_, model.predict_proba(X).T, strict=True))
        named = {f"probability_{one}": share for one, share in shares.items()}
        expected = rows.assign(
            label=model.predict(X), **named, confidence=told.confidence, reason=told.reason
        )
    assert often == once
    whole = pd.concat([expected[told.accepted], expected[~told.accepted]])
    pd.testing.assert_frame_equal(
        found.reset_index(drop=True),
        whole.sort_index(axis=1).reset_index(drop=True),
        check_dtype=False,
        rtol=1e-9,
    )


@pytest.mark.parametrize("name", ["numbers", "two", "three"])
def test_predict_looks_once(folder, looks, name):
    command("predict", folder / name, folder / "rows.parquet", "-o", folder / "out.parquet")
    often = sum(looks)
    looks.clear()
    model, X = load(folder / name), pd.read_parquet(folder / "rows.parquet")[["a", "b", "c"]]
    if name == "numbers":
        model.predict_interval(X)
    else:
        model.confidence(X)
    assert often == sum(looks) > 0
