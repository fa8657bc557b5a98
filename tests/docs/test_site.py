"""The site: built once, with warnings as errors, then read as files and in a browser.

It is one test, so that the site is built once wherever tests run side by side. It runs the
scripts of the gallery, which so need no test of their own.
"""

import functools
import importlib
import shutil
import threading
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from built import build, dead_links, documented, written
from pages import DOCS

import elmband
import elmband_experiments

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PUBLIC = (
    "elmband",
    "elmband.metrics",
    "elmband.datasets",
    "elmband.display",
    "elmband.report",
    "elmband_experiments.datasets",
    "elmband_experiments.paper",
    "elmband_experiments.pixels",
)


def links_lead_somewhere(site):
    assert dead_links(site) == []


def every_script_of_the_gallery_has_left_its_picture(site):
    for script in DOCS.glob("gallery/*.py"):
        page = (site / "examples" / f"{script.stem}.html").read_text(encoding="utf-8")
        assert f"sphx_glr_{script.stem}_001.png" in page, script.stem
        # And said nothing.
        assert "sphx-glr-script-out" not in page, script.stem


def every_public_name_is_in_the_reference(site):
    known = documented(site)
    for part in PUBLIC:
        module = importlib.import_module(part)
        names = {f"{part}.{name}" for name in module.__all__ if name != "__version__"}
        assert names <= known, sorted(names - known)


def every_file_is_on_the_map(site):
    page = (site / "map.html").read_text(encoding="utf-8")
    core = Path(elmband.__file__).parent
    beside = Path(elmband_experiments.__file__).parent
    names = [
        path.relative_to(top).as_posix()
        for source, top in ((core, core), (beside, beside.parent))
        for path in source.rglob("*.py")
    ]
    assert [name for name in names if f"<code>{name}</code>" not in page] == []


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *said):
        """Keep the terminal to the tests."""


@contextmanager
def served(site):
    """Serve the site on loopback; yield its address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=site)) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def opened(browser, home, **context):
    """Open a window that must not complain, nor ask anyone else."""
    window = browser.new_context(**context)
    page, said, asked = window.new_page(), [], []
    page.on("console", lambda m: said.append(m.text) if m.type in {"error", "warning"} else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    yield page
    window.close()
    assert said == []
    assert [url for url in asked if not url.startswith((home, "data:"))] == []


def pages_fit_the_window(site, browser, home):
    with opened(browser, home) as page:
        for path in written(site):
            name = path.relative_to(site).as_posix()
            page.goto(f"{home}/{name}", wait_until="load")
            # A desk, then a phone.
            for width in (1280, 390):
                page.set_viewport_size({"width": width, "height": 900})
                wide = page.evaluate("document.documentElement.scrollWidth")
                assert wide <= width, f"{name} is {wide} wide at {width}"
            broken = page.locator("img").evaluate_all(
                "all => all.filter(e => e.complete && !e.naturalWidth).map(e => e.src)"
            )
            assert broken == [], name


def search_finds_what_is_there(site, browser, home):
    del site
    with opened(browser, home) as page:
        page.goto(f"{home}/search.html?q=calibrate")
        page.wait_for_selector("#search-results ul.search li a")
        found = page.locator("#search-results ul.search li").all_inner_texts()
        assert any("guarantee" in text for text in found)
        assert len(found) > 5


def the_night_is_dark(site, browser, home):
    del site
    for scheme, limits in (("light", (200, 256)), ("dark", (0, 60))):
        with opened(browser, home, color_scheme=scheme) as page:
            page.goto(f"{home}/map.html")
            colours = page.evaluate(
                "['body', 'article p', '.rooms code'].map(q => {"
                " const s = getComputedStyle(document.querySelector(q));"
                " return [s.backgroundColor, s.color].map("
                "  c => Math.max(...(c.match(/[\\d.]+/g) || [0]).slice(0, 3).map(Number))) })"
            )
            paper, ink, (room, name) = colours[0][0], colours[1][1], colours[2]
            assert limits[0] <= paper < limits[1]
            assert abs(paper - ink) > 140
            assert abs(room - name) > 140


ON_DISK = (
    links_lead_somewhere,
    every_script_of_the_gallery_has_left_its_picture,
    every_public_name_is_in_the_reference,
    every_file_is_on_the_map,
)
IN_A_BROWSER = (pages_fit_the_window, search_finds_what_is_there, the_night_is_dark)


def failures(checks, *given):
    """Yield what checks complain about."""
    for check in checks:
        try:
            check(*given)
        except AssertionError as error:
            error.add_note(check.__name__)
            yield error


@pytest.mark.slow
@pytest.mark.browser
def test_the_site(tmp_path):
    site = build(tmp_path)
    wrong = list(failures(ON_DISK, site))
    if CHROMIUM is not None:
        playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is missing")
        with playwright.sync_playwright() as driver, served(site) as home:
            browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
            wrong += failures(IN_A_BROWSER, site, browser, home)
            browser.close()
    if wrong:
        raise ExceptionGroup("the site", wrong)
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed: the site was built, but not opened")
