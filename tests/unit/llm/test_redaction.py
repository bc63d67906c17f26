"""What leaves holds no secret, and what comes back is what stood there."""

from __future__ import annotations

import pickle
import re
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ricordo.errors import ChangeRefused
from ricordo.llm.redaction import MAX_TEXT, PLACEHOLDER_LIKE, TOO_LONG, Redaction
from ricordo.secrets import find_secrets
from ricordo.secrets.find import is_distinct

KEY = "AKIA" + "Q3T7ZK4M2PWX9JLD"
PASSWORD = "kitten4711"
NOTE = f"The password is {PASSWORD}, the key {KEY}.\n"
PIECES = [
    "password", " is ", ": ", "=", '"', "`", "\n", "\r\n", PASSWORD, KEY, "token", "api_key=",
    "Bearer ", "PIN 4711", "redis://:dev@cache", "\u200b", "%41", "\\n", "密码", "x", "0", " ",
    "a1b2c3d4e5f6a7b8c9", "[REDACTED:password:1]", "[REDACTED:", "[redacted]", "[", "]", ":1]",
    "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQ\n",
]  # fmt: skip
TEXTS = st.text() | st.lists(st.sampled_from(PIECES) | st.text(max_size=5)).map("".join)


def test_a_value_has_the_same_placeholder_everywhere() -> None:
    redaction = Redaction()
    first = redaction.redact("a.md", f"password: {PASSWORD}\n")
    again = redaction.redact("b.md", f"I typed {PASSWORD}, and the key is {KEY}.\n")
    assert first == "password: [REDACTED:password:1]\n"
    assert again == "I typed [REDACTED:password:1], and the key is [REDACTED:aws-access-key:2].\n"


def test_a_secret_known_from_a_later_text_is_redacted_in_an_earlier_one() -> None:
    redaction = Redaction()
    texts = [f"I typed {PASSWORD}.", f"The password is {PASSWORD}."]
    redaction.learn(texts)
    assert PASSWORD not in redaction.redact("a.md", texts[0])


def test_a_text_that_was_redacted_too_early_is_redacted_again_when_it_is_sealed() -> None:
    redaction = Redaction()
    parts = [redaction.redact("a.md", f"I typed {PASSWORD}.\n"), redaction.redact("b.md", NOTE)]
    sealed = redaction.seal("".join(parts))
    assert PASSWORD not in sealed
    assert KEY not in sealed


def test_a_short_value_is_no_secret_inside_of_words_of_other_texts() -> None:
    redaction = Redaction()
    redaction.redact("a.md", "redis://:d3v@cache")
    kept = redaction.redact("b.md", "the d3vice, d3v and d3v_2")
    assert kept == "the d3vice, [REDACTED:url-password:1] and d3v_2"


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("redis://:summer@cache", "Last summer the summery colours were dev's idea."),
        ("The PIN is 2024.", "On 2024-11-22, in 2024, 2024 rows."),
        ("sshpass -p falcon ssh ana@host", "The falcon service is called Falcon."),
        ("the password is `SessionStore`", "class SessionStore, SessionStore(), `SessionStore`"),
        ("password: postgres16", "Runs postgres16 and postgres:16."),
        ("curl -u ana:read-only https://x.example", "The mount is read-only."),
    ],
)
def test_a_common_word_that_is_a_password_once_is_a_word_elsewhere(source: str, text: str) -> None:
    redaction = Redaction()
    redaction.learn([source])
    assert redaction.redact("b.md", text) == text
    assert redaction.seal(text) == text


def test_values_in_an_answer_are_restored_where_they_were() -> None:
    redaction = Redaction()
    sealed = redaction.seal(redaction.redact("a.md", NOTE))
    assert redaction.restore(f"Now: {sealed}", ["a.md"]) == f"Now: {NOTE}"


@pytest.mark.parametrize(
    "answer",
    [
        "[REDACTED:password:9]",
        "[REDACTED:api-key:1]",
        "[REDACTED:password:01]",
        "[redacted:password:1]",
        "[ REDACTED:password:1]",
        "[REDACTED]",
        "[REDACTED: the password]",
        "[REDACTED:password:1",
        "[REDACTED:password:\n1]",
        "[REDACTED:[REDACTED:password:1]:2]",
        "\\[REDACTED:password:1\\]",
    ],
)
def test_what_was_never_given_out_is_refused(answer: str) -> None:
    redaction = Redaction()
    redaction.seal(redaction.redact("a.md", NOTE))
    with pytest.raises(ChangeRefused, match="never sent"):
        redaction.restore(f"It is {answer}.", ["a.md"])


def test_what_was_looked_at_and_did_not_leave_was_never_given_out() -> None:
    redaction = Redaction()
    redaction.redact("a.md", NOTE)
    with pytest.raises(ChangeRefused, match="never sent"):
        redaction.restore("[REDACTED:password:1]", ["a.md"])


def test_what_was_given_out_for_another_place_is_refused() -> None:
    redaction = Redaction()
    redaction.seal(redaction.redact("a.md", NOTE))
    with pytest.raises(ChangeRefused, match="another place"):
        redaction.restore("[REDACTED:password:1]", ["b.md"])
    with pytest.raises(ChangeRefused, match="another place"):
        redaction.restore("[REDACTED:password:1]", [])


def test_what_a_source_says_in_our_manner_is_not_taken_for_ours() -> None:
    redaction = Redaction()
    said = "The log had [REDACTED:password:1] and [redacted].\n"
    sealed = redaction.seal(redaction.redact("a.md", NOTE) + redaction.redact("b.md", said))
    assert sealed.count("[REDACTED:password:1]") == 1
    shown = sealed.split("\n")[1]
    assert redaction.restore(f"{shown}\n", ["b.md"]) == said
    with pytest.raises(ChangeRefused):
        redaction.restore(said, ["b.md"])


def test_the_user_sees_kind_place_and_count_and_never_the_value() -> None:
    redaction = Redaction()
    parts = [
        redaction.redact("a.md", NOTE),
        redaction.redact("b.md", f"pwd: {PASSWORD} [redacted]"),
    ]
    redaction.redact("c.md", "password: never-left-12")
    redaction.seal("".join(parts))
    first, second = redaction.list_redacted()
    assert (first.kind, first.places, first.count) == ("password", ("a.md", "b.md"), 2)
    assert (second.kind, second.places, second.count) == ("aws-access-key", ("a.md",), 1)
    assert PASSWORD not in repr((first, second, redaction))


def test_a_value_is_let_out_by_its_fingerprint_with_the_same_key_alone() -> None:
    key = b"k" * 32
    asked = Redaction(key)
    asked.seal(asked.redact("a.md", NOTE))
    allowed = {it.fingerprint for it in asked.list_redacted() if it.kind == "password"}
    assert PASSWORD in Redaction(key, allowed).redact("a.md", NOTE)
    assert KEY not in Redaction(key, allowed).redact("a.md", NOTE)
    assert PASSWORD not in Redaction(b"o" * 32, allowed).redact("a.md", NOTE)
    assert PASSWORD not in Redaction(b"", allowed).redact("a.md", NOTE)


def test_a_redaction_is_not_written_down() -> None:
    redaction = Redaction()
    redaction.redact("a.md", NOTE)
    with pytest.raises(TypeError):
        pickle.dumps(redaction)


def test_a_line_of_what_was_shown_is_found_in_the_source() -> None:
    body = "\n".join(["MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj"] * 3)
    source = f"Key:\n-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----\nafter\n"
    redaction = Redaction()
    shown = redaction.redact("a.md", source)
    assert shown == "Key:\n[REDACTED:private-key:1]\nafter\n"
    assert [redaction.find_source_line(shown, line) for line in range(4)] == [0, 1, 6, 7]


def test_what_is_too_long_to_be_looked_at_leaves_as_one_placeholder() -> None:
    redaction = Redaction()
    text = "password: a1b2c3 \n" * (MAX_TEXT * 20 // 18)
    sealed = redaction.seal(redaction.redact("a.md", text))
    assert sealed == f"[REDACTED:{TOO_LONG}:1]"
    assert redaction.restore(sealed, ["a.md"]) == text


@given(TEXTS)
@example(f"{PASSWORD}{KEY}{KEY} password={PASSWORD}")
@example("password: [REDACTED:password:1] [REDACTED:[REDACTED]]")
def test_what_left_comes_back_as_it_was(text: str) -> None:
    redaction = Redaction()
    sealed = redaction.seal(redaction.redact("a.md", text))
    assert redaction.restore(sealed, ["a.md", ""]) == text


@given(TEXTS)
def test_no_value_that_was_found_is_sent(text: str) -> None:
    redaction = Redaction()
    sealed = redaction.seal(redaction.redact("a.md", text))
    between = PLACEHOLDER_LIKE.sub("\0", sealed)
    values = {text[start:end] for _, start, end in find_secrets(text)}
    assert not [it for it in values if is_distinct(it) and is_word_of(it, between)]


def is_word_of(value: str, text: str) -> bool:
    return bool(re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text))


@given(TEXTS, TEXTS)
def test_every_placeholder_that_leaves_is_ours_and_holds_none(first: str, second: str) -> None:
    redaction = Redaction()
    parts = [redaction.redact("a.md", first), redaction.redact("b.md", second)]
    sealed = redaction.seal("\n".join(parts))
    for match in PLACEHOLDER_LIKE.finditer(sealed):
        assert re.fullmatch(r"\[REDACTED:[a-z-]+:\d+\]", match[0])
        redaction.restore(match[0], ["a.md", "b.md", ""])


@pytest.mark.parametrize(
    "piece", ["[REDACTED:", "[REDACTED:password:1] ", "password: k{n}tten ", "redis://:d{n}v@c "]
)
def test_hostile_texts_take_time_in_proportion_to_their_length(piece: str) -> None:
    def seconds(count: int) -> float:
        text = "".join(piece.replace("{n}", str(n)) for n in range(count))
        redaction = Redaction()
        start = time.process_time()
        redaction.seal(redaction.redact("a.md", text))
        return time.process_time() - start

    seconds(10)
    # four times the text takes four times as long; squared, it would be sixteen
    assert seconds(2_400) < 10 * seconds(600) + 0.5
