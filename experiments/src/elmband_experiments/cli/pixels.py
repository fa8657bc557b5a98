"""``elmband pixels``: folders of images and masks become a table of pixels."""

from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

from elmband.cli._files import STANDARD, writable
from elmband.cli._options import tell
from elmband.ground.wording import counted
from elmband_experiments.cli.commands.pixels import BalanceOption
from elmband_experiments.pixels import PixelFile, PixelSummary, write_pixels


def pixels(
    *,
    images: Path,
    masks: Path,
    output: str,
    rows: int | None,
    balance: BalanceOption,
    pattern: str,
    split: float | None,
    test_out: Path | None,
    window: int,
    target: str,
    skip_unmatched: bool,
    seed: int,
    as_json: bool,
) -> None:
    """Do what was asked for."""
    begun = perf_counter()
    with writable(output, ".csv") as path:
        summary = write_pixels(
            images,
            masks,
            path,
            n_rows=rows,
            balance=balance.value,
            window=window,
            pattern=pattern,
            split=split,
            test_out=test_out,
            target=target,
            skip_unmatched=skip_unmatched,
            random_state=seed,
        )
    if output == STANDARD:
        # People know the first file by this name, not by that of the one it was kept in.
        summary = replace(summary, train=replace(summary.train, path=Path(STANDARD)))
    facts = {**as_dict(summary), "seconds": round(perf_counter() - begun, 3)}
    tell(facts, "\n".join(sentences(summary)), as_json=as_json, outputs=(output,))


def as_dict(summary: PixelSummary) -> dict[str, Any]:
    """Return what was written, in plain types."""
    return {
        "files": [file_as_dict(file) for file in summary.files],
        "features": summary.features,
        "target": summary.target,
        "skipped": summary.skipped,
    }


def file_as_dict(file: PixelFile) -> dict[str, Any]:
    """Return one file in plain types; photos by their number, which JSON writes as text."""
    return {
        "file": str(file.path),
        "rows": file.n_rows,
        "classes": {"1": file.n_white, "-1": file.n_other},
        "n_photos": len(file.photos),
        "photos": file.photos,
    }


def sentences(summary: PixelSummary) -> list[str]:
    """Return what was written, in words."""
    lines = [
        f"{file.path}: {file.n_rows:,} rows from {counted(len(file.photos), 'photo')}, "
        f"{file.n_white:,} with {summary.target} 1 and {file.n_other:,} with -1"
        for file in summary.files
    ]
    names, k = summary.features, len(summary.features)
    lines.append(f"Columns: {k} features {names[0]} to {names[-1]}, photo, {summary.target}")
    if summary.skipped:
        first = ", ".join(summary.skipped[:5]) + (", ..." if len(summary.skipped) > 5 else "")
        lines.append(f"Left out, without a mask: {counted(len(summary.skipped), 'image')}: {first}")
    return lines
