"""The page to label on as a person meets it: in Chromium, by keys."""

from __future__ import annotations

import csv
import os
import re
import signal
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import chromium
import plain
import pytest
from sittings import (
    Program,
    Sitting,
    X,
    Y,
    answers_of,
    flowers_in,
    sittings_in,
)

from kernbrook.evaluation.answers import answers_beside

pytestmark = pytest.mark.slow
POSIX = pytest.mark.skipif(os.name != "posix", reason="signals, and names of files with <")
SCRIPT = "<script>hit()</script>"
LINK = "<img src=x onerror=hit()>"


@pytest.fixture
def flowers(tmp_path):
    return flowers_in(tmp_path)


@pytest.fixture
def sit(tmp_path):
    with sittings_in(tmp_path) as begin:
        yield begin


@pytest.fixture(scope="module")
def browser():
    with chromium.started() as browser:
        yield browser


@pytest.fixture
def tab(browser):
    with chromium.tab_of(browser) as tab:
        yield tab


def until(holds):
    """Wait: what waits within the page is a script, which its policy does not let in."""
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


def told(tab, text):
    """Wait until the page says what begins so."""
    start = re.compile(f"^{re.escape(text)}")
    tab.locator("#said").filter(has_text=start).wait_for(timeout=60_000)


# -- whose text it shows -----------------------------------------------------------------------


@POSIX
def test_markup_is_text(tmp_path, tab):
    """In the data, in a label, in names of columns and of files; up to the end."""
    data, model = tmp_path / f"{LINK.replace('/', '')}.csv", tmp_path / f"<b>m{LINK}"
    names = ["photo", "note", SCRIPT, LINK, f"</td>{SCRIPT}"]
    with open(data, "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(names)
        rows.writerows([f"{LINK}{i}.png", f"{i} {SCRIPT} {LINK}", *X[i]] for i in range(20))
    classes = [f"no{SCRIPT}", f"<b onclick=hit()>{LINK}"]
    tab.add_init_script("window.hits = 0; window.hit = () => { window.hits += 1; };")
    fresh = lambda: plain.classifier(labels="all", random_state=3)  # noqa: E731
    sitting = Sitting(model, data, fresh=fresh, classes=classes, image="photo", text="note")
    tab.goto(sitting.page.address)
    tab.wait_for_selector("#where:not(:empty)")
    own = "document.querySelectorAll('main script, main b, main i, main a').length"

    def is_text():
        assert tab.evaluate("window.hits") == tab.evaluate(own) == 0
        assert tab.locator("main img").count() == 1

    assert tab.locator("#text").inner_text() == f"0 {SCRIPT} {LINK}"
    assert tab.locator("#picture").inner_text().startswith(f"{LINK}0.png (not shown: ")
    assert sorted(tab.locator("#columns th").all_inner_texts()) == sorted(names[2:])
    assert tab.locator("#labels .name").all_inner_texts() == sorted(classes)
    assert tab.title() == tab.locator("#title").inner_text() == f"kernbrook label {data.stem}"
    is_text()
    for key in "12u12":
        before = tab.locator("#said").text_content()
        tab.keyboard.press(key)
        until(lambda before=before: tab.locator("#said").text_content() != before)
        is_text()
    said = tab.locator("#previous").inner_text()
    assert said.startswith(f"Last answer, saved in {answers_beside(model)}: row ")
    assert said.endswith(sorted(classes)[1])
    tab.keyboard.press("q")
    tab.wait_for_selector("#over:not([hidden])")
    is_text()
    sitting.end()


# -- the program ends, and begins again ---------------------------------------------------------


class Answering:
    """Who answers on a tab as the hidden labels say."""

    def __init__(self, tab):
        self.tab = tab

    def row(self):
        """The row that is asked about; 0 where that is none."""
        busy, text = self.tab.evaluate(
            "[document.body.classList.contains('busy') || !where.checkVisibility(),"
            " where.textContent]"
        )
        return 0 if busy else int(re.match(r"row (\d+) of [46]0$", text)[1])

    def await_row(self, other=0):
        end = time.monotonic() + 120
        while (row := self.row()) in (0, other):
            assert time.monotonic() < end
            time.sleep(0.02)
        return row

    def answer(self, times):
        rows = []
        for _ in range(times):
            rows.append(self.await_row(rows[-1] if rows else 0))
            self.tab.keyboard.press(str(["no", "yes"].index(Y[rows[-1] - 1]) + 1))
        return rows


class Other(BaseHTTPRequestHandler):
    """A program that listens where ours did, and writes down what it is asked."""

    asked: ClassVar[list] = []

    def do_GET(self):
        self.asked.append(f"{self.path} {self.headers}")
        body = b'{"proof": "00", "kind": "ended", "number": 1, "summary": []}'
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def assert_it_does_not_get_the_token(program, tab):
    """It is asked to prove that it knows the token, again and again, and the page waits."""
    port = int(re.search(r":(\d+)/", program.base)[1])
    with ThreadingHTTPServer(("127.0.0.1", port), Other) as other:
        threading.Thread(target=other.serve_forever, args=(0.05,), daemon=True).start()
        until(lambda: len(Other.asked) >= 3)
        other.shutdown()
    assert len([one for one in Other.asked if "/hello?nonce=" in one]) >= 3
    assert not [one for one in Other.asked if program.token in one]
    assert not tab.locator("#over").is_visible()


@POSIX
def test_the_page_goes_on_by_itself(flowers, tmp_path, tab):
    """Killed, and stopped by Ctrl-C: nothing is lost, nothing comes twice.

    After the kill another program listens at the port.
    """
    flowers.write_text("".join(flowers.read_text().splitlines(keepends=True)[:41]))
    program, answering = Program(tmp_path), Answering(tab)
    tab.goto(f"{program.base}?token={program.token}")
    seen = answering.answer(4)
    seen.append(answering.await_row(seen[-1]))
    program.process.kill()
    program.end()
    told(tab, "The program does not answer: it has ended, or stands still.")
    assert_it_does_not_get_the_token(program, tab)
    program = Program(tmp_path)
    assert answering.await_row() == seen.pop()
    seen += answering.answer(3)
    seen.append(answering.await_row(seen[-1]))
    program.process.send_signal(signal.SIGINT)
    assert program.end()[0] == 130
    tab.wait_for_selector("#over:not([hidden])")
    assert tab.locator("#now").inner_text() == "Give the command again, and this page goes on."
    program = Program(tmp_path)
    assert answering.await_row() == seen.pop()
    assert not tab.locator("#over").is_visible()
    while not tab.locator("#finish").is_visible():
        if (row := answering.row()) not in (0, *seen[-1:]):
            seen.append(row)
            tab.keyboard.press(str(["no", "yes"].index(Y[row - 1]) + 1))
        time.sleep(0.02)
    tab.keyboard.press("Enter")
    tab.wait_for_selector("#over:not([hidden])")
    assert tab.locator("#now").inner_text() == "You can close this page."
    assert program.end()[0] == 0
    assert [line["row"] for line in answers_of(tmp_path / "m")] == seen
