"""Every parameter of every part of a machine, set to what it is not: in words, or it works."""

from __future__ import annotations

import inspect
from itertools import product
from typing import Annotated

import hard_streams
import numpy as np
import plain
import pytest
from beside import module_of
from edges import edges
from sklearn.base import BaseEstimator
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import GridSearchCV

import kernbrook as kb
from kernbrook.checks import MOST, POSITIVE, check, parameters, ranges_of
from kernbrook.errors import InputError, KernbrookError

X, Y = hard_streams.gaussian_clouds(20, 3)
KERNELS = [kb.Gaussian(sigma=1), kb.Linear()]
ODD = [
    None, "x", "", [], ["a"], {}, np.nan, np.inf, -1, 0, 0.5, 10**9, 10**30, 10**5000, 1e-320,
    1e308, 1 + 2j, True, b"margin", np.array([1.0, 2.0]), np.array(3), np.float32(0.5), object(),
    dict, len,
]  # fmt: skip


def parts(module):
    return [
        kind
        for kind in (getattr(module, name) for name in module.__all__)
        if isinstance(kind, type) and hasattr(kind, "choice")
    ]


FACTORS = kb.learners, kb.combiners, kb.selection, kb.labels
PARTS = [
    kind
    for module in FACTORS
    for kind in parts(module)
    if inspect.signature(kind.__init__) != inspect.signature(object.__init__)
]


def machine(part):
    """One with this part, and what the part needs beside it."""
    if part.choice == "learner":
        return plain.classifier(KERNELS, part, random_state=0)
    if part.choice == "cells":
        return plain.classifier(KERNELS, kb.Cells(part), random_state=0)
    if part.choice == "selection":
        return plain.classifier(KERNELS, selection=part, random_state=0)
    if part.choice == "labels":
        return plain.classifier(KERNELS, labels=part, random_state=0)
    if isinstance(part, kb.AdaRaker):
        learners = [kb.GradientDescent(0.1), kb.GradientDescent(0.05)]
        return plain.regressor(KERNELS, learners, part, random_state=0)
    if isinstance(part, kb.EXP):
        return plain.regressor(KERNELS, combiner=part, random_state=0)
    return plain.classifier(KERNELS, combiner=part, random_state=0)


BESIDE = {  # without which a parameter is not looked at, or always refused
    (kb.GradientDescent, "budget"): {"features": None},
    (kb.AdaRaker, "step"): {"levels": 2},
    (kb.AdaRaker, "restart"): {"levels": 2},
    (kb.AdaRaker, "loss"): {"levels": 2},
    (kb.AdaRaker, "cap"): {"levels": 2},
    (kb.Pegasos, "upkeep"): {"budget": 5},
    (kb.Pegasos, "merging"): {"budget": 5},
    (kb.External, "every"): {"model": SGDClassifier()},
    (kb.External, "window"): {"model": SGDClassifier()},
    (kb.Group, "kernels"): {"learner": kb.BPAS(5)},
    (kb.Group, "scaling"): {"learner": kb.BPAS(5)},
}


# -- by what the classes say -----------------------------------------------------------------------

NEEDED = {  # what a class cannot be made without
    kb.Advice: {"columns": [0]}, kb.Cauchy: {"sigma": 1.0},
    kb.External: {"model": SGDClassifier()}, kb.Gaussian: {"sigma": 1.0},
    kb.Group: {"learner": kb.BPAS(5)}, kb.Laplacian: {"sigma": 1.0},
    kb.LateLabels: {"model": kb.OnlineMKClassifier()}, kb.Matern: {"sigma": 1.0},
    kb.NamedColumns: {"model": kb.OnlineMKClassifier()}, kb.Polynomial: {"degree": 2},
    kb.NormalizedPolynomial: {"degree": 2}, kb.TableModel: {"model": kb.OnlineMKClassifier()},
}  # fmt: skip
WIDTHS = ("sigma", "gamma")  # a kernel is given one of the two
LARGE = "budget", "n_components", "cells", "nodes", "slots"  # the greatest take memory, or long


@pytest.fixture(scope="module")
def written():
    """The program that writes the page of parameters."""
    return module_of("docs/write_parameters.py")


@pytest.fixture(scope="module")
def public(written):
    return [kind for kinds in written.sections().values() for kind in kinds]


def needed(kind, name):
    """What it takes to make one, beside the parameter of this name."""
    return {key: value for key, value in NEEDED.get(kind, {}).items() if name not in WIDTHS}


def test_every_public_class_says_its_parameters(public):
    """But for oracles, which are called, and nothing that learns."""
    classes = {getattr(kb, name) for name in kb.__all__ if isinstance(getattr(kb, name), type)}
    with_some = {kind for kind in classes if inspect.signature(kind).parameters}
    assert with_some - set(public) == {kb.JSONLines}
    for kind in public:
        parameters = inspect.signature(kind).parameters.values()
        named = [one.name for one in parameters if one.kind is not one.VAR_POSITIONAL]
        assert list(ranges_of(kind)) == named, kind


def test_a_signature_has_the_type_of_a_parameter_without_what_it_may_be(public):
    for kind in public:
        assert "Annotated" not in str(inspect.signature(kind)), kind
    assert inspect.signature(kb.BPAS).parameters["aggressiveness"].annotation is float


def test_annotations_may_be_text_or_objects():
    """A module without `from __future__ import annotations` has objects."""

    def made(hint):
        fields = {"__annotations__": {"step": hint}, "__module__": __name__, "step": 0.5}
        return parameters(type("Own", (BaseEstimator,), fields))

    for kind in (made("Annotated[float, POSITIVE]"), made(Annotated[float, POSITIVE])):
        assert ranges_of(kind) == {"step": POSITIVE}
        assert kind(step=2.0).get_params() == {"step": 2.0}


def test_the_page_of_parameters_is_up_to_date(written):
    said = "write it anew: python docs/write_parameters.py"
    assert written.PAGE.read_text(encoding="utf-8") == written.page(), said


def test_defaults_are_what_parameters_may_be(public):
    for kind in public:
        if not issubclass(kind, kb.kernels.Kernel):
            check(kind(**NEEDED.get(kind, {})))


def test_what_lies_just_outside_is_refused(public):
    for kind in public:
        for name, allowed in ranges_of(kind).items():
            for value in edges(allowed)[1]:
                given = needed(kind, name)
                if value is None and name in WIDTHS:
                    continue
                with pytest.raises(InputError, match=rf"^{kind.__name__}: {name} must be .*, got "):
                    use(kind(**{**given, name: value}))


def use(owner):
    """Check the parameters where a user would meet the check; kernels are checked already."""
    if hasattr(owner, "choice") and owner.choice != "features":
        machine(owner).learn(X, Y)
    elif isinstance(owner, kb.RandomFeatures):
        machine(kb.GradientDescent(features=owner, loss="hinge")).learn(X, Y)
    elif isinstance(owner, kb.features.base.Features):
        kb.KernelFeatures(kb.Polynomial(2), owner).fit(X)
    elif isinstance(owner, kb.LateLabels):
        owner.predict(X, keys=range(len(X)))
    elif isinstance(owner, kb.TableModel):
        owner.partial_fit([{"a": 1.0, "b": 0}, {"a": 2.0, "b": 1}])
    elif isinstance(owner, kb.NamedColumns):
        owner.learn([{"a": 1.0}, {"a": 2.0}], [0, 1])
    elif not isinstance(owner, kb.kernels.Kernel):
        owner.fit(X, Y)


def refused(work):
    """What is said, in one line; nothing where it works."""
    try:
        work()
    except KernbrookError as error:
        said = str(error)
    else:
        return ""
    assert said
    assert "\n" not in said
    assert len(said) < 400
    return said


@pytest.mark.sampled
@pytest.mark.parametrize("kind", PARTS)
def test_an_odd_value_works_or_is_refused_in_a_line(kind):
    for name, value in product(inspect.signature(kind).parameters, ODD):
        if name == "kernels" and callable(value):
            continue  # a kernel, whose errors are its own
        model = machine(kind(**{**BESIDE.get((kind, name), {}), name: value}))
        said = refused(lambda model=model: model.learn(X, Y))
        if said == "":
            assert np.isfinite(model.predict(X)).all(), (name, value)


@pytest.mark.slow
def test_values_at_the_ends_work_or_are_refused_because_of_something_else(public):
    for kind in public:
        for name, allowed in ranges_of(kind).items():
            for value in edges(allowed)[0]:
                given = {**needed(kind, name), **BESIDE.get((kind, name), {}), name: value}
                said = refused(lambda kind=kind, given=given: check(kind(**given)))
                assert said == "" or name in WIDTHS, said  # gamma follows from sigma
                if hasattr(kind, "choice") and kind.choice != "features":
                    if name in LARGE and value == MOST:
                        continue
                    model = machine(kind(**given))
                    said = refused(lambda model=model: model.learn(X, Y))
                    assert not said.startswith(f"{kind.__name__}: {name} must be {allowed.words}")
                    if said == "":
                        assert np.isfinite(model.predict(X)).all(), (kind, name, value)


@pytest.mark.parametrize(
    ("part", "said"),
    [
        (kb.BPAS(aggressiveness=10**5000), "of a size from .*, got a value of type int"),
        (kb.GradientDescent(loss=np.ones(2)), "loss must be one of squared, .*, got array"),
        (kb.Group(10**200), r"learner: expected an object such as Perceptron\(\), got 10{98}…$"),
        (kb.Group(kb.BPAS(), 10**200), "kernels: expected a dictionary's name, .* got 10{98}…$"),
        (kb.Group(kb.BPAS(), scaling=[]), r"scaling must be None or one of maximum, .* got \[\]$"),
    ],
    ids=lambda part: part if isinstance(part, str) else "",
)
def test_what_is_said(part, said):
    with pytest.raises(InputError, match=said):
        machine(part).fit(X, Y)


def test_parameters_of_a_part_that_is_left_at_its_default():
    for model, name, said in (
        (
            *(kb.OnlineMKClassifier(), "learner__budget"),
            r"learner__budget: learner is None, the .* parameters; write learner=kb.BPAS\(\) first",
        ),
        (kb.OnlineMKRegressor(), "learner__regularization", r"write learner=kb.Ridge\(\) first"),
        (kb.OnlineMKClassifier(), "labels__rate", r"labels is 'all' and .* labels=kb.LabelBudget"),
        (kb.OnlineMKClassifier(), "kernels__sigma", "kernels is 'auto' and has no parameters$"),
    ):
        with pytest.raises(InputError, match=said):
            model.set_params(**{name: 5})
    with pytest.raises(ValueError, match="Invalid parameter 'learners'"):
        kb.OnlineMKClassifier().set_params(learners__budget=5)
    model = kb.OnlineMKClassifier().set_params(learner__budget=7, learner=kb.BPAS())
    assert model.learner.budget == 7
    search = GridSearchCV(kb.OnlineMKClassifier(), {"learner__budget": [5, 10]}, cv=2)
    with pytest.raises(InputError, match="learner is None, the default"):
        search.fit(X, Y)
    search.estimator.set_params(learner=kb.BPAS())
    assert search.fit(X, Y).best_params_["learner__budget"] in (5, 10)


@pytest.mark.parametrize(
    "name", ["kernels", "learner", "combiner", "selection", "labels", "scaling"]
)
def test_an_odd_parameter_of_the_machine_is_refused_in_a_line(name):
    for make, value in product((kb.OnlineMKClassifier, kb.OnlineMKRegressor), ODD):
        if value is None or (name == "kernels" and callable(value)):
            continue  # a default, or a kernel, whose errors are its own
        assert refused(lambda make=make, value=value: make(**{name: value}).fit(X, Y)), value


@pytest.mark.parametrize(
    ("work", "said"),
    [
        (lambda: kb.Gaussian(1.0), "Gaussian: say which width it is, sigma=1.0 or gamma=1.0"),
        (lambda: kb.OnlineMKRegressor(random_state=2**32).fit(X, Y), "to 4,294,967,295 or a Ra"),
        (lambda: kb.Mean(3), "Mean: expected one or more kernels, got 3"),
        (lambda: kb.KernelFeatures(KERNELS, kb.Nystroem(landmarks="x")).fit(X), "landmarks must"),
    ],
)
def test_what_is_said_of_others(work, said):
    with pytest.raises(InputError, match=said):
        work()
