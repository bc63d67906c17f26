"""Mending all that can be mended: whole fixes, nothing new, nothing protected, one order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ricordo.agents.agent import MemoryPlace
from ricordo.agents.claude.location import AUTO_MEMORY
from ricordo.errors import ChangeRefused
from ricordo.memory.change import Edit
from ricordo.memory.memory import Memory
from ricordo.services.edits.fix import FixPlan, apply_edits, compose_fix, format_diff, plan_fixes
from ricordo.services.workspace.environment import Environment
from ricordo.services.workspace.notebook import Notebook
from ricordo.settings.settings import Settings
from ricordo.storage.decisions import Decision
from tests.conftest import NOW
from tests.support.builders import note_text, write_memory

Open = Callable[[Mapping[str, str]], Notebook]


def open_notebook(base: Path, files: Mapping[str, str]) -> Notebook:
    """Return a notebook of a memory of `files` under `base`, recorded once."""
    root = base / "memory"
    root.mkdir(parents=True)
    write_memory(root, files)
    folders = {name: str(base / name) for name in ("state", "config")}
    environment = Environment(str(base), {"HOME": str(base)}, str(base), **folders, fixed_now=NOW)
    return Notebook(MemoryPlace(str(root), AUTO_MEMORY, str(root), ""), environment, Settings())


@pytest.fixture
def notebook(tmp_path: Path) -> Open:
    return lambda files: open_notebook(tmp_path, files)


def texts(plan: FixPlan) -> dict[str, str | None]:
    return {
        edit.path: None if edit.after is None else edit.after.decode()
        for edit in plan.change_set.edits
    }


def why(plan: FixPlan) -> dict[str, str]:
    return {left.finding.rule: left.reason for left in plan.unfixed}


def test_safe_fixes_are_made_and_the_others_told(notebook: Open) -> None:
    book = notebook(
        {
            "MEMORY.md": "- [Tides](tides.md) — port\n- [Gone](gone.md) — away\n",
            "tides.md": note_text("tides"),
            "ports.md": note_text("ports"),
        }
    )
    plan = plan_fixes(book, book.read_snapshot(), unsafe=False)
    # behind the last entry whose note has the same type
    assert texts(plan) == {
        "MEMORY.md": "- [Tides](tides.md) — port\n"
        "- [ports](ports.md) — Which port the tables are for\n"
        "- [Gone](gone.md) — away\n"
    }
    assert [it.rule for it in plan.fixed] == ["unindexed-note"]
    assert why(plan) == {
        "index-missing-file": "fix not safe; F in the notebook shows it, --unsafe makes it"
    }
    assert plan.change_set.reason == "add an entry to MEMORY.md"
    author = plan.change_set.author
    assert author is not None
    assert author.label == "rule unindexed-note"


def test_the_two_names_of_a_file_are_parted_by_no_fix_that_nobody_sees(notebook: Open) -> None:
    index = "# Memory\n\n- [Ports](ports.md) — where\n"
    notes = {name: note_text(name[:-3]) for name in ("ports.md", "tides.md")}
    book = notebook({"MEMORY.md": index, **notes})
    root = Path(book.place.root)
    (root.parent / "other").hardlink_to(root / "MEMORY.md")
    plan = plan_fixes(book, book.read_snapshot(), unsafe=False)
    assert texts(plan) == {}
    assert "hard-linked (outside the memory)" in why(plan)["unindexed-note"]
    assert "F in the notebook asks" in why(plan)["unindexed-note"]
    seen = plan_fixes(book, book.read_snapshot(), unsafe=True)
    assert "hard-linked" in seen.change_set.warnings[0]
    assert "tides.md" in str(texts(seen)["MEMORY.md"])


def test_an_entry_is_repointed_before_another_one_is_added(notebook: Open) -> None:
    book = notebook(
        {"MEMORY.md": "- [Tides](Tides-Now.md) — port\n", "tides_now.md": note_text("tides")}
    )
    plan = plan_fixes(book, book.read_snapshot(), unsafe=False)
    assert texts(plan) == {"MEMORY.md": "- [Tides](tides_now.md) — port\n"}
    assert {it.rule for it in plan.fixed} >= {"index-missing-file"}
    assert plan.unfixed == ()


def listed(count: int) -> tuple[str, dict[str, str]]:
    """Return an index of `count` entries, and the notes that it lists."""
    names = [f"listed{number}" for number in range(count)]
    entries = "".join(f"- [{name}]({name}.md) — hook\n" for name in names)
    return entries, {f"{name}.md": note_text(name) for name in names}


def test_no_entry_is_added_that_fills_the_index(notebook: Open) -> None:
    entries, notes = listed(148)
    files = {f"note{n}.md": note_text(f"note{n}") for n in range(5)}
    book = notebook({"MEMORY.md": "# Memory\n\n" + entries, **notes, **files})
    plan = plan_fixes(book, book.read_snapshot(), unsafe=False, only=frozenset(("unindexed-note",)))
    # 150 of 200 lines are not over 75 %
    assert texts(plan) == {}
    assert why(plan) == {"unindexed-note": "the fix would add a finding, index-near-budget"}


def test_as_many_entries_are_added_as_the_index_holds(notebook: Open) -> None:
    entries, notes = listed(145)
    files = {f"note{n}.md": note_text(f"note{n}") for n in range(5)}
    book = notebook({"MEMORY.md": "# Memory\n\n" + entries, **notes, **files})
    plan = plan_fixes(book, book.read_snapshot(), unsafe=False, only=frozenset(("unindexed-note",)))
    added = [line for line in str(texts(plan)["MEMORY.md"]).split("\n") if "](note" in line]
    assert [line[3:8] for line in added] == ["note0", "note1", "note2"]


@pytest.mark.parametrize("unsafe", [False, True])
def test_nothing_is_added_to_an_index_of_which_not_all_is_loaded(
    notebook: Open, unsafe: bool
) -> None:
    entries, notes = listed(213)
    files = {f"note{n}.md": note_text(f"note{n}") for n in range(8)}
    book = notebook({"MEMORY.md": entries, **notes, **files})
    look = book.read_snapshot()
    plan = plan_fixes(book, look, unsafe=unsafe, only=frozenset(("unindexed-note",)))
    assert texts(plan) == {}
    assert len(plan.unfixed) == 8
    assert look.memory.load.cut_at_line == 201


def test_an_entry_that_would_not_be_loaded_is_not_offered(notebook: Open) -> None:
    entries, notes = listed(213)
    book = notebook({"MEMORY.md": entries, **notes, "more.md": note_text("more")})
    (found,) = (it for it in book.read_snapshot().findings if it.rule == "unindexed-note")
    assert found.fix is None
    assert "no room left" in found.evidence[0]


def test_what_would_add_a_finding_is_refused_one_by_one_too(notebook: Open) -> None:
    entries, notes = listed(150)
    book = notebook({"MEMORY.md": entries, **notes, "more.md": note_text("more")})
    look = book.read_snapshot()
    (found,) = (it for it in look.findings if it.rule == "unindexed-note")
    plan = plan_fixes(book, look, unsafe=True, only=frozenset(("unindexed-note",)))
    assert why(plan) == {"unindexed-note": "the fix would add a finding, index-near-budget"}
    with pytest.raises(ChangeRefused, match="would add a finding, index-near-budget"):
        compose_fix(book, look, [found])


def test_an_entry_that_would_be_loaded_is_added_though_others_are_not(notebook: Open) -> None:
    # of the notes of one type all entries stand above the cut: only unsafe, and nothing is lost
    entries, notes = listed(190)
    long = "".join(f"- [{n}](listed{n}.md) — {'word ' * 30}\n" for n in range(60))
    note = note_text("more", type_="feedback")
    first = {"first.md": note_text("first", type_="feedback"), "more.md": note}
    book = notebook({"MEMORY.md": "- [First](first.md) — x\n" + entries + long, **notes, **first})
    look = book.read_snapshot()
    plan = plan_fixes(book, look, unsafe=True, only=frozenset(("unindexed-note",)))
    after = apply_edits(look.memory, plan.change_set.edits)
    assert set(look.memory.load.text.split("\n")) <= set(after.load.text.split("\n"))


@pytest.mark.parametrize("unsafe", [False, True])
def test_room_made_below_the_cut_is_not_filled_above_it(notebook: Open, unsafe: bool) -> None:
    listed = {f"f{n}.md": note_text(f"f{n}", type_="feedback") for n in range(210)}
    above, missed = ({f"{of}.md": note_text(of) for of in names} for names in ("a", "xyz"))
    entries = [f"- [{path}]({path}) — hook" for path in (*above, *listed)]
    index = "\n".join([*entries, *entries[-10:], ""])
    book = notebook({"MEMORY.md": index, **listed, **above, **missed})
    look = book.read_snapshot()
    plan = plan_fixes(book, look, unsafe=unsafe)
    after = apply_edits(look.memory, plan.change_set.edits)
    assert after.load.lines == 211
    assert after.load.text == look.memory.load.text
    if unsafe:
        assert why(plan)["unindexed-note"] == "no automatic fix"


def test_several_dead_links_of_one_line_are_all_fixed(notebook: Open) -> None:
    body = "[a](x.md), [b](x.md) and [c](y.md)\n"
    book = notebook({"MEMORY.md": "- [T](t.md) — t\n", "t.md": note_text("t", body)})
    plan = plan_fixes(book, book.read_snapshot(), unsafe=True)
    assert texts(plan) == {"t.md": note_text("t", "a, b and c\n")}
    assert plan.unfixed == ()


def test_a_fix_is_made_whole_or_not_at_all(notebook: Open) -> None:
    # the head is made in three steps; the type cannot be told, and two of three are none
    others = {f"n{n}.md": note_text(f"n{n}") for n in range(4)}
    entries = "".join(f"- [{path}]({path}) — hook\n" for path in ("x.md", *others))
    book = notebook({"MEMORY.md": entries, "x.md": "The text of it is short.\n", **others})
    plan = plan_fixes(book, book.read_snapshot(), unsafe=True)
    assert texts(plan) == {}
    assert why(plan)["frontmatter-missing"] == "the fix would add a finding, frontmatter-incomplete"


def test_a_protected_note_is_not_fixed(notebook: Open) -> None:
    files = {
        "MEMORY.md": "- [T](t.md) — t\n- [U](u.md) — u\n",
        "t.md": note_text("t", "See [it](U-.md) and [u](y.md).\n"),
        "u.md": note_text("u", "See [it](x.md).\n"),
    }
    book = notebook(files)
    book.decisions.decide(Decision.PROTECT, ["t.md"], NOW)
    plan = plan_fixes(book, book.read_snapshot(), unsafe=True)
    assert texts(plan) == {"u.md": note_text("u", "See it.\n")}
    assert {left.reason for left in plan.unfixed} == {"the note is protected"}


def test_a_note_that_its_head_protects_is_left(notebook: Open) -> None:
    text = note_text("t", "See [it](x.md).\n").replace("metadata:", "pinned: true\nmetadata:")
    book = notebook({"MEMORY.md": "- [T](t.md) — t\n", "t.md": text})
    plan = plan_fixes(book, book.read_snapshot(), unsafe=True)
    assert texts(plan) == {}
    assert why(plan) == {"dead-link": "the note is protected"}


def test_a_secret_is_never_fixed_automatically(notebook: Open) -> None:
    book = notebook(
        {"MEMORY.md": "- [T](t.md) — t\n", "t.md": note_text("t", "password: Zr8kLm2qqP9xW4tV\n")}
    )
    look = book.read_snapshot()
    plan = plan_fixes(book, look, unsafe=True)
    assert texts(plan) == {}
    assert why(plan) == {"secret": "the fix asks first; F in the notebook makes it"}
    # asked for by itself, it masks the value
    masked = compose_fix(book, look, look.findings).edits[0].after
    assert masked is not None
    assert b"Zr8kLm2qqP9xW4tV" not in masked


def test_a_finding_without_fix_is_refused(notebook: Open) -> None:
    book = notebook({"MEMORY.md": "- [T](t.md) — t\n", "t.md": note_text("t")})
    look = book.read_snapshot()
    with pytest.raises(ChangeRefused):
        compose_fix(book, look, look.findings)


def test_a_dismissed_finding_does_not_come_back_in_other_words(notebook: Open) -> None:
    body = "It broke yesterday, see [it](x.md).\n"
    book = notebook({"MEMORY.md": "- [T](t.md) — t\n", "t.md": note_text("t", body)})
    relative = next(it for it in book.read_snapshot().findings if it.rule == "relative-date")
    book.dismiss(relative.id)
    plan = plan_fixes(book, book.read_snapshot(), unsafe=True)
    assert texts(plan) == {}
    assert why(plan)["dead-link"] == "the fix would add a finding, relative-date"


def test_only_the_requested_rules_are_fixed(notebook: Open) -> None:
    book = notebook(
        {
            "MEMORY.md": "- [T](t.md) — t\n",
            "t.md": note_text("t", "[x](x.md)\n"),
            "u.md": note_text("u"),
        }
    )
    plan = plan_fixes(book, book.read_snapshot(), unsafe=True, only=frozenset(("dead-link",)))
    assert texts(plan) == {"t.md": note_text("t", "x\n")}
    assert plan.unfixed == ()


def test_a_renamed_file_is_found_in_the_history_and_by_content(notebook: Open) -> None:
    files = {
        "MEMORY.md": "- [Tides](tides.md) — port\n- [Ports](ports.md) — where\n",
        "tides.md": note_text("tides", "One.\n"),
        "ports.md": note_text("ports", "See [tides](tides.md).\n"),
    }
    book = notebook(files)
    book.record(book.read())
    root = Path(book.place.root)
    (root / "tides.md").rename(root / "ebb_and_flow.md")
    # not recorded yet: found by what the file held last
    plan = plan_fixes(book, book.read_snapshot(), unsafe=False)
    expected = {
        "MEMORY.md": files["MEMORY.md"].replace("tides.md", "ebb_and_flow.md"),
        "ports.md": files["ports.md"].replace("tides.md", "ebb_and_flow.md"),
    }
    assert texts(plan) == expected
    # recorded, and written to since: found by the rename
    book.record(book.read())
    (root / "ebb_and_flow.md").write_text(note_text("tides", "Two.\n"))
    assert texts(plan_fixes(book, book.read_snapshot(), unsafe=False)) == expected


LINES = st.sampled_from(
    [
        "- [A](a.md) — first",
        "- [A](a.md)",
        "- [B](B-Note.md) — second",
        "- [Gone](gone.md) — away",
        "plain text",
        "## Part",
        "- **rule** of the index",
        "- [C](c.md) — " + "long words " * 25,
    ]
)
BODIES = st.sampled_from(
    [
        "See [a](a.md), [b](B-Note.md).",
        "See [gone](gone.md) and [gone](gone.md).",
        "It broke yesterday, and today too.",
        "Hidden\u200b character, see [[b-nots]].",
        "[out](../../out.md)",
        "",
        "password: Zr8kLm2qqP9xW4tV",
        "All tests pass now.",
    ]
)
HEADS = st.sampled_from(
    [
        "",
        "---\nname: n{n}\ndescription: d\ntype: project\ncreated: 2026-10-11\n---\n\n",
        "---\nname: n{n}\ntype: user\nmodified: 2026-10-11T10:00:00Z\n---\n\n",
        "---\nname: n{n}\ndescription: a: b\ntype: user\n---\n\n",
        "---\nname: n{n}\ndescription: d\ntype: projct\npinned: true\n---\n\n",
    ]
)
PATHS = ("a.md", "b_note.md", "c.md", "project_d.md", "sub/e.md")


@st.composite
def memories(draw: st.DrawFn) -> dict[str, str]:
    files = {"MEMORY.md": "".join(f"{it}\n" for it in draw(st.lists(LINES, max_size=12)))}
    for n, path in enumerate(draw(st.sets(st.sampled_from(PATHS)))):
        body = "\n\n".join(draw(st.lists(BODIES, max_size=3)))
        files[path] = draw(HEADS).format(n=n) + body + "\n"
    return files


@given(files=memories(), unsafe=st.booleans())
def test_fixes_change_what_they_name_and_bring_nothing(
    tmp_path_factory: pytest.TempPathFactory, files: dict[str, str], unsafe: bool
) -> None:
    book = open_notebook(tmp_path_factory.mktemp("fixes"), files)
    look = book.read_snapshot()
    plan = plan_fixes(book, look, unsafe=unsafe)
    after = apply_edits(look.memory, plan.change_set.edits)

    named = {edit.path for edit in plan.change_set.edits}
    assert {
        path for path, raw in raws(look.memory).items() if raws(after).get(path) != raw
    } <= named
    for edit in plan.change_set.edits:
        assert edit.before == raws(look.memory).get(edit.path)
        assert edit.path == "MEMORY.md" or "pinned" not in files.get(edit.path, "")
    before = Counter((it.rule, it.path) for it in look.findings)
    now = Counter((it.rule, it.path) for it in book.lint(after))
    assert not now - before
    # told once, and rightly: what is mended is gone, what is left stands
    assert Counter(it.finding.id for it in plan.unfixed) == Counter(
        it.id for it in book.lint(after)
    )
    assert len(plan.fixed) + len(plan.unfixed) == len(look.findings)
    # and nothing is left to mend
    assert not plan_fixes(book, book.judge(after), unsafe=unsafe).change_set
    # the same memory gives the same plan
    assert plan_fixes(book, look, unsafe=unsafe) == plan


def raws(memory: Memory) -> dict[str, bytes]:
    return {file.path: file.raw for file in memory.files}


def test_a_diff_masks_a_secret_of_which_it_shows_a_part() -> None:
    words = "legal winner thank year wave sausage worth useful legal winner thank yellow"
    phrase = "\n".join(f"{n}. {word}" for n, word in enumerate(words.split(), 1))
    old = f"Seed phrase:\n{phrase}\nSee [[gone]].\n"
    new = old.replace("[[gone]]", "gone")
    shown = format_diff(Edit("/memory", "a.md", old.encode(), new.encode()))
    assert "See gone." in shown
    assert "yellow" not in shown
    assert "[secret: seed-phrase]" in shown
