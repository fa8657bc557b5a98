"""Where public files are, and how they get into the cache whole and unchanged.

Beside every file the cache keeps its SHA-256, and a file is read only if it still has it.
"""

import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from elmband.ground.files import appearing_whole, check_writable, naming
from elmband_experiments.datasets.web import fetch, pooch

OPENML = "https://www.openml.org"
_SUFFIX = ".sha256"


@dataclass(frozen=True)
class Direct:
    """A file at an address of its own.

    Attributes
    ----------
    url : str
        The address.
    checksum : str or None
        ``"sha256:..."`` where the public file is known not to change.
    """

    url: str
    checksum: str | None = None

    @property
    def page(self) -> str:
        """The address that people are told."""
        return self.url

    @property
    def file(self) -> str:
        """Name of the file in the cache."""
        return self.url.rsplit("/", 1)[-1]

    def fetch(self, folder: Path) -> None:
        """Bring the file into a folder."""
        fetch(self.url, folder / self.file, self.checksum)


@dataclass(frozen=True)
class OpenML:
    """A set of OpenML by its number: its description tells the address and the MD5 of the file."""

    number: int
    base: str = OPENML

    @property
    def page(self) -> str:
        """The address that people are told."""
        return f"{self.base}/d/{self.number}"

    @property
    def file(self) -> str:
        """Name of the file in the cache."""
        return f"openml-{self.number}.arff"

    def fetch(self, folder: Path) -> None:
        """Bring the description, then the file, into a folder."""
        address = f"{self.base}/api/v1/json/data/{self.number}"
        note = folder / f"openml-{self.number}.json"
        fetch(address, note)
        try:
            told = json.loads(note.read_text("utf-8"))["data_set_description"]
            url, md5 = str(told["url"]), str(told["md5_checksum"])
        except (ValueError, KeyError, TypeError) as error:
            note.unlink()
            raise ValueError(
                f"{address} did not answer with the description of a data set; try again later."
            ) from error
        fetch(url, folder / self.file, f"md5:{md5}")


def cache_folder() -> Path:
    """Return where downloads are kept: ``ELMBAND_CACHE``, or the system's place for caches."""
    named = os.environ.get("ELMBAND_CACHE")
    return Path(named or pooch().os_cache("elmband"))


def cached(source: Direct | OpenML, folder: Path) -> Path | None:
    """Return the file of a source if the cache has it, and refuse one that has changed."""
    path = folder / source.file
    record = path.with_name(path.name + _SUFFIX)
    if not path.is_file() or not record.is_file():
        return None
    if pooch().file_hash(path) != record.read_text("ascii").strip():
        raise ValueError(
            f"{path} has changed since it was downloaded; delete it, and download it again."
        )
    return path


def download(source: Direct | OpenML, folder: Path) -> Path:
    """Fetch the file of a source into the cache, with a record of its checksum."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / source.file
    check_writable(path)
    record = path.with_name(path.name + _SUFFIX)
    # An old record would vouch for what comes after it.
    record.unlink(missing_ok=True)
    source.fetch(folder)
    with appearing_whole(record) as temporary, naming(record):
        temporary.write_text(pooch().file_hash(path) + "\n", encoding="ascii")
    shutil.copymode(record, path)  # pooch lets nobody else read it
    return path
