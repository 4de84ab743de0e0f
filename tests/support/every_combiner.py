"""Every combiner and selection, with its naive twin: the lists that their tests run over."""

from functools import partial

from naive import combiners, regression

import kernbrook as kb

# name -> (the combiner, its twin for m experts; None where it has none of this kind)
COMBINERS = {
    "Hedge": (kb.Hedge(0.8), partial(combiners.Hedge, discount=0.8)),
    "Hedge, hinge": (kb.Hedge(0.9, "hinge", cap=20.0), partial(combiners.Hedge, discount=0.9)),
    "Hedge, squared": (kb.Hedge(0.9, "squared"), partial(combiners.Hedge, discount=0.9)),
    "FixedShare": (kb.FixedShare(0.8, 0.05), partial(combiners.FixedShare, share=0.05)),
    "FixedShare, absolute": (
        kb.FixedShare(0.7, 0.02, "absolute"),
        partial(combiners.FixedShare, discount=0.7, share=0.02),
    ),
    "MLPoly": (kb.MLPoly("logistic"), combiners.MLPoly),
    "MLPoly, free of scale": (kb.MLPoly("linearized", scale_free=True), regression.MLPoly),
    "EXP": (kb.EXP(2.0), partial(regression.EXP, step=2.0)),
    "EXP, classes": (kb.EXP(loss="logistic"), regression.EXP),
    "Uniform": (kb.Uniform(), regression.Uniform),
    "GroupNorm": (kb.GroupNorm(), None),
    "Stack": (kb.Stack(), None),
    "Stack, numbers": (kb.Stack(kb.MLPoly("linearized", scale_free=True), 10.0), None),
    "AdaRaker": (kb.AdaRaker(3), None),
    "AdaRaker, classes": (kb.AdaRaker(2, loss="hinge"), None),
}
# name -> (the selection, its twin: settings of `rounds.run`; None where it has none of this kind)
SELECTIONS = {
    "drawn vote": (
        kb.Selection(vote="drawn", smoothing=0.3),
        {"vote_of": "drawn", "smoothing": 0.3},
    ),
    "drawn update": (
        kb.Selection(update="drawn", smoothing=0.3),
        {"update": "drawn", "smoothing": 0.3},
    ),
    "drawn": (
        kb.Selection(update="drawn", vote="drawn", smoothing=0.1, weighted=False),
        {"update": "drawn", "vote_of": "drawn", "smoothing": 0.1, "weighted": False},
    ),
    "adaptive": (kb.AdaptiveSelection(0.6), {"ratio": 0.6}),
    "best of a prefix": (kb.BestOfPrefix(30), None),
}
