"""Whatever is sent to the page's server: an answer, or none, and no word on the terminal."""

from __future__ import annotations

import hmac
import socket
import sys

import pytest

from kernbrook.cli.page import Response, Server

ROUTES = {
    ("GET", "/"): lambda query: Response.of({"query": dict(query)}),
    ("POST", "/answer"): lambda sent: Response.of({"sent": sent}),
    ("GET", "/wrong"): lambda query: Response.of(1 / 0),
}


@pytest.fixture
def server(capfd):
    with Server(0, ROUTES) as server:
        yield server


def answered(server, head, body=b"", own=True):
    """What comes back for the lines of a head, of which the first has the token."""
    lines = [head[0].replace("TOKEN", server.token), *head[1:]]
    if own:
        lines.insert(1, f"Host: {server.hosts[0]}")
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=10) as link:
        link.sendall("\r\n".join([*lines, "", ""]).encode("latin-1") + body)
        link.shutdown(socket.SHUT_WR)
        parts = []
        while part := link.recv(65536):
            parts.append(part)
    return b"".join(parts)


JSON = "Content-Type: application/json"
POST = "POST /answer?token=TOKEN HTTP/1.1"


SENT = [
    (["GET /?token=TOKEN HTTP/1.1"], b"", 200),
    (["GET http://[/ HTTP/1.1"], b"", 400),
    (["GET //[?token=TOKEN HTTP/1.1"], b"", 404),
    (["GET /?token=%ff%fe HTTP/1.1"], b"", 403),
    (["GET /\xff\xfe?token=\xff HTTP/1.1"], b"", 403),
    (["GET /\xff?token=TOKEN HTTP/1.1"], b"", 404),
    (["GET /\x00?token=TOKEN HTTP/1.1"], b"", 404),
    (["GET /?token=TOKEN HTTP/1.1", "X: " + "a" * 70_000], b"", 431),
    (["GET /?token=TOKEN HTTP/1.1", *["X: a"] * 200], b"", 431),
    (["GET /?token=TOKEN HTTP/1.1", "no header"], b"", 200),
    (["GET /" + "a" * 70_000 + " HTTP/1.1"], b"", 414),
    (["HEAD /?token=TOKEN HTTP/1.1"], b"", 501),
    ([POST, JSON, "Content-Length: " + "9" * 5000], b"", 413),
    ([POST, JSON, "Content-Length: -1"], b"", 413),
    ([POST, JSON, "Transfer-Encoding: chunked"], b"2\r\n{}\r\n0\r\n\r\n", 413),
    ([POST, JSON, "Content-Length: 100"], b"{", 400),
    ([POST, JSON, "Content-Length: 5000"], b"9" * 5000, 400),
    ([POST, JSON, "Content-Length: 9000"], b"[" * 9000, 400),
    ([POST, JSON, "Content-Length: 2"], b"{}", 200),
    ([POST, "Content-Type: ;;=", "Content-Length: 2"], b"{}", 415),
]


def test_an_answer_and_no_word(server, capfd):
    for head, body, status in SENT:
        found = answered(server, head, body)
        assert found.split(b" ", 2)[1] == b"%d" % status, head[0][:60]
        assert capfd.readouterr() == ("", "")
    # As HTTP 0.9 had it: no head, and so no host, which is refused.
    assert b"by no other name" in answered(server, ["GET /?token=TOKEN"], own=False)
    assert b" 200 " in answered(server, ["GET /?token=TOKEN HTTP/1.1"])


def test_who_knows_the_token_can_prove_it(server, capfd):
    """To who does not say it; but under no other name, and to no page from elsewhere."""
    for nonce, text in (("nonce=abc", b"abc"), ("", b""), ("nonce=%C3%A9&nonce=x", b"x")):
        found = answered(server, [f"GET /hello?{nonce} HTTP/1.1"])
        proof = hmac.new(server.token.encode(), text, "sha256").hexdigest()
        assert found.endswith(b'{"proof": "%s"}' % proof.encode())
    for line in ("Origin: https://example.org", "Host: example.org"):
        own = not line.startswith("Host")
        found = answered(server, ["GET /hello?nonce=abc HTTP/1.1", line], own=own)
        assert b" 403 " in found
        assert b"proof" not in found
    assert b" 403 " in answered(server, ["POST /hello?nonce=abc HTTP/1.1", JSON], b"{}")
    assert capfd.readouterr() == ("", "")


def test_what_goes_wrong_in_an_answer_is_a_line(server, capfd):
    assert answered(server, ["GET /wrong?token=TOKEN HTTP/1.1"]) == b""
    sys.stderr.flush()
    out, err = capfd.readouterr()
    assert out == ""
    assert err == "kernbrook: a request to the page failed: ZeroDivisionError: division by zero\n"
