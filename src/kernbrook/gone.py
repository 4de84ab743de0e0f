"""Names that a version before had, and what takes their place."""

GONE = {
    "ANOVA": "RandomFeatures(inputs=k) of a Gaussian has its features",
    "AdaHedge": "MLPoly, FixedShare and Hedge weigh experts",
    "Stoptron": "RBP and BPAS keep a budget",
    "TensorSketch": "Nystroem has features of any kernel",
    "TighterPerceptron": "BPAS and Projectron keep a budget",
}


def gone(name: str) -> str | None:
    """What is said of a name that has gone; None: it has not."""
    instead = GONE.get(name)
    return instead and f"kernbrook has no {name} any more; {instead}"
