"""Names that a version before had, and what takes their place."""

GONE = {
    "ANOVA": "RandomFeatures(inputs=k) of a Gaussian has its features",
    "AdaHedge": "MLPoly, FixedShare and Hedge weigh experts",
    "Stoptron": "RBP and BPAS keep a budget",
    "TensorSketch": "Nystroem has features of any kernel",
    "TighterPerceptron": "BPAS and Projectron keep a budget",
    "theoretical_discount": "it was sqrt(T) / (sqrt(T) + sqrt(ln m))",
    "VarianceSampling": "Disagreement, LabelBudget and RandomLabels ask for labels of numbers",
}

# Parameters of parts and estimators, with the value that says what is so today, and that.
PARAMETERS = {
    "dtype": ("float64", "kernels are computed in numbers of 64 bits from now on"),
    "epsilon": (0.1, "no loss of now has it"),
    "unit_diagonal": (False, "k(x, x) is what it is from now on"),
    "units": (None, "numbers with units are no longer read; write the numbers alone, and train"),
}


def gone(name: str) -> str | None:
    """What is said of a name that has gone; None: it has not."""
    instead = GONE.get(name)
    return instead and f"kernbrook has no {name} any more; {instead}"
