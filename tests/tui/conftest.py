"""What would make a screen vary: blinking, animations, colours of the terminal."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def still(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the screen still, and in the colours of the theme."""
    monkeypatch.setattr("textual.constants.TEXTUAL_ANIMATIONS", "none", raising=False)
    monkeypatch.setenv("TEXTUAL_ANIMATIONS", "none")
    for name in ("NO_COLOR", "COLORTERM", "TEXTUAL", "TEXTUAL_THEME", "COLUMNS", "LINES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setattr("ricordo.tui.widgets.find_bar.FindBar.cursor_blink", False, raising=False)
    monkeypatch.setattr("ricordo.tui.screens.form.FormInput.cursor_blink", False, raising=False)
