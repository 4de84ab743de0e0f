"""The site: `nox -s docs`, or `sphinx-build -W --keep-going docs docs/_build/html`.

Nothing is asked of the network. Examples run while the site is built, and so does the comparison
whose page "Reading the report" shows.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import kernbrook

HERE = Path(__file__).parent
MADE = HERE / "_made"  # pages that the build makes, copied as they are
MADE.mkdir(exist_ok=True)

project = "kernbrook"
author = "the kernbrook developers"
copyright = author
version = release = kernbrook.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "_made", "gallery/*.ipynb", "gallery/*.py"]
templates_path = ["templates"]
default_role = "py:obj"  # `Hedge` in a docstring is a link
myst_heading_anchors = 3

autosummary_generate = True
autosummary_ignore_module_all = False
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_validation_checks = {"GL01", "GL07", "GL10", "PR02", "RT02"}

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "within_subsection_order": "FileNameSortKey",
    "remove_config_comments": True,
    "download_all_examples": False,
    "show_memory": False,
    "write_computation_times": False,
    "show_signature": False,
}

# Pages of wide tables.
WIDE = {"guide", "results", "budgets", "shootout", "shootout_late", "shootout_long", "json_schema"}
WIDE |= {f"papers/{path.stem}" for path in HERE.glob("papers/*.md")}
html_theme = "pydata_sphinx_theme"
html_title = "kernbrook"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_extra_path = ["_made"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "navbar_align": "left",
    "navigation_with_keys": False,
    "secondary_sidebar_items": {"**": ["page-toc"], **{page: [] for page in sorted(WIDE)}},
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {
    page: [] for page in ("api", "glossary", "shootout", "shootout_late", "shootout_long")
}

OF_OTHERS = re.compile(r"set_\w+_request|get_metadata_routing|set_output")


def skip(app: Any, what: str, name: str, found: Any, skip: bool, options: Any) -> bool:
    """Leave out what scikit-learn makes for every estimator, and River's own methods."""
    of_river = str(getattr(found, "__module__", "")).startswith("river.")
    return skip or of_river or bool(OF_OTHERS.fullmatch(name))


def escape(app: Any, what: str, name: str, found: Any, options: Any, lines: list[str]) -> None:
    """|x| is an absolute value in docstrings, and names_ end as they like."""
    for place, line in enumerate(lines):
        if line.strip() == "Examples":
            break
        parts = line.split("`")
        parts[::2] = [re.sub(r"\||(?<=\w)_(?!\w)", r"\\\g<0>", part) for part in parts[::2]]
        lines[place] = "`".join(parts)


def link_gallery(app: Any, page: str, source: list[str]) -> None:
    """Examples are files beside the pages, and pages of the site."""
    text = source[0].replace("../examples/README.rst", "gallery/index.rst")
    source[0] = re.sub(r"\.\./examples/(plot_\w+)\.py", r"gallery/\1.rst", text)


def make_report(app: Any) -> None:
    """The page that docs/reading_the_report.md shows."""
    if not (MADE / "report.html").exists():
        program = Path(sys.executable).with_name("kernbrook")
        command = "compare wdbc --report report.html"
        subprocess.run([program, *command.split()], cwd=MADE, check=True)


def setup(app: Any) -> None:
    app.connect("autodoc-skip-member", skip)
    app.connect("autodoc-process-docstring", escape, priority=400)
    app.connect("source-read", link_gallery)
    app.connect("builder-inited", make_report)
