"""What became of every column, in words."""

from elmband.ground.printable import on_one_line
from elmband.sources.encode.state import (
    DroppedColumn,
    EncodedColumn,
    EncoderState,
    LevelsColumn,
    TimeColumn,
)


def described(state: EncoderState) -> str:
    """Return one line for each column of the table."""
    notes: dict[str, list[str]] = {}
    for note in (note for note in state.notes if note.summary):
        notes.setdefault(note.name, []).append(note.summary)
    lines = [
        (
            # Commas at the end of all lines make a column without a name.
            on_one_line(column.name) or repr(column.name),
            column.kind,
            "; ".join([_became(column), *notes.get(column.name, ())]),
        )
        for column in state.columns
    ]
    widths = [max(len(line[k]) for line in lines) for k in (0, 1)]
    n_rows = f"{state.n_rows:,.0f}" if state.n_rows.is_integer() else f"{state.n_rows:,.3f}"
    head = f"{len(state.columns)} columns to {len(state.names)} features, from {n_rows} rows"
    rows = (f"{a:{widths[0]}}  {b:{widths[1]}}  {c}" for a, b, c in lines)
    return "\n".join([head, *rows])


def _became(column: EncodedColumn) -> str:
    if isinstance(column, DroppedColumn):
        return f"left out: {column.reason}"
    gaps = ["missing"] * column.gaps
    if isinstance(column, LevelsColumn):
        levels = f"{len(column.levels)} of {column.seen:,} levels"
        return ", ".join([levels, *["other"] * column.other, *gaps])
    if isinstance(column, TimeColumn):
        # A sine has its cosine beside it.
        parts = dict.fromkeys(part.partition("_")[0] for part in column.parts)
        return ", ".join([*parts, *gaps])
    return ", ".join([*["value"] * column.varies, *gaps])
