"""The sessions that bear on a memory and that can be curated by themselves, newest first."""

from __future__ import annotations

import os

from ricordo.activity.session import Agent, Session
from ricordo.activity.store import Store
from ricordo.notebook.open import Notebook
from ricordo.notebook.sessions import bearing, bears


def recent_sessions(notebook: Notebook) -> tuple[Session, ...]:
    """Return what is known of the sessions whose transcript is a file that is still there. Those of
    sub-agents are none of their own.
    """
    surroundings = notebook.surroundings
    own = bearing(notebook.place, surroundings)
    found = [
        it.session
        for it in Store(surroundings.state).known()
        # opencode keeps many sessions in one file
        if it.session.agent is not Agent.OPENCODE
        and not it.session.part_of
        and bears(own, it.session)
        and os.path.isfile(it.session.path)
    ]
    return tuple(sorted(found, key=lambda it: it.ended, reverse=True))
