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
    task: Literal["classification", "regression"] = "classification"
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
    "kl-rbf": Entry("KL-RBF", "regression"),
    "kl-poly": Entry("POLY2", "regression"),
    "kl-linear": Entry("LINEAR", "regression"),
    "omkl": Entry("OMKL", "regression"),
    "omkl-b": Entry("OMKL-B", "regression"),
    "raker": Entry("Raker", "regression"),
    "ada-raker": Entry("AdaRaker", "regression"),
    "omkl-aks": Entry("OMKL-AKS", "regression"),
    "amkl": Entry("AMKL", "regression"),
    "amkl-aks": Entry("AMKL-AKS", "regression"),
    "kernbrook-regression": Entry("kernbrook", "regression"),
    "kernbrook-active": Entry("kernbrook (active)", "regression"),
    "mean": Entry("mean so far", "regression"),
    "last-value": Entry("last value", "regression"),
}
