"""Which layers to stack: blind neurons first, then such as are drawn from what was learned.

All candidates are compared by what they predict for rows left out. The first round is blind:
families and scales of neurons on every view of the inputs. The stack that they make tells which
directions of a view the target depends on, and the next round draws neurons from these; and so
on, on more rows and with more neurons, while rows left out gain by it. On few rows the last stack
is the model; on many, its members are drawn again with more neurons and trained on all rows.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal, TypeAlias

import numpy as np

from elmband.engines import engine
from elmband.ground.arrays import place, to_numpy
from elmband.layers.gradients import relevance_of
from elmband.layers.hidden import LayerSpec
from elmband.layers.output_layer import AlphaRule
from elmband.layers.relevance import Relevance
from elmband.stacks.ensemble import Sample, Stack, judged_rows, stacked
from elmband.stacks.families import blind_specs, learned_specs
from elmband.stacks.pool import Pool
from elmband.sums.sample import taken

Rounds: TypeAlias = int | Literal["auto"]

# Rows and neurons of candidates: of the first round and what is drawn from it, then of all others.
_FIRST = (2000, 300)
_LATER = (3000, 500)
# Up to so many rows later rounds see all of them, with as many neurons as stay.
_WHOLE = 2500
# Blind neurons of fewer rows cost next to nothing.
_FEW_ROWS, _FEW_ROWS_NEURONS = 600, 360
# Learned neurons are at most one for so many rows: more would let left-out errors collapse.
_ROWS_PER_NEURON = 3
_LEAST_NEURONS = 10
_MOST_ROUNDS = 7
# A round that lowers left-out errors by less than this share is the last.
_LEAST_GAIN = 0.025
# Members that a round begins with, and those of a large fit; each has such a share of the weight.
_MEMBERS = 4
_FINAL_MEMBERS = 4
_LEAST_SHARE = 0.05
# Views that neurons learn in.
_VIEWS = 2
# Rows that gradients are taken at: so many for each input within bounds, fewer where several
# outputs tell.
_GRADIENT_ROWS, _GRADIENT_ROWS_PER_INPUT = (1000, 2000), 40
_MANY_OUTPUTS = 4
# Neurons of a member that is trained on all of many rows.
_NEURONS_PER_ROOT = 13
_MOST_NEURONS = 2000
# And no more than so many for each degree of freedom that the member used when it was small, but
# for those that cost next to nothing: others would add nothing.
_NEURONS_PER_DEGREE = 8
_CHEAP_NEURONS = 500
_PLACED_ROWS = 2250
# Of so many rows members that change errors by less than this share are dropped, and neurons are of
# float32 where errors are at least such a share of the targets' standard deviation.
_MANY_ROWS, _AS_GOOD, _NARROW_ERROR = 100_000, 0.001, 0.01
# Wide members are drawn again from what they have learned, while errors fall by such a share.
_WIDE_ROUNDS, _WIDE_GAIN, _WIDE_FRESH = 3, 0.2, 3
# Neurons of all members together.
MAX_NEURONS = 6000

# Rows that noise is learned from, at most.
NOISE_ROWS = 20_000

_SEEDS_PER_ROUND = 1000


def fit_stack(
    pool: Pool,
    specs: Sequence[LayerSpec] | None,
    rule: AlphaRule,
    most: int | None = None,
    rounds: Rounds = "auto",
    max_neurons: int = MAX_NEURONS,
    *,
    found: Stack | None = None,
) -> Stack:
    """Train and stack the given layers, or those that a search selects or has `found`.

    `most` limits how many are selected, `max_neurons` how many neurons they have together, and
    `rounds` how often neurons learn.
    """
    if specs is not None:
        largest = max(spec.n_neurons for spec in specs)
        return stacked(pool, pool.judged(max(judged_rows(pool.n_distinct), largest)), specs, rule)
    stack = found
    if stack is None:
        # Many small products.
        with engine.limit_blas(0):
            *_, stack = search_rounds(pool, rule, rounds)
    if len(stack.index) == pool.n_distinct:
        return _within(pool, stack, rule, most or len(stack.specs), max_neurons)
    return _on_all_rows(pool, stack, rule, most or _FINAL_MEMBERS, max_neurons)


def pool_rows(n_rows: int) -> int:
    """Return how many rows a pool must hold to place the largest layers and to judge them.

    It holds twice as many, which is what noise is learned from.
    """
    noise_rows = -(-min(n_rows, NOISE_ROWS) // 2)
    return max(_PLACED_ROWS, judged_rows(n_rows), _MOST_NEURONS, noise_rows)


def search_rounds(pool: Pool, rule: AlphaRule, rounds: Rounds = "auto") -> Iterator[Stack]:
    """Yield the stack of every round, the blind one first; none after one that gained nothing."""
    rows, n_neurons = _FIRST
    sample = pool.judged(rows)
    if len(sample[1]) <= _FEW_ROWS:
        n_neurons = _FEW_ROWS_NEURONS
    blind = blind_specs(n_neurons, list(pool.views))
    stack = stacked(pool, sample, blind, rule, whole=True)
    yield stack
    for number in range(_MOST_ROUNDS if rounds == "auto" else rounds):
        before = stack if number == 0 else _enlarged(pool, stack, rule)
        n_neurons = _FIRST[1] if number == 0 else _later_neurons(pool)
        n_neurons = _learned_neurons(len(before.index), n_neurons)
        fresh = _fresh_specs(pool, stack, n_neurons, first=number == 0)
        if not fresh:
            return
        seeds = _SEEDS_PER_ROUND * (number + 1)
        sample = before.judged, before.index
        stack = stacked(pool, sample, fresh, rule, whole=True, beside=before, first=seeds)
        gain = 1 - stack.error / before.error if before.error > 0 else 0.0
        if gain <= 0:
            stack = before
        yield stack
        if gain <= (_LEAST_GAIN if rounds == "auto" else 0.0):
            return


def _later_neurons(pool: Pool) -> int:
    """Return how many neurons later rounds have: where they see all rows, as many as stay."""
    return max(_LATER[1], _width(pool.n_distinct)) if pool.n_distinct <= _WHOLE else _LATER[1]


def _learned_neurons(n_rows: int, most: int) -> int:
    return max(min(most, n_rows // _ROWS_PER_NEURON), _LEAST_NEURONS)


def _enlarged(pool: Pool, stack: Stack, rule: AlphaRule) -> Stack:
    """Return the best members of a stack on more rows and with more neurons, where there are."""
    sample: Sample = pool.judged(_LATER[0] if pool.n_distinct > _WHOLE else _WHOLE)
    n_neurons = _learned_neurons(len(sample[1]), _later_neurons(pool))
    best = [spec for spec, _ in stack.best_specs(_MEMBERS, _LEAST_SHARE)]
    wide = [spec.resized(max(n_neurons, spec.n_neurons)) for spec in best]
    if len(sample[1]) == len(stack.index) and wide == best:
        return stack.only(_MEMBERS, _LEAST_SHARE)
    return stacked(pool, sample, wide, rule, whole=True)


def _fresh_specs(pool: Pool, stack: Stack, n_neurons: int, *, first: bool) -> list[LayerSpec]:
    """Return members to be drawn from what a stack has learned about the inputs.

    After blind neurons all families are tried, afterwards those that have a place in the stack.
    """
    best = [spec for spec, _ in stack.best_specs(_MEMBERS, _LEAST_SHARE)]
    found: list[LayerSpec] = []
    # Those with most weight come first.
    for view in list(dict.fromkeys(spec.view for spec in best))[:_VIEWS]:
        relevance = _relevance(pool, stack, view)
        if relevance is None:
            continue
        if first:
            found += learned_specs(n_neurons, view, relevance)
            continue
        found += [spec.resized(n_neurons) for spec in _drawn_again(best, view, relevance)]
    return found


def _drawn_again(best: list[LayerSpec], view: str, relevance: Relevance) -> list[LayerSpec]:
    """Return the members that see a view, drawn from new relevance, in a few variants.

    What varies in few directions may vary fast in these. And where few inputs drown all others,
    as numbers of persons do, the two best members are drawn from a softened relevance as well.
    """
    again = [replace(s, relevance=relevance, placed=True) for s in best if s.view == view]
    narrower = replace(again[0], weight_scale=2 * again[0].weight_scale)
    soft = relevance.softened()
    return [*again, narrower, *(replace(spec, relevance=soft) for spec in again[:2])]


def _relevance(pool: Pool, stack: Stack, view: str) -> Relevance | None:
    """Return the relevance of a view's columns for the members of a stack that see it."""
    chosen = [k for k, spec in enumerate(stack.specs) if spec.view == view]
    judged = stack.judged
    least, most = _GRADIENT_ROWS
    n_rows = min(max(_GRADIENT_ROWS_PER_INPUT * int(judged.rows.X.shape[1]), least), most)
    n_rows //= min(int(stack.weights.shape[1]), _MANY_OUTPUTS)
    # Whatever the order that rows came in.
    index = np.argsort(pool.order[stack.index], kind="stable")[:n_rows]
    rows = taken(judged.weighted_rows, index)
    weights = place(to_numpy(stack.weights)[chosen], judged.s)
    return relevance_of([stack.fitted[k].member for k in chosen], weights, rows.X, rows.s)


def _width(n_rows: int) -> int:
    """Return the number of neurons of a member trained on so many rows."""
    return int(min(_NEURONS_PER_ROOT * np.sqrt(n_rows), _MOST_NEURONS))


def _within(pool: Pool, stack: Stack, rule: AlphaRule, most: int, max_neurons: int) -> Stack:
    """Return the members with most weight, as many as there is room for."""
    order = stack.best(most, 0.0)
    n_inputs = int(stack.judged.rows.X.shape[1])
    sizes = np.cumsum([_size(stack.specs[k], n_inputs) for k in order])
    count = int(np.sum(sizes <= max_neurons))
    if count == 0:
        specs = [_fitting(stack.specs[order[0]], max_neurons, max_neurons, n_inputs)]
        return stacked(pool, (stack.judged, stack.index), specs, rule)
    return stack if count == len(stack.specs) else stack.only(count, 0.0)


def _on_all_rows(pool: Pool, stack: Stack, rule: AlphaRule, most: int, max_neurons: int) -> Stack:
    """Return the best members of a stack with more neurons, trained on all rows."""
    width = max(min(_width(pool.n_distinct), max_neurons), 1)
    most = min(most, max_neurons // width)
    many = pool.n_distinct >= _MANY_ROWS
    n_inputs = int(stack.judged.rows.X.shape[1])
    specs = [
        _fitting(spec, min(width, _useful(degrees)), max_neurons // most, n_inputs)
        for spec, degrees in stack.best_specs(most, _LEAST_SHARE)
    ]
    sample = pool.judged(max(judged_rows(pool.n_distinct), width))
    narrow = many and _narrow_will_do(pool, stack)
    found = stacked(pool, sample, specs, rule, narrow=narrow)
    if many:
        return _fewest(found)
    error = stack.error
    for number in range(_WIDE_ROUNDS):
        if found.error > (1 - _WIDE_GAIN) * error:
            break
        error = found.error
        fresh = [
            _fitting(spec, width, max_neurons // most, n_inputs)
            for spec in _fresh_specs(pool, found, width, first=False)[:_WIDE_FRESH]
        ]
        if not fresh:
            break
        seed = _SEEDS_PER_ROUND * (_MOST_ROUNDS + 2 + number)
        again = stacked(pool, sample, fresh, rule, beside=found, first=seed).only(most, 0.0)
        if again.error >= found.error:
            break
        found = again
    return found


def _fewest(stack: Stack) -> Stack:
    """Drop members without which a stack is as good: predictions cost as much as its members."""
    smaller = [stack.only(count, 0.0) for count in range(1, len(stack.specs))]
    most = (1 + _AS_GOOD) * stack.error
    return next((one for one in smaller if one.error <= most), stack)


def _narrow_will_do(pool: Pool, stack: Stack) -> bool:
    """Tell whether float32 neurons are as good: errors are far above what they round.

    Devices, and whoever asks for another precision, keep to the dtype of the rows.
    """
    rows = pool.distinct.rows
    doubles = isinstance(rows.X, np.ndarray) and rows.Y.dtype == np.float64
    if not doubles or not pool.may_narrow:
        return False
    share, e = to_numpy(stack.judged.s), to_numpy(stack.honest)
    return bool(np.all(np.sqrt(share / share.sum() @ e**2) > _NARROW_ERROR))


def _useful(degrees: float) -> int:
    """Return how many neurons are of use to a member of so many degrees of freedom."""
    return max(round(_NEURONS_PER_DEGREE * degrees), _CHEAP_NEURONS)


def _size(spec: LayerSpec, n_inputs: int) -> int:
    """Return the neurons of a layer, with inputs that it passes on."""
    return spec.n_neurons + (n_inputs if spec.passes else 0)


def _fitting(spec: LayerSpec, width: int, room: int, n_inputs: int) -> LayerSpec:
    """Return a layer of `width` neurons, or as many as there is room for beside its inputs."""
    if spec.passes and n_inputs >= room:
        spec = replace(spec, passes=False)
    passed = n_inputs if spec.passes else 0
    return spec.resized(min(width, room - passed))
