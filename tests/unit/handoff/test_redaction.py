"""No secret gets into a handoff, wherever it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ricordo.handoff.document import (
    FileProof,
    Handoff,
    HandoffStatement,
    QuoteProof,
    StatementSection,
)
from ricordo.handoff.facts import MessageRef
from ricordo.handoff.format import DocumentState, normalize, parse, render
from ricordo.handoff.redaction import add_redaction_count, drop_remaining_secrets, redact_handoff
from ricordo.llm.redaction import Redaction
from tests.unit.handoff.test_document import SHA, handoff_of

KEY = "sk-ant-api03-" + "Q7wZ2xK9mN4vB8cR5tY1uJ6hG3fD0sA" * 2
PASSWORD = "Sardine-Harbour-4711"


def written(handoff: Handoff, redaction: Redaction | None = None) -> tuple[str, Handoff]:
    redaction = redaction or Redaction()
    redacted = add_redaction_count(
        drop_remaining_secrets(redact_handoff(normalize(handoff), redaction), redaction)
    )
    text = render(redacted)
    parsed = parse(text.encode())
    assert (parsed.state, parsed.handoff) == (DocumentState.UNCHANGED, redacted)
    return text, redacted


def test_secrets_leave_placeholders_and_are_counted() -> None:
    text, redacted = written(
        handoff_of(
            HandoffStatement(StatementSection.NEXT, f"Run `curl -H 'x-api-key: {KEY}'` @ once"),
            HandoffStatement(StatementSection.CONSTRAINTS, "Rule", QuoteProof(MessageRef(0, 1)), (),
                      f"The key is {KEY}.\nUse it."),
            HandoffStatement(StatementSection.DONE, f"The password is {PASSWORD}."),
            HandoffStatement(StatementSection.QUESTIONS, f"Is {PASSWORD} still right?"),
        )
    )  # fmt: skip
    assert KEY not in text
    assert PASSWORD not in text
    assert redacted.header.redactions == 4
    assert len(redacted.statements) == 4
    quote = next(statement for statement in redacted.statements if statement.quote)
    assert quote.quote.startswith("The key is [REDACTED:anthropic-key:")
    assert quote.quote.endswith("].\nUse it.")
    assert isinstance(quote.proof, QuoteProof)


@pytest.mark.parametrize("label", ["The password", "password", "Password is"])
def test_a_secret_known_only_by_its_label_is_redacted(label: str) -> None:
    text, _ = written(
        handoff_of(
            HandoffStatement(
                StatementSection.CONSTRAINTS, label, QuoteProof(MessageRef(0, 1)), (), PASSWORD
            )
        )
    )
    assert PASSWORD not in text


def test_a_secret_in_the_name_of_a_file_takes_the_file_out() -> None:
    path = f"keys/{KEY}.txt"
    text, redacted = written(
        handoff_of(
            HandoffStatement(StatementSection.FILES, f"`{path}`: edited", FileProof(path, SHA)),
            HandoffStatement(StatementSection.NEXT, "Go on."),
            files={path: SHA, "a.py": SHA},
            dirty=(path, "a.py"),
            branch=f"feat/{KEY}",
        )
    )
    assert KEY not in text
    assert [statement.text for statement in redacted.statements] == ["Go on."]
    assert (redacted.left_out, redacted.header.unlisted, redacted.header.branch) == (1, 2, "")
    assert (redacted.header.files, redacted.header.dirty) == ({"a.py": SHA}, ("a.py",))


def test_only_written_placeholders_are_counted() -> None:
    said = handoff_of(HandoffStatement(StatementSection.NEXT, "Use [REDACTED:password:1] here"))
    _, redacted = written(said)
    assert redacted.statements[0].text == "Use [REDACTED:text:1] here"
    assert redacted.header.redactions == 0
    redaction = Redaction()
    redaction.adopt("Use [REDACTED:password:1] here")
    _, kept = written(said, redaction)
    assert kept.statements == said.statements
    assert kept.header.redactions == 1


def test_numbers_of_adopted_placeholders_are_not_given_out_again() -> None:
    redaction = Redaction()
    redaction.adopt("[REDACTED:anthropic-key:2]")
    assert redaction.redact("t1", f"{KEY} [REDACTED:anthropic-key:2]") == (
        "[REDACTED:anthropic-key:3] [REDACTED:anthropic-key:2]"
    )


pieces = st.sampled_from(
    [
        KEY,
        PASSWORD,
        "password",
        "The password is ",
        ": ",
        "=",
        "`",
        "\n",
        "- ",
        " ",
        "@",
        "<",
        "[",
        "\\",
    ]
)
texts = st.lists(pieces | st.text(max_size=3), max_size=6).map("".join)


@given(
    st.lists(
        st.builds(HandoffStatement, st.sampled_from(StatementSection), texts, quote=texts),
        max_size=5,
    )
)
def test_no_key_is_written_in_any_context(statements: list[HandoffStatement]) -> None:
    whole = handoff_of(
        HandoffStatement(StatementSection.DONE, f"The password is {PASSWORD}."), *statements
    )
    text, _ = written(whole)
    assert KEY not in text
    assert PASSWORD not in text
