"""What the studies found, as Markdown; nothing where they were not made."""

from collections.abc import Iterator, Sequence

from benchmarks.abstain.data import SETS
from benchmarks.abstain.rivals import METHODS
from benchmarks.abstain.studies.paired import COVERAGES, UNIFORM
from benchmarks.abstain.summary import Summary
from benchmarks.abstain.tables import number, percent, table
from benchmarks.quality.store import Record

TARGET = 0.5
SHARES = ", ".join(f"{100 * c:g}" for c in COVERAGES)

PAIRED = f"""Sums over {SHARES} % coverage and over seeds, and their ratios to those of one
threshold for all on the same model, with 95 % intervals from a bootstrap that draws photos. "Called
positive" is the share of the answered rows that are. "Of as many" compares equally many of the rows
called positive, the most certain of them: {SHARES} % of the number of all rows. The last columns
tell how many photos have false positives at {100 * COVERAGES[-1]:g} % coverage, for the first seed,
and which part of these lies in two photos. The target is a ratio of at most {TARGET:g}."""

ENSEMBLES = """Rows answered before the first false positive, "none before": {members} layers beside
each of these layers as a model of its own. Between them they differ by {gain} % of the rows, with a
95 % interval from a bootstrap that draws photos; {wins} % of the members answer less than the
ensemble that they are part of."""

PROMISES = """Trained on {training_photos} photos; the other {judged_photos:,} were divided {times}
times into a half that makes the promise and a half that is unseen. Promises are for the mean over
photos, with {level:g} % confidence: {rest:g} % of the times they may be broken; where nothing can
be promised nothing is. "Unseen" counts the times that the mean over the unseen half is above the
limit; that half is a sample itself, so that this is stricter than the promise. "All" is judged by
all photos, half of which the promise has seen. In "drawn" photos are drawn with replacement, and
all photos are exactly what the promise is about. "By fit alone" is the threshold that `fit`
estimates from training rows left out one by one, which knows nothing of photos; its risk is the
mean over photos too."""

_CLOCKS = ("s", "CPU s", "CPU / intervals")

TIMES = """Published mode, 147 linear and 200 sigmoid neurons, float32 arrays, as many rows to
answer as to train; the best of two runs. Answers of the classifiers are those of `triage`: label,
confidence, whether it is accepted, and why not."""


def paired(summary: Summary) -> list[str]:
    """Compare rules with one threshold for all."""
    lines = [
        line
        for name in SETS
        if (record := summary.study(name, "paired"))
        for line in _paired_lines(name, record)
    ]
    head = (
        "set",
        "rule",
        "called positive, %",
        "false positives",
        "ratio",
        "target met",
        "errors",
        "ratio of errors",
        "false positives of as many",
        "ratio of these",
        "photos with any",
        "in the worst two, %",
    )
    title = "## False positives beside one threshold for all"
    return [title, PAIRED, table(head, lines)] if lines else []


def _paired_lines(name: str, record: Record) -> Iterator[list[str]]:
    answered = sum(COVERAGES) * record["seeds"] * record["rows"]
    for rule in (method for method in METHODS if method in record["rules"]):
        found = record["rules"][rule]
        ratios = found["ratios"]
        met = "yes" if ratios["false_positives"][0] <= TARGET else "no"
        yield [
            name,
            METHODS[rule].label,
            percent(found["called"] / answered),
            f"{found['false_positives']:,.0f}",
            _ratio(ratios["false_positives"]),
            "-" if rule == UNIFORM else met,
            f"{found['wrong']:,.0f}",
            _ratio(ratios["wrong"]),
            f"{found['false_among_called']:,.0f}",
            _ratio(ratios["false_among_called"]),
            str(found["photos"]),
            percent(found["worst_two"]),
        ]


def _ratio(values: Sequence[float]) -> str:
    middle, low, high = map(number, values)
    return f"{middle} ({low} to {high})"


def ensembles(summary: Summary) -> list[str]:
    """Compare ensembles with their members."""
    record = summary.study("skin-200k", "ensembles")
    if record is None:
        return []
    gain = _ratio([100 * value for value in record["gain"]])
    text = ENSEMBLES.format(members=record["members"], gain=gain, wins=percent(record["wins"]))
    keys = {"no_fp": "none before", "found0.001": "found at 0.1 %", "aurc": "AURC"}
    lines = [
        [name, *(percent(record[kind][key]) for key in keys)]
        for kind, name in (("ensemble", "ensembles"), ("single", "members"))
    ]
    means = table(["mean over all", *(f"{key}, %" for key in keys.values())], lines)
    lines = [
        [percent(seed["ensemble"]), *map(percent, seed["members"])] for seed in record["seeds"]
    ]
    numbers = (f"member {k + 1}" for k in range(record["members"]))
    seeds = table(["none before, %: ensemble", *numbers], lines)
    return ["## Ensembles", text, means, seeds]


def promises(summary: Summary) -> list[str]:
    """Count broken promises."""
    record = summary.study("skin-photos", "promises")
    if record is None:
        return []
    level = 100 * record["confidence"]
    text = PROMISES.format(**record, level=level, rest=100 - level)
    head = (
        "wish",
        "rule",
        "made",
        "broken, unseen, %",
        "broken, all, %",
        "broken, drawn, %",
        "answered, %",
        "mean risk unseen, %",
        "by fit alone: risk, %",
        "by fit alone: answered, %",
    )
    lines = [
        _promise_line(f"{wish}={limit:g}", rule, found[wish], record["times"])
        for wish, limit in record["limits"].items()
        for rule, found in record["rules"].items()
    ]
    return ["## Promises by photo", text, table(head, lines)]


def _promise_line(wish: str, rule: str, found: Record, times: int) -> list[str]:
    alone = found["estimated"]
    return [
        wish,
        METHODS[f"elm-{rule}"].label,
        f"{found['made']} of {times}",
        *(percent(found[f"broken_{how}"] / times) for how in ("unseen", "all", "drawn")),
        *map(percent, (found["answered"], found["risk"], alone["risk"], alone["answered"])),
    ]


def times(summary: Summary) -> list[str]:
    """Compare seconds with those of the interval model."""
    kinds = {
        "intervals": "`ELMIntervalRegressor`, intervals",
        "margin": "`ELMSelectiveClassifier`, one threshold",
        "interval": "`ELMSelectiveClassifier`, by interval",
        "probability": "`ELMSelectiveClassifier`, by probability",
    }
    lines = []
    for name in SETS:
        record = summary.study(name, "times")
        for kind, label in kinds.items() if record else ():
            line = [f"{record['rows']:,}", label]
            for phase in ("fit", "answer"):
                cpu, base = (record["cpu_seconds"][f"{k} {phase}"] for k in (kind, "intervals"))
                line += map(number, (record["seconds"][f"{kind} {phase}"], cpu, cpu / base))
            lines.append(line)
    head = ["rows", "model"]
    head += [f"{phase} {what}" for phase in ("fit", "answer") for what in _CLOCKS]
    return ["## What abstaining costs", TIMES, table(head, lines)] if lines else []
