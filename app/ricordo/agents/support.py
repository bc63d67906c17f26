"""What Ricordo can ask about an agent. Each agent has a package or module with one `AgentSupport`;
`registry.py` lists them. Everything else asks the registry, and names no agent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from ricordo import git
from ricordo.agents.agent import Agent, MemoryPlace
from ricordo.agents.transcripts.sources import SessionFilter
from ricordo.agents.workplace import Workplace
from ricordo.memory.layout import Layout

if TYPE_CHECKING:
    from ricordo.agents.connection import Connection, Launcher
    from ricordo.agents.diagnosis import (
        BrokenFile,
        ConfiguredHook,
        ConfiguredServer,
        HookRun,
        MemorySource,
        NamedFile,
        PathHolder,
        ProjectFolder,
        RepositoryRecord,
        SettingInEffect,
    )
    from ricordo.agents.transcripts.checkpoint import Checkpoint
    from ricordo.agents.transcripts.reader import MakeReader
    from ricordo.agents.transcripts.session import Message, MessagePlace, Session
    from ricordo.agents.transcripts.sources import TranscriptSource

Step = Callable[[], None]
"""Called every few milliseconds while something is read; it may raise."""


class LayoutMark(NamedTuple):
    """How a directory shows that its memory has a layout."""

    strength: int
    """From 0 to 100; of several marks the strongest counts."""
    fits: Callable[[str, frozenset[str]], bool]
    """Takes a directory and the names in it, folders with a `/` behind."""
    layout: Layout


class Survey(NamedTuple):
    """What an agent has on the whole machine."""

    cwds: frozenset[str]
    """Directories in which its sessions worked."""
    memories: Callable[[Sequence[str]], list[MemoryPlace]]
    """Takes the roots of the projects that are known."""


class Transcript(Protocol):
    """One transcript, open for reading; it is read as it is used."""

    checkpoint: Checkpoint
    is_restarted: bool
    """Whether it was read from its beginning: what was known of it before is void."""
    is_resumable: bool
    """Whether reading can go on from `checkpoint`."""

    @property
    def session(self) -> Session:
        """The session, as far as it was read."""
        ...

    def messages(self) -> Iterator[Message]:
        """Yield the messages from where the last reading ended."""
        ...

    def seal(self) -> None:
        """Make `checkpoint` a valid start for the next reading, though messages are left."""
        ...


class AgentSupport:
    """One agent, or one form of memory that no agent owns. A method that a subclass leaves out
    means that it has nothing of the kind.

    `home` and `environ` are the user's home directory and the environment of the shell.
    """

    agent: Agent | None = None
    """None where there are no sessions of it and no handoffs for it."""
    layouts: tuple[Layout, ...] = ()
    marks: tuple[LayoutMark, ...] = ()
    has_transcripts = False
    """Whether its package has the tables `marks.toml` and `tools.toml`, for which see the modules
    `noise` and `tools` of `agents.transcripts`.
    """
    takes_handoffs = False
    """Whether its package has a table `handoff.toml`, with the fields of `handoff/any.toml`."""
    instruction_files: tuple[str, ...] = ()
    """Names of the files in a project that it loads at every start, without `.md`."""

    project_folder = ""
    """The folder of a project that holds its settings; "" where it has none."""
    worktree_folder = ""
    """The folder of a project in which it makes worktrees; "" where it makes none."""

    project_variable = ""
    """The environment variable with the project in programs that it starts; "" where it sets none.
    """
    session_variable = ""
    """The environment variable with the id of the session in those programs."""

    def connection(
        self, home: str, environ: Mapping[str, str], launcher: Launcher
    ) -> Connection | None:
        """Return what connects it to Ricordo; None where it cannot be connected."""
        return None

    # Memories

    def memories_at(
        self, here: Workplace, home: str, environ: Mapping[str, str]
    ) -> Iterator[MemoryPlace]:
        """Yield what may be its memory of a workplace, there or not, most likely first."""
        yield from ()

    def memories_in(self, project: str) -> list[MemoryPlace]:
        """Return the memories that lie in the directory of a project."""
        return []

    def sub_agent_memories(self, projects: Iterable[str]) -> list[MemoryPlace]:
        """Return the memories that its sub-agents keep in the directories of projects."""
        return []

    def survey(self, home: str, environ: Mapping[str, str]) -> Survey:
        """Return what it has on the whole machine."""
        return Survey(frozenset(), lambda projects: [])

    def whole_memory(self, root: str) -> str:
        """Return the directory of the memory of which `root` is a part, else `root` itself."""
        return root

    def project_of(self, root: str, layout: Layout) -> str:
        """Return the project of its memory at `root`; "" where it is unknown."""
        return git.find_top_level(root) or ""

    # Its own set-up, for a diagnosis

    def project_folders(self, home: str, environ: Mapping[str, str]) -> list[ProjectFolder]:
        """Return the folders that it keeps for projects."""
        return []

    def known_projects(self, home: str, environ: Mapping[str, str]) -> list[str]:
        """Return the directories that it has a record of as projects, there or not."""
        return []

    def memory_sources(
        self, here: Workplace, home: str, environ: Mapping[str, str]
    ) -> list[MemorySource]:
        """Return the settings that name a directory for its memory of a workplace."""
        return []

    def settings_in_effect(
        self, places: Sequence[Workplace], home: str, environ: Mapping[str, str]
    ) -> list[SettingInEffect]:
        """Return the settings that let it rewrite memories in the background."""
        return []

    def has_known_name(self, memory: str) -> bool:
        """Return whether the directory of a memory, as `memories_at` names it, has its full name
        where it is not there yet.
        """
        return True

    def memory_switch(
        self, here: Workplace, home: str, environ: Mapping[str, str]
    ) -> SettingInEffect | None:
        """Return the setting that turns its memory of a workplace off; None where it is on."""
        return None

    def hooks(
        self, places: Sequence[Workplace], home: str, environ: Mapping[str, str]
    ) -> list[ConfiguredHook]:
        """Return the hooks that it runs."""
        return []

    def hook_runs(self, transcript: str) -> Iterator[HookRun]:
        """Yield the runs of hooks that one of its transcripts has."""
        yield from ()

    def servers(
        self, places: Sequence[Workplace], home: str, environ: Mapping[str, str]
    ) -> list[ConfiguredServer]:
        """Return the MCP servers that it starts."""
        return []

    def instruction_paths(self, home: str, environ: Mapping[str, str]) -> list[NamedFile]:
        """Return the instruction files that the user's settings name by an absolute path."""
        return []

    def broken_settings(
        self, places: Sequence[Workplace], home: str, environ: Mapping[str, str]
    ) -> list[BrokenFile]:
        """Return its settings files that it cannot read."""
        return []

    def unread_drafts(self, home: str, environ: Mapping[str, str]) -> list[str]:
        """Return the drafts of memories that it keeps until the user reads them."""
        return []

    def repository_records(self, home: str, environ: Mapping[str, str]) -> list[RepositoryRecord]:
        """Return what it noted of repositories."""
        return []

    def outdated_plugins(self, home: str, environ: Mapping[str, str]) -> list[str]:
        """Return its plugins that the installed version does not load."""
        return []

    def path_holders(self, project: str, home: str, environ: Mapping[str, str]) -> list[PathHolder]:
        """Return its files and folders that hold the path of a project."""
        return []

    # Transcripts

    def session_filter(
        self, place: MemoryPlace, projects: Sequence[str], home: str, environ: Mapping[str, str]
    ) -> SessionFilter:
        """Return which sessions are relevant to its memory at `place`, besides those that worked in
        its `projects`.
        """
        return SessionFilter(projects=tuple(projects))

    def scope_files(self, home: str, environ: Mapping[str, str]) -> list[str]:
        """Return the paths that change when `session_filter` may return something else."""
        return []

    def transcripts(
        self, scope: SessionFilter, home: str, environ: Mapping[str, str]
    ) -> Iterator[TranscriptSource]:
        """Yield its transcripts that may be in `scope`; where one does not show at its beginning
        where it worked, only reading it does.
        """
        yield from ()

    def transcripts_near(
        self, path: str, home: str, environ: Mapping[str, str]
    ) -> Iterator[TranscriptSource]:
        """Yield the transcripts that it keeps where `path`, a real path, lies."""
        yield from ()

    def transcript_folders(self, home: str, environ: Mapping[str, str]) -> list[str]:
        """Return the folders in which its next transcript may appear."""
        return []

    def sub_agent_transcripts(self, source: TranscriptSource) -> Iterator[TranscriptSource]:
        """Yield the transcripts of the sub-agents of one of its sessions."""
        yield from ()

    def is_transcript(self, path: str) -> bool:
        """Say whether a file of lines is one of its transcripts."""
        return False

    def find_session(self, path: str, session: str, raw: bytes) -> TranscriptSource | None:
        """Return the session in the file at `path`, whose first bytes are `raw`, where the file is
        its own and no file of lines; `session` is an id or "". Raises WrongUsage.
        """
        return None

    def open_transcript(
        self, source: TranscriptSource, learnt: Checkpoint | None, step: Step
    ) -> Transcript:
        """Return one of its transcripts for reading, from where `learnt` ends. Only for an agent
        that `has_transcripts`.
        """
        from ricordo.agents.transcripts.reader import LineTranscript

        return LineTranscript(self.get_line_reader(), source.path, learnt, step)

    def read_messages_from(
        self, source: TranscriptSource, start: MessagePlace
    ) -> Iterator[Message]:
        """Yield the turns of one of its transcripts from `start` on, or from its beginning where it
        can only be read as a whole.
        """
        from ricordo.agents.transcripts.reader import read_messages_from

        return read_messages_from(self.get_line_reader(), source.path, start)

    def get_line_reader(self) -> MakeReader:
        """Return what reads the lines of its transcripts. Only for an agent whose transcripts are
        files of lines.
        """
        raise NotImplementedError
