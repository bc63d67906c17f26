"""Sending a rejected change back, as something that is asked (`screens.question.Question`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ricordo.tui.render.doubt_lines import sent_lines
from ricordo.tui.render.line import BLANK, Line, Span, wrap

if TYPE_CHECKING:
    from ricordo.curator.engine import Step
    from ricordo.curator.proposal import Rejected
    from ricordo.notebook.curate import Curation
    from ricordo.notebook.open import Notebook
    from ricordo.notebook.sending_back import Asked, BeforeSendingBack

_ABOUT = (
    "This change goes back once, with the reason for which the checks rejected it, the notes and "
    "the turns that it names. What is answered is checked as any other change, and waits."
)


class SendingBack:
    """One change that goes back."""

    title = "Sent back · a change that the checks rejected"

    def __init__(self, notebook: Notebook, asked: Asked, rejected: Rejected) -> None:
        """`asked` is whom the curation asked that it is of."""
        # of its own: it is asked in a thread
        self._notebook = notebook.another()
        self._asked = asked
        self._rejected = rejected

    def look(self, step: Step) -> BeforeSendingBack:
        """Return what is known before."""
        from ricordo.notebook.sending_back import look_before_sending_back

        return look_before_sending_back(self._notebook, self._asked, self._rejected)

    def lines(self, before: BeforeSendingBack, width: int) -> list[Line]:
        """Return what would be sent."""
        about = [Line(row) for row in wrap([Span(_ABOUT, "dim")], width - 1)]
        heading = [BLANK, Line((Span("this is sent", "heading"),)), BLANK]
        return [*about, *heading, *sent_lines(before.leaving.text, "== ", width)]

    def ask(self, before: BeforeSendingBack, step: Step) -> Curation:
        """Send it back."""
        from ricordo.notebook.sending_back import send_back

        return send_back(self._notebook, self._asked, self._rejected, step)
