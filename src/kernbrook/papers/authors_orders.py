"""The data of the papers on online learning, their orders, and runs of recipes over these."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernbrook.errors import DataFileError, UnknownNameError
from kernbrook.evaluation.comparing.compare import compare
from kernbrook.evaluation.running.orders import load_orders, orders_of
from kernbrook.evaluation.running.parallel import Jobs
from kernbrook.evaluation.runs.record import Comparison, Row
from kernbrook.papers.published import Job, Plan, PrintedRow
from kernbrook.streams import Stream, open_stream

OTHER_NAMES = {"codrna": "cod-rna", "pima": "diabetes"}  # the paper's name: the file's


def find(rows: Sequence[PrintedRow], plan: Plan) -> Stream | None:
    """A data set of the paper, of the printed number of features where there is one."""
    width, name = rows[0].values.get("n_features"), rows[0].data
    for known in (name, OTHER_NAMES.get(name)):
        try:
            if known is not None:
                return open_stream(known, n_features=None if width is None else int(width))
        except UnknownNameError:
            continue
    return None


def orders_for(job: Job, name: str) -> NDArray[np.int64] | None:
    """Those that are given, or the authors' own; None where neither are known of the data set."""
    path = job.plan.orders or _own(job)
    if path is None:
        return None
    try:
        return load_orders(path, name)
    except DataFileError as error:
        if "no orders named" in error.problem:
            return None
        raise


def _own(job: Job) -> Path | None:
    """The authors' own, where they are known and present."""
    folder = os.environ.get("KERNBROOK_DATA")
    if not folder or job.published.orders is None:
        return None
    path = Path(folder) / job.published.orders
    return path if path.exists() else None


def origin(job: Job, name: str) -> str:
    """Where the orders of a data set come from."""
    if job.published.order == "own":
        return "none, the data's own order"
    if job.published.order == "drawn" or orders_for(job, name) is None:
        return "seeded"
    return "given" if job.plan.orders is not None else "the authors' own"


class Runs:
    """A data set in memory, and runs of recipes over its orders.

    Parameters
    ----------
    job, name : the job and the data set
    recipes : so many are run, for the progress
    jobs : processes; as planned where None
    """

    def __init__(self, job: Job, name: str, recipes: int, jobs: Jobs = None):
        X, y = job.present[name].read()
        self.name, self.plan, self.jobs = name, job.plan, jobs or job.plan.jobs
        self.stream: Stream = open_stream((X, y))
        self.n_rows = len(y)
        self.orders = orders_for(job, name)
        self.advance = job.bar(name, recipes * job.plan.permutations * self.n_rows)
        printed = job.of(name)[0].values.get("n_rows")
        if printed is not None and self.n_rows != printed:
            job.remark(
                f"{name}: {self.n_rows:,} rows here, {printed:,.0f} in the paper: "
                "other data, the numbers need not agree"
            )

    def run(self, recipes: Sequence[str], **overrides: Any) -> Comparison:
        """Recipes over all orders."""
        advance = self.advance
        return compare(
            self.stream,
            recipes,
            permutations=self.plan.permutations,
            seed=self.plan.seed,
            orders=self.orders,
            jobs=self.jobs,
            progress=None if advance is None else lambda rounds: advance,
            compiling=self.plan.compiling,
            **overrides,
        )

    def one(self, recipe: str, **overrides: Any) -> Row:
        """The runs of one recipe."""
        return self.run([recipe], **overrides).rows[0]

    def first_order(self) -> NDArray[np.int64]:
        return orders_of(self.orders, self.plan.permutations, self.plan.seed, self.n_rows)[0]
