"""What every learner, combiner, selection and label policy must be able to do."""

import inspect

import numpy as np
import pytest
from every_combiner import COMBINERS, SELECTIONS
from every_learner import LEARNERS
from every_policy import POLICIES
from hard_streams import clouds_of
from naive import combiners
from twins import assert_equals_its_twin

import kernbrook as kb

TASKS = [2, 4, None]  # classes, or numbers


def exported(module):
    """The classes that a module of parts exports."""
    found = [getattr(module, name) for name in module.__all__]
    return {kind for kind in found if inspect.isclass(kind) and hasattr(kind, "choice")}


def kinds(*lists):
    return {type(part) for entries in lists for part, _ in entries.values()}


def test_every_export_is_on_its_list():
    assert exported(kb.learners) == kinds(LEARNERS)
    assert exported(kb.combiners) == kinds(COMBINERS)
    assert exported(kb.selection) == kinds(SELECTIONS)
    assert exported(kb.labels) == kinds(POLICIES)


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.long) if "tree" in name else name for name in LEARNERS],
)
def test_properties_of_learners(name):
    kb.testing.check_learner(LEARNERS[name][0])


@pytest.mark.sampled
@pytest.mark.parametrize("name", [*COMBINERS, *SELECTIONS])
def test_properties_of_combiners(name):
    kb.testing.check_combiner({**COMBINERS, **SELECTIONS}[name][0])


@pytest.mark.sampled
@pytest.mark.parametrize("name", POLICIES)
def test_properties_of_policies(name):
    kb.testing.check_policy(POLICIES[name][0])


MAPS = {
    "waves": (kb.RandomFeatures(20), kb.Gaussian(sigma=1)),
    "orthogonal waves": (kb.RandomFeatures(20, "orthogonal"), kb.Gaussian(sigma=1)),
    "monomials": (kb.Monomials(), kb.Polynomial(2)),
    "landmarks": (kb.Nystroem(landmarks=np.random.default_rng(0).normal(size=(60, 3))), None),
}


@pytest.mark.parametrize("name", MAPS)
def test_properties_of_maps(name):
    kb.testing.check_features(*MAPS[name])


class Wrong(kb.RandomFeatures):
    """Random features with a fault."""

    def __init__(self, n_components=20, frequencies="random", normalize=True, fault=None):
        super().__init__(n_components, frequencies, normalize)
        self.fault = fault

    @property
    def map(self):
        fault = self.fault

        class Faulty(kb.RandomFeatures.map):
            panel = None

            def fill(self, rows, out):
                super().fill(rows, out)
                if fault == "neighbours":
                    out += 1e-9 * out.mean()
                elif fault == "forms" and type(rows).__name__ == "SparseRows":
                    out *= 1.0 + 1e-12
                elif fault == "values":
                    out *= 1.2
                elif fault == "products":  # by BLAS, which depend on the rows beside
                    V = self.arrays()["frequencies"]
                    out[:, : len(V)] = rows.dense() @ V.T
                elif fault == "large":
                    out[np.abs(rows.dense()).max(axis=1) > 100] = np.nan

        return Faulty

    def draw(self, kernel, width, generator):
        arrays = super().draw(kernel, width, generator)
        if self.fault == "chance":
            arrays["frequencies"] = np.random.default_rng().normal(size=arrays["frequencies"].shape)
        return arrays

    def shapes(self, kernel, width):
        return {} if self.fault == "shapes" else super().shapes(kernel, width)


FAULTS = {
    "neighbours": "rows 1 at a time have other features",
    "forms": "rows in CSR have other features",
    "products": "rows 1 at a time have other features",
    "values": "inner products are not those of",
    "large": "features of rows of size 1e3 are not finite",
    "chance": "equal generators give other numbers",
    "shapes": "`shapes` names other arrays than `draw` gives",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_map_with_a_fault_is_found(fault):
    with pytest.raises(AssertionError, match=FAULTS[fault]):
        kb.testing.check_features(Wrong(fault=fault))


def is_for(combiner, C):
    loss = getattr(combiner, "loss", None)
    return loss is None or (loss in ("squared", "absolute", "linearized")) == (C is None)


@pytest.mark.parametrize(
    ("C", "name"),
    [
        (C, name)
        for C in TASKS
        for name, (combiner, twin) in COMBINERS.items()
        if twin is not None and is_for(combiner, C)
    ],
)
def test_combiners_equal_their_twins(C, name):
    learner = LEARNERS["gradients, squared" if C is None else "rbp"]
    assert_equals_its_twin(*learner, *clouds_of(C, 90), C, *COMBINERS[name])


@pytest.mark.parametrize(
    "name", [name for name, (policy, _) in POLICIES.items() if "classes" not in policy.needs]
)
def test_policies_of_numbers_equal_their_twins(name):
    hedge = kb.Hedge(0.9, "absolute", cap=20.0), lambda m: combiners.Hedge(m, 0.9)
    X, y = clouds_of(None, 90)
    assert_equals_its_twin(*LEARNERS["ridge"], X, y, None, *hedge, policy=POLICIES[name])
