"""The page to label on: what the browser is told, who is refused, what a kill may not cost."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import threading
import time

import numpy as np
import pytest
from sittings import (
    Program,
    Sitting,
    X,
    Y,
    answers_of,
    flowers_in,
    free_port,
    label_all,
    machine,
    other_than,
    png,
    regressor,
    row_of,
    sittings_in,
    truth,
)

import kernbrook as kb
from kernbrook.cli.page import Page, PageAddress, keys_of, kind_of, picture
from kernbrook.cli.person import ShownRows, percent
from kernbrook.errors import InputError
from kernbrook.evaluation.labelling import label

POSIX = pytest.mark.skipif(os.name != "posix", reason="signals, links and pipes")


@pytest.fixture
def flowers(tmp_path):
    return flowers_in(tmp_path)


@pytest.fixture
def sit(tmp_path, monkeypatch):
    monkeypatch.setattr("kernbrook.cli.page.GOODBYE", 0.1)  # for nobody who looks
    with sittings_in(tmp_path) as begin:
        yield begin


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
        assert [(cell["name"], float(cell["value"])) for cell in shown["columns"]] == list(
            zip(["width", "height", "the colour of it"], X[row - 1].tolist(), strict=True)
        )
        assert shown["text"] == (f"note {row}, <b>not bold</b>" if row % 2 else "7")
        assert shown["predicted"] == (None if given == 0 else question.predicted)
        chances = question.chances if given else [None, None]
        assert [label["label"] for label in shown["labels"]] == ["no", "yes"]
        for found, chance in zip(shown["labels"], chances, strict=True):
            assert found["chance"] == (None if chance is None else percent(chance))
        assert shown["why"] == (
            "by chance: of all rows it asks about 70 %"
            if given
            else "the first label is always asked for"
        )
        last = [{"row": one.row, "label": Y[one.row - 1]} for one, _, _ in seen[:given]]
        assert shown["last"] == (last[-1] if last else None)
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
    rows = [line["row"] for line in answers_of(tmp_path / "m")]
    assert rows == [question.row for question, _, _ in seen]


def test_undo_skip_and_stop(sit, flowers, tmp_path):
    sitting = sit(flowers, image="photo", text="note")
    status, told, _ = sitting.say("undo")
    assert (status, told["said"]) == (400, "there is no answer to take back")
    first = sitting.view()
    wrong = {"class": 1 - truth(first)}
    assert sitting.say("answer", first, **wrong)[0] == 200
    second = sitting.view()
    assert second["last"]["label"] == other_than(first)
    assert sitting.say("undo")[0] == 200
    third = sitting.view()
    assert sitting.say("answer", third, skip=True)[0] == 200
    assert sitting.view()["last"]["label"] == "skipped"
    assert sitting.say("undo")[0] == 200
    assert (sitting.view()["row"], sitting.view()["last"]) == (first["row"], None)
    for late in (first, second, third):
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
    while (shown := later.view())["kind"] == "question":
        later.say("answer", shown, **{"class": truth(shown)})
    assert later.say("answer", shown, **{"class": 0})[0] == 409  # no row is left
    assert later.say("undo", shown)[0] == 200
    label_all(later)
    whole = tmp_path / "whole"
    label_all(Sitting(whole, flowers, image="photo", text="note"))
    assert (tmp_path / "m").read_bytes() == whole.read_bytes()


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
    assert [line["label"] for line in answers_of(tmp_path / "m")] == [1.5, -0.2]


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
    waits.join(60)
    assert found[0] > number


# -- who is refused ---------------------------------------------------------------------------


def test_who_is_refused(sit, flowers):
    sitting = sit(flowers, image="photo", text="note")
    shown = sitting.view()
    port = sitting.page._server.server_port
    assert sitting.base == f"http://127.0.0.1:{port}/"
    assert sitting.page._server.server_address[0] == "127.0.0.1"
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
        (b"\xff\xd8\xff\xe0", "image/jpeg"), (b"RIFF\0\0\0\0WEBPVP8", "image/webp"),
        (b"\0\0\0 ftypavif", "image/avif"), (b"RIFF\0\0\0\0WAVE", ""),
    ):  # fmt: skip
        assert kind_of(start) == kind
    assert keys_of([f"c{i}" for i in range(11)]) == [*"123456789", "", ""]
    assert keys_of(["2", "x", "y"]) == ["2", "1", "3"]


# -- the address -------------------------------------------------------------------------------


def page_at(folder, port=None):
    rows = kb.open_stream((X, np.zeros(60)))
    return Page(ShownRows(rows, None, None), None, folder, PageAddress(folder / "m"), port)


def test_the_address_is_kept_while_the_page_may_be_open(sit, flowers, tmp_path):
    """After a kill it is the same; after an end that was asked for, and elsewhere, another one."""
    kept = PageAddress(tmp_path / "m")
    sitting = sit(flowers, image="photo", text="note")
    sitting.view()
    place = kept.known()
    port, token = place
    assert sitting.page.address == f"http://127.0.0.1:{port}/?token={token}"
    if os.name == "posix":
        assert kept.path.stat().st_mode & 0o777 == 0o600
    with page_at(tmp_path) as second:  # the port is taken: it may be by anybody
        assert f":{port}/" not in second.address
        assert token not in second.address
    told = f"--port {port}: another program uses it; give another port, or none to take a free one"
    with pytest.raises(InputError, match=f"^{re.escape(told)}$"):
        page_at(tmp_path, port)
    assert kept.known() == place
    sitting.say("quit")
    assert sitting.view()["again"] is False
    sitting.end()
    assert kept.known() is None
    kept.keep(*place)
    for wanted in (None, port):
        with page_at(tmp_path, wanted) as again:
            assert again.address == sitting.page.address
    with page_at(tmp_path, free_port()) as elsewhere:
        assert token not in elsewhere.address
    assert kept.known() == place


TOKEN = "a" * 32


def test_what_is_no_address(tmp_path):
    """Nothing else than what is kept; nor what others may know, or may have put there."""
    kept = PageAddress(tmp_path / "m")
    right = f'{{"port": 80, "token": "{TOKEN}"}}'
    for text in (
        "", "[]", "\udcff", "[" * 9000, '{"port": 80, "token": 1}', right.replace("80", "0"),
        right.replace("80", "true"), right.replace("80", "99999"), right.replace('aa"', 'a"'),
        right.replace("}", ', "more": 1}'), right.replace('a"', 'é"'),
    ):  # fmt: skip
        kept.path.write_bytes(text.encode(errors="surrogateescape"))
        kept.path.chmod(0o600)
        assert kept.known() is None
    for mode in (0o666, 0o644, 0o400) if os.name == "posix" else ():
        kept.path.write_text(right)
        kept.path.chmod(mode)
        assert kept.known() is None
        kept.keep(80, TOKEN[::-1])
        assert kept.path.stat().st_mode & 0o777 == 0o600
        assert kept.known() == (80, TOKEN[::-1])
        kept.path.rename(tmp_path / "elsewhere")
        kept.path.symlink_to(tmp_path / "elsewhere")
        assert kept.known() is None
        kept.path.unlink()


def test_ports_that_cannot_be_had(tmp_path, monkeypatch):
    def refused(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("socketserver.TCPServer.server_bind", refused)
    told = "--port 80: Permission denied; give another port, or none to take a free one"
    with pytest.raises(InputError, match=f"^{re.escape(told)}$"):
        page_at(tmp_path, 80)


def test_no_two_runs_have_the_same_numbers(sit, flowers, tmp_path):
    """An answer to what a page was shown by the run before is refused."""
    sitting = sit(flowers, image="photo", text="note")
    shown = sitting.view()
    sitting.say("quit", shown)
    sitting.end()
    later = sit(flowers, image="photo", text="note")
    assert later.say("answer", shown, **{"class": 0})[0] == 409
    assert later.view()["row"] == shown["row"]


# -- the program -------------------------------------------------------------------------------


@POSIX
@pytest.mark.slow
def test_killed_and_begun_again(kernbrook, flowers, tmp_path):
    """And stopped by Ctrl-C: no answer is lost, none is asked for again, the page stays there."""
    flowers.write_text("".join(flowers.read_text().splitlines(keepends=True)[:41]))
    before = None
    for number, code in ((signal.SIGKILL, -9), (signal.SIGINT, 130), (None, 0)):
        program = Program(tmp_path)
        assert before in (None, (program.base, program.token, row_of(program.view())))
        left = 4 if number else 40
        while (shown := program.view())["kind"] == "question" and left:
            assert program.say("answer", shown, **{"class": truth(shown)})[0] == 200
            left -= 1
        if number:
            before = program.base, program.token, row_of(shown)
            program.process.send_signal(number)
        else:
            program.say("quit", shown)
        assert program.end()[0] == code
    rows = [line["row"] for line in answers_of(tmp_path / "m")]
    command = "label", "whole", "flowers.csv", "--recipe", "omkc-u", "--classes", "no,yes"
    aside = "--image", "photo", "--text", "note"
    assert kernbrook(*command, *aside, typed=[Y[row - 1] for row in rows])[0] == 0
    assert rows == [line["row"] for line in answers_of(tmp_path / "whole")]
    assert (tmp_path / "m").read_bytes() == (tmp_path / "whole").read_bytes()
