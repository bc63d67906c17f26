"""A handoff is written and read back the same, whatever its texts contain."""

from __future__ import annotations

import re
import string
from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ricordo.agents.agent import Agent
from ricordo.agents.registry import SUPPORTED, find_agent
from ricordo.handoff.document import (
    ANY_AGENT,
    FileProof,
    GitProof,
    Handoff,
    HandoffHeader,
    HandoffStatement,
    MemoryProof,
    NoteProof,
    ProofStatus,
    QuoteProof,
    ResultProof,
    SourceSession,
    StatementSection,
    handoff_targets,
    load_layout,
)
from ricordo.handoff.facts import MessageRef
from ricordo.handoff.format import BEGIN_MARKER, END_MARKER, DocumentState, normalize, parse, render
from ricordo.handoff.marks import render_mark
from ricordo.text import make_visible

AGENTS = [it.agent for it in SUPPORTED if it.has_transcripts and it.agent is not None]

NOW = datetime(2026, 10, 5, 9, 40, tzinfo=UTC)
SHA = "3f2a91c0b7d4"
SESSION = SourceSession(
    find_agent("claude"), "5b1c7a52", "/home/ana/.claude/projects/p/5b1c7a52.jsonl"
)


def handoff_of(*statements: HandoffStatement, target: Agent = ANY_AGENT, **head: object) -> Handoff:
    values: dict[str, object] = {
        "written": NOW,
        "expires": datetime(2026, 10, 12, 9, 40, tzinfo=UTC),
        "target": target,
        "budget": 4000,
        "engine": "rules",
        "sources": (SESSION,),
    }
    return Handoff(HandoffHeader(**{**values, **head}), statements)  # type: ignore[arg-type]


def text_of(*statements: HandoffStatement, **head: object) -> str:
    return render(handoff_of(*statements, **head))  # type: ignore[arg-type]


hostile = st.sampled_from(
    [
        "", "a", " ", "\n", "\r\n", "\t", "- ", "## Next steps", "# Handoff",
        BEGIN_MARKER, END_MARKER, "---",
        "[unverified]", " [verified: a.py is 3f2a91c0b7d4]", "[a](http://x)", "![](http://x)",
        "`", "``", "```", "```quotation", "~~~", "> ", "> ```", "\\", "\\`", "\\[", "<", ">",
        "<!--", "-->", "<system-reminder>", "@", "@~/.ssh/id_rsa", "a@b.c", "\x1b[31m", "\u202e",
        "\u2028", "\x00", "\udcff", "é", "日本", "🧠", '"', "'", ":", ": ", "#", " #", ",", ";",
        "is", " changed since", "1. ", "null", "digest: ", "gone",
    ]
)  # fmt: skip
texts = st.lists(hostile | st.text(max_size=6), max_size=6).map("".join)
shas = st.text("0123456789abcdef", min_size=1, max_size=64)
counts = st.integers(0, 99_999)
moments = st.datetimes(timezones=st.just(UTC))
refs = st.builds(
    MessageRef,
    st.integers(0, 99),
    counts,
    st.sampled_from(["", "yesterday"]) | moments.map(datetime.isoformat),
)
proofs = st.one_of(
    st.none(),
    st.builds(FileProof, texts, st.none() | shas),
    st.builds(GitProof, st.just("") | shas, texts, counts),
    st.builds(NoteProof, texts, shas),
    st.builds(MemoryProof, texts),
    st.builds(
        ResultProof,
        st.none() | st.integers(-(2**31), 2**32 - 1),
        st.booleans(),
        refs,
        st.lists(texts, max_size=7).map(tuple),
    ),
    st.builds(QuoteProof, refs),
)
statements = st.builds(
    HandoffStatement,
    st.sampled_from(StatementSection),
    texts,
    proofs,
    st.lists(texts, max_size=2).map(tuple),
    texts,
)
heads = st.builds(
    HandoffHeader,
    moments,
    moments,
    st.sampled_from(handoff_targets()),
    counts,
    texts,
    st.lists(st.builds(SourceSession, st.sampled_from(AGENTS), texts, texts), max_size=3).map(
        tuple
    ),
    st.just("") | shas,
    texts,
    st.lists(texts, max_size=3).map(tuple),
    st.dictionaries(texts, st.none() | shas, max_size=3),
    texts,
    texts,
    counts,
    counts,
)
handoffs = st.builds(Handoff, heads, st.lists(statements, max_size=6).map(tuple), counts)


@given(handoffs)
def test_what_was_written_is_read_back(handoff: Handoff) -> None:
    text = render(handoff)
    parsed = parse(text.encode("utf-8"))
    assert (parsed.state, parsed.reason) == (DocumentState.UNCHANGED, "")
    assert parsed.handoff == normalize(handoff)
    assert render(normalize(handoff)) == text


@given(st.binary(max_size=400) | texts.map(lambda character: character.encode("utf-8", "replace")))
def test_no_bytes_are_too_strange_to_be_read(raw: bytes) -> None:
    assert parse(raw).state is DocumentState.FOREIGN
    whole = text_of(HandoffStatement(StatementSection.NEXT, "Go on.")).encode()
    for torn in (whole[: len(raw)], whole[:-40] + raw, whole.replace(b"format", raw)):
        assert parse(torn).state is not DocumentState.UNCHANGED


@given(handoffs, st.data())
def test_every_change_is_detected(handoff: Handoff, data: st.DataObject) -> None:
    text = render(handoff)
    at = data.draw(st.integers(0, len(text) - 1))
    other = data.draw(
        st.sampled_from(string.printable).filter(lambda character: character != text[at])
    )
    changed = text[:at] + other + text[at + 1 :]
    assert parse(changed.encode()).state is not DocumentState.UNCHANGED


@given(statements)
@example(
    HandoffStatement(
        StatementSection.NEXT, "x\n" + END_MARKER + "\n## Decisions\n- y [verified: a is 1]", None
    )
)
@example(
    HandoffStatement(
        StatementSection.NEXT, "x", None, (), f"```\n{END_MARKER}\n- y [unverified]\n## Files"
    )
)
def test_no_text_of_others_passes_for_a_line_of_the_document(statement: HandoffStatement) -> None:
    lines = text_of(statement).split("\n")
    body = lines[lines.index(BEGIN_MARKER) + 1 : -2]
    headings = [row for row in body if row.startswith("#")]
    assert len(headings) <= 3
    assert sum(row.startswith("- ") for row in body) == 1
    assert not any("<!--" in re.sub(r"(`+).*?\1", "", row.replace(r"\<", "")) for row in body
                   if not row.startswith("> "))  # fmt: skip
    section_rows = body[body.index(headings[-1]) + 2 :]
    assert all(row.startswith(">") for row in section_rows[1:-2])
    assert not section_rows[0] or (section_rows[0], section_rows[-2]) == ("```quotation", "```")
    assert make_visible("\n".join(lines)) == "\n".join(lines)


@pytest.mark.parametrize(
    ("proof", "sessions", "written", "status"),
    [
        (FileProof("tide/alarm.py", SHA), 1, f"[verified: tide/alarm.py is {SHA}]", "verified"),
        (FileProof("a b.py", None), 1, '[verified: "a b.py" is not there]', "verified"),
        (GitProof("4f1e2d3a9b0c77", "feat/x", 2), 1,
         "[verified: commit 4f1e2d3a9b0c on feat/x, 2 files dirty]", "verified"),
        (GitProof("4f1e2d3a9b0c", "", 0), 1, "[verified: commit 4f1e2d3a9b0c, clean]", "verified"),
        (NoteProof("feedback_tests.md", SHA), 1, f"[verified: note feedback_tests.md is {SHA}]",
         "verified"),
        (MemoryProof("/home/a b"), 1, '[verified: memory at "/home/a b"]', "verified"),
        (ResultProof(0, False, MessageRef(0, 41, "2026-10-05T14:02:31Z")), 1,
         "[reported: exit 0 at 2026-10-05 14:02 UTC, turn 41; files unchanged since]", "reported"),
        (ResultProof(None, True, MessageRef(1, 41), ("tidepool/alarm.py", "commit")), 2,
         "[stale: failed, turn 41 of session 2; tidepool/alarm.py, commit changed since]", "stale"),
        (ResultProof(1, True, MessageRef(0, 3), tuple("abcdef")), 1,
         "[stale: exit 1, turn 3; a, b, c, 3 more changed since]", "stale"),
        (ResultProof(1, False, MessageRef(0, 3)), 1,
         "[reported: exit 1, succeeded, turn 3; files unchanged since]", "reported"),
        (QuoteProof(MessageRef(0, 7)), 1, "[quoted: turn 7]", "quoted"),
        (QuoteProof(MessageRef(0, 7)), 2, "[quoted: turn 7 of session 1]", "quoted"),
        (None, 1, "[unverified]", "unverified"),
    ],
)  # fmt: skip
def test_marks_say_what_they_rest_on(
    proof: object, sessions: int, written: str, status: str
) -> None:
    assert render_mark(proof, sessions) == written  # type: ignore[arg-type]
    assert HandoffStatement(StatementSection.DONE, "x", proof).status is ProofStatus(status)  # type: ignore[arg-type]


@pytest.mark.parametrize("target", handoff_targets())
def test_every_family_has_every_section_and_its_groups_together(target: Agent) -> None:
    layout = load_layout(target)
    parents = [layout.headings[section][:-1] for section in layout.order]
    groups = [
        parent
        for n, parent in enumerate(parents)
        if parent and (n == 0 or parents[n - 1] != parent)
    ]
    assert len(groups) == len(set(groups))
    assert len(set(layout.headings.values())) == len(StatementSection)


def test_verified_means_no_more_than_its_mark() -> None:
    """A statement may say more about a file than that it exists."""
    text = text_of(
        HandoffStatement(StatementSection.FILES, "a.py: edited 2 times", FileProof("a.py", SHA))
    )
    assert "verified: Ricordo itself saw what the mark names, when this was written." in text


def test_code_and_quotations_are_not_escaped() -> None:
    command = "Run `pytest -k 'a[1]' < in.txt @args`, then `git commit`."
    said = "Do **not** touch [the schema](x) & <b>stop</b>.\n\n  ```py\n  x = 1\n  ```"
    text = text_of(
        HandoffStatement(StatementSection.NEXT, command),
        HandoffStatement(StatementSection.CONSTRAINTS, "", None, (), said),
    )
    assert f"- {command} [unverified]\n" in text
    assert all(f"> {row}".rstrip() + "\n" in text for row in said.split("\n"))


def test_what_could_be_drawn_linked_or_loaded_is_escaped() -> None:
    odd = "# x <b> ![p](http://e.x) @~/.ssh/id_rsa mail a@b.c [verified: a is 1]"
    text = text_of(HandoffStatement(StatementSection.DONE, odd))
    assert (
        r"- \# x \<b> !\[p](http://e.x) \@~/.ssh/id_rsa mail a@b.c \[verified: a is 1] [unverified]"
        in text
    )


class TestEdited:
    TEXT = text_of(
        HandoffStatement(StatementSection.DONE, "One.", FileProof("a.py", SHA)),
        HandoffStatement(StatementSection.NEXT, "Two."),
    )

    def test_an_added_statement_is_read_and_reported(self) -> None:
        parsed = parse(self.TEXT.replace("- Two", "- Zero.\n- Two").encode())
        assert parsed.state is DocumentState.EDITED
        assert parsed.handoff is not None
        assert [statement.text for statement in parsed.handoff.statements] == [
            "One.",
            "Zero.",
            "Two.",
        ]
        assert "edited" in parsed.reason

    @pytest.mark.parametrize("added", ["Mine.\n", "\n"])
    def test_text_outside_the_markers_is_detected(self, added: str) -> None:
        for text in (self.TEXT + added, self.TEXT.replace(BEGIN_MARKER, added + BEGIN_MARKER)):
            assert parse(text.encode()).state is DocumentState.EDITED

    def test_unknown_lines_are_counted(self) -> None:
        text = self.TEXT.replace("### Done", "Some prose.\n* more\n### Done") + "Tail.\n"
        assert "3 lines were not" in parse(text.encode()).reason
        assert "1 line was not" in parse(f"{self.TEXT}Tail.\n".encode()).reason

    def test_changed_line_endings_are_reported(self) -> None:
        parsed = parse(self.TEXT.replace("\n", "\r\n").encode())
        assert (parsed.state, parsed.reason[:9]) == (DocumentState.EDITED, "Its line ")
        assert parsed.handoff is not None
        assert len(parsed.handoff.statements) == 2

    def test_a_truncated_document_is_reported_as_such(self) -> None:
        parsed = parse(self.TEXT[: self.TEXT.index("Two.")].encode())
        assert parsed.state is DocumentState.TRUNCATED
        assert "end is missing" in parsed.reason

    def test_an_invalid_header_value_is_named(self) -> None:
        parsed = parse(self.TEXT.replace("budget: 4000", "budget: much").encode())
        assert (parsed.state, parsed.handoff) == (DocumentState.FOREIGN, None)
        assert "“budget”" in parsed.reason

    def test_a_file_of_others_is_foreign(self) -> None:
        for raw in (b"", b"# Handoff\n\n## State\n- done\n", b"\xff", b"---\nformat: x\n---\n"):
            assert parse(raw).state is DocumentState.FOREIGN
