"""Tables, figures and one-file pages of a comparison or a reproduction.

Importing this package loads neither rich nor matplotlib nor jinja2: each function imports what
it needs when it is called.
"""

from __future__ import annotations

from kernbrook.reports.as_json import comparison_json, reproduction_json
from kernbrook.reports.figures import (
    discount_curve,
    kernel_weights,
    learning_curves,
    parameter_curves,
    stream_length_curves,
    support_vectors,
)
from kernbrook.reports.html import (
    Section,
    write_curve_report,
    write_discount_report,
    write_error_report,
    write_label_report,
    write_page,
    write_report,
    write_study_report,
    write_voted_report,
)
from kernbrook.reports.regression import error_figure, label_figure
from kernbrook.reports.summary import Column, verdict
from kernbrook.reports.text import (
    accuracy_table,
    comparison_table,
    curve_table,
    discount_table,
    error_table,
    label_table,
    ratio_table,
    regression_table,
    reproduction_table,
    study_table,
    voted_table,
)
from kernbrook.reports.voted import sparsity_figure, weight_figure

__all__ = [
    "Column",
    "Section",
    "accuracy_table",
    "comparison_json",
    "comparison_table",
    "curve_table",
    "discount_curve",
    "discount_table",
    "error_figure",
    "error_table",
    "kernel_weights",
    "label_figure",
    "label_table",
    "learning_curves",
    "parameter_curves",
    "ratio_table",
    "regression_table",
    "reproduction_json",
    "reproduction_table",
    "sparsity_figure",
    "stream_length_curves",
    "study_table",
    "support_vectors",
    "verdict",
    "voted_table",
    "weight_figure",
    "write_curve_report",
    "write_discount_report",
    "write_error_report",
    "write_label_report",
    "write_page",
    "write_report",
    "write_study_report",
    "write_voted_report",
]
