"""Workers for a fit: those of a cluster, or processes of this machine."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

Workers = Annotated[
    int | None, typer.Option(help="Read and learn with so many processes of this machine.", min=1)
]
Scheduler = Annotated[
    str | None,
    typer.Option(help="Read and learn on the workers of this Dask scheduler.", metavar="ADDRESS"),
]


@contextmanager
def workers_of(workers: int | None, scheduler: str | None) -> Iterator[Any]:
    """Give a client of the workers that were asked for, or None."""
    if workers is not None and scheduler is not None:
        raise ValueError("--workers starts processes here, --scheduler has some: name one of them.")
    if workers is None and scheduler is None:
        yield None
        return
    try:
        from distributed import Client, LocalCluster  # noqa: PLC0415 - an optional library
    except ImportError as error:
        raise ImportError(
            "Workers need Dask, which is missing: pip install 'elmband[dask]'"
        ) from error
    if scheduler is not None:
        with _reached(Client, scheduler) as client:
            yield client
        return
    with (
        LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            dashboard_address="127.0.0.1:0",
            host="127.0.0.1",
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


def _reached(kind: Any, address: str) -> Any:
    try:
        return kind(address, timeout=10)
    except (OSError, ValueError) as error:
        raise ValueError(
            f"There is no Dask scheduler at {address}; give its address as in tcp://host:8786."
        ) from error
