"""What a person should know before an engine drafts a handoff. Nothing was sent by then."""

from __future__ import annotations

from dataclasses import dataclass

from ricordo.errors import WrongUsage
from ricordo.handoff.facts import Facts
from ricordo.notebook.before import Leaving, why_not
from ricordo.notebook.chosen import new_program, outside_of
from ricordo.notebook.drafting import asked_of
from ricordo.notebook.open import Notebook
from ricordo.settings.settings import EngineSettings


@dataclass(frozen=True, slots=True)
class BeforeDraft:
    """What is known before an engine drafts."""

    leaving: Leaving | None = None
    """None where nothing leaves."""
    left_out: int = 0
    """Facts for which there is no room in what is sent."""
    why_not: str = ""
    """Why the engine cannot be asked, and what to do; "" where nothing speaks against it."""


def look_before_draft(notebook: Notebook, own: EngineSettings, facts: Facts) -> BeforeDraft:
    """Return what is known before the engine that is set as `own` drafts a handoff of `facts`."""
    try:
        outside = outside_of(notebook.surroundings, own)
    except WrongUsage as error:
        return BeforeDraft(why_not=error.message)
    if outside is None:
        return BeforeDraft()
    asked = asked_of(notebook, outside, facts)
    leaving = Leaving(
        asked.outside,
        asked.told.text,
        asked.estimate,
        asked.outside.ask.gate.left(),
        asked.told.redaction.told(),
        new_program(notebook.surroundings, outside),
    )
    return BeforeDraft(leaving, asked.told.left_out, why_not(leaving))
