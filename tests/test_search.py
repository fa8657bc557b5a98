"""Searches: families of neurons, what they learn, and how often."""

import numpy as np
import pytest
from sklearn.base import clone

from elmband import ELMClassifier, ELMIntervalRegressor, ELMRegressor, ELMSelectiveClassifier
from elmband.engines import engine
from elmband.layers.relevance import Relevance
from elmband.layers.views import CLIPPED, RANKED, STANDARD
from elmband.stacks import search
from elmband.stacks.families import blind_specs, learned_specs
from elmband.stacks.pool import Pool
from elmband.stacks.search import MAX_NEURONS, fit_stack, pool_rows, search_rounds
from elmband.sums.rows import ArrayRows
from elmband.sums.scaling import Scaling, column_moments
from elmband.uncertainty.cross_fit import _best, chosen_rounds

ESTIMATORS = (ELMRegressor, ELMIntervalRegressor, ELMClassifier, ELMSelectiveClassifier)


def pool_of(X, Y, size=2000, seed=3):
    rows = ArrayRows(X, Y)
    inputs, targets = (
        Scaling.from_moments(engine.total(rows, lambda c, k=k: column_moments(c[k], None)))
        for k in (0, 1)
    )
    return Pool.of(ArrayRows(X, targets(Y)), inputs, None, size, seed, 2.0**-52)


def two_of_ten(n=400, seed=0):
    """Return rows of which two inputs matter, much, and eight do not."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 10))
    Y = np.sin(2 * X[:, 2]) + np.cos(2 * X[:, 7]) + 0.1 * rng.standard_normal(n)
    return X, Y[:, None]


def noise(n=100, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, 4)), rng.standard_normal((n, 1))


# Families.


def test_blind_families_know_nothing_and_all_views():
    found = blind_specs(50, [STANDARD, CLIPPED, RANKED])
    assert {spec.view for spec in found} == {STANDARD, CLIPPED, RANKED}
    assert all(spec.relevance is None and spec.n_neurons == 50 for spec in found)
    assert len(set(found)) == len(found)
    alone = blind_specs(50, [STANDARD])
    assert alone == [spec for spec in found if spec.view == STANDARD]


def test_learned_families_are_placed_and_pass_inputs_on_where_neurons_are_many():
    relevance = Relevance(np.eye(5) / 5)
    found = learned_specs(20, RANKED, relevance)
    assert all(spec.view == RANKED and spec.relevance is relevance for spec in found)
    assert all(spec.placed and spec.passes for spec in found)
    assert {spec.counts[0][0] for spec in found} == {"tanh", "laplace"}
    assert {spec.shape for spec in found} == {"full", "diagonal"}
    assert len(set(found)) == len(found)
    assert not any(spec.passes for spec in learned_specs(19, RANKED, relevance))


# What is learned.


@pytest.mark.slow
def test_relevance_concentrates_on_the_inputs_that_matter():
    stacks = list(search_rounds(pool_of(*two_of_ten()), "loo", 2))
    assert len(stacks) == 3
    assert all(spec.relevance is None for spec in stacks[0].specs)
    learned = [spec for spec in stacks[-1].specs if spec.relevance is not None]
    assert learned
    for spec in learned:
        shares = spec.relevance.shares
        assert set(np.argsort(shares)[-2:]) == {2, 7}
        assert shares[[2, 7]].sum() > 0.8
    later = max(spec.relevance.shares[[2, 7]].sum() for spec in learned)
    assert later > 0.95
    errors = [stack.error for stack in stacks]
    assert errors[-1] < 0.7 * errors[0]


@pytest.mark.slow
def test_neurons_that_have_learned_predict_better_where_few_inputs_matter():
    X, Y = two_of_ten()
    new, truth = two_of_ten(1000, seed=1)
    blind, learned = (
        ELMRegressor(learning_rounds=k, random_state=0).fit(X, Y[:, 0]).score(new, truth[:, 0])
        for k in (0, 2)
    )
    assert 1 - learned < 0.5 * (1 - blind)


def test_without_rounds_neurons_are_blind():
    X, Y = two_of_ten(80)
    stack = fit_stack(pool_of(X, Y), None, "loo", rounds=0)
    assert all(spec.relevance is None for spec in stack.specs)
    model = ELMRegressor(learning_rounds=0, random_state=0).fit(X, Y[:, 0])
    blocks = [block for member in model.members_ for block in member.features.hidden.blocks]
    assert all(block.metric is None and not block.passes for block in blocks)


def test_a_round_that_helps_nobody_changes_nothing():
    X, Y = noise()
    blind, *others = search_rounds(pool_of(X, Y), "loo", 2)
    assert all(stack.error <= blind.error for stack in others)


@pytest.mark.slow
def test_searches_do_not_depend_on_the_order_of_rows():
    X, Y = two_of_ten(150)
    order = np.random.default_rng(1).permutation(150)
    one, other = (
        ELMRegressor(learning_rounds=1, random_state=0).fit(X[i], Y[i, 0]).predict(X[:20])
        for i in (np.arange(150), order)
    )
    np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)


@pytest.mark.slow
def test_of_many_rows_members_are_few_and_within_the_budget(monkeypatch):
    monkeypatch.setattr(search, "_FIRST", (200, 40))
    monkeypatch.setattr(search, "_LATER", (300, 60))
    X, Y = two_of_ten(4000)
    pool = pool_of(X, Y, size=500)
    assert pool.n_distinct > len(pool.distinct.rows.X)
    for most in (400, 2000):
        stack = fit_stack(pool, None, "loo", rounds=1, max_neurons=most)
        assert 1 <= len(stack.specs) <= 4
        assert sum(spec.n_neurons for spec in stack.specs) <= most
    assert len(fit_stack(pool, None, "loo", most=1, rounds=0).specs) == 1


@pytest.mark.parametrize("most", [10, 400, 1000])
def test_of_few_rows_members_are_within_the_budget_too(most):
    stack = fit_stack(pool_of(*two_of_ten(80)), None, "loo", rounds=0, max_neurons=most)
    assert 1 <= sum(spec.n_neurons for spec in stack.specs) <= most


def test_pools_hold_enough_rows_for_the_largest_layers():
    sizes = [pool_rows(n) for n in (10, 10_000, 10**9)]
    assert sizes == sorted(sizes)
    assert max(sizes) < 20_000
    assert MAX_NEURONS >= 2000


# How often.


def test_each_round_has_to_be_worth_its_while():
    assert _best(np.array([1.0, 0.9, 0.5])) == 2
    assert _best(np.array([1.0, 0.99, 0.99])) == 0
    assert _best(np.array([1.0, 0.9, 0.895])) == 1
    # Two rounds may be worth what the first is not, if they gain for both.
    assert _best(np.array([1.0, 1.1, 0.9])) == 2
    assert _best(np.array([1.0, 1.1, 0.97])) == 0
    assert _best(np.array([1.0])) == 0


@pytest.mark.slow
def test_rounds_are_taken_where_learning_helps():
    found = chosen_rounds(pool_of(*two_of_ten(300)), "loo", "auto")
    assert found.rounds > 0
    assert found.held_out
    assert all(one.stack is not None for one in found.held_out)


@pytest.mark.slow
def test_noise_teaches_nothing():
    """Of eight tables of noise one may seem to gain, by chance."""
    found = [chosen_rounds(pool_of(*noise(seed=seed)), "loo", "auto").rounds for seed in range(8)]
    assert found.count(0) >= 6


def test_few_rows_do_not_learn_and_many_ask_nobody():
    assert chosen_rounds(pool_of(*noise(39)), "loo", "auto").rounds == 0
    assert chosen_rounds(pool_of(*noise(700)), "loo", "auto").rounds == "auto"
    for asked in (0, 3):
        assert chosen_rounds(pool_of(*noise(60)), "loo", asked) == (asked, (), None, None)


# The parameter.


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_the_parameter_is_cloned_and_set(kind):
    model = kind(learning_rounds=2)
    assert clone(model).get_params()["learning_rounds"] == 2
    assert model.set_params(learning_rounds="auto").learning_rounds == "auto"
    assert kind().get_params()["learning_rounds"] == "auto"


@pytest.mark.parametrize("kind", ESTIMATORS)
@pytest.mark.parametrize("odd", [-1, 1.5, True, "many", None, [1]], ids=str)
def test_other_values_are_refused_with_a_sentence(kind, odd):
    X, Y = noise(50)
    y = Y[:, 0] > 0 if "Classifier" in kind.__name__ else Y[:, 0]
    with pytest.raises(
        ValueError, match=r"learning_rounds must be 'auto' or a whole number from 0"
    ):
        kind(learning_rounds=odd).fit(X, y)


def test_numbers_of_numpy_are_numbers():
    X, Y = noise(50)
    model = ELMRegressor(learning_rounds=np.int64(0), random_state=0).fit(X, Y[:, 0])
    assert len(model.members_)


@pytest.mark.parametrize("n", [400, 3000])
def test_inputs_that_are_passed_on_count_as_neurons(n):
    pool = pool_of(*two_of_ten(n))
    for most in (1, 8, 25, 150):
        stack = fit_stack(pool, None, "loo", rounds=1, max_neurons=most)
        assert sum(one.member.features.hidden.n_neurons for one in stack.fitted) <= most


def test_a_round_that_gains_nothing_is_the_last_however_many_are_asked_for():
    X = np.random.default_rng(0).standard_normal((200, 3))
    stacks = list(search_rounds(pool_of(X, X @ np.ones((3, 1))), "loo", 1000))
    assert len(stacks) < 50
