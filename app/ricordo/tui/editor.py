"""Giving the terminal to the person's editor, and taking it back."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from textual.app import App, SuspendNotSupported

from ricordo.errors import WrongUsage
from ricordo.settings.editor import edit


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
