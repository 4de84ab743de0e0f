"""The options that commands share: what each means, and what is wrong with them before any work."""

from __future__ import annotations

import json
import os
import re
import sys
import tomllib
from collections.abc import Container, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperCommand

from kernbrook.errors import InputError, UnknownNameError

MOST_SEED = 2**32 - 1  # that NumPy's older generators take

_DATA = typer.Argument(
    help="A file (CSV, Parquet, Arrow, JSON lines, ARFF, svmlight; plain, .gz, .bz2, .xz, .zst, "
    ".lz4), a folder of Parquet files, - for standard input, or a name: see `data`."
)
Data = Annotated[str, _DATA]
SeveralData = Annotated[list[str], _DATA]
Json = Annotated[
    Path | None, typer.Option("--json", help="Write the result as JSON; - for standard output.")
]
Jobs = Annotated[
    str | None,
    typer.Option(
        metavar="N|ADDRESS",
        help="Processes, one a core by default; or a Dask cluster: tcp://HOST:PORT, or local:N for "
        "one here.",
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
_SEED = "Seed of all that is drawn: orders, recipes, data{}."
Seed = Annotated[int, typer.Option(min=0, max=MOST_SEED, help=_SEED.format(""))]
GivenSeed = Annotated[
    int | None, typer.Option(min=0, max=MOST_SEED, help=_SEED.format("; 0 by default"))
]
Label = Annotated[
    str | None, typer.Option(help="A table's label column; else 'label', else the last.")
]
Learned = Annotated[Path, typer.Argument(help="A file that `train` or kb.save wrote.")]
LearnedLabel = Annotated[
    str | None, typer.Option(help="A table's label column; else the one that was learned.")
]
Categorical = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME[=A,B]",
        help="A table's column of levels, declared or hashed (NAME=hash:16); auto: those that "
        "seem to be some; repeatable.",
    ),
]
Dates = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME[=PARTS,FORMAT]",
        help="A table's column of dates: days,hour,weekday,yearday, a format such as %d.%m.%Y; "
        "auto: those that seem to be some; repeatable.",
    ),
]
Missing = Annotated[
    str | None,
    typer.Option(metavar="HOW", help="Gaps are an error, or filled by: mean, last or indicator."),
]
Table = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FILE|NAME=VALUE",
        help="How the data are read, and what a table's columns are: a TOML file, or one of its "
        "lines, as JSON or text; repeatable.",
    ),
]
OnBadRows = Annotated[
    str | None,
    typer.Option(
        metavar="error|skip",
        help="Rows of a table that cannot be read: an error, the default, or left out.",
    ),
]


# -- what describes the data -----------------------------------------------------------------------

READ: dict[str, Any] = {
    "label": str, "positive": str, "classes": list, "sep": str, "n_features": int,
    "max_bytes": int, "on_bad_rows": str, "ignore_extra": bool, "seed": int,
}  # fmt: skip
_KINDS = {str: "text", list: "labels", int: "a whole number", bool: "true or false"}
_MOST = {"n_features": 2**31 - 1, "max_bytes": 2**63 - 1, "seed": MOST_SEED}
_OF_COLUMNS = "categorical", "dates", "words", "lags", "drop"
_TEXTS = "label", "positive", "sep", "on_bad_rows", "missing", "decimal", "thousands"


class ModelOptions(NamedTuple):
    """A recipe, or None, with its parameters; and the seed of all that is drawn, where it is given.

    Examples
    --------
    >>> ModelOptions("spa", {"step": 0.5}, None).parameters()
    {'step': 0.5, 'random_state': 0}
    """

    recipe: str | None
    settings: dict[str, Any]
    seed: int | None

    def parameters(self, model: Any = None) -> dict[str, Any]:
        """Those that are set, and the seed, which is that of a model that is there if not given."""
        usual = getattr(model, "random_state", 0)
        return {**self.settings, "random_state": usual if self.seed is None else self.seed}


class DataOptions(NamedTuple):
    """How data are read.

    columns : the parameters of a `TableEncoder` that are given
    read : the others, by their names in `open_stream` and `open_like`, and `classes`
    """

    columns: dict[str, Any]
    read: dict[str, Any]

    @classmethod
    def of(
        cls, command: str, names: Iterable[str], table: list[str] | None, **given: Any
    ) -> DataOptions:
        """What `--table` says, and options beside it.

        command : its name
        names : those of READ that the command takes
        given : the values of other options, by the names in Python; None where they are not given
        """
        found: dict[str, Any] = {}
        for text in table or ():
            for name, value in _lines(text):
                _put(found, name, value, f"--table {text}")
        for name, value in given.items():
            if value not in (None, []):
                parsed = _parse_columns(name, value) if name in _OF_COLUMNS else value
                _put(found, name, parsed, f"--{name}")
        read = {name: found.pop(name) for name in READ if name in found}
        for name in read.keys() - set(names):
            raise InputError(f"{name}: does not go with `kernbrook {command}`")
        if found:
            from kernbrook.checks import check
            from kernbrook.streams.tables.encoder import TableEncoder

            check(TableEncoder(**found))
        return cls(found, read)

    def encoder(self) -> Any:
        if not self.columns:
            return None
        for name in ("delay", "every"):
            if name in self.columns and "lags" not in self.columns:
                raise InputError(f"{name}: goes with lags")
        from kernbrook.streams.tables.encoder import TableEncoder

        return TableEncoder(**self.columns)

    def check(self, path: Path, table: Any, *more: str, written: bool = False) -> None:
        """InputError where what is given is not as the `TableModel` in a file has it.

        more : of what is read what must be so besides the width and the positive class
        written : whether marks must be so, too
        """
        from kernbrook.evaluation.classes import named_classes
        from kernbrook.evaluation.training import check_same_columns

        given = {name: self.read.get(name) for name in ("n_features", "positive", *more)}
        check_same_columns(path, table, self.columns, given, written)
        if "classes" in self.read:
            named_classes(table.model, self.read["classes"])

    def alike(self) -> dict[str, Any]:
        """How data are opened that are as those of a model, as `open_like` takes it."""
        known = "n_features", "positive", "classes"
        read = {name: value for name, value in self.read.items() if name not in known}
        marks = {
            name: self.columns[name] for name in ("decimal", "thousands") if name in self.columns
        }
        columns = self.columns.get("dates", {}).items()
        formats = {column: part for column, parts in columns for part in parts if "%" in part}
        return {**read, "written": {**marks, **({"dates": formats} if formats else {})} or None}


def _lines(text: str) -> Iterator[tuple[str, Any]]:
    name, equals, value = text.partition("=")
    name = name.strip()
    if not equals or os.path.exists(text):
        try:
            with open(text, "rb") as file:
                yield from tomllib.load(file).items()
        except ValueError as error:
            raise InputError(f"--table {text}: expected TOML: {error}") from None
    elif name in _TEXTS or (name in (*_OF_COLUMNS, "classes") and value[:1] not in ("[", "{")):
        yield name, value
    else:
        yield name, as_value(value)


def _put(found: dict[str, Any], name: str, value: Any, where: str) -> None:
    """Take in one more value of a name; lists, and what is said by column, can have several."""
    if name not in (known := _known()):
        raise UnknownNameError("name in --table", name, known)
    value = _read(name, value, where) if name in READ else _by_name(name, value)
    before = found.setdefault(name, value)
    twice = [] if before == value else [name]
    if name == "drop" and isinstance(before, list) and isinstance(value, list):
        twice, found[name] = [], [*dict.fromkeys([*before, *value])]
    elif name != "lags" and isinstance(before, dict) and isinstance(value, dict):
        twice = [repr(key) for key in value if before.get(key, value[key]) != value[key]]
        found[name] = before | value
    if twice:
        raise InputError(f"{where}: {twice[0]} is declared twice: expected one of the two")


def _known() -> list[str]:
    from kernbrook.streams.tables.encoder import TableEncoder

    return [*TableEncoder.parameter_ranges, *READ]


def _read(name: str, value: Any, where: str) -> Any:
    """A value of one of READ, checked."""
    kind = READ[name]
    if kind is list and isinstance(value, str):
        value = labels(value)
    if type(value) is not kind:
        raise InputError(f"{where}: {name}: expected {_KINDS[kind]}, got {value!r:.60}")
    if kind is int and not (least := int(name != "seed")) <= value <= _MOST[name]:
        raise InputError(f"{where}: {name}: expected {least} to {_MOST[name]}, got {value}")
    return [str(label) for label in value] if kind is list else value


def _by_name(name: str, value: Any) -> Any:
    """What is said of columns as a dict by their names, whichever way it was said."""
    from kernbrook.streams.tables.declared import AUTO, HASHED, WORDS
    from kernbrook.streams.tables.values import CYCLES

    if isinstance(value, str) and name in _OF_COLUMNS:
        value = _parse_columns(name, [value])
    if name == "lags" and not isinstance(value, dict):
        return {None: [value] if isinstance(value, int) else value}
    usual = {"categorical": HASHED, "dates": list(CYCLES), "words": WORDS}
    if name not in usual or not isinstance(value, (list, dict)):
        return value
    columns = dict.fromkeys(map(str, value)) if isinstance(value, list) else value
    for column, declared in columns.items():
        if declared is None:
            columns[column] = AUTO if column == AUTO else usual[name]
        elif name == "dates" and isinstance(declared, str) and declared != AUTO:
            columns[column] = [declared]
    return columns


_IN_QUOTES = r'\s*+(?:"((?:[^"]|"")*+)"\s*+|([^{0}]*+))([{0}]|$)'
_LISTED = re.compile(_IN_QUOTES.format(",="))
_LISTED_VALUE = re.compile(_IN_QUOTES.format(","))


def _parse_columns(name: str, given: list[str]) -> Any:
    """What texts say of columns, in an option or in --table; None of a column that is but named."""
    if name == "drop":
        return listed(given[0])
    if name == "lags":
        label, equals, rows = given[0].rpartition("=")
        return {label if equals else None: [as_value(lag) for lag in rows.split(",")]}
    columns: dict[str, Any] = {}
    for column, values in (pair for text in given for pair in _declared(text)):
        declared: Any = values
        if name == "words" and values:
            declared = as_value(values[0])
        elif name == "categorical" and values and len(values) == 1 and values[0][:5] == "hash:":
            if not re.fullmatch(r"[0-9]{1,8}", values[0][5:]):
                expected = f"expected {column}=hash:N with a number, got {values[0]!r}"
                raise InputError(f"--categorical: {expected}")
            declared = int(values[0][5:])
        elif name == "dates" and column in columns:  # what is said of one is taken together
            columns[column] = declared = [*(columns[column] or ()), *(declared or ())] or None
        if columns.setdefault(column, declared) != declared:
            raise InputError(f"--{name}: {column!r} is declared twice: expected one of the two")
    return columns


def _declared(text: str) -> Iterator[tuple[str, list[str] | None]]:
    """Columns with what stands after =, or None."""
    named = _LISTED.match(text)
    assert named is not None  # nothing at all is a name
    if named[3] == "=":
        yield _name(named), listed(text[named.end() :])
    else:
        yield from ((column, None) for column in listed(text))


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


def as_toml(values: Mapping[str, Any]) -> str:
    """A TOML file with these values, a line each.

    Examples
    --------
    >>> print(as_toml({"missing": "mean", "categorical": {"day of week": ["sat", "sun"]}}), end="")
    missing = "mean"
    categorical = {"day of week" = ["sat", "sun"]}
    """

    def written(value: Any) -> str:
        if isinstance(value, Mapping):
            inner = (f"{written(str(name))} = {written(item)}" for name, item in value.items())
            return f"{{{', '.join(inner)}}}"
        if isinstance(value, (list, tuple)):
            return f"[{', '.join(map(written, value))}]"
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")

    return "".join(f"{name} = {written(value)}\n" for name, value in values.items())


# -- the others ------------------------------------------------------------------------------------


def workers(jobs: str | None) -> int | str | None:
    """What the library calls `jobs`."""
    if jobs is not None and re.fullmatch(r"-?[0-9]+", jobs):
        if int(jobs) < 1:
            raise InputError(f"--jobs: expected 1 process or more, got {jobs}")
        return int(jobs)
    return jobs


def check_outputs(outputs: Mapping[str, Path | None], inputs: Iterable[str] = ()) -> None:
    """InputError for what would fail after the work, or would cost somebody a file.

    outputs : files to be written, by the names of their options; None where none is wanted
    inputs : what is read: files, folders of Parquet files, names of data
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
    """Labels with commas between them."""
    if text is None:
        return None
    names = listed(text) if text else []
    for name in names:
        if name.startswith('"') and '"' + name.replace('"', '""') + '"' not in text:
            raise InputError(
                "classes: expected labels with commas between them, in double quotes where one "
                f"has a comma in it and its own quotes doubled, got {text!r:.60}"
            )
    return names


def parameters(given: list[str] | None) -> dict[str, Any]:
    """A recipe's parameters out of --set."""
    settings: dict[str, Any] = {}
    for text in given or []:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not (name and equals):
            raise InputError(f"--set: expected NAME=VALUE, got {text!r}")
        if name == "random_state":
            raise InputError("--set random_state: use --seed")
        parsed = as_value(value)
        if name in settings and settings[name] != parsed:
            raise InputError(f"--set {name}: it is given as {settings[name]!r:.40}, too")
        settings[name] = parsed
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


# -- names of --table as options -------------------------------------------------------------------


class Command(TyperCommand):
    """A command that takes each name of --table as an option, too, as messages write them."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        known = {option for param in self.get_params(ctx) for option in param.opts}  # --help, too
        found, left = list[str](), list(args)
        while left and left[0] != "--":
            word = left.pop(0)
            option, equals, value = word.partition("=")
            if option in known or not in_table(option, "", known):
                found.append(word)
                continue
            if option == "--ignore-extra":
                value = "true"
            elif not equals and left:
                value = left.pop(0)
            found += in_table(option, value, known)
        return super().parse_args(ctx, [*found, *left])


def in_table(option: str, value: str, known: Container[str]) -> list[str]:
    """The words of an option, also of a name of --table; none where a command takes neither.

    known : the options that the command has
    """
    if option in known:
        return [option, value]
    name = option.removeprefix("--").replace("-", "_")
    takes = option.startswith("--") and "--table" in known and name in _known()
    return ["--table", f"{name}={value}"] if takes else []
