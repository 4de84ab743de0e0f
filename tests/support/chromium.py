"""Chromium for tests of pages, quiet and by itself; such tests are skipped where there is none."""

from __future__ import annotations

import shutil
from contextlib import contextmanager

import pytest

PHONE = {"width": 390, "height": 844}
_PATH = shutil.which("chromium") or shutil.which("chromium-browser")
_QUIET = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update",
]  # fmt: skip


@contextmanager
def started():
    """The browser, in an empty folder of its own."""
    sync_api = pytest.importorskip("playwright.sync_api")
    if _PATH is None:
        pytest.skip("there is no Chromium")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=_PATH, args=_QUIET)
        yield browser
        browser.close()


@contextmanager
def tab_of(browser, own=("http://127.0.0.1:", "data:"), **options):
    """A page of the browser, on a phone where nothing else is said.

    What it asks for elsewhere than at its own addresses, and errors of its scripts, are no good.
    """
    tab, bad = browser.new_page(viewport=PHONE, **options), []
    tab.on("pageerror", lambda error: bad.append(str(error)))
    tab.on("console", lambda said: bad.append(said.text) if "Policy" in said.text else None)
    tab.on("request", lambda one: None if one.url.startswith(own) else bad.append(one.url))
    yield tab
    tab.close()
    assert not bad
