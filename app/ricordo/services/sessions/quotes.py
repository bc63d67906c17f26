"""Where the words stand on which a proposal rests: the turn of a session, with those around it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence

from ricordo.agents.registry import open_transcript, source_at
from ricordo.agents.transcripts.session import Turn
from ricordo.agents.transcripts.sources import TranscriptSource
from ricordo.curation.proposal import Quoted
from ricordo.memory.memory import Memory
from ricordo.services.sessions.origin import NoteOrigin, causes_by_note
from ricordo.services.sessions.trace import said_as_kept
from ricordo.services.workspace.notebook import Notebook

_BEFORE, _BEHIND = 2, 2
"""Turns that are shown before and behind the one that is quoted."""


def turn_of(source: str) -> tuple[str, str]:
    """Return the transcript and the turn that a source of evidence names; the latter is "" where
    it is the path of a note.
    """
    path, mark, key = source.rpartition("#")
    return (path, key) if mark else (source, "")


def session_name(path: str) -> str:
    """Return what a session is called of whose transcript nothing but its `path` is known."""
    return path.rpartition("/")[2].removesuffix(".jsonl")


def place_in_words(source: str) -> str:
    """Return a source of evidence in a few words: the session, or the path of the note."""
    path, key = turn_of(source)
    return f"session {session_name(path)}" if key else path


def causes_of_note(notebook: Notebook, memory: Memory, path: str) -> Sequence[NoteOrigin]:
    """Return what caused a note and changed it, in the order of time."""
    renamed = notebook.renamed(memory)
    return causes_by_note(notebook.activity, memory.root, renamed).get(path, ())


def causes_of(
    notebook: Notebook, memory: Memory, evidence: Iterable[Quoted]
) -> Sequence[NoteOrigin]:
    """Return the turns that are quoted, each once, in the order of the quotes; of a quoted note
    what caused that. What is gone by now is left out.
    """
    found: list[NoteOrigin] = []
    sources = list(dict.fromkeys(it.source for it in evidence))
    notes = [source for source in sources if source in memory.by_path]
    for source in sources:
        if source not in notes and (cause := _cause_at(notebook, *turn_of(source))) is not None:
            found.append(cause)
    if notes:
        renamed = notebook.renamed(memory)
        by_note = causes_by_note(notebook.activity, memory.root, renamed)
        found += [cause for note in notes for cause in by_note.get(note, ())]
    return found


def _cause_at(notebook: Notebook, path: str, key: str) -> NoteOrigin | None:
    """Return a turn of a transcript with those around it; None where it is not there any more."""
    known = [it for it in notebook.activity.known() if it.source.path == path]
    # one file may hold many sessions
    sources = [(it.source, it.session.title) for it in known] or [(source_at(path), "")]
    found = (_turns_at(source, key, title) for source, title in sources)
    return next(filter(None, found), None)


def _turns_at(source: TranscriptSource, key: str, titled: str) -> NoteOrigin | None:
    transcript = open_transcript(source)
    before: deque[Turn] = deque(maxlen=_BEFORE)
    around: list[Turn] = []
    for turn in filter(lambda turn: turn.is_said, transcript.turns()):
        if around or key in (turn.key, f":{turn.where.line}"):
            around.append(turn)
        else:
            before.append(turn)
        if len(around) > _BEHIND:
            break
    if not around:
        return None
    cause, *behind = around
    turns = (
        *map(said_as_kept, before),
        said_as_kept(cause, is_cause=True),
        *map(said_as_kept, behind),
    )
    it = transcript.session
    # what names a session may stand behind what was read of it
    title = titled or it.title
    return NoteOrigin("", cause.at, "", None, it.agent, it.id, title, source.path, turns)


def titles(notebook: Notebook) -> Mapping[str, str]:
    """Return what the sessions are called of which something is known, by their transcript."""
    known = notebook.activity.known()
    return {it.session.path: it.session.shown for it in known}
