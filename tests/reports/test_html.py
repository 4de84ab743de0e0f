"""The page: well-formed, self-contained, escaped, repeatable, written whole or not at all."""

from __future__ import annotations

import errno
import os
import re
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from reports.synthetic import (
    make_comparison,
    make_curves,
    make_discounts,
    make_numbers,
    make_study,
)

from kernbrook.errors import InputError
from kernbrook.reports import (
    verdict,
    write_curve_report,
    write_discount_report,
    write_report,
    write_study_report,
)

HOSTILE = '<img src="http://evil.example/x" onerror=alert(1)>&amp;"\''
VOID = {"meta", "br", "img", "hr", "link", "input"}


class Page(HTMLParser):
    """Collects tags, attributes and text; notes tags that do not close in order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.attributes, self.words, self.wrong = [], Counter(), [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags[tag] += 1
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags[tag] += 1
        self.attributes += [(tag, name, value) for name, value in attrs]

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)

    def handle_data(self, data):
        self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())


@pytest.fixture
def target(tmp_path):
    return tmp_path / "report.html"


def check(text):
    page = Page(text)
    assert page.wrong == []
    assert page.open == []
    assert not {"script", "img", "link", "iframe", "object"} & set(page.tags)
    ids = [value for _, name, value in page.attributes if name == "id"]
    assert len(ids) == len(set(ids))
    for _, name, value in page.attributes:
        assert not name.startswith("on")
        if name in {"href", "src", "xlink:href"}:
            assert value.startswith("#")
            assert value[1:] in ids
        for reference in re.findall(r"url\((.*?)\)", value or ""):
            assert reference[1:] in ids
    assert "@import" not in text
    assert "<?xml" not in text
    return page


def test_the_page_is_well_formed_and_self_contained(target):
    write_report(make_comparison(asked=0.5), target)
    text = target.read_text("utf-8")
    page = check(text)
    assert page.tags["svg"] == 3
    assert "http" not in text.replace("http-equiv", "")
    for part in ("OMKC(S,D)", "Final weights of", "kernbrook compare a3a", "9f2c9f2c", "labels"):
        assert part in page.text
    assert os.listdir(target.parent) == ["report.html"]


def test_without_many_kernels_there_are_two_figures(target):
    write_report(make_comparison(("perceptron", "majority"), best=()), target)
    page = check(target.read_text("utf-8"))
    assert page.tags["svg"] == 2
    assert "Final weights" not in page.text


def test_a_page_of_numbers(target):
    write_report(replace(make_numbers(), left_out={"omkl": "a learner diverged"}), target)
    page = check(target.read_text("utf-8"))
    assert page.tags["svg"] == 3
    for part in (
        *("Error over time", "MSE x 1e-3", "asked %", "mean squared error", "left out: omkl: a"),
        *("Support vectors over time", "Final weights of kernbrook, half of the labels"),
    ):
        assert part in page.text
    assert "istake" not in page.text
    write_report(make_numbers(("raker", "mean"), best=()), target)
    page = check(target.read_text("utf-8"))
    assert page.tags["svg"] == 2
    for part in ("upport vectors", "asked %", "#SV", "left out"):
        assert part not in page.text


def test_hostile_names_are_text(target):
    comparison = make_comparison(("omkc-dd", "omkc-ds"), kernels=(HOSTILE, "k2", "{{ 7 * 7 }}"))
    rows = (replace(comparison.rows[0], title=HOSTILE), comparison.rows[1])
    write_report(replace(comparison, data=HOSTILE, rows=rows, manifest={HOSTILE: HOSTILE}), target)
    page = check(target.read_text("utf-8"))
    assert HOSTILE in page.text
    assert "{{ 7 * 7 }}" in page.text


def test_the_same_comparison_gives_the_same_bytes(tmp_path):
    for name in ("a.html", "b.html"):
        write_report(make_comparison(), tmp_path / name)
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_final_weights_are_those_of_the_best_recipe(target):
    comparison = make_comparison(("omkc-dd", "omkc-sd"))
    write_report(comparison, target)
    text = Page(target.read_text("utf-8")).text
    row = min(comparison.rows, key=lambda row: row.errors.mean())
    final = np.mean([run.history.kernel_weights[-1] for run in row.runs], axis=0)
    assert f"Final weights of {row.title}" in text
    assert f"{final.max():.4f}" in text


def test_the_verdict_in_plain_words():
    text = verdict(make_comparison())
    assert text.startswith("OMKC(S,D) makes the fewest mistakes over 5 permutations of a3a: 20.")
    assert "t-test at 5 % does not tell it from OM-2." in text
    assert "always answering the label seen most often so far errs on 24." in text
    assert "repeating the last label errs on 36." in text
    assert "beats" not in text
    alone = make_comparison(("omkc-u", "majority"), best=())
    worse = replace(
        alone.rows[0], runs=tuple(replace(run, error=0.6) for run in alone.rows[0].runs)
    )
    text = verdict(replace(alone, rows=(worse, alone.rows[1])))
    assert "errs on 60.00 % of the rounds" in text
    assert text.endswith("so nothing here beats the trivial rules.")
    assert "t-test" not in verdict(make_comparison(permutations=1))


def test_the_verdict_on_numbers():
    comparison = make_numbers()
    means = {row.recipe: 1000 * row.errors.mean() for row in comparison.rows}
    assert verdict(comparison) == (
        "kernbrook, half of the labels has the least mean squared error over 5 permutations of "
        f"energy: {means['kernbrook-active']:.2f}e-3. It asked for 48.0 % of the labels. For "
        "scale: always answering the mean of the labels so far makes "
        f"{means['mean']:.2f}e-3 and repeating the last value makes {means['last-value']:.2f}e-3."
    )
    alone = make_numbers(("raker", "mean"), best=("mean", "raker"), scale=10)
    text = verdict(alone)
    assert text.startswith("Raker has a mean squared error over 5 permutations of energy: 0.13")
    assert "asked" not in text
    both = verdict(make_numbers(("raker", "kernbrook-active"), best=("raker", "kernbrook-active")))
    assert "; a Student t-test of the logarithms at 5 % does not tell it from Raker." in both
    poor = verdict(make_numbers(("kl-poly", "last-value"), best=("last-value",)))
    assert poor.endswith("so nothing here beats the trivial rules.")


def test_the_verdict_on_few_labels():
    text = verdict(make_comparison(("omkc-dd", "majority"), asked=0.37))
    assert " It asked for 37.0 % of the labels. For scale" in text


def test_discounts(target):
    write_discount_report(make_discounts(), target, manifest={"seed": 0})
    page = check(target.read_text("utf-8"))
    assert page.tags["svg"] == 1
    assert "best discount" in page.text
    assert "mushrooms" in page.text


@pytest.mark.parametrize("permutations", [1, 3])
def test_a_study(target, permutations):
    write_study_report(make_study(permutations), target)
    page = check(target.read_text("utf-8"))
    assert page.tags["svg"] == 2
    for part in ("The cap on a9a", "The divisor on a9a", "divisor 12", "no numbers are printed"):
        assert part in page.text


@pytest.mark.parametrize("shown", ["accuracy", "seconds"])
@pytest.mark.parametrize("permutations", [1, 3])
def test_curves(target, shown, permutations):
    write_curve_report(make_curves(shown, permutations), target)
    page = check(target.read_text("utf-8"))
    assert page.tags["svg"] == 1
    heading = "Accuracy" if shown == "accuracy" else "Seconds of learning"
    for part in (f"{heading} on waveform", "BPM+merging", "a remark; another", "20,000"):
        assert part in page.text
    assert ("74.00 ± 0.50" in page.text) == (permutations > 1)


def disk_full(*args, **kwargs):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("step", ["os.replace", "os.fsync"])
def test_a_failure_leaves_the_old_file(target, monkeypatch, step):
    target.write_text("old")
    monkeypatch.setattr(step, disk_full)
    with pytest.raises(InputError, match=r"cannot write .*report\.html.*No space left"):
        write_report(make_comparison(("perceptron",)), target)
    assert target.read_text() == "old"
    assert os.listdir(target.parent) == ["report.html"]


def test_a_folder_that_cannot_be_written(target, monkeypatch):
    target.write_text("old")

    def denied(path, *args, **kwargs):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    monkeypatch.setattr("builtins.open", denied)
    with pytest.raises(InputError, match=r"cannot write .*report\.html.*Permission denied"):
        write_report(make_comparison(("perceptron",)), target)
    monkeypatch.undo()
    assert target.read_text() == "old"


def test_paths_that_are_no_files(tmp_path):
    comparison = make_comparison(("perceptron",))
    with pytest.raises(InputError, match="there is no folder"):
        write_report(comparison, tmp_path / "absent" / "report.html")
    with pytest.raises(InputError, match="not an ordinary file"):
        write_report(comparison, tmp_path)


def test_a_link_is_followed(tmp_path):
    real, link = tmp_path / "real.html", tmp_path / "link.html"
    real.write_text("old")
    link.symlink_to(real)
    write_report(make_comparison(("perceptron",)), link)
    assert link.is_symlink()
    assert real.read_text("utf-8").startswith("<!doctype html>")
