from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ricordo.agents.claude.location import AUTO_MEMORY
from ricordo.errors import ChangeRefused
from ricordo.memory.draft import MemoryDraft
from ricordo.memory.frontmatter import parser as frontmatter
from ricordo.memory.frontmatter.edit import set_field
from ricordo.memory.lines import split_lines
from ricordo.memory.memory import Memory
from ricordo.memory.note import BOM
from tests.support.builders import SHARED, note_of

KEYS = st.sampled_from(["name", "description", "type", "tags", "pinned", "modified", "x-y"])
PLAIN = ["tides", "no", "22:22", "2026-01-02", "1.10", "~", "a  b", "日本 🦑", "x#y", "it's"]
TRICKY = [
    "", " ", "no", "on", "null", "~", "010", "1_000", "22:22", "1.10", "2026-01-02", "- x", "-x",
    "a: b", "a:", "x #y", "#x", "[a, b]", "{a: b}", "'a'", '"a"', 'say "no"', "it's", "&x", "*x",
    "!t", "|", ">", "%x", "@x", "`x`", "=", "<<", "---", "...", "? x", "a\nb", "\n", "a\tb", "\t",
    "a\x85b", "\u2028", "a\u00a0b", "\ufeffx", "\x00", "\x1b[2J", "🦑", "👩‍💻", "日本", "é",
    "e\u0301", "trailing ", " leading", "a\\b", "\\n", "\U000e0041", "x" * 3000, "a\r\nb", "\r",
]  # fmt: skip
VALUES = st.one_of(st.sampled_from(TRICKY), st.text(max_size=12))


def _rows(key: str) -> st.SearchStrategy[list[str]]:
    """Ways in which the field `key` may be written, as lines."""
    plain = st.sampled_from(PLAIN)
    return st.one_of(
        st.tuples(plain, st.sampled_from(["", " ", "  # why", " # a: b"])).map(
            lambda it: [f"{key}: {it[0]}{it[1]}"]
        ),
        plain.map(lambda it: [f"{key}: '{it.replace(chr(39), chr(39) * 2)}'  # kept"]),
        plain.map(lambda it: [f'{key}: "{it}"']),
        st.sampled_from([[f"{key}:"], [f"{key}: "], [f"{key}:  # nothing yet"], [f'"{key}": x']]),
        st.just([f"{key}:", "  - a", "  # between", "  - b: c", ""]),
        st.just([f"{key}: # these", "- a", "- 'b'"]),
        st.just([f"{key}: [a, 'b, c',", "  d]"]),
        st.just([f"{key}: |  # as it is", "  one", "", "   two", "", "# behind"]),
        st.just([f"{key}: >-", "  folded", "  on", ""]),
        st.just([f"{key}: begins", "  and goes on", "  to here"]),
        st.just([f'{key}: "begins', '  and ends"']),
    )


BLOCKS = st.lists(KEYS, unique=True, max_size=5).flatmap(
    lambda keys: st.tuples(
        *(
            st.one_of(_rows(key), st.sampled_from([["# a comment"], [""]]).map(list))
            for key in keys
        ),
        st.sampled_from(
            [
                [],
                ["metadata: ", "  node_type: memory", "  type: project"],
                [
                    "metadata:",
                    "    type: 'project'  # of old",
                    "    modified:",
                    "    z: |",
                    "      q",
                ],
                ["metadata:"],
            ]
        ),
    ).map(lambda parts: [line for part in parts for line in part])
)
NOTES = st.builds(
    lambda block, body, end, closed: end.join(["---", *block, "---", *body]) + closed * end,
    BLOCKS,
    st.sampled_from([[], ["", "Words."], ["key: no head", "---", "name: x"], ["a\x85b", ""]]),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)


def value_of(text: str, key: str) -> object:
    fields = frontmatter.read_frontmatter(text).fields
    metadata = fields.get("metadata")
    if key not in fields and isinstance(metadata, Mapping):
        return metadata.get(key)
    return fields.get(key)


def lines_but_of(text: str, key: str) -> list[str]:
    """The lines that belong to no value of `key`, found without our own code for places: a value
    reaches to the next line that is not further in, which is no item of a list.
    """
    kept, inside, indent = [], False, 0
    for line in split_lines(text):
        bare = line.strip("\r\n")
        own = len(bare) - len(bare.lstrip(" "))
        if inside and bare.strip() and not bare.lstrip().startswith("#"):
            inside = own > indent or (own == indent and bare.lstrip().startswith("- "))
        if bare.lstrip().startswith((f"{key}:", f'"{key}":')):
            inside, indent = True, own
        if not inside:
            kept.append(line)
    return kept


@given(NOTES, KEYS, VALUES)
@example("---\nmetadata: \n  type: project\n---\n", "type", "user")
@example("---\r\nname: a\r\n---\r\n", "name", "- x")
@example("---\n---\n", "name", "a")
@example("---\nname: a\n---", "type", "b")
def test_only_the_lines_of_the_field_change(text: str, key: str, value: str) -> None:
    head = frontmatter.read_frontmatter(text)
    try:
        edited = set_field(text, key, value)
    except ChangeRefused:
        is_surrogate = any("\ud800" <= char <= "\udfff" for char in value)
        assert head.error is not None or isinstance(head.fields.get(key), Mapping) or is_surrogate
        return
    assert value_of(edited, key) == value
    assert edited.endswith(text[head.end :])
    if head.is_present:
        assert lines_but_of(edited, key) == lines_but_of(text, key)
    assert set_field(edited, key, value) == edited
    again = set_field(set_field(edited, key, "other"), key, value)
    assert frontmatter.read_frontmatter(again).fields == frontmatter.read_frontmatter(edited).fields


COMMENTS = ("# why", "# kept", "# as it is", "# these", "# nothing yet", "# of old")


@given(NOTES, KEYS, VALUES)
def test_the_comment_of_a_field_survives(text: str, key: str, value: str) -> None:
    with contextlib.suppress(ChangeRefused):
        edited = set_field(text, key, value)
        assert all(edited.count(it) >= text.count(it) for it in COMMENTS)


@given(st.sampled_from(["", "Words.\n", "Words.\r\n", "---\n\nprose\n\n---\nmore\n", "a"]), VALUES)
def test_a_note_without_frontmatter_gets_one_of_three_lines(body: str, value: str) -> None:
    with contextlib.suppress(ChangeRefused):
        edited = set_field(body, "description", value)
        added = edited.removesuffix(body)
        assert added + body == edited
        assert len(split_lines(added)) == 3
        assert added.endswith("\r\n") == ("\r\n" in body)
        assert value_of(edited, "description") == value


@pytest.mark.parametrize(
    ("before", "value", "after"),
    [
        ("name: a", "b", "name: b"),
        ("name: 'a'", "it's", "name: 'it''s'"),
        ('name: "a"', "b", 'name: "b"'),
        ("name: a", "no", 'name: "no"'),
        ("name: yes", "no", "name: no"),
        ("name: 21:21", "22:22", "name: 22:22"),
        ("name: a", "22:22", 'name: "22:22"'),
        ("name: a", "2026-01-02", "name: 2026-01-02"),
        ("name: a", "🦑", "name: 🦑"),
        ("name: a", "x\ny", 'name: "x\\ny"'),
        ("name: a", "a\x85b", 'name: "a\\Nb"'),
        ("name: a  # c", "b", "name: b  # c"),
        ("name: # c", "b", "name: b # c"),
        ("name: ", "b", "name: b "),
        ("name: |  # c\n  a\n\n# d", "b", "name: b  # c\n\n# d"),
        ("name:\n- a\n- c", "b", "name: b"),
        ("name:\n- a\n\n# d\ntype: x", "b", "name: b\n\n# d\ntype: x"),
        ("type: x", "b", "type: x\nname: b"),
        ("metadata:\n  name: a", "b", "metadata:\n  name: b"),
        ("name: a", "a", "name: a"),
        ("name: |-\n  a", "a", "name: |-\n  a"),
    ],
)
def test_a_value_is_written_in_the_manner_of_the_old_one(
    before: str, value: str, after: str
) -> None:
    assert set_field(f"---\n{before}\n---\n", "name", value) == f"---\n{after}\n---\n"


@pytest.mark.parametrize(
    ("block", "key", "value", "told"),
    [
        ("name: a: b", "type", "x", "line 2"),
        ("a: &x 1\nb: *x", "type", "x", "anchor"),
        ("a: !t 1", "type", "x", "tag"),
        ("type: a\ntype: b", "type", "x", "duplicate"),
        ("{name: a}", "type", "x", "type"),
        ("name: a", "null", "x", "null"),
        ("name: a", "", "x", "field"),
        ("name: a", "a b", "x", "field"),
        ("name: a", "a:\nb", "x", "field"),
        ("name: a", "name", "\ud800", "name"),
        ("metadata:\n  a: b", "metadata", "x", "nested fields"),
    ],
)
def test_frontmatter_that_cannot_be_edited_safely_is_not_changed(
    block: str, key: str, value: str, told: str
) -> None:
    with pytest.raises(ChangeRefused, match=told):
        set_field(f"---\n{block}\n---\n\nBody\n", key, value)


def test_frontmatter_that_is_never_closed_is_not_changed() -> None:
    with pytest.raises(ChangeRefused, match="never closed"):
        set_field("---\nname: a\n\nBody\n", "name", "b")


def _real_files() -> list[Path]:
    folders = (SHARED / "data", SHARED / "formats" / "samples")
    return sorted(path for folder in folders for path in folder.rglob("*.md") if path.is_file())


@pytest.mark.skipif(not (SHARED / "data").is_dir(), reason="no real memories beside the checkout")
def test_a_description_is_set_on_every_real_note_without_touching_another_byte(
    capsys: pytest.CaptureFixture[str],
) -> None:
    counts: Counter[str] = Counter()
    files = _real_files()
    for file in files:
        raw = file.read_bytes()
        note = note_of(raw)
        draft = MemoryDraft(Memory("/m", AUTO_MEMORY, (note,)))
        try:
            text = draft.get_text(note.path)
            draft.set_text(note.path, set_field(text, "description", "Set: by a test"))
        except ChangeRefused:
            counts["refused"] += 1
            assert draft.edits() == ()
            continue
        (edit,) = draft.edits()
        assert edit.before == raw
        after = note_of(edit.after or b"")
        assert after.description == "Set: by a test"
        assert after.raw.startswith(BOM) == raw.startswith(BOM)
        if not note.frontmatter.is_present:
            counts["head added"] += 1
            assert after.text.removesuffix(note.text).count("\n") == 3
            assert after.text.endswith(note.text)
        elif "description" in note.frontmatter.fields or note.frontmatter.get_text("description"):
            counts["key stood"] += 1
            assert lines_but_of(after.text, "description") == lines_but_of(note.text, "description")
        else:
            counts["line added"] += 1
            (new,) = (line for line in split_lines(after.text) if "Set: by a test" in line)
            assert after.text.replace(new, "", 1) == note.text
    with capsys.disabled():
        print(f"\nset description: {dict(counts)} of {len(files)} files")
    assert counts.total() == len(files)
    assert min(counts[kind] for kind in ("key stood", "line added", "head added", "refused")) > 0
