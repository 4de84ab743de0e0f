"""Tables, figures and one-file pages of results.

Importing this package loads neither rich nor matplotlib nor jinja2: each function imports what
it needs when it is called.
"""

from __future__ import annotations

from kernbrook.reports.as_json import (
    comparison_json,
    comparisons_json,
    ranking_json,
    results_json,
)
from kernbrook.reports.bars import Bars
from kernbrook.reports.comparison import (
    comparison_page,
    comparison_table,
    comparisons_page,
    ranking_table,
    verdict,
    write_report,
)
from kernbrook.reports.page import Page, Section, write_page
from kernbrook.reports.plot import Line, Panel, Plot, draw
from kernbrook.reports.table import Column, Table
from kernbrook.reports.terminal import below_each_other, rendered
from kernbrook.reports.why import (
    explanation_json,
    explanation_table,
    importance_json,
    importance_table,
    why_page,
)

__all__ = [
    "Bars",
    "Column",
    "Line",
    "Page",
    "Panel",
    "Plot",
    "Section",
    "Table",
    "below_each_other",
    "comparison_json",
    "comparison_page",
    "comparison_table",
    "comparisons_json",
    "comparisons_page",
    "draw",
    "explanation_json",
    "explanation_table",
    "importance_json",
    "importance_table",
    "ranking_json",
    "ranking_table",
    "rendered",
    "results_json",
    "verdict",
    "why_page",
    "write_page",
    "write_report",
]
