"""Options of tables: what columns become, and how values are written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import typer

from kernbrook.errors import InputError

_IN_QUOTES = r'\s*+(?:"((?:[^"]|"")*+)"\s*+|([^{0}]*+))([{0}]|$)'
_LISTED = re.compile(_IN_QUOTES.format(",="))
_LISTED_VALUE = re.compile(_IN_QUOTES.format(","))
# Those that make a TableEncoder together, by its parameters.
OF_ENCODER: dict[str, Any] = {
    "categorical": Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[=A,B]",
            help="A table's column of levels, declared or hashed (NAME=hash:16); auto: those that "
            "seem to be some; repeatable.",
        ),
    ],
    "dates": Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[=PARTS,FORMAT]",
            help="A table's column of dates: days,hour,weekday,yearday, a format such as %d.%m.%Y; "
            "auto: those that seem to be some; repeatable.",
        ),
    ],
    "words": Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[=N]",
            help="A table's column of text: words and pairs of words, hashed to 262,144 columns or "
            "to N; repeatable.",
        ),
    ],
    "lags": Annotated[
        list[str] | None,
        typer.Option(
            metavar="[NAME=]1,24",
            help="How many rows back labels are columns, too, as far as they are known; of another "
            "column by its name; repeatable.",
        ),
    ],
    "delay": Annotated[
        int | None,
        typer.Option(min=0, help="Of --lags: rows that come between a row and its label."),
    ],
    "labels_every": Annotated[
        int | None,
        typer.Option(min=1, help="Of --lags: labels come in batches, after each so many rows."),
    ],
    "drop": Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A table's column to leave out; repeatable."),
    ],
    "missing": Annotated[
        str | None,
        typer.Option(
            metavar="HOW", help="Gaps are an error, or filled by: mean, last or indicator."
        ),
    ],
    "decimal": Annotated[
        str | None,
        typer.Option(metavar="MARK", help="A comma, where numbers have one for a point."),
    ],
    "thousands": Annotated[
        str | None,
        typer.Option(metavar="MARK", help="What is between groups of digits: . , ' or blank."),
    ],
    "units": Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=UNIT",
            help="What is beside the numbers of a table's column, such as % or EUR; repeatable.",
        ),
    ],
}
OF_LAGS = "lags", "delay", "labels_every"
WRITTEN = ("dates", "decimal", "thousands", "units")  # how values are written, not what they are


def columns_of(**given: Any) -> dict[str, Any]:
    """Parameters of a TableEncoder: of those options that are given, by their names."""
    read = {
        "categorical": _levels, "dates": _dates, "units": _units, "words": _words, "lags": _lags,
        "drop": lambda texts: [name for text in texts for name in listed(text)],
    }  # fmt: skip
    return {
        {"labels_every": "every"}.get(name, name): read.get(name, lambda value: value)(value)
        for name, value in given.items()
        if value not in (None, [])
    }


def encoder_of(columns: Mapping[str, Any]) -> Any:
    """The encoder with these parameters, checked; None where none is given."""
    if not columns:
        return None
    from kernbrook.checks import check
    from kernbrook.streams.tables.encoder import TableEncoder
    from kernbrook.streams.tables.written_numbers import check_marks

    encoder = TableEncoder(**columns)
    check(encoder)
    check_marks(encoder.decimal, encoder.thousands)
    return encoder


def _levels(given: list[str]) -> dict[str, Any]:
    """Levels, or numbers of columns to hash to, by column."""
    from kernbrook.streams.tables.declarations import AUTO, HASHED

    levels: dict[str, Any] = {}
    for name, values in _declared_once("categorical", given).items():
        levels[name] = HASHED if values is None else values
        if values is None and name == AUTO:
            levels[name] = AUTO
        if values is not None and len(values) == 1 and values[0].startswith("hash:"):
            levels[name] = _number(
                "categorical", f"{name}=hash:N with a number", values[0], "hash:"
            )
    return levels


def _words(given: list[str]) -> dict[str, int]:
    """Numbers of columns to hash words to, by column."""
    from kernbrook.streams.tables.declarations import WORDS

    return {
        name: WORDS
        if values is None
        else _number("words", f"{name}=N with a number", ",".join(values))
        for name, values in _declared_once("words", given).items()
    }


def _lags(given: list[str]) -> dict[str | None, list[int]]:
    """Numbers of rows by column; None stands for the label."""
    lags: dict[str | None, list[int]] = {}
    for name, values in _declared(given):
        column = None if values is None else name
        numbers = [name] if values is None else values
        expected = "numbers of rows, such as 1,24, or NAME=1,24"
        lags.setdefault(column, []).extend(_number("lags", expected, text) for text in numbers)
    return lags


def _number(option: str, expected: str, text: str, before: str = "") -> int:
    """The number that stands after some letters."""
    digits = text.removeprefix(before)
    if not (digits.isascii() and digits.isdigit() and len(digits) < 9):
        raise InputError(f"--{option}: expected {expected}, got {text!r}")
    return int(digits)


def as_written(columns: Mapping[str, Any]) -> dict[str, Any] | None:
    """What `TableEncoder.rewritten` takes of an encoder's parameters; None where that is nothing.

    Of dates the formats; who knows their parts need not say them.
    """
    formats = {
        name: part for name, own in columns.get("dates", {}).items() for part in own if "%" in part
    }  # fmt: skip
    marks = {name: columns.get(name) for name in ("decimal", "thousands", "units")}
    found = {**marks, "dates": formats}
    return found if any(found.values()) else None


def check_formats(columns: Mapping[str, Any]) -> None:
    """InputError where more is said of a column of dates than a format."""
    for name, own in columns.get("dates", {}).items():
        if len(own) != 1 or "%" not in own[0]:
            raise InputError(
                f"--dates: expected {name}=FORMAT, such as %d.%m.%Y; the model knows the parts"
            )


def _dates(given: list[str]) -> dict[str, Any]:
    """Parts and formats by column; of one that is named twice together."""
    from kernbrook.streams.tables.column_problems import CYCLES
    from kernbrook.streams.tables.declarations import AUTO

    columns: dict[str, Any] = {}
    for name, values in _declared(given):
        if values is None and name == AUTO:
            columns[name] = AUTO
        else:
            columns.setdefault(name, []).extend(values or ())
    return {name: values or list(CYCLES) for name, values in columns.items()}


def _units(given: list[str]) -> dict[str, str]:
    units = {}
    for name, values in _declared_once("units", given).items():
        if values is None or len(values) != 1:
            raise InputError(f"--units: expected {name}=UNIT, such as {name}=EUR")
        units[name] = values[0]
    return units


def _declared(given: list[str]) -> Iterator[tuple[str, list[str] | None]]:
    """Columns with what stands after =, or None."""
    for text in given:
        named = _LISTED.match(text)
        assert named is not None  # nothing at all is a name
        if named[3] == "=":
            yield _name(named), listed(text[named.end() :])
        else:
            yield from ((one, None) for one in listed(text))


def _declared_once(option: str, given: list[str]) -> dict[str, list[str] | None]:
    """The same by column; InputError where one of them is declared twice, not alike."""
    declared: dict[str, list[str] | None] = {}
    for name, values in _declared(given):
        if declared.setdefault(name, values) != values:
            raise InputError(f"--{option}: {name!r} is declared twice: expected one of the two")
    return declared


def listed(text: str) -> list[str]:
    """What stands between commas; as it is in double quotes, where these are doubled in it."""
    names, place, more = [], 0, True
    while more:
        found = _LISTED_VALUE.match(text, place)
        assert found is not None
        names.append(_name(found))
        place, more = found.end(), found[3] == ","
    return names


def _name(found: re.Match[str]) -> str:
    return found[2].strip() if found[1] is None else found[1].replace('""', '"')
