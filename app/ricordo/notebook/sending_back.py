"""A change that the checks rejected, sent back to whoever proposed it: when the person asks for it,
and once. What is answered goes through the same checks, and its cost counts as any other.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ricordo.curator.brief import Brief
from ricordo.curator.engine import Step
from ricordo.curator.proposal import Rejected
from ricordo.curator.sending_back import brief_of, only_once
from ricordo.errors import WrongUsage
from ricordo.notebook.before import Leaving, leaving_of, why_not
from ricordo.notebook.curate import Curation, checked
from ricordo.notebook.models import Outside
from ricordo.notebook.open import Notebook
from ricordo.notebook.preparing import Prepared


@dataclass(frozen=True, slots=True)
class Asked:
    """Whom a curation asked, and what was given to it."""

    prepared: Prepared
    outside: Outside


@dataclass(frozen=True, slots=True)
class BeforeSendingBack:
    """What is known before a change is sent back; nothing was sent."""

    brief: Brief
    leaving: Leaving
    why_not: str
    """Why it cannot be sent, and what to do; "" where nothing speaks against it."""


def look_before_sending_back(
    notebook: Notebook, asked: Asked, rejected: Rejected
) -> BeforeSendingBack:
    """Return what is known before a change is sent back. Raises StateUnusable."""
    brief, redaction = brief_of(asked.prepared.brief, rejected), asked.prepared.redaction
    leaving = leaving_of(notebook, asked.outside, brief, redaction, brief.stable, brief.changing)
    return BeforeSendingBack(brief, leaving, why_not(leaving))


def send_back(
    notebook: Notebook, asked: Asked, rejected: Rejected, step: Step = lambda _: None
) -> Curation:
    """Return what comes of sending a change back: what waits, and it in its place where the answer
    to it fits now. Nothing is kept or done. Raises WrongUsage where it was sent back before or is
    not of an engine outside our code, CuratorFailed, StateUnusable, and what `step` raises.
    """
    if not rejected.said:
        raise WrongUsage("Only what a model or a program proposed can be sent back, and only once.")
    # what was said was counted when it was curated, and so was how far it was heard
    told = replace(asked.prepared.told, tokens=0, cursors={})
    prepared = replace(asked.prepared, told=told)
    engine = asked.outside.asking(notebook, prepared)
    brief = brief_of(prepared.brief, rejected)
    answer = only_once(engine.answer(prepared.memory, brief, step))
    return checked(notebook, prepared, engine.author, answer)
