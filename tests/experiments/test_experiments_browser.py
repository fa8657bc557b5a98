"""The page in a real browser, at the width of a desk and of a phone."""

import shutil

import pytest

pytestmark = pytest.mark.browser

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


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
def test_all_is_seen_and_nothing_sticks_out(chromium, paper, width):
    page = chromium.new_page(viewport={"width": width, "height": 900})
    said, asked = [], []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto((paper.folder / "index.html").as_uri())
    for image in page.locator("img").all():
        image.scroll_into_view_if_needed()
        page.wait_for_function("e => e.complete && e.naturalWidth > 0", arg=image.element_handle())
    assert page.locator("img").count() == 6
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("section").count() == 9
    assert "with --data or ELMBAND_DATA" in page.inner_text("#table")
    # Wide figures are moved sideways on a phone, and a line says so; one panel fits as it is.
    assert page.locator(".swipe").first.is_visible() is (width < 700)
    box = page.locator("#truth img").bounding_box()
    assert box["x"] + box["width"] <= width
    # With every table open too.
    page.evaluate("document.querySelectorAll('details').forEach(e => e.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert said == []
    assert all(url.startswith("file:") for url in asked)
    page.close()
