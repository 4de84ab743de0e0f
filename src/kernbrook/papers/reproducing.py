"""The papers' tables again: printed value, our value, difference."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kernbrook.checks import each_name
from kernbrook.errors import InputError, UnknownNameError
from kernbrook.evaluation.comparing import manifest
from kernbrook.evaluation.parallel import Jobs
from kernbrook.evaluation.warming import Reporter
from kernbrook.papers import amkl, bomkl, bpegasos, omkc, vkr
from kernbrook.papers.published import Announce, Job, Plan, Published, origin
from kernbrook.results import Results

PUBLISHED: dict[str, Published] = {
    table.name: table for paper in (omkc, bomkl, bpegasos, amkl, vkr) for table in paper.PUBLISHED
}
_REFUSALS = {  # argument -> order -> why it does not go with that
    "orders": {
        "drawn": "{} draws its own",
        "own": "{} takes the rows in the data's own order",
    },
    "rows": {"given": "{} runs on all rows of its data"},
}


def tables() -> tuple[str, ...]:
    """The names of all tables and figures that `reproduce` runs.

    Examples
    --------
    >>> tables()[:4]
    ('omkc-table-3', 'omkc-table-4', 'omkc-table-5', 'omkc-figure-4')
    """
    return tuple(PUBLISHED)


def published(table: str) -> Published:
    """A table or figure by its name.

    Parameters
    ----------
    table : one of `tables()`

    Raises
    ------
    UnknownNameError
        There is none of that name.

    Examples
    --------
    >>> import kernbrook as kb
    >>> first = kb.papers.published("omkc-table-3").printed()[0]
    >>> first.title, first.data, first.number("error")
    ('Perceptron', 'ionosphere', 26.82)
    """
    if table not in PUBLISHED:
        raise UnknownNameError("table", table, PUBLISHED)
    return PUBLISHED[table]


def reproduce(
    table: str,
    data: str | Sequence[str] | None = None,
    permutations: int | None = None,
    seed: int = 0,
    orders: str | Path | None = None,
    jobs: Jobs = None,
    announce: Announce | None = None,
    rows: int | None = None,
    compiling: Reporter | None = None,
) -> Results:
    """Run a published table on every data set that is present.

    Parameters
    ----------
    table : one of `tables()`
    data : names of data sets of that table, in a list or in a text with commas; by default all
        that are built in or lie in the folder KERNBROOK_DATA
    permutations : as many as in the paper by default, 20, 10 or 5; 5 for bomkl-figure-1, 1 for
        the figures of bpegasos. For amkl the draws of the random features, 5 by default; for vkr
        of the folds, 1 by default
    seed : of the stochastic recipes, and of the orders where the authors' own are not known
    orders : .npz file of orders by data name; by default, for the tables of the OMKC paper, the
        file omkc_permutations.npz of the folder KERNBROOK_DATA, where it is present
    jobs : as `compare` has it; always 1 where times are compared
    announce : called with each data set's name and number of rounds to come; gives what is
        called as they are done
    rows : examples to learn from at most, for bpegasos, amkl and vkr only: to try it out
    compiling : as `compare` has it

    Raises
    ------
    UnknownNameError
        No such table, or no such data set in it.
    InputError
        None of its data sets is present, or the table does not go with an argument.

    Examples
    --------
    >>> import kernbrook as kb
    >>> results = kb.papers.reproduce("omkc-table-3", data="wdbc", permutations=1, jobs=1)
    >>> cell = results.cell(title="Perceptron")
    >>> cell.ours["error"].runs, cell.printed["error"].mean
    (1, 34.51)
    """
    wanted = published(table)
    printed = wanted.printed()
    names = list(dict.fromkeys(row.data for row in printed))
    chosen = names if data is None else each_name(data)
    for name in chosen:
        if name not in names:
            raise UnknownNameError(f"data set of {table}", name, names)
    for argument, value in (("orders", orders), ("rows", rows)):
        refusal = _REFUSALS[argument].get(wanted.order)
        if value is not None and refusal is not None:
            raise InputError(f"{argument}: {refusal.format(table)}")
    printed = [row for row in printed if row.data in chosen]
    if not printed:
        raise InputError(f"data: expected data sets of {table}, got none")
    given = None if orders is None else Path(orders)
    permutations = wanted.permutations if permutations is None else permutations
    plan = Plan(permutations, seed, jobs, rows, given, announce, compiling)
    names = list(dict.fromkeys(row.data for row in printed))
    found = {name: wanted.find([r for r in printed if r.data == name], plan) for name in names}
    present = {name: source for name, source in found.items() if source is not None}
    if not present:
        raise InputError(
            f"{table}: none of its data sets is present ({', '.join(found)}); set KERNBROOK_DATA "
            "to a folder of NAME.libsvm or NAME.libsvm.xz files"
        )
    job = Job(wanted, plan, printed, present)
    cells = tuple(wanted.run(job))
    known = [text for name, text in wanted.remarks.items() if name in ("", *present)]
    return Results(
        table,
        wanted.title,
        wanted.measures,
        cells,
        {name: origin(job, name) for name in present},
        tuple(name for name in names if name not in present),
        (*job.remarks, *(line for text in known for line in text.splitlines())),
        manifest(seed) | {"permutations": permutations},
    )
