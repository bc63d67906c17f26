"""Facts become statements by extraction: quoted, or reported, or told as what they are."""

from __future__ import annotations

from ricordo.handoff.compose import compose
from ricordo.handoff.statement import Section, Statement
from tests.gathered import Gathered


def told(gathered: Gathered, section: Section) -> list[Statement]:
    """Return what is told in one section."""
    return [it for it in compose(gathered.facts) if it.section is section]


def quotes(gathered: Gathered, section: Section) -> list[str]:
    """Return what is quoted in one section."""
    return [it.quote for it in told(gathered, section)]


def texts(gathered: Gathered, section: Section) -> str:
    """Return the lines of one section."""
    return "\n".join(it.text for it in told(gathered, section))
