"""What was decided and ruled out in a session, and what only sounds like it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ricordo.handoff.facts import MessageFact, MessageRef, Refusal
from ricordo.handoff.gather.decisions import (
    MAX_MESSAGE_LENGTH,
    find_decisions,
    find_previous,
    find_reason,
    find_ruled_out,
    split_prose,
)
from ricordo.handoff.gather.reverts import RevertedAction

FILLER = "Tides rise. "
UNDONE = "Rounding the ETA does not work, so I go back."


def at(number: int) -> MessageRef:
    return MessageRef(0, number)


def make_messages(*texts: str) -> list[MessageFact]:
    """Return messages, numbered from 1; those of the user begin with "> "."""
    return [
        MessageFact("", at(number), text.removeprefix("> "), text.startswith("> "))
        for number, text in enumerate(texts, 1)
    ]


def rule_out(messages: list[MessageFact], *actions: RevertedAction) -> list[tuple[int, str, str]]:
    """Return number, what and reason of what was ruled out."""
    items = find_ruled_out(messages, actions, lambda: None)
    return [(item.fact.ref.number, item.fact.what, item.fact.reason) for item in items]


def decide(*texts: str) -> list[tuple[int, str, str, bool, str]]:
    """Return number, text, reason, whether it is of the user, and question of each decision."""
    return [
        (fact.ref.number, fact.text, fact.reason, fact.is_user, fact.question)
        for fact in find_decisions(make_messages(*texts), lambda: None)
    ]


# Sentences


@given(
    st.lists(
        st.sampled_from(
            ("Fix:\n", "**The fix**:\n", "We use it.", " It is so. ", "\n\n", "a", "# ")
        )
    ).map("".join)
)
def test_every_sentence_is_at_its_place_in_the_message(message: str) -> None:
    for sentence in split_prose(message):
        assert message[sentence.start : sentence.end] == sentence.text


def test_of_a_very_long_message_the_beginning_is_read() -> None:
    whole = "Tides rise. " * (MAX_MESSAGE_LENGTH // 12 + 1)
    assert MAX_MESSAGE_LENGTH == 8_000
    # 666 sentences of twelve characters, and of the next one the first eight characters
    sentences = split_prose(whole)
    assert len(sentences) == 667
    assert sentences[-1].text == "Tides ri"


def test_a_reason_is_near_in_the_same_paragraph_and_is_no_question() -> None:
    sentences = split_prose(
        "It leaks because of us. I chose SQLite. Is it because of the log?\n\nIt is small."
    )
    assert [find_reason(sentences, number) for number in range(4)] == [
        "",
        "It leaks because of us.",
        "",
        "",
    ]
    # a sentence with a reason needs no other one
    sentences = split_prose("I chose SQLite because it locks. It is slow because of us.")
    assert find_reason(sentences, 0) == ""
    # the next sentence is preferred, the one after it is too far
    sentences = split_prose("It is slow because of us. I chose SQLite. It locks because it logs.")
    assert find_reason(sentences, 1) == "It locks because it logs."
    sentences = split_prose("I chose SQLite. It is small. It locks because it logs.")
    assert find_reason(sentences, 0) == ""


def test_the_previous_sentence_is_in_the_same_paragraph() -> None:
    sentences = split_prose("One here. Two here.\n\nThree here.")
    assert [find_previous(sentences, number) for number in range(3)] == ["", "One here.", ""]


# Decisions


def test_a_short_answer_to_a_closing_question_is_a_decision() -> None:
    question = "Shall I write it now?"
    assert decide(f"It is done. {question}", "> yes", "> no") == [(2, "yes", "", True, question)]
    assert decide("要现在写吗？", "> yes") == [(2, "yes", "", True, "要现在写吗？")]
    # a question that does not end the answer is none
    assert decide(f"{question} I wait.", "> yes") == []
    assert decide("It is done.", "> yes") == []
    assert decide("```\nx?\n```", "> yes") == []
    # nor does one before much that is no prose
    code = "```\n" + "x = 1\n" * 60 + "```"
    assert decide(f"{question}\n\n{code}", "> yes") == []
    assert decide(f"要现在写吗？\n\n{code}", "> yes") == []
    # an answer of 300 characters is one, a longer one is a message of its own
    assert len(decide(question, f"> {'y' * 300}")) == 1
    assert decide(question, f"> {'y' * 301}") == []


def test_a_decision_of_the_user_has_its_reason_and_is_no_question() -> None:
    why = "It is one more host because of the cache."
    text = f"Look. We decided to drop Redis. {why} Have we decided to keep MySQL?"
    assert decide(f"> {text}") == [(1, "We decided to drop Redis.", why, True, "")]


def test_a_decision_may_come_after_other_sentences() -> None:
    text = "Decision: use Postgres for it."
    assert decide(f"> {text}") == [(1, text, "", True, "")]
    assert decide(f"> Thanks for looking. {text}") == [(1, text, "", True, "")]


def test_a_choice_of_the_agent_has_its_reason_and_is_no_question() -> None:
    text = "I look. I chose SQLite. It locks because it logs. I chose what?"
    assert decide(text) == [(1, "I chose SQLite.", "It locks because it logs.", False, "")]


# What the user rejects


DONE = "Added it to the list. Anything else"


def test_the_first_thing_that_was_done_is_ruled_out_in_the_words_of_the_user() -> None:
    assert rule_out(make_messages(DONE, "> No, not that.")) == [
        (2, "Added it to the list.", "No, not that.")
    ]


@pytest.mark.parametrize(
    "messages",
    [
        # nothing was done before
        ["> Revert that."],
        ["> Go.", "> Revert that."],
        # what was done is not told in prose
        ["```\nx = 1\n```", "> Revert that."],
        # a question, and a rule for the future
        [DONE, "> No, why not?"],
        [DONE, "> Don't do that ever again."],
    ],
)
def test_what_rejects_nothing_that_was_done(messages: list[str]) -> None:
    assert rule_out(make_messages(*messages)) == []


def test_of_a_long_message_the_sentence_that_rejects_is_quoted_with_the_next_one() -> None:
    def quote(message: str) -> list[str]:
        return [reason for _, _, reason in rule_out(make_messages(DONE, f"> {message}"))]

    start = "Look. Please revert that. Use the log. "
    assert quote(start.ljust(299, "x") + ".") == [start.ljust(299, "x") + "."]
    assert quote(start.ljust(300, "x") + ".") == ["Please revert that. Use the log."]
    last = FILLER * 30 + "Please revert that."
    assert quote(last) == ["Please revert that."]
    # at most 1,500 characters: a longer message is a document
    assert quote(start + (FILLER * 130)[: 1_499 - len(start)] + ".") == [
        "Please revert that. Use the log."
    ]
    assert quote(start + (FILLER * 130)[: 1_500 - len(start)] + ".") == []


def test_what_the_agent_says_first_after_a_rejection_only_repeats_it() -> None:
    again = "Let me revert my change."
    messages = make_messages(DONE, "> No, not that.", again, "Let me undo the second one.")
    assert [number for number, _, _ in rule_out(messages)] == [2, 4]
    messages = make_messages(DONE, "> Good.", again)
    assert rule_out(messages) == [(3, again, "")]


# What the agent abandons


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (
            "The test fails. Let me revert my change.",
            [("Let me revert my change.", "The test fails.")],
        ),
        (
            "It ran. Let me revert my change. It is slow because of the log.",
            [("Let me revert my change.", "It is slow because of the log.")],
        ),
        ("Let me revert my change.", [("Let me revert my change.", "")]),
        ("Should we give up? That was a dead end?", []),
        # what does not work is abandoned if another way is taken
        ("Rounding does not work here.", []),
        (
            "Rounding does not work here, so I will use the minute.",
            [("Rounding does not work here, so I will use the minute.", "")],
        ),
        (
            "Rounding does not work here. Let me use the minute.",
            [("Rounding does not work here.", "")],
        ),
        ("Rounding does not work here. It is so. Let me use the minute.", []),
        ("Let me use the minute. Rounding does not work here.", []),
        (
            "Let me go. Rounding does not work here. It is slow because of us, so I'll use it.",
            [
                (
                    "Rounding does not work here.",
                    "It is slow because of us, so I'll use it.",
                )
            ],
        ),
    ],
)
def test_what_the_agent_abandons(message: str, expected: list[tuple[str, str]]) -> None:
    assert rule_out(make_messages(message)) == [(1, *pair) for pair in expected]


# What was reverted


def revert(since: int, until: int, **values: object) -> RevertedAction:
    return RevertedAction(at(since), at(until), ": x", "a.py", **values)  # type: ignore[arg-type]


def test_what_is_ruled_out_is_in_the_order_of_time() -> None:
    messages = make_messages(DONE, "> No, not that.", "Well.", "Well.", "Let me revert my change.")
    items = rule_out(messages, revert(6, 9), revert(3, 4))
    assert [number for number, _, _ in items] == [2, 4, 5, 9]


def test_a_reverted_action_has_the_reason_that_the_agent_gave_last_before_it() -> None:
    messages = make_messages("I look.", f"It runs. {UNDONE}", "> Go on.", "Done.")
    assert rule_out(messages, revert(2, 3))[-1] == (3, ": x", UNDONE)
    # a message of the user between them does not matter
    assert rule_out(messages, revert(2, 4))[-1] == (4, ": x", UNDONE)
    # what was said before the action, at the reverting, or before the last answer gives no reason
    assert rule_out(messages, revert(3, 4))[-1] == (4, ": x", "")
    assert rule_out(messages, revert(1, 2))[-1] == (2, ": x", "")
    assert rule_out(messages, revert(1, 5))[-1] == (5, ": x", "")
    (item,) = find_ruled_out((), [revert(1, 2)], lambda: None)
    assert (item.path, item.fact.is_action, item.fact.refusal) == ("a.py", True, None)


def test_a_temporary_file_is_ruled_out_only_with_a_reason() -> None:
    messages = make_messages("I look.", UNDONE)
    with_reason = revert(1, 3, needs_reason=True)
    assert rule_out(messages, with_reason)[-1] == (3, ": x", UNDONE)
    assert rule_out(make_messages("I look.", "Done."), with_reason) == []


def test_a_refused_action_has_the_words_of_the_user_and_no_reason_of_the_agent() -> None:
    messages = make_messages("I look.", UNDONE)
    for words in ("", "No mocks."):
        action = revert(1, 3, user_text=words, refusal=Refusal.USER, refusal_text="Rejected.")
        assert rule_out(messages, action)[-1] == (3, ": x", words)
        fact = find_ruled_out((), [action], lambda: None)[0].fact
        assert (fact.refusal, fact.refusal_text) == (Refusal.USER, "Rejected.")


def test_what_the_user_rejected_is_not_ruled_out_again_by_its_reverting() -> None:
    messages = make_messages("I look.", DONE, "> No, not that.", "Well.", "Done.")
    assert [number for number, _, _ in rule_out(messages, revert(2, 5))] == [3]
    assert [number for number, _, _ in rule_out(messages, revert(1, 2))] == [2, 3]
    assert [number for number, _, _ in rule_out(messages, revert(4, 5))] == [3, 5]


def test_every_message_is_a_step_that_may_stop() -> None:
    steps: list[int] = []
    messages = make_messages("One.", "> Two.", "Three.")
    find_ruled_out(messages, (), lambda: steps.append(1))
    list(find_decisions(messages, lambda: steps.append(2)))
    assert steps == [1, 1, 1, 2, 2, 2]
