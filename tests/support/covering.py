"""Fewer cases than all, that still have every two values of two parameters together."""

from itertools import combinations, product


def pairwise(*choices):
    """Some of `product(*choices)`: with each pair of values of two choices, found greedily."""
    every = list(product(*(range(len(list(values))) for values in choices)))

    def pairs(case):
        return {((i, case[i]), (j, case[j])) for i, j in combinations(range(len(case)), 2)}

    of = {case: pairs(case) for case in every}
    missing, taken = set().union(*of.values()), []
    while missing:
        best = max(every, key=lambda case: len(of[case] & missing))
        taken.append(best)
        missing -= of[best]
    lists = [list(values) for values in choices]
    return [
        tuple(values[k] for values, k in zip(lists, case, strict=True)) for case in sorted(taken)
    ]
