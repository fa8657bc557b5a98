"""Files from the web, fetched by pooch. Nothing else here uses the network."""

from pathlib import Path
from typing import Any

_PATIENCE, _BLOCK = 30.0, 2**16


def pooch() -> Any:
    """Return pooch, told to be silent, or say which command installs it: a clone may lack it."""
    try:
        import pooch as found  # noqa: PLC0415 (slow to import, rarely needed)
    except ImportError as error:
        raise ImportError(
            "Data sets that are in no folder of yours need pooch: pip install pooch", name="pooch"
        ) from error
    found.get_logger().setLevel("WARNING")
    return found


def fetch(url: str, path: Path, checksum: str | None = None) -> None:
    """Bring what is at an address to `path`, whole and with this checksum, or not at all.

    `checksum` is the name of an algorithm, a colon and the hexadecimal digest.
    """
    if not url.startswith(("https://", "http://")):
        raise ValueError(f"{url} is not an address on the web; nothing was downloaded.")
    downloader = pooch().HTTPDownloader(
        timeout=_PATIENCE, chunk_size=_BLOCK, headers={"User-Agent": "elmband"}
    )
    path.unlink(missing_ok=True)  # pooch would take it for the answer
    try:
        pooch().retrieve(url, checksum, path.name, path.parent, downloader=downloader)
    except OSError as error:
        raise ConnectionError(f"{url} could not be downloaded: {_reason(error)}.") from error
    except ValueError as error:
        raise ValueError(
            f"{url} is not the file that was expected, its checksum differs; nothing was kept."
        ) from error


def _reason(error: Any) -> str:
    """Return in a few words what kept a file from coming: the first of the errors has them."""
    answer = getattr(error, "response", None)
    if answer is not None:
        answer.close()  # it holds the connection
        return f"the server answered {answer.status_code} {answer.reason}"
    while error.__context__ is not None:
        error = error.__context__
    return str(getattr(error, "strerror", None) or error)
