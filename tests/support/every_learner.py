"""Every learner, with its naive twin: the list that the tests of learners run over."""

from functools import partial

import numpy as np
from driving import seed_of
from naive import budget, multiclass, pegasos, projecting, regression, rounds
from naive import features as naive_features
from naive import kernels as naive_kernels
from naive.passive_aggressive import passive_aggressive
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import kernbrook as kb
from kernbrook.features.pools import draw

SEED = 5
B = 9
POOL = [kb.Linear(), kb.Gaussian(gamma=0.02), kb.Gaussian(gamma=0.1), kb.Cauchy(gamma=0.3)]
TWINS = [
    *(naive_kernels.linear(), naive_kernels.gaussian(0.02), naive_kernels.gaussian(0.1)),
    naive_kernels.cauchy(0.3),
]
WAVES = kb.RandomFeatures(5)
SHIFTING = [kb.Gaussian(gamma=0.02), kb.Gaussian(gamma=0.1), kb.Cauchy(gamma=0.3)]


def kernels_of(learner):
    """The pool of a learner, and its twin."""
    return (SHIFTING, TWINS[1:]) if getattr(learner, "features", None) is WAVES else (POOL, TWINS)


def of_steps(binary, multi, slots=None, tie="label"):
    """Experts on kernel expansions: (number, kernel, X, C) -> expert."""

    def expert(number, kernel, X, C):
        if C == 2:
            return rounds.Binary(number, kernel, X, binary, slots or 10_000, tie)
        return rounds.Multi(multiclass.Expert(number, kernel, X, C, slots), C, multi, tie)

    return expert


def of_pegasos(upkeep, slots, upkeeps=None, **parameters):
    """upkeeps : of the pool's kernels, where they differ"""
    upkeeps = [upkeep] * len(POOL) if upkeeps is None else upkeeps
    parameters = {"regularization": 0.01, **parameters}

    def expert(number, kernel, X, C):
        own = multiclass.PegasosExpert(number, kernel, X, C, slots)
        step = partial(multiclass.pegasos_round, upkeeps=upkeeps, **parameters)
        return rounds.Multi(own, C, step, half=C == 2)

    return expert


def of_gradients(**parameters):
    return lambda number, kernel, X, C: regression.Expansion(X, kernel, C, **parameters)


def features_of(kernel, recipe, X, number=0):
    """(T, d) features of the rows by the naive maps, from the frequencies that were drawn."""
    if isinstance(kernel, kb.Polynomial):
        return np.array([naive_features.monomials(kernel.degree, kernel.offset, x) for x in X])
    V = draw(kernel, recipe, X.shape[1], seed_of(SEED), number).arrays()["frequencies"]
    return np.array([naive_features.random_features(V, x, recipe.normalize) for x in X])


def of_features(kind, recipe=WAVES, kernels=SHIFTING, **parameters):
    def expert(number, kernel, X, C):
        Z = features_of(kernels[number], recipe, X, number)
        return regression.OnFeatures(Z, kind(Z.shape[1], C, **parameters))

    return expert


HINGE = {"step": 0.5, "loss": "hinge", "regularization": 0.02}
# name -> (the learner, its twin: (number, kernel, X, C) -> expert; None where it has none)
LEARNERS = {
    "perceptron": (kb.Perceptron(), of_steps(budget.rbp, multiclass.perceptron, tie="margin")),
    "passive-aggressive": (
        kb.PassiveAggressive("PA-I", 1.0),
        of_steps(passive_aggressive, multiclass.passive_aggressive),
    ),
    "spa": (
        kb.SparsePA(divisor=1.5),
        of_steps(
            partial(budget.sparse_pa, divisor=1.5), partial(multiclass.sparse_pa, divisor=1.5)
        ),
    ),
    "spa, budget": (
        kb.SparsePA(divisor=1.5, budget=B),
        of_steps(*(partial(of.sparse_pa, divisor=1.5) for of in (budget, multiclass)), B),
    ),
    "rbp": (kb.RBP(B), of_steps(budget.rbp, multiclass.perceptron, B, "margin")),
    "forgetron": (kb.Forgetron(B), of_steps(budget.forgetron, multiclass.forgetron, B, "margin")),
    "bogd": (kb.BOGD(B), of_steps(budget.bogd, multiclass.bogd, B)),
    "bpas": (kb.BPAS(B), of_steps(budget.bpas, multiclass.bpas, B)),
    "projectron": (
        kb.Projectron(B),
        of_steps(projecting.projectron, multiclass.projectron, B, "margin"),
    ),
    "projectron++": (
        kb.ProjectronPlusPlus(B),
        of_steps(
            partial(projecting.projectron, margin_errors=True),
            partial(multiclass.projectron, margin_errors=True),
            *(B, "margin"),
        ),
    ),
    "ahpatron": (kb.Ahpatron(B), of_steps(projecting.ahpatron, multiclass.ahpatron, B)),
    "pegasos": (kb.Pegasos(None, 0.01), of_pegasos(None, None)),
    "pegasos, budget": (
        kb.Pegasos(B, 0.01, upkeep="smallest"),
        of_pegasos(pegasos.remove_smallest, B),
    ),
    "gradients": (kb.GradientDescent(features=None, **HINGE), of_gradients(**HINGE)),
    "gradients on features": (
        kb.GradientDescent(features=WAVES, **HINGE),
        of_features(regression.Descent, **HINGE),
    ),
    "ridge": (kb.Ridge(features=WAVES), of_features(regression.Ridge)),
    "gradients, squared": (
        kb.GradientDescent(0.2, features=None, regularization=0.1),
        of_gradients(step=0.2, regularization=0.1),
    ),
    "gradients, window": (
        kb.GradientDescent(features=None, budget=50, **HINGE),
        of_gradients(budget=50, **HINGE),
    ),
    "gradients on features, squared": (
        kb.GradientDescent(0.3, "constant", features=WAVES),
        of_features(regression.Descent, step=0.3, schedule="constant"),
    ),
    "pegasos, merging": (kb.Pegasos(B, 0.01, upkeep="merge"), None),
    "tree": (kb.External(DecisionTreeClassifier(random_state=0), every=10, window=40), None),
    "tree of numbers": (kb.External(DecisionTreeRegressor(random_state=0), 10, 40), None),
    "advice": (kb.Advice([0, 2]), None),
    "last label": (kb.LastLabel(), None),
    "cells": (  # one expert, whose twin has a test of its own
        kb.Cells([kb.RandomBinning(6, [2, None], cells=99), kb.GrownPartitions(3, 30, 2, 5)]),
        None,
    ),
    "hashed inputs": (kb.Cells(kb.HashedInputs(99)), None),  # likewise
    "boosted trees": (kb.BoostedTrees(3, 4, 40, work=90), None),  # likewise
    "group": (kb.Group([kb.BPAS(B), kb.Ridge(features=WAVES)], SHIFTING), None),
}


def with_twins(numbers):
    """Those of the list that have a twin, for numbers or for classes."""
    return {
        name: (learner, twin)
        for name, (learner, twin) in LEARNERS.items()
        if twin is not None
        and (not numbers or (getattr(learner, "of_numbers", False) and not learner.only_classes))
    }
