"""The page in a real browser, at the width of a desk and of a phone."""

import shutil

import pytest

from elmband.experiments import Settings, chosen, reproduce

pytestmark = pytest.mark.browser

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("paper")
    reproduce(chosen(["figures", "tables"]), Settings(quick=True), out)
    return out


@pytest.fixture(scope="module")
def chromium():
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed")
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    with playwright.sync_playwright() as driver:
        flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield browser
        browser.close()


@pytest.mark.parametrize("width", [1280, 390])
def test_all_is_seen_and_nothing_sticks_out(chromium, folder, width):
    page = chromium.new_page(viewport={"width": width, "height": 900})
    said, asked = [], []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto((folder / "index.html").as_uri())
    for image in page.locator("img").all():
        image.scroll_into_view_if_needed()
        page.wait_for_function("e => e.complete && e.naturalWidth > 0", arg=image.element_handle())
    assert page.locator("img").count() == 5
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("section").count() == 7
    assert "let ELMBAND_DATA name" in page.inner_text("#table")
    # With every table open too.
    page.evaluate("document.querySelectorAll('details').forEach(e => e.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert said == []
    assert all(url.startswith("file:") for url in asked)
    page.close()
