"""`TableEncoder` one row at a time, from its description; a row is a dict of Python values."""

from __future__ import annotations

import math
from datetime import date, datetime, timedelta

from sklearn.feature_extraction import FeatureHasher


class Encoder:
    """The columns in their order; categorical, dates: name -> levels, number or parts."""

    def __init__(self, columns, categorical=None, dates=None, missing="error"):
        self.columns = columns
        self.categorical = categorical or {}
        self.dates = dates or {}
        self.missing = missing
        self.seen = {name: [] for name in columns}  # the encoded values, where there was one

    def learn(self, row):
        values, holes = [], []
        for name in self.columns:
            found = self.encoded(name, row.get(name))
            holes.append(0.0 if found is not None else 1.0)
            values += self.filling(name) if found is None else found
            if found is not None:
                self.seen[name].append(found)
        return values + holes if self.missing == "indicator" else values

    def filling(self, name):
        assert self.missing != "error"
        before, width = self.seen[name], self.width(name)
        if not before:
            return [0.0] * width
        if self.missing == "last":
            return before[-1]
        totals = [0.0] * width
        for found in before:
            totals = [total + value for total, value in zip(totals, found, strict=True)]
        return [total / len(before) for total in totals]

    def width(self, name):
        if name in self.categorical:
            given = self.categorical[name]
            return given if isinstance(given, int) else len(given) + 1
        parts = self.dates.get(name)
        return 1 if parts is None else sum(1 if part == "days" else 2 for part in parts)

    def encoded(self, name, value):
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return None
        if name in self.categorical:
            given, text = self.categorical[name], str(value).strip()
            if isinstance(given, int):
                hasher = FeatureHasher(given, input_type="string")
                return hasher.transform([[text]]).toarray()[0].tolist()
            return [float(text == level) for level in given] + [float(text not in given)]
        if name in self.dates:
            return date_parts(value, self.dates[name])
        return [float(value)]


def date_parts(text, parts):
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is not None:
        moment = (moment - moment.utcoffset()).replace(tzinfo=None)
    midnight = datetime(moment.year, moment.month, moment.day)
    of_day = (moment - midnight) / timedelta(days=1)
    of_year = midnight.timetuple().tm_yday - 1 + of_day
    length = date(moment.year, 12, 31).timetuple().tm_yday
    shares = {
        "hour": of_day,
        "weekday": (moment.weekday() + of_day) / 7,
        "yearday": of_year / length,
    }
    values = []
    for part in parts:
        if part == "days":
            values.append((midnight - datetime(1970, 1, 1)).days + of_day)
        else:
            values += [
                math.sin(2 * math.pi * shares[part]),
                math.cos(2 * math.pi * shares[part]),
            ]
    return values
