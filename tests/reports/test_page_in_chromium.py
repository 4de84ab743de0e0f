"""Report pages in Chromium: text stays text, and on a phone all can be reached and read."""

from __future__ import annotations

import chromium
import pytest

from kernbrook.reports.page import Page, Section, write_page
from kernbrook.reports.plot import Line, Panel, Plot, pens_of
from kernbrook.reports.table import Column, Table

pytestmark = pytest.mark.slow
SCRIPT = "<script>hit()</script>"
LINK = "<img src=x onerror=hit()>"


@pytest.fixture(scope="module")
def browser():
    with chromium.started() as browser:
        yield browser


def shown(path):
    """A page with a figure, and a table that is wider than a phone."""
    names = (f"a name {SCRIPT}", LINK, "third")
    columns = [Column("what", names, kind="text")]
    columns += [Column(f"measure {i} {SCRIPT}", (0.5, 1.5, 2.5), "{:.9f}".format) for i in range(6)]
    drawn = pens_of(names)
    ends = zip(names, (0.3, 1.3, 2.3), strict=True)
    lines = [Line(name, (0, 1, 2), (end, 0.2, 0.1), drawn[name]) for name, end in ends]
    plot = Plot([Panel(lines, x_label="rounds", y_label=LINK)], drawn)
    sections = (
        Section(f"Results {LINK}", f"Text {SCRIPT}", table=Table(tuple(columns), notes=(SCRIPT,))),
        Section("Figure", plot=plot),
    )
    write_page(Page(f"Page {SCRIPT}", sections, LINK, SCRIPT), path)
    return path.as_uri()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone(tmp_path, browser, scheme):
    address = shown(tmp_path / "report.html")
    with chromium.tab_of(browser, own=("file:",), color_scheme=scheme) as tab:
        tab.add_init_script("window.hits = 0; window.hit = () => { window.hits += 1; };")
        tab.goto(address)
        assert tab.title() == tab.locator("h1").inner_text() == f"Page {SCRIPT}"
        assert tab.evaluate("document.querySelectorAll('script, img, body b').length") == 0
        assert tab.evaluate("window.hits") == 0
        assert tab.locator("td").first.inner_text() == f"a name {SCRIPT}"
        assert LINK in tab.locator("svg").text_content()
        assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
        table, figure = tab.locator(".wide").all()
        assert table.evaluate("one => one.scrollWidth > one.clientWidth")
        table.evaluate("one => { one.scrollLeft = 9999; }")
        first = tab.locator("td").first.bounding_box()
        assert first["x"] >= 0  # it says which row it is, wherever the table is
        assert first["width"] < 0.6 * chromium.PHONE["width"]
        letters = figure.evaluate(
            "one => Math.min(...[...one.querySelectorAll('text')].map("
            "text => text.getBoundingClientRect().height))"
        )
        assert letters > 7
        colours = tab.evaluate(
            "(one => [one.backgroundColor, one.color])(getComputedStyle(document.body))"
        )
        dark = [sum(map(int, one[4:-1].split(","))) < 384 for one in colours]
        assert dark == ([True, False] if scheme == "dark" else [False, True])
