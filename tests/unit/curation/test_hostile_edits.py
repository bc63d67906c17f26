"""Edits as a hostile or broken engine could give them: each gets its verdict, none is plain."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ricordo.curation.brief import compose_brief, name_notes
from ricordo.curation.edits import read_edits
from ricordo.curation.proposal import ValidationResult, make_curator
from ricordo.curation.validation import ValidationContext, validate
from ricordo.memory.memory import Memory
from tests.support.builders import note_text, open_memory

LONG = "The harbour has 3 berths, 12 bollards and one crane of 40 tons. Ask Marta before noon. " * 3
FILES = {
    "MEMORY.md": "- [Tides](tides.md) — which port\n- [Ports](ports.md) — where\n",
    "tides.md": note_text("tides", "See [[ports]]. The port is Sines since 2026-03-04.\n"),
    "ports.md": note_text("ports", f"{LONG}\n"),
    "kept.md": note_text("kept", "Never touch this.\n").replace(
        "metadata:", "pinned: true\nmetadata:"
    ),
    "dry.md": note_text("dry", "It is not deep there.\n"),
    **{
        f"other_{n}.md": note_text(f"other-{n}", f"Fact number {n} of the harbour.\n")
        for n in range(9)
    },
}
SAID = {"s#1": "The port is Lagos now, remember that."}
PROOF = [{"source": "s#1", "quote": "The port is Lagos now"}]
ESCAPES = (
    "../tides.md", "/etc/passwd", "tides.md", "./tides.md", "a/../tides.md", "..\\tides.md",
    "C:\\x.md", "~/.bashrc", "file:///etc/passwd", "tides.md\0", "%2e%2e/tides.md", "",
    " n1", "N1", "n0", "n999", "n1\n", "n1/../n2", "ｎ1", "n1\u200b", "MEMORY.md", ".git/config",
    "\u202en1", "CON", "n" * 5_000,
)  # fmt: skip


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    return open_memory(tmp_path_factory.mktemp("hostile") / "memory", FILES)


def names(memory: Memory) -> dict[str, str]:
    return {path: name for name, path in name_notes(memory)}


def judged(memory: Memory, edits: object) -> tuple[ValidationResult, int]:
    read = read_edits(memory, compose_brief(memory, (), ()), edits)
    checked = validate(ValidationContext(memory, SAID, make_curator("test")), read.changes)
    return checked, len(read.rejected) + len(checked.rejected)


def edit(op: str, **fields: Any) -> dict[str, Any]:
    return {"op": op, "reason": "because", "evidence": PROOF, **fields}


def replace(memory: Memory, old: str, new: str, path: str = "tides.md") -> dict[str, Any]:
    return edit("replace", note=names(memory)[path], old=old, new=new)


@pytest.mark.parametrize("name", ESCAPES)
@pytest.mark.parametrize("op", ["replace", "retire"])
def test_a_note_is_named_by_an_id_that_was_given_out_and_by_nothing_else(
    memory: Memory, op: str, name: str
) -> None:
    fields = {"old": "Sines", "new": "Lagos"} if op == "replace" else {"successor": ""}
    checked, rejected = judged(memory, [edit(op, note=name, **fields)])
    assert not checked.proposals
    assert rejected == 1


SHAPELESS: dict[str, Any] = {
    "no list": {"op": "retire"},
    "no object": ["retire"],
    "nothing": [None],
    "a number": [7],
    "no kind": [{}],
    "an unknown kind": [{**edit("shell"), "command": "rm -rf /"}],
    "a kind that is no text": [edit("retire") | {"op": ["retire"]}],
    "a field too much": [edit("retire", note="n1", successor="", force=True)],
    "a field too few": [edit("replace", note="n1", old="x")],
    "half an answer": [edit("replace", note="n1", old="The port is Sines")],
    "null for a text": [edit("replace", note="n1", old="x", new=None)],
    "a list for a text": [edit("replace", note="n1", old=["x"], new="y")],
    "true for a line": [edit("insert", note="n1", after_line=True, text="x")],
    "half a line": [edit("insert", note="n1", after_line=1.5, text="x")],
    "evidence that is no list": [edit("retire", note="n1", successor="") | {"evidence": "x"}],
    "evidence without a source": [
        edit("retire", note="n1", successor="") | {"evidence": [{"quote": "x"}]}
    ],
    "evidence that is a number": [edit("retire", note="n1", successor="") | {"evidence": [3]}],
    "a reason of two lines": [edit("retire", note="n1", successor="") | {"reason": "a\nb"}],
    "a reason that steers": [edit("retire", note="n1", successor="") | {"reason": "\x1b[2J"}],
    "a reason from the right": [edit("retire", note="n1", successor="") | {"reason": "\u202eabc"}],
    "a lone surrogate": [edit("replace", note="n1", old="fact", new="\ud800")],
    "a surrogate in the reason": [edit("retire", note="n1", successor="") | {"reason": "\udfff"}],
    "megabytes": [edit("rewrite", note="n1", text="x" * 3_000_000)],
    "a new note without a name": [edit("create", name=" ", type="", description="", text="x")],
    "a new note without a text": [edit("create", name="x", type="", description="", text="\n")],
    "a type that is not known": [edit("create", name="x", type="root", description="", text="x")],
    "a name of two lines": [edit("create", name="a\nb", type="", description="", text="x")],
    "a merge with itself": [edit("merge", note="n1", other="n1", text="x")],
    "a link to itself": [edit("link", note="n1", target="n1")],
    "a successor that is itself": [edit("retire", note="n1", successor="n1")],
    "an unknown successor": [edit("retire", note="n1", successor="../x")],
    "nothing to replace": [edit("replace", note="n1", old="", new="everything")],
    "a line that is not there": [edit("insert", note="n1", after_line=9_999, text="x")],
    "a line before the first": [edit("insert", note="n1", after_line=-1, text="x")],
    "an insertion of nothing": [edit("insert", note="n1", after_line=1, text=" \n")],
    "a text that is not there": [edit("replace", note="n1", old="no such words", new="x")],
    "the same again": [edit("replace", note="n1", old="kept", new="kept")],
}


@pytest.mark.parametrize("given_", SHAPELESS.values(), ids=SHAPELESS.keys())
def test_what_is_not_of_the_shape_is_rejected_with_why(memory: Memory, given_: Any) -> None:
    checked, rejected = judged(memory, given_)
    assert not checked.proposals
    assert rejected >= 1


def test_a_protected_note_stays(memory: Memory) -> None:
    kept = names(memory)["kept.md"]
    checked, rejected = judged(
        memory,
        [
            edit("retire", note=kept, successor=""),
            edit("rewrite", note=kept, text="gone"),
            edit("merge", note=names(memory)["tides.md"], other=kept, text="x"),
        ],
    )
    assert not checked.proposals
    assert rejected == 3
    assert any("protected" in it.why for it in checked.rejected)


def test_a_text_that_occurs_twice_is_not_replaced(memory: Memory) -> None:
    checked, rejected = judged(memory, [replace(memory, "berths", "docks", "ports.md")])
    assert (checked.proposals, rejected) == ((), 1)


def test_of_overlapping_edits_the_second_is_rejected(memory: Memory) -> None:
    checked, rejected = judged(
        memory,
        [
            replace(memory, "The port is Sines", "The port is Lagos"),
            replace(memory, "port is Sines since", "port was Sines until"),
        ],
    )
    assert (len(checked.proposals), rejected) == (1, 1)


FLAGGED: dict[str, tuple[str, str, str]] = {
    "rest unchanged": ("tides.md", "The port", "The port. [rest of the note unchanged]"),
    "dots for text": ("tides.md", "The port", "The port\n...\n"),
    "truncated": ("tides.md", "The port", "The port [truncated]"),
    "existing content": ("tides.md", "The port", "The port <!-- existing content remains -->"),
    "rest in german": ("tides.md", "The port", "The port (Rest bleibt unverändert)"),
    "rest in chinese": ("tides.md", "The port", "The port 其余部分不变"),
    "a date gone": ("tides.md", " since 2026-03-04", ""),
    "a name gone": ("tides.md", "Sines", "there"),
    "a link gone": ("tides.md", "See [[ports]]. ", ""),
    "a denial gone": ("dry.md", "It is not deep", "It is deep"),
    "a hidden sign": ("tides.md", "The port", "The\u200b port"),
    "another direction": ("tides.md", "The port", "The \u202etrop"),
    "an escape": ("tides.md", "The port", "The \x1b]52;c;eA==\x07port"),
    "tags": ("tides.md", "The port", "The port\U000e0041\U000e0042"),
    "a key": ("tides.md", "The port", "AKIAQ3T7ZK4M2PWX9JLD The port"),
}


@pytest.mark.parametrize("case", FLAGGED)
def test_what_a_person_should_see_is_not_plain(memory: Memory, case: str) -> None:
    path, old, new = FLAGGED[case]
    checked, _ = judged(memory, [replace(memory, old, new, path)])
    assert [bool(it.warnings) for it in checked.proposals] == [True]


@pytest.mark.parametrize(
    ("proof", "told"),
    [
        ([], "no evidence"),
        ([{"source": "s#1", "quote": "The port is Porto"}], "quote not found in s#1"),
    ],
)
def test_without_valid_evidence_there_is_a_warning(memory: Memory, proof: Any, told: str) -> None:
    wish = replace(memory, "The port is Sines", "The port is Sines, says Ana") | {"evidence": proof}
    checked, _ = judged(memory, [wish])
    assert [it.warnings[0] for it in checked.proposals] == [told]


def test_evidence_of_another_turn_does_not_count(memory: Memory) -> None:
    wish = replace(memory, "port", "harbour") | {
        "evidence": [{"source": "s#2", "quote": "The port is Lagos now"}]
    }
    checked, _ = judged(memory, [wish])
    assert all(it.warnings for it in checked.proposals)


@pytest.mark.parametrize("text", ["", "\n\n", "Short."])
def test_to_empty_or_halve_a_note_needs_a_typed_word(memory: Memory, text: str) -> None:
    head = FILES["ports.md"].split("---\n\n")[0] + "---\n\n"
    wish = edit("rewrite", note=names(memory)["ports.md"], text=head + text)
    checked, _ = judged(memory, [wish])
    assert [bool(it.alarms) for it in checked.proposals] == [True]


def test_to_retire_all_needs_a_typed_word_from_the_first_too_many_on(memory: Memory) -> None:
    edits = [edit("retire", note=name, successor="") for name, path in name_notes(memory)]
    checked, _ = judged(memory, edits)
    assert [bool(it.alarms) for it in checked.proposals] == [False] + [True] * 11


def test_what_was_retired_earlier_in_the_day_counts(memory: Memory) -> None:
    wish = edit("retire", note=names(memory)["tides.md"], successor=names(memory)["ports.md"])
    read = read_edits(memory, compose_brief(memory, (), ()), [wish])
    checked = validate(
        ValidationContext(memory, SAID, make_curator("test"), retired=5), read.changes
    )
    assert [bool(it.alarms) for it in checked.proposals] == [True]


def test_a_new_note_gets_a_plain_path_whatever_it_is_called(memory: Memory) -> None:
    for name in (
        "../../x",
        "/etc/passwd",
        ".hidden",
        "a\\b",
        "MEMORY",
        "index.md",
        "CON:1",
        "x" * 250,
    ):
        checked, _ = judged(
            memory, [edit("create", name=name, type="project", description="d", text="It is so.")]
        )
        for it in checked.proposals:
            path = it.change.operation.path  # type: ignore[union-attr]
            assert "/" not in path
            assert not path.startswith(".")
            assert path not in FILES


def test_the_memory_on_disk_is_as_it_was(memory: Memory) -> None:
    edits = [edit("retire", note=name, successor="") for name, _ in name_notes(memory)]
    judged(memory, edits)
    assert {file.path: file.text for file in memory.files} == FILES
    root = Path(memory.root)
    assert {it.name: it.read_text("utf-8") for it in root.iterdir()} == FILES


_TEXT = st.text(st.characters(), max_size=60) | st.sampled_from(
    ["n1", "n2", "n99", "Sines", "The port", "../x", "", "\ud800", "x" * 70_000]
)
_VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | _TEXT, lambda it: st.lists(it, max_size=3)
)
_NAMES = ("note", "other", "target", "successor", "old", "new", "text", "name", "type")
_EDIT = st.fixed_dictionaries(
    {
        "op": st.sampled_from(
            ["create", "replace", "insert", "rewrite", "merge", "retire", "link"]
        ),
        "reason": _TEXT,
        "evidence": st.just(PROOF) | _VALUE,
    },
    optional=dict.fromkeys(_NAMES, _TEXT | _VALUE)
    | {"description": _TEXT, "after_line": st.integers(-2, 20) | _VALUE},
)


@given(edits=st.lists(_EDIT | _VALUE, max_size=6))
def test_random_edits_are_proposed_or_rejected_and_never_raise(
    memory: Memory, edits: list[Any]
) -> None:
    read = read_edits(memory, compose_brief(memory, (), ()), edits)
    checked = validate(ValidationContext(memory, SAID, make_curator("test")), read.changes)
    verdicts = len(read.rejected) + len(checked.rejected) + len(checked.proposals)
    assert verdicts == len(edits)
    assert json.dumps([it.why for it in (*read.rejected, *checked.rejected)])


def test_a_link_that_is_led_elsewhere_is_no_loss(memory: Memory) -> None:
    name = names(memory)
    led, _ = judged(memory, [edit("retire", note=name["ports.md"], successor=name["dry.md"])])
    assert [it.path for it in led.proposals[0].edits] == ["MEMORY.md", "ports.md", "tides.md"]
    assert led.proposals[0].warnings == ("removes the note ports.md",)
