"""Options of tables: what columns become, and how values are written."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import wraps
from inspect import Parameter, signature
from typing import Annotated, Any

import typer

from kernbrook.errors import InputError

_IN_QUOTES = r'\s*+(?:"((?:[^"]|"")*+)"\s*+|([^{0}]*+))([{0}]|$)'
_LISTED = re.compile(_IN_QUOTES.format(",="))
_LISTED_VALUE = re.compile(_IN_QUOTES.format(","))
# Those that make a TableEncoder together, by its parameters.
_ENCODER: dict[str, Any] = {
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
_OF_LAGS = "lags", "delay", "labels_every"
_WRITTEN = ("dates", "decimal", "thousands", "units")  # how values are written, not what they are


def takes_tables(command: Callable[..., None], lags: bool = True) -> Callable[..., None]:
    """A command whose `encoder` comes from the options that make one; None where none is given.

    Or whose `written` comes from those that say how values are written, for `open_like`.

    lags : whether the rows of the command come in the order in which their labels do
    """
    own = signature(command, eval_str=True)
    shown: list[Parameter] = []
    of_encoder = tuple(option for option in _ENCODER if lags or option not in _OF_LAGS)
    takes = {"encoder": of_encoder, "written": _WRITTEN}
    for parameter in own.parameters.values():
        if parameter.name in takes:
            name, options = parameter.name, takes[parameter.name]
            more = [option for option in options if option not in own.parameters]
            shown += [parameter.replace(name=k, annotation=_ENCODER[k]) for k in more]
        else:
            shown.append(parameter)
    make = _encoder if name == "encoder" else _as_written

    @wraps(command)
    def run(**given: Any) -> None:
        if given.get("lags") is None:
            for option in (one for one in _OF_LAGS[1:] if one in more):
                if given[option] is not None:
                    raise InputError(f"--{option.replace('_', '-')}: goes with --lags")
        made = make(**{option: given[option] for option in options})
        command(**{name: made}, **{k: v for k, v in given.items() if k not in more})

    run.__signature__ = own.replace(parameters=shown)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in shown}
    return run


def _encoder(**given: Any) -> Any:
    """The encoder that the options make, by their names; None where none is given."""
    late = given.pop("delay", None) or 0, given.pop("labels_every", None) or 1
    if not any(given.values()):
        return None
    from kernbrook.checks import check
    from kernbrook.streams.tables.encoder import TableEncoder
    from kernbrook.streams.tables.written_numbers import check_marks

    encoder = TableEncoder(
        _levels(given["categorical"]),
        _dates(given["dates"]),
        [name for text in given["drop"] or [] for name in listed(text)],
        given["missing"] or "error",
        given["decimal"] or ".",
        given["thousands"],
        _units(given["units"]),
        _words(given["words"]),
        _lags(given.get("lags")),
        *(late if given.get("lags") else ()),
    )
    check(encoder)
    check_marks(encoder.decimal, encoder.thousands)
    return encoder


def _levels(given: list[str] | None) -> dict[str, Any]:
    """Levels, or numbers of columns to hash to, by column."""
    from kernbrook.streams.tables.declarations import AUTO, HASHED

    levels: dict[str, Any] = {}
    for name, values in _declared(given):
        levels[name] = HASHED if values is None else values
        if values is None and name == AUTO:
            levels[name] = AUTO
        if values is not None and len(values) == 1 and values[0].startswith("hash:"):
            levels[name] = _number(
                "categorical", f"{name}=hash:N with a number", values[0], "hash:"
            )
    return levels


def _words(given: list[str] | None) -> dict[str, int]:
    """Numbers of columns to hash words to, by column."""
    from kernbrook.streams.tables.declarations import WORDS

    return {
        name: WORDS
        if values is None
        else _number("words", f"{name}=N with a number", ",".join(values))
        for name, values in _declared(given)
    }


def _lags(given: list[str] | None) -> dict[str | None, list[int]] | None:
    """Numbers of rows by column; None stands for the label."""
    lags: dict[str | None, list[int]] = {}
    for name, values in _declared(given):
        column = None if values is None else name
        numbers = [name] if values is None else values
        expected = "numbers of rows, such as 1,24, or NAME=1,24"
        lags.setdefault(column, []).extend(_number("lags", expected, text) for text in numbers)
    return lags or None


def _number(option: str, expected: str, text: str, before: str = "") -> int:
    """The number that stands after some letters."""
    digits = text.removeprefix(before)
    if not (digits.isascii() and digits.isdigit() and len(digits) < 9):
        raise InputError(f"--{option}: expected {expected}, got {text!r}")
    return int(digits)


def _as_written(
    dates: list[str] | None,
    decimal: str | None,
    thousands: str | None,
    units: list[str] | None,
) -> dict[str, Any] | None:
    """What `TableEncoder.rewritten` takes; None where nothing is given."""
    formats: dict[str, str] = {}
    for name, values in _dates(dates).items():
        if len(values) != 1 or "%" not in values[0]:
            raise InputError(
                f"--dates: expected {name}=FORMAT, such as %d.%m.%Y; the model knows the parts"
            )
        formats[name] = values[0]
    given = {"decimal": decimal, "thousands": thousands, "units": _units(units), "dates": formats}
    return given if any(given.values()) else None


def _dates(given: list[str] | None) -> dict[str, Any]:
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


def _units(given: list[str] | None) -> dict[str, str]:
    units = {}
    for name, values in _declared(given):
        if values is None or len(values) != 1:
            raise InputError(f"--units: expected {name}=UNIT, such as {name}=EUR")
        units[name] = values[0]
    return units


def _declared(given: list[str] | None) -> Iterator[tuple[str, list[str] | None]]:
    """Columns with what stands after =, or None."""
    for text in given or []:
        named = _LISTED.match(text)
        assert named is not None  # nothing at all is a name
        if named[3] == "=":
            yield _name(named), listed(text[named.end() :])
        else:
            yield from ((one, None) for one in listed(text))


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
