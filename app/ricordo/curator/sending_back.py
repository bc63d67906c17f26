"""Sending an edit back that the checks rejected, with why: once, and with no more of the brief than
it is about.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace

from ricordo.curator.brief import Brief, Part, name_of
from ricordo.curator.engine import Answer
from ricordo.curator.proposal import Rejected
from ricordo.curator.propose_form import folded
from ricordo.text import visible

TITLE = "sent back"
_NAME = re.compile(r"\b[nt]\d+\b")


def as_said(edit: object) -> str:
    """Return an edit as an engine gave it, for being sent back; "" where it is none."""
    if not isinstance(edit, dict) or not isinstance(edit.get("op"), str):
        return ""
    try:
        return json.dumps(folded(edit), ensure_ascii=False, sort_keys=True)
    except (TypeError, ValueError):
        return ""


def brief_of(brief: Brief, rejected: Rejected) -> Brief:
    """Return what is sent with an edit that goes back: the notes and turns of `brief` that it
    names, the edit, and why it was rejected.
    """
    names = frozenset(_NAME.findall(rejected.said))
    parts = [
        Part(part.title, tuple(it for it in part.blocks if name_of(number, it) in names))
        for number, part in enumerate(brief.parts)
    ]
    lines = (f"edit| {visible(rejected.said)}\n", f"why| {visible(rejected.why)}\n")
    return Brief((*parts, Part(TITLE, lines)), brief.ids, brief.sources)


def only_once(answer: Answer) -> Answer:
    """Return the answer to an edit that was sent back: one edit was asked for, and whatever is
    rejected of it does not go back again.
    """
    more = [Rejected(it.reason, "Only one edit was sent back.") for it in answer.wishes[1:]]
    wishes = tuple(replace(it, said="") for it in answer.wishes[:1])
    rejected = tuple(replace(it, said="") for it in (*answer.rejected, *more))
    return replace(answer, wishes=wishes, rejected=rejected)
