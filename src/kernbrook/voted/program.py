"""The linear program of voted kernel regularization, by column generation.

Cortes, Goyal, Kuznetsov, Mohri (2015), section 5.1: minimise over alpha, with h_c the column of a
base function c and Lambda_c its penalty,

    (1/n) sum_i max(0, 1 - y_i sum_c alpha_c h_c(x_i)) + sum_c Lambda_c |alpha_c|.

The dual has one bounded variable for each example and one row for each base function: maximise
sum_i u_i subject to 0 <= u_i <= 1/n and |sum_i u_i y_i h_c(x_i)| <= Lambda_c. A column that is
generated in the primal is a row that is added to the dual, and other penalties are other bounds on
the rows: both leave the last basis dual feasible, so the dual simplex goes on from it. The primal
coefficients are the multipliers of the rows; it is the dual that is held, since its basis is as
large as the number of generated columns and not as the number of examples.

Any u becomes feasible by shrinking it, so the two objectives bound the optimum at every step.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import highspy
import numpy as np
from sklearn.exceptions import ConvergenceWarning

from kernbrook.errors import InputError
from kernbrook.gram.sums import one_thread
from kernbrook.voted.drafts import draft, sizes_of
from kernbrook.voted.examples import Floats, Indices
from kernbrook.voted.kernel_columns import Columns
from kernbrook.voted.kernel_pool import SCALING

FEW = 200  # examples at which the simplex method needs no draft
DISTANT = 0.5  # a first gap of this share of the objective, from which a draft is quicker
BATCH = 100  # columns added at a time
ROOM = 400  # generated columns that may be held, however few of them are in use
FAR = 0.8  # a row that uses less than this share of its bound is far from it
TOLERANCE = 1e-10  # of the simplex method; the least that HiGHS takes
NEGLIGIBLE = 1e-12  # entries that the model leaves out; the least that HiGHS takes
SAFETY = 1e-12  # the dual is shrunk by this more, so that it stays feasible under other rounding
SMALL = 1e-11  # coefficients that move no score by more count as 0
# Entries as small as NEGLIGIBLE mislead the solver's own scaling; where rows are nearly alike, the
# simplex method may not get back from the costs or bounds that it perturbs. Then from scratch:
# without scaling, without perturbing, by the primal method, and less exactly.
RETRIES: tuple[dict[str, Any], ...] = (
    {"simplex_scale_strategy": 0},
    {"dual_simplex_cost_perturbation_multiplier": 0.0},
    {"simplex_strategy": 4, "primal_simplex_bound_perturbation_multiplier": 0.0},
    {
        "dual_simplex_cost_perturbation_multiplier": 0.0,
        "primal_feasibility_tolerance": 1e-8,
        "dual_feasibility_tolerance": 1e-8,
    },
)
STATUS = {
    -1: highspy.HighsBasisStatus.kLower,
    0: highspy.HighsBasisStatus.kBasic,
    1: highspy.HighsBasisStatus.kUpper,
}
HOPELESS = 1e-3  # a gap of this share of the objective is no solution


@dataclass(frozen=True)
class Solution:
    """A sparse combination of base functions, with its certificate.

    Attributes
    ----------
    columns : (q,) numbers k n + j of the base functions K_k(., x_j) in use
    coefficients : (q,) alpha, none of them 0
    dual : (n,) u, feasible: its sum is a lower bound of the least objective
    objective : the value of the primal
    gap : objective - sum of the dual
    rounds : linear programs solved
    """

    columns: Indices
    coefficients: Floats
    dual: Floats
    objective: float
    gap: float
    rounds: int


class Program:
    """One labelling of the examples, for any penalties: each solution is the start of the next.

    Parameters
    ----------
    columns : the base functions
    y : (n,) labels +1 and -1
    tol : stop at a duality gap of this share of the objective

    Examples
    --------
    >>> import numpy as np
    >>> import kernbrook as kb
    >>> from kernbrook.voted import Columns, Examples
    >>> columns = Columns([kb.Linear()], Examples(np.array([[-2.0], [1.0]])), memory=1e9)
    >>> program = Program(columns, np.array([-1.0, 1.0]))
    >>> solution = program.solve(np.array([0.1]))
    >>> solution.columns, solution.coefficients, round(solution.objective, 6)
    (array([0]), array([-0.5]), 0.05)
    >>> program.solve(np.array([10.0])).objective
    1.0
    """

    def __init__(self, columns: Columns, y: Floats, tol: float = 1e-7):
        self.columns, self.y, self.tol = columns, y, tol
        self._sizes = sizes_of(columns)
        self._held = np.empty(0, dtype=np.intp)  # the columns behind the rows of the model
        self._rows = np.empty((0, columns.n))  # y_i h_c(x_i) / size of column c
        self._unit = 1.0  # u = (variables of the model) / (n unit)
        self._inside = np.arange(columns.n)  # the examples behind the variables of the model
        self._model = self._new_model()

    def solve(self, penalties: Floats) -> Solution:
        """The optimum for (p,) penalties Lambda_k > 0.

        Raises
        ------
        InputError
            The kernels' values are of such different sizes that no solution can be certified.

        Warns
        -----
        ConvergenceWarning
            The gap stays above `tol`; the solution's `gap` says by how much.
        """
        with one_thread():
            return self._solved(penalties)

    def _solved(self, penalties: Floats) -> Solution:
        n = self.columns.n
        bounds = np.repeat(penalties, n) / self._sizes
        self._tidy()
        self._set_bounds(bounds)
        best_dual, best_bound = np.zeros(n), 0.0
        rounds, drafted, retried, tidied = 0, n <= FEW, False, 2.0
        while True:
            if not self._run():
                raise InputError(f"{self._too_wild(penalties)}, or give larger lam or beta")
            rounds += 1
            u, alpha = self._point(bounds)
            # The price of every column: how far its row is exceeded.
            use = np.abs(self.columns.scores(u * self.y)).ravel() / self._sizes / bounds
            worst = float(use.max())
            shrunk = u * ((1 - SAFETY) / max(worst, 1.0))
            if shrunk.sum() > best_bound:
                best_dual, best_bound = shrunk, float(shrunk.sum())
            objective = self._objective(alpha, bounds)
            gap = objective - best_bound
            if gap <= self.tol * objective:
                break
            if not drafted:
                drafted = True
                if gap > DISTANT * objective and self._begin(penalties, bounds):
                    continue
            changed = self._choose_unit(float(u.sum()), bounds) | self._enter(alpha)
            exceeded = use > 1 + 0.1 * self.tol
            exceeded[self._held] = False
            if exceeded.any():
                # Never twice at the same optimum, so that no rows come and go for ever.
                if u.sum() < (1 - self.tol) * tidied and self._tidy(use):
                    tidied = float(u.sum())
                self._add(np.flatnonzero(exceeded), use, bounds)
            elif not changed:
                if retried:
                    self._complain(gap, objective, penalties)
                    break
                self._model.clearSolver()  # once more, from scratch
                retried = True
        used = np.flatnonzero(alpha)
        order = np.argsort(self._held[used])
        used = used[order]
        which = self._held[used]
        return Solution(which, alpha[used] / self._sizes[which], best_dual, objective, gap, rounds)

    # -- the model: row c is y h_c / size_c, its bounds n unit Lambda_c / size_c ---------------

    def _new_model(self) -> highspy.Highs:
        model = highspy.Highs()
        model.silent()
        for name, value in (
            ("presolve", "off"),
            ("solver", "simplex"),
            ("threads", 1),
            ("primal_feasibility_tolerance", TOLERANCE),
            ("dual_feasibility_tolerance", TOLERANCE),
            ("small_matrix_value", NEGLIGIBLE),
        ):
            model.setOptionValue(name, value)
        count = len(self._inside)
        model.addVars(count, np.zeros(count), np.full(count, self._unit))
        model.changeColsCost(count, np.arange(count, dtype=np.int32), -np.ones(count))
        return model

    def _set_bounds(self, bounds: Floats) -> None:
        scale = self.columns.n * self._unit
        if len(self._held):
            rows = np.arange(len(self._held), dtype=np.int32)
            limits = scale * bounds[self._held]
            self._model.changeRowsBounds(len(rows), rows, -limits, limits)

    def _begin(self, penalties: Floats, bounds: Floats) -> bool:
        """A new model, from a nearly optimal solution; False if that uses no column."""
        first = draft(self.columns, self.y, penalties)
        if len(first.held) == 0:
            return False
        row, example = first.basis(self.columns.n * bounds[first.held])
        # An example that is left out has u = 0: the model stays feasible.
        self._inside = np.flatnonzero((first.u > 0) | (example >= 0))
        self._choose_unit(float(first.u.mean()), bounds)
        self._model = self._new_model()
        self._held, self._rows = first.held[:0], first.rows[:0]
        self._hold(first.held, first.rows, bounds)
        basis = highspy.HighsBasis()
        basis.row_status = [STATUS[place] for place in row.tolist()]
        basis.col_status = [STATUS[place] for place in example[self._inside].tolist()]
        basis.valid = True
        self._model.setBasis(basis)
        return True

    def _choose_unit(self, total: float, bounds: Floats) -> bool:
        """Keep the variables near 1, however small u is, so that tolerances mean the same."""
        if 0.1 <= total * self._unit <= 10 or total == 0.0:
            return False
        count = len(self._inside)
        self._unit = 2.0 ** np.clip(np.round(-np.log2(total)), 0, 60)
        every = np.arange(count, dtype=np.int32)
        self._model.changeColsBounds(count, every, np.zeros(count), np.full(count, self._unit))
        self._set_bounds(bounds)
        return True

    def _enter(self, alpha: Floats) -> bool:
        """Variables for the examples without one that are not above the margin."""
        outside = np.ones(self.columns.n, dtype=bool)
        outside[self._inside] = False
        which = np.flatnonzero(outside & (self._margins(alpha) < 1.0))
        count, q = len(which), len(self._held)
        if count:
            self._model.addCols(
                count, -np.ones(count), np.zeros(count), np.full(count, self._unit), count * q,
                np.arange(0, count * q, q, dtype=np.int32),
                np.tile(np.arange(q, dtype=np.int32), count), self._rows[:, which].T.ravel(),
            )  # fmt: skip
            self._inside = np.concatenate([self._inside, which])
        return count > 0

    def _add(self, exceeded: Indices, use: Floats, bounds: Floats) -> None:
        """Rows for the columns that are exceeded most."""
        if len(exceeded) > BATCH:
            exceeded = exceeded[np.argpartition(-use[exceeded], BATCH)[:BATCH]]
        rows = self.columns.take(exceeded) * self.y / self._sizes[exceeded, None]
        self._hold(exceeded, rows, bounds)

    def _hold(self, which: Indices, rows: Floats, bounds: Floats) -> None:
        m, count = len(self._inside), len(which)
        limits = self.columns.n * self._unit * bounds[which]
        self._model.addRows(
            count, -limits, limits, count * m, np.arange(0, count * m, m, dtype=np.int32),
            np.tile(np.arange(m, dtype=np.int32), count), rows[:, self._inside].ravel(),
        )  # fmt: skip
        self._held = np.concatenate([self._held, which])
        self._rows = np.concatenate([self._rows, rows])

    def _tidy(self, use: Floats | None = None) -> bool:
        """Drop the rows that do not bind, where there are many; of these, given how far each is
        used, only those that are far from it. The optimum of the model stays what it is."""
        status = self._model.getBasis().row_status
        idle = np.array([s == highspy.HighsBasisStatus.kBasic for s in status], dtype=bool)
        if len(idle) <= max(ROOM, 2 * int((~idle).sum())):
            return False
        if use is not None:
            idle &= use[self._held] < FAR
        dropped = np.flatnonzero(idle).astype(np.int32)
        self._model.deleteRows(len(dropped), dropped)
        self._held, self._rows = self._held[~idle], self._rows[~idle]
        return True

    def _run(self) -> bool:
        """Solve the model; False if that cannot be done."""
        if self._optimal():
            return True
        for options in RETRIES:
            self._model.clearSolver()
            usual = {name: self._model.getOptionValue(name)[1] for name in options}
            self._set_options(options)
            solved = self._optimal()
            self._set_options(usual)
            if solved:
                return True
        return False

    def _optimal(self) -> bool:
        self._model.run()
        return bool(self._model.getModelStatus() == highspy.HighsModelStatus.kOptimal)

    def _set_options(self, options: dict[str, Any]) -> None:
        for name, value in options.items():
            self._model.setOptionValue(name, value)

    def _point(self, bounds: Floats) -> tuple[Floats, Floats]:
        """(n,) u and the coefficients of the columns held, each times the size of its column."""
        solution = self._model.getSolution()
        u = np.zeros(self.columns.n)
        u[self._inside] = np.clip(np.array(solution.col_value), 0.0, self._unit)
        alpha = -np.array(solution.row_dual)
        alpha[np.abs(alpha) <= SMALL] = 0.0
        if alpha.any():
            # The solver leaves margins at 1 - 1e-10, which small objectives would show.
            alpha *= best_factor(self._margins(alpha), float(np.abs(alpha) @ bounds[self._held]))
        return u / (self.columns.n * self._unit), alpha

    def _margins(self, alpha: Floats) -> Floats:
        used = np.flatnonzero(alpha)
        margins: Floats = alpha[used] @ self._rows[used]
        return margins

    def _objective(self, alpha: Floats, bounds: Floats) -> float:
        hinge = np.maximum(1.0 - self._margins(alpha), 0.0).mean()
        return float(hinge + np.abs(alpha) @ bounds[self._held])

    def _complain(self, gap: float, objective: float, penalties: Floats) -> None:
        found = self._too_wild(penalties)
        if gap > HOPELESS * objective:
            raise InputError(f"{found}, or give larger lam or beta")
        message = f"duality gap {gap:.3g} at an objective of {objective:.3g}: {found}"
        warnings.warn(message, ConvergenceWarning, stacklevel=3)

    def _too_wild(self, penalties: Floats) -> str:
        sizes = self.columns.sizes.max(axis=1)
        k = int(np.argmax(sizes / penalties))
        return (
            f"kernel {self.columns.kernels[k]}: values of up to {sizes[k]:.3g} at a penalty of "
            f"{penalties[k]:.3g} are beyond the solver's precision; {SCALING}"
        )


def best_factor(margins: Floats, price: float) -> float:
    """The f that minimises (1/n) sum_i max(0, 1 - f margins_i) + price |f|.

    The function is convex and linear between its breakpoints 1 / margins_i and 0: its slope grows
    by |margins_i| / n at each of the former and by 2 price at the latter, so the least value is
    where the sorted growths have used up the slope at -infinity.
    """
    moving, n = margins[margins != 0], len(margins)
    with np.errstate(over="ignore"):
        breaks = np.append((1.0 - moving) / moving, -1.0)  # of f - 1, which is small
    growth = np.append(np.abs(moving) / n, 2.0 * price)
    order = np.argsort(breaks, kind="stable")
    left = np.maximum(moving, 0.0).sum() / n + price
    reached = np.searchsorted(np.cumsum(growth[order]), left * (1 - 1e-15))
    return 1.0 + float(breaks[order[min(reached, len(order) - 1)]])
