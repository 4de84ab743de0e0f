"""
Strings without features
========================

What does the name of an HTML character stand for? Python's ``html.entities`` knows 2,032 names of
single characters, such as "Eacute", "rarr", "nsime". From some of them, and from nothing but
comparisons of two names, voted kernel regularization learns whether a name stands for a letter, an
arrow or another symbol. Two kernels are enough:

- the edit distance, as a similarity from 0 to 1: symmetric, but not positive definite;
- the part of a stored name that another name has at its end: not even symmetric.

Beside it stand the most frequent class, and the nearest name by edit distance, which keeps all.

Call it by ``python examples/voted_strings.py [names to learn from, 500 by default]``.
"""

import sys
import unicodedata
from html.entities import html5

import numpy as np
from rapidfuzz.distance import Postfix
from rapidfuzz.process import cdist

import kernbrook as kb
from kernbrook.voted import edit_similarity


def entities():
    """Names (2032,) and what they stand for, by the Unicode names and categories."""
    names = sorted(name[:-1] for name, text in html5.items() if name[-1] == ";" and len(text) == 1)
    return np.array(names), np.array([meaning(html5[name + ";"]) for name in names])


def meaning(character):
    name = unicodedata.name(character, "")
    if "ARROW" in name or "HARPOON" in name:
        return "arrow"
    return "letter" if unicodedata.category(character).startswith("L") else "symbol"


def shared_end(A, B):
    """(n, m): the share of each b in B that it has in common with the end of each a in A."""
    common = cdist(A, B, scorer=Postfix.similarity, dtype=np.float64)
    return common / [len(b) for b in B]


def main(count):
    names, kinds = entities()
    order = np.random.default_rng(0).permutation(len(names))
    known, asked = order[:count], order[count:]

    model = kb.VotedKernelClassifierCV(
        [edit_similarity, shared_end],
        complexity="max",  # the other bounds need positive definite kernels
        lams=[0.0],
        betas=[0.003, 0.001, 0.0005],
        cv=3,
    ).fit(names[known], kinds[known])

    classes, counts = np.unique(kinds[known], return_counts=True)
    nearest = known[edit_similarity(names[asked], names[known]).argmax(axis=1)]
    print(f"{len(asked)} names, after {count} to learn from   error %   names kept")
    for title, predicted, kept in (
        (f"always '{classes[counts.argmax()]}'", classes[counts.argmax()], 0),
        ("nearest by edit distance", kinds[nearest], count),
        ("voted kernels", model.predict(names[asked]), model.n_support_stored_),
    ):
        print(f"  {title:36} {100 * np.mean(predicted != kinds[asked]):9.1f} {kept:12}")

    print(f"\nbeta = {model.beta_} by cross-validation; shares of the kernels in the votes:")
    for kernel, weight in zip(model.kernels_, model.kernel_weights_, strict=True):
        print(f"  {weight:.2f}  {kernel}")

    print("\nthe names that vote most for each class:")
    for c, label in enumerate(model.classes_):
        votes = model.dual_coef_[:, :, c].sum(axis=1)
        most = votes.argsort()[::-1][:8]
        print(f"  {label:7} {' '.join(model.support_vectors_[i] for i in most)}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 500)
