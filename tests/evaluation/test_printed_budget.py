"""Table 2 of the budget paper: online mistakes, in per cent, under a budget for each kernel.

Lu, Hoi, Sahoo, Zhao (2015), Budget online multiple kernel learning: mean and deviation over ten
permutations. One permutation of ours is held to two printed deviations; BPAS on a9a to half a
point, since which of several removals of equal cost is made moves it by 0.2. BOGD is left out: its
regularization is not printed. These tests need the data files (KERNBROOK_DATA).
"""

import hard_streams
import numpy as np
import pytest

import kernbrook as kb

# data, recipe, mistakes, what is allowed
PRINTED = [
    ("magic04", "rbp", 27.90, 2 * 0.40),
    ("magic04", "forgetron", 28.20, 2 * 0.48),
    ("magic04", "bpas", 22.73, 2 * 0.29),
    ("a9a", "rbp", 20.46, 2 * 0.24),
    ("a9a", "bpas", 17.09, 2 * 0.10),
]
BUDGETS = {"magic04": 254, "a9a": 443}


@pytest.mark.parametrize(("data", "recipe", "error", "allowed"), PRINTED)
def test_table_2(data, recipe, error, allowed):
    X, y = hard_streams.real(data)
    if data == "magic04":
        X = X.toarray()
    order = np.random.default_rng(0).permutation(len(y))
    model = kb.recipes.make(recipe, budget=BUDGETS[data], random_state=0)
    record = kb.prequential(model, X, y, order)
    assert abs(100 * record.error - error) <= allowed
    assert record.n_support_stored <= 16 * BUDGETS[data]
    assert record.n_support_stored > 15 * BUDGETS[data]
