"""A draft of a handoff as a person goes through it: what would be written of each statement, and
what is written of those that they want.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ricordo.errors import Conflict
from ricordo.handoff.destination import destination
from ricordo.handoff.kept_back import without_secrets
from ricordo.handoff.probe import OWN, World
from ricordo.handoff.prove import prove
from ricordo.handoff.render import tidied
from ricordo.handoff.statement import Statement
from ricordo.memory.change_set import ChangeSet
from ricordo.notebook.handing_off import Draft
from ricordo.notebook.handing_over import Finished, change_of
from ricordo.notebook.open import Notebook
from ricordo.text import visible


def statements_of(draft: Draft) -> Mapping[Statement, Statement]:
    """Return the statements of a draft as they would be written, in its order, each still with the
    facts on which it stands, and what it is with its secrets. What cannot be written for a secret
    is none of them.
    """
    # what one statement tells of a secret, another one may hold
    without_secrets(tidied(draft.handoff), draft.redaction)
    return {clean: it for it in draft.handoff.statements for clean in _clean(it, draft)}


def _clean(it: Statement, draft: Draft) -> tuple[Statement, ...]:
    alone = tidied(replace(draft.handoff, statements=(it,)))
    found = without_secrets(alone, draft.redaction).statements
    return tuple(replace(clean, stands_on=it.stands_on) for clean in found)


def proved_of(draft: Draft, statement: Statement) -> Statement:
    """Return a statement in other words with the proof that it has."""
    project = draft.facts.project
    own = OWN | {os.path.relpath(draft.destination.path, project)}
    return prove((statement,), draft.facts, World(project, draft.facts.memory, own))[0]


def chosen(draft: Draft, wanted: Sequence[Statement]) -> Draft:
    """Return a draft of the statements that are `wanted` alone, with their secrets, as they are
    kept back when it is finished.
    """
    return replace(draft, handoff=replace(draft.handoff, statements=tuple(wanted)))


def writing(notebook: Notebook, draft: Draft, done: Finished, last: str) -> ChangeSet:
    """Return the change set that writes a handoff in the place of what its draft found there, or of
    the `last` text that was written of it. Raises ChangeRefused, and Conflict where something else
    stands there by now.
    """
    to = destination(draft.destination.path)
    is_own = to.before is not None and to.before == last.encode("utf-8")
    if to.path != draft.destination.path or not (is_own or to.before == draft.destination.before):
        said = f"Meanwhile somebody else wrote {visible(draft.destination.path)}."
        raise Conflict(f"{said} Probe again, and look at it anew.")
    return change_of(notebook, notebook.read(), replace(draft, destination=to), done)
