"""Pages: well-formed, self-contained, escaped, repeatable, written whole."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import numpy as np
import pytest
from reports.showing import check
from reports.synthetic import stored

from kernbrook.papers import published
from kernbrook.reports import Column, Line, Page, Panel, Plot, Section, Table, write_page
from kernbrook.reports.page import WIDTH, again
from kernbrook.reports.plot import pens_of

HOSTILE = '<img src="http://evil.example/x" onerror=alert(1)>&amp;"\''
# Of pages of each kind; every one has the numbers and how to run it again.
SECTIONS = {
    "amkl-figure-3": ["Error over time"],
    "bomkl-figure-1": ["The cap on a9a", "The divisor on a9a"],
    "bpegasos-figure-2": ["Accuracy on waveform"],
}  # fmt: skip


@pytest.fixture
def target(tmp_path):
    return tmp_path / "report.html"


def written(page, target):
    write_page(page, target)
    text = target.read_text("utf-8")
    return check(text), text


def simple(name="x"):
    pens = pens_of([name])
    plot = Plot([Panel([Line(name, (1, 2), (3, 4), pens[name])])], pens)
    columns = (
        Column("name", (name, "b"), kind="text"),
        Column("x", (9.5, None), group=name),
        Column("", (0.25, 1.0), kind="bar"),
        Column("code", (name, name), kind="code"),
    )
    table = Table(columns, (name, name), frozenset({1}), (f"note {name}",), "no title")
    sections = (Section(f"one {name}", f"text {name}", plot, table), Section("two"))
    return Page(f"title {name}", sections, f"line {name}", f"paragraph {name}")


def test_the_parts_of_a_page(target):
    page, text = written(simple(), target)
    for part in ("title x", "line x", "paragraph x", "one x", "text x", "note x", "two", "9.5"):
        assert part in page.text
    assert "no title" not in page.text
    assert "http" not in re.sub(r'http-equiv|xmlns(:xlink)?="[^"]*"', "", text)
    assert (page.tags["svg"], page.tags["table"], page.tags["h2"]) == (1, 1, 2)
    assert "width: 25.00%" in text
    assert text.count('<tr class="strong">') == 2  # the group's name, and the strong row
    assert 'aria-label="one x"' in text
    assert os.listdir(target.parent) == ["report.html"]


def test_hostile_names_are_text(target):
    page, _ = written(simple(HOSTILE), target)
    assert page.text.count(HOSTILE) >= 9
    page, _ = written(simple("{{ 7 * 7 }}"), target)
    assert "title {{ 7 * 7 }}" in page.text


def test_how_to_run_it_again():
    manifest = {"seed": np.int64(0), "versions": {"numpy": "2.4"}, "command": 'x "y"', "a": [1, 2]}
    names, values = (column.values for column in again(manifest).table.columns)
    assert names == ("seed", "versions.numpy", "command", "a")
    assert values == ("0", "2.4", 'x "y"', "[1, 2]")
    assert again({}).table is None
    assert "No manifest" in again({}).text


@pytest.mark.parametrize("table", ["omkc-table-3", *SECTIONS])
def test_every_published_table_has_a_page(target, table):
    results, wanted = stored(table), published(table)
    page, text = written(wanted.as_page(results), target)
    sections = SECTIONS.get(table, ["Ours against print"])
    for heading in (*sections, "The numbers", "How to run it again"):
        assert f"<h2>{heading}</h2>" in text
    assert page.tags["svg"] == len(sections)
    assert page.tags["h2"] == len(sections) + 2
    shown = wanted.as_table(results).within(WIDTH)
    for part in (wanted.heading, wanted.title, *shown.notes, f"kernbrook reproduce {table}"):
        assert " ".join(part.split()) in page.text
    for row in shown.lines()[0]:
        for cell in row:
            assert " ".join(cell.split()) in page.text
    first = target.read_bytes()
    write_page(wanted.as_page(results), target)
    assert target.read_bytes() == first


def test_the_import_is_light_and_pyplot_stays_out(tmp_path):
    code = (
        "import sys, kernbrook.reports as r\n"
        "heavy = {'matplotlib', 'rich', 'jinja2'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
        "from reports.synthetic import make_comparison\n"
        "r.write_report(make_comparison(('omkc-dd',)), sys.argv[1])\n"
        "assert 'matplotlib.figure' in sys.modules and 'matplotlib.pyplot' not in sys.modules\n"
    )
    path = [entry for entry in sys.path if entry]
    subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = {path!r}\n{code}", tmp_path / "r.html"],
        check=True,
    )
