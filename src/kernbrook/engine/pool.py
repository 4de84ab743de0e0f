"""A pool of experts, part by part: which learner has which kernels, and sees which view of rows."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernbrook.engine.same import same
from kernbrook.kernels import Kernel


class Member(NamedTuple):
    """A learner of a pool.

    kernels : its own; None: those of the pool
    scaling : its own; None: that of the pool
    """

    learner: Any
    kernels: tuple[Kernel, ...] | None = None
    scaling: str | None = None


class Expert(NamedTuple):
    """A learner with a kernel.

    learner : None where the kernels share one, the combiner's
    kernel : None where it has none
    scaling : of the rows that it sees; None: that of the machine
    """

    learner: Any
    kernel: Kernel | None
    scaling: str | None


class PoolPart(NamedTuple):
    """A learner in its place: one expert with each kernel, or as many as it says.

    kernels, which : the kernels, and their numbers in the pool
    first, size : number of its first expert, and how many it has
    view : number of the view of rows that it sees
    rules : of each kernel
    """

    learner: Any
    kernels: tuple[Kernel, ...]
    which: tuple[int, ...]
    first: int
    size: int
    view: int
    rules: tuple[Any, ...]

    @property
    def experts(self) -> NDArray[np.int64]:
        """(size,) their numbers."""
        return np.arange(self.first, self.first + self.size)


def kernels_of(kernels: tuple[Kernel, ...], members: Sequence[Member]) -> tuple[Kernel, ...]:
    """All kernels of a pool, each once: those that learners share, then those of their own."""
    shared = any(member.kernels is None for member in members) or not members
    found = list(kernels) if shared else []
    for member in members:
        for kernel in member.kernels or ():
            if not any(same(kernel, other) for other in found):
                found.append(kernel)
    return tuple(found)


def scalings_of(members: Sequence[Member]) -> tuple[str | None, ...]:
    """The scalings of a pool, each once; first None, that of the machine."""
    return tuple(dict.fromkeys([None, *(member.scaling for member in members)]))


def parts_of_pool(kernels: tuple[Kernel, ...], members: Sequence[Member]) -> list[PoolPart]:
    """The parts of a pool; its kernels are `kernels`, or those of `kernels_of`."""
    everything, views, parts, first = kernels_of(kernels, members), scalings_of(members), [], 0
    for learner, given, scaling in members:
        numbered = not hasattr(learner, "n_experts")
        chosen = (kernels if given is None else given) if numbered else ()
        which = range(len(chosen)) if given is None else [_place(k, everything) for k in chosen]
        count = len(chosen) if numbered else learner.n_experts
        if hasattr(learner, "rules"):
            rules = tuple(learner.rules(chosen))
        else:
            rules = (learner.rule(),) * max(len(chosen), 1)
        view = views.index(scaling)
        parts.append(PoolPart(learner, chosen, tuple(which), first, count, view, rules))
        first += count
    return parts


def experts_of(kernels: tuple[Kernel, ...], members: Sequence[Member]) -> tuple[Expert, ...]:
    """The experts of a pool, in the order of their numbers."""
    if not members:
        return tuple(Expert(None, kernel, None) for kernel in kernels)
    views = scalings_of(members)
    return tuple(
        Expert(part.learner, kernel, views[part.view])
        for part in parts_of_pool(kernels, members)
        for kernel in part.kernels or (None,) * part.size
    )


def _place(kernel: Kernel, kernels: tuple[Kernel, ...]) -> int:
    return next(i for i, other in enumerate(kernels) if same(kernel, other))
