"""Everything that a page on classes shows, computed anew: plainly, from all rows at once."""

import math

import numpy as np
from recomputed import group_verdict, share


def kept(p, low, _, wish, limit):
    """Judge a risk: it is broken if it is surely larger than what was allowed."""
    most = 1 - limit if wish == "min_precision" else limit
    if low > most:
        return "broken"
    return "unclear" if p > most else "kept"


class Counted:
    """What a classifier says of all rows at once, by its public methods."""

    def __init__(self, model, X, y, *, abstains):
        self.X, self.n = np.asarray(X, dtype=float), len(y)
        self.labels, self.y = model.classes_.tolist(), np.asarray(y)
        self.called, self.p = np.asarray(model.predict(X)), model.predict_proba(X)
        self.own = self.p.max(axis=1)
        self.score = model.confidence(X) if hasattr(model, "confidence") else self.own
        self.right = self.called == self.y
        self.answered = model.accept(X) if abstains else np.ones(self.n, dtype=bool)
        self.abstains = abstains
        self.positive = self.labels[1] if len(self.labels) == 2 else None

    def line(self, rows, looks):
        n, right = int(rows.sum()), int(self.right[rows].sum())
        p, low, high = measured = share(right, n, looks)
        answered = rows & self.answered
        wrong = int((answered & ~self.right).sum())
        return {
            "n": n,
            "right": p,
            "low": low,
            "high": high,
            "verdict": group_verdict(measured, n, float(self.right.mean())),
            "answered": float(answered.sum() / n),
            "error": wrong / int(answered.sum()) if answered.any() else None,
        }

    def bin(self, line, column, looks):
        rows = (column >= line["from"]) & (column <= line["to"])
        return {
            **{name: line[name] for name in ("feature", "bin", "label")},
            "from": float(column[rows].min()),
            "to": float(column[rows].max()),
            **self.line(rows, looks),
        }

    def right_section(self):
        p, low, high = share(int(self.right.sum()), self.n)
        table = [
            [int(((self.y == a) & (self.called == b)).sum()) for b in self.labels]
            for a in self.labels
        ]
        most = max(self.labels, key=lambda label: np.count_nonzero(self.y == label))
        pairs = [
            {"true": a, "called": b, "n": table[i][j]}
            for i, a in enumerate(self.labels)
            for j, b in enumerate(self.labels)
            if i != j and table[i][j]
        ]
        return {
            "share": p,
            "low": low,
            "high": high,
            "n_wrong": int((~self.right).sum()),
            "guess": float(np.mean(self.y == most)),
            "most": most,
            "classes": [
                {
                    "label": label,
                    "n": int((self.y == label).sum()),
                    "found": float(self.right[self.y == label].mean()),
                    "precision": float(self.right[self.called == label].mean()),
                }
                for label in self.labels
            ],
            "table": table,
            "pairs": sorted(pairs, key=lambda pair: -pair["n"])[:10],
        }

    def probability(self):
        said, true = self.own, self.right
        if self.positive is not None:
            said, true = self.p[:, 1], self.y == self.positive
        bins, gaps = [], []
        for k in range(10):
            rows = (said >= k / 10) & ((said < (k + 1) / 10) | (k == 9))
            if rows.any():
                n = int(rows.sum())
                p, low, high = share(int(true[rows].sum()), n)
                mean = float(said[rows].mean())
                bins.append(
                    {
                        "from": k / 10,
                        "to": (k + 1) / 10,
                        "n": n,
                        "said": mean,
                        "true": p,
                        "low": low,
                        "high": high,
                    }
                )
                gaps.append(abs(mean - p) * n)
        return {"bins": bins, "gap": sum(gaps) / self.n, "of": self.positive}

    def point(self, found, place):
        rows = self.score >= found["score"] * (1 - 1e-9)
        n, rest = int(rows.sum()), int((~rows).sum())
        wrong = int((rows & ~self.right).sum())
        p, low, high = share(wrong, n)
        fpr, precision = None, None
        if self.positive is not None:
            called = rows & (self.called == self.positive)
            fpr = float((called & ~self.right).sum() / (self.y != self.positive).sum())
            precision = float(self.right[called].mean()) if called.any() else None
        return {
            "at": place,
            "share": n / self.n,
            "n": n,
            "rest": rest,
            "score": float(self.score[rows].min()),
            "error": p,
            "low": low,
            "high": high,
            "n_wrong": wrong,
            "rest_error": float((~self.right[~rows]).mean()) if rest else math.nan,
            "fpr": fpr,
            "precision": precision,
            "sentence": found["sentence"],
        }

    def promise(self, model, wish):
        n, wrong = int(self.answered.sum()), int((self.answered & ~self.right).sum())
        answered, error = share(n, self.n), share(wrong, n)
        fpr, precision = None, None
        risks = {"max_error": (wrong, n)}
        if self.positive is not None:
            called = self.answered & (self.called == self.positive)
            false, negatives = (
                int((called & ~self.right).sum()),
                int((self.y != self.positive).sum()),
            )
            fpr, precision = false / negatives, float(self.right[called].mean())
            risks |= {"max_fpr": (false, negatives), "min_precision": (false, int(called.sum()))}
        limit = getattr(model, wish)
        return {
            "statement": model.statement_.split("\n"),
            "answered": answered[0],
            "answered_low": answered[1],
            "answered_high": answered[2],
            "n_answered": n,
            "error": error[0],
            "low": error[1],
            "high": error[2],
            "n_wrong": wrong,
            "wish": wish,
            "limit": limit,
            "fpr": fpr,
            "precision": precision,
            "verdict": kept(*share(*risks[wish]), wish, limit) if wish in risks else None,
        }

    def rows(self, keys, count, shown, among=None):
        """Return the rows with the largest keys."""
        order = np.argsort(-keys, kind="stable")
        order = order if among is None else [j for j in order if among[j]]
        return [
            {
                "row": int(j),
                "true": self.y[j],
                "called": self.called[j],
                "score": float(self.score[j]),
                "probability": float(self.own[j]),
                "features": [float(self.X[j, place]) for place in shown],
            }
            for j in order[:count]
        ]
