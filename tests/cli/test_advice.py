"""What a message advises is done, and then it works: each kind of value that offices write."""

from __future__ import annotations

import re
import shlex

import numpy as np
import pytest

pandas = pytest.importorskip("pandas")
MAJORITY = ["--recipe", "majority", "--label", "y"]
_WAY = re.compile(r"\(--(\w+)[ =]((?:'[^']*'|\"[^\"]*\"|\\.|[^()\s'\"])+(?: or [^\s()]+=[^\s()]+)*)\)")


def ways_of(message):
    """The ways that a message shows, each a list of options and values, and what they replace."""
    told = message.rsplit("; ", 1)[-1].replace("mean, last or indicator", "mean")
    ways = []
    for text in re.split(r"(?<=[)s]) or (?!mend)|, or |mend it", told):
        options = _WAY.findall(text)
        if not options:
            continue
        name, value = options[0]
        values = value.split(" or ") if name == "dates" else [value]
        for one in values:
            given = [(name, shlex.split(one)[0]), *((k, shlex.split(v)[0]) for k, v in options[1:])]
            ways.append((given, "no thousands" in text, "in place of dates" in text))
    return ways


def followed(given, way):
    """The same command with the advice; a mark is said once, a column declared once."""
    options, no_thousands, in_place_of_dates = way
    given = list(given)
    gone = {name for name, _ in options if name in ("decimal", "thousands", "missing")}
    gone |= {"thousands"} if no_thousands else set()
    gone |= {"dates"} if in_place_of_dates or "dates" in dict(options) else set()
    for name in gone:
        while f"--{name}" in given:
            at = given.index(f"--{name}")
            del given[at : at + 2]
    for name, value in options:
        given += [f"--{name}", value]
    return given


def csv(path, values, quote=True):
    rows = "".join(f'"{v}",{i % 3},{"no" if i % 2 else "yes"}\n' for i, v in enumerate(values))
    path.write_text(f"a,b,y\n{rows}", encoding="utf-8")


BAD = {
    "1,200": 2, "1,5": 1, "1.234,50": 1, "1.234.567": 1, "1'234.50": 1, "1\u2019234": 1,
    "1 234,5": 1, "1\u202f234,5": 1, "1\u00a0234": 1, "1,00,000": 1, "1,234,567.5": 1,
    "12 %": 3, "12%": 3, "12,5 %": 3, "€ 1.234,50": 3, "$1,200.00": 3, "5 EUR": 3, "EUR 5": 3,
    "CHF 1'200.00": 3, "($1,200.00)": 3, "12 kg": 3, "(1,200)": 2, "1.234,50-": 1, "25 °C": 3,
    "x": 2, "24. Dez. 2025": 2, "2024-W52-3": 2,
    "24.12.2025": 2, "12/24/2025": 2, "2012/01/01": 2, "2012/01/01 10:30": 2, "2024-1-5": 2,
    "2024-01-31 12:00:00 UTC": 2, "2024-01-31T12:00:00.123456789": 2, "24.12.25": 2,
    "2024-01-31T12:00:00.1234567Z": 2, "2024-01-31 12:00:00+00": 2, "24 Dec 2025": 2,
    "December 24, 2025": 2, "12/24/2025, 1:30:00 PM": 2, "14:30": 3, "24-12-2025 14:30": 2,
    "24-Dec-25": 2, "Wed, 24 Dec 2025 10:00:00 +0100": 2,
}  # fmt: skip


@pytest.mark.parametrize("value", BAD)
def test_the_advice_of_train(kernbrook, tmp_path, value):
    csv(tmp_path / "t.csv", [value] * 4)
    given = ["train", "t.csv", "--model", "m", "--overwrite", *MAJORITY]
    code, _, err = kernbrook(*given)
    assert code == 1, err
    ways = ways_of(err.strip())
    assert len(ways) == BAD[value], err
    for way in ways:
        code, _, err = kernbrook(*followed(given, way))
        assert code == 0, (way, err)


@pytest.mark.parametrize("value", ["", "NA"])
def test_the_advice_for_gaps(kernbrook, tmp_path, value):
    csv(tmp_path / "t.csv", ["1", value])
    given = ["train", "t.csv", "--model", "m", "--overwrite", *MAJORITY]
    code, _, err = kernbrook(*given)
    ways = ways_of(err.strip())
    assert (code, len(ways)) == (1, 2), err
    for way in ways:
        assert kernbrook(*followed(given, way))[0] == 0
