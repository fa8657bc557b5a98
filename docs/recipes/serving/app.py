"""A service that answers rows with intervals, from a model file.

```sh
MODEL=model.safetensors uvicorn app:app
```

It answers or it refuses: at most ``QUEUE`` requests are being worked on or wait, and others get a
503 that says when to come again. What was accepted is answered, also while the service ends.
"""

import asyncio
import json
import math
import os
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from hashlib import sha256
from pathlib import Path
from time import monotonic
from typing import Annotated, Any, NamedTuple

import numpy as np
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, Field, ValidationError

THREADS = int(os.environ.get("THREADS", "2"))
QUEUE = int(os.environ.get("QUEUE", "16"))
MAX_ROWS = int(os.environ.get("MAX_ROWS", "10000"))
MAX_BYTES = int(os.environ.get("MAX_BYTES", "20000000"))

Answer = tuple[Any, Any, Any]


class Question(BaseModel):
    """One row or many, each with all features in their order."""

    rows: Annotated[list[list[float]], Field(min_length=1, max_length=MAX_ROWS)]
    confidence_level: Annotated[float, Field(gt=0, lt=1)] = 0.95


class Model(NamedTuple):
    """What answers, how many features a row has, and the version that every answer names."""

    answer: Callable[[Any, float], Answer]
    n_features: int
    version: str


def model_from(path: Path) -> Model:
    """Load a model file, of elmband or ONNX; its version is the beginning of its hash."""
    answer, n_features = (_onnx if path.suffix == ".onnx" else _elmband)(path)
    return Model(answer, n_features, sha256(path.read_bytes()).hexdigest()[:12])


def _elmband(path: Path) -> tuple[Callable[[Any, float], Answer], int]:
    from elmband import load  # noqa: PLC0415 - one of the two is enough

    model = load(path)

    def answer(rows: Any, level: float) -> Answer:
        mean, interval = model.predict(rows, confidence_level=level)
        return mean, interval[:, 0], interval[:, 1]

    return answer, model.n_features_in_


def _onnx(path: Path) -> tuple[Callable[[Any, float], Answer], int]:
    import onnxruntime  # noqa: PLC0415 - one of the two is enough

    options = onnxruntime.SessionOptions()
    # Threads are those of the service.
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options)
    wanted = ["mean", "lower", "upper"]

    def answer(rows: Any, level: float) -> Answer:
        found: Answer = session.run(wanted, {"X": rows, "confidence_level": np.array(level)})
        return found

    return answer, session.get_inputs()[0].shape[1]


class BusyError(Exception):
    """There is no place left; `seconds` from now there may be one."""

    def __init__(self, seconds: int) -> None:
        super().__init__()
        self.seconds = seconds


class Desk:
    """Threads that work, and a queue with an end."""

    def __init__(self, threads: int, places: int) -> None:
        self.pool = ThreadPoolExecutor(threads)
        self.threads, self.places, self.taken = threads, places, 0
        self.usual = 0.001  # seconds of a request, a mean of the last ones

    def check(self) -> None:
        """Refuse what has no place."""
        if self.taken >= self.places:
            raise BusyError(max(1, math.ceil(self.taken * self.usual / self.threads)))

    async def run(self, work: Callable[..., Any], *given: Any) -> Any:
        """Do some work in a thread, or refuse it."""
        self.check()
        self.taken += 1
        future = asyncio.get_running_loop().run_in_executor(self.pool, self._timed, work, *given)
        future.add_done_callback(self._leave)
        # A caller who hangs up frees no place: the thread goes on.
        return await asyncio.shield(future)

    def _timed(self, work: Callable[..., Any], *given: Any) -> Any:
        begun = monotonic()
        try:
            return work(*given)
        finally:
            self.usual += 0.1 * (monotonic() - begun - self.usual)

    def _leave(self, _: Any) -> None:
        self.taken -= 1


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Load the model, and let it answer before anybody asks: the first answers are slow."""
    state = app.state
    state.model = model_from(Path(os.environ["MODEL"]))
    state.desk = Desk(THREADS, QUEUE)
    for size in (1, 100, 1, 1):
        state.model.answer(np.zeros((size, state.model.n_features)), 0.95)
    state.ready = True
    yield
    state.ready = False
    state.desk.pool.shutdown()


def refused(busy: BusyError) -> Response:
    """Say when to come again."""
    told = {"detail": "All places are taken; come again."}
    return JSONResponse(told, 503, {"Retry-After": str(busy.seconds)})


class Bounded:
    """Refuses what has no place, and bodies that are too large, before anything is read.

    To refuse must cost next to nothing, or a flood of requests leaves no time for answers.
    """

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer, or hand on."""
        if scope["type"] != "http" or scope["method"] != "POST":
            return await self.app(scope, receive, send)
        try:
            scope["app"].state.desk.check()
        except BusyError as busy:
            return await refused(busy)(scope, receive, send)
        length = dict(scope["headers"]).get(b"content-length", b"")
        if length.isdigit() and int(length) <= MAX_BYTES:
            return await self.app(scope, receive, send)
        told = {"detail": f"Say the length of the body, {MAX_BYTES} bytes at most."}
        return await JSONResponse(told, 413 if length else 411)(scope, receive, send)


app = FastAPI(title="Intervals", lifespan=lifespan)
app.add_middleware(Bounded)


@app.get("/health/live")
def live() -> dict[str, bool]:
    """Tell that the process is there."""
    return {"live": True}


@app.get("/health/ready")
def ready() -> Any:
    """Tell whether questions are answered, and by which model."""
    state = app.state
    if not getattr(state, "ready", False):
        return JSONResponse({"ready": False}, 503)
    return {"ready": True, "model": state.model.version, "features": state.model.n_features}


_BODY = {"content": {"application/json": {"schema": Question.model_json_schema()}}}


@app.post("/v1/intervals", openapi_extra={"requestBody": _BODY})
async def intervals(request: Request) -> Response:
    """Answer one row or many."""
    state = request.app.state
    try:
        found = await state.desk.run(answered, state.model, await request.body())
    except BusyError as busy:
        return refused(busy)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        return JSONResponse({"detail": f"{where}: {first['msg']}".removeprefix(": ")}, 422)
    except ValueError as error:
        return JSONResponse({"detail": str(error)}, 422)
    return Response(found, media_type="application/json")


def answered(model: Model, body: bytes) -> str:
    """Return what is told of the rows of a question, as JSON."""
    question = Question.model_validate_json(body)
    wrong = {len(row) for row in question.rows} - {model.n_features}
    if wrong:
        raise ValueError(f"A row has {wrong.pop()} features, the model has {model.n_features}.")
    rows = np.asarray(question.rows, dtype=np.float64)
    mean, lower, upper = model.answer(rows, question.confidence_level)
    told = {
        "model": model.version,
        "confidence_level": question.confidence_level,
        "mean": plain(mean),
        "lower": plain(lower),
        "upper": plain(upper),
    }
    return json.dumps(told)


def plain(values: Any) -> list[float | None]:
    """Return numbers as JSON has them: without bounds that are infinite."""
    return [value if math.isfinite(value) else None for value in np.asarray(values).tolist()]
