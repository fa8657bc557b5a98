"""Files from the web. Nothing else here uses the network."""

from contextlib import closing
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

_PATIENCE, _BLOCK = 30.0, 2**16


def copy(url: str, path: Path) -> None:
    """Copy what is at an address to a file, and see that all of it came."""
    if not url.startswith(("https://", "http://")):
        raise ValueError(f"{url} is not an address on the web; nothing was downloaded.")
    request = Request(url, headers={"User-Agent": "elmband"})  # noqa: S310 (checked above)
    try:
        with closing(urlopen(request, timeout=_PATIENCE)) as answer, path.open("wb") as file:  # noqa: S310 (likewise)
            while block := answer.read(_BLOCK):
                file.write(block)
            whole = int(answer.headers.get("Content-Length", file.tell()))
            if file.tell() != whole:
                raise ConnectionError("the connection broke off")
    except (OSError, HTTPException) as error:
        if isinstance(error, HTTPError):
            error.close()  # it holds the connection
        raise ConnectionError(f"{url} could not be downloaded: {_reason(error)}.") from error


def _reason(error: Any) -> str:
    """Return in a few words what kept a file from coming."""
    if isinstance(error, HTTPError):
        return f"the server answered {error.code} {error.reason}"
    inner = error.reason if isinstance(error, URLError) else error
    return str(getattr(inner, "strerror", None) or inner)
