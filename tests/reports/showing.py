"""What a reader sees: a table on a terminal, a figure, a page."""

from __future__ import annotations

import io
import re
from collections import Counter
from html.parser import HTMLParser

from rich.console import Console

from kernbrook.reports import rendered

VOID = {"meta", "br", "img", "hr", "link", "input"}


def printed(table, width=80, **options):
    """On a terminal of this width, which it never exceeds."""
    stream = io.StringIO()
    Console(file=stream, width=width, **options).print(rendered(table, width))
    text = stream.getvalue()
    assert "\x1b" in text or max(map(len, text.splitlines())) <= width
    return text


def squeezed(table, width=80):
    """Its lines, one blank between words."""
    return [" ".join(line.split()) for line in printed(table, width).splitlines()]


def painted(figure):
    figure.savefig(io.BytesIO(), format="png")
    return figure


def labels(figure):
    """The names in the legend."""
    return [text.get_text() for text in figure.legends[0].get_texts()]


def drawn(axes):
    """The lines over data, without leaders and lines right across."""
    return [line for line in axes.lines if line.get_transform() == axes.transData]


class Page(HTMLParser):
    """Collects tags, attributes and text; notes tags that do not close in order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.attributes, self.words, self.wrong = [], Counter(), [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.handle_startendtag(tag, attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags[tag] += 1
        self.attributes += [(tag, name, value) for name, value in attrs]

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)

    def handle_data(self, data):
        self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())


def check(text):
    """A page that is well-formed and loads nothing."""
    page = Page(text)
    assert page.wrong == []
    assert page.open == []
    assert not {"script", "img", "link", "iframe", "object"} & set(page.tags)
    ids = [value for _, name, value in page.attributes if name == "id"]
    assert len(ids) == len(set(ids))
    for _, name, value in page.attributes:
        assert not name.startswith("on")
        assert name in ("aria-label", "xmlns", "xmlns:xlink") or "http" not in (value or "")
        if name in {"href", "src", "xlink:href"}:
            assert value.startswith("#")
            assert value[1:] in ids
        for reference in re.findall(r"url\((.*?)\)", value or ""):
            assert reference[1:] in ids
    assert "@import" not in text
    assert "<?xml" not in text
    assert "default-src 'none'; style-src 'unsafe-inline'" in text
    return page
