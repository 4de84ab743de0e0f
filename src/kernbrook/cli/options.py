"""The options that commands share, and what is wrong with them before any work."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from kernbrook.cli.table_options import listed
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
Recipe = Annotated[
    str | None, typer.Option(help="One of `kernbrook recipes`; else ours for the labels.")
]
Budget = Annotated[
    int | None,
    typer.Option(min=1, help="Support vectors a kernel, for recipes with a budget."),
]
_SEED = "Seed of all that is drawn: orders, recipes, data{}. A model made in Python has none."
Seed = Annotated[int, typer.Option(min=0, max=MOST_SEED, help=_SEED.format(""))]
GivenSeed = Annotated[
    int | None, typer.Option(min=0, max=MOST_SEED, help=_SEED.format("; 0 by default"))
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
LearnedLabel = Annotated[
    str | None, typer.Option(help="A table's label column; else the one that was learned.")
]
Features = Annotated[
    int | None,
    typer.Option(min=1, max=MOST_FEATURES, help="Features of a svmlight file; else it is scanned."),
]


Sep = Annotated[
    str | None,
    typer.Option(metavar="CHARACTER", help="What parts a CSV file's values; else it is found."),
]
OnBadRows = Annotated[
    str,
    typer.Option(
        metavar="error|skip", help="Rows of a table that cannot be read: an error, or left out."
    ),
]


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
    names = listed(text) if text else []
    for name in names:
        if name.startswith('"') and '"' + name.replace('"', '""') + '"' not in text:
            raise InputError(
                "--classes: expected labels with commas between them, in double quotes where one "
                f"has a comma in it and its own quotes doubled, got {text!r:.60}"
            )
    return names


def parameters(given: list[str] | None, budget: int | None = None) -> dict[str, Any]:
    """A recipe's parameters out of --set and --budget."""
    settings: dict[str, Any] = {} if budget is None else {"budget": budget}
    for text in given or []:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not (name and equals):
            raise InputError(f"--set: expected NAME=VALUE, got {text!r}")
        if name == "random_state":
            raise InputError("--set random_state: use --seed")
        own = as_value(value)
        if name in settings and settings[name] != own:
            raise InputError(f"--set {name}: it is given as {settings[name]!r:.40}, too")
        settings[name] = own
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
