"""Experts on explicit features, of a fixed size; experts on one kernel share its features."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from kernbrook.checks import ask_for, refusal, shown
from kernbrook.compiler.compiling import njit
from kernbrook.compiler.links import ROOM, links_to, new_links, pin, through
from kernbrook.engine.needs import check_recipe
from kernbrook.engine.pool import PoolPart
from kernbrook.engine.progress import Progress
from kernbrook.engine.rules import cast_rule
from kernbrook.engine.same import same
from kernbrook.engine.state import Field, flatten, pick
from kernbrook.engine.store_verbs import learn, part, parts_of, score, sound
from kernbrook.engine.stores.base import PIECES, Prepared, Setting, Spread, Store, overflow, see
from kernbrook.engine.stores.in_rows import InRows, Row, in_rows, meet
from kernbrook.engine.uniting import Apart, descend_together
from kernbrook.engine.verbs import Coefficients, after_label, descend, is_finite, predict
from kernbrook.errors import InputError
from kernbrook.features import Monomials, RandomFeatures
from kernbrook.features.base import Features, write_rows
from kernbrook.features.pools import PoolMap, draw, numbers_of, restore, widen
from kernbrook.gram.arrays import Floats, Ints, check_array, within
from kernbrook.gram.rows import Rows
from kernbrook.gram.sums import share, threads_for
from kernbrook.kernels import Kernel
from kernbrook.kernels.spectra import ShiftInvariant
from kernbrook.numerics.zero import finite

FEATURE_BLOCK = 512  # examples processed together: their features stay in the caches
FAR_APART = 1_000_000  # numbers of maps of two views


class FeatureBlock(NamedTuple):
    """A block of b examples, as m experts meet it.

    experts : (m,) int, their numbers in the pool
    features : the block's, map after map: (b, d) each, row after row
    first, dim : (m,) of each expert the first of its features in the pool's, and how many, d
    at, more : (m + 1,) the first of its numbers in theta, and in extra
    rows : (m,) how many rows of these
    theta, extra : what the experts have learned, one after the other
    gains, pins : (m, greatest d) and (m, 2, ROOM) scratch
    """

    experts: Ints
    features: Floats
    first: Ints
    dim: Ints
    at: Ints
    more: Ints
    rows: Ints
    theta: Floats
    extra: Floats
    gains: Floats
    pins: Ints


class FeaturesForm(NamedTuple):
    """The compiled form: links to rules, the number of each expert's rule, and what they meet."""

    rules: Any
    rule_of: Ints
    block: FeatureBlock


class FeaturesPart(NamedTuple):
    """One expert: a link to its rule, its number, pinned features (b, d) and coefficients."""

    rule: Any
    expert: int
    z: Any
    held: Any


@parts_of.of(FeaturesForm)
def _parts_of(member):
    return member.block.experts.shape[0]


@part.of(FeaturesForm)
def _part(member, i, board):
    z, held = features_of(member.block, i, board.scores.shape[0]), coefficients_of(member.block, i)
    block, pins = member.block, member.block.pins
    rule = member.rules[member.rule_of[i]]
    return FeaturesPart(rule, block.experts[i], pin(z, pins[i, 0]), pin(held, pins[i, 1]))


@njit(cache=True, nogil=True, forceinline=True)
def features_of(block, i, b):
    """(b, d) the features of an expert, a view."""
    d, first = block.dim[i], block.first[i]
    return block.features[first * b : (first + d) * b].reshape((b, d))


@njit(cache=True, nogil=True, forceinline=True)
def coefficients_of(block, i):
    """The coefficients of an expert: views."""
    d, at, more, rows = block.dim[i], block.at[i], block.more[i], block.rows[i]
    theta = block.theta[at : block.at[i + 1]].reshape((-1, d))
    extra = block.extra[more : more + rows * d].reshape((rows, d))
    return Coefficients(theta, extra, block.gains[i, :d])


@score.of(FeaturesPart)
def _score(part, t, board):
    out = board.scores[t, part.expert]
    board.variances[t, part.expert] = through(predict, part.rule, part.held, part.z, t, out)


@learn.of(FeaturesPart)
def _learn(part, t, updates, clock, board):
    expert = part.expert
    if board.importance[t] <= 0.0:
        return
    if updates[expert]:
        seen = see(board, t, expert, 0.0, clock)
        scores, variance = board.scores[t, expert], board.variances[t, expert]
        through(descend, part.rule, part.held, part.z, t, seen, scores, variance)
    through(after_label, part.rule, part.held, clock.number)


@sound.of(FeaturesForm)
def _sound(member, i):
    held = pin(coefficients_of(member.block, i), member.block.pins[i, 1])
    return through(is_finite, member.rules[member.rule_of[i]], held)


class LinearState(NamedTuple):
    """The state: coefficients and what else learners keep, expert after expert; and the maps."""

    theta: Floats
    extra: Floats
    pool: PoolMap


class Linear(Store):
    """Experts on the features of their kernels.

    Parameters
    ----------
    parts : of the pool; each learner has a `rule`, the recipe of its `features`, and
        `extra_rows(d, scores)`, which it begins with as `fill_extra` says
    """

    overflows = (
        "a learner diverged, or its features overflowed; lower its step, or scale the features"
    )

    def __init__(self, parts: Sequence[PoolPart], setting: Setting):
        self.setting, self.block_rows = setting, FEATURE_BLOCK
        self.rules = [cast_rule(part.learner.rule()) for part in parts]
        self.rule_of = np.repeat(np.arange(len(parts)), [part.size for part in parts])
        self.learners = [part.learner for part in parts for _ in part.kernels]
        self.kernels = [kernel for part in parts for kernel in part.kernels]
        self.experts = np.concatenate([part.experts for part in parts])
        wanted = [
            (kernel, recipe_of(learner, kernel))
            for learner, kernel in zip(self.learners, self.kernels, strict=True)
        ]
        # The first expert with the same features.
        of = [next(j for j, other in enumerate(wanted) if same(pair, other)) for pair in wanted]
        distinct = sorted(set(of))
        self.maps = [wanted[e] for e in distinct]
        self.which = np.array([distinct.index(e) for e in of])
        dims = np.array([recipe.dim(kernel, setting.width) for kernel, recipe in self.maps])
        self.dims = dims[self.which]
        self.rows = np.array(
            [
                learner.extra_rows(int(dim), setting.scores)
                for learner, dim in zip(self.learners, self.dims, strict=True)
            ]
        )
        sizes = setting.scores * self.dims, self.rows * self.dims
        self.at, self.more = (np.concatenate([[0], np.cumsum(size)]) for size in sizes)
        self.first = np.concatenate([[0], np.cumsum(dims)])[self.which]

    def begin(self) -> LinearState:
        sizes, width = np.diff(self.at) + np.diff(self.more), self.setting.width
        numbers = int(sizes.sum()) + sum(numbers_of(*pair, width) for pair in self.maps)
        greatest = sizes.argmax()
        features = shown(self.maps[self.which[greatest]][1])
        size = f"{len(sizes)} experts on {features} of {width:,} inputs,"
        owner = type(self.learners[greatest]).__name__
        ask_for(2 * numbers, f"{owner}, {size}")  # there is a copy of it all
        maps = [
            draw(kernel, recipe, width, self.setting.seed, self._index(i))
            for i, (kernel, recipe) in enumerate(self.maps)
        ]
        theta, extra = np.zeros(self.at[-1]), np.zeros(self.more[-1])
        for e, learner in enumerate(self.learners):
            rows = extra[self.more[e] : self.more[e + 1]]
            learner.fill_extra(rows.reshape(self.rows[e], self.dims[e]))
        return LinearState(theta, extra, PoolMap(maps))

    def _index(self, i: int) -> int:
        """The number of a map, for its draws."""
        return i + FAR_APART * self.view

    def prepare(self, state: LinearState, rows: Rows, progress: Progress, raw: Any) -> Prepared:
        after = state._replace(theta=state.theta.copy(), extra=state.extra.copy())
        return self._pass(after, rows)

    def reading(self, state: LinearState, rows: Rows, raw: Any) -> Prepared:
        return self._pass(state, rows)

    def _pass(self, state: LinearState, rows: Rows) -> Prepared:
        b = len(rows)
        features = self._features(state.pool, rows)
        member = self.member(features, state.theta, state.extra, self.scratch())
        return Prepared((member,), self._threads(b), lambda *_: self._check(state))

    def _threads(self, b: int) -> int:
        return threads_for(b * int((self.dims * (self.rows + 1)).sum()))

    def together(self, b: int) -> int:
        """Experts that a thread takes together, of b rows; 0: all."""
        threads = self._threads(b)
        return 0 if threads == 1 else -(-len(self.experts) // (PIECES * threads))

    def _check(self, state: LinearState) -> LinearState:
        """The state; NonFiniteError where it has overflowed."""
        if not (finite(state.theta) and finite(state.extra)):
            raise overflow(self)
        return state

    def scratch(self) -> tuple[Floats, Ints]:
        """Room for one compiled form."""
        m = len(self.experts)
        return np.zeros((m, int(self.dims.max()))), np.empty((m, 2, ROOM), dtype=np.int64)

    def member(
        self, features: Floats, theta: Floats, extra: Floats, scratch: tuple[Floats, Ints]
    ) -> FeaturesForm:
        """The compiled form; arrays as in `FeatureBlock`."""
        block = FeatureBlock(
            self.experts, features, self.first, self.dims, self.at, self.more, self.rows, theta,
            extra, *scratch,
        )  # fmt: skip
        rules = links_to(predict, self.rules)
        return FeaturesForm(rules, self.rule_of, block)

    def _features(self, pool: PoolMap, rows: Rows) -> Floats:
        """The pool's features of a block."""
        b = len(rows)
        out = pool.empty(b)
        threads = threads_for(b * int(pool.offsets[-1]))
        lanes = -(-b // threads)

        def fill(lo: int) -> None:
            pool.fill(rows.part(lo, min(lo + lanes, b)), out, lo)

        share(threads, fill, range(0, b, lanes))
        return out

    def arrays(self, state: LinearState) -> dict[str, NDArray[Any]]:
        maps = {f"{i}": drawn.arrays() for i, drawn in enumerate(state.pool.maps)}
        return flatten({"theta": state.theta, "extra": state.extra, "maps": maps})

    def with_classes(self, before: Self, state: LinearState, spread: Spread) -> LinearState:
        c = len(spread.coefficients)
        theta, extra, at, more = [], [], 0, 0
        for e, d in enumerate(map(int, self.dims)):
            coefficients = state.theta[at : at + c * d].reshape(c, d)
            theta.append(spread.along(coefficients, 0))
            rows = self.learners[e].extra_rows(d, c)
            kept = state.extra[more : more + rows * d].reshape(rows, d)
            if rows != self.rows[e]:  # a row for each score
                nothing = np.zeros((1, d))
                kept = np.concatenate([kept, nothing])[spread.origin]
            extra.append(kept)
            at, more = at + c * d, more + rows * d
        learned = [np.concatenate([part.ravel() for part in parts]) for parts in (theta, extra)]
        return LinearState(learned[0], learned[1], state.pool)

    def merged(self, apart: Apart) -> LinearState:
        first, *others = (
            [array for drawn in state.pool.maps for array in drawn.arrays().values()]
            for state in apart.each
        )
        if not all(same(first, other) for other in others):
            raise InputError(
                "merge: the models have features of their own; give all the same random_state, or "
                "copies of one model"
            )
        fresh = self.begin()
        for e, rule in enumerate(self.rule_of):
            held = apart.over(lambda state, e=e: self._coefficients_of(state, e))  # type: ignore[misc]
            theta, extra = descend_together(self.rules[rule], held)
            now = self._coefficients_of(fresh, e)
            now.theta[:], now.extra[:] = theta, extra
        return self._check(fresh._replace(pool=apart.each[0].pool))

    def _coefficients_of(self, state: LinearState, e: int) -> Coefficients:
        """The coefficients of an expert: views."""
        d = int(self.dims[e])
        theta = state.theta[self.at[e] : self.at[e + 1]].reshape(-1, d)
        extra = state.extra[self.more[e] : self.more[e + 1]].reshape(-1, d)
        return Coefficients(theta, extra, np.empty(0))

    def with_features(self, before: Self, state: LinearState) -> LinearState:
        """Experts begin anew on maps that cannot go on."""
        fresh, width, seed = self.begin(), self.setting.width, self.setting.seed
        held = [widen(old, width, seed, self._index(i)) for i, old in enumerate(state.pool.maps)]
        for e in np.flatnonzero([held[i] is not None for i in self.which]):
            for new, old, ends, were in (
                (fresh.theta, state.theta, self.at, before.at),
                (fresh.extra, state.extra, self.more, before.more),
            ):
                new[ends[e] : ends[e + 1]] = old[were[e] : were[e + 1]]
        pairs = zip(held, fresh.pool.maps, strict=True)
        return fresh._replace(pool=PoolMap([wide or new for wide, new in pairs]))

    def restored(self, arrays: Mapping[str, NDArray[Any]]) -> LinearState:
        maps = []
        for name, ends in (("theta", self.at), ("extra", self.more)):
            Field(()).check(name, check_array(name, arrays.get(name), (ends[-1],), np.float64))
        for i, (kernel, recipe) in enumerate(self.maps):
            with within(f"maps.{i}."):
                of_map = pick(arrays, f"maps.{i}")
                maps.append(restore(kernel, recipe, self.setting.width, of_map))
        return LinearState(arrays["theta"], arrays["extra"], PoolMap(maps))


def recipe_of(learner: Any, kernel: Kernel) -> Features:
    """The recipe for the features in which a learner learns with a kernel."""
    if isinstance(learner.features, str) and learner.features == "auto":
        return RandomFeatures() if isinstance(kernel, ShiftInvariant) else Monomials()
    if not isinstance(learner.features, Features):
        raise refusal(learner, "features", "be 'auto' or a map such as RandomFeatures()")
    check_recipe(learner.features)
    return learner.features


# -- row by row ----------------------------------------------------------------------------------


class RowOfFeatures(NamedTuple):
    """Rows, as experts on features meet them.

    member : the form for the rounds
    x : (n, d) the rows
    maps : (k, LINK) links to the maps
    """

    member: FeaturesForm
    x: Floats
    maps: Ints


class FeaturesInRows(InRows):
    """A `Linear` store row by row, on arrays of its own."""

    def __init__(self, store: Linear, state: LinearState):
        self.store, self.pool = store, state.pool

    def changing(self, state: LinearState) -> tuple[Floats, Floats]:
        return state.theta, state.extra

    def use(self, arrays: Sequence[NDArray[Any]]) -> None:
        theta, extra = arrays
        self.state = LinearState(theta, extra, self.pool)

    def forms(self, row: Row, kept: list[Any]) -> tuple[FeaturesForm, RowOfFeatures]:
        n, (theta, extra, pool) = len(row.x), self.state
        rules = pool.rules(n)
        kept.append(rules)
        member = self.store.member(pool.empty(n), theta, extra, self.store.scratch())
        return member, RowOfFeatures(member, row.x, new_links(write_rows, rules))

    def together(self, n: int) -> int:
        return self.store.together(n)


@in_rows.register(Linear)
def _in_rows(store: Linear, state: LinearState) -> type[InRows] | str:
    unruled = any(rule is None for rule in state.pool.rules(1))
    return "feature maps that are not compiled" if unruled else FeaturesInRows


@meet.of(RowOfFeatures)
def _meet(store):
    write_all(store.maps, store.x, store.member.block.features)


@njit(cache=True)
def write_all(maps, X, out):
    """Write the features of rows, (n, d), by all maps; out : as of `write_rows`."""
    for k in range(len(maps)):
        through(write_rows, maps[k], X, out)
