"""The recipes by name: what each is called and predicts. Nothing heavy is imported for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

Recipe = tuple[Callable[..., Any], dict[str, Any]]  # a builder, and settings of mode="library"


class Entry(NamedTuple):
    """A recipe.

    title : the algorithm's name as its paper prints it
    task : what it predicts
    batch : whether it learns from all data at once, by `fit`, and from no stream
    """

    title: str
    task: Literal["classes", "numbers"] = "classes"
    batch: bool = False


RECIPES = {
    "omkc-dd": Entry("OMKC(D,D)"),
    "omkc-ds": Entry("OMKC(D,S)"),
    "omkc-sd": Entry("OMKC(S,D)"),
    "omkc-ss": Entry("OMKC(S,S)"),
    "omkc-u": Entry("OMKC(U)"),
    "perceptron": Entry("Perceptron"),
    "perceptron-u": Entry("Perceptron(u)"),
    "perceptron-best": Entry("Perceptron(*)"),
    "om2": Entry("OM-2"),
    "spa": Entry("SPA"),
    "rbp": Entry("RBP"),
    "forgetron": Entry("Forgetron"),
    "bogd": Entry("BOGD"),
    "bpas": Entry("BPAS"),
    "projectron": Entry("Projectron"),
    "projectron++": Entry("Projectron++"),
    "ahpatron": Entry("Ahpatron"),
    "pegasos": Entry("Pegasos"),
    "bpegasos-random": Entry("BPegasos(random)"),
    "bpegasos-smallest": Entry("BPegasos(smallest)"),
    "bpegasos-project": Entry("BPegasos(projection)"),
    "bpegasos-merge": Entry("BPegasos(merging)"),
    "kernbrook-classification": Entry("kernbrook"),
    "kernbrook-small": Entry("kernbrook (small)"),
    "vkr-trace": Entry("VKRc", batch=True),
    "vkr-pdim": Entry("VKR2", batch=True),
    "vkr-local": Entry("VKR(local)", batch=True),
    "l1-svm": Entry("L1 SVM", batch=True),
    "l2-svm": Entry("L2 SVM", batch=True),
    "majority": Entry("majority so far"),
    "last-label": Entry("last label"),
    "kl-rbf": Entry("KL-RBF", "numbers"),
    "kl-poly": Entry("POLY2", "numbers"),
    "kl-linear": Entry("LINEAR", "numbers"),
    "omkl": Entry("OMKL", "numbers"),
    "omkl-b": Entry("OMKL-B", "numbers"),
    "raker": Entry("Raker", "numbers"),
    "ada-raker": Entry("AdaRaker", "numbers"),
    "omkl-aks": Entry("OMKL-AKS", "numbers"),
    "amkl": Entry("AMKL", "numbers"),
    "amkl-aks": Entry("AMKL-AKS", "numbers"),
    "kernbrook-regression": Entry("kernbrook", "numbers"),
    "kernbrook-active": Entry("kernbrook (active)", "numbers"),
    "mean": Entry("mean so far", "numbers"),
    "last-value": Entry("last value", "numbers"),
}
