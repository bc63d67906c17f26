"""Facts become statements by extraction: quoted, or reported, or told as what they are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ricordo.activity.session import Deed
from ricordo.handoff.compose import compose
from ricordo.handoff.composing.excerpt import excerpt
from ricordo.handoff.composing.headed import headed
from ricordo.handoff.facts import GIT, Facts, GitState, Work
from ricordo.handoff.statement import Quote, Result, Section, Statement, Status
from tests.gathered import Gathered
from tests.secret_corpus import SECRETS, corpus


def told(gathered: Gathered, section: Section) -> list[Statement]:
    """Return what is told in one section."""
    return [it for it in compose(gathered.facts) if it.section is section]


def quotes(gathered: Gathered, section: Section) -> list[str]:
    """Return what is quoted in one section."""
    return [it.quote for it in told(gathered, section)]


def texts(gathered: Gathered, section: Section) -> str:
    """Return the lines of one section."""
    return "\n".join(it.text for it in told(gathered, section))
