"""The context of a proposal's quotes: the quoted message of a session, with those around it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence

from ricordo.agents.registry import find_transcript_at, open_transcript
from ricordo.agents.transcripts.session import Message
from ricordo.agents.transcripts.sources import TranscriptSource
from ricordo.curation.proposal import EvidenceQuote
from ricordo.memory.memory import Memory
from ricordo.services.sessions.origin import NoteOrigin, load_origins
from ricordo.services.sessions.trace import to_quoted_message
from ricordo.services.workspace.notebook import Notebook

_MESSAGES_BEFORE, _MESSAGES_AFTER = 2, 2
"""Messages that are shown before and after the quoted one."""


def split_source(source: str) -> tuple[str, str]:
    """Return the transcript and the message that a source of evidence names; the latter is "" where
    the source is the path of a note.
    """
    path, mark, key = source.rpartition("#")
    return (path, key) if mark else (source, "")


def name_session(path: str) -> str:
    """Return the name of a session of which only the `path` of its transcript is known."""
    return path.rpartition("/")[2].removesuffix(".jsonl")


def describe_source(source: str) -> str:
    """Return a source of evidence in a few words: the session, or the path of the note."""
    path, key = split_source(source)
    return f"session {name_session(path)}" if key else path


def list_note_origins(notebook: Notebook, memory: Memory, path: str) -> Sequence[NoteOrigin]:
    """Return the origins of a note, in the order of time."""
    renamed = notebook.find_moved(memory)
    return load_origins(notebook.activity, memory.root, renamed).get(path, ())


def list_quote_origins(
    notebook: Notebook, memory: Memory, evidence: Iterable[EvidenceQuote]
) -> Sequence[NoteOrigin]:
    """Return the quoted messages, each once, in the order of the quotes; for a quoted note its
    origins. What no longer exists is left out.
    """
    causes: list[NoteOrigin] = []
    sources = list(dict.fromkeys(quote.source for quote in evidence))
    notes = [source for source in sources if source in memory.by_path]
    for source in sources:
        if (
            source not in notes
            and (cause := _find_cause(notebook, *split_source(source))) is not None
        ):
            causes.append(cause)
    if notes:
        renamed = notebook.find_moved(memory)
        by_note = load_origins(notebook.activity, memory.root, renamed)
        causes += [cause for note in notes for cause in by_note.get(note, ())]
    return causes


def _find_cause(notebook: Notebook, path: str, key: str) -> NoteOrigin | None:
    """Return a message of a transcript with those around it; None where it no longer exists."""
    transcripts = [
        transcripts
        for transcripts in notebook.activity.list_transcripts()
        if transcripts.source.path == path
    ]
    # opencode keeps many sessions in one file
    sources = [(transcript.source, transcript.session.title) for transcript in transcripts] or [
        (find_transcript_at(path), "")
    ]
    causes = (_read_turns(source, key, title) for source, title in sources)
    return next(filter(None, causes), None)


def _read_turns(source: TranscriptSource, key: str, known_title: str) -> NoteOrigin | None:
    transcript = open_transcript(source)
    before: deque[Message] = deque(maxlen=_MESSAGES_BEFORE)
    around: list[Message] = []
    for turn in filter(lambda turn: turn.is_spoken, transcript.messages()):
        if around or key in (turn.key, f":{turn.place.line}"):
            around.append(turn)
        else:
            before.append(turn)
        if len(around) > _MESSAGES_AFTER:
            break
    if not around:
        return None
    cause, *after = around
    turns = (
        *map(to_quoted_message, before),
        to_quoted_message(cause, is_cause=True),
        *map(to_quoted_message, after),
    )
    session = transcript.session
    # the title of a session may come after the part that was read
    title = known_title or session.title
    return NoteOrigin("", cause.at, "", None, session.agent, session.id, title, source.path, turns)


def list_titles(notebook: Notebook) -> Mapping[str, str]:
    """Return the titles of the known sessions, by their transcript."""
    transcripts = notebook.activity.list_transcripts()
    return {transcript.session.path: transcript.session.shown for transcript in transcripts}
