"""Having doubts judged, as something that is asked (`screens.question.Question`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ricordo.tui.render.doubt_lines import before_judging_lines

if TYPE_CHECKING:
    from ricordo.curator.engine import Step
    from ricordo.notebook.judging import BeforeJudging, Judged
    from ricordo.notebook.open import Look, Notebook
    from ricordo.tui.render.line import Line


class Doubts:
    """What is in doubt in one look at a memory."""

    title = "Doubts · what a model or a program thinks of them"

    def __init__(self, notebook: Notebook, look: Look) -> None:
        """Nothing is looked at yet."""
        # of its own: it is asked in a thread
        self._notebook = notebook.another()
        self._shown = look

    def look(self, step: Step) -> BeforeJudging:
        """Return what is known before."""
        from ricordo.notebook.judging import look_before_judging

        return look_before_judging(self._notebook, self._shown)

    def lines(self, before: BeforeJudging, width: int) -> list[Line]:
        """Return what would be sent, and what was judged before."""
        return before_judging_lines(before, width)

    def ask(self, before: BeforeJudging, step: Step) -> Judged:
        """Have it judged."""
        from ricordo.notebook.judging import judge

        assert before.asked is not None
        return judge(self._notebook, before.asked, step)
