"""From a pool of kernels to the plan of the compiled engine.

Gaussians whose widths are in an integer ratio form a ladder: one exponential of the widest and a
few multiplications for each narrower one. A rung multiplies the relative error by its ratio, so a
ladder starts again before the product of its ratios passes `AMPLIFICATION`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernbrook._jit import plan as codes
from kernbrook._jit.budget import Parts
from kernbrook._jit.plan import Plan
from kernbrook._jit.sums import UNDERFLOW
from kernbrook.errors import InputError
from kernbrook.kernels.functions import (
    Callable,
    Cauchy,
    Gaussian,
    Kernel,
    Laplacian,
    Polynomial,
    Precomputed,
    Sigmoid,
)
from kernbrook.kernels.matern import Matern

AMPLIFICATION = 300  # times the 3e-16 of one exponential: every value is good to 1e-13
LARGEST_RATIO = 16


@dataclass(frozen=True)
class _Step:
    code: int
    channel: int
    power: int
    parameter: float
    offset: float
    kernel: Kernel


@dataclass(frozen=True)
class Layout:
    """A plan with what the host must provide for it.

    Attributes
    ----------
    plan : for the compiled code
    channels : the plan's channels, in the order of the rows of `pairs`
    given : the kernels whose values the host computes, for the channels from FIRST_GIVEN on
    """

    plan: Plan
    channels: tuple[int, ...]
    given: tuple[Kernel, ...]


def lay_out(kernels: Sequence[Kernel], classes: int = 1, shared: bool = False) -> Layout:
    """Plan the scores of m kernels: outputs i c ... i c + c - 1 are kernel i's, for c classes.

    Parameters
    ----------
    kernels : m kernels
    classes : scores of each kernel
    shared : whether all kernels have the same c columns of coefficients; else c columns each
    """
    terms: dict[Kernel, list[tuple[int, int, float]]] = {}
    for i, kernel in enumerate(kernels):
        for weight, part in kernel.parts():
            for c in range(classes):
                output = i * classes + c
                terms.setdefault(part, []).append((output, c if shared else output, weight))
    given: list[Kernel] = []
    steps: list[_Step] = []
    chain_end: list[int] = []
    for chain in _chains(list(terms), given):
        chain_end += [len(steps) + len(chain)] * len(chain)
        steps += chain
    used = sorted({step.channel for step in steps})
    if codes.SQUARED in used and codes.INNER not in used:
        used.insert(0, codes.INNER)  # distances are made from inner products
    ordered = [terms[step.kernel] for step in steps]
    plan = Plan(
        code=np.array([step.code for step in steps]),
        channel=np.array([used.index(step.channel) for step in steps]),
        power=np.array([step.power for step in steps]),
        parameter=np.array([step.parameter for step in steps], dtype=np.float64),
        offset=np.array([step.offset for step in steps], dtype=np.float64),
        chain_end=np.array(chain_end),
        first_term=np.cumsum([0, *map(len, ordered)]),
        output=np.array([output for of_step in ordered for output, _, _ in of_step]),
        column=np.array([column for of_step in ordered for _, column, _ in of_step]),
        factor=np.array([factor for of_step in ordered for _, _, factor in of_step]),
        reach=_reach(list(terms)),
    )
    return Layout(plan, tuple(used), tuple(given))


def _reach(kernels: Sequence[Kernel]) -> float:
    """The squared distance from which on every kernel of the squared distance is exactly 0."""
    reaches = [UNDERFLOW / k.gamma for k in kernels if isinstance(k, Gaussian)]
    reaches += [UNDERFLOW**2 / k.rate for k in kernels if isinstance(k, Matern)]
    if any(isinstance(k, Cauchy) for k in kernels) or not reaches:
        return np.inf
    return max(reaches)


def _chains(kernels: Sequence[Kernel], given: list[Kernel]) -> list[list[_Step]]:
    """Steps that share an exponential lie in one chain; every other step is alone."""
    chains: list[list[_Step]] = []
    widths: dict[int, list[Gaussian | Laplacian]] = {codes.SQUARED: [], codes.MANHATTAN: []}
    for kernel in kernels:
        if isinstance(kernel, Gaussian):
            widths[codes.SQUARED].append(kernel)
        elif isinstance(kernel, Laplacian):
            widths[codes.MANHATTAN].append(kernel)
        elif isinstance(kernel, Polynomial):
            step = _Step(codes.POLYNOMIAL, codes.INNER, kernel.degree, kernel.offset, 0.0, kernel)
            chains.append([step])
        elif isinstance(kernel, Cauchy):
            chains.append([_Step(codes.CAUCHY, codes.SQUARED, 1, kernel.gamma, 0.0, kernel)])
        elif isinstance(kernel, Matern):
            order = round(kernel.nu - 0.5)
            chains.append([_Step(codes.MATERN, codes.SQUARED, order, kernel.rate, 0.0, kernel)])
        elif isinstance(kernel, Sigmoid):
            chains.append([_Step(codes.TANH, codes.INNER, 1, kernel.gamma, kernel.offset, kernel)])
        elif isinstance(kernel, (Callable, Precomputed)):
            channel = codes.FIRST_GIVEN + len(given)
            given.append(kernel)
            chains.append([_Step(codes.GIVEN, channel, 1, 0.0, 0.0, kernel)])
        else:
            raise InputError(
                f"the engine does not know the kernel {kernel!r}; wrap it as Callable(kernel)"
            )
    for channel, members in widths.items():
        chains += _ladders(sorted(members, key=lambda kernel: kernel.gamma), channel)
    return chains


def _ladders(kernels: Sequence[Gaussian | Laplacian], channel: int) -> list[list[_Step]]:
    """Split kernels in the order of growing gamma into ladders."""
    ladders: list[list[_Step]] = []
    growth: list[float] = []  # of each ladder: the product of its ratios
    for kernel in kernels:
        for i, ladder in enumerate(ladders):
            ratio = kernel.gamma / ladder[-1].parameter
            power = round(ratio)
            exact = abs(ratio - power) <= 4e-16 * power
            if exact and 2 <= power <= LARGEST_RATIO and growth[i] * power <= AMPLIFICATION:
                ladder.append(_Step(codes.POWER, channel, power, kernel.gamma, 0.0, kernel))
                growth[i] *= power
                break
        else:
            ladders.append([_Step(codes.EXPONENTIAL, channel, 1, kernel.gamma, 0.0, kernel)])
            growth.append(1.0)
    return ladders


def one_by_one(kernels: tuple[Kernel, ...], layout: Layout) -> Parts:
    """Each kernel by itself, without ladders, in the channels of the layout."""
    rows = []
    first = [0]
    plans: dict[Kernel, Any] = {}
    for kernel in kernels:
        for factor, part in kernel.parts():
            if part not in plans:
                plans[part] = _alone(part, layout)
            rows.append((*plans[part], factor))
        first.append(len(rows))
    columns = (np.array(column) for column in zip(*rows, strict=True))
    code, channel, power, parameter, offset, factors = columns
    return Parts(code, channel, power, parameter, offset, factors, np.array(first))


def _alone(kernel: Kernel, layout: Layout) -> tuple[int, int, int, float, float]:
    plan = lay_out([kernel])
    step = plan.plan
    if plan.given:
        channel = len(layout.channels) - len(layout.given) + layout.given.index(plan.given[0])
    else:
        channel = layout.channels.index(plan.channels[int(step.channel[0])])
    assert len(step.code) == 1  # one kernel, so no ladder
    return (
        int(step.code[0]), channel, int(step.power[0]), float(step.parameter[0]),
        float(step.offset[0]),
    )  # fmt: skip
