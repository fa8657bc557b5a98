"""Every number on a page about classes, against plain NumPy on all rows."""

import numpy as np
import pytest
from judged import (
    bird_model,
    content_of,
    held_in,
    is_rounding_of,
    leaves,
    page_of,
    species,
    written,
)
from recomputed import depends_on, grouped, same
from recounted import Counted

from elmband import ELMSelectiveClassifier

N_ROWS = 4000
FEATURES = ["length", "width", "weight"]
KINDS = {"two": (2, True), "three": (3, True), "never abstaining": (2, False)}


@pytest.fixture(scope="module", params=KINDS)
def judged(request, tmp_path_factory):
    kinds, abstaining = KINDS[request.param]
    model = bird_model(kinds, abstaining=abstaining)
    X, y = species(N_ROWS, 1, kinds)
    site = np.where(X["weight"] < 0, "coast", "hill")
    folder = tmp_path_factory.mktemp("page")
    content = content_of(folder, model, (X, y), group=site)
    return content, Counted(model, X, y, abstains=abstaining), site, model


@pytest.mark.slow
def test_the_page_has_no_number_that_is_not_checked_here(judged):
    content, truth, site, model = judged
    shown = [FEATURES.index(name) for name in content["shown"]]
    points = content["people"]["points"]
    wanted = truth.answered.mean() if truth.abstains else 0.7
    lines = [{"label": name, **truth.line(site == name, 2)} for name in ("coast", "hill")]
    lines.sort(key=lambda line: -line["n"])
    expected = {
        "kind": "classes",
        "title": "How far to trust predictions of bird",
        "target": "bird",
        "unit": None,
        "rows": N_ROWS,
        "certainty": 0.95,
        "labels": truth.labels,
        "n_classes": len(truth.labels),
        "positive": truth.positive,
        "promise": truth.promise(model, "max_error") if truth.abstains else None,
        "right": truth.right_section(),
        "probability": truth.probability(),
        "groups": [grouped("group", lines)],
        "worth": {"guarantee": False, "sentence": content["worth"]["sentence"]},
        "limits": {"low": truth.right.mean() - 0.01, "high": truth.right.mean() + 0.01},
        "tolerance": 0.01,
        "training": {**content["training"], "n_found": 0, "share": 0.0, "warns": False},
        "features": content["features"],
        "bins": [
            truth.bin(
                line,
                truth.X[:, column_of(content, line["feature"])],
                sum(other["feature"] == line["feature"] for other in content["bins"]),
            )
            for line in content["bins"]
        ],
        "people": {
            "points": [truth.point(point, k) for k, point in enumerate(points)],
            "start": min(points, key=lambda point: abs(point["share"] - wanted)),
            "error": float((~truth.right).mean()),
        },
        "depends": depends_on(content, model, noise=False),
        "shown": [feature["name"] for feature in content["features"][:3]],
        "misses": truth.rows(truth.score, 10, shown, ~truth.right),
        "unsure": truth.rows(-truth.score, 5, shown),
        "data": {
            "n_rows": N_ROWS,
            "n_dropped": 0,
            "n_ranges": 3,
            "n_features": 3,
            "features": [
                {
                    "name": name,
                    "low": float(column.min()),
                    "mean": float(column.mean()),
                    "high": float(column.max()),
                }
                for name, column in zip(FEATURES, truth.X.T, strict=True)
            ],
        },
        "facts": content["facts"],
    }
    same(content, expected)


def column_of(content, feature):
    return FEATURES.index(content["features"][feature]["name"])


@pytest.mark.one_quick
def test_bins_of_a_feature_hold_every_row_once(judged):
    content, *_ = judged
    for k in range(3):
        lines = [line for line in content["bins"] if line["feature"] == k]
        assert sum(line["n"] for line in lines) == N_ROWS
        ends = [line[end] for line in lines for end in ("from", "to")]
        assert ends == sorted(ends)


def test_sentences_name_what_they_stand_beside(judged):
    content, truth, *_ = judged
    for point in content["people"]["points"]:
        assert_numbers_are_known(point["sentence"], [*leaves(point), content["people"]["error"]])
    for feature in content["features"]:
        assert_numbers_are_known(feature["sentence"], leaves([feature["best"], feature["least"]]))
        assert ("answers" in feature["sentence"]) == truth.abstains


def assert_numbers_are_known(sentence, known):
    values = [v for v in known if isinstance(v, int | float)]
    for number in written(sentence):
        assert any(is_rounding_of(*number, value) for value in values), (number, sentence)


def test_the_slider_goes_up_to_all_rows(judged):
    content, *_ = judged
    shares = [point["share"] for point in content["people"]["points"]]
    assert shares == sorted(set(shares))
    assert shares[-1] == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wish", "limit"),
    [("max_error", 0.15), ("max_fpr", 0.1), ("min_precision", 0.7), ("coverage", 0.5)],
)
def test_a_wish_is_judged_by_what_was_asked_for(wish, limit, tmp_path):
    model = bird_model().choose(**{wish: limit})
    X, y = species(2000, 1)
    found = content_of(tmp_path, model, (X, y))["promise"]
    same(found, Counted(model, X, y, abstains=True).promise(model, wish))


@pytest.mark.slow
def test_a_wish_that_is_not_granted_is_called_so(tmp_path):
    model = bird_model().choose(max_error=0.02)
    X, y = species(2000, 1)
    # Of the labels that are right, a tenth is made wrong.
    y[::10] = np.where(y[::10] == "finch", "robin", "finch")
    page = page_of(tmp_path, model, (X, y))
    assert held_in(page)["promise"]["verdict"] == "broken"
    assert "That breaks what it was asked for" in page


def test_a_named_class_is_the_positive_one(tmp_path):
    X, y = species(1000, 0)
    model = ELMSelectiveClassifier(20, max_fpr=0.1, pos_label="finch", random_state=0).fit(X, y)
    content = content_of(tmp_path, model, species(1000, 1))
    assert content["positive"] == content["probability"]["of"] == "finch"
    last = content["people"]["points"][-1]
    table = content["right"]["table"]
    assert last["fpr"] == pytest.approx(table[1][0] / sum(table[1]))
    assert last["precision"] == pytest.approx(table[0][0] / (table[0][0] + table[1][0]))


@pytest.mark.slow
def test_many_classes_are_listed_by_their_confusions(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 15, 3000)
    X = np.column_stack([y + rng.normal(size=3000), rng.normal(size=3000)])
    model = bird_model(abstaining=False).set_params(n_neurons=50).fit(X[:2000], y[:2000])
    right = content_of(tmp_path, model, (X[2000:], y[2000:]))["right"]
    called, true = model.predict(X[2000:]), y[2000:]
    assert right["table"] is None
    assert len(right["pairs"]) == 10
    counts = [pair["n"] for pair in right["pairs"]]
    assert counts == sorted(counts, reverse=True)
    for pair in right["pairs"]:
        both = (true == int(pair["true"])) & (called == int(pair["called"]))
        assert pair["n"] == np.count_nonzero(both)
