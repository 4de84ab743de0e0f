"""The svmlight format, one line at a time, by Python's own `float`."""

import re

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
INTEGER = re.compile(r"[+-]?\d+", re.ASCII)


class BadLineError(Exception):
    """A line that is not in the format."""

    def __init__(self, line: int):
        self.line = line
        super().__init__(f"line {line}")


def number(text: str, line: int) -> float:
    if not NUMBER.fullmatch(text):
        raise BadLineError(line)
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise BadLineError(line)
    return value


def parse(text: str, width: int = 2**31 - 1) -> tuple[list[float], list[list[tuple[int, float]]]]:
    """The labels, and for each row its (index from 0, value) pairs.

    Raises
    ------
    BadLineError
        The first line that is not in the format, counted from 1.
    """
    labels, rows = [], []
    for line, whole in enumerate(text.split("\n"), start=1):
        tokens = whole.partition("#")[0].split()
        if not tokens:
            continue
        labels.append(number(tokens[0], line))
        if INTEGER.fullmatch(tokens[0]) and int(tokens[0]) != labels[-1]:
            raise BadLineError(line)
        row: list[tuple[int, float]] = []
        for token in tokens[1:]:
            if token.startswith("qid:"):
                continue
            index, colon, value = token.partition(":")
            if not (colon and index.isascii() and index.isdigit()):
                raise BadLineError(line)
            previous = row[-1][0] + 1 if row else 0
            if not previous < int(index) <= width:
                raise BadLineError(line)
            row.append((int(index) - 1, number(value, line)))
        rows.append(row)
    return labels, rows
