"""A column of text as sparse columns: its words and pairs of words, hashed."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

from kernbrook.streams.tables.column_kinds import as_text


class Words(NamedTuple):
    """Words and pairs of words as scikit-learn's HashingVectorizer has them, of length 1 in all.

    Text that is missing has no words.

    Attributes
    ----------
    column : name
    width : columns
    """

    column: str
    width: int

    @property
    def names(self) -> list[str]:
        return [f"{self.column}#{i}" for i in range(self.width)]

    def encode(self, array: Any) -> Any:
        """(n, width) CSR."""
        return _hashing(self.width).transform(as_text(array).fill_null("").to_pylist())


@lru_cache
def _hashing(width: int) -> Any:
    from sklearn.feature_extraction.text import HashingVectorizer

    return HashingVectorizer(n_features=width, ngram_range=(1, 2))
