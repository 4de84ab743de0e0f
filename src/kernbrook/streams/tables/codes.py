"""Columns of numbers that seem to be codes: a postal code, an account, a hash of digits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from kernbrook.streams.records import Records, Wanted, quoted, without_gaps
from kernbrook.streams.tables import written_dates
from kernbrook.streams.tables.column_kinds import plain
from kernbrook.streams.tables.column_problems import CYCLES, date_option, option
from kernbrook.streams.tables.label_column import CODE
from kernbrook.streams.tables.left_out_rows import BadRows

HASHED = 32  # columns for levels that are many
_POWER = r"^[+-]?[1-9][0-9]+[eE][0-9]+$"  # programs write 7.3e5, or 7.3e+05
_LEAST_ROWS, _LEAST_DIGITS = 20, 5


class Code(NamedTuple):
    """What makes a column of numbers one of codes, in words.

    has_zeros : whether digits come after a 0, which no program writes before a number
    """

    column: str
    told: str
    has_zeros: bool

    def sentence(self) -> str:
        """The same with the option that helps."""
        return f"column {quoted(self.column)}: {self.told}"


def codes_of(records: Records, columns: Sequence[str], decimal: str) -> list[Code]:
    """Those of some columns of numbers that seem to be codes, by the first rows of a table."""
    wanted = Wanted(columns, decimal, refused=BadRows.silently, ignores=True)
    batch = next(iter(records.batches(wanted)), None) if columns else None
    if batch is None:
        return []
    found = [_code(name, batch.table.column(name)) for name in columns]
    return [code for code in found if code is not None]


def _code(name: str, array: Any) -> Code | None:
    import pyarrow as pa
    from pyarrow import compute

    array, kind = plain(array)
    if pa.types.is_integer(kind):
        text = array.drop_null().cast(pa.string())
    elif pa.types.is_string(kind):
        text = without_gaps(array).drop_null()
    else:
        return None
    way = option("categorical", name, f"=hash:{HASHED}")
    for pattern, is_zero in ((CODE, True), (_POWER, False)):
        place = compute.index(compute.match_substring_regex(text, pattern), True).as_py()
        if place >= 0:
            value = text[place].as_py()
            told = f"{quoted(value)} is read as the number {float(value):g}; a code? {way}"
            return Code(name, told, is_zero)
    digits = np.unique(compute.utf8_length(text).to_numpy(zero_copy_only=False))
    if len(text) < _LEAST_ROWS or len(digits) > 1 or digits[0] < _LEAST_DIGITS:
        return None
    values = text.unique()
    whole = compute.all(compute.match_substring_regex(values, "^[0-9]+$")).as_py()
    if not whole or len(values) < 2 or compute.all(compute.ends_with(values, "0")).as_py():
        return None
    formats = written_dates.formats_left(values, written_dates.formats_of(values[0].as_py()))
    ways = [date_option(name, CYCLES, formats), way] if formats else [way]
    kinds = "dates, or codes" if formats else "codes"
    told = f"whole numbers of {digits[0]} digits each, as {quoted(values[0].as_py())}; {kinds}? "
    return Code(name, told + " or ".join(ways), False)
