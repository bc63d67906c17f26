"""Which of the transcripts that a handoff names may be opened: those that agents keep here, and all
that a handoff names which was written here. A foreign document could name any file.
"""

from __future__ import annotations

from collections.abc import Callable

from ricordo.disk.act import CHANGE
from ricordo.disk.database import Database
from ricordo.disk.history import History
from ricordo.errors import StateUnusable
from ricordo.handoff.document import SourceSession
from ricordo.memory.change_set import digest
from ricordo.notebook.sessions import is_kept_by_agent
from ricordo.notebook.surroundings import Surroundings


def known_transcripts(
    surroundings: Surroundings, content: bytes
) -> Callable[[SourceSession], bool]:
    """Return what tells whether a transcript may be opened that a handoff of `content` names."""
    is_own = _is_written_here(Database(surroundings.state), content)
    return lambda source: is_own or is_kept_by_agent(source, surroundings)


def _is_written_here(database: Database, content: bytes) -> bool:
    if not database.exists:
        return False
    try:
        with database.opened() as connection:
            acts = History(connection).acts_leading_to(digest(content))
    except StateUnusable:
        return False
    return any(act.kind == CHANGE and act.state == "done" for act in acts)
