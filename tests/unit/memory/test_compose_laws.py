"""What holds of any list of changes, on small generated memories."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ricordo.agents.claude.location import AUTO_MEMORY
from ricordo.agents.wiki import WIKI
from ricordo.errors import ChangeRefused
from ricordo.memory import change as acts
from ricordo.memory.change import Change, ChangeOperation, ChangeSet
from ricordo.memory.compose import compose
from ricordo.memory.index import EntryForm
from ricordo.memory.layout import Layout
from ricordo.memory.memory import Memory
from ricordo.memory.names import TargetKind
from ricordo.memory.note import FileFacts, Note, read_note

PATHS = ["a.md", "b.md", "sub/a.md", "sub/c_d.md", "MEMORY.md", "my x(1).md"]
NEW = ["n.md", "sub/n.md", "c-d.md", "A.md", "sub/b.md", "neu_é.md"]
NAMES = ["", "a", "b", "c-d", "The A", "n"]
LINKS = [
    "[[a]]", "[[b|B]]", "[[sub/a#x]]", "[[c d]]", "[[The A]]", "![[n]]", "[[../a]]", "[[my x(1)]]",
    "[x](a.md)", "[y](./sub/a.md#h)", "[z](../b.md)", "[w](<my x(1).md> 't')", "![i](p.png)",
    "[v](my%20x(1).md)", "[u](a.md \"](b.md)\")", "[o](../../out.md)", "[gone](gone.md)", "`[[a]]`",
    "[[b\\|B]]", "[s](c_d.md)", "[h](https://x.org/a.md)",
]  # fmt: skip
HEADS: list[list[str]] = [
    [],
    ["related: [a, sub/a]"],
    ["aliases: [n, z]"],
    ["sources:", "  - b.md"],
]
LAYOUTS = st.sampled_from([AUTO_MEMORY, WIKI])


@st.composite
def files(draw: st.DrawFn) -> dict[str, str]:
    end = draw(st.sampled_from(["\n", "\r\n"]))
    found = {}
    for path in draw(st.lists(st.sampled_from(PATHS), unique=True, min_size=2)):
        name = draw(st.sampled_from(NAMES))
        head = [f"name: {name}"] if name else []
        head += draw(st.sampled_from(HEADS))
        lines = ["---", *head, "---"] if head else []
        for _ in range(draw(st.integers(0, 4))):
            start = draw(st.sampled_from(["- ", "", "| ", "  - "]))
            links = draw(st.lists(st.sampled_from(LINKS), max_size=3))
            lines.append(start + " é ".join([*links, "end"]))
        found[path] = end.join(lines) + draw(st.sampled_from(["", end]))
    return found


def memory_of(files: dict[str, str], layout: Layout) -> Memory:
    notes = tuple(_note(path, text.encode(), layout) for path, text in sorted(files.items()))
    return Memory("/m", layout, notes, frozenset(["sub", "p.png"]))


def _note(path: str, raw: bytes, layout: Layout) -> Note:
    return read_note(path, raw, FileFacts(len(raw), 0.0, 1, 1), layout)


ANY_PATH = st.sampled_from([*PATHS, *NEW])
TEXTS = st.sampled_from(["", "x\n", "---\nname: b\n---\n[[a]]", "one\ntwo\n", "[[b]]\r\n"])


def moves(path: st.SearchStrategy[str]) -> st.SearchStrategy[ChangeOperation]:
    """Renames and retirements of the note at `path`."""
    return st.one_of(
        st.builds(acts.Rename, path, st.sampled_from(NEW), st.sampled_from(NAMES)),
        st.builds(acts.Rename, path, ANY_PATH),
        st.builds(acts.Retire, path, st.one_of(st.just(""), st.sampled_from(PATHS))),
        st.builds(lambda path, name: acts.Rename(path, path, name), path, st.sampled_from(NAMES)),
    )


ACTS = st.one_of(
    moves(ANY_PATH),
    st.builds(acts.Create, ANY_PATH, TEXTS),
    st.builds(acts.Replace, ANY_PATH, st.sampled_from(["end", "a", "[[b|B]]"]), TEXTS),
    st.builds(acts.Insert, ANY_PATH, st.integers(0, 3), TEXTS),
    st.builds(acts.Rewrite, ANY_PATH, TEXTS),
    st.builds(acts.SetField, ANY_PATH, st.sampled_from(["name", "type"]), st.sampled_from(NAMES)),
    st.builds(acts.Merge, ANY_PATH, ANY_PATH, TEXTS),
    st.builds(acts.AddLink, ANY_PATH, ANY_PATH),
    st.builds(acts.AddEntry, st.just("MEMORY.md"), ANY_PATH),
    st.builds(acts.EditLine, ANY_PATH, st.integers(1, 2), st.just("---"), st.none()),
)  # fmt: skip


def applied(memory: Memory, change_set: ChangeSet) -> Memory:
    return memory.with_files(
        {
            edit.path: None if edit.after is None else _note(edit.path, edit.after, memory.layout)
            for edit in change_set.edits
        }
    )


@given(files(), LAYOUTS, st.lists(ACTS, min_size=1, max_size=4))
def test_edits_are_of_the_current_content_and_the_same_every_time(
    files: dict[str, str], layout: Layout, wished: list[ChangeOperation]
) -> None:
    memory = memory_of(files, layout)
    changes = _those_that_fit(memory, wished)
    change_set = compose(memory, changes)
    assert compose(memory_of(files, layout), changes).edits == change_set.edits
    for edit in change_set.edits:
        file = memory.by_path.get(edit.path)
        assert edit.before == (file.raw if file else None)
        assert edit.before != edit.after
    keys = [edit.key for edit in change_set.edits]
    assert sorted(set(keys)) == keys
    assert {note.path: note.raw for note in memory.files} == {
        path: text.encode() for path, text in files.items()
    }
    if not any(isinstance(change.operation, acts.EditLine | acts.SetField) for change in changes):
        one_by_one = memory
        for change in changes:
            one_by_one = applied(one_by_one, _alone(one_by_one, change))
        if not any(isinstance(change.operation, acts.Replace) for change in changes):
            result = {note.path: note.raw for note in one_by_one.files}
            assert {note.path: note.raw for note in applied(memory, change_set).files} == result


def _alone(memory: Memory, change: Change) -> ChangeSet:
    try:
        return compose(memory, [change])
    except ChangeRefused:
        return ChangeSet(())


def _those_that_fit(memory: Memory, wished: list[ChangeOperation]) -> list[Change]:
    fitting: list[Change] = []
    for act in wished:
        try:
            compose(memory, [*fitting, Change(act)])
        except ChangeRefused:
            continue
        fitting.append(Change(act))
    return fitting


@given(files(), LAYOUTS, st.data())
def test_after_a_rename_or_retirement_every_link_keeps_its_target(
    files: dict[str, str], layout: Layout, data: st.DataObject
) -> None:
    memory = memory_of(files, layout)
    act = data.draw(moves(st.sampled_from(sorted(files))))
    assert isinstance(act, acts.Rename | acts.Retire)
    changes = _those_that_fit(memory, [act])
    now = applied(memory, compose(memory, changes))
    moved, retired = {}, ""
    if changes and isinstance(act, acts.Rename):
        moved = {act.path: act.to}
    elif changes and isinstance(act, acts.Retire):
        moved, retired = {act.path: act.successor}, act.path
    for source in memory.files:
        if source.path == retired:
            continue
        path = moved.get(source.path, source.path)
        links = memory.links.get(source.path, ())
        if retired and moved[retired] in ("", path):
            links = tuple(it for it in links if it.path != retired)
        elif retired:
            links = tuple(it for it in links if not _left(memory, source, it.link.line, retired))
        after = now.links.get(path, ())
        told = (source.text, now.by_path[path].text)
        assert len(after) == len(links), told
        for old, new in zip(links, after, strict=True):
            if old.target_kind in (TargetKind.NOTE, TargetKind.FILE, TargetKind.OUTSIDE):
                assert new.path == moved.get(old.path, old.path), told
            shown = not old.link.is_wikilink or old.link.label != old.link.target
            assert not shown or new.link.label == old.link.label, told
            assert new.link.anchor == old.link.anchor, told
        if not retired:
            assert _rest(now, path) == _rest(memory, source.path), told


def _left(memory: Memory, source: Note, line: int, retired: str) -> bool:
    """Whether a line of an index was about the retired note alone, and left with it."""
    entries = [
        (entry, memory.resolve_entry(index, entry).path)
        for index in memory.indexes
        if index.path == source.path
        for entry in index.entries
        if entry.line == line
    ]
    on_own = any(entry.form is not EntryForm.PROSE for entry, _ in entries)
    return on_own and {path for _, path in entries} == {retired}


def _rest(memory: Memory, path: str) -> list[str]:
    """What the body of a file says outside its links."""
    note = memory.by_path[path]
    pieces: list[str] = []
    at = note.frontmatter.end
    for found in memory.links.get(path, ()):
        if found.link.start >= note.frontmatter.end:
            pieces.append(note.text[at : found.link.start])
            at = found.link.end
    return [*pieces, note.text[at:]]
