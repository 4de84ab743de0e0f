"""Comparisons and reproductions made of seeded numbers, in the shape of real ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from kernbrook.evaluation.reproduction_records import (
    AccuracyCell,
    AccuracyCurve,
    AccuracyCurves,
    AccuracyTable,
    Cell,
    ParameterStudy,
    Reproduction,
    StudyPoint,
    TimeRatio,
    TimeReproduction,
)

from kernbrook.evaluation.records import Comparison, History, Record, Row

# recipe, title, final error in per cent, support vectors a round, active share, many kernels
RECIPES = [
    ("omkc-dd", "OMKC(D,D)", 21.97, 5.10, 1.0, True),
    ("omkc-ds", "OMKC(D,S)", 22.57, 5.10, 0.06, True),
    ("omkc-sd", "OMKC(S,D)", 20.19, 2.60, 1.0, True),
    ("omkc-ss", "OMKC(S,S)", 20.49, 2.60, 0.4, True),
    ("omkc-u", "OMKC(U)", 23.40, 5.10, 1.0, True),
    ("perceptron", "Perceptron", 22.55, 0.225, 1.0, False),
    ("perceptron-u", "Perceptron(u)", 22.09, 0.221, 1.0, True),
    ("perceptron-best", "Perceptron(*)", 22.07, 0.221, 1.0, False),
    ("om2", "OM-2", 20.23, 0.27, 1.0, True),
    ("majority", "Majority", 24.30, 0.0, 1.0, False),
    ("last-label", "Last label", 36.80, 0.0, 1.0, False),
]
KERNELS = tuple(f"(x·z)^{p}" for p in (1, 2, 3)) + tuple(
    f"exp(−‖x−z‖²/(2·{2.0**k:g}²))" for k in range(-6, 7)
)


def make_comparison(
    names=None, *, permutations=5, n_rows=3185, samples=40, data="a3a", best=("omkc-sd", "om2"),
    asked=1.0, kernels=KERNELS, seed=0,
):  # fmt: skip
    random = np.random.default_rng(seed)
    rows = []
    for recipe in RECIPES:
        if names is None or recipe[0] in names:
            runs = tuple(
                _record(random, recipe, n_rows, samples, asked, kernels)
                for _ in range(permutations)
            )
            rows.append(Row(recipe[0], recipe[1], runs))
    manifest = {
        "command": f"kernbrook compare {data} --permutations {permutations} --seed {seed}",
        "versions": {"kernbrook": "0.1.0", "numpy": "2.4.6", "python": "3.11.2"},
        "seed": seed,
        "data_sha256": "9f2c" * 16,
    }
    kept = tuple(name for name in best if names is None or name in names)
    return Comparison(data, n_rows, 123, permutations, tuple(rows), kept, manifest)


def _record(random, recipe, n_rows, samples, asked, kernels):
    _, _, percent, per_round, share, many = recipe
    rounds = np.unique(np.linspace(0, n_rows, samples + 1).astype(np.int64)[1:])
    final = percent / 100 + 0.004 * random.standard_normal()
    start = 0.25 * np.exp(-rounds / (0.1 * n_rows))
    error = final + start * (0 if per_round == 0 else 1)
    error = error + 0.3 * random.standard_normal(len(rounds)) * np.sqrt(0.2 / rounds) * (
        1 - rounds / n_rows
    )
    error = np.clip(error, 0, 1)
    mistakes = np.zeros(n_rows, dtype=bool)
    mistakes[: round(float(error[-1]) * n_rows)] = True
    stored = (per_round * rounds * (1 + 0.03 * random.standard_normal())).astype(np.int64)
    active = (stored * (1 - (1 - share) * (1 - np.exp(-rounds / 500)))).astype(np.int64)
    m = len(kernels) if many else 0
    quality = random.standard_normal(m) * 0.1 + np.linspace(0, 1, m) * (1 + (per_round < 4))
    logits = quality[None, :] * 6 * (rounds / n_rows)[:, None]
    weights = np.exp(logits)
    weights = weights / weights.sum(axis=1, keepdims=True) if many else weights
    count = np.full(len(rounds), 0) + (asked * rounds).astype(np.int64)
    history = History(rounds, error, stored, active, count, weights, kernels if many else ())
    return Record(
        predictions=np.ones(n_rows),
        mistakes=mistakes,
        error=float(mistakes.mean()),
        labels_asked=int(count[-1]),
        n_support_stored=int(stored[-1]),
        n_support_active=int(active[-1]),
        seconds=float(0.02 + 0.1 * per_round * random.uniform(0.9, 1.1)),
        history=history,
    )


# recipe, title, final mean squared error, support vectors a round, share of labels, many kernels
OF_NUMBERS = [
    ("kl-poly", "POLY2", 0.0251, 1.0, 1.0, False),
    ("raker", "Raker", 0.0134, 0.0, 1.0, True),
    ("kernbrook-active", "kernbrook, half of the labels", 0.01281, 0.0, 0.48, True),
    ("mean", "mean so far", 0.0283, 0.0, 1.0, False),
    ("last-value", "last value", 0.0145, 0.0, 1.0, False),
]


def make_numbers(names=None, *, permutations=5, scale=1.0, best=("kernbrook-active",), **options):
    """Squared errors, `scale` times those above; the label shares are those above too."""
    random = np.random.default_rng(3)
    n_rows, samples = options.get("n_rows", 3185), options.get("samples", 40)
    rows = []
    for recipe, title, error, per_round, asked, many in OF_NUMBERS:
        if names is None or recipe in names:
            runs = []
            for _ in range(permutations):
                drawn = recipe, title, 0.0, per_round, 1.0, many
                run = _record(random, drawn, n_rows, samples, asked, KERNELS)
                final = scale * error * (1 + 0.01 * random.standard_normal())
                errors = final * (1 + 2 * np.exp(-run.history.rounds / (0.1 * n_rows)))
                errors[-1] = final
                history = replace(run.history, error=errors)
                predictions = np.zeros(n_rows)
                runs.append(replace(
                    run, predictions=predictions, mistakes=None, error=final, history=history
                ))  # fmt: skip
            rows.append(Row(recipe, title, tuple(runs)))
    kept = tuple(name for name in best if names is None or name in names)
    return Comparison("energy", n_rows, 25, permutations, tuple(rows), kept, {"seed": 0})


def make_reproduction():
    cells = (
        Cell("ionosphere", "omkc-dd", "OMKC(D,D)", 16.07, 1.42, 16.19, 1.31, 1547.5, 53.0,
             1551.2, 49.8, True, True),
        Cell("ionosphere", "om2", "OM-2", 17.41, 1.20, 17.38, 1.22, 128.5, 4.4, 128.9, 4.6,
             False, False),
        Cell("spambase", "omkc-dd", "OMKC(D,D)", 24.36, 0.45, 24.31, 0.47, 27390.0, 180.0,
             27401.5, 176.2, True, True),
        Cell("spambase", "perceptron-best", "Perceptron(*)", 26.22, 2.09, 25.90, None, 1206.6,
             96.3, 1190.0, None, False, False),
    )  # fmt: skip
    return Reproduction(
        "omkc-3",
        "mistakes and support vectors, OMKC(D,D) and baselines",
        {"ionosphere": "the authors' own", "spambase": "seeded"},
        cells,
        ("dorothea", "w5a"),
        {"seed": 0},
    )


def make_ratios():
    ratios = tuple(
        TimeRatio(data, n, recipe, f"{title}/(D,D)", printed, ours)
        for data, n, values in (
            ("sonar", 208, ((98.6, 97.0), (94.5, 90.1), (68.3, 60.2))),
            ("w5a", 9888, ((98.6, 99.1), (37.5, 41.0), (18.8, 22.4))),
        )
        for (recipe, title), (printed, ours) in zip(
            (("omkc-ds", "(D,S)"), ("omkc-sd", "(S,D)"), ("omkc-ss", "(S,S)")), values, strict=True
        )
    )
    return TimeReproduction("omkc-5", "time ratios", {"sonar": "seeded"}, ratios, ("a3a",), {})


def make_discounts(data=("ionosphere", "splice", "a3a", "mushrooms"), seed=0):
    random = np.random.default_rng(seed)
    discounts = np.arange(1, 21) / 20
    result = {}
    for name in data:
        level = random.uniform(1, 30)
        result[name] = {
            title: (
                discounts,
                level * (1 + 0.3 * (discounts - 0.8) ** 2 + 0.05 * place),
                np.full(20, 0.03 * level),
            )
            for place, title in enumerate(("OMKC(D,D)", "OMKC(D,S)", "OMKC(S,D)", "OMKC(S,S)"))
        }
    return result


def make_study(permutations=3):
    deviation = 0.12 if permutations > 1 else None
    sizes = 150.5 if permutations > 1 else None
    points = [
        StudyPoint("a9a", "cap", cap, f"divisor {divisor}", "spa", 15 + divisor / 3 + 1 / cap,
                   deviation, 20000.0 * min(cap, 1.2) / divisor, sizes, 2.5 / divisor)
        for divisor in (3, 6) for cap in (0.5, 1.0, 2.0)
    ] + [
        StudyPoint("a9a", "divisor", divisor, curve, curve.lower(), level + divisor / 4, deviation,
                   20000.0 / divisor, sizes if curve == "SPA" else deviation and 0.0, 5.0 / divisor)
        for divisor in (1.0, 4.0, 12.0)
        for curve, level in (("SPA", 15.5), ("RBP", 20.0), ("BPAS", 16.5))
    ]  # fmt: skip
    return ParameterStudy(
        "bomkl-figure-1", "cap and divisor", {"a9a": "seeded"}, tuple(points),
        manifest={"seed": 0}, remarks=("no numbers are printed",),
    )  # fmt: skip


def make_accuracies(permutations=5):
    several = permutations > 1
    rows = [  # data, recipe, title, budget, width, examples printed and ours, #SV printed
        ("letter", "pegasos", "PegasosM", None, 16, 16000, 15000, 10000, 95.7, 0.1, 95.52, 10045.2),
        ("letter", "bpegasos-merge", "BPM+merging", 100, 1, 16000, 15000, None, 72.0, 1.3, 77.12,
         100.0),
        ("letter", "bpegasos-merge", "BPM+merging (21)", 500, 4, 16000, 15000, None, 89.5, 0.3,
         89.54, 500.0),
        ("checkerboard", "bpegasos-merge", "BPM+merging", 500, 64, 10**7, 10**7, None, 99.8, 0.0,
         99.82, 500.0),
    ]  # fmt: skip
    cells = tuple(
        AccuracyCell(*row[:8], row[8], row[9], row[10], 0.87 if several else None, row[11], 1.25)
        for row in rows
    )
    origins = {"letter": "seeded", "checkerboard": "seeded"}
    return AccuracyTable(
        "bpegasos-table-1", "test accuracy", origins, cells, ("usps",), {"seed": 0}, ("a remark",)
    )


def make_curves(shown="accuracy", permutations=1, budgets=(None, 100, 100), stopped=5000):
    curves = []
    titles = ("PegasosM", "BPM+random", "BPM+merging")
    for place, (title, budget) in enumerate(zip(titles, budgets, strict=True)):
        last = stopped if budget is None else 20000
        rows = (*(n for n in (100, 1000, 3162, 10000) if n < last), last)
        std = (0.5,) * len(rows) if permutations > 1 else None
        curves.append(
            AccuracyCurve(
                "waveform", f"recipe-{place}", title, budget, 4.0, last, last, None, rows,
                tuple(60.0 + 5 * place + i for i in range(len(rows))), std,
                tuple(float(budget or n) for n in rows), tuple(n / 1e4 * (3 - place) for n in rows),
                360.0 if title == "BPM+merging" else None,
            )
        )  # fmt: skip
    return AccuracyCurves(
        "bpegasos-figure-2", "accuracy on the way", {"waveform": "seeded"}, shown, tuple(curves),
        (), {"seed": 0}, ("a remark", "another"),
    )  # fmt: skip
