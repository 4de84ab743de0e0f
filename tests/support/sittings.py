"""Sittings of `kernbrook label --web`: the page, and somebody who answers on it."""

from __future__ import annotations

import json
import re
import socket
import struct
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
import zlib
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import plain

import kernbrook as kb
from kernbrook.cli.page import Page, PageAddress
from kernbrook.cli.person import ShownRows
from kernbrook.estimators.table_model import open_like
from kernbrook.evaluation.answers import answers_beside
from kernbrook.evaluation.checkpoint import load_checkpoint
from kernbrook.evaluation.classes import named_classes
from kernbrook.evaluation.labelling import label

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


def flowers_in(folder):
    """flowers.csv: an image and a note beside three features, one row each of what can go wrong."""
    (folder / "img").mkdir()
    lines = ["photo,width,note,height,the colour of it"]
    for i, row in enumerate(X.tolist(), start=1):
        (folder / "img" / f"{i}.png").write_bytes(png(255 - 4 * i, 4 * i, 99))
        note = f'"note {i}, <b>not bold</b>"' if i % 2 else "7"
        lines.append(f"img/{i}.png,{row[0]},{note},{row[1]},{row[2]}")
    lines[2] = lines[2].replace("img/2.png", "/etc/hostname")
    lines[3] = lines[3].replace("img/3.png", "absent.png")
    path = folder / "flowers.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def machine():
    return plain.classifier(labels=kb.RandomLabels(0.7), random_state=3)


def regressor():
    return plain.regressor([kb.Gaussian(sigma=1.0)], labels="all", random_state=3)


class Sitting:
    """A labelling in a thread of its own, and its page."""

    def __init__(self, path, data, fresh=machine, classes=("no", "yes"), image=None, text=None):
        like = load_checkpoint(path)[0] if path.exists() else None
        model = fresh() if like is None else like
        aside = [name for name in (image, text) if name]
        known = None if like is None or like.encoder_ is None else like
        stream = open_like(known, str(data), aside=aside)
        names = None if classes is None else list(classes)
        self.page = Page(
            ShownRows(stream, text, image), named_classes(getattr(model, "model", model), names),
            Path(data).parent, PageAddress(path),
        )  # fmt: skip
        self.page.__enter__()
        self.base, self.token = self.page.address.split("?token=")
        self.state = self.error = None

        def run():
            try:
                self.state = label(
                    stream, model, path, self.page.ask,
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


def answers_of(path):
    """The lines of a model's answers, but the first."""
    lines = answers_beside(path).read_text().splitlines()[1:]
    return [json.loads(line) for line in lines]


def row_of(shown):
    return int(re.match(r"row (\d+) of [46]0", shown["row"])[1])


def truth(shown):
    return ["no", "yes"].index(Y[row_of(shown) - 1])


def label_all(sitting):
    """Answer as hidden labels would, to the end."""
    while (shown := sitting.view())["kind"] == "question":
        assert sitting.say("answer", shown, **{"class": truth(shown)})[0] == 200
    if shown["kind"] == "end":
        sitting.say("quit", shown)
    return sitting.end()


def other_than(shown):
    return ["yes", "no"][truth(shown)]


@contextmanager
def sittings_in(folder):
    """What begins sittings of the model m in a folder; they are ended."""
    sittings = []

    def begin(*arguments, **options):
        sittings.append(Sitting(folder / "m", *arguments, **options))
        return sittings[-1]

    yield begin
    for sitting in sittings:
        while sitting.thread.is_alive():
            with suppress(OSError):  # it may end meanwhile, and its server with it
                sitting.say("quit")
            sitting.thread.join(0.2)


class Program(Sitting):
    """`kernbrook label --web` in a process of its own."""

    def __init__(self, folder):
        beside = ["--image", "photo", "--text", "note"]
        self.process = subprocess.Popen(
            [
                sys.executable, "-m", "kernbrook", "label", "m", "flowers.csv", "--web",
                "--recipe", "omkc-u", "--classes", "no,yes", *beside,
            ],
            cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        line = self.process.stderr.readline()
        self.base, self.token = re.search(r"label at (\S+)\?token=(\S+) \(Ctrl-C", line).groups()

    def end(self):
        out, err = self.process.communicate(timeout=100)
        return self.process.returncode, out, err


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]
