"""Editing a note in the user's editor: on a private copy, whose text is never lost."""

from __future__ import annotations

import os
import signal
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from textual.app import App, SuspendNotSupported

from ricordo.errors import ChangeRefused, RicordoError, WrongUsage
from ricordo.memory.change import Create, Rewrite
from ricordo.memory.note import BOM
from ricordo.services.edits.change import EditConflicts
from ricordo.settings.editor import edit, editor_command
from ricordo.storage.private_copy import read_private_copy, remove_private_copy, write_private_copy
from ricordo.text import make_one_line

if TYPE_CHECKING:
    from ricordo.memory.change import ChangeSet
    from ricordo.memory.memory import Memory
    from ricordo.memory.note import Note
    from ricordo.services.workspace.notebook import Notebook
    from ricordo.tui.edits.writer import ChangeWriter


def edit_in_terminal(app: App[Any], file: str, command: tuple[str, ...]) -> int:
    """Open `file` with `command` in the terminal of `app`, which is suspended; return the editor's
    exit code. Raises WrongUsage where it cannot be started.
    """
    try:
        with _terminal_of(app), _interrupts_ignored():
            return edit(file, command)
    except SuspendNotSupported:
        raise WrongUsage("This terminal cannot run an editor.") from None


@contextmanager
def _terminal_of(app: App[Any]) -> Iterator[None]:
    """Suspend `app`, which has the terminal, and resume it whatever happens meanwhile."""
    if app.is_headless:  # it has no terminal to suspend
        yield
        return
    failure: BaseException | None = None
    with app.suspend():
        # App.suspend does not resume where its block raises
        try:
            yield
        except BaseException as error:
            failure = error
    if failure is not None:
        raise failure


@contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """Leave ctrl+c to the editor while it runs."""
    # a handler that does nothing, not SIG_IGN: the editor would inherit that
    before = signal.signal(signal.SIGINT, lambda number, frame: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


_REASON = "edited by hand"


class NoteEditor:
    """Edits one note, from opening it to writing what was saved."""

    def __init__(self, app: App[Any], writing: ChangeWriter) -> None:
        """`app` is suspended while the editor runs."""
        self._app = app
        self._writing = writing

    async def edit(self, path: str) -> None:
        """Let the user edit the note at `path`. Raises RicordoError; the text is not lost then."""
        writing = self._writing
        memory = await writing.read()
        note = memory.by_path.get(path)
        if note is None:
            raise ChangeRefused(f"{make_one_line(path)} is gone.")
        # refused before the user types
        await writing.compose(memory, [Rewrite(path, note.text)], _REASON)
        state = writing.notebook.environment.state
        copy = write_private_copy(state, os.path.basename(path), note.raw)
        again = False
        while await self._round(memory, note, copy, seen_first=again):
            # the next round is compared with the text that is on disk by then
            memory, again = await writing.read(), True
            note = memory.by_path.get(path, note)

    async def _round(self, memory: Memory, note: Note, copy: str, *, seen_first: bool) -> bool:
        """Edit once; return whether the user wants to edit again."""
        before = read_private_copy(copy)
        code = self._open(copy)
        saved = read_private_copy(copy)
        if saved is None:
            raise ChangeRefused("The editor left no readable file.")
        if saved == before and not seen_first:
            remove_private_copy(copy)
            if code:
                self._writing.report(f"The editor ended with an error ({code}).", severe=True)
            return False
        if code:
            raise ChangeRefused(f"The editor ended with an error ({code}).{_copy_path(copy)}")
        try:
            return await self._write_back(memory, note, copy, saved, seen_first=seen_first)
        except RicordoError as error:
            raise ChangeRefused(
                f"{error.message}{_copy_path(copy)}", changed=error.changed
            ) from None

    def _open(self, copy: str) -> int:
        notebook = self._writing.notebook
        try:
            command = editor_command(notebook.settings.editor, notebook.environment.environ)
            return edit_in_terminal(self._app, copy, command)
        except RicordoError:
            remove_private_copy(copy)
            raise

    async def _write_back(
        self, memory: Memory, note: Note, copy: str, saved: bytes, *, seen_first: bool
    ) -> bool:
        writing = self._writing
        try:
            text = saved.removeprefix(BOM).decode("utf-8")
        except UnicodeDecodeError:
            raise ChangeRefused("The saved text is not UTF-8.") from None
        is_there = note.path in memory.by_path
        act = Rewrite(note.path, text) if is_there else Create(note.path, text, entry="")
        change_set = await writing.compose(memory, [act], _REASON)
        words = _words(change_set, note.path, seen_first=seen_first)
        if change_set and (words or change_set.warnings):
            approved = await writing.propose("What you edited", change_set, words)
            if approved is None:
                writing.report(f"Nothing was written.{_copy_path(copy)}", severe=True)
                return False
            change_set = approved
        outcome = await writing.write(change_set)
        if isinstance(outcome, EditConflicts):
            return await writing.show_edit_conflict(outcome, _copy_path(copy).strip(), edit=True)
        if outcome is None and change_set:
            writing.report(f"Nothing was written.{_copy_path(copy)}", severe=True)
            return False
        remove_private_copy(copy)
        if outcome is not None:
            writing.report("Saved. u undoes it.")
        return False


async def edit_text(
    app: App[Any],
    notebook: Notebook,
    name: str,
    text: str,
    use: Callable[[str], Awaitable[None]],
) -> None:
    """Let the user edit `text` as a file called `name`, and call `use` with what was saved where it
    differs. Raises RicordoError; the text is not lost then.
    """
    copy = write_private_copy(notebook.environment.state, name, text.encode())
    try:
        saved = edit_copy(app, notebook, copy)
        if saved != text:
            await use(saved)
    except RicordoError as error:
        raise ChangeRefused(f"{error.message}{_copy_path(copy)}", changed=error.changed) from None
    remove_private_copy(copy)


def edit_copy(app: App[Any], notebook: Notebook, copy: str) -> str:
    """Let the user edit the private copy at `copy`; return its text. Raises RicordoError."""
    command = editor_command(notebook.settings.editor, notebook.environment.environ)
    code = edit_in_terminal(app, copy, command)
    saved = read_private_copy(copy)
    if code or saved is None:
        raise ChangeRefused(f"The editor ended with an error ({code}).")
    try:
        return saved.removeprefix(BOM).decode("utf-8")
    except UnicodeDecodeError:
        raise ChangeRefused("The saved text is not UTF-8.") from None


def _words(change_set: ChangeSet, path: str, *, seen_first: bool) -> tuple[str, ...]:
    """Return why the change is shown before it is written; empty where it is not."""
    words: list[str] = []
    if seen_first:
        words.append("This replaces what somebody else wrote.")
    if any(edit.path != path for edit in change_set.edits):
        words.append("Its name changes: links to it follow.")
    return tuple(words)


def _copy_path(copy: str) -> str:
    return f" Your text is kept in {make_one_line(copy)}."
