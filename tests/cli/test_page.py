"""The page to label on: what the browser is told, who is refused, what a person meets there."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
import zlib
from pathlib import Path

import numpy as np
import plain
import pytest

import kernbrook as kb
from kernbrook.cli.page import Page, keys_of, kind_of, picture
from kernbrook.cli.questions import Aside
from kernbrook.errors import InputError
from kernbrook.evaluation.answers import answers_beside
from kernbrook.evaluation.checkpoints import load_checkpoint
from kernbrook.evaluation.classes import named_classes
from kernbrook.evaluation.labelling import label
from kernbrook.evaluation.sources import Source, open_like

POSIX = pytest.mark.skipif(os.name != "posix", reason="signals, links and pipes")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
X = np.random.default_rng(0).normal(size=(60, 3)).round(3)
Y = np.where(X[:, 0] + X[:, 1] ** 2 > 0.5, "yes", "no").tolist()


def png(red, green, blue, width=60, height=40):
    """An image of one colour."""

    def part(kind, data):
        check = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + check

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    rows = (b"\0" + bytes([red, green, blue]) * width) * height
    body = part(b"IHDR", head) + part(b"IDAT", zlib.compress(rows)) + part(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


@pytest.fixture
def flowers(tmp_path):
    """flowers.csv: an image and a note beside three features, one row each of what can go wrong."""
    (tmp_path / "img").mkdir()
    lines = ["photo,width,note,height,the colour of it"]
    for i, row in enumerate(X.tolist(), start=1):
        (tmp_path / "img" / f"{i}.png").write_bytes(png(255 - 4 * i, 4 * i, 99))
        note = f'"note {i}, <b>not bold</b>"' if i % 2 else "7"
        lines.append(f"img/{i}.png,{row[0]},{note},{row[1]},{row[2]}")
    lines[2] = lines[2].replace("img/2.png", "/etc/hostname")
    lines[3] = lines[3].replace("img/3.png", "absent.png")
    path = tmp_path / "flowers.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def machine():
    return plain.classifier(labels=kb.RandomLabels(0.7), random_state=3)


def regressor():
    return plain.regressor([kb.Gaussian(sigma=1.0)], labels="all", random_state=3)


class Sitting:
    """A labelling in a thread of its own, and its page."""

    def __init__(self, path, data, fresh=machine, classes=("no", "yes"), image=None, text=None):
        known = load_checkpoint(path) if path.exists() else (fresh(), None)
        model, checkpoint = known
        aside = [name for name in (image, text) if name]
        stream = open_like(checkpoint and checkpoint.source, str(data), aside=aside)
        source = Source.of_stream(stream)
        names = None if classes is None else list(classes)
        self.page = Page(
            stream, source, named_classes(model, names), Aside(stream, text, image),
            Path(data).parent, 0,
        )  # fmt: skip
        self.page.__enter__()
        self.base, self.token = self.page.address.split("?token=")
        self.state = self.error = None

        def run():
            try:
                self.state = label(
                    stream, model, path, self.page.ask, source=source, checkpoint=checkpoint,
                    classes=names, end=self.page.end, progress=self.page.passing,
                )  # fmt: skip
                self.page.close([("rows", "some")], self.state.finished)
            except BaseException as error:
                self.error = error
            finally:
                self.page.__exit__()

        self.thread = threading.Thread(target=run)
        self.thread.start()

    def send(self, path, values=None, token=None, data=None, **headers):
        """(status, JSON or bytes, headers) of an answer."""
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        address = f"{self.base}{path}{'&' if '?' in path else '?'}token={token or self.token}"
        if values is not None:
            data = json.dumps(values).encode()
        if data is not None:
            names = {"Content-Type": "application/json", **names}
        request = urllib.request.Request(address, data, names)
        try:
            with urllib.request.urlopen(request, timeout=60) as reply:
                body, status, told = reply.read(), reply.status, reply.headers
        except urllib.error.HTTPError as error:
            body, status, told = error.read(), error.code, error.headers
        is_json = told.get_content_type() == "application/json"
        return status, json.loads(body) if is_json else body, told

    def view(self):
        """What is shown, once it is no waiting."""
        shown, end = {"number": ""}, time.monotonic() + 100
        while time.monotonic() < end:
            status, shown, _ = self.send(f"question?after={shown['number']}")
            assert status == 200, shown
            if shown["kind"] != "working":
                return shown
        raise AssertionError(shown)

    def say(self, word, shown=None, **values):
        return self.send(word, {"number": (shown or self.view())["number"], **values})

    def end(self):
        self.thread.join(60)
        assert not self.thread.is_alive()
        if self.error is not None:
            raise self.error
        return self.state


def row_of(shown):
    return int(re.match(r"row (\d+) of 60", shown["row"])[1])


def truth(shown):
    return ["no", "yes"].index(Y[row_of(shown) - 1])


def label_all(sitting):
    """Answer as hidden labels would, to the end."""
    while (shown := sitting.view())["kind"] == "question":
        assert sitting.say("answer", shown, **{"class": truth(shown)})[0] == 200
    if shown["kind"] == "end":
        sitting.say("quit", shown)
    return sitting.end()


@pytest.fixture
def sit(tmp_path):
    """Begin sittings; they are ended."""
    sittings = []

    def begin(*arguments, **options):
        sittings.append(Sitting(tmp_path / "m", *arguments, **options))
        return sittings[-1]

    yield begin
    for sitting in sittings:
        while sitting.thread.is_alive():
            sitting.say("quit")
            sitting.thread.join(0.2)


# -- what is asked and answered ---------------------------------------------------------------


def test_a_sitting(sit, flowers, tmp_path):
    """The same model and the same answers as without a page; all that is shown is right."""
    bare = kb.open_stream((X, np.zeros(60)))
    model = machine()
    seen = []

    def ask(question, state):
        seen.append((question, state.given, state.saved))
        return Y[question.row - 1]

    label(bare, model, tmp_path / "bare", ask, classes=["no", "yes"])
    sitting = sit(flowers, image="photo", text="note")
    for question, given, saved in seen:
        shown = sitting.view()
        row = question.row
        assert (row_of(shown), shown["given"], shown["saved"]) == (row, given, saved)
        assert [(cell["name"], float(cell["value"])) for cell in shown["features"]] == list(
            zip(["width", "height", "the colour of it"], X[row - 1].tolist(), strict=True)
        )
        assert shown["text"] == (f"note {row}, <b>not bold</b>" if row % 2 else "7")
        assert shown["predicted"] == (None if given == 0 else question.predicted)
        votes = question.votes if given else [None, None]
        assert [label["label"] for label in shown["labels"]] == ["no", "yes"]
        for found, vote in zip(shown["labels"], votes, strict=True):
            assert found["vote"] == (None if vote is None else f"{vote:.3g}")
        assert shown["why"] == (
            "by chance: of all rows it asks about 70 %"
            if given
            else "the first label is always asked for"
        )
        last = [{"row": one.row, "label": Y[one.row - 1]} for one, _, _ in seen[:given][:-9:-1]]
        assert shown["last"] == last
        status, image, told = sitting.send("image")
        if row == 2:
            assert (status, shown["problem"]) == (
                404,
                "not shown: it is outside of the folder of the data",
            )
        elif row == 3:
            assert (status, shown["problem"]) == (404, "not shown: there is no such file")
        else:
            assert (status, shown["problem"], told["Content-Type"]) == (200, "", "image/png")
            assert image == (tmp_path / "img" / f"{row}.png").read_bytes()
        assert sitting.say("answer", shown, **{"class": truth(shown)})[0] == 200
    assert sitting.view()["kind"] == "end"
    sitting.say("quit")
    ended = sitting.view()
    assert (ended["kind"], ended["finished"], ended["summary"]) == (
        "ended",
        True,
        [["rows", "some"]],
    )
    state = sitting.end()
    assert (state.finished, state.given) == (True, len(seen))
    for what in ("dual_coef_", "expert_weights_"):
        np.testing.assert_array_equal(getattr(kb.load(tmp_path / "m"), what), getattr(model, what))
    rows = [
        json.loads(line).get("row")
        for line in answers_beside(tmp_path / "m").read_text().splitlines()
    ]
    assert rows[1:] == [question.row for question, _, _ in seen]
    assert open_like(load_checkpoint(tmp_path / "m")[1].source, str(flowers)).feature_names == [
        "width", "height", "the colour of it",
    ]  # fmt: skip


def test_undo_skip_and_stop(sit, flowers, tmp_path):
    sitting = sit(flowers, image="photo", text="note")
    status, told, _ = sitting.say("undo")
    assert (status, told["said"]) == (400, "there is no answer to take back")
    first = sitting.view()
    wrong = {"class": 1 - truth(first)}
    assert sitting.say("answer", first, **wrong)[0] == 200
    second = sitting.view()
    assert sitting.say("answer", second, skip=True)[0] == 200
    assert [one["label"] for one in sitting.view()["last"]] == [None, Y_wrong(first)]
    for again in (second, first):
        assert sitting.say("undo")[0] == 200
        assert sitting.view()["row"] == again["row"]
    for late in (first, second):
        status, told, _ = sitting.say("answer", late, **wrong)
        assert (status, told["said"][:25]) == (409, "this was answered already")
    shown = sitting.view()
    assert {**shown, "number": 0} == {**first, "number": 0}
    sitting.say("answer", shown, **{"class": truth(shown)})
    row = row_of(sitting.view())
    sitting.say("quit")
    assert sitting.view()["kind"] == "ended"
    state = sitting.end()
    assert (state.finished, state.rows, state.given) == (False, row - 1, 1)
    later = sit(flowers)  # whose columns beside the features are known
    assert row_of(later.view()) == row
    assert later.view()["text"] is None
    label_all(later)
    whole = tmp_path / "whole"
    label_all(Sitting(whole, flowers, image="photo", text="note"))
    assert (tmp_path / "m").read_bytes() == whole.read_bytes()


def Y_wrong(shown):
    return ["yes", "no"][truth(shown)]


def test_the_last_answer_is_taken_back_at_the_end(sit, flowers, tmp_path):
    sitting = sit(flowers, image="photo", text="note")
    while (shown := sitting.view())["kind"] == "question":
        last = shown
        sitting.say("answer", shown, **{"class": 0})
    assert shown["kind"] == "end"
    assert sitting.say("answer", shown, **{"class": 0})[0] == 409
    sitting.say("undo", shown)
    assert sitting.view()["row"] == last["row"]
    sitting.say("answer", **{"class": 1})
    sitting.say("quit")
    assert sitting.end().finished
    lines = [json.loads(line) for line in answers_beside(tmp_path / "m").read_text().splitlines()]
    assert [line.get("label", line.get("undo")) for line in lines[-3:]] == [
        "no",
        row_of(last),
        "yes",
    ]


def test_numbers(sit, flowers, tmp_path):
    sitting = sit(flowers, fresh=regressor, classes=None, image="photo", text="note")
    for value in ("nan", "much", None, 1e100):
        status, told, _ = sitting.say("answer", value=value)
        assert (status, told["said"].startswith("expected a number, found ")) == (400, True)
    for value in ("1.5", "-2e-1"):
        assert sitting.say("answer", value=value)[0] == 200
    shown = sitting.view()
    assert (shown["numbers"], shown["labels"]) == (True, [])
    assert re.match(r"the model expects \S+; off by \S+ on 1 so far", shown["expected"])
    sitting.say("quit")
    sitting.end()
    lines = answers_beside(tmp_path / "m").read_text().splitlines()[1:]
    assert [json.loads(line)["label"] for line in lines] == [1.5, -0.2]


def test_a_late_view_is_waited_for(sit, flowers):
    """Who asks for what comes after the present view is told when that is there."""
    sitting = sit(flowers, image="photo", text="note")
    shown, found = sitting.view(), []
    number = shown["number"]
    waits = threading.Thread(
        target=lambda: found.append(sitting.send(f"question?after={number}")[1]["number"])
    )
    waits.start()
    time.sleep(0.3)
    assert not found
    sitting.say("answer", shown, **{"class": 0})
    waits.join(5)
    assert found[0] > number


# -- who is refused ---------------------------------------------------------------------------


def test_who_is_refused(sit, flowers):
    sitting = sit(flowers, image="photo", text="note")
    shown = sitting.view()
    port = int(re.search(r":(\d+)/", sitting.base)[1])
    assert sitting.base == f"http://127.0.0.1:{port}/"
    said = {
        "token": "the token is missing or wrong: take the address that the terminal shows",
        "origin": "this page answers to itself, and to no page from elsewhere",
        "host": f"this page is called 127.0.0.1:{port}, and by no other name",
    }
    for path, values in (
        ("", None), ("question", None), ("image", None), ("absent", None),
        ("answer", {"number": shown["number"], "class": 0}),
        ("undo", {"number": shown["number"]}),
        ("quit", {"number": shown["number"]}),
    ):  # fmt: skip
        for wrong, headers in (
            ("token", {"token": "x" + sitting.token[1:]}),
            ("token", {"token": "%C3%A9"}),
            ("token", {"token": sitting.token + "x"}),
            ("origin", {"Origin": "https://example.org"}),
            ("origin", {"Origin": "null"}),
            ("origin", {"Origin": f"http://127.0.0.1:{port + 1}"}),
            ("origin", {"Origin": f"https://127.0.0.1:{port}"}),
            ("host", {"Host": "example.org"}),
            ("host", {"Host": f"example.org:{port}"}),
            ("host", {"Host": "127.0.0.1"}),
        ):
            status, told, names = sitting.send(path, values, **headers)
            assert (status, told) == (403, {"said": said[wrong]})
            assert names["Content-Security-Policy"].startswith("default-src 'none'")
    assert sitting.view()["number"] == shown["number"]
    for name in ("127.0.0.1", "localhost"):
        here = {"Host": f"{name}:{port}", "Origin": f"http://{name}:{port}"}
        assert sitting.send("question", **here)[1] == shown
        assert sitting.send("absent", **here)[0] == 404
    kind = {"Content-Type": "text/plain"}
    quits = json.dumps({"number": shown["number"]}).encode()
    assert sitting.send("quit", data=quits, **kind)[0] == 415
    for data, status in (
        (b"{", 400), (b"[]", 400), (b"\xff", 400), (b"[" * 9000, 400), (b" " * 10_001, 413),
        (b'{"number": true}', 409), (b'{"number": "1"}', 409), (b"{}", 409),
    ):  # fmt: skip
        assert sitting.send("quit", data=data)[0] == status
    for values in ({}, {"class": -1}, {"class": 2}, {"class": True}, {"class": "no"}, {"skip": 1}):
        assert sitting.say("answer", shown, **values)[0] == 400
    assert sitting.view()["number"] == shown["number"]
    with socket.create_connection(("127.0.0.1", port)) as raw:
        raw.sendall(b"PUT / HTTP/1.1\r\n\r\n")
        assert raw.recv(100).startswith(b"HTTP/1.0 501")


def test_only_this_machine(sit, flowers):
    sitting = sit(flowers, image="photo", text="note")
    assert sitting.page._server.server_address[0] == "127.0.0.1"
    port = sitting.page._server.server_port
    with pytest.raises(InputError, match=rf"--port {port}: "):
        Page(
            kb.open_stream((X, np.zeros(60))), Source(3), None,
            Aside(kb.open_stream((X, np.zeros(60))), None, None), Path(), port,
        )  # fmt: skip


def test_the_page_loads_nothing_from_elsewhere(sit, flowers):
    sitting = sit(flowers, image="photo", text="note")
    status, body, names = sitting.send("")
    text, policy = body.decode(), names["Content-Security-Policy"]
    assert (status, names["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert policy.startswith("default-src 'none'; script-src 'nonce-")
    once = re.search(r"nonce-([\w-]+)'", policy)[1]
    assert text.count(f'nonce="{once}"') == 2
    assert "{{" not in text
    assert not re.search(r"https?:|//\w|@import|innerHTML", text)
    assert sitting.token not in text
    assert names["Referrer-Policy"] == "no-referrer"
    assert re.search(r"nonce-([\w-]+)'", sitting.send("")[2]["Content-Security-Policy"])[1] != once


@POSIX
def test_pictures(tmp_path):
    inside, outside = tmp_path / "data", tmp_path / "outside"
    for folder in (inside, outside):
        folder.mkdir()
        (folder / "a.png").write_bytes(png(1, 2, 3))
    (inside / "text.png").write_text("secret")
    (inside / "page.svg").write_text("<svg/>")
    (inside / "link").symlink_to(outside)
    os.mkfifo(inside / "pipe.png")
    large = inside / "large.png"
    with open(large, "wb") as file:
        file.write(png(1, 2, 3))
        file.truncate((1 << 25) + 1)
    assert picture(inside, "a.png") == (inside / "a.png", "")
    assert picture(inside, str(inside / "a.png")) == (inside / "a.png", "")
    assert picture(inside, "link/a.png")[1] == ""
    for name, said in (
        ("../outside/a.png", "it is outside of the folder"),
        (str(outside / "a.png"), "it is outside of the folder"),
        ("../data2/a.png", "it is outside of the folder"),
        ("text.png", "expected PNG"),
        ("page.svg", "expected PNG"),
        ("absent.png", "there is no such file"),
        ("", "there is no such file"),
        ("a\0.png", "there is no such file"),
        ("pipe.png", "there is no such file"),
        ("large.png", "it has over 33,554,432 bytes"),
    ):
        path, problem = picture(inside, name)
        assert path is None
        assert problem.startswith("not shown: ")
        assert said in problem


def test_kinds_and_keys():
    for start, kind in (
        (png(1, 2, 3), "image/png"), (b"\xff\xd8\xff\xe0", "image/jpeg"), (b"GIF89a", "image/gif"),
        (b"RIFF\0\0\0\0WEBPVP8", "image/webp"), (b"\0\0\0 ftypavif", "image/avif"), (b"", ""),
        (b"<html>", ""), (b"RIFF\0\0\0\0WAVE", ""),
    ):  # fmt: skip
        assert kind_of(start) == kind
    assert keys_of(list("0123456789")) == list("0123456789")
    assert keys_of([f"c{i}" for i in range(11)]) == [*"123456789", "", ""]
    assert keys_of(["2", "x", "y"]) == ["2", "1", "3"]


# -- the program ------------------------------------------------------------------------------


class Program(Sitting):
    """`kernbrook label --web` in a process of its own."""

    def __init__(self, folder, *more):
        self.process = subprocess.Popen(
            [
                sys.executable, "-m", "kernbrook", "label", "m", "flowers.csv", "--web",
                "--recipe", "omkc-dd", "--classes", "no,yes", "--image", "photo", "--text", "note",
                *more,
            ],
            cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        line = self.process.stderr.readline()
        self.base, self.token = re.search(r"label at (\S+)\?token=(\S+) \(Ctrl-C", line).groups()

    def end(self):
        out, err = self.process.communicate(timeout=100)
        return self.process.returncode, out, err


@POSIX
def test_killed_and_gone_on_with(flowers, tmp_path):
    """Killed, stopped by Ctrl-C, and ended: what was answered or taken back stays so."""
    sitting = Program(tmp_path)
    for _ in range(5):
        shown = sitting.view()
        sitting.say("answer", shown, **{"class": truth(shown)})
    asked = sitting.view()["row"]
    sitting.process.kill()
    assert sitting.end()[0] == -9
    sitting = Program(tmp_path)
    assert sitting.view()["row"] == asked
    assert len(sitting.view()["last"]) == 5
    sitting.say("undo")
    before = sitting.view()["row"]
    sitting.process.kill()
    sitting.end()
    sitting = Program(tmp_path, "--port", str(free_port()))
    shown = sitting.view()
    assert (shown["row"], len(shown["last"])) == (before, 4)
    sitting.say("answer", shown, **{"class": truth(shown)})
    assert sitting.view()["row"] == asked
    sitting.process.send_signal(signal.SIGINT)
    code, out, err = sitting.end()
    assert (code, "labels given  5\n" in out) == (130, True)
    assert err == "m is saved; the same command goes on\n"
    sitting = Program(tmp_path)
    code, out, err = label_all(sitting)
    assert (code, err) == (0, "")
    assert out.endswith("next          kernbrook predict m flowers.csv\n")
    command = [sys.executable, "-m", "kernbrook", "predict", "m", "flowers.csv"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert len(done.stdout.splitlines()) == 60


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


# -- the browser ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def chromium():
    sync_api = pytest.importorskip("playwright.sync_api")
    if CHROMIUM is None:
        pytest.skip("there is no chromium")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def tab(chromium):
    """A page of the browser; what it asks for elsewhere, and errors of its script, are no good."""
    tab, bad = chromium.new_page(viewport={"width": 420, "height": 900}), []
    tab.on("pageerror", lambda error: bad.append(str(error)))
    tab.on("console", lambda said: bad.append(said.text) if "Policy" in said.text else None)
    tab.on(
        "request",
        lambda one: (
            None if one.url.startswith(("http://127.0.0.1:", "data:")) else bad.append(one.url)
        ),
    )
    yield tab
    tab.close()
    assert not bad


def told(tab, text):
    """Wait until the page says what begins so."""
    start = re.compile(f"^{re.escape(text)}")
    tab.locator("#said").filter(has_text=start).wait_for(timeout=60_000)


@pytest.mark.slow
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
    assert tab.locator("#features tr").all_inner_texts()[0].split() == ["width", f"{X[0, 0]:g}"]
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
    answer("u", "There is no answer to take back.")
    wrong, right = [1 - ["no", "yes"].index(Y[0]) + 1, ["no", "yes"].index(Y[0]) + 1]
    answer(str(wrong), f"Saved: {Y_wrong({'row': 'row 1 of 60'})}. row ")
    second = heading.inner_text()
    answer("s", "Skipped. row ")
    answer("u", f"Taken back: {second.split(' of')[0]}, skipped. {second}")
    answer("u", f"Taken back: row 1, {Y_wrong({'row': 'row 1 of 60'})}. row 1 of 60")
    answer(str(right), f"Saved: {Y[0]}. {second}")
    assert tab.locator("#last li").all_inner_texts() == [f"row 1: {Y[0]}"]
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


@pytest.mark.slow
def test_with_the_mouse_and_for_a_screen_reader(sit, flowers, tmp_path, tab):
    """Buttons have names; a row without its image says so; a page that is closed loses nothing."""
    sitting = sit(flowers, image="photo", text="note")
    tab.goto(sitting.page.address)
    tab.get_by_role("button", name="no").click()
    tab.get_by_role("button", name="Undo").click()
    told(tab, "Taken back: row 1")
    for name in ("yes", "Skip", "Undo", "Stop"):
        assert tab.get_by_role("button", name=name).is_visible()
    assert tab.get_by_role("status").text_content() == "Taken back: row 1, no. row 1 of 60"
    assert tab.get_by_role("img", name="img/1.png").is_visible()
    tab.get_by_role("button", name="no").click()
    told(tab, "Saved: no")
    row = tab.locator("#where").inner_text()
    shown = sitting.view()
    if shown["problem"]:
        assert shown["problem"] in tab.locator("#picture").inner_text()
        assert not tab.get_by_role("img").is_visible()
    tab.goto("about:blank")
    tab.goto(sitting.page.address)
    tab.wait_for_selector("#where:not(:empty)")
    assert tab.locator("#where").inner_text() == row
    tab.get_by_role("button", name="Stop").click()
    tab.wait_for_selector("#over:not([hidden])")
    assert tab.locator("#ended").inner_text() == "Stopped: the same command goes on"
    assert not sitting.end().finished


@pytest.mark.slow
def test_numbers_are_typed(sit, flowers, tmp_path, tab):
    sitting = sit(flowers, fresh=regressor, classes=None, image="photo", text="note")
    tab.goto(sitting.page.address)
    tab.wait_for_selector("#value")
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
    lines = [json.loads(line) for line in answers_beside(tmp_path / "m").read_text().splitlines()]
    assert [line.get("label", line.get("undo")) for line in lines[1:]] == [1.5, 1, -0.2]
