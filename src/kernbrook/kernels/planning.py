"""From a pool of kernels to the plan of the compiled engine.

Gaussians whose widths are in an integer ratio form a ladder: one exponential of the widest and a
few multiplications for each narrower one. A rung multiplies the relative error by its ratio, so a
ladder starts again before the product of its ratios passes `AMPLIFICATION`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from kernbrook.kernels.base import Kernel, Step
from kernbrook.kernels.exponential import ExponentialStep
from kernbrook.numerics.linking import linked
from kernbrook.numerics.pairs import NEAR
from kernbrook.numerics.plan import FIRST_GIVEN, INNER, SQUARED, Parts, Plan
from kernbrook.numerics.values import fill, link_single_step, link_step

# Times the 3e-16 or 8e-8 of one exponential: every value is good to 1e-13, or 1.3e-6.
AMPLIFICATION = {"float64": 300, "float32": 16}
LARGEST_RATIO = 16

Chain = list[tuple[Kernel, Step]]


class GivenStep(NamedTuple):
    """The source itself: values of a kernel that is called."""


@fill.of(GivenStep)
def _fill(kind, source, values, lo, hi, parameter, offset, power):
    for j in range(lo, hi):
        values[0, j] = source[j]
    return True


class Layout:
    """How the compiled code computes kernels, with what the host must provide for it.

    Parameters
    ----------
    kernels : m; outputs i c ... i c + c - 1 are the scores of kernel i, for c classes
    classes : scores of each kernel
    shared : whether all kernels have the same c columns of coefficients; else c columns each
    dtype : "float64" or "float32", of pair values and the kernels made of them

    Attributes
    ----------
    plan : of the kernels together
    parts : of each kernel by itself, without ladders
    channels : the plan's channels, in the order of the rows of `pairs`
    given : the kernels whose values the host computes, for the channels from FIRST_GIVEN on
    """

    def __init__(
        self,
        kernels: Sequence[Kernel],
        classes: int = 1,
        shared: bool = False,
        dtype: str = "float64",
    ):
        self._made_from = tuple(kernels), classes, shared, dtype
        self.dtype = np.dtype(dtype)
        terms: dict[Kernel, list[tuple[int, int, float]]] = {}
        for i, kernel in enumerate(kernels):
            for weight, part in kernel.parts():
                for c in range(classes):
                    output = i * classes + c
                    terms.setdefault(part, []).append((output, c if shared else output, weight))
        given: list[Kernel] = []
        own_steps = [(kernel, _step(kernel, given)) for kernel in terms]
        chains = _chains(own_steps, AMPLIFICATION[dtype])
        steps = [step for chain in chains for _, step in chain]
        ordered = [terms[kernel] for chain in chains for kernel, _ in chain]
        used = sorted({step.channel for step in steps})
        if SQUARED in used and INNER not in used:
            used.insert(0, INNER)  # distances are made from inner products
        self.channels, self.given = tuple(used), tuple(given)
        self.plan = Plan(
            **self._columns(steps),
            chain_end=np.repeat(np.cumsum([*map(len, chains)]), [*map(len, chains)]),
            first_term=np.cumsum([0, *map(len, ordered)]),
            output=np.array([output for of_step in ordered for output, _, _ in of_step]),
            column=np.array([column for of_step in ordered for _, column, _ in of_step]),
            factor=np.array([factor for of_step in ordered for _, _, factor in of_step]),
            # Of the kernels of the squared distance: from here on all are exactly 0.
            reach=max((s.reach for s in steps if s.channel == SQUARED), default=np.inf),
            near=NEAR[dtype],
        )

    def __reduce__(self) -> Any:
        """Made again elsewhere: in another process what is compiled has other addresses."""
        return Layout, self._made_from

    @cached_property
    def parts(self) -> Parts:
        """Of each kernel by itself, without ladders."""
        parts = [list(kernel.parts()) for kernel in self._made_from[0]]
        return Parts(
            **self._columns([_step(part, list(self.given)) for own in parts for _, part in own]),
            factor=np.array([factor for own in parts for factor, _ in own]),
            first=np.cumsum([0, *map(len, parts)]),
        )

    def _columns(self, steps: Sequence[Step]) -> dict[str, Any]:
        """What `Plan` and `Parts` say of steps."""
        maker = link_single_step if self.dtype == np.float32 else link_step
        return {
            "links": np.array([linked(maker, step.kind()) for step in steps]),
            "channel": np.array([self.channels.index(step.channel) for step in steps]),
            "power": np.array([step.power for step in steps]),
            "parameter": np.array([step.parameter for step in steps], dtype=np.float64),
            "offset": np.array([step.offset for step in steps], dtype=np.float64),
        }


def _step(kernel: Kernel, given: list[Kernel]) -> Step:
    """The kernel's step; a kernel that has none joins those given."""
    step = kernel.step()
    if step is not None:
        return step
    if kernel not in given:
        given.append(kernel)
    return Step(GivenStep, FIRST_GIVEN + given.index(kernel))


def _chains(steps: Chain, most: float) -> list[Chain]:
    """Steps that share an exponential lie in one chain; every other step is alone."""
    chains = [[one] for one in steps if one[1].kind is not ExponentialStep]
    exponentials = [one for one in steps if one[1].kind is ExponentialStep]
    for channel in sorted({step.channel for _, step in exponentials}):
        members = [one for one in exponentials if one[1].channel == channel]
        chains += _ladders(sorted(members, key=lambda one: one[1].parameter), most)
    return chains


def _ladders(steps: Chain, most: float) -> list[Chain]:
    """Split the exponentials of one channel, in the order of growing parameters, into ladders.

    most : see `AMPLIFICATION`
    """
    ladders: list[Chain] = []
    growth: list[float] = []  # of each ladder: the product of its ratios
    for kernel, step in steps:
        for i, ladder in enumerate(ladders):
            ratio = step.parameter / ladder[-1][1].parameter
            power = round(min(ratio, 2.0 * LARGEST_RATIO))
            exact = abs(ratio - power) <= 4e-16 * power
            if exact and 2 <= power <= LARGEST_RATIO and growth[i] * power <= most:
                ladder.append((kernel, replace(step, power=power)))
                growth[i] *= power
                break
        else:
            ladders.append([(kernel, step)])
            growth.append(1.0)
    return ladders
