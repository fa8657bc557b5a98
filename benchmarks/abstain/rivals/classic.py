"""scikit-learn's classifiers, as certain as their largest probability.

Folds of the calibrated ones keep together the rows of a photo, or of a colour.
"""

from typing import Any

from benchmarks.abstain.data import Part, Split
from benchmarks.abstain.rivals.base import Answers
from benchmarks.scale.watch import Watch
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedGroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

FOLDS = 5


def logistic(split: Split, seed: int, watch: Watch) -> Answers:
    """Calibrate logistic regression on standardised inputs, by scikit-learn's sigmoid.

    The solver is the one that scikit-learn's guide names for many more rows than inputs.
    """
    many = len(split.train.y) > 10 * split.train.X.shape[1]
    regression = LogisticRegression(solver="newton-cholesky" if many else "lbfgs", max_iter=1000)
    made = _calibrated(make_pipeline(StandardScaler(), regression), split.train, seed)
    return _answered(made, split, watch)


def boosting(split: Split, seed: int, watch: Watch) -> Answers:
    """Run ``HistGradientBoostingClassifier()`` as it comes."""
    return _answered(HistGradientBoostingClassifier(random_state=seed), split, watch)


def calibrated_boosting(split: Split, seed: int, watch: Watch) -> Answers:
    """Calibrate it, which also makes it an ensemble of five."""
    boosted = HistGradientBoostingClassifier(random_state=seed)
    return _answered(_calibrated(boosted, split.train, seed), split, watch)


def _calibrated(model: Any, train: Part, seed: int) -> Any:
    folds = StratifiedGroupKFold(FOLDS, shuffle=True, random_state=seed)
    return CalibratedClassifierCV(model, cv=list(folds.split(train.X, train.y, train.groups)))


def _answered(model: Any, split: Split, watch: Watch) -> Answers:
    with watch("fit"):
        model.fit(split.train.X, split.train.y)
    with watch("answer"):
        probability = model.predict_proba(split.test.X)
        label = model.classes_[probability.argmax(axis=1)]
    return Answers(label, probability.max(axis=1))
