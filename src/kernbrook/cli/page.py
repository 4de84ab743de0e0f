"""A person at a page in the browser, which is served to nobody but who was given its address."""

from __future__ import annotations

import errno
import hmac
import json
import math
import os
import re
import secrets
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path
from stat import S_IFREG
from threading import Condition, Thread
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

from kernbrook.cli.output import say
from kernbrook.cli.person import ShownRows, expected, percent, place
from kernbrook.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kernbrook.evaluation.answers import Question
    from kernbrook.evaluation.labelling import Labelling


HOST = "127.0.0.1"
MOST_BYTES = 10_000  # of what the page sends
PATIENCE = 30.0  # seconds for a request to come through


class Response(NamedTuple):
    """What is sent back; the policy says what a page may load, which is nothing if it is not."""

    status: int
    kind: str
    body: bytes
    policy: str = "default-src 'none'; sandbox"

    @classmethod
    def of(cls, values: Any, status: int = 200) -> Response:
        return cls(status, "application/json", json.dumps(values).encode())


class Refused(Exception):
    """A request that is answered with a status and a sentence."""


Route = Callable[[Mapping[str, Any]], Response]


class Server(ThreadingHTTPServer):
    """Answers on 127.0.0.1, in threads of its own, until it is left.

    Requests have the token in their address, and come from a page of the server's or from a program
    that is no browser; all others are refused. A host of another name is refused too: a page
    elsewhere could have that name point here.

    One request needs no token: `GET /hello?nonce=TEXT` is answered with the HMAC of the text under
    the token. So a page that has lost its server finds out whether who listens there now is the
    same program again, before it says the token.

    port : 0 for a free one
    routes : by method and path; called with what the address says, or with the JSON object sent
    token : None to draw one
    """

    request_queue_size = 128  # of connections that wait for a thread
    daemon_threads = True

    def __init__(
        self, port: int, routes: Mapping[tuple[str, str], Route], token: str | None = None
    ):
        try:
            super().__init__((HOST, port), _Handler)
        except OSError as error:
            taken = error.errno == errno.EADDRINUSE
            why = "another program uses it" if taken else error.strerror or str(error)
            raise InputError(
                f"--port {port}: {why}; give another port, or none to take a free one"
            ) from None
        self.routes = routes
        self.token = secrets.token_urlsafe(24) if token is None else token
        self.hosts = [f"{name}:{self.server_port}" for name in (HOST, "localhost")]
        self.address = f"http://{self.hosts[0]}/?token={self.token}"

    def __enter__(self) -> Server:
        Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        error = sys.exception()
        if not isinstance(error, OSError):  # as where a browser has gone away
            say(f"kernbrook: a request to the page failed: {type(error).__name__}: {error}")


class _Handler(BaseHTTPRequestHandler):
    server: Server
    timeout = PATIENCE
    server_version, sys_version = "kernbrook", ""

    def do_GET(self) -> None:
        try:
            response = self._response()
        except Refused as refused:
            status, sentence = refused.args
            response = Response.of({"said": sentence}, status)
        self.send_response(response.status)
        for name, value in (
            ("Content-Type", response.kind),
            ("Content-Length", str(len(response.body))),
            ("Content-Security-Policy", response.policy),
            ("Cache-Control", "no-store"),
            ("Cross-Origin-Resource-Policy", "same-origin"),
            ("Referrer-Policy", "no-referrer"),
            ("X-Content-Type-Options", "nosniff"),
            ("X-Frame-Options", "DENY"),
        ):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(response.body)

    do_POST = do_GET

    def _response(self) -> Response:
        try:
            address = urlsplit(self.path)
        except ValueError:  # brackets that are no host
            raise Refused(400, "expected the address of a page") from None
        query = dict(parse_qsl(address.query))
        place, token = (self.command, address.path), self.server.token
        if place == ("GET", "/hello"):
            self._check(token)
            proof = hmac.new(token.encode(), query.get("nonce", "").encode(), "sha256")
            return Response.of({"proof": proof.hexdigest()})
        self._check(query.pop("token", ""))
        if place not in self.server.routes:
            raise Refused(404, f"there is no {self.command} {address.path}")
        return self.server.routes[place](query if self.command == "GET" else self._sent())

    def _check(self, token: str) -> None:
        """Refuse what comes from elsewhere, or without the token."""
        hosts, origin = self.server.hosts, self.headers.get("Origin")
        if self.headers.get("Host", "").lower() not in hosts:
            raise Refused(403, f"this page is called {hosts[0]}, and by no other name")
        if origin is not None and origin.lower() not in [f"http://{host}" for host in hosts]:
            raise Refused(403, "this page answers to itself, and to no page from elsewhere")
        if not secrets.compare_digest(token.encode(), self.server.token.encode()):
            problem = "the token is missing or wrong: take the address that the terminal shows"
            raise Refused(403, problem)

    def _sent(self) -> dict[str, Any]:
        length = self.headers.get("Content-Length", "")
        if self.headers.get_content_type() != "application/json":
            raise Refused(415, "expected application/json")
        if not re.fullmatch(r"[0-9]{1,9}", length) or int(length) > MOST_BYTES:
            raise Refused(413, f"expected up to {MOST_BYTES} bytes and their number")
        try:
            values = json.loads(self.rfile.read(int(length)))
        except (ValueError, RecursionError):
            values = None
        if not isinstance(values, dict):
            raise Refused(400, "expected a JSON object")
        return values

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the terminal is for who labels."""


COLUMNS = 100  # in the table, at most
FEW, FEW_BESIDE = 12, 3  # of these not folded: alone, beside a text or an image
SPARE = 2  # so few more are not folded either
CELL = "name", "value", "usual"  # of a column
LETTERS = 100_000  # of a text, at most
IMAGE_BYTES = 1 << 25
WAIT = 10.0  # seconds that a page waits for news at a time
GOODBYE = 2.0  # seconds for the page to hear the end
# How the files begin, as far as every browser shows them. Pictures that may hold scripts are none.
_IMAGES = {
    "image/png": rb"\x89PNG\r\n\x1a\n",
    "image/jpeg": rb"\xff\xd8\xff",
    "image/gif": rb"GIF8",
    "image/bmp": rb"BM",
    "image/webp": rb"RIFF.{4}WEBP",
    "image/avif": rb".{4}ftypavif",
}


class PageAddress:
    """A file beside a model's, for this user alone: port and token of the page of before."""

    def __init__(self, model: Path):
        self.path = Path(f"{model}.page.json")

    def known(self) -> tuple[int, str] | None:
        """What is kept; None where that is nothing, or nothing that this class writes.

        Who else may write to the file could have set the address, and so knows it.
        """
        try:
            if os.name == "posix":
                status = os.lstat(self.path)
                if status.st_uid != os.geteuid() or status.st_mode != S_IFREG | 0o600:
                    return None
            match json.loads(self.path.read_text("utf-8")):
                case {"port": int(port), "token": str(token), **more} if not more:
                    whole = port is not True and 0 < port < 1 << 16
                    text = re.fullmatch(r"[\w-]{32}", token, re.ASCII)
                    return (port, token) if whole and text else None
        except (OSError, ValueError, RecursionError):
            pass
        return None

    def keep(self, port: int, token: str) -> None:
        from kernbrook.atomic import write_text

        with suppress(OSError, InputError):
            if self.known() is None:  # by somebody else, or for others to read
                self.path.unlink(missing_ok=True)
            os.close(os.open(self.path, os.O_WRONLY | os.O_CREAT, 0o600))  # its rights are kept
            write_text(self.path, json.dumps({"port": port, "token": token}))

    def forget(self) -> None:
        with suppress(OSError):
            self.path.unlink()


class Page:
    """Questions on a page that is served on 127.0.0.1, and answers from there.

    Whoever labels calls `ask` and `end`, which wait; threads of the server answer the browser
    meanwhile. All that the page shows is one view. A view has a number that no other run has, and
    so has an answer: one that is late, or comes twice, is refused.

    From the first question on the page's address is kept in a file, up to an end that a person has
    asked for: after a kill the same command is found where it was.

    rows : those of the stream, as they are shown
    classes : all labels; None for numbers
    folder : where the images are
    kept : the file with the address
    port : None for the one of before, or a free one
    """

    shows = True  # what goes on meanwhile

    def __init__(
        self,
        rows: ShownRows,
        classes: NDArray[Any] | None,
        folder: Path,
        kept: PageAddress,
        port: int | None = None,
    ):
        self._rows, self._kept = rows, kept
        self._n_rows, self._title = rows.stream.n_rows, rows.stream.name
        self._labels: list[Any] = [] if classes is None else classes.tolist()
        self._keys = keys_of([str(label) for label in self._labels])
        self._numbers = classes is None
        self._folder = folder
        self._turn = Condition()
        self._number = secrets.randbelow(1 << 40)
        self._view: dict[str, Any] = {}
        self._show({"kind": "working", "text": "opening the data"})
        self._reply: tuple[str, Any] | None = None
        self._sent_view = -1  # the last view that a page was sent
        self._image: Path | None = None
        self._shown = self._seen = -math.inf  # when a row passed by was shown; a page was there
        self._server = self._at(port)
        self.address = self._server.address
        self._is_kept = False

    def _at(self, port: int | None) -> Server:
        """The server, where it was before if it can be there: else its token is another one."""
        routes: dict[tuple[str, str], Route] = {
            ("GET", "/"): self._page,
            ("GET", "/question"): self._question,
            ("GET", "/image"): self._picture,
            ("POST", "/answer"): self._answer,
            ("POST", "/undo"): lambda sent: self._take(sent, "undo"),
            ("POST", "/quit"): lambda sent: self._take(sent, "quit"),
        }
        before, token = self._kept.known() or (None, None)
        if port is not None:
            return Server(port, routes, token if before == port else None)
        if before is not None:
            with suppress(InputError):
                return Server(before, routes, token)
        return Server(0, routes)

    def __enter__(self) -> Page:
        self._server.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.__exit__()

    # -- whoever labels -----------------------------------------------------------------------

    def ask(self, question: Question, state: Labelling) -> Any:
        few = FEW_BESIDE if self._rows.texts or self._rows.image else FEW
        text, image, found, left = self._rows.of(question, few, COLUMNS, LETTERS)
        few = len(found) if len(found) <= few + SPARE else few
        chances = None if question.chances is None else question.chances.tolist()
        labels = [
            {"label": str(label), "key": key, "chance": percent(chances[k]) if chances else None}
            for k, (label, key) in enumerate(zip(self._labels, self._keys, strict=True))
        ]
        self._image, problem = None, ""
        if image is not None:
            self._image, problem = picture(self._folder, image)
        return self._asked(
            {
                "kind": "question",
                "row": place(question.row, self._n_rows),
                "columns": [dict(zip(CELL, cell, strict=False)) for cell in found],
                "few": few,
                "left": left,
                "text": text,
                "image": image,
                "problem": problem,
                "labels": labels,
                "numbers": self._numbers,
                "predicted": None if question.predicted is None else str(question.predicted),
                "expected": expected(question, state, None if self._numbers else self._labels),
                "why": question.why,
            },
            state,
        )

    def end(self, state: Labelling) -> None:
        self._asked({"kind": "end"}, state)

    def passing(self, state: Labelling) -> None:
        if time.monotonic() - self._shown > 0.2:
            self._shown = time.monotonic()
            where = place(state.rows_read, self._n_rows)
            self._show({"kind": "working", "text": f"{where}, {state.saved:,} labels spared"})

    def compiling(self, line: str) -> None:
        self._show({"kind": "working", "text": line})

    def close(self, summary: list[tuple[str, str]], finished: bool, asked_for: bool = True) -> None:
        """The labelling is over: say so on the page, and wait a little until it has heard that.

        asked_for : by a person on the page, or because no row is left; else the page may go on
        """
        if asked_for and self._is_kept:
            self._kept.forget()
        facts = {"summary": summary, "finished": finished, "again": not asked_for}
        with self._turn:
            self._show({"kind": "ended", **facts})
            if time.monotonic() - self._seen < 2 * WAIT:
                self._turn.wait_for(lambda: self._sent_view == self._number, GOODBYE)
        time.sleep(0.1)  # for what was sent last

    def _asked(self, view: dict[str, Any], state: Labelling) -> Any:
        from kernbrook.evaluation.training import Quit, Undo

        if not self._is_kept:  # nobody else labels this model now
            self._kept.keep(self._server.server_port, self._server.token)
            self._is_kept = True
        counts = {name: getattr(state, name) for name in ("rows", "given", "skipped", "saved")}
        last: dict[str, Any] | None = None
        if (answer := state.last) is not None:
            label = "skipped" if answer.label is None else str(answer.label)
            last = {"row": answer.row, "label": label}
        self._show({**view, **counts, "last": last, "answers": str(state.answers)})
        with self._turn:
            while self._reply is None:
                self._turn.wait(0.5)  # without a limit, Ctrl-C does not come through everywhere
            (word, label), self._reply = self._reply, None
        if word == "undo":
            raise Undo
        if word == "quit" and view["kind"] == "question":
            raise Quit
        return label

    def _show(self, view: dict[str, Any]) -> None:
        with self._turn:
            self._number += 1
            self._view = {"number": self._number, "title": self._title, **view}
            self._turn.notify_all()

    # -- the browser --------------------------------------------------------------------------

    def _page(self, _: Mapping[str, Any]) -> Response:
        once = secrets.token_urlsafe(16)
        text = files("kernbrook.cli").joinpath("page.html").read_text("utf-8")
        policy = (
            f"default-src 'none'; script-src 'nonce-{once}'; style-src 'nonce-{once}'; "
            "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
            "frame-ancestors 'none'"
        )
        body = text.replace("{{once}}", once).encode()
        return Response(200, "text/html; charset=utf-8", body, policy)

    def _question(self, query: Mapping[str, Any]) -> Response:
        """The view; waits for one that is newer than the page has."""
        after = query.get("after", "")
        known = int(after) if after.isascii() and after.isdecimal() and len(after) < 20 else -1
        with self._turn:
            self._seen = time.monotonic()
            self._turn.wait_for(lambda: self._number != known, WAIT)
            self._sent_view, view = self._number, self._view
            self._seen = time.monotonic()
            self._turn.notify_all()
        return Response.of(view)

    def _picture(self, _: Mapping[str, Any]) -> Response:
        with self._turn:
            path = self._image
        try:
            data = b"" if path is None else path.read_bytes()
        except OSError as error:
            raise Refused(404, f"{path}: {error.strerror}") from None
        if not (kind := kind_of(data)):
            raise Refused(404, "there is no image")
        return Response(200, kind, data)

    def _answer(self, sent: Mapping[str, Any]) -> Response:
        from kernbrook.evaluation.classes import as_label

        if sent.get("skip") is True:
            return self._take(sent, "label")
        if self._numbers:
            try:
                return self._take(sent, "label", as_label(sent.get("value"), None))
            except InputError as error:
                raise Refused(400, str(error)) from None
        k = sent.get("class")
        if type(k) is not int or not 0 <= k < len(self._labels):
            raise Refused(400, f"class: expected 0 to {len(self._labels) - 1}")
        return self._take(sent, "label", self._labels[k])

    def _take(self, sent: Mapping[str, Any], word: str, label: Any = None) -> Response:
        """Hand an answer over, if it is one to what is shown."""
        kinds = ["question"] if word == "label" else ["question", "end"]
        with self._turn:
            if word == "undo" and self._view.get("last", {}) is None:
                raise Refused(400, "there is no answer to take back")
            if sent.get("number") != self._number or self._view["kind"] not in kinds:
                raise Refused(409, "this was answered already; the page shows what is next")
            self._reply = word, label
            self._show({"kind": "working", "text": "saving"})
        return Response.of({})


def keys_of(labels: list[str]) -> list[str]:
    """A digit for each label, "" where none is left: its own, if it is one, or the next free one.

    Examples
    --------
    >>> keys_of(["no", "yes"]), keys_of(["-1", "1"]), keys_of(["0", "1", "10"])
    (['1', '2'], ['2', '1'], ['0', '1', '2'])
    """
    keys = [label if len(label) == 1 and label in "0123456789" else "" for label in labels]
    free = iter([digit for digit in "123456789" if digit not in keys])
    return [key or next(free, "") for key in keys]


def picture(folder: Path, name: str) -> tuple[Path | None, str]:
    """The file of an image that a row names, or None and what is wrong with it.

    The name must lie in the folder, or further below; links in there are followed.
    """
    base = os.path.abspath(folder)
    path = Path(os.path.abspath(os.path.join(base, name)))
    why = ""
    try:
        if not path.is_relative_to(base):
            why = "it is outside of the folder of the data"
        elif not path.is_file():
            why = "there is no such file"
        elif path.stat().st_size > IMAGE_BYTES:
            why = f"it has over {IMAGE_BYTES:,} bytes"
        else:
            with open(path, "rb") as file:
                if not kind_of(file.read(32)):
                    why = "expected PNG, JPEG, GIF, BMP, WebP or AVIF"
    except (OSError, ValueError) as error:  # a null character
        why = f"{getattr(error, 'strerror', None) or error}"
    return (None, f"not shown: {why}") if why else (path, "")


def kind_of(data: bytes) -> str:
    """The type of an image, by how its file begins; "" for what is none.

    Examples
    --------
    >>> kind_of(b"GIF89a"), kind_of(b"<svg>")
    ('image/gif', '')
    """
    return next((kind for kind, begin in _IMAGES.items() if re.match(begin, data, re.DOTALL)), "")
