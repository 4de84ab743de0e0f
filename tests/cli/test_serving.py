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
    lines = [head[0].replace(b"TOKEN", server.token.encode()), *head[1:]]
    if own:
        lines.insert(1, b"Host: " + server.hosts[0].encode())
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=10) as link:
        link.sendall(b"\r\n".join([*lines, b"", b""]) + body)
        link.shutdown(socket.SHUT_WR)
        parts = []
        while part := link.recv(65536):
            parts.append(part)
    return b"".join(parts)


JSON = b"Content-Type: application/json"
POST = b"POST /answer?token=TOKEN HTTP/1.1"


@pytest.mark.parametrize(
    ("head", "body", "status"),
    [
        ([b"GET /?token=TOKEN HTTP/1.1"], b"", 200),
        ([b"GET http://[/ HTTP/1.1"], b"", 400),
        ([b"GET //[?token=TOKEN HTTP/1.1"], b"", 404),
        ([b"GET /?token=%ff%fe HTTP/1.1"], b"", 403),
        ([b"GET /\xff\xfe?token=\xff HTTP/1.1"], b"", 403),
        ([b"GET /\xff?token=TOKEN HTTP/1.1"], b"", 404),
        ([b"GET /?token=TOKEN&a=%ff HTTP/1.1"], b"", 200),
        ([b"GET /\x00?token=TOKEN HTTP/1.1"], b"", 404),
        ([b"GET /?token=TOKEN HTTP/1.1", b"X: " + b"a" * 70_000], b"", 431),
        ([b"GET /?token=TOKEN HTTP/1.1", *[b"X: a"] * 200], b"", 431),
        ([b"GET /?token=TOKEN HTTP/1.1", b"no header"], b"", 200),
        ([b"GET /?token=TOKEN HTTP/1.1", b"Host: elsewhere"], b"", 200),
        ([b"GET /" + b"a" * 70_000 + b" HTTP/1.1"], b"", 414),
        ([b"HEAD /?token=TOKEN HTTP/1.1"], b"", 501),
        ([b"\xff\x00\x16\x03 / HTTP/1.1"], b"", 501),
        ([POST, JSON, b"Content-Length: " + b"9" * 5000], b"", 413),
        ([POST, JSON, b"Content-Length: -1"], b"", 413),
        ([POST, JSON, b"Content-Length: 1e3"], b"", 413),
        ([POST, JSON, b"Transfer-Encoding: chunked"], b"2\r\n{}\r\n0\r\n\r\n", 413),
        ([POST, JSON, b"Content-Length: 100"], b"{", 400),
        ([POST, JSON, b"Content-Length: 2"], b"\xff\xfe", 400),
        ([POST, JSON, b"Content-Length: 5000"], b"9" * 5000, 400),
        ([POST, JSON, b"Content-Length: 9000"], b"[" * 9000, 400),
        ([POST, JSON, b"Content-Length: 2"], b"{}", 200),
        ([POST, b"Content-Type: ;;=", b"Content-Length: 2"], b"{}", 415),
    ],
)
def test_an_answer_and_no_word(server, capfd, head, body, status):
    found = answered(server, head, body)
    assert found.split(b" ", 2)[1] == b"%d" % status
    assert capfd.readouterr() == ("", "")
    assert b" 200 " in answered(server, [b"GET /?token=TOKEN HTTP/1.1"])


def test_who_knows_the_token_can_prove_it(server, capfd):
    """To who does not say it; but under no other name, and to no page from elsewhere."""
    for nonce, text in ((b"nonce=abc", b"abc"), (b"", b""), (b"nonce=%C3%A9&nonce=x", b"x")):
        found = answered(server, [b"GET /hello?" + nonce + b" HTTP/1.1"])
        proof = hmac.new(server.token.encode(), text, "sha256").hexdigest()
        assert found.endswith(b'{"proof": "%s"}' % proof.encode())
    for line in (b"Origin: https://example.org", b"Host: example.org"):
        own = not line.startswith(b"Host")
        found = answered(server, [b"GET /hello?nonce=abc HTTP/1.1", line], own=own)
        assert b" 403 " in found
        assert b"proof" not in found
    assert b" 403 " in answered(server, [b"POST /hello?nonce=abc HTTP/1.1", JSON], b"{}")
    assert capfd.readouterr() == ("", "")


def test_a_request_without_a_version(server, capfd):
    """As HTTP 0.9 had it: no head, and so no host, which is refused."""
    assert b"by no other name" in answered(server, [b"GET /?token=TOKEN"], own=False)
    assert capfd.readouterr() == ("", "")


def test_what_goes_wrong_in_an_answer_is_a_line(server, capfd):
    assert answered(server, [b"GET /wrong?token=TOKEN HTTP/1.1"]) == b""
    sys.stderr.flush()
    out, err = capfd.readouterr()
    assert out == ""
    assert err == "kernbrook: a request to the page failed: ZeroDivisionError: division by zero\n"
