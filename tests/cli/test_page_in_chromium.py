"""The page to label on as a person meets it: in Chromium, with keys, mouse, and on a phone."""

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
import numpy as np
import plain
import pytest
from chromium import PHONE
from sittings import (
    Program,
    Sitting,
    X,
    Y,
    answers_of,
    flowers_in,
    label_all,
    other_than,
    regressor,
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


@pytest.mark.long
def test_with_keys_alone(sit, flowers, tmp_path, tab):
    """Label, err, undo, skip and stop by keys; on the width of a phone nothing hangs over."""
    sitting = sit(flowers, image="photo", text="note")
    tab.goto(sitting.page.address)
    heading, said = tab.locator("#where"), tab.locator("#said")

    def answer(key, then):
        before, end = said.text_content(), time.monotonic() + 60
        tab.keyboard.press(key)
        while (now := said.text_content()) == before and time.monotonic() < end:
            time.sleep(0.01)
        assert now.startswith(then)

    tab.wait_for_selector("#where:not(:empty)")
    assert heading.inner_text() == "row 1 of 60"
    assert tab.locator("#text").inner_text() == "note 1, <b>not bold</b>"
    assert tab.evaluate("document.querySelector('#image').naturalWidth") == 60
    assert tab.locator("#columns tr").all_inner_texts()[0].split() == ["width", f"{X[0, 0]:g}"]
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
    answer("u", "There is no answer to take back.")
    wrong, right = [1 - ["no", "yes"].index(Y[0]) + 1, ["no", "yes"].index(Y[0]) + 1]
    answer(str(wrong), f"Saved: {other_than({'row': 'row 1 of 60'})}. row ")
    answer("u", f"Taken back: row 1, {other_than({'row': 'row 1 of 60'})}. row 1 of 60")
    answer("s", "Skipped. row ")
    answer("u", "Taken back: row 1, skipped. row 1 of 60")
    answer(str(right), f"Saved: {Y[0]}. row ")
    assert tab.locator("#previous").inner_text().endswith(f"m.labels.jsonl: row 1, {Y[0]}")
    assert tab.locator("#counts").inner_text().startswith("1 asked of ")
    assert (
        tab.locator("#why").inner_text() == "why it asks: by chance: of all rows it asks about 70 %"
    )
    while heading.inner_text() != "row 60 of 60" and not tab.locator("#finish").is_visible():
        row = int(heading.inner_text().split()[1])
        answer(str(["no", "yes"].index(Y[row - 1]) + 1), f"Saved: {Y[row - 1]}. ")
    if not tab.locator("#finish").is_visible():
        answer(str(["no", "yes"].index(Y[59]) + 1), f"Saved: {Y[59]}. ")
    assert said.text_content().endswith("No row is left.")
    assert tab.evaluate("document.activeElement.id") == "finish"
    tab.keyboard.press("Enter")
    tab.wait_for_selector("#over:not([hidden])")
    assert tab.locator("#ended").inner_text() == "Every row is through"
    assert sitting.end().finished
    label_all(Sitting(tmp_path / "whole", flowers, image="photo", text="note"))
    assert (tmp_path / "m").read_bytes() == (tmp_path / "whole").read_bytes()


def test_numbers_are_typed(sit, flowers, tmp_path, tab):
    sitting = sit(flowers, fresh=regressor, classes=None, image="photo", text="note")
    tab.goto(sitting.page.address)
    tab.wait_for_selector("#value")
    box = tab.locator("#number button").bounding_box()
    assert box["x"] + box["width"] <= PHONE["width"] - 16  # as far as all the rest
    for keys in ("1.5", "u", "-2e-1"):
        if keys == "u":
            tab.keyboard.type(keys)
            told(tab, "Taken back")
            continue
        tab.keyboard.type(keys)
        tab.keyboard.press("Enter")
        told(tab, "Saved")
    tab.keyboard.type("1,5")
    tab.keyboard.press("Enter")
    told(tab, "expected a number")
    tab.keyboard.press("q")
    tab.wait_for_selector("#over:not([hidden])")
    sitting.end()
    lines = answers_of(tmp_path / "m")
    assert [line.get("label", line.get("undo")) for line in lines] == [1.5, 1, -0.2]


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


# -- what is in sight ---------------------------------------------------------------------------


def wide_in(folder, columns, text, classes=("no", "yes")):
    """Rows of many columns, beside a text."""
    rows = np.random.default_rng(1).normal(size=(30, columns)).round(2)
    path = folder / "wide.csv"
    with open(path, "w", newline="") as file:
        lines = csv.writer(file)
        note = [text] if text else []
        lines.writerow([*["note"][: len(note)], *(f"column {j}" for j in range(1, columns + 1))])
        lines.writerows([*note, *row] for row in rows.tolist())
    fresh = lambda: plain.classifier(labels="all", random_state=3)  # noqa: E731
    return Sitting(folder / "m", path, fresh=fresh, classes=classes, text="note" if text else None)


@pytest.mark.parametrize(
    ("columns", "text", "classes"),
    [
        (
            66,
            "many words " * 500,
            ["a name that is long enough for two lines of a phone " * 2, "b"],
        ),
        (40, "", [f"class {i:02}" for i in range(30)]),
    ],
)
def test_the_buttons_are_in_sight_on_a_phone(tmp_path, tab, columns, text, classes):
    """Whatever is above them, without scrolling; and nothing hangs over the side."""
    sitting = wide_in(tmp_path, columns, text, classes)
    tab.goto(sitting.page.address)
    tab.wait_for_selector("#where:not(:empty)")
    for name in ("#labels button >> nth=0", "#skip", "#undo", "#quit", "#expected", "#where"):
        box = tab.locator(name).bounding_box()
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= PHONE["height"]
        assert box["x"] + box["width"] <= PHONE["width"]
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
    ask = tab.locator("#ask").bounding_box()
    assert ask["height"] < 0.6 * PHONE["height"]  # so that the example has room, too
    folded, more = tab.locator("#folded"), tab.locator("#more")
    assert (folded.is_visible(), more.get_attribute("aria-expanded")) == (False, "false")
    more.click()
    assert (folded.is_visible(), more.inner_text()) == (True, "Show fewer columns")
    tab.locator("#labels button").last.click()
    told(tab, "Saved: ")
    tab.keyboard.press("q")
    tab.wait_for_selector("#over:not([hidden])")
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
