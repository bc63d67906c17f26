"""Edits on redacted notes: what a model was shown is what it can change, and no more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ricordo.curation.brief import Brief, compose_brief
from ricordo.curation.edits import read_edits, redact_sources, restore_secrets
from ricordo.curation.proposal import RejectedChange, ValidationResult, make_curator
from ricordo.curation.validation import ValidationContext, validate
from ricordo.llm.redaction import Redaction
from ricordo.memory.change import Insert, Merge, Replace, Rewrite
from ricordo.memory.memory import Memory
from tests.support.builders import note_text, open_memory

PASSWORD, OTHER = "kitten4711", "walrus0815"
BODY = "\n".join(["MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj"] * 3)
KEY = f"-----BEGIN PRIVATE KEY-----\n{BODY}\n-----END PRIVATE KEY-----"
DATABASE = f"The password is {PASSWORD} on staging.\nThe port is 5432.\n"
SAID = {"s#1": f"Remember: the password of the wiki is {OTHER}."}


@pytest.fixture
def memory(root: Path) -> Memory:
    return open_memory(
        root,
        {
            "database.md": note_text("database", DATABASE),
            "server.md": note_text(
                "server", f"The key:\n{KEY}\nIt is Ana's.\nThe name is kitten.\n"
            ),
            "wiki.md": note_text("wiki", "Ask Marta.\n"),
            "zoo.md": note_text("zoo", f"My password: {OTHER}\nIts name is walrus, no more.\n"),
        },
    )


@pytest.fixture
def redaction(memory: Memory) -> Redaction:
    """What was redacted once the brief on the memory left."""
    redaction = Redaction()
    paths = [note.path for note in memory.notes]
    brief = compose_brief(memory, paths, [], redaction=redaction)
    for source, text in SAID.items():
        redaction.redact(source, text)
    redaction.seal(brief.text + redaction.redact("s#1", SAID["s#1"]))
    return redaction


def answered(
    redaction: Redaction, memory: Memory, op: str, **fields: Any
) -> tuple[ValidationResult, list[RejectedChange]]:
    """What becomes of one edit that a model answers."""
    ids = tuple((note.stem, note.path) for note in memory.notes)
    evidence = fields.pop("evidence", [])
    edit = {"op": op, "reason": "because", "evidence": evidence, **fields}
    read = read_edits(memory, Brief((), ids), [edit])
    assert not read.rejected
    brought = restore_secrets(redaction, memory, read.changes)
    texts = redact_sources(redaction, memory, SAID, brought.changes)
    checked = validate(ValidationContext(memory, texts, make_curator("test")), brought.changes)
    return checked, [*brought.rejected, *checked.rejected]


def test_the_text_around_a_secret_is_changed_and_the_secret_stays(
    memory: Memory, redaction: Redaction
) -> None:
    old = "The password is [REDACTED:password:1] on staging."
    new = "The password is [REDACTED:password:1] on production."
    checked, rejected = answered(redaction, memory, "replace", note="database", old=old, new=new)
    assert not rejected
    (proposal,) = checked.proposals
    wanted = f"The password is {PASSWORD} on production."
    assert proposal.change.operation == Replace(
        "database.md", old.replace("[REDACTED:password:1]", PASSWORD), wanted
    )
    assert not any("credential" in warning for warning in proposal.warnings)


@pytest.mark.parametrize("guess", ["kitten4711", "kitten", "4711", "is k", "MIIEvQIB"])
def test_no_guess_at_a_secret_is_told_to_be_right(
    memory: Memory, redaction: Redaction, guess: str
) -> None:
    note = "server" if guess == "MIIEvQIB" else "database"
    _, rejected = answered(redaction, memory, "replace", note=note, old=guess, new="x")
    assert "does not contain" in rejected[0].why


def test_text_that_is_also_in_a_secret_is_replaced_where_it_was_shown(
    memory: Memory, redaction: Redaction
) -> None:
    fields = {"note": "zoo", "old": "walrus", "new": "seal"}
    checked, rejected = answered(redaction, memory, "replace", **fields)
    assert not rejected
    assert checked.proposals[0].edits[0].after is not None
    after = checked.proposals[0].edits[0].after.decode()
    assert after.endswith(f"My password: {OTHER}\nIts name is seal, no more.\n")


def test_text_that_is_shown_twice_is_not_replaced(memory: Memory, redaction: Redaction) -> None:
    _, rejected = answered(redaction, memory, "replace", note="database", old="The p", new="x")
    assert "2 times" in rejected[0].why


@pytest.mark.parametrize("part", ["[REDACTED:password:1", "is [REDACTED", "password:1] on"])
def test_a_placeholder_is_taken_whole_or_not_at_all(
    memory: Memory, redaction: Redaction, part: str
) -> None:
    _, rejected = answered(redaction, memory, "replace", note="database", old=part, new="x")
    assert rejected


@pytest.mark.parametrize(
    "invented", ["[REDACTED:password:99]", "[REDACTED:api-key:1]", "[REDACTED]", "[redacted: it]"]
)
def test_a_placeholder_that_was_never_given_out_takes_its_edit_down(
    memory: Memory, redaction: Redaction, invented: str
) -> None:
    fields = {"note": "database", "old": "The port is 5432.", "new": f"See {invented}."}
    _, rejected = answered(redaction, memory, "replace", **fields)
    assert "never sent" in rejected[0].why
    assert PASSWORD not in rejected[0].why


@pytest.mark.parametrize(
    ("op", "fields"),
    [
        ("insert", {"note": "wiki", "after_line": 8, "text": "[REDACTED:password:1]"}),
        ("rewrite", {"note": "wiki", "text": "[REDACTED:password:1]"}),
        ("insert", {"note": "wiki", "after_line": 8, "text": "[REDACTED:password:3]"}),
        ("merge", {"note": "wiki", "other": "server", "text": "[REDACTED:password:1]"}),
        (
            "create",
            {"name": "x", "type": "project", "description": "", "text": "[REDACTED:password:1]"},
        ),
        (
            "create",
            {"name": "[REDACTED:password:1]", "type": "project", "description": "", "text": "x"},
        ),
    ],
)
def test_a_secret_is_not_carried_into_another_note(
    memory: Memory, redaction: Redaction, op: str, fields: dict[str, Any]
) -> None:
    _, rejected = answered(redaction, memory, op, **fields)
    assert "from another place" in rejected[0].why


def test_notes_that_are_merged_bring_their_secrets_along(
    memory: Memory, redaction: Redaction
) -> None:
    text = "[REDACTED:password:1] and [REDACTED:private-key:2]"
    fields = {"note": "database", "other": "server", "text": text}
    checked, rejected = answered(redaction, memory, "merge", **fields)
    assert not rejected
    assert checked.proposals[0].change.operation == Merge(
        "database.md", "server.md", f"{PASSWORD} and {KEY}"
    )


def test_a_whole_text_comes_back_with_what_was_in_it(memory: Memory, redaction: Redaction) -> None:
    text = redaction.redact("server.md", memory.by_path["server.md"].text)
    assert KEY not in text
    fields = {"note": "server", "text": f"{text}More.\n"}
    checked, _ = answered(redaction, memory, "rewrite", **fields)
    wanted = memory.by_path["server.md"].text + "More.\n"
    assert checked.proposals[0].change.operation == Rewrite("server.md", wanted)


def test_lines_are_counted_as_they_were_shown(memory: Memory, redaction: Redaction) -> None:
    source = memory.by_path["server.md"].text
    shown = redaction.redact("server.md", source).split("\n")
    fields = {"after_line": shown.index("It is Ana's.") + 1, "text": "Since May."}
    checked, _ = answered(redaction, memory, "insert", note="server", **fields)
    act = checked.proposals[0].change.operation
    assert isinstance(act, Insert)
    assert source.split("\n")[act.after_line - 1] == "It is Ana's."


def test_quotes_are_looked_up_in_what_was_shown_and_tell_no_secret(
    memory: Memory, redaction: Redaction
) -> None:
    quote = redaction.redact("s#1", SAID["s#1"])
    evidence = [
        {"source": "s#1", "quote": quote},
        {"source": "database", "quote": "The password is [REDACTED:password:1]"},
        {"source": "database", "quote": f"The password is {PASSWORD}"},
    ]
    fields = {"note": "wiki", "after_line": 8, "text": "Ana knows it.", "evidence": evidence}
    checked, rejected = answered(redaction, memory, "insert", **fields)
    assert not rejected
    found = checked.proposals[0].evidence
    assert [it.found for it in found] == [True, True, False]
    assert OTHER not in found[0].quote
