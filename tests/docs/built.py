"""The built site as files: its pages, what they link to, and what they name."""

import re
import shutil
import subprocess
import sys
import zlib
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

from pages import DOCS, ROOT

# What a build makes must be made anew.
_MADE = shutil.ignore_patterns("examples", "drawn", "__pycache__")


def build(folder):
    """Build the site from a copy of the pages, with warnings as errors; return where it is."""
    shutil.copytree(DOCS, folder / "docs", ignore=_MADE)
    tops = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "RELEASING.md", "SECURITY.md")
    for name in (*tops, "benchmarks/README.md"):
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html"]
    result = subprocess.run(
        [*command, "docs", "site"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout[-3000:] + result.stderr[-6000:]
    return folder / "site"


class _Page(HTMLParser):
    """All names of places on a page, and all addresses that it mentions."""

    def __init__(self, text):
        super().__init__()
        self.places, self.links, self.loaded = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.places |= {given[name] for name in ("id", "name") if given.get(name)}
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        elif tag == "link" and given.get("rel") in {"stylesheet", "icon"}:
            self.loaded.append(given["href"])
        elif tag in {"img", "script", "iframe", "source"} and given.get("src"):
            self.loaded.append(given["src"])


def written(site):
    """Return the paths of all pages; what lies beside them are parts of the theme."""
    return [path for path in sorted(site.rglob("*.html")) if "_static" not in path.parts]


def dead_links(site):
    """Return links that lead nowhere, and files that are missing or fetched from elsewhere."""
    found = []
    read_pages = {path: _Page(path.read_text(encoding="utf-8")) for path in written(site)}
    for path, page in read_pages.items():
        found += [f"{path.name} loads {url}" for url in page.loaded if urlsplit(url).netloc]
        for url in [*page.links, *page.loaded]:
            parts = urlsplit(url)
            if parts.scheme or parts.netloc:
                continue
            goal = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            place = unquote(parts.fragment)
            if not goal.exists():
                found.append(f"{path.name} links to {url}")
            elif place and goal in read_pages and place not in read_pages[goal].places:
                found.append(f"{path.name} links to {url}, which has no such place")
    return found


def documented(site):
    """Return all names that the reference describes."""
    header, packed = (site / "objects.inv").read_bytes().split(b"zlib.\n", 1)
    assert b"version 2" in header
    return set(re.findall(r"^(\S+) py:", zlib.decompress(packed).decode(), re.MULTILINE))
