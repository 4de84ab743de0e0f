"""A server for one page on this machine, and for nobody but who was given its address."""

from __future__ import annotations

import errno
import hmac
import json
import secrets
import sys
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

from kernbrook.cli.output import say
from kernbrook.errors import InputError

HOST = "127.0.0.1"
MOST_BYTES = 10_000  # of what the page sends
PATIENCE = 30.0  # seconds for a request to come through


class Response(NamedTuple):
    """What is sent back; the policy says what a page may load, which is nothing if it is not."""

    status: int
    kind: str
    body: bytes
    policy: str = ""

    @classmethod
    def told(cls, status: int, sentence: str) -> Response:
        return cls.of({"said": sentence}, status)

    @classmethod
    def of(cls, values: Any, status: int = 200) -> Response:
        return cls(status, "application/json", json.dumps(values).encode())


Route = Callable[[Mapping[str, Any]], Response]


class Server(ThreadingHTTPServer):
    """Answers on 127.0.0.1, in threads of its own, until it is left.

    Requests have the token in their address, and come from a page of the server's or from a program
    that is no browser; all others are refused. A host of another name is refused too: a page
    elsewhere could have that name point here.

    One request needs no token: `GET /hello?nonce=TEXT` is answered with the HMAC of the text under
    the token. So a page that has lost its server finds out whether who listens there now is the
    same program again, before it says the token.

    Parameters
    ----------
    port : 0 for a free one
    routes : by method and path; called with what the address says, or with the JSON object sent
    token : None to draw one

    Attributes
    ----------
    address : of the page, with the token

    Raises
    ------
    InputError
        The port cannot be had.
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
        self._send(self._response("GET", lambda query: query))

    def do_POST(self) -> None:
        self._send(self._response("POST", lambda _: self._sent()))

    def _response(self, method: str, given: Callable[[dict[str, str]], Any]) -> Response:
        try:
            address = urlsplit(self.path)
        except ValueError:  # brackets that are no host
            return Response.told(400, "expected the address of a page")
        query = dict(parse_qsl(address.query))
        if (method, address.path) == ("GET", "/hello") and not self._refusal(self.server.token):
            proof = hmac.new(self.server.token.encode(), query.get("nonce", "").encode(), "sha256")
            return Response.of({"proof": proof.hexdigest()})
        if problem := self._refusal(query.pop("token", "")):
            return Response.told(403, problem)
        route = self.server.routes.get((method, address.path))
        if route is None:
            return Response.told(404, f"there is no {method} {address.path}")
        values = given(query)
        return values if isinstance(values, Response) else route(values)

    def _refusal(self, token: str) -> str:
        """Why a request is refused, in a sentence; "" where it is not."""
        hosts, origin = self.server.hosts, self.headers.get("Origin")
        if self.headers.get("Host", "").lower() not in hosts:
            return f"this page is called {hosts[0]}, and by no other name"
        if origin is not None and origin.lower() not in [f"http://{host}" for host in hosts]:
            return "this page answers to itself, and to no page from elsewhere"
        if not secrets.compare_digest(token.encode(), self.server.token.encode()):
            return "the token is missing or wrong: take the address that the terminal shows"
        return ""

    def _sent(self) -> Any:
        """The JSON object that came with the request, or what is wrong with it."""
        length = self.headers.get("Content-Length", "")
        if self.headers.get_content_type() != "application/json":
            return Response.told(415, "expected application/json")
        if not (length.isascii() and length.isdecimal() and len(length) < 10) or (
            int(length) > MOST_BYTES
        ):
            return Response.told(413, f"expected up to {MOST_BYTES} bytes and their number")
        try:
            values = json.loads(self.rfile.read(int(length)))
        except (ValueError, RecursionError):
            values = None
        return values if isinstance(values, dict) else Response.told(400, "expected a JSON object")

    def _send(self, response: Response) -> None:
        self.send_response(response.status)
        for name, value in (
            ("Content-Type", response.kind),
            ("Content-Length", str(len(response.body))),
            ("Content-Security-Policy", response.policy or "default-src 'none'; sandbox"),
            ("Cache-Control", "no-store"),
            ("Cross-Origin-Resource-Policy", "same-origin"),
            ("Referrer-Policy", "no-referrer"),
            ("X-Content-Type-Options", "nosniff"),
            ("X-Frame-Options", "DENY"),
        ):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(response.body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the terminal is for who labels."""
