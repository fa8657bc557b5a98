"""A small server on this machine, for tests of downloads."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append(self.path)
        status, body, length = self.server.answers.get(self.path, (404, b"", 0))
        self.send_response(status)
        self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Server:
    """What is served: `serve` a file at a path, `asked` for so far, at `url`."""

    def __init__(self, real):
        self._real = real
        self.asked = real.asked
        self.url = f"http://127.0.0.1:{real.server_address[1]}"

    def serve(self, path, body, status=200, length=None):
        self._real.answers[path] = (status, body, len(body) if length is None else length)


@contextmanager
def serving() -> Iterator[Server]:
    real = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    real.asked, real.answers = [], {}
    thread = Thread(target=real.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield Server(real)
    finally:
        real.shutdown()
        real.server_close()
        thread.join()
