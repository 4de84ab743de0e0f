"""The recipes by name: what each is, from which paper, and for what. It imports nothing heavy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

Recipe = tuple[Callable[..., Any], dict[str, Any]]  # a builder, and settings of mode="library"


class Entry(NamedTuple):
    """A recipe.

    title : the algorithm's name as its paper prints it
    what : two sentences or three
    paper : authors, year, title
    take, leave : when to take it, and when not
    task : what it predicts
    batch : whether it learns from all data at once, by `fit`, and from no stream
    """

    title: str
    what: str
    paper: str
    take: str
    leave: str
    task: Literal["classification", "regression"] = "classification"
    batch: bool = False


OMKC = "Hoi, Jin, Zhao, Yang (2013), Online multiple kernel classification"
BOMKL = "Lu, Hoi, Sahoo, Zhao (2015), Budget online multiple kernel learning"
PROJECTRON = "Orabona, Keshet, Caputo (2009), Bounded kernel-based online learning"
PEGASOS = "Wang, Crammer, Vucetic (2010), Multi-class Pegasos on a budget"
VKR = "Cortes, Goyal, Kuznetsov, Mohri (2015), Voted kernel regularization"
RAKER = (
    "Shen, Chen, Giannakis (2019), Random feature-based online multi-kernel learning in "
    "environments with unknown dynamics"
)
AMKL = "Hong, Chae (2020), Active learning with multiple kernels"
OURS = "Ours: no paper."

GROWS = "On long streams: no example is forgotten, so that memory and time a row grow."
FOR_ERRORS = "Where errors alone count: kernbrook-classification errs less."
FOR_FEWER = "Where errors alone count: kernbrook-regression errs less."
NEEDS_ALL = "On streams, and on many thousands of rows: it holds all kernel values of the data."

RECIPES = {
    "omkc-dd": Entry(
        "OMKC(D,D)",
        "A perceptron for each of 16 kernels, all of which learn from each label. Hedge discounts "
        "the weights of those that err, and all of them vote.",
        OMKC,
        "To repeat the paper, and as the plainest machine of many kernels.",
        GROWS,
    ),
    "omkc-ds": Entry(
        "OMKC(D,S)",
        "A perceptron for each of 16 kernels, all of which learn from each label. Those that vote "
        "are drawn, by their weights.",
        OMKC,
        "To repeat the paper: what fewer votes cost. To predict takes less time than omkc-dd.",
        GROWS,
    ),
    "omkc-sd": Entry(
        "OMKC(S,D)",
        "A perceptron for each of 16 kernels. Those that learn from a label are drawn, by their "
        "weights; all of them vote.",
        OMKC,
        "To repeat the paper: fewer support vectors than omkc-dd.",
        GROWS,
    ),
    "omkc-ss": Entry(
        "OMKC(S,S)",
        "A perceptron for each of 16 kernels. Those that learn and those that vote are drawn, by "
        "their weights.",
        OMKC,
        "To repeat the paper: the quickest of the four.",
        GROWS,
    ),
    "omkc-u": Entry(
        "OMKC(U)",
        "A perceptron for each of 16 kernels, whose votes all count the same.",
        OMKC,
        "As a baseline: what it gains to weigh the kernels.",
        GROWS,
    ),
    "perceptron": Entry(
        "Perceptron",
        "A perceptron with one kernel, the linear one if no other is named.",
        "Rosenblatt (1958); a comparison row of " + OMKC,
        "As a baseline: what many kernels gain over one.",
        "Where no kernel is known to fit. With a kernel that is not linear memory grows.",
    ),
    "perceptron-u": Entry(
        "Perceptron(u)",
        "One perceptron, whose kernel is the mean of 16 kernels.",
        OMKC,
        "As a baseline: many kernels without any learning of their weights.",
        GROWS,
    ),
    "perceptron-best": Entry(
        "Perceptron(*)",
        "A perceptron for each of 16 kernels, until the one with the fewest mistakes on a tenth of "
        "the rows is chosen. It goes on alone; where the length of the data is known, the choice "
        "is made before the pass begins.",
        OMKC,
        "As a baseline: one kernel that was chosen well.",
        "To judge what a user can have: in the paper's protocol the choice looks ahead.",
    ),
    "om2": Entry(
        "OM-2",
        "All kernels share their support vectors and coefficients. A group norm says how much each "
        "kernel counts, from the size of its own part.",
        "Jie, Orabona, Fornoni, Caputo, Cesa-Bianchi (2010), OM-2: an online multi-class "
        "multi-kernel learning algorithm",
        "As a comparison row of the OMKC paper.",
        GROWS,
    ),
    "spa": Entry(
        "SPA",
        "Passive-aggressive steps for each of 16 kernels. An example is added by chance, the "
        "likelier the greater its loss, so that few are; and the kernels that learn from a label "
        "are drawn.",
        BOMKL,
        "For far fewer support vectors than omkc-dd, and to repeat the paper. With a budget it "
        "goes on for ever.",
        FOR_ERRORS,
    ),
    "rbp": Entry(
        "RBP",
        "A perceptron under a budget for each of 16 kernels. When the budget is full, one support "
        "vector, drawn at random, makes room.",
        "Cavallanti, Cesa-Bianchi, Gentile (2007), Tracking the best hyperplane with a simple "
        "budget perceptron; with many kernels " + BOMKL,
        "As a baseline of budgets: the cheapest upkeep.",
        FOR_ERRORS,
    ),
    "forgetron": Entry(
        "Forgetron",
        "A perceptron under a budget for each of 16 kernels. All coefficients shrink, and the "
        "oldest support vector makes room.",
        "Dekel, Shalev-Shwartz, Singer (2008), The Forgetron: a kernel-based perceptron on a "
        "budget; with many kernels " + BOMKL,
        "As a baseline of budgets, with a bound on its mistakes.",
        FOR_ERRORS,
    ),
    "bogd": Entry(
        "BOGD",
        "Gradient steps on the hinge loss under a budget for each of 16 kernels. When the budget "
        "is full, one support vector, drawn at random, makes room, and the others grow.",
        "Zhao, Wang, Wu, Jin, Hoi (2012), Fast bounded online gradient descent algorithms for "
        "scalable kernel-based online learning; with many kernels " + BOMKL,
        "As a baseline of budgets, on streams with wrong labels.",
        FOR_ERRORS,
    ),
    "bpas": Entry(
        "BPAS",
        "Passive-aggressive steps under a budget for each of 16 kernels. When the budget is full, "
        "the support vector whose removal costs least makes room.",
        "Wang, Vucetic (2010), Online passive-aggressive algorithms on a budget; with many "
        "kernels " + BOMKL,
        "For fixed memory and quick rows on any stream; a greater budget errs less.",
        "With the paper's aggressiveness where few labels are wrong: 0.5 learns faster.",
    ),
    "projectron": Entry(
        "Projectron",
        "A perceptron with one Gaussian. What its support vectors can nearly express is projected "
        "on them, and adds none.",
        PROJECTRON,
        "Where few examples tell much: with 100 of them projections lose least.",
        "With budgets of thousands: a step takes time with the square of the budget.",
    ),
    "projectron++": Entry(
        "Projectron++",
        "As projectron, and it learns from examples that are right by a small margin too.",
        PROJECTRON,
        "Where projectron learns too slowly.",
        "With budgets of thousands: a step takes time with the square of the budget.",
    ),
    "ahpatron": Entry(
        "Ahpatron",
        "Perceptrons with a margin, in a ball, for each of 16 kernels. When the budget is full, "
        "one half of the support vectors is projected on the other.",
        "Liao, Li, Liao, Hu, Dang (2024), Ahpatron: a new budgeted online kernel learning machine "
        "with tighter mistake bound",
        "As a baseline of budgets, with a bound on its mistakes.",
        "With budgets of thousands: a step takes time with the square of the budget.",
    ),
    "pegasos": Entry(
        "Pegasos",
        "Gradient steps on the regularised hinge loss of many classes, with one Gaussian. All "
        "support vectors are kept.",
        PEGASOS,
        "As what the budgets of Pegasos are compared with.",
        GROWS,
    ),
    "bpegasos-random": Entry(
        "BPegasos(random)",
        "Pegasos under a budget: one support vector, drawn at random, is removed.",
        PEGASOS,
        "To repeat the paper: the plainest upkeep.",
        "Where errors count: merging errs less under the same budget.",
    ),
    "bpegasos-smallest": Entry(
        "BPegasos(smallest)",
        "Pegasos under a budget: the support vector of the smallest norm is removed.",
        PEGASOS,
        "To repeat the paper.",
        "Where errors count: merging errs less under the same budget.",
    ),
    "bpegasos-project": Entry(
        "BPegasos(projection)",
        "Pegasos under a budget: the support vector of the smallest norm is projected on the "
        "others.",
        PEGASOS,
        "To repeat the paper, and with kernels that cannot merge.",
        "With budgets of thousands: a step takes time with the square of the budget.",
    ),
    "bpegasos-merge": Entry(
        "BPegasos(merging)",
        "Pegasos under a budget: the support vector of the smallest norm is merged with the one "
        "that loses least.",
        PEGASOS,
        "For many classes, one Gaussian and little memory.",
        "With kernels other than Gaussians, which cannot merge, or where no width is known.",
    ),
    "kernbrook-classification": Entry(
        "kernbrook",
        "A committee for any stream: passive-aggressive steps on kernels under a budget, ridge "
        "regressions and gradient steps on random features, of moments and of ranks, cells, and "
        "the last label. It scales the features as they come, and holds a fixed amount of memory.",
        OURS,
        "First: it needs no settings, and errs least on most streams that we know.",
        "Where a row has to take microseconds, or memory is less than 40 MB: take kernbrook-small.",
    ),
    "kernbrook-small": Entry(
        "kernbrook (small)",
        "The idea of kernbrook-classification with few experts: a quarter of the time and a tenth "
        "of the memory.",
        OURS,
        "On small machines and for fast streams.",
        FOR_ERRORS,
    ),
    "vkr-trace": Entry(
        "VKRc",
        "A linear program over all kernels and all examples at once, where a kernel is the dearer "
        "the greater its trace. lam and beta are chosen by cross-validation.",
        VKR,
        "For few support vectors from data that fit in memory, and for a choice of kernels that "
        "can be read.",
        NEEDS_ALL,
        batch=True,
    ),
    "vkr-pdim": Entry(
        "VKR2",
        "As vkr-trace, where a kernel is the dearer the greater its pseudo-dimension: polynomials "
        "alone.",
        VKR,
        "With polynomials of many degrees.",
        NEEDS_ALL,
        batch=True,
    ),
    "vkr-local": Entry(
        "VKR(local)",
        "As vkr-trace, where a kernel is the dearer the slower its eigenvalues fall: its local "
        "Rademacher complexity.",
        VKR,
        "With kernels whose eigenvalues tell them apart better than their traces.",
        NEEDS_ALL,
        batch=True,
    ),
    "l1-svm": Entry(
        "L1 SVM",
        "A support vector machine whose coefficients are few, by their norm 1, with one kernel. "
        "Kernel and beta are chosen by cross-validation.",
        "A comparison row of " + VKR,
        "As a baseline: what the complexities of vkr-trace gain.",
        NEEDS_ALL,
        batch=True,
    ),
    "l2-svm": Entry(
        "L2 SVM",
        "scikit-learn's support vector machine with one kernel. Kernel and cost are chosen by "
        "cross-validation.",
        "A comparison row of " + VKR,
        "As a baseline: the usual machine.",
        NEEDS_ALL,
        batch=True,
    ),
    "majority": Entry(
        "majority so far",
        "It always answers the label seen most often so far.",
        "A trivial baseline: no paper.",
        "In every comparison: what learns must be better.",
        "To predict anything.",
    ),
    "last-label": Entry(
        "last label",
        "It always answers the label just before.",
        "A trivial baseline: no paper.",
        "In every comparison on rows in the order of time.",
        "On shuffled rows, where it says nothing.",
    ),
    "kl-rbf": Entry(
        "KL-RBF",
        "Gradient steps on the squared error with one Gaussian.",
        "A comparison row of " + AMKL,
        "As a baseline: what many kernels gain over one.",
        GROWS,
        "regression",
    ),
    "kl-poly": Entry(
        "POLY2",
        "Gradient steps on the squared error with one polynomial of degree 2.",
        "A comparison row of " + AMKL,
        "As a baseline: what many kernels gain over one.",
        GROWS,
        "regression",
    ),
    "kl-linear": Entry(
        "LINEAR",
        "Gradient steps on the squared error with the linear kernel.",
        "A comparison row of " + AMKL,
        "As a baseline: what kernels gain.",
        GROWS,
        "regression",
    ),
    "omkl": Entry(
        "OMKL",
        "Gradient steps on the squared error for each of 17 kernels, weighed by the exponentials "
        "of their losses.",
        "A comparison row of " + AMKL,
        "As a baseline: many kernels without random features.",
        GROWS,
        "regression",
    ),
    "omkl-b": Entry(
        "OMKL-B",
        "As omkl, where each kernel keeps the last examples alone: as many as its budget.",
        "A comparison row of " + AMKL,
        "As a baseline: omkl in fixed memory.",
        FOR_FEWER,
        "regression",
    ),
    "raker": Entry(
        "Raker",
        "Gradient steps on random features of each of 17 kernels, weighed by the exponentials of "
        "their losses. Memory is fixed.",
        RAKER,
        "To repeat the papers, and for fixed memory with many kernels.",
        FOR_FEWER,
        "regression",
    ),
    "ada-raker": Entry(
        "AdaRaker",
        "Twelve Rakers with steps of their own, one for each length of intervals from 1 label to "
        "2,048; those that are good of late count most.",
        RAKER,
        "Where the stream changes, at speeds that nobody knows.",
        FOR_FEWER,
        "regression",
    ),
    "omkl-aks": Entry(
        "OMKL-AKS",
        "As raker, where a subset of the kernels, drawn anew after each label, predicts.",
        AMKL,
        "To repeat the paper: kernels of small weight do not disturb.",
        FOR_FEWER,
        "regression",
    ),
    "amkl": Entry(
        "AMKL",
        "As raker, but it asks for a label only where the kernels disagree by more than a "
        "threshold.",
        AMKL,
        "To repeat the paper; where labels are dear and their unit is known.",
        "Where the share of labels is given: kernbrook-active holds it, and errs less.",
        "regression",
    ),
    "amkl-aks": Entry(
        "AMKL-AKS",
        "As amkl, where a subset of the kernels, drawn anew after each label, predicts.",
        AMKL,
        "To repeat the paper: the best of its active rows.",
        "Where the share of labels is given: kernbrook-active holds it, and errs less.",
        "regression",
    ),
    "kernbrook-regression": Entry(
        "kernbrook",
        "A committee for any stream of numbers: ridge regressions with and without forgetting, and "
        "gradient steps, on random features of all inputs and of few, of moments and of ranks, "
        "cells, and the last value. It scales the features as they come, and holds a fixed amount "
        "of memory.",
        OURS,
        "First: it needs no settings, and errs least on most streams that we know.",
        "Where a row has to take microseconds: take kernbrook-small-regression.",
        "regression",
    ),
    "kernbrook-small-regression": Entry(
        "kernbrook (small)",
        "The idea of kernbrook-regression with few experts: a quarter of the time and a tenth of "
        "the memory.",
        OURS,
        "On small machines and for fast streams.",
        "Where errors alone count: kernbrook-regression errs less.",
        "regression",
    ),
    "kernbrook-active": Entry(
        "kernbrook (active)",
        "As kernbrook-regression, but it asks for half of the labels at most: where recent errors, "
        "or the disagreement of the experts, are large.",
        OURS,
        "Where labels are dear, on streams that drift.",
        "On shuffled rows: there it asks no better than at random.",
        "regression",
    ),
    "mean": Entry(
        "mean so far",
        "It always answers the mean of the labels so far.",
        "A trivial baseline: no paper.",
        "In every comparison: what learns must be better.",
        "To predict anything.",
        "regression",
    ),
    "last-value": Entry(
        "last value",
        "It always answers the label just before.",
        "A trivial baseline: no paper.",
        "In every comparison on rows in the order of time.",
        "On shuffled rows, where it says nothing.",
        "regression",
    ),
}
