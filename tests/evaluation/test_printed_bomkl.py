"""Table 1 of the budget paper as `reproduce` runs it: which rows come out, and which do not.

Lu, Hoi, Sahoo, Zhao (2015), Budget online multiple kernel learning: mean and deviation over ten
permutations, which are not known; ours are seeded. Not matched: OMKC(SD), whose printed numbers of
support vectors are 2 to 8 % above ours; Perceptron(*) on madelon, printed at the level of a
polynomial kernel; OMKC(U) on magic04, where tied votes count as mistakes in the paper. These tests
need the data files (KERNBROOK_DATA).
"""

import hard_streams
import pytest
from kernbrook.evaluation.reproducing import reproduce

# data, permutations, rows whose mistakes agree, rows whose support vectors agree
AGREE = [
    ("german", 4, {"perceptron", "omkc-u", "omkc-dd", "spa"}, None),
    ("svmguide3", 10, {"perceptron", "omkc-u", "omkc-dd", "omkc-sd", "spa"}, None),
    ("madelon", 2, {"omkc-u", "spa"}, {"omkc-u", "omkc-dd", "spa"}),
    ("magic04", 1, {"omkc-dd", "spa"}, {"omkc-u", "omkc-dd", "spa"}),
]


@pytest.mark.parametrize(("data", "permutations", "errors", "sizes"), AGREE)
def test_within_two_printed_deviations(data, permutations, errors, sizes):
    hard_streams.real(data)  # skips where it is not there
    result = reproduce("bomkl-table-1", data=[data], permutations=permutations, jobs=1)
    cells = {cell.recipe: cell for cell in result.cells}
    for recipe in errors:
        assert cells[recipe].error_agrees, cells[recipe]
    for recipe in sizes or errors - {"omkc-sd"}:
        assert cells[recipe].n_support_agrees, cells[recipe]
