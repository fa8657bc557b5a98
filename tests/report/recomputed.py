"""Everything that a page on intervals shows, computed anew: plainly, from all rows at once."""

import math

import numpy as np
from statsmodels.stats.proportion import proportion_confint

# Medians are read from bins one percent wide.
MEDIAN_ERROR = 0.0051


class Near:
    """A number that may be off by a stated share."""

    def __init__(self, value, rtol=MEDIAN_ERROR):
        self.value, self.rtol = value, rtol


def same(found, expected, where="page"):
    """Compare nested data; sums may differ in their last digits only."""
    if isinstance(expected, dict):
        assert set(found) == set(expected), where
        for name, value in expected.items():
            same(found[name], value, f"{where}.{name}")
    elif isinstance(expected, list):
        assert len(found) == len(expected), where
        for k, value in enumerate(expected):
            same(found[k], value, f"{where}[{k}]")
    elif isinstance(expected, Near):
        assert math.isclose(found, expected.value, rel_tol=expected.rtol, abs_tol=1e-12), (
            f"{where}: {found} instead of {expected.value}"
        )
    elif isinstance(expected, float) and not math.isfinite(expected):
        assert found is None, where
    elif isinstance(expected, float):
        assert math.isclose(found, expected, rel_tol=1e-8, abs_tol=1e-10), (
            f"{where}: {found} instead of {expected}"
        )
    else:
        assert found == expected, where


def share(part, n, looks=1):
    low, high = proportion_confint(part, n, alpha=0.05 / looks, method="beta")
    return float(part / n), float(low), float(high)


def verdict(measured, level):
    p, low, high = measured
    if high < level - 0.01:
        return "broken"
    if low > level + 0.01:
        return "cautious"
    if high - low > 0.15:
        return "unclear"
    return "near" if p < level - 0.01 else "kept"


def group_verdict(measured, n, level):
    return verdict(measured, level) if n > 1 else None


def grouped(name, lines):
    """Return what a page shows of groups whose lines are in the order in which they are shown."""
    verdicts = [line["verdict"] for line in lines]
    return {
        "name": name,
        "count": len(lines),
        "rows": lines,
        "others": None,
        "n_others": 0,
        "lowest": min(lines, key=lambda line: line["high"]),
        "n_below": verdicts.count("broken"),
        "n_unclear": verdicts.count("unclear"),
        "n_single": verdicts.count(None),
    }


def overlap(content, X, y, known):
    """Recompute how many rows are among the `known` ones, of those that the page compared."""
    found = content["training"]
    rows = np.column_stack([X, y])
    same = (rows[:, None] == known[None]).all(axis=2).any(axis=1)
    assert found["n_compared"] <= len(rows)
    # A random part of the rows: within four standard errors of the share of all.
    assert abs(found["share"] - same.mean()) <= 2 / found["n_compared"] ** 0.5
    return {**found, "share": found["n_found"] / found["n_compared"], "warns": bool(same.any())}


def mean_interval_score(y, bounds, level):
    """Return the score of Gneiting and Raftery: width, and 2 / alpha for what is missed."""
    low, high = bounds.T
    missed = np.where(y < low, low - y, 0) + np.where(y > high, y - high, 0)
    return float(np.mean(high - low + 2 / (1 - level) * missed))


class Judged:
    """What an interval model says of all rows at once, by its public methods."""

    def __init__(self, model, X, y, level):
        self.y, self.level, self.n = np.asarray(y, float), level, len(y)
        self.X = np.asarray(X, dtype=float)
        self.levels = sorted({*(k / 20 for k in range(1, 20)), 0.99, level})
        self.mean, self.std = model.predict(X, return_std=True)
        self.bounds = model.predict_interval(X, self.levels)
        variance = model.predict_variance(X)
        self.noise = variance.noise / variance.total
        self.error = np.abs(self.y - self.mean)
        self.lower, self.upper = self.bounds[:, :, self.levels.index(level)].T
        self.width = self.upper - self.lower
        self.held = (self.lower <= self.y) & (self.y <= self.upper)

    def promise(self):
        lines = []
        for k, level in enumerate(self.levels):
            lower, upper = self.bounds[:, 0, k], self.bounds[:, 1, k]
            held = int(np.count_nonzero((lower <= self.y) & (self.y <= upper)))
            measured = share(held, self.n)
            lines.append(
                {
                    "level": level,
                    "held": measured[0],
                    "low": measured[1],
                    "high": measured[2],
                    "verdict": verdict(measured, level),
                    "width": float(np.mean(upper - lower)),
                    "table": level in {0.5, 0.8, 0.9, 0.95, 0.99, self.level},
                }
            )
        return {"levels": lines, "at": lines[self.levels.index(self.level)]}

    def beside(self):
        """What the page says first: misses on both sides, and the model beside one interval."""
        low, high = np.quantile(self.y, [(1 - self.level) / 2, (1 + self.level) / 2])
        bounds = np.broadcast_to([low, high], (self.n, 2))
        score = mean_interval_score(self.y, bounds, self.level)
        own = mean_interval_score(self.y, np.stack([self.lower, self.upper], axis=1), self.level)
        width, own_width = float(high - low), float(self.width.mean())
        return {
            "sides": {
                "below": float(np.mean(self.y < self.lower)),
                "above": float(np.mean(self.y > self.upper)),
            },
            "constant": {
                "low": float(low),
                "high": float(high),
                "held": float(np.mean((low <= self.y) & (self.y <= high))),
                "width": width,
                "score": score,
                "own_width": own_width,
                "own_score": own,
                "width_ratio": own_width / width,
                "score_ratio": own / score,
            },
            "limits": {"low": self.level - 0.01, "high": self.level + 0.01},
            "tolerance": 0.01,
        }

    def bin(self, line, column, looks):
        """Recompute a bin of a feature, one of several, from the values that it spans."""
        rows = (column >= line["from"]) & (column <= line["to"])
        n, held = int(rows.sum()), int(self.held[rows].sum())
        p, low, high = measured = share(held, n, looks)
        return {
            **{name: line[name] for name in ("feature", "bin", "label")},
            "from": float(column[rows].min()),
            "to": float(column[rows].max()),
            "n": n,
            "width": Near(float(np.median(self.width[rows]))),
            "error": Near(float(np.median(self.error[rows]))),
            "mean_error": float(self.error[rows].mean()),
            "held": p,
            "low": low,
            "high": high,
            "verdict": group_verdict(measured, n, self.level),
            "noise": float(self.noise[rows].mean()),
            "unknown": float(1 - self.noise[rows].mean()),
        }

    def point(self, found, place):
        """Recompute what answering intervals up to some width does."""
        rows = self.width <= found["width"] * (1 + 1e-9)
        n, rest = int(rows.sum()), int((~rows).sum())
        error = float(self.error[rows].mean())
        return {
            "at": place,
            "share": n / self.n,
            "n": n,
            "rest": rest,
            "width": float(self.width[rows].max()),
            "error": error,
            "rmse": float(np.sqrt(np.mean(self.error[rows] ** 2))),
            "held": float(self.held[rows].mean()),
            "rest_error": float(self.error[~rows].mean()) if rest else math.nan,
            "less": 1 - error / float(self.error.mean()),
            "sentence": found["sentence"],
        }

    def row(self, number, shown):
        return {
            "row": int(number),
            "target": float(self.y[number]),
            "mean": float(self.mean[number]),
            "lower": float(self.lower[number]),
            "upper": float(self.upper[number]),
            "width": float(self.width[number]),
            "off": float(self.error[number] / self.std[number]),
            "noise": float(self.noise[number]),
            "features": [float(self.X[number, place]) for place in shown],
        }

    def rows(self, keys, count, shown, among=None):
        """Return the rows with the largest keys."""
        order = np.argsort(-keys, kind="stable")
        order = order if among is None else [j for j in order if among[j]]
        return [self.row(number, shown) for number in order[:count]]

    def group(self, label, rows, looks):
        n, held = int(rows.sum()), int(self.held[rows].sum())
        p, low, high = measured = share(held, n, looks)
        return {
            "label": label,
            "n": n,
            "held": p,
            "low": low,
            "high": high,
            "verdict": group_verdict(measured, n, self.level),
            "error": float(self.error[rows].mean()),
            "width": float(self.width[rows].mean()),
        }


def depends_on(content, model, *, noise):
    """What the page must say of a model's own shares: all columns, as they are few."""
    found, shown = model.column_relevance_, content["depends"]
    names = list(found.names)
    labels = [row["label"] for row in shown["rows"]]
    assert sorted(labels) == sorted(names)

    def row(label):
        j = names.index(label)
        of_noise = float(found.noise[j]) if noise else None
        return {"label": label, "mean": float(found.mean[j]), "noise": of_noise}

    largest = names[int(np.argmax(found.mean))]
    assert shown["sentence"].startswith(f"The prediction depends most on {largest}, with ")
    return {
        "rows": [row(label) for label in labels],
        "noise": noise,
        "varies": noise and found.noise_varies,
        "sentence": shown["sentence"],
        "noise_sentence": shown["noise_sentence"],
        "n_columns": len(names),
        "local": None,
        "rest": 0.0,
    }
