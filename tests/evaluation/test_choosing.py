"""Which recipes `compare` runs, and with which parameters."""

import hard_streams
import numpy as np
import pytest

import kernbrook as kb
from kernbrook.errors import InputError, UnknownNameError
from kernbrook.evaluation import recipes_wanted as choosing
from kernbrook.evaluation.comparing import compare
from kernbrook.evaluation.recipes_wanted import (
    SHORT_LISTS,
    make_online,
    parse,
    recipes_for,
)
from kernbrook.streams.arrays import ArrayStream

pytestmark = pytest.mark.usefixtures("few_samples")


@pytest.fixture
def classification():
    return ArrayStream(*hard_streams.gaussian_clouds(30))


@pytest.fixture
def regression():
    X, _ = hard_streams.gaussian_clouds(30)
    return ArrayStream(X, np.sin(3 * X[:, 0]))


def recipes_in(result):
    return [row.recipe for row in result.rows] + list(result.left_out)


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_a_short_list_by_default_and_all_on_demand(request, task):
    data = request.getfixturevalue(task)
    options = {"permutations": 1, "jobs": 1, "in_order": task == "regression"}
    assert recipes_in(compare(data, **options)) == list(SHORT_LISTS[task])
    everything = recipes_in(compare(data, "all", **options))
    assert sorted(everything) == sorted(recipes_for(task))


@pytest.mark.parametrize("wrong", [3, ["spa", None], {"a": 3}, {3: "spa"}])
def test_no_names(classification, wrong):
    with pytest.raises(InputError, match=r"recipes: expected names such as \['omkc-dd', 'spa'\]"):
        compare(classification, wrong)


def test_a_parameter_goes_to_the_recipes_that_have_it(classification):
    result = compare(
        classification,
        ["rbp", "omkc-dd", "majority"],
        permutations=1,
        jobs=1,
        budget=3,
        kernels="omkc16",
    )
    found = {row.recipe: row.runs[0].n_support_stored for row in result.rows}
    assert found["rbp"] == 16 * 3
    assert found["omkc-dd"] > 16 * 3
    assert result.manifest["parameters"] == {"budget": "3", "kernels": "'omkc16'"}
    in_order = compare(classification, ["rbp", "majority"], in_order=True, budget=3)
    assert in_order.rows[0].runs[0].n_support_stored == 16 * 3
    assert in_order.manifest["parameters"] == {"budget": "3"}


@pytest.mark.parametrize(
    ("names", "overrides", "message"),
    [
        (["rbp", "om2"], {"budgte": 1}, "^unknown parameter 'budgte': did you mean budget"),
        (["rbp", "majority"], {"q": 1}, "^unknown parameter of rbp 'q': known: mode, ker"),
        (["om2"], {"name": 1}, "^unknown parameter of om2 'name'"),
        (["om2"], {"random_state": 1}, "^random_state: give seed"),
    ],
)
def test_a_parameter_that_no_recipe_has(classification, names, overrides, message):
    with pytest.raises((InputError, UnknownNameError), match=message):
        compare(classification, names, **overrides)


# -- settings --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("spa", [("spa", {})]),
        ("spa(divisor=30),bpas(budget=500)", [("spa", {"divisor": 30}), ("bpas", {"budget": 500})]),
        (" spa ( divisor = 30 ) , projectron++", [("spa", {"divisor": 30}), ("projectron++", {})]),
        ("rbp(kernels=amkl17)", [("rbp", {"kernels": "amkl17"})]),
        ("a(b='),(',c=[(1,)],d=None),e", [("a", {"b": "),(", "c": [(1,)], "d": None}), ("e", {})]),
        ("spa,", [("spa", {}), ("", {})]),
    ],
)
def test_settings_in_a_text(text, expected):
    assert parse(text) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("spa(divisor=30", r"expected spa\(PARAMETER=VALUE, \.\.\.\), found spa\(divisor=30"),
        ("spa(30)", r"expected spa\(PARAMETER=VALUE"),
        ("spa(divisor=30)bpas", r"expected a comma after spa\(\.\.\.\), found 'bpas'"),
        ("spa(divisor=print(3))", r"spa: divisor must be a number.*, found print\(3\)"),
        ("spa(divisr=3)", r"spa\(divisr=3\): recipe spa: no parameter 'divisr'; it has kernels,"),
        ("bpas(budget=0)", r"bpas\(budget=0\): BPAS: budget must be an integer from 1"),
        ("bpas(random_state=0)", "random_state: give seed"),
        ("bpass(budget=3)", "unknown recipe 'bpass'"),
        ("spa,,bpas", "unknown recipe ''"),
    ],
)
def test_settings_that_are_wrong(classification, text, message):
    with pytest.raises((InputError, UnknownNameError), match=message):
        compare(classification, text)


def test_several_settings_of_a_recipe(classification):
    """Each row is what `make` gives; what holds for all gives way to what stands in the text."""
    texts = ["rbp(budget=3)", "rbp(budget=5, mode='library')", "rbp", "majority"]
    result = compare(classification, texts, permutations=1, jobs=1, budget=4)
    assert [row.recipe for row in result.rows] == texts
    assert [f"rbp{row.title[3:]}" for row in result.rows[:3]] == texts[:3]
    stored = [row.runs[0].n_support_stored for row in result.rows[:3]]
    assert stored[0] == 16 * 3 < stored[2] == 16 * 4
    same = compare(
        classification, {"a": "rbp(budget=3)", "b": "rbp"}, permutations=1, jobs=1, budget=4
    )
    assert [(row.recipe, row.title) for row in same.rows] == [("a", "RBP(budget=3)"), ("b", "RBP")]
    for one, other in zip(same.rows, (result.rows[0], result.rows[2]), strict=True):
        np.testing.assert_array_equal(one.runs[0].predictions, other.runs[0].predictions)
    assert same.manifest["models"] == {"a": "rbp(budget=3)", "b": "rbp"}
    with pytest.raises(InputError, match=r"a: expected one recipe, got 'spa,bpas'"):
        compare(classification, {"a": "spa,bpas"})


@pytest.mark.parametrize("recipes", ["spa,majority", None, "all"])
def test_a_plan_makes_what_is_asked_for_before_any_data_are_opened(monkeypatch, recipes):
    made = []

    def counted(name, **settings):
        made.append(name)
        return make_online(name, **settings)

    monkeypatch.setattr(choosing, "make_online", counted)
    plan = choosing.Plan(recipes, "sklearn", {})
    before = list(made)
    found = plan.choices(kb.open_stream("wdbc"))
    assert list(found)[-1] == "sklearn-knn"
    assert made == [name for name in found if not name.startswith("sklearn")]
    assert before == (made if recipes == "spa,majority" else [])
