"""What a text says first, as a description of it."""

from __future__ import annotations

import re
from functools import lru_cache

from ricordo.secrets import find_secrets

LONGEST = 140
"""Characters of a description that is made."""

_LINK = re.compile(r"!?\[([^\[\]\n]*)\]\([^()\n]*\)|\[\[(?:[^\[\]\n|]*\|)?([^\[\]\n]*)\]\]")
_MARKS = re.compile(r"^\s*(?:#{1,6}\s+|>\s*|(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s+)?)+|[*`]+|~~")
_SENTENCE = re.compile(r"[^.!?。！？]*(?:[.!?](?!\s|$)[^.!?。！？]*)*")
_SILENT = re.compile(r"\s*(?:[-=*_]{3,}|`{3}.*|~{3}.*|<!--.*|\|[-:| ]*)?\s*$")


@lru_cache(maxsize=1)  # asked twice, for a head of which not everything can be told
def first_words(text: str) -> str:
    """Return the first sentence of a markdown `text` without marks, cut at a word where it is
    long; of headings only where nothing else is there. "" where a credential stands in the text,
    which must not get to a second place.
    """
    if find_secrets(text):
        return ""
    lines = [line for line in text.split("\n") if not _SILENT.match(line)]
    told = [line for line in lines if not line.lstrip().startswith("#")] or lines
    plain = _plain(told[0]) if told else ""
    match = _SENTENCE.match(plain)
    sentence = (match.group() if match else plain).strip(" :;,—–-|")
    return sentence if len(sentence) <= LONGEST else _cut(sentence)


def _plain(line: str) -> str:
    unlinked = _LINK.sub(lambda match: match[1] or match[2] or "", line)
    return " ".join(_MARKS.sub("", unlinked).split())


def _cut(sentence: str) -> str:
    kept = sentence[: LONGEST - 1].rpartition(" ")[0] or sentence[: LONGEST - 1]
    return kept.rstrip(" ,;:—–-") + "…"
