"""The papers' tables and figures, run again beside what is printed.

A paper is a module: its printed rows, how they are run, how they are shown. `PUBLISHED` in
`kernbrook.papers.reproducing` lists them.
"""

from __future__ import annotations

from kernbrook.papers.reproducing import published, reproduce, tables

__all__ = ["published", "reproduce", "tables"]
