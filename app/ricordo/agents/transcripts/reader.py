"""A transcript that is a file of lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

from ricordo.agents.agent import Agent
from ricordo.agents.transcripts.checkpoint import Checkpoint
from ricordo.agents.transcripts.lines import FileLine, LineFile, open_lines, parse_object
from ricordo.agents.transcripts.session import Message, MessagePlace, Session


class LineReader(Protocol):
    """Reads the lines of one transcript as messages."""

    agent: Agent

    def read_line(self, entry: dict[str, Any], where: MessagePlace) -> Message | None:
        """Return the message in a line; None if there is none."""
        ...


MakeReader = Callable[[str, Checkpoint], LineReader]
"""Takes the path of a transcript, and what was read of it, which the reader fills in."""


class LineTranscript:
    """One transcript. It is read as it is used, within little memory whatever its size."""

    is_resumable = True

    def __init__(
        self,
        make_reader: MakeReader,
        path: str,
        learnt: Checkpoint | None = None,
        step: Callable[[], None] = lambda: None,
    ) -> None:
        """`learnt` is the result of an earlier reading: this one goes on from there, if the file is
        still the same. `step` is called at every line and may raise. Nothing is opened yet.
        """
        self._step = step
        self._make_reader = make_reader
        self.path = path
        self.checkpoint = learnt or Checkpoint()
        self.agent = make_reader(path, self.checkpoint).agent
        self.is_restarted = not self.checkpoint.offset
        """Whether it was read from its beginning, so that earlier results are void."""

    @property
    def session(self) -> Session:
        """The session, as far as it was read."""
        return self.checkpoint.make_session(self.agent, self.path)

    def messages(self) -> Iterator[Message]:
        """Yield the messages from where the last reading ended; none if it cannot be read.

        After each message `checkpoint` covers exactly what was yielded.
        """
        with open_lines(self.path) as file:
            if file is None:
                return
            try:
                yield from self._turns(file)
                self.checkpoint.fingerprint = file.fingerprint(self.checkpoint.offset)
            except OSError:
                # what was read so far stays valid; the rest is read another time
                return

    def seal(self) -> None:
        """Make `checkpoint` a valid start for the next reading, though messages are left."""
        with open_lines(self.path) as file:
            if file is not None:
                self.checkpoint.fingerprint = file.fingerprint(self.checkpoint.offset)

    def _turns(self, file: LineFile) -> Iterator[Message]:
        learnt = self.checkpoint
        if file.size < learnt.offset or file.fingerprint(learnt.offset) != learnt.fingerprint:
            learnt = self.checkpoint = Checkpoint()
            self.is_restarted = True
        reader = self._make_reader(self.path, learnt)
        learnt.is_torn = False
        for line in file.lines(learnt.offset, learnt.line):
            self._step()
            turn = self._read(reader, line)
            if learnt.is_torn:
                return
            learnt.offset, learnt.line = line.end, line.number + line.is_ended
            if turn is not None:
                learnt.record(turn)
                yield turn

    def _read(self, reader: LineReader, line: FileLine) -> Message | None:
        learnt = self.checkpoint
        if line.raw is None:
            if line.is_ended:
                learnt.too_long += 1
            learnt.is_torn = not line.is_ended
            return None
        if not line.raw.strip():
            return None
        entry = parse_object(line.raw)
        if entry is not None:
            return reader.read_line(entry, MessagePlace(line.offset, line.number))
        if line.is_ended:
            learnt.count_unknown("no JSON object")
        learnt.is_torn = not line.is_ended
        return None


def read_messages_from(
    make_reader: MakeReader, path: str, start: MessagePlace
) -> Iterator[Message]:
    """Yield the messages of the transcript at `path` from the line at `start` on."""
    with open_lines(path) as file:
        if file is None:
            return
        reader = make_reader(path, Checkpoint())
        try:
            for line in file.lines(*start):
                entry = parse_object(line.raw) if line.raw is not None else None
                where = MessagePlace(line.offset, line.number)
                if entry is not None and (turn := reader.read_line(entry, where)) is not None:
                    yield turn
        except OSError:
            return
