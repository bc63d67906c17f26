"""The context of a proposal's quotes: the quoted message of a session, with those around it."""

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

_MESSAGES_BEFORE, _MESSAGES_AFTER = 2, 2
"""Messages that are shown before and after the quoted one."""


def turn_of(source: str) -> tuple[str, str]:
    """Return the transcript and the message that a source of evidence names; the latter is "" where
    the source is the path of a note.
    """
    path, mark, key = source.rpartition("#")
    return (path, key) if mark else (source, "")


def session_name(path: str) -> str:
    """Return the name of a session of which only the `path` of its transcript is known."""
    return path.rpartition("/")[2].removesuffix(".jsonl")


def place_in_words(source: str) -> str:
    """Return a source of evidence in a few words: the session, or the path of the note."""
    path, key = turn_of(source)
    return f"session {session_name(path)}" if key else path


def causes_of_note(notebook: Notebook, memory: Memory, path: str) -> Sequence[NoteOrigin]:
    """Return the origins of a note, in the order of time."""
    renamed = notebook.renamed(memory)
    return causes_by_note(notebook.activity, memory.root, renamed).get(path, ())


def causes_of(
    notebook: Notebook, memory: Memory, evidence: Iterable[Quoted]
) -> Sequence[NoteOrigin]:
    """Return the quoted messages, each once, in the order of the quotes; for a quoted note its
    origins. What no longer exists is left out.
    """
    causes: list[NoteOrigin] = []
    sources = list(dict.fromkeys(quote.source for quote in evidence))
    notes = [source for source in sources if source in memory.by_path]
    for source in sources:
        if source not in notes and (cause := _find_cause(notebook, *turn_of(source))) is not None:
            causes.append(cause)
    if notes:
        renamed = notebook.renamed(memory)
        by_note = causes_by_note(notebook.activity, memory.root, renamed)
        causes += [cause for note in notes for cause in by_note.get(note, ())]
    return causes


def _find_cause(notebook: Notebook, path: str, key: str) -> NoteOrigin | None:
    """Return a message of a transcript with those around it; None where it no longer exists."""
    transcripts = [
        transcripts for transcripts in notebook.activity.known() if transcripts.source.path == path
    ]
    # opencode keeps many sessions in one file
    sources = [(transcript.source, transcript.session.title) for transcript in transcripts] or [
        (source_at(path), "")
    ]
    causes = (_read_turns(source, key, title) for source, title in sources)
    return next(filter(None, causes), None)


def _read_turns(source: TranscriptSource, key: str, known_title: str) -> NoteOrigin | None:
    transcript = open_transcript(source)
    before: deque[Turn] = deque(maxlen=_MESSAGES_BEFORE)
    around: list[Turn] = []
    for turn in filter(lambda turn: turn.is_said, transcript.turns()):
        if around or key in (turn.key, f":{turn.where.line}"):
            around.append(turn)
        else:
            before.append(turn)
        if len(around) > _MESSAGES_AFTER:
            break
    if not around:
        return None
    cause, *after = around
    turns = (
        *map(said_as_kept, before),
        said_as_kept(cause, is_cause=True),
        *map(said_as_kept, after),
    )
    session = transcript.session
    # the title of a session may come after the part that was read
    title = known_title or session.title
    return NoteOrigin("", cause.at, "", None, session.agent, session.id, title, source.path, turns)


def titles(notebook: Notebook) -> Mapping[str, str]:
    """Return the titles of the known sessions, by their transcript."""
    transcripts = notebook.activity.known()
    return {transcript.session.path: transcript.session.shown for transcript in transcripts}
