from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ricordo.agents.claude.location import AUTO_MEMORY
from ricordo.agents.letta import MEMORY_FILES
from ricordo.agents.wiki import WIKI
from ricordo.errors import ChangeRefused
from ricordo.memory import change as acts
from ricordo.memory.change import USER, Author, AuthorRole, Change, ChangeOperation, ChangeSet
from ricordo.memory.compose import compose
from ricordo.memory.layout import Layout
from ricordo.memory.memory import Memory, SkippedFile
from ricordo.memory.note import FileFacts, Note, ReadError, create_unreadable_note, read_note
from tests.support.builders import note_text

CURATOR = Author(AuthorRole.CURATOR, "", "a-model", "3")
RULE = Author(AuthorRole.RULE, "dead-link")
ROOT = "/memory"


def memory_of(
    files: Mapping[str, str | bytes], layout: Layout = AUTO_MEMORY, root: str = ROOT
) -> Memory:
    """A memory without a directory; the folders are those of its files."""
    notes: list[Note] = []
    folders: set[str] = set()
    for path, content in sorted(files.items()):
        raw = content.encode() if isinstance(content, str) else content
        folders.update(path[:at] for at, char in enumerate(path) if char == "/")
        notes.append(read_note(path, raw, FileFacts(len(raw), 0.0, 1, 1), layout))
    texts = tuple(note for note in notes if note.path.endswith(".md"))
    others = {note.path for note in notes} - {note.path for note in texts}
    return Memory(root, layout, texts, frozenset(others | folders))


def composed(memory: Memory, *wished: ChangeOperation, author: Author = USER) -> ChangeSet:
    return compose(memory, [Change(act, "because", author) for act in wished])


def after(memory: Memory, *wished: ChangeOperation, author: Author = USER) -> dict[str, str | None]:
    """The texts of the files that the changes touch."""
    edits = composed(memory, *wished, author=author).edits
    return {edit.path: None if edit.after is None else edit.after.decode() for edit in edits}


def note_after(text: str, *wished: ChangeOperation) -> str:
    """What becomes of the text of `a.md`."""
    result = after(memory_of({"a.md": text}), *wished)
    return result.get("a.md", text) or ""


INDEX = "# Memory\n\n- [Tides](tides.md) — the port\n- [Deploy](deploy.md) — how\n\nEnd.\n"


@pytest.fixture
def memory() -> Memory:
    return memory_of(
        {
            "MEMORY.md": INDEX,
            "tides.md": note_text("tides", type_="user"),
            "deploy.md": note_text("deploy", type_="project"),
        }
    )


class TestCreate:
    @pytest.mark.parametrize(
        ("index", "line"),
        [
            ("", "- [New note](new.md) — what it says\n"),
            ("# M\n", "- [New note](new.md) — what it says\n"),
            ("* [T](tides.md): x\n", "* [New note](new.md): what it says\n"),
            ("- [T](tides.md) -- x\n", "- [New note](new.md) -- what it says\n"),
            ("- [[tides]]\n", "- [[new]] — what it says\n"),
            ("- [ ] [T](tides.md) – x\n", "- [New note](new.md) – what it says\n"),
            ("3. [T](tides.md) x\n", "4. [New note](new.md) — what it says\n"),
            ("| [T](tides.md) | x |\n", "| [New note](new.md) | what it says |\n"),
            ("| a | [[tides\\|T]] | x | y |\n", "|  | [[new\\|New note]] | what it says |  |\n"),
        ],
    )
    def test_the_entry_is_made_in_the_manner_of_the_others(self, index: str, line: str) -> None:
        memory = memory_of({"MEMORY.md": index, "tides.md": note_text("tides")})
        text = note_text("New note", description="what it says")
        result = after(memory, acts.Create("new.md", text))
        assert result == {"new.md": text, "MEMORY.md": index + line}

    def test_the_entry_comes_after_the_last_one_of_its_type(self, memory: Memory) -> None:
        text = note_text("new", type_="user", description="d")
        made = after(memory, acts.Create("new.md", text))["MEMORY.md"]
        lines = INDEX.splitlines(keepends=True)
        assert made == "".join([*lines[:3], "- [new](new.md) — d\n", *lines[3:]])

    def test_an_index_is_made_where_there_is_none(self) -> None:
        result = after(memory_of({}), acts.Create("a.md", note_text("a", description="d")))
        assert result["MEMORY.md"] == "- [a](a.md) — d\n"

    @pytest.mark.parametrize("end", ["\n", "\r\n"])
    def test_the_index_keeps_its_line_end_and_gets_a_missing_one(self, end: str) -> None:
        memory = memory_of({"MEMORY.md": f"# M{end}- [x](x.md) — y", "x.md": "x"})
        made = after(memory, acts.Create("a.md", "# A\n", "- [a](a.md)"))["MEMORY.md"]
        assert made == f"# M{end}- [x](x.md) — y{end}- [a](a.md){end}"

    def test_an_index_gets_no_entry_of_itself(self) -> None:
        assert after(memory_of({}), acts.Create("MEMORY.md", "# M\n")) == {"MEMORY.md": "# M\n"}

    def test_no_entry_where_none_is_wished(self, memory: Memory) -> None:
        assert after(memory, acts.Create("n.md", "x", "")) == {"n.md": "x"}

    @pytest.mark.parametrize(
        "path",
        ["/x.md", "../x.md", "sub/x.md", "./x.md", "tides.md", "TIDES.md", "-rf.md", ".x.md",
         "x", "x.txt", "a b.md", "a/../b.md", "a\\b.md", "$(x).md", "a\nb.md", "\ud800.md",
         "link.md", "", ".md", "a" * 118 + ".md"],
    )  # fmt: skip
    def test_a_path_that_will_not_do_is_refused(self, memory: Memory, path: str) -> None:
        with_link = replace(memory, skipped=(SkippedFile("link.md", "a symbolic link"),))
        with pytest.raises(ChangeRefused):
            composed(with_link, acts.Create(path, "x"))

    @pytest.mark.parametrize("entry", ["- a\n- b", "- a\r", "\n"])
    def test_an_entry_is_one_line(self, memory: Memory, entry: str) -> None:
        with pytest.raises(ChangeRefused):
            composed(memory, acts.Create("n.md", "x", entry))

    def test_lone_surrogates_are_refused(self, memory: Memory) -> None:
        with pytest.raises(ChangeRefused, match="UTF-8"):
            composed(memory, acts.Create("n.md", "\ud800"))


HOSTILE = st.one_of(
    st.sampled_from(["a`b", "<!-- x", "a\\", "[x]", "](y.md)", "a|b", "x\ny", "\x1b]0;x", "``"]),
    st.text(st.sampled_from("ab`|[]()<>\\!-#\n🦑\u202e "), min_size=1, max_size=12),
)


@given(
    HOSTILE,
    HOSTILE,
    st.sampled_from(["- [T](tides.md) — `x`", "| [T](tides.md) | y |", "- [[tides]] x"]),
)
def test_the_entry_of_any_note_links_to_it_and_hides_no_other(
    name: str, description: str, index: str
) -> None:
    text = f"---\nname: {_quoted(name)}\ndescription: {_quoted(description)}\n---\n"
    index = f"{index}\n- [Deploy](deploy.md) `y`\n"
    memory = memory_of({"MEMORY.md": index, "tides.md": "x", "deploy.md": "z", "n(1).md": text})
    change_set = composed(memory, acts.AddEntry("MEMORY.md", "n(1).md", after_line=1))
    raw = change_set.edits[0].after or b""
    now = read_note("MEMORY.md", raw, FileFacts(len(raw), 0.0, 1, 1), AUTO_MEMORY)
    led = [found.path for found in memory.with_files({"MEMORY.md": now}).links["MEMORY.md"]]
    assert set(led) >= {"n(1).md", "deploy.md", "tides.md"}
    assert now.text.count("\n") == 3


def _quoted(text: str) -> str:
    return json.dumps(text)


class TestReplace:
    def test_what_occurs_once_is_replaced(self) -> None:
        assert note_after("one two\n", acts.Replace("a.md", "two", "2")) == "one 2\n"

    def test_what_occurs_more_often_is_refused_with_its_lines(self) -> None:
        with pytest.raises(ChangeRefused, match="3 times, in lines 1, 1, 3"):
            note_after("x x\n\nx", acts.Replace("a.md", "x", "y"))

    def test_occurrences_that_overlap_count(self) -> None:
        with pytest.raises(ChangeRefused, match="2 times"):
            note_after("aaa", acts.Replace("a.md", "aa", "b"))

    @pytest.mark.parametrize("old", ["", "absent", "ONE"])
    def test_what_is_not_there_is_refused(self, old: str) -> None:
        with pytest.raises(ChangeRefused):
            note_after("one\n", acts.Replace("a.md", old, "b"))

    def test_two_that_overlap_are_refused(self) -> None:
        with pytest.raises(ChangeRefused, match="overlap"):
            note_after("abc", acts.Replace("a.md", "ab", "xb"), acts.Replace("a.md", "bc", "y"))

    def test_a_second_one_does_not_match_what_the_first_one_put_in(self) -> None:
        with pytest.raises(ChangeRefused, match="does not contain"):
            note_after("one", acts.Replace("a.md", "one", "two"), acts.Replace("a.md", "two", "3"))

    def test_neighbours_do_not_overlap(self) -> None:
        wished = (acts.Replace("a.md", "ab", "bc"), acts.Replace("a.md", "cd", "x"))
        assert note_after("abcd", *wished) == "bcx"

    def test_after_a_rename_the_first_text_still_counts(self) -> None:
        memory = memory_of({"a.md": "abc"})
        wished = [acts.Replace("a.md", "ab", "xb"), acts.Rename("a.md", "b.md")]
        with pytest.raises(ChangeRefused, match="overlap"):
            composed(memory, *wished, acts.Replace("b.md", "bc", "y"))

    def test_line_ends_are_those_of_the_file(self) -> None:
        wished = acts.Replace("a.md", "one\ntwo", "1\n2\n3")
        assert note_after("one\r\ntwo\r\n", wished) == "1\r\n2\r\n3\r\n"


class TestLines:
    @pytest.mark.parametrize(
        ("text", "after_line", "added", "result"),
        [
            ("", 0, "x", "x\n"),
            ("a", 1, "x", "a\nx\n"),
            ("a\r\n", 1, "x\ny", "a\r\nx\r\ny\r\n"),
            ("a\nb\n", 0, "x\n", "x\na\nb\n"),
            ("a\n\n\n", 1, "x", "a\nx\n\n\n"),
            ("a\x85b\u2028c\n", 1, "x", "a\x85b\u2028c\nx\n"),
        ],
    )
    def test_insert(self, text: str, after_line: int, added: str, result: str) -> None:
        assert note_after(text, acts.Insert("a.md", after_line, added)) == result

    @pytest.mark.parametrize("after_line", [-1, 2])
    def test_insert_outside_the_file_is_refused(self, after_line: int) -> None:
        with pytest.raises(ChangeRefused, match="1 lines"):
            note_after("a\n", acts.Insert("a.md", after_line, "x"))

    @pytest.mark.parametrize(
        ("text", "line", "old", "new", "result"),
        [
            ("a\nb\nc", 2, "b", "x", "a\nx\nc"),
            ("a\nb\nc", 3, "c", "x", "a\nb\nx"),
            ("a\r\nb  \r\n", 2, "b  ", "x", "a\r\nx\r\n"),
            ("a\nb\nc", 2, "b", None, "a\nc"),
            ("a\nb", 2, "b", None, "a\n"),
        ],
    )
    def test_edit_line(self, text: str, line: int, old: str, new: str | None, result: str) -> None:
        assert note_after(text, acts.EditLine("a.md", line, old, new)) == result

    @pytest.mark.parametrize(
        ("line", "old", "new"),
        [(1, "b", "x"), (0, "a", "x"), (4, "", "x"), (1, "a", "x\ny"), (1, "a", "x\r")],
    )
    def test_edit_of_a_line_that_is_not_what_it_was(self, line: int, old: str, new: str) -> None:
        with pytest.raises(ChangeRefused):
            note_after("a\nb\nc", acts.EditLine("a.md", line, old, new))

    @given(
        st.lists(st.sampled_from("abc"), min_size=1, max_size=6),
        st.data(),
        st.booleans(),
        st.sampled_from(["\n", "\r\n"]),
    )
    def test_a_moved_line_comes_after_the_other_and_no_line_is_lost(
        self, lines: list[str], data: st.DataObject, ended: bool, end: str
    ) -> None:
        named = [f"{line}{n}" for n, line in enumerate(lines)]
        text = end.join(named) + end * ended
        line = data.draw(st.integers(1, len(named)))
        to = data.draw(st.integers(0, len(named)))
        moved = note_after(text, acts.MoveLine("a.md", line, named[line - 1], to))
        assert moved.endswith(end) == ended
        result = moved.removesuffix(end).split(end)
        assert sorted(result) == sorted(named)
        rest = [it for it in result if it != named[line - 1]]
        assert rest == [it for it in named if it != named[line - 1]]
        at = result.index(named[line - 1])
        if to not in (line, line - 1):
            assert (result[at - 1] if at else None) == (named[to - 1] if to else None)


class TestRename:
    @pytest.mark.parametrize(
        ("written", "repaired"),
        [
            ("[T](tides.md)", "[T](ebb.md)"),
            ("[T](./tides.md)", "[T](./ebb.md)"),
            ("[T](<tides.md>)", "[T](<ebb.md>)"),
            ("[T](tid%65s.md)", "[T](ebb.md)"),
            ('[T](tides.md "a](b) title")', '[T](ebb.md "a](b) title")'),
            ("[T](tides.md#spring)", "[T](ebb.md#spring)"),
            ("[T](tides.md?x=1#y)", "[T](ebb.md?x=1#y)"),
            ("[a [b](c) d](tides.md)", "[a [b](c) d](ebb.md)"),
            ("![T](tides.md)", "![T](ebb.md)"),
            ("[t]: tides.md", "[t]: ebb.md"),
            ("[t]: <tides.md> 'x'", "[t]: <ebb.md> 'x'"),
            ("[[tides]]", "[[ebb]]"),
            ("[[Tides]]", "[[ebb]]"),
            ("[[tides.md]]", "[[ebb]]"),
            ("[[tides#Spring]]", "[[ebb#Spring]]"),
            ("[[tides|The tides]]", "[[ebb|The tides]]"),
            ("| [[tides\\|T]] |", "| [[ebb\\|T]] |"),
            ("![[tides]]", "![[ebb]]"),
            ("`[[tides]]` \\[[tides]] <!-- [[tides]] -->", None),
            ("[T](https://x.org/tides.md) tides.md [[tidesx]]", None),
        ],
    )
    def test_links_of_every_form_follow(self, written: str, repaired: str | None) -> None:
        memory = memory_of({"tides.md": "x", "a.md": f"é🦑 {written} t\r\n"})
        if written.startswith("[t]:"):
            memory = memory_of({"tides.md": "x", "a.md": f"{written}\r\n"})
        result = after(memory, acts.Rename("tides.md", "ebb.md"))
        text = memory.by_path["a.md"].text
        assert result.pop("a.md", text) == text.replace(written, repaired or written)
        assert result == {"tides.md": None, "ebb.md": "x"}

    def test_with_spaces_and_brackets_in_the_old_name(self) -> None:
        text = "[a](<my tides(1).md>) [b](my%20tides(1).md#x) [[my tides(1)]]"
        memory = memory_of({"my tides(1).md": "x", "a.md": text})
        result = after(memory, acts.Rename("my tides(1).md", "ebb.md"))
        assert result["a.md"] == "[a](<ebb.md>) [b](ebb.md#x) [[ebb]]"

    def test_by_name_path_alias_and_from_folders(self) -> None:
        head = "---\nname: The Tides\naliases: [sea]\n---\n"
        memory = memory_of(
            {
                "sub/tides.md": head
                + "[[The Tides]] [me](tides.md) [[b]] [b](../b.md) ![p](p.png)",
                "sub/p.png": b"png",
                "b.md": "[[The Tides]] [[sea]] [[sub/tides|x]] [y](sub/tides.md)",
                "sub/c.md": "[y](tides.md) [z](sub/tides.md)",
            }
        )
        result = after(memory, acts.Rename("sub/tides.md", "ebb.md", "Ebb"))
        assert result["ebb.md"] == (
            head.replace("The Tides", "Ebb")
            + "[[Ebb]] [me](ebb.md) [[b]] [b](b.md) ![p](sub/p.png)"
        )
        assert result["b.md"] == "[[Ebb]] [[sea]] [[ebb|x]] [y](ebb.md)"
        assert result["sub/c.md"] == "[y](../ebb.md) [z](../ebb.md)"

    def test_links_outside_the_memory_follow_the_note(self) -> None:
        memory = memory_of({"a.md": "[r](../README.md) [s](/etc/x.md)", "sub/b.md": ""})
        result = after(memory, acts.Rename("a.md", "sub/a.md"))
        assert result["sub/a.md"] == "[r](../../README.md) [s](/etc/x.md)"

    def test_the_entry_follows_and_keeps_its_words(self, memory: Memory) -> None:
        result = after(memory, acts.Rename("tides.md", "ebb.md"))
        assert result["MEMORY.md"] == INDEX.replace("tides.md", "ebb.md")

    def test_a_name_alone_can_change(self) -> None:
        memory = memory_of({"x.md": note_text("tides"), "b.md": "[[tides]] [[x]]"})
        result = after(memory, acts.Rename("x.md", "x.md", "ebb"))
        assert result == {"x.md": note_text("ebb"), "b.md": "[[ebb]] [[x]]"}

    def test_a_link_that_the_new_name_would_catch_goes_on_leading_where_it_led(self) -> None:
        memory = memory_of({"a.md": "x", "deploy_steps.md": "y", "c.md": "[[deploy-steps]] [[a]]"})
        result = after(memory, acts.Rename("a.md", "deploy-steps.md"))
        assert result["c.md"] == "[[deploy_steps]] [[deploy-steps]]"

    def test_two_notes_of_one_name_are_distinguished(self) -> None:
        memory = memory_of({"x.md": "1", "sub/y.md": "2", "sub/a.md": "[[x]]", "b.md": "[[y]]"})
        result = after(memory, acts.Rename("x.md", "y.md"))
        assert result["sub/a.md"] == "[[../y]]"
        assert result["b.md"] == "[[sub/y]]"

    def test_where_it_came_from_is_reported(self, memory: Memory) -> None:
        wished = [acts.Rename("tides.md", "b.md"), acts.Rename("b.md", "c.md")]
        edits = {edit.path: edit for edit in composed(memory, *wished).edits}
        assert edits["c.md"].moved_from == "tides.md"
        assert edits["tides.md"].after is None
        assert "b.md" not in edits

    def test_there_and_back_is_nothing(self, memory: Memory) -> None:
        wished = [acts.Rename("tides.md", "b.md"), acts.Rename("b.md", "tides.md")]
        assert not composed(memory, *wished)

    def test_a_path_that_was_freed_and_taken_again_did_not_move(self, memory: Memory) -> None:
        wished = [
            acts.Rename("tides.md", "b.md"),
            acts.Rename("b.md", "c.md"),
            acts.Create("b.md", "new", ""),
        ]
        edits = {edit.path: edit for edit in composed(memory, *wished).edits}
        assert (edits["b.md"].moved_from, edits["c.md"].moved_from) == ("", "tides.md")

    @pytest.mark.parametrize(
        ("head", "repaired"),
        [
            ("sources: [raw/t.md, x]", "sources: [raw/u.md, x]"),
            ("sources:\n  - 'raw/t.md'  # c", "sources:\n  - 'raw/u.md'  # c"),
            ('related: ["[[t]]"]', 'related: ["[[u]]"]'),
            ("related: [[t]]", "related: [[u]]"),
            ("related: t", "related: u"),
            ("related: t.md", "related: u.md"),
            ("sources: ../raw/t.md", "sources: ../raw/u.md"),
        ],
    )
    def test_frontmatter_that_names_it_is_updated(self, head: str, repaired: str) -> None:
        page = f"---\ntitle: page\n{head}\n---\nraw/t.md stays, t too\n"
        memory = memory_of({"raw/t.md": "x", "wiki/page.md": page, "index.md": ""}, WIKI)
        change_set = composed(memory, acts.Rename("raw/t.md", "raw/u.md"))
        edits = {edit.path: (edit.after or b"").decode() for edit in change_set.edits}
        assert edits["wiki/page.md"] == page.replace(head, repaired)
        assert change_set.warnings == ()

    def test_frontmatter_in_which_the_place_is_not_certain_is_reported(self) -> None:
        page = "---\nsources: [t]\nrelated: [t]\n---\n"
        memory = memory_of({"t.md": "x", "page.md": page})
        change_set = composed(memory, acts.Rename("t.md", "u.md"))
        assert "page.md" not in {edit.path for edit in change_set.edits}
        assert "still names t" in change_set.warnings[0]

    @pytest.mark.parametrize("path", ["MEMORY.md", "deploy.md"])
    def test_an_index_keeps_its_name_and_none_is_taken(self, memory: Memory, path: str) -> None:
        with pytest.raises(ChangeRefused):
            composed(memory, acts.Rename(path, "memory.md" if path == "deploy.md" else "x.md"))
        with pytest.raises(ChangeRefused):
            composed(memory_of({"a.md": ""}), acts.Rename("a.md", "MEMORY.md"))

    def test_to_another_memory(self) -> None:
        text = note_text("tides", "[[deploy]] and ![p](p.png) [[tides]] [[nowhere]]\n")
        memory = memory_of(
            {
                "MEMORY.md": INDEX,
                "tides.md": b"\xef\xbb\xbf" + text.encode(),
                "deploy.md": "See [the tides](tides.md).\n",
                "p.png": b"png",
            }
        )
        other = memory_of({"MEMORY.md": "* [x](x.md): y\n", "x.md": "x"}, root="/other")
        act = acts.Rename("tides.md", "ebb.md", "ebb", root="/other")
        change_set = compose(memory, [Change(act)], others={"/other": other})
        edits = {edit.key: edit for edit in change_set.edits}
        moved = edits["/other", "ebb.md"]
        assert (moved.moved_from_root, moved.moved_from) == (ROOT, "tides.md")
        body = "deploy and p tides [[nowhere]]\n"
        assert moved.after == b"\xef\xbb\xbf" + note_text("ebb", body).encode()
        line = "* [ebb](ebb.md): Which port the tables are for\n"
        assert edits["/other", "MEMORY.md"].after == f"* [x](x.md): y\n{line}".encode()
        assert edits[ROOT, "deploy.md"].after == b"See the tides.\n"
        assert edits[ROOT, "tides.md"].after is None
        assert b"tides" not in (edits[ROOT, "MEMORY.md"].after or b"")
        with pytest.raises(ChangeRefused, match="not an open memory"):
            compose(memory, [Change(act)])


class TestAnotherName:
    """Links by name follow, whichever act gives a note its new name."""

    FILES: Mapping[str, str] = {
        "a.md": note_text("old-name", "Of [[old-name]] itself.\n"),
        "b.md": "See [[old-name|it]], [[a]] and [it](a.md).\n",
        "c.md": "---\nrelated: [old-name]\n---\n",
    }

    def test_a_field(self) -> None:
        result = after(memory_of(self.FILES), acts.SetField("a.md", "name", "new name"))
        assert result == {
            "a.md": note_text("new name", "Of [[new name]] itself.\n"),
            "b.md": "See [[new name|it]], [[a]] and [it](a.md).\n",
            "c.md": "---\nrelated: [new name]\n---\n",
        }

    def test_a_text_that_is_written_whole_keeps_its_own_links(self) -> None:
        text = note_text("new name", "Of [[old-name]] itself.\n")
        result = after(memory_of(self.FILES), acts.Rewrite("a.md", text))
        assert result["a.md"] == text
        assert result["b.md"] == "See [[new name|it]], [[a]] and [it](a.md).\n"

    def test_a_name_by_which_nobody_links_touches_one_file(self) -> None:
        memory = memory_of({"a.md": note_text("old"), "b.md": "[[a]]"})
        assert after(memory, acts.SetField("a.md", "name", "new")) == {"a.md": note_text("new")}

    def test_a_protected_note_is_not_changed_and_reported(self) -> None:
        change = Change(acts.SetField("a.md", "name", "new"), "", RULE)
        change_set = compose(memory_of(self.FILES), [change], protected=["b.md"])
        assert {edit.path for edit in change_set.edits} == {"a.md", "c.md"}
        assert change_set.warnings == ("Link not updated: b.md is protected.",)


class TestRetire:
    def test_entries_leave_with_the_lines_that_belong_to_them(self) -> None:
        index = (
            "# M\n- [A](a.md) — x\n  more of it\n  - and this\n- [B](b.md)\n  - [A2](a.md)\n"
            "| [A](a.md) | x |\n| [B](b.md) | see [A](a.md) |\n- [B](b.md) and [A](a.md)\n"
            "As [A](a.md) says, ![[a]] `[[a]]`.\n- [A](a.md)"
        )
        result = after(
            memory_of({"MEMORY.md": index, "a.md": "1", "b.md": "2"}), acts.Retire("a.md")
        )
        assert result == {
            "a.md": None,
            "MEMORY.md": "# M\n- [B](b.md)\n| [B](b.md) | see A |\n- [B](b.md) and A\n"
            "As A says, a `[[a]]`.\n",
        }

    def test_a_line_that_another_note_shares_stays(self) -> None:
        files = {"MEMORY.md": "- [A](a.md) and [B](b.md)\n", "a.md": "1", "b.md": "2"}
        result = after(memory_of(files), acts.Retire("a.md"))
        assert result["MEMORY.md"] == "- A and [B](b.md)\n"

    def test_links_go_to_the_successor_and_its_own_become_text(self) -> None:
        memory = memory_of(
            {"a.md": "1", "b.md": "[[a|old]] ![[a]]", "c.md": "[[a#x|y]] [t](a.md) ![[a]]"}
        )
        result = after(memory, acts.Retire("a.md", "b.md"))
        assert result == {"a.md": None, "b.md": "old a", "c.md": "[[b#x|y]] [t](b.md) ![[b]]"}

    @pytest.mark.parametrize(
        ("text", "left"),
        [
            ("See [it][x], [X][], ![x] and [b].\n\n[x]: a.md\n", "See it, X, x and [b].\n\n"),
            (
                "[x]: <a.md> 'its title'\r\nAs [two\r\nlines][X] say.\r\n",
                "As two\r\nlines say.\r\n",
            ),
            ("- [x] done, see [ x ]\n[x]: a.md", "- [x] done, see  x \n"),
            (
                "`[x]` \\[x] [a [x](b.md)][x] [t][b][x]\n[x]: a.md\n",
                "`[x]` \\[x] a [x](b.md) [t]b\n",
            ),
            ("[x]\n  [x]: a.md\n[x]: b.md\n", "x\n[x]: b.md\n"),
            ("[x]\n[x]: b.md\n[x]: a.md\n", "[x]\n[x]: b.md\n"),
            ("[x]: a.md tells more\n", "x: tells more\n"),
            (
                "<!-- [x] --> [x](a.md)\n```\n[x]\n```\n[x]: a.md\n",
                "<!-- [x] --> x\n```\n[x]\n```\n",
            ),
        ],
    )
    def test_a_definition_goes_and_what_uses_it_becomes_text(self, text: str, left: str) -> None:
        memory = memory_of({"a.md": "1", "b.md": "2", "c.md": text})
        assert after(memory, acts.Retire("a.md"))["c.md"] == left
        moved = after(memory, acts.Rename("a.md", "z.md"))["c.md"]
        assert moved == text.replace("a.md", "z.md")

    def test_a_definition_in_an_index_goes_too(self) -> None:
        index = "- [A][x] - one\n- [B](b.md)\n\n[x]: a.md\n"
        result = after(
            memory_of({"MEMORY.md": index, "a.md": "1", "b.md": "2"}), acts.Retire("a.md")
        )
        assert result["MEMORY.md"] == "- A - one\n- [B](b.md)\n\n"

    def test_frontmatter_that_names_it_names_the_successor_or_is_reported(self) -> None:
        page = "---\nrelated: [a]\n---\n"
        memory = memory_of({"a.md": "1", "b.md": "2", "page.md": page})
        assert after(memory, acts.Retire("a.md", "b.md"))["page.md"] == page.replace("a]", "b]")
        change_set = composed(memory, acts.Retire("a.md"))
        assert change_set.warnings == ("The frontmatter of page.md still names a.md.",)

    @pytest.mark.parametrize(
        ("path", "successor"),
        [("MEMORY.md", ""), ("tides.md", "tides.md"), ("tides.md", "no.md"), ("no.md", "")],
    )
    def test_what_cannot_be_retired(self, memory: Memory, path: str, successor: str) -> None:
        with pytest.raises(ChangeRefused):
            composed(memory, acts.Retire(path, successor))


class TestMerge:
    def test_merge(self) -> None:
        memory = memory_of(
            {
                "MEMORY.md": "- [A](a.md)\n- [B](b.md)\n",
                "a.md": note_text("one"),
                "b.md": note_text("two"),
                "c.md": "[[one]] [[two]] [x](b.md)",
            }
        )
        result = after(memory, acts.Merge("a.md", "b.md", note_text("both", "See [[two]].\n")))
        assert result == {
            "MEMORY.md": "- [A](a.md)\n",
            "a.md": note_text("both", "See two.\n"),
            "b.md": None,
            "c.md": "[[both]] [[both]] [x](a.md)",
        }

    def test_line_ends_stay(self) -> None:
        memory = memory_of({"a.md": "x\r\ny\r\n", "b.md": "z"})
        assert after(memory, acts.Merge("a.md", "b.md", "x\ny\nz\n"))["a.md"] == "x\r\ny\r\nz\r\n"


class TestAddLink:
    @pytest.mark.parametrize(
        ("text", "result"),
        [
            ("", "Related: [[deploy]]\n"),
            ("x", "x\n\nRelated: [[deploy]]\n"),
            ("x\r\n", "x\r\n\r\nRelated: [[deploy]]\r\n"),
            ("x\n\n", "x\n\nRelated: [[deploy]]\n"),
        ],
    )
    def test_at_the_end(self, text: str, result: str) -> None:
        memory = memory_of({"a.md": text, "deploy.md": ""})
        assert after(memory, acts.AddLink("a.md", "deploy.md")) == {"a.md": result}

    def test_it_links_to_the_note_that_was_meant(self) -> None:
        memory = memory_of({"a.md": "", "x.md": "", "sub/x.md": "", "a|b.md": "", "sub/b.md": ""})
        assert after(memory, acts.AddLink("a.md", "sub/x.md"))["a.md"] == "Related: [[sub/x]]\n"
        assert after(memory, acts.AddLink("sub/b.md", "x.md"))["sub/b.md"] == "Related: [[../x]]\n"
        assert after(memory, acts.AddLink("a.md", "a|b.md"))["a.md"] == "Related: [a|b](a%7Cb.md)\n"


class TestWhoMayChangeWhat:
    FILES: Mapping[str, str | bytes] = {
        "index.md": "- [[pinned]]\n- [[free]]\n",
        "wiki/pinned.md": "---\npinned: true # mine\n---\n[[free]]\n",
        "wiki/locked.md": "---\nread_only: 'Yes'\n---\n",
        "wiki/broken.md": "---\na: b: c\npinned: true # mine\n---\n",
        "raw/source.md": "x",
        "wiki/marked.md": "y",
        "wiki/free.md": "z",
    }
    PROTECTED = (
        "wiki/pinned.md",
        "wiki/locked.md",
        "wiki/broken.md",
        "raw/source.md",
        "wiki/marked.md",
    )

    @pytest.mark.parametrize("path", PROTECTED)
    @pytest.mark.parametrize("author", [CURATOR, RULE, USER])
    def test_protected_notes(self, path: str, author: Author) -> None:
        memory = memory_of(self.FILES, WIKI)
        for act in (
            acts.Rewrite(path, "other"),
            acts.Insert(path, 0, "x"),
            acts.Retire(path),
            acts.Retire(path, "wiki/free.md"),
            acts.Rename(path, "wiki/new.md"),
            acts.Merge("wiki/free.md", path, "x"),
            acts.Merge(path, "wiki/free.md", "x"),
            acts.AddLink(path, "wiki/free.md"),
        ):
            changes = [Change(act, "", author)]
            if author is USER:
                compose(memory, changes, protected=["wiki/marked.md"])
            else:
                with pytest.raises(ChangeRefused, match="protected"):
                    compose(memory, changes, protected=["wiki/marked.md"])

    def test_a_repair_does_not_reach_a_protected_note(self) -> None:
        memory = memory_of(self.FILES, WIKI)
        change_set = composed(memory, acts.Retire("wiki/free.md"), author=CURATOR)
        assert "wiki/pinned.md" not in {edit.path for edit in change_set.edits}
        assert change_set.warnings == ("Link not updated: wiki/pinned.md is protected.",)
        assert "wiki/pinned.md" in {
            edit.path for edit in composed(memory, acts.Retire("wiki/free.md")).edits
        }

    def test_a_rename_by_the_user_does_not_unprotect(self) -> None:
        memory = memory_of(self.FILES, WIKI)
        changes = [
            Change(acts.Rename("wiki/pinned.md", "wiki/n.md")),
            Change(acts.Insert("wiki/n.md", 0, "x"), "", CURATOR),
        ]
        with pytest.raises(ChangeRefused, match="protected"):
            compose(memory, changes)

    def test_a_read_only_kind_of_memory_is_not_changed(self) -> None:
        memory = memory_of({"a.md": "x", "b.md": "[[a]]"}, MEMORY_FILES)
        for act in (acts.Create("c.md", ""), acts.Rewrite("a.md", ""), acts.Retire("a.md"),
                    acts.Rename("a.md", "c.md"), acts.SetField("a.md", "x", "y")):  # fmt: skip
            with pytest.raises(ChangeRefused, match="Letta"):
                composed(memory, act)

    @pytest.mark.parametrize(
        ("facts", "told"), [({"is_writable": False}, "read-only"), ({"links": 2}, "hard-linked")]
    )
    def test_file_facts(self, facts: dict[str, int], told: str) -> None:
        note = read_note("a.md", b"x\n", FileFacts(2, 0.0, 1, 1, **facts), AUTO_MEMORY)
        memory = Memory(ROOT, AUTO_MEMORY, (note,))
        for act in (acts.Rewrite("a.md", "y"), acts.Retire("a.md"), acts.Rename("a.md", "b.md")):
            if "links" in facts:
                assert told in composed(memory, act).warnings[0]
            else:
                with pytest.raises(ChangeRefused, match=told):
                    composed(memory, act)

    @pytest.mark.parametrize(
        ("raw", "whole", "lines", "gone"),
        [
            (b"caf\xe9", False, False, True),
            ("x".encode("utf-16"), False, False, True),
            (b"\0" * 9, False, False, True),
            (b"text with one \0\n", True, False, True),
            (b"a\r\nb\n", True, False, True),
            (b"a\rb\r", True, False, True),
            (b"x" * 2_000_000, False, False, False),
        ],
    )
    def test_contents(self, raw: bytes, whole: bool, lines: bool, gone: bool) -> None:
        memory = memory_of({"a.md": raw})
        for act, allowed in (
            (acts.Rewrite("a.md", "y"), whole),
            (acts.Insert("a.md", 0, "x"), lines),
            (acts.SetField("a.md", "x", "y"), lines),
            (acts.Replace("a.md", "a", "y"), lines),
            (acts.Retire("a.md"), gone),
            (acts.Rename("a.md", "b.md"), gone),
        ):
            if allowed:
                composed(memory, act)
            else:
                with pytest.raises(ChangeRefused):
                    composed(memory, act)

    def test_what_cannot_be_read_is_not_taken_away(self) -> None:
        for trouble in (ReadError.NO_PERMISSION, ReadError.NOT_REGULAR, ReadError.VANISHED):
            note = create_unreadable_note("a.md", FileFacts(9, 0.0, 1, 1), AUTO_MEMORY, trouble)
            for act in (acts.Retire("a.md"), acts.Rename("a.md", "b.md")):
                with pytest.raises(ChangeRefused, match=trouble.value):
                    composed(Memory(ROOT, AUTO_MEMORY, (note,)), act)

    def test_nobody_but_the_user_retires_what_cannot_be_read_as_text(self) -> None:
        with pytest.raises(ChangeRefused, match="UTF-8"):
            composed(memory_of({"a.md": b"\xe9"}), acts.Retire("a.md"), author=CURATOR)

    @pytest.mark.parametrize("path", ["a\nb.md", "a\x1b.md", "a\u202eb.md", "a\udce9.md"])
    def test_a_name_that_cannot_be_shown_is_renamed_first(self, path: str) -> None:
        note = read_note(path, b"x", FileFacts(1, 0.0, 1, 1), AUTO_MEMORY)
        memory = Memory(ROOT, AUTO_MEMORY, (note,))
        with pytest.raises(ChangeRefused, match="Rename it first"):
            composed(memory, acts.Rewrite(path, "y"))
        assert after(memory, acts.Rename(path, "ok.md"), acts.Rewrite("ok.md", "y"))["ok.md"] == "y"

    def test_a_link_that_cannot_follow_is_reported(self) -> None:
        source = read_note(
            "s.md", b"[[a]]", FileFacts(5, 0.0, 1, 1, is_writable=False), AUTO_MEMORY
        )
        memory = memory_of({"a.md": "x"}).with_files({"s.md": source})
        change_set = composed(memory, acts.Rename("a.md", "b.md"))
        assert "s.md cannot be changed" in change_set.warnings[0]
        assert {edit.path for edit in change_set.edits} == {"a.md", "b.md"}


def test_a_single_file_is_written_whole_and_once(memory: Memory) -> None:
    act = acts.WriteFile("/project", "HANDOFF.md", b"old", "new")
    (edit,) = composed(memory, act).edits
    assert edit.is_single_file
    assert (edit.key, edit.before, edit.after) == (("/project", "HANDOFF.md"), b"old", b"new")
    with pytest.raises(ChangeRefused, match="twice"):
        composed(memory, act, act)


def test_byte_order_marks_stay(memory: Memory) -> None:
    marked = memory_of({"a.md": b"\xef\xbb\xbfone\n"})
    for act in (acts.Insert("a.md", 1, "x"), acts.Rewrite("a.md", "y"), acts.Rename("a.md", "b.md"),
                acts.SetField("a.md", "name", "z")):  # fmt: skip
        assert all(
            edit.after is None or edit.after.startswith(b"\xef\xbb\xbf")
            for edit in composed(marked, act).edits
        )


def test_reason_and_author_of_a_set(memory: Memory) -> None:
    changes = [
        Change(acts.Insert("tides.md", 0, "x"), "one", USER),
        Change(acts.Insert("tides.md", 0, "x"), "two", USER),
        Change(acts.Insert("tides.md", 0, "x"), "one", CURATOR),
    ]
    change_set = compose(memory, changes)
    assert (change_set.reason, change_set.author) == ("one; two", None)
    assert compose(memory, changes[:2]).author == USER
    assert CURATOR.label == "curator a-model 3"
