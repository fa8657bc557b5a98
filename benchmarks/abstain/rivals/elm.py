"""elmband, with each of its rules of what makes a row certain."""

from typing import Any

from benchmarks.abstain.data import Split
from benchmarks.abstain.rivals.base import Answers
from benchmarks.scale.watch import Watch

from elmband import ELMSelectiveClassifier

SIGMOIDS = 200
COVERAGE = 0.1
"""Something has to be asked for; labels and confidences do not depend on it."""


def layer(n_features: int) -> dict[str, int]:
    """Return the neurons of the published model: all inputs as they are, and 200 sigmoids."""
    return {"linear": n_features, "sigmoid": SIGMOIDS}


def published(rank_by: str, n_features: int, seed: int) -> Any:
    """Return the published model, noise by least squares, with a rule."""
    return ELMSelectiveClassifier(
        layer(n_features), noise="squared", rank_by=rank_by, coverage=COVERAGE, random_state=seed
    )


def ranked(rank_by: str, split: Split, seed: int, watch: Watch) -> Answers:
    """Run the published model: one seed gives the same labels whatever the rule."""
    return answered(published(rank_by, split.train.X.shape[1], seed), split, watch)


def probability(split: Split, seed: int, watch: Watch) -> Answers:
    """Rank by the probability that the label is right, elmband's default rule."""
    return ranked("probability", split, seed, watch)


def interval(split: Split, seed: int, watch: Watch) -> Answers:
    """Rank by the margin relative to the row's own interval: the published rule."""
    return ranked("interval", split, seed, watch)


def model(split: Split, seed: int, watch: Watch) -> Answers:
    """Rank by the margin relative to the standard deviation of the models."""
    return ranked("model", split, seed, watch)


def margin(split: Split, seed: int, watch: Watch) -> Answers:
    """Rank by the margin alone: one threshold for all rows."""
    return ranked("margin", split, seed, watch)


def log(split: Split, seed: int, watch: Watch) -> Answers:
    """Run one layer of the same neurons with elmband's own noise model."""
    return of_layers(1, split, seed, watch)


def ensemble(split: Split, seed: int, watch: Watch) -> Answers:
    """Run five such layers."""
    return of_layers(5, split, seed, watch)


def of_layers(count: int, split: Split, seed: int, watch: Watch) -> Answers:
    """Run so many layers; layer j of the seed s is the only one of the seed s + j."""
    neurons = layer(split.train.X.shape[1])
    made = ELMSelectiveClassifier(neurons, n_estimators=count, coverage=COVERAGE, random_state=seed)
    return answered(made, split, watch)


def default(split: Split, seed: int, watch: Watch) -> Answers:
    """Run ``ELMSelectiveClassifier()`` as it comes."""
    return answered(ELMSelectiveClassifier(coverage=COVERAGE, random_state=seed), split, watch)


def answered(made: Any, split: Split, watch: Watch) -> Answers:
    """Fit, and tell what becomes of the test rows."""
    with watch("fit"):
        made.fit(split.train.X, split.train.y)
    with watch("answer"):
        found = made.triage(split.test.X)
    return Answers(found.label, found.confidence)
