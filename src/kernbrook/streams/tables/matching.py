"""The columns of a table beside those that a model knows: by name, in any order."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from kernbrook.streams.records import quoted

_NAMED = 5  # columns, in a message


class Match(NamedTuple):
    """What a model and a table do not have in common, and what is done about it.

    Attributes
    ----------
    missing : columns of the model that the table does not have, which are gaps
    extra : columns of the table that the model does not know, which are left out
    problem : why the table is refused, in a sentence; empty where it is taken
    """

    missing: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    problem: str = ""

    def told(self, rows: int) -> list[str]:
        """What is done about the columns of a table of so many rows, a sentence each.

        Examples
        --------
        >>> Match(("temp",), ("new", "more")).told(1200)
        ["no column 'temp': filled as gaps, in 1,200 rows", "left out 2 columns: 'new', 'more'"]
        """
        parts = []
        if self.missing:
            what = "column" if len(self.missing) == 1 else f"{len(self.missing)} columns, such as"
            parts.append(f"no {what} {_listed(self.missing)}: filled as gaps, in {rows:,} rows")
        if self.extra:
            what = "1 column" if len(self.extra) == 1 else f"{len(self.extra)} columns"
            parts.append(f"left out {what}: {_listed(self.extra)}")
        return parts


def match_columns(
    wanted: Sequence[str],
    found: Sequence[str],
    known: Collection[str] = (),
    fills: bool = False,
    ignore_extra: bool = False,
) -> Match:
    """Find the columns of a model in a table: the one rule for files, frames and records.

    Parameters
    ----------
    wanted : columns that the model learns from
    found : columns of the table, without the label
    known : columns that the model has seen and does not learn from
    fills : whether the model fills gaps: a column that is not there is then one of gaps
    ignore_extra : whether columns that the model does not know are left out

    Examples
    --------
    >>> match_columns(["a", "b"], ["b", "id", "a"], known=["id"])
    Match(missing=(), extra=(), problem='')
    >>> match_columns(["a", "b"], ["b", "c"], fills=True, ignore_extra=True)[:2]
    (('a',), ('c',))
    >>> print(match_columns(["a", "b"], ["b", "c"], fills=True).problem)
    the model's features are not the columns here: missing 'a', unknown 'c'; ignore_extra \
(--ignore-extra) leaves out what is unknown
    """
    there, seen = set(found), {*wanted, *known}  # a wide file has very many
    missing = tuple(name for name in wanted if name not in there)
    extra = tuple(name for name in found if name not in seen)
    if missing and len(missing) == len(wanted):
        helps = "none of them is here"
    elif missing and not fills:
        helps = "a model that is trained with missing (--missing mean, ...) fills such gaps"
    elif extra and not ignore_extra:
        helps = "ignore_extra (--ignore-extra) leaves out what is unknown"
    else:
        return Match(missing, extra)
    pairs = (("missing", missing), ("unknown", extra))
    differs = ", ".join(f"{what} {_listed(names)}" for what, names in pairs if names)
    told = f"the model's features are not the columns here: {differs}; {helps}"
    return Match(missing, extra, told)


def _listed(names: Sequence[str]) -> str:
    more = ", ..." if len(names) > _NAMED else ""
    return ", ".join(map(quoted, names[:_NAMED])) + more
