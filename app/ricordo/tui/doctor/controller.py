"""The action that opens the diagnosis."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ricordo.services.workspace.notebook import Notebook
    from ricordo.tui.actions.bindings import Handlers
    from ricordo.tui.base.action_screen import ActionScreen
    from ricordo.tui.base.list_diff_screen import NotebookActions
    from ricordo.tui.color_palette import Palette


class DoctorController:
    """Opens the diagnosis over the notebook."""

    def __init__(
        self,
        screen: ActionScreen[Any],
        notebook: Notebook,
        palette: Callable[[], Palette],
        actions: NotebookActions,
    ) -> None:
        """`notebook` is copied: the diagnosis runs in threads."""
        self._screen = screen
        self._notebook = notebook
        self._palette = palette
        self._actions = actions

    @property
    def handlers(self) -> Handlers:
        """What the keys do, by action id."""
        return {"doctor": self.open_doctor}

    def open_doctor(self) -> None:
        """Open the diagnosis."""
        from ricordo.tui.doctor.screen import DoctorScreen

        notebook, keymap = self._notebook.copy(), self._notebook.settings.keymap
        screen = DoctorScreen(notebook, self._palette(), keymap, self._actions)
        self._screen.app.push_screen(screen)
