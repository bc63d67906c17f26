"""A note in the person's editor: on a private copy, whose text is never lost."""

from __future__ import annotations

import os
import signal
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from textual.app import App, SuspendNotSupported

from ricordo.errors import ChangeRefused, RicordoError, WrongUsage
from ricordo.memory.change import Create, Rewrite
from ricordo.memory.note import BOM
from ricordo.services.edits.change import EditOverlap
from ricordo.settings.editor import edit, editor_command
from ricordo.storage.private_copy import read_private_copy, remove_private_copy, write_private_copy
from ricordo.text import one_line

if TYPE_CHECKING:
    from ricordo.memory.change import ChangeSet
    from ricordo.memory.memory import Memory
    from ricordo.memory.note import Note
    from ricordo.services.workspace.notebook import Notebook
    from ricordo.tui.edits.writer import Writing


def edit_in_terminal(app: App[Any], file: str, command: tuple[str, ...]) -> int:
    """Open `file` with `command` in the terminal of `app`, which waits; return the editor's exit
    code. Raises WrongUsage where it cannot be started.
    """
    try:
        with _terminal_of(app), _interrupts_left_to_the_editor():
            return edit(file, command)
    except SuspendNotSupported:
        raise WrongUsage("This terminal cannot be given to an editor.") from None


def _terminal_of(app: App[Any]) -> AbstractContextManager[None]:
    # without a screen there is no terminal to give away
    return nullcontext() if app.is_headless else app.suspend()


@contextmanager
def _interrupts_left_to_the_editor() -> Iterator[None]:
    """Let ctrl+c mean what it means to the editor, and not the end of the notebook."""
    # a handler that does nothing, and not SIG_IGN: that the editor would inherit
    before = signal.signal(signal.SIGINT, lambda number, frame: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


_REASON = "edited by hand"


class Editing:
    """One note, from opening it to writing what was saved."""

    def __init__(self, app: App[Any], writing: Writing) -> None:
        """`app` lends its terminal."""
        self._app = app
        self._writing = writing

    async def edit(self, path: str) -> None:
        """Let the person edit the note at `path`. Raises RicordoError, nothing being lost."""
        writing = self._writing
        memory = await writing.read()
        note = memory.by_path.get(path)
        if note is None:
            raise ChangeRefused(f"{one_line(path)} is gone.")
        # whether it may be edited is asked before anybody types
        await writing.put_together(memory, [Rewrite(path, note.text)], _REASON)
        state = writing.notebook.surroundings.state
        copy = write_private_copy(state, os.path.basename(path), note.raw)
        again = False
        while await self._round(memory, note, copy, seen_first=again):
            # what is edited again is laid against what stands there by now
            memory, again = await writing.read(), True
            note = memory.by_path.get(path, note)

    async def _round(self, memory: Memory, note: Note, copy: str, *, seen_first: bool) -> bool:
        """Edit once; say whether the person wants to edit again."""
        before = read_private_copy(copy)
        code = self._open(copy)
        saved = read_private_copy(copy)
        if saved is None:
            raise ChangeRefused("The editor left no file that can be read back.")
        if saved == before and not seen_first:
            remove_private_copy(copy)
            if code:
                self._writing.tell(f"The editor ended with an error ({code}).", severe=True)
            return False
        if code:
            raise ChangeRefused(f"The editor ended with an error ({code}).{_kept(copy)}")
        try:
            return await self._put_back(memory, note, copy, saved, seen_first=seen_first)
        except RicordoError as error:
            raise ChangeRefused(f"{error.message}{_kept(copy)}", changed=error.changed) from None

    def _open(self, copy: str) -> int:
        notebook = self._writing.notebook
        try:
            command = editor_command(notebook.settings.editor, notebook.surroundings.environ)
            return edit_in_terminal(self._app, copy, command)
        except RicordoError:
            remove_private_copy(copy)
            raise

    async def _put_back(
        self, memory: Memory, note: Note, copy: str, saved: bytes, *, seen_first: bool
    ) -> bool:
        writing = self._writing
        try:
            text = saved.removeprefix(BOM).decode("utf-8")
        except UnicodeDecodeError:
            raise ChangeRefused("What was saved is no UTF-8.") from None
        is_there = note.path in memory.by_path
        act = Rewrite(note.path, text) if is_there else Create(note.path, text, entry="")
        change_set = await writing.put_together(memory, [act], _REASON)
        words = _words(change_set, note.path, seen_first=seen_first)
        if change_set and (words or change_set.remarks):
            approved = await writing.propose("What you edited", change_set, words)
            if approved is None:
                writing.tell(f"Nothing was written.{_kept(copy)}", severe=True)
                return False
            change_set = approved
        outcome = await writing.write(change_set)
        if isinstance(outcome, EditOverlap):
            return await writing.show_overlap(outcome, _kept(copy).strip(), edit=True)
        if outcome is None and change_set:
            writing.tell(f"Nothing was written.{_kept(copy)}", severe=True)
            return False
        remove_private_copy(copy)
        if outcome is not None:
            writing.tell("Saved. u takes it back.")
        return False


async def edit_text(
    app: App[Any],
    notebook: Notebook,
    name: str,
    text: str,
    use: Callable[[str], Awaitable[None]],
) -> None:
    """Let the person edit a `text` as a file that is called `name`, and hand what was saved, where
    it is another one, to `use`. Raises RicordoError, nothing being lost.
    """
    copy = write_private_copy(notebook.surroundings.state, name, text.encode())
    try:
        saved = text_from_editor(app, notebook, copy)
        if saved != text:
            await use(saved)
    except RicordoError as error:
        raise ChangeRefused(f"{error.message}{_kept(copy)}", changed=error.changed) from None
    remove_private_copy(copy)


def text_from_editor(app: App[Any], notebook: Notebook, copy: str) -> str:
    """Return the text that the person made of a copy. Raises RicordoError."""
    command = editor_command(notebook.settings.editor, notebook.surroundings.environ)
    code = edit_in_terminal(app, copy, command)
    saved = read_private_copy(copy)
    if code or saved is None:
        raise ChangeRefused(f"The editor ended with an error ({code}).")
    try:
        return saved.removeprefix(BOM).decode("utf-8")
    except UnicodeDecodeError:
        raise ChangeRefused("What was saved is no UTF-8.") from None


def _words(change_set: ChangeSet, path: str, *, seen_first: bool) -> tuple[str, ...]:
    """Return why what was edited is shown before it is written; nothing where it need not be."""
    words: list[str] = []
    if seen_first:
        words.append("This takes the place of what somebody else wrote.")
    if any(edit.path != path for edit in change_set.edits):
        words.append("It is called otherwise now: links to it follow.")
    return tuple(words)


def _kept(copy: str) -> str:
    return f" What you wrote is kept in {one_line(copy)}."
