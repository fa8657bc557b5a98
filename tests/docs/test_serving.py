"""The service of the recipes answers or refuses, and loses nothing."""

import asyncio
import contextlib
import hashlib
import importlib.util
import socket
import sys
import threading
import time

import numpy as np
import pytest
from pages import DOCS

from elmband import ELMIntervalRegressor
from elmband.datasets import make_heteroscedastic

uvicorn = pytest.importorskip("uvicorn")
pytest.importorskip("fastapi")

SERVING = DOCS / "recipes" / "serving"
LEVEL = 0.9
pytestmark = pytest.mark.slow


def module(name):
    spec = importlib.util.spec_from_file_location(f"serving_{name}", SERVING / f"{name}.py")
    found = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = found
    spec.loader.exec_module(found)
    return found


load = module("load")


@pytest.fixture(scope="session")
def model():
    data = make_heteroscedastic(300, random_state=0)
    X = np.column_stack([data.X, data.X**2])
    return ELMIntervalRegressor(20, random_state=0).fit(X, data.y)


@contextlib.contextmanager
def served(app):
    """Run an app in a thread, on a port of its own; it ends as with a signal."""
    with socket.create_server(("127.0.0.1", 0)) as place:
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", ws="none"))
        thread = threading.Thread(target=server.run, args=([place],))
        thread.start()
        try:
            while not server.started:
                assert thread.is_alive()
                time.sleep(0.01)
            yield place.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join(30)
    assert not thread.is_alive()


@pytest.fixture
def service(model, tmp_path, monkeypatch):
    """Return the module of the app, for two threads and six places."""
    model.save(tmp_path / "model.safetensors")
    monkeypatch.setenv("MODEL", str(tmp_path / "model.safetensors"))
    monkeypatch.setenv("THREADS", "2")
    monkeypatch.setenv("QUEUE", "6")
    return module("app")


def asked(port, *requests):
    """Return the replies to requests on one connection."""

    async def ask():
        client = load.Client(port)
        found = [await client.ask(*request) for request in requests]
        await client.close()
        return found

    return asyncio.run(ask())


def slow(service, seconds):
    """Let every answer take some time."""
    fast = service.app.state.model

    def answer(rows, level):
        time.sleep(seconds)
        return fast.answer(rows, level)

    service.app.state.model = fast._replace(answer=answer)


@pytest.mark.parametrize("ending", [".safetensors", ".onnx"])
def test_answers_are_those_of_the_model(service, model, ending, tmp_path, monkeypatch):
    path = tmp_path / f"model{ending}"
    if ending == ".onnx":
        pytest.importorskip("onnxruntime")
        model.to_onnx(path)
    monkeypatch.setenv("MODEL", str(path))
    rows = np.random.default_rng(0).uniform(size=(50, 2))
    given = {"rows": rows.tolist(), "confidence_level": LEVEL}
    with served(service.app) as port:
        ready, found = asked(port, ("GET", "/health/ready"), ("POST", "/v1/intervals", given))
    version = hashlib.sha256(path.read_bytes()).hexdigest()[:12]
    assert ready.body == {"ready": True, "model": version, "features": 2}
    assert (found.status, found.body["model"]) == (200, version)
    mean, interval = model.predict(rows, confidence_level=LEVEL)
    told = (found.body[name] for name in ("mean", "lower", "upper"))
    for one, other in zip(told, (mean, *interval.T), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("given", "status", "words"),
    [
        ({"rows": [[1.0]]}, 422, "A row has 1 features, the model has 2."),
        ({"rows": [[1.0, 2.0]], "confidence_level": 1.0}, 422, "confidence_level: "),
        ({"rows": []}, 422, "rows: "),
        ({"rows": [["a", 2.0]]}, 422, "rows.0.0: "),
        ({"rows": [[0.0, 0.0]] * 20_000}, 422, "rows: "),
        ({"rows": "x" * 30_000_000}, 413, "Say the length of the body"),
    ],
    ids=["features", "level", "none", "text", "many", "bytes"],
)
def test_bad_questions_get_a_sentence(service, given, status, words):
    with served(service.app) as port:
        found, good = (
            asked(port, ("POST", "/v1/intervals", one))[0]
            for one in (given, {"rows": [[0.0, 0.0]]})
        )
    assert found.status == status
    assert found.body["detail"].startswith(words)
    assert good.status == 200


def test_health_tells_when_nothing_is_loaded_yet(service):
    config = uvicorn.Config(service.app, log_level="warning", ws="none", lifespan="off")
    config.load()
    assert service.ready().status_code == 503
    assert service.live() == {"live": True}


def test_twice_its_capacity_it_answers_or_refuses_and_loses_nothing(service, model):
    given = {"rows": [[0.1, 0.2]], "confidence_level": LEVEL}
    with served(service.app) as port:
        slow(service, 0.02)
        # Two threads answer a hundred a second at most.
        replies, _ = asyncio.run(load.opened(port, given, 200.0, 300))
        after = asked(port, ("POST", "/v1/intervals", given))[0]
        assert service.app.state.desk.taken == 0
    found = load.told("twice", replies, 1.0)
    assert (found["asked"], found["lost"]) == (300, 0)
    assert found["answered"] > 50
    assert found["refused"] > 50
    assert found["with Retry-After"] == found["refused"]
    assert all(int(one.headers["retry-after"]) >= 1 for one in replies if one.status == 503)
    mean = model.predict([[0.1, 0.2]])
    for one in (*replies, after):
        if one.status == 200:
            np.testing.assert_allclose(one.body["mean"], mean)
    # Six places of two threads and 20 ms: nobody waits for longer, whatever comes.
    waits = [one.seconds for one in replies if one.status == 200]
    assert np.median(waits) < 0.5
    assert after.status == 200


def test_who_hangs_up_frees_no_place(service):
    given = {"rows": [[0.1, 0.2]]}

    async def hang_up(port):
        clients = [load.Client(port) for _ in range(6)]
        tasks = [asyncio.create_task(one.ask("POST", "/v1/intervals", given)) for one in clients]
        await asyncio.sleep(0.2)
        for task in tasks:
            task.cancel()
        for client in clients:
            await client.close()
        await asyncio.sleep(0.1)
        other = load.Client(port)
        reply = await other.ask("POST", "/v1/intervals", given)
        await other.close()
        return reply

    with served(service.app) as port:
        slow(service, 1.0)
        assert asyncio.run(hang_up(port)).status == 503
        time.sleep(3.5)
        assert service.app.state.desk.taken == 0


def test_what_was_accepted_is_answered_while_the_service_ends(service):
    given, found = {"rows": [[0.1, 0.2]]}, []
    with served(service.app) as port:
        slow(service, 0.5)
        calls = [
            threading.Thread(
                target=lambda: found.extend(asked(port, ("POST", "/v1/intervals", given)))
            )
            for _ in range(4)
        ]
        for call in calls:
            call.start()
        time.sleep(0.3)
    for call in calls:
        call.join()
    assert [one.status for one in found] == [200] * 4
