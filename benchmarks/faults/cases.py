"""The commands that faults are injected into, each with what it reads and writes."""

from dataclasses import dataclass

from benchmarks.faults.material import ARRAYS, FORMATS, INTERVALS, NUMBERS, TABLES, TARGET

OUT_TABLES = ("csv", "parquet", "arrow", "feather")
OUT_ARRAYS = (*OUT_TABLES, "npy", "h5")


@dataclass(frozen=True)
class Case:
    """A command: its arguments, the names of its inputs, and those of its outputs."""

    name: str
    arguments: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    checkpoint: str | None = None


def _predict(model: str, source: str, out: str, *more: str) -> Case:
    name = f"predict {source} to {out}"
    arguments = ("predict", model, source, "-o", f"out.{out}", *more)
    return Case(name, arguments, (model, source), (f"out.{out}",))


def _triage(kind: str) -> Case:
    outputs = (f"accepted.{kind}", f"review.{kind}")
    wish = ("--max-width", "12", "-o", outputs[0], "--review", outputs[1])
    source = f"text.{kind}"
    return Case(
        f"triage {source}", ("triage", INTERVALS, source, *wish), (INTERVALS, source), outputs
    )


def _fit(source: str, *more: str, name: str = "", checkpoint: str | None = None) -> Case:
    # Of plain arrays, the target is the last column, by its number.
    target = TARGET if source.split(".")[1] in TABLES else "-1"
    how = ("--target", target, "--neurons", "20", "-o", "model.safetensors")
    return Case(
        name or f"fit {source}",
        ("fit", source, *how, *more),
        (source,),
        ("model.safetensors",),
        checkpoint,
    )


def _pixels(kind: str) -> Case:
    arguments = ("pixels", "images", "masks", "-o", f"train.{kind}", "--window", "3", "--split")
    arguments += ("0.5", "--test-out", f"test.{kind}", "--rows", "400")
    outputs = (f"train.{kind}", f"test.{kind}")
    return Case(f"pixels to {kind}", arguments, ("images", "masks"), outputs)


def _others() -> list[Case]:
    read = (INTERVALS, "text.parquet")
    truth = ("--target", TARGET)
    return [
        Case("evaluate", ("evaluate", *read, *truth), read, ()),
        Case("report", ("report", *read, *truth, "-o", "report.html"), read, ("report.html",)),
        Case("export", ("export", INTERVALS, "-o", "model.onnx"), (INTERVALS,), ("model.onnx",)),
        Case("demo", ("demo", "--rows", "60", "-o", "demo.png"), (), ("demo.png",)),
        Case("demo tables", ("demo", "--tables", "."), (), ("train.csv", "test.csv")),
    ]


def cases() -> list[Case]:
    """Return every command with every format that it reads or writes."""
    checkpointed = _fit(
        "long.npy", "--published", "--checkpoint", "kept", name="fit checkpoint", checkpoint="kept"
    )
    return [
        *(_predict(INTERVALS, f"text.{kind}", kind, "--keep-all") for kind in OUT_TABLES),
        *(_predict(NUMBERS, f"plain.{kind}", "csv") for kind in FORMATS),
        *(_predict(NUMBERS, "plain.npy", kind) for kind in OUT_ARRAYS if kind != "csv"),
        *(_triage(kind) for kind in OUT_TABLES),
        *(_fit(f"text.{kind}") for kind in TABLES),
        *(_fit(f"plain.{kind}") for kind in ARRAYS),
        checkpointed,
        *(_pixels(kind) for kind in ("parquet", "npy", "h5", "csv")),
        *_others(),
    ]


def named(*names: str) -> list[Case]:
    """Return the cases of these names."""
    found = {case.name: case for case in cases()}
    return [found[name] for name in names]
