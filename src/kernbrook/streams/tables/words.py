"""What the words of a text are: letters with their marks, single signs, emoji, characters."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import Any

_ALONE = (  # scripts that are written without blanks: each character is a word, and so is each pair
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
_JOINERS = "\u200c\u200d"  # within words of Persian and of India
_FACES = r"[:;=]-?[()]|[:;=]-[/|\\dpo]|<3"
_PUNCTUATION = "\u3000-\u303f\ufe00-\ufe0f\ufe10-\ufe6f\uff00-\uff0f\uff1a-\uff20\uff3b-\uff65"


@lru_cache
def pattern() -> str:
    """The regular expression of a word.

    Letters and digits that follow each other, with vowel signs and other marks, and with ++ or #
    behind, as in C++; single ones, too, but for those after an apostrophe; each character of
    Chinese, Japanese and others without blanks; each emoji; and faces such as :-).
    """
    marks = _marks()
    letter = f"[^\\W{_ALONE}]"
    whole = f"{letter}(?:{letter}|[{marks}{_JOINERS}])+"
    single = f"(?<!\\w['\u2019]){letter}"
    sign = f"(?![\\w\\s{marks}{_JOINERS}{_PUNCTUATION}])[\u2190-\U0010ffff]"  # from arrows on
    return f"(?:{whole}|{single})(?:\\+\\+|#(?!\\w))?|[{_ALONE}][{marks}]*|{_FACES}|{sign}"


@lru_cache
def _marks() -> str:
    """Ranges of the characters that mark others: accents, vowel signs."""
    places = [i for i in range(0x300, 0x20000) if unicodedata.category(chr(i))[0] == "M"]
    ranges, first = list[str](), places[0]
    for place, after in zip(places, [*places[1:], 0], strict=True):
        if after != place + 1:
            ranges.append(chr(first) if first == place else f"{chr(first)}-{chr(place)}")
            first = after
    return "".join(ranges)


@lru_cache
def hashing(width: int, rules: int) -> Any:
    """What hashes words and pairs of words of texts to so many columns.

    rules : 1 for models of before, which know words of two letters and more alone
    """
    from sklearn.feature_extraction.text import HashingVectorizer

    if rules == 1:
        return HashingVectorizer(n_features=width, ngram_range=(1, 2))
    return HashingVectorizer(
        n_features=width, ngram_range=(1, 2), token_pattern=pattern(), preprocessor=_in_one_form
    )


def _in_one_form(text: str) -> str:
    """Small letters, with accents as one character."""
    return unicodedata.normalize("NFC", text.lower())
