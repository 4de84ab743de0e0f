"""The options that commands share, and what is wrong with them before any work."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any

import typer

from kernbrook.errors import InputError

MOST_SEED = 2**32 - 1  # that NumPy's older generators take
MOST_FEATURES = 2**31 - 1  # that a sparse matrix has columns for

_DATA = typer.Argument(
    help="A file (CSV, Parquet, Arrow, JSON lines, ARFF, svmlight; plain, .gz, .bz2, .xz, .zst), "
    "a folder of Parquet files, - for standard input, or a name: see `data`."
)
Data = Annotated[str, _DATA]
SeveralData = Annotated[list[str], _DATA]
MaxBytes = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="BYTES",
        help="The most text to read; else the limits are 256 MiB unpacked, or 100 times the file, "
        "and 16 GiB from a pipe.",
    ),
]
Json = Annotated[
    Path | None, typer.Option("--json", help="Write the result as JSON; - for standard output.")
]
Jobs = Annotated[int | None, typer.Option(min=1, help="Processes; one a core by default.")]
Scheduler = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="A Dask cluster instead of processes: tcp://HOST:PORT, or local:N for one here.",
    ),
]
Orders = Annotated[
    Path | None,
    typer.Option(help="The orders themselves: .npz of integer arrays (p, n), by data name."),
]
Report = Annotated[Path | None, typer.Option(help="Write a page with figures to this .html file.")]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="A parameter of the recipe, as JSON or text; repeatable.",
    ),
]
Budget = Annotated[
    int | None,
    typer.Option(min=1, help="Support vectors a kernel, for recipes with a budget."),
]
Seed = Annotated[
    int,
    typer.Option(
        min=0,
        max=MOST_SEED,
        help="Seed of all that is drawn: orders, recipes, data. A model made in Python has none.",
    ),
]
Positive = Annotated[
    str | None, typer.Option(help="This label against the rest, for data of many classes.")
]
Label = Annotated[
    str | None, typer.Option(help="A table's label column; else 'label', else the last.")
]
IgnoreExtra = Annotated[
    bool,
    typer.Option(
        "--ignore-extra", help="Leave out a table's columns that the model does not know."
    ),
]
Features = Annotated[
    int | None,
    typer.Option(min=1, max=MOST_FEATURES, help="Features of a svmlight file; else it is scanned."),
]


Sep = Annotated[
    str | None,
    typer.Option(metavar="CHARACTER", help="What parts a CSV file's values; else it is found."),
]
_IN_QUOTES = r'\s*+(?:"((?:[^"]|"")*+)"\s*+|([^{0}]*+))([{0}]|$)'
_LISTED = re.compile(_IN_QUOTES.format(",="))
_LISTED_VALUE = re.compile(_IN_QUOTES.format(","))
# Those that make a TableEncoder together, by its parameters.
_ENCODER: dict[str, Any] = {
    "categorical": Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[=A,B]",
            help="A table's column of levels, declared or hashed (NAME=hash:16); repeatable.",
        ),
    ],
    "dates": Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[=PARTS,FORMAT]",
            help="A table's column of dates: days,hour,weekday,yearday, a format such as %d.%m.%Y; "
            "repeatable.",
        ),
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
_WRITTEN = ("dates", "decimal", "thousands", "units")  # how values are written, not what they are


def takes_tables(command: Callable[..., None]) -> Callable[..., None]:
    """A command whose `encoder` comes from the options that make one; None where none is given.

    Or whose `written` comes from those that say how values are written, for `open_like`.
    """
    own = signature(command, eval_str=True)
    shown: list[Parameter] = []
    takes: dict[str, tuple[str, ...]] = {"encoder": (*_ENCODER,), "written": _WRITTEN}
    for parameter in own.parameters.values():
        if parameter.name in takes:
            name, options = parameter.name, takes[parameter.name]
            shown += [parameter.replace(name=k, annotation=_ENCODER[k]) for k in options]
        else:
            shown.append(parameter)
    make = _encoder if name == "encoder" else _as_written

    @wraps(command)
    def run(**given: Any) -> None:
        command(**{name: make(**{option: given.pop(option) for option in options})}, **given)

    run.__signature__ = own.replace(parameters=shown)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in shown}
    return run


def _encoder(
    categorical: list[str] | None,
    dates: list[str] | None,
    drop: list[str] | None,
    missing: str | None,
    decimal: str | None,
    thousands: str | None,
    units: list[str] | None,
) -> Any:
    if not (categorical or dates or drop or units) and missing is decimal is thousands is None:
        return None
    from kernbrook.checks import check
    from kernbrook.streams.table_encoder import HASHED, TableEncoder
    from kernbrook.streams.written_numbers import check_marks

    levels: dict[str, Any] = {}
    for name, values in _declared(categorical):
        levels[name] = HASHED if values is None else values
        if values is not None and len(values) == 1 and values[0].startswith("hash:"):
            columns = values[0].removeprefix("hash:")
            if not (columns.isascii() and columns.isdigit() and len(columns) < 9):
                raise InputError(
                    f"--categorical: expected {name}=hash:N with a number, got {values[0]!r}"
                )
            levels[name] = int(columns)
    dropped = [name for text in drop or [] for name in _listed(text)]
    encoder = TableEncoder(
        levels, _dates(dates), dropped, missing or "error", decimal or ".", thousands, _units(units)
    )
    check(encoder)
    check_marks(encoder.decimal, thousands)
    return encoder


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


def _dates(given: list[str] | None) -> dict[str, list[str]]:
    """Parts and formats by column; of one that is named twice together."""
    from kernbrook.streams.column_problems import CYCLES

    columns: dict[str, list[str]] = {}
    for name, values in _declared(given):
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
            yield _name(named), _listed(text[named.end() :])
        else:
            yield from ((one, None) for one in _listed(text))


def _listed(text: str) -> list[str]:
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


def workers(jobs: int | None, scheduler: str | None) -> int | str | None:
    """What the library calls `jobs`."""
    if jobs is not None and scheduler is not None:
        raise InputError("--jobs, --scheduler: expected one of them, got both")
    return jobs if scheduler is None else scheduler


def check_outputs(outputs: Mapping[str, Path | None], inputs: Iterable[str] = ()) -> None:
    """Refuse now what would fail after the work, or would cost somebody a file.

    Parameters
    ----------
    outputs : files to be written, by the names of their options; None where none is wanted
    inputs : what is read: files, folders of Parquet files, names of data

    Raises
    ------
    InputError
        A file cannot be written, is to be written twice, or is one of those that are read.
    """
    from kernbrook.atomic import check_writable
    from kernbrook.streams.opening import place_of

    read = [os.path.realpath(place_of(name)) for name in inputs if name != "-"]
    written: dict[Path, str] = {}
    for option, path in outputs.items():
        if path is not None and str(path) == "-" and sys.stdout is None:
            raise InputError(f"{option}: standard output is closed")
        if path is None or str(path) == "-":
            continue
        if option == "--report" and path.suffix.lower() not in (".html", ".htm"):
            raise InputError(f"--report: expected a name that ends in .html, got {path}")
        target = check_writable(path)
        if target in written:
            raise InputError(f"{written[target]}, {option}: expected two files, got {path} twice")
        written[target] = option
        for place in read:
            same = target.exists() and os.path.exists(place) and os.path.samefile(target, place)
            inside = target.suffix == ".parquet" and target.is_relative_to(place)
            if same or inside:
                raise InputError(f"{option}: {path} is read by this command, and would be replaced")


def labels(text: str | None) -> list[str] | None:
    """Labels with commas between them, as --classes has them."""
    if text is None:
        return None
    names = _listed(text) if text else []
    for name in names:
        if name.startswith('"') and '"' + name.replace('"', '""') + '"' not in text:
            raise InputError(
                "--classes: expected labels with commas between them, in double quotes where one "
                f"has a comma in it and its own quotes doubled, got {text!r:.60}"
            )
    return names


def parameters(given: list[str] | None, budget: int | None = None) -> dict[str, Any]:
    """A recipe's parameters out of --set and --budget."""
    settings: dict[str, Any] = {}
    for text in given or []:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not (name and equals):
            raise InputError(f"--set: expected NAME=VALUE, got {text!r}")
        if name == "random_state":
            raise InputError("--set random_state: use --seed")
        settings[name] = as_value(value)
    if budget is not None:
        settings["budget"] = budget
    return settings


def as_value(text: str) -> Any:
    """A JSON value, a number or None where it is written like one, else the text."""
    word = text.lower()
    if word in ("none", "true", "false"):
        return {"none": None, "true": True, "false": False}[word]
    for reading in (json.loads, float):
        try:
            return reading(text)
        except (ValueError, RecursionError):
            continue
    return text
