"""A server on this machine, and a cache of its own for every test."""

import pytest

from loopback import serving


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with serving() as found:
        yield found


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """Name a cache, and no folder with data."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("ELMBAND_DATA", raising=False)
    monkeypatch.setenv("ELMBAND_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"
