"""The form in which a model says what it thinks of pairs of notes that are in doubt."""

from __future__ import annotations

from ricordo.curator.form import Form, a_list, a_text, an_object
from ricordo.curator.opinion import Keeps, View
from ricordo.model.question import Tool

_VERDICT = an_object(
    pair=a_text("The id of the pair."),
    reason=a_text("What decides it, in one plain line of at most 200 characters."),
    verdict=a_text("What the two notes are to each other.", enum=[it.value for it in View]),
    keep=a_text("Which of the two should stay.", enum=[it.value for it in Keeps]),
)
JUDGE = Tool(
    "judge",
    "Say of every pair, all at once, what its two notes are to each other.",
    an_object(verdicts=a_list(_VERDICT, "One for each pair.")),
)
"""What a model answers with."""
JUDGING = Form(JUDGE, lambda value: value["verdicts"])
