"""The sessions that bear on a memory, newest first, each to be curated by itself."""

from __future__ import annotations

import os

from ricordo.activity.session import Agent, Session
from ricordo.notebook.open import Notebook
from ricordo.notebook.sessions import bearing, bears
from ricordo.notebook.spoken import Scope


def recent_sessions(notebook: Notebook) -> tuple[Session, ...]:
    """Return what is known of the sessions whose transcript is still there. Those of sub-agents
    are none of their own.
    """
    own = bearing(notebook.place, notebook.surroundings)
    known = (it.session for it in notebook.activity.known())
    found = [it for it in known if not it.part_of and bears(own, it) and os.path.isfile(it.path)]
    return tuple(sorted(found, key=lambda it: it.ended, reverse=True))


def scope_of(session: Session) -> Scope:
    """Return the scope of one session."""
    is_one_of_many = session.agent is Agent.OPENCODE
    return Scope(session=f"{session.path}#{session.id}" if is_one_of_many else session.path)
