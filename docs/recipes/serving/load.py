"""Asks a service on this machine as often as it is told, and counts what comes back.

```sh
python load.py --port 8000 --features 10
```

First some clients ask, each again once it is answered, which shows the capacity; then requests come
at twice that rate, whether the others have been answered or not. Everything is bounded: so many
requests, so many seconds.
"""

import argparse
import asyncio
import json
from collections import Counter
from contextlib import suppress
from time import perf_counter
from typing import Any, NamedTuple

PATIENCE = 30.0
"""Seconds after which a request counts as lost."""


class Reply(NamedTuple):
    """What became of a request: 0 stands for lost."""

    status: int
    seconds: float
    headers: dict[str, str]
    body: Any


class Client:
    """A connection that is kept open."""

    def __init__(self, port: int) -> None:
        self.port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, method: str, path: str, given: Any = None) -> Reply:
        """Send a request and wait for its reply; nothing is sent twice."""
        begun = perf_counter()
        try:
            async with asyncio.timeout(PATIENCE):
                status, headers, body = await self._exchanged(method, path, given)
        except (OSError, EOFError, TimeoutError, ValueError):
            await self.close()
            return Reply(0, perf_counter() - begun, {}, None)
        return Reply(status, perf_counter() - begun, headers, body)

    async def _exchanged(
        self, method: str, path: str, given: Any
    ) -> tuple[int, dict[str, str], Any]:
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self.port)
        reader, writer = self._streams
        body = b"" if given is None else json.dumps(given).encode()
        head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n"
        writer.write(f"{head}Content-Type: application/json\r\n\r\n".encode() + body)
        first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().strip().split("\r\n")
        headers = {name.lower(): value for name, _, value in (x.partition(": ") for x in lines)}
        said = await reader.readexactly(int(headers["content-length"]))
        return int(first.split(" ")[1]), headers, json.loads(said)

    async def close(self) -> None:
        """Hang up."""
        streams, self._streams = self._streams, None
        if streams is not None:
            streams[1].close()
            with suppress(OSError):
                await streams[1].wait_closed()


async def closed(port: int, given: Any, clients: int, calls: int) -> tuple[list[Reply], float]:
    """Let clients ask one after the other; return all replies, and the seconds they took."""

    async def ask() -> list[Reply]:
        client = Client(port)
        found = [await client.ask("POST", "/v1/intervals", given) for _ in range(calls)]
        await client.close()
        return found

    begun = perf_counter()
    replies = await asyncio.gather(*(ask() for _ in range(clients)))
    return [one for some in replies for one in some], perf_counter() - begun


async def opened(port: int, given: Any, rate: float, calls: int) -> tuple[list[Reply], float]:
    """Ask at a rate, whether or not the requests before were answered."""
    idle: list[Client] = []

    async def ask(at: float) -> Reply:
        await asyncio.sleep(max(0.0, begun + at - perf_counter()))
        late = perf_counter() - begun - at
        client = idle.pop() if idle else Client(port)
        reply = await client.ask("POST", "/v1/intervals", given)
        idle.append(client)
        # Waiting begins when the request should have been sent.
        return reply._replace(seconds=reply.seconds + late)

    begun = perf_counter()
    replies = await asyncio.gather(*(ask(k / rate) for k in range(calls)))
    seconds = perf_counter() - begun
    for client in idle:
        await client.close()
    return replies, seconds


def told(name: str, replies: list[Reply], seconds: float) -> dict[str, Any]:
    """Print one line, and return its numbers."""
    counts = Counter(one.status for one in replies)
    good = sorted(one.seconds for one in replies if one.status == 200) or [float("nan")]
    refused = [one for one in replies if one.status == 503]
    found = {
        "asked": len(replies),
        "answered": counts[200],
        "refused": len(refused),
        "lost": len(replies) - counts[200] - len(refused),
        "with Retry-After": sum("retry-after" in one.headers for one in refused),
        "answered a second": round(counts[200] / seconds, 1),
        "p50 ms": round(1e3 * good[len(good) // 2], 2),
        "p99 ms": round(1e3 * good[int(0.99 * (len(good) - 1))], 2),
    }
    line = ", ".join(f"{key} {value}" for key, value in found.items())
    print(f"{name}: {line}", flush=True)  # noqa: T201
    return found


async def measured(port: int, features: int, sizes: list[int], calls: int) -> list[dict[str, Any]]:
    """Measure latency, capacity and twice the capacity, for some numbers of rows."""
    results = []
    for size in sizes:
        given = {"rows": [[0.1] * features] * size, "confidence_level": 0.9}
        results.append(told(f"{size} rows, 1 client", *await closed(port, given, 1, calls)))
        results.append(told(f"{size} rows, 8 clients", *await closed(port, given, 8, calls // 8)))
        rate = 2 * max(one["answered a second"] for one in results[-2:])
        results.append(told(f"{size} rows, twice that", *await opened(port, given, rate, calls)))
    return results


def main() -> None:
    """Measure a service that is running."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n", maxsplit=1)[0])
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--features", type=int, required=True)
    parser.add_argument("--rows", default="1,10,100", help="rows of a request, with commas")
    parser.add_argument("--calls", type=int, default=2000)
    asked = parser.parse_args()
    sizes = [int(size) for size in asked.rows.split(",")]
    asyncio.run(measured(asked.port, asked.features, sizes, asked.calls))


if __name__ == "__main__":
    main()
