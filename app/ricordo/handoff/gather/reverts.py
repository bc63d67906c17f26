"""Actions that a session reverted, edits and created files, and calls that were refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ricordo.agents.transcripts.session import CallResult, FileAction, FileTouch, ToolCall
from ricordo.handoff.facts import MessageRef, Refusal
from ricordo.handoff.gather.limits import BoundedList, RecentDict
from ricordo.handoff.gather.runs import CommandRun

_MAX_ACTIONS = 1_000
_MAX_EDITS = 2_000
"""Edits, and files that were made, which may still be reverted."""
_MAX_LINE = 120
"""Characters of a line that is quoted from an edit."""
_MAX_REFUSAL = 300
"""Characters of a refusal that are kept."""
_GIT_REVERTS = {"restore": (), "revert": (), "checkout": ("--", "."), "reset": ("--hard",)}
"""Git commands that revert changes, each with the words of which it needs one."""


@dataclass(frozen=True, slots=True)
class RevertedAction:
    """An action that was reverted or refused."""

    since: MessageRef
    """The message of the action."""
    at: MessageRef
    """The message at which it was reverted."""
    what: str
    path: str = ""
    """The file whose name goes before `what`; "" for none."""
    needs_reason: bool = False
    """Whether it is only worth recording with a reason."""
    user_text: str = ""
    """The user's words when refusing it."""
    refusal: Refusal | None = None
    """Who refused it; None where it was reverted."""
    refusal_text: str = ""
    """How the transcript reports the refusal."""


@dataclass(slots=True)
class RevertedActions:
    """The actions that one session reverted."""

    actions: BoundedList[RevertedAction] = field(default_factory=lambda: BoundedList(_MAX_ACTIONS))
    _edits: RecentDict[tuple[str, int, int], tuple[MessageRef, str]] = field(
        default_factory=lambda: RecentDict(_MAX_EDITS)
    )
    """The message at which a text was replaced in a file, and the first line of the new text."""
    _created: RecentDict[str, MessageRef] = field(default_factory=lambda: RecentDict(_MAX_EDITS))
    """Files that the session created."""
    _known: set[str] = field(default_factory=set)
    """Files that it did not create."""

    def record_refusal(self, call: ToolCall, path: str, ending: CallResult, at: MessageRef) -> None:
        """Record a call that was refused, by the user or by rules."""
        what = call.command or f" ({call.tool})"
        at_file = "" if call.command else path
        by = Refusal.USER if ending.is_rejected else Refusal.RULES
        refusal_text = ending.user_words or _first_sentence(ending.output)
        action = RevertedAction(
            at,
            at,
            what,
            at_file,
            user_text=ending.user_words,
            refusal=by,
            refusal_text=refusal_text,
        )
        self.actions.add(action)

    def record_touches(self, touches: Sequence[FileTouch], at: MessageRef) -> None:
        """Record what one call did to files."""
        written = any(touch.action is FileAction.WROTE for touch in touches)
        for touch in touches:
            match touch.action:
                case FileAction.EDITED:
                    self._record_edit(touch, at)
                case FileAction.WROTE if touch.path not in self._known:
                    self._created[touch.path] = at
                case FileAction.DELETED if not written:
                    # together with a written file it was a move
                    self._record_deletion(touch.path, at)
                case _:
                    pass
            if touch.path not in self._created and len(self._known) < _MAX_EDITS:
                self._known.add(touch.path)

    def _record_edit(self, touch: FileTouch, at: MessageRef) -> None:
        before, after = touch.before.strip(), touch.text.strip()
        if before == after:
            return
        earlier = self._edits.pop((touch.path, hash(after), hash(before)), None)
        if earlier is None:
            line = next(filter(None, map(str.strip, after.split("\n"))), "")
            self._edits[touch.path, hash(before), hash(after)] = (at, line[:_MAX_LINE])
            return
        since, line = earlier
        self.actions.add(RevertedAction(since, at, f": {line}" if line else "", touch.path))

    def _record_deletion(self, path: str, at: MessageRef) -> None:
        created_at = self._created.pop(path, None)
        if created_at is not None:
            # agents create temporary files all the time
            action = RevertedAction(created_at, at, ", which was new", path, needs_reason=True)
            self.actions.add(action)

    def record_run(self, run: CommandRun) -> None:
        """Record a command that has ended: git may have reverted changes."""
        if run.has_failed or not self._edits:
            return
        if any(
            program.program == "git" and _is_git_revert(program.arguments)
            for program in run.programs
        ):
            since = next(iter(self._edits.values()))[0]
            self.actions.add(RevertedAction(since, run.ref, f"`{run.command}`"))


def _first_sentence(output: str) -> str:
    line = output.strip().partition("\n")[0][:_MAX_REFUSAL]
    sentence, end, _ = line.partition(". ")
    return sentence + end.rstrip()


def _is_git_revert(words: Sequence[str]) -> bool:
    """Return whether git reverts changes of files when given these words."""
    needed = _GIT_REVERTS.get(words[0]) if words and "--staged" not in words else None
    return needed is not None and (not needed or not {*needed}.isdisjoint(words))
