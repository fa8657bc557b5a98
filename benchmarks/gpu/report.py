"""Tables in Markdown."""

from typing import Any

Results = dict[str, Any]


def report(results: Results) -> str:
    """Return the page."""
    machine, rates = results["machine"], results["rates"]
    parts = [
        "# On a GPU",
        _machine(machine),
        _ceilings(rates),
        "## Checked against the float64 fit on the processor, 200,000 rows, 347 neurons",
        _table(
            ("rows", "precision", "covariance", "of the noise", "bounds"),
            [
                (
                    row["way"],
                    row["precision"],
                    *(f"{row[key]:.1e}" for key in ("covariance", "noise_covariance", "bounds")),
                )
                for row in results["errors"]
            ],
        ),
        "Largest difference of entries by the largest entry; bounds in units of y.",
        f"## {results['rows']:,} x 147 rows, 347 neurons, float32",
        _table(
            ("what", "rows", "s", "s on the GPU"),
            [
                (row["what"], row["where"], f"{row['wall']:.3f}", f"{row['gpu']:.3f}")
                for row in results["places"]
            ],
        ),
        "## By neurons, exact interval fit, resident rows",
        _table(
            ("neurons", "rows", "s", "Tflop/s", "of the matrix rate"),
            [
                (
                    f"{row['neurons']:,}",
                    f"{row['rows']:,}",
                    f"{row['wall']:.3f}",
                    f"{row['rate'] / 1e12:.1f}",
                    f"{row['rate'] / rates['matrix']:.0%}",
                )
                for row in results["neurons"]
            ],
        ),
    ]
    if results.get("endless"):
        parts += ["## Rows without end", *(_endless(row, rates) for row in results["endless"])]
    return "\n\n".join(parts) + "\n"


def _machine(machine: Results) -> str:
    return (
        f"{machine['gpu']}, PyTorch {machine['torch']}, CUDA {machine['cuda']}, "
        f"{machine['cpus']} processor cores; elmband {machine['elmband']}."
    )


def _ceilings(rates: Results) -> str:
    return (
        f"Ceilings measured in the same run: float32 products {rates['matrix'] / 1e12:.1f} "
        f"Tflop/s, copies to the GPU {rates['pinned'] / 1e9:.1f} GB/s from pinned and "
        f"{rates['ordinary'] / 1e9:.1f} GB/s from ordinary memory."
    )


def _endless(found: Results, rates: Results) -> str:
    return (
        f"{found['rows']:,} rows, made on the fly in "
        f"{'pinned' if found['pinned'] else 'ordinary'} memory, {found['wall']:.1f} s for all four "
        "passes: "
        f"{found['bytes_rate'] / 1e9:.1f} GB/s over the wire "
        f"({found['bytes_rate'] / rates['pinned']:.0%} of the copy rate) and "
        f"{found['rate'] / 1e12:.1f} Tflop/s ({found['rate'] / rates['matrix']:.0%} of the matrix "
        f"rate). Most memory used on the GPU: {found['peak_large'] / 2**20:,.0f} MiB, with few "
        f"rows {found['peak_small'] / 2**20:,.0f} MiB."
    )


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
