"""What all cases of the fuzz share: odd values, changes of bytes, and what counts as a finding."""

from __future__ import annotations

import os
import traceback
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from kernbrook.errors import KernbrookError, UndeclaredColumnsError

Case = Callable[[np.random.Generator, Path], str]  # in an empty folder; ACCEPTED or REFUSED
ACCEPTED, REFUSED = "accepted", "refused"
ODD_NUMBERS = [
    *(0, -1, 1, 2, 3, 7, 255, 2**31 - 1, 2**31, 2**53 + 1, 2**62, 2**63, 10**30),
    *(0.0, -0.0, 0.5, 1.5, -2.5, 5e-324, 1e-320, 1e-300, 1e100, 1e154, 1e300, 1e308, -1e308),
    *(np.nan, np.inf, -np.inf),
]
ODD = [
    *(*ODD_NUMBERS, None, True, False, "", "x", "margin", "é", "\x00", b"x", [], [1], ["a"]),
    *({}, {"a": 1}, (), (1, 2), 1 + 2j, object(), np.array(3), np.arange(3.0)),
    *(np.array(["x"]), np.float32(0.5), np.int8(3), np.True_, range(3)),
]


def generator(seed: int, area: str, number: int) -> np.random.Generator:
    """The draws of one case: the same wherever it runs."""
    return np.random.default_rng([seed, zlib.crc32(area.encode()), number])


def one_of(rng: np.random.Generator, choices: Any) -> Any:
    return choices[int(rng.integers(len(choices)))]


@contextmanager
def said_in_a_line() -> Iterator[list[str]]:
    """What is refused goes into the list; it must be an error of ours, of one line that prints.

    Or of scikit-learn, whose checks of X and y are ours too.
    """
    refused: list[str] = []
    try:
        yield refused
    except UndeclaredColumnsError as error:  # a line for each column
        refused += str(error).splitlines()
    except KernbrookError as error:
        refused.append(str(error))
    except (TypeError, ValueError) as error:
        raised_in = traceback.extract_tb(error.__traceback__)[-1].filename
        if f"{os.sep}sklearn{os.sep}utils{os.sep}" not in raised_in:
            raise
        refused.append(" ".join(str(error).split()))
    for said in refused:
        assert said, "nothing is said"
        assert said.isprintable(), repr(said)
        assert len(said) < 2000, said[:2000]


def changed(rng: np.random.Generator, data: bytes, tokens: list[bytes], times: int) -> bytes:
    """Some bytes, changed here and there: cut, copied, flipped, and odd tokens put in.

    A token takes the place of what stands between two separators, or is put in anywhere.
    """
    for _ in range(times):
        a = int(rng.integers(len(data) + 1))
        b = min(len(data), a + int(rng.integers(1, 30)))
        token = one_of(rng, tokens)
        match int(rng.integers(7)):
            case 0:
                data = data[:a] + data[b:]
            case 1:
                data = data[:b] + data[a:]
            case 2 if a < len(data):
                data = data[:a] + bytes([data[a] ^ (1 << int(rng.integers(8)))]) + data[a + 1 :]
            case 3 if rng.random() < 0.2:
                data = data[:a]
            case 4:
                data = data[:a] + token + data[a:]
            case _:
                a, b = (around(data, a), around(data, a, ahead=True))
                data = data[:a] + token + data[b:]
    return data


def around(data: bytes, place: int, ahead: bool = False) -> int:
    """Where the word at a place begins; where it ends, if `ahead`."""
    separators = b" :,\n\r\t"
    if ahead:
        while place < len(data) and data[place] not in separators:
            place += 1
    else:
        while place > 0 and data[place - 1] not in separators:
            place -= 1
    return place
