"""Pages: one HTML file each, without scripts, nothing loaded from elsewhere."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any

from kernbrook.atomic import write_text
from kernbrook.reports.plot import Bars, Plot, draw, svg
from kernbrook.reports.table import Column, Table
from kernbrook.reports.words import plain

WIDTH = 92  # characters of a table that a page has room for


@dataclass(frozen=True)
class Section:
    """A part of a page: a heading and, each if present, a text, a figure, a table with its notes.

    Attributes
    ----------
    heading : short
    text : one paragraph above the rest
    plot : drawn as SVG; `heading` is what a screen reader says of it
    table : its title is left out
    """

    heading: str
    text: str = ""
    plot: Plot | Bars | None = None
    table: Table | None = None


@dataclass(frozen=True)
class Page:
    """A page of a report.

    Attributes
    ----------
    title, subtitle, summary : a heading, a line below it, a paragraph below that
    sections : in their order

    Examples
    --------
    >>> from kernbrook.reports import Page, Section
    >>> page = Page("Two weeks", (Section("Monday", "400 rows."), Section("Tuesday", "420 rows.")))
    >>> [section.heading for section in page.sections]
    ['Monday', 'Tuesday']
    """

    title: str
    sections: tuple[Section, ...]
    subtitle: str = ""
    summary: str = ""


def write_page(page: Page, path: str | PathLike[str]) -> None:
    """Write a page as one HTML file, whole or not at all; the same page gives the same bytes.

    Parameters
    ----------
    page : what to write
    path : the file, in an existing folder

    Raises
    ------
    InputError
        if the file cannot be written, or a figure has nothing to draw.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from kernbrook.reports import Page, Section
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "page.html"
    ...     write_page(Page("Two weeks", (Section("Monday", "400 rows."),)), path)
    ...     "400 rows." in path.read_text("utf-8")
    True
    """
    from importlib.resources import files

    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    source = files("kernbrook.reports").joinpath("page.html.jinja").read_text("utf-8")
    tables = [part.table.within(WIDTH) if part.table else Table(()) for part in page.sections]
    parts = [
        {
            "section": section,
            "table": table,
            "rows": table.lines()[0],
            "headers": table.headers(),
            "strong": table.emphasised(),
            # The only markup not escaped by the template: made by an XML serialiser.
            "svg": Markup(svg(draw(section.plot), f"f{place}", section.heading))
            if section.plot is not None
            else "",
        }
        for place, (section, table) in enumerate(zip(page.sections, tables, strict=True), start=1)
    ]
    write_text(path, environment.from_string(source).render(page=page, parts=parts))


def again(*manifests: Mapping[str, Any]) -> Section:
    """How to run it again: the manifest, one line an entry, nested names joined by dots.

    Of several data sets, what is the same for all has one line, and all else one for each.
    """
    flat = [dict(_flat(plain(dict(manifest)))) for manifest in manifests]
    same = {key: value for key, value in flat[0].items() if all(value == o.get(key) for o in flat)}
    entries = [*same.items()]
    for run in flat:
        whose = f"{run['data']}: " if "data" in run else ""
        entries += [(whose + key, run[key]) for key in run if key not in {*same, "data"}]
    if not entries:
        return Section("How to run it again", "No manifest was recorded with this run.")
    columns = (
        Column("what", tuple(key for key, _ in entries), kind="text"),
        Column("value", tuple(value for _, value in entries), kind="long"),
    )
    return Section(
        "How to run it again",
        "With the same command, versions, seed and data the numbers are the same, but for the "
        "seconds.",
        table=Table(columns),
    )


def _flat(value: Any, name: str = "") -> list[tuple[str, str]]:
    if isinstance(value, dict):
        return [
            pair
            for key, item in value.items()
            for pair in _flat(item, f"{name}.{key}" if name else str(key))
        ]
    return [(name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))]
