"""From a pool of kernels to the plan of the compiled engine.

Gaussians whose widths are in an integer ratio form a ladder: one exponential of the widest and a
few multiplications for each narrower one. A rung multiplies the relative error by its ratio, so a
ladder starts again before the product of its ratios passes `AMPLIFICATION`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kernbrook.checks import shown
from kernbrook.compiler.checking import check_verbs
from kernbrook.compiler.compiling import is_theirs, stamp
from kernbrook.compiler.links import links_to
from kernbrook.errors import InputError
from kernbrook.kernels.base import Kernel, Step
from kernbrook.kernels.callable import Callable
from kernbrook.kernels.gaussian import ExponentialStep
from kernbrook.kernels.polynomial import PolynomialStep
from kernbrook.numerics.plan import FIRST_GIVEN, INNER, SQUARED, Parts, Plan
from kernbrook.numerics.values import fill

# Times the 3e-16 of one exponential: every value is good to 1e-13.
AMPLIFICATION = 300
LARGEST_RATIO = 16

Chain = list[tuple[Any, Step]]  # what is computed; how


class Layout:
    """How the compiled code computes kernels, with what the host must provide for it.

    kernels : m; outputs i c ... i c + c - 1 are the scores of kernel i, for c classes
    shared : whether all kernels have the same c columns of coefficients; else c columns each
    channels : the plan's channels, in the order of the rows of `pairs`
    given : the kernels whose values the host computes, for the channels from FIRST_GIVEN on
    """

    def __init__(self, kernels: Sequence[Kernel], classes: int = 1, shared: bool = False):
        self._made_from = tuple(kernels), classes, shared
        self._make()

    def _make(self) -> None:
        kernels, classes, shared = self._made_from
        self._stamp, self._given = stamp(), dict[Any, Kernel]()
        terms: dict[Any, list[tuple[int, int, float]]] = {}
        found: dict[Any, Kernel] = {}
        for i, kernel in enumerate(kernels):
            for weight, part in kernel.parts():
                identity = identity_of(part)
                found.setdefault(identity, part)
                for c in range(classes):
                    output = i * classes + c
                    terms.setdefault(identity, []).append((output, c if shared else output, weight))
        chains = _chains([(identity, self._step(part)) for identity, part in found.items()])
        steps = [step for chain in chains for _, step in chain]
        ordered = [terms[identity] for chain in chains for identity, _ in chain]
        used = sorted({step.channel for step in steps})
        if SQUARED in used and INNER not in used:
            used.insert(0, INNER)  # distances are made from inner products
        self.channels, self.given = tuple(used), tuple(self._given.values())
        self._plan = Plan(
            **self._columns(steps),
            chain_end=np.repeat(np.cumsum([*map(len, chains)]), [*map(len, chains)]),
            first_term=np.cumsum([0, *map(len, ordered)]),
            output=np.array([output for of_step in ordered for output, _, _ in of_step]),
            column=np.array([column for of_step in ordered for _, column, _ in of_step]),
            factor=np.array([factor for of_step in ordered for _, _, factor in of_step]),
            # Of the kernels of the squared distance: from here on all are exactly 0.
            reach=max((s.reach for s in steps if s.channel == SQUARED), default=np.inf),
        )
        parts = [list(kernel.parts()) for kernel in kernels]
        self._parts = Parts(
            **self._columns([self._step(part) for of_kernel in parts for _, part in of_kernel]),
            factor=np.array([factor for of_kernel in parts for factor, _ in of_kernel]),
            first=np.cumsum([0, *map(len, parts)]),
        )

    def __reduce__(self) -> Any:
        """Made again elsewhere: in another process what is compiled has other addresses."""
        return Layout, self._made_from

    @property
    def plan(self) -> Plan:
        """The plan of the kernels together, with the steps as they are now."""
        if self._stamp != stamp():
            self._make()
        return self._plan

    @property
    def parts(self) -> Parts:
        """The parts of each kernel by itself, without ladders."""
        if self._stamp != stamp():
            self._make()
        return self._parts

    def _columns(self, steps: Sequence[Step]) -> dict[str, Any]:
        """The columns of steps that `Plan` and `Parts` share."""
        return {
            "links": links_to(fill, [step.kind() for step in steps]),
            "channel": np.array([self.channels.index(step.channel) for step in steps]),
            "power": np.array([step.power for step in steps]),
            "parameter": np.array([step.parameter for step in steps], dtype=np.float64),
            "offset": np.array([step.offset for step in steps], dtype=np.float64),
        }

    def _step(self, kernel: Kernel) -> Step:
        """The kernel's step; a kernel that has none joins those given, as one that a step reads."""
        step = kernel.step()
        if step is None:
            return Step(PolynomialStep, self._called(kernel))  # of degree 1: the values themselves
        if not isinstance(step, Step) or not isinstance(step.kind, type):
            raise InputError(
                f"{type(kernel).__name__}: step() must give a Step, or None, got {shown(step)}; "
                "see docs/adding_a_kernel.md"
            )
        check_verbs(kernel, step.kind(), fill.family)
        if isinstance(step.channel, Kernel):
            return replace(step, channel=self._called(step.channel))
        return step

    def _called(self, kernel: Kernel) -> int:
        """The channel of a kernel that is called."""
        identity = identity_of(kernel)
        self._given.setdefault(identity, kernel)
        return FIRST_GIVEN + list(self._given).index(identity)


def identity_of(kernel: Kernel) -> Any:
    """The key of what is computed of a kernel: kernels of equal keys are the same function.

    Kernels of others may be equal and yet differ in what their class does not look at. So theirs,
    where they have no step, are the same function only if they are the same object.
    """
    step = kernel.step()
    if step is not None:
        return step
    if isinstance(kernel, Callable):
        return Callable, id(kernel.function)
    return id(kernel) if is_theirs(type(kernel)) else kernel


def _chains(steps: Chain) -> list[Chain]:
    """Steps that share an exponential lie in one chain; every other step is alone."""
    chains = [[step] for step in steps if step[1].kind is not ExponentialStep]
    exponentials = [step for step in steps if step[1].kind is ExponentialStep]
    for channel in sorted({step.channel for _, step in exponentials}):
        members = [step for step in exponentials if step[1].channel == channel]
        chains += _ladders(sorted(members, key=lambda step: step[1].parameter))
    return chains


def _ladders(steps: Chain) -> list[Chain]:
    """Split the exponentials of one channel, in the order of growing parameters, into ladders."""
    ladders: list[Chain] = []
    growth: list[float] = []  # of each ladder: the product of its ratios
    for identity, step in steps:
        for i, ladder in enumerate(ladders):
            ratio = step.parameter / ladder[-1][1].parameter
            power = round(min(ratio, 2.0 * LARGEST_RATIO))
            exact = abs(ratio - power) <= 4e-16 * power
            if exact and 2 <= power <= LARGEST_RATIO and growth[i] * power <= AMPLIFICATION:
                ladder.append((identity, replace(step, power=power)))
                growth[i] *= power
                break
        else:
            ladders.append([(identity, step)])
            growth.append(1.0)
    return ladders
