"""Tables as people have them as rows of numbers, of a width that is known from the start."""

from __future__ import annotations

import math
import warnings
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import TransformerMixin
from sklearn.exceptions import NotFittedError

from kernbrook.checks import COUNTED, OneOf, Other, Whole, check, shown
from kernbrook.errors import InputError, KernbrookWarning
from kernbrook.snapshots import Snapshots
from kernbrook.streams import limits
from kernbrook.streams.arrow import (
    FrameRecords,
    eager,
    labels_as_arrow,
    to_arrow,
)
from kernbrook.streams.records import quoted
from kernbrook.streams.tables.arrow_encoder import ArrowEncoder
from kernbrook.streams.tables.date_columns import described_dates
from kernbrook.streams.tables.declarations import (
    declared_lags,
    declared_levels,
    declared_moments,
    declared_names,
    declared_words,
    is_auto,
)
from kernbrook.streams.tables.surveys import taken_of
from kernbrook.streams.tables.written_numbers import (
    DECIMALS,
    THOUSANDS,
    check_thousands,
    declared_units,
)
from kernbrook.turns import in_turn

MISSING = ("error", "mean", "last", "indicator")
_STATES = {"mean": ("totals", "counts"), "last": ("last",), "error": ()}
_STATES["indicator"] = _STATES["mean"]
# What descriptions of models of 0.1 do not have.
_BEFORE: dict[str, Any] = {
    "thousands": None, "units": {}, "words": {}, "lags": [], "delay": 0, "every": 1, "label": None,
    "rules": 1, "zones": {},
}  # fmt: skip


class TableEncoder(Snapshots, TransformerMixin, ArrowEncoder):
    """Frames with text, dates and gaps as rows of numbers, encoded as they come.

    Columns of numbers stay as they are; so is text that is written as a number. What else a column
    becomes is declared, so that the width follows from the names of the columns alone: a level or a
    gap that first comes after a million rows changes nothing but its own row.

    A row is filled by the rows before it: results do not depend on how rows are cut into chunks.

    Parameters
    ----------
    categorical : list or dict, the columns of levels, or "auto"
        By name the list of levels: a column of 0 and 1 for each, and one more for all others. Or by
        name a number of columns that levels are hashed to, with a sign, as scikit-learn's
        FeatureHasher does it; of a list of names 16 each. See the notes. "auto", alone or in the
        list, or {"auto": "auto"} in the dict: also the columns of text that have levels, it seems
    dates : list or dict, the columns of moments: dates, timestamps, or text such as 2024-01-31; or
        "auto", as `categorical` has it
        By name the list of parts: "days" since 1970 as a number; "hour", "weekday", "yearday", how
        far the day, the week and the year are, as sine and cosine. Of a list of names these three.
        Hours are those of the zone that a column of Arrow or pandas has, else of UTC. In the list
        may stand the format of text, as `strptime` takes it, such as "%d.%m.%Y", or alone in place
        of the list; "%s" and "%Q" count seconds and milliseconds since 1970. When a stream of a
        table is opened, a common format of a column is found.
    drop : list, the columns to leave out
    missing : "error", "mean", "last" or "indicator"
        What is missing is an error, or becomes the mean of its column so far, or the last value,
        0 before there was any; of a categorical column and a date those of each encoded column.
        "indicator": the mean, and one more column for each input column, 1 where it was missing.
    decimal : "." or ",", the mark before the fraction of numbers that come as text
    thousands : None, ".", ",", "'" or " ", the mark between groups of digits of such numbers
    units : dict, by name what stands beside the numbers of a column that come as text: "EUR", "kg"
        "%" means hundredths: 12 % is 0.12
    words : list or dict, the columns of text of which words and pairs of words are hashed
        As scikit-learn's HashingVectorizer does it, to 262,144 columns each, or by name to so many;
        single letters, emoji and each character of Chinese and Japanese are words, too. Rows are
        then CSR. Text that is missing has no words.
    lags : list or dict, of how many rows back values are columns, too
        A list means labels; a dict says it by column of numbers, by its own name of the label's. A
        label that is not known yet is the last one known; see the notes.
    delay, every : how late labels come, for `lags`: after so many more rows, in batches of so many

    Attributes
    ----------
    feature_names_in_, n_features_in_ : the columns seen by `fit`, also those that are dropped
    taken_ : dict, what "auto" has taken: by column what it becomes
    columns_ : list of the columns that are encoded
    totals_, counts_ : (d,) sums and numbers of the values so far, before the columns of "indicator"
    last_ : (d,) the last value of each column

    Raises
    ------
    InputError
        A parameter is not what was expected, a column is not declared as what it is, or a value is
        missing; column and row are named.
    UnknownNameError
        A column is declared that is not there.

    Notes
    -----
    `learn` encodes rows, each by those before it, which are then known. `transform` encodes each
    row as if it came next, and changes nothing.

    Two cells are one level where they are one value, however it is written. Numbers go by value:
    1, 1.0 and 1e0 are one level, as text and as numbers of any type; a float of 32 bits is the
    number with the fewest digits that it is written with. true, True and TRUE are one level. All
    other text is itself, without blanks around it. A cell is the declared level that has its text,
    else the one that has its value: so "01" and "1" are two levels where both are declared. Digits
    after a 0, such as 007, are hashed as they stand.

    Lags count rows in the order in which they are learned. Before the first row, values are the
    mean of those known so far, 0 before there is one. `transform` takes its rows for those that
    come next, one after the other, and knows no label of theirs. Of text the levels of the label
    are declared, and each has its lags.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import kernbrook as kb
    >>> rows = pa.table({"age": [30, None, 40], "sex": ["f", "m", "f"], "name": ["a", "b", "c"]})
    >>> encoder = kb.TableEncoder({"sex": ["f", "m"]}, drop=["name"], missing="mean")
    >>> encoder.learn(rows)
    array([[30.,  1.,  0.,  0.],
           [30.,  0.,  1.,  0.],
           [40.,  1.,  0.,  0.]])
    >>> encoder.get_feature_names_out().tolist()
    ['age', 'sex=f', 'sex=m', 'sex=other']
    >>> encoder.transform(pa.table({"age": [None], "sex": ["x"]}))
    array([[35.,  0.,  0.,  1.]])
    """

    parameter_ranges: ClassVar = {
        "categorical": Other(
            "None, a list of columns, or a dict of lists of levels and numbers of columns",
            lambda value: declared_levels(value),
        ),
        "dates": Other(
            "None, a list of columns, or a dict of lists of days, hour, weekday, yearday, a format",
            lambda value: declared_moments(value),
        ),
        "drop": Other("None or a list of columns", lambda value: declared_names("drop", value)),
        "missing": OneOf(MISSING),
        "decimal": OneOf(DECIMALS),
        "thousands": Other(f"None, {THOUSANDS}", lambda value: check_thousands(value)),
        "units": Other("None, or a dict of columns and units", lambda value: declared_units(value)),
        "words": Other("None, a list of columns, or a dict of them and widths", declared_words),
        "lags": Other("None, a list of numbers, or a dict of columns and such", declared_lags),
        "delay": Whole(0),
        "every": Whole(),
    }

    def __init__(
        self,
        categorical: Any = None,
        dates: Any = None,
        drop: Any = None,
        missing: str = "error",
        decimal: str = ".",
        thousands: str | None = None,
        units: Any = None,
        words: Any = None,
        lags: Any = None,
        delay: int = 0,
        every: int = 1,
    ):
        self.categorical = categorical
        self.dates = dates
        self.drop = drop
        self.missing = missing
        self.decimal = decimal
        self.thousands = thousands
        self.units = units
        self.words = words
        self.lags = lags
        self.delay = delay
        self.every = every

    @in_turn
    def fit(self, X: Any, y: Any = None) -> TableEncoder:
        """Forget what was learned, and learn from a frame, and its labels where lags need them."""
        check(self)
        self._begun_with(eager(X), y)
        self.learn(X, y)
        return self

    @in_turn
    def partial_fit(self, X: Any, y: Any = None) -> TableEncoder:
        """Learn from one more frame, after what was learned before."""
        self.learn(X, y)
        return self

    @in_turn
    def learn(self, X: Any, y: Any = None) -> Any:
        """(n, d) the rows, each filled by those before it; then they are known."""
        frame = eager(X)
        if not hasattr(self, "columns_"):
            self._begun_with(frame, y)
        return self._said(self.learn_arrow(self._arrow(frame), labels=self._labels(y, len(frame))))

    @in_turn
    def transform(self, X: Any) -> Any:
        """(n, d) each row as if it came next; nothing changes."""
        self._check_fitted()
        return self._said(self.transform_arrow(self._arrow(eager(X))))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """(d,) the names of the encoded columns, such as "sex=male"."""
        self._check_fitted()
        names = [name for column in self._encoded.columns for name in column.names]
        names += self._lags.names
        if self.missing == "indicator":
            names += [f"{column.column} missing" for column in self._encoded.columns]
        names += [name for words in self._encoded.words for name in words.names]
        return np.array(names, dtype=object)

    def sources(self) -> list[str]:
        """(d,) of each encoded column the column of the table that it is made of."""
        self._check_fitted()
        names = [column.column for column in self._encoded.columns for _ in column.names]
        names += self._lags.sources
        if self.missing == "indicator":
            names += [column.column for column in self._encoded.columns]
        return names + [words.column for words in self._encoded.words for _ in range(words.width)]

    def _begun_with(self, frame: Any, y: Any) -> None:
        """Take the columns of a frame, and what "auto" takes them for."""
        check(self)
        taken = None
        if is_auto(self.categorical) or is_auto(self.dates):
            taken = taken_of(self, FrameRecords(frame, "X"), frame.columns)
        self.begin(frame.columns, None, taken)

    def _check_fitted(self) -> None:
        """NotFittedError where not even the columns are known."""
        if hasattr(self, "columns_"):
            return
        told = "TableEncoder is not fitted: it has not seen a table"
        if "_given" in vars(self):
            told = (
                "TableEncoder is not fitted: the stream that it was given to has a copy, which "
                "learns the rows as they are read: transform with stream.encoder once the stream "
                "was read, or fit this one"
            )
        raise NotFittedError(told)

    def _said(self, rows: Any) -> Any:
        """The rows; how numbers in them were read is said once."""
        for name, problem in self._encoded.seen.odd.items():
            if name in self._said_of:
                continue
            self._said_of.add(name)
            warnings.warn(KernbrookWarning(f"X: column {quoted(name)}: {problem}"), stacklevel=3)
        return rows

    def _labels(self, y: Any, rows: int) -> Any:
        """Labels (n,) for lags as an Arrow array; None where none are wanted."""
        if not self.lags_of_label:
            return None
        if y is None:
            raise InputError("y: expected labels, for their lags")
        labels = labels_as_arrow(y)
        if len(labels) != rows:
            raise InputError(f"X has {rows} rows, y has {len(labels)}")
        return labels

    def _arrow(self, frame: Any) -> Any:
        names, known = set(frame.columns), set(self.feature_names_in_)
        for name in self.columns_:
            if name not in names:
                raise InputError(f"X: expected a column {quoted(name)}, found none")
        for name in frame.columns:
            if name not in known:
                raise InputError(f"X: found a column {quoted(str(name))} that `fit` did not see")
        return to_arrow(frame.select(self.columns_), self.decimal)

    def __dir__(self) -> list[str]:
        """What is for users; not what streams and files ask for."""
        inner = {*vars(ArrowEncoder), "described", "from_description", "sources"}
        return sorted({*super().__dir__()} - {name for name in inner if name[0] != "_"})

    def described(self) -> dict[str, Any]:
        """What is declared and what was learned, as plain JSON; `from_description` reads it."""
        said = self.declarations()
        state: dict[str, Any] = {
            name: getattr(self, f"{name}_").tolist() for name in _STATES[self.missing]
        }
        if self.lags is not None:
            state["lags"] = self._lags.state()
        return {
            "categorical": {k: v if isinstance(v, int) else [*v] for k, v in said.levels.items()},
            "dates": described_dates(said.dates),
            "drop": list(said.drop),
            "missing": self.missing,
            "decimal": self.decimal,
            "thousands": self.thousands,
            "units": dict(said.units),
            "words": dict(said.words),
            "lags": [[name, [*own]] for name, own in declared_lags(self.lags).items()],
            "delay": self.delay,
            "every": self.every,
            "label": self.label if self.lags_of_label else None,
            "rules": self._rules,
            "zones": dict(self._zones),
            "columns": self.feature_names_in_.tolist(),
            "state": state,
        }

    @classmethod
    def from_description(cls, described: Any) -> TableEncoder:
        """The encoder that was described.

        Raises
        ------
        InputError
            It is no description that `described` gives.
        """
        expected = {*cls.parameter_ranges, "label", "columns", "state", "rules", "zones"}
        held = {**_BEFORE, **described} if isinstance(described, dict) else {}
        if held.keys() != expected:
            raise InputError(f"encoder: expected {', '.join(sorted(expected))}")
        columns, state, label = (held.pop(name) for name in ("columns", "state", "label"))
        text = isinstance(columns, list) and all(isinstance(name, str) for name in columns)
        if not text or not 0 < len(set(columns)) == len(columns) <= limits.MOST_COLUMNS:
            raise InputError(f"encoder: expected names of columns, each once, got {shown(columns)}")
        if not isinstance(label, str | None):
            raise InputError(f"encoder: expected the name of a label, got {shown(label)}")
        rules, zones = held.pop("rules"), held.pop("zones")
        held["lags"] = _lags_of(held["lags"])
        encoder = cls(**held)
        if rules not in (1, cls._rules):
            raise InputError(f"encoder: expected rules 1 or {cls._rules}, got {shown(rules)}")
        encoder._rules = rules
        encoder.begin(columns, label, goes_on=True)
        dates = encoder.declarations().dates
        if not (
            isinstance(zones, dict)
            and all(map(_is_zone, zones.values()))
            and zones.keys() <= dates.keys()
        ):
            raise InputError(f"encoder: expected zones of dates, got {shown(zones)}")
        encoder._zones.update(zones)
        names = _STATES[encoder.missing] + (("lags",) if encoder.lags is not None else ())
        if not isinstance(state, dict) or state.keys() != set(names):
            raise InputError(f"encoder: no state of missing={encoder.missing!r}: {shown(state)}")
        if "lags" in state:
            encoder._lags.restore(state["lags"])
        for name in _STATES[encoder.missing]:
            values, kind = state[name], int if name == "counts" else float
            width = len(encoder.totals_)
            fits = isinstance(values, list) and len(values) == width
            if not (fits and all(type(v) is kind and abs(v) < math.inf for v in values)):
                raise InputError(f"encoder: expected {width} numbers as {name}")
            if kind is int and not all(0 <= value <= COUNTED for value in values):
                raise InputError("encoder: expected numbers of values as counts")
            setattr(encoder, f"{name}_", np.array(values, dtype=kind))
        if (encoder.totals_[encoder.counts_ == 0] != 0).any():
            raise InputError("encoder: expected totals of 0 where counts are 0")
        return encoder


def _is_zone(given: Any) -> bool:
    """Whether it is the name of a zone that Arrow knows."""
    import pyarrow as pa
    from pyarrow import compute

    if not isinstance(given, str):
        return False
    try:
        compute.local_timestamp(pa.array([0], pa.timestamp("us", given)))
    except pa.ArrowException:
        return False
    return True


def _lags_of(given: Any) -> dict[str | None, list[int]] | None:
    """Lags by column, as a parameter; None where there are none."""
    pairs = isinstance(given, list) and all(isinstance(p, list) and len(p) == 2 for p in given)
    if not pairs or not all(isinstance(name, str | None) for name, _ in given):
        raise InputError(f"encoder: expected lags by column, got {shown(given)}")
    return dict(given) or None
