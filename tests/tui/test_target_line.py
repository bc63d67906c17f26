"""Whatever leads to a line of a note shows exactly that line: marked, its first row in sight."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from shutil import copytree

import pytest

from ricordo.lint.finding import Finding
from ricordo.tui.conflicts.screen import ConflictsScreen
from ricordo.tui.finder.screen import FinderScreen
from ricordo.tui.main.screen import MainScreen
from ricordo.tui.review.screen import ReviewScreen
from ricordo.tui.widgets.line_view import LineView
from tests.support.builders import note_text, write_memory
from tests.support.transcripts import Claude
from tests.tui.stage import Stage, build, staged
from tests.tui.test_conflicts import SAMPLE, bench, open_workbench
from tests.tui.test_finder import open_finder
from tests.tui.test_origin import opened as opened_origin
from tests.tui.test_origin import with_transcript
from tests.tui.test_review import open_review

SIZES = ((80, 24), (120, 40))
FILLING = "Words that only take room, so that the line has to be broken more than once. "


def target(number: int) -> str:
    """Return a line whose first word and last link say which one it is, longer than a row."""
    return f"begin{number} {FILLING * 2}[[end{number}]]"


def long_note() -> tuple[str, list[int]]:
    """Return a note with lines to go to in every part of markdown, and their numbers."""
    lines = ["---", "name: long", "description: about lines", "metadata:", "  type: project", "---"]
    at: list[int] = []

    def add(text: str, *, is_target: bool = False) -> None:
        number = len(lines) + 1
        at.extend([number] if is_target else [])
        lines.append(text.replace("@", target(number)) if is_target else text)

    for _ in range(3):
        add("")
        add("# A heading")
        add("")
        for _ in range(12):
            add(f"{FILLING}")
            add("")
        add("A paragraph of several lines, with `code")
        add("that runs on` into the next one,")
        add("@", is_target=True)
        add("and goes on after it")
        add("@", is_target=True)
        add("to its end.")
        add("")
        add("- an item")
        add("  - @", is_target=True)
        add("- another")
        add("")
        add("> quoted")
        add("> @", is_target=True)
        add("")
        add("```")
        add("code")
        add("```")
        add("")
        add("| a | b |")
        add("|---|---|")
        add("| 1 | 2 |")
        number = len(lines) + 1
        at.append(number)
        lines.append(f"| begin{number} | [[end{number}]] |")
        add("")
        add("@" + FILLING * 40, is_target=True)
    return "\n".join(lines) + "\n", at


def long_index() -> tuple[str, list[int]]:
    lines = ["# Tidepool", "", "- [Long](long.md) — lines", ""]
    at: list[int] = []
    for _ in range(40):
        lines += ["Some words about what stands below.", ""]
        at.append(len(lines) + 1)
        lines.append(f"- [begin{at[-1]}](end{at[-1]}.md) — {FILLING}")
    return "\n".join(lines) + "\n", at


INDEX, OF_INDEX = long_index()
LONG, OF_LONG = long_note()
TOKEN = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
FILES: Mapping[str, str] = {
    "MEMORY.md": INDEX,
    "long.md": LONG,
    "other.md": note_text("other", "Nothing is wrong here, and much is said. " * 9, "Something"),
    "headed.md": f"---\nname: headed\ndescription: words\nkey: {TOKEN}\n---\n\n{FILLING * 40}\n",
}


def in_sight(view: LineView) -> list[tuple[str, str]]:
    """Return the rows that are on the screen: their text, and what of it is marked."""
    top, height = view.scroll_offset.y, view.scrollable_content_region.height
    rows: list[tuple[str, str]] = []
    for number in range(top, min(top + height, view.line_count)):
        line, ground = view.line_at(number)
        is_whole = ground == "target"
        marked = [it.text for it in line.spans if is_whole or "target" in it.style.split()]
        rows.append((line.text, "".join(marked)))
    return rows


def begins_in_sight(stage: Stage, view: LineView, line: int | str) -> None:
    """Fail unless a line, by its number or its first words, is marked, nothing else is, and its
    first row is on the screen.
    """
    first = f"begin{line}" if isinstance(line, int) else line
    marked = [text for _, text in in_sight(view) if text]
    shown = stage.painted()
    assert marked, f"{first} is not marked; the screen shows\n{shown}"
    assert first in marked[0], f"{first} begins elsewhere: {marked}\n{shown}"
    assert "".join(marked).count("begin") == 1, marked
    assert first in shown


async def all_findings(stage: Stage) -> None:
    await stage.press("3")
    if "other notes" in stage.freshness_text:
        await stage.press("right")


async def open_finding(stage: Stage, path: str, line: int) -> None:
    """Press Enter on a finding, from another note; where one finding stands for many of its rule,
    on that one first.
    """
    await stage.go_to("other.md")
    await all_findings(stage)
    freshness = stage.panes.freshness

    def list_rows() -> dict[int, Finding]:
        return {n: it.finding for n, it in enumerate(freshness._rows) if it.finding and it.is_first}

    for number, finding in list_rows().items():
        if any((it.path, it.line) == (path, line) for it in finding.members):
            freshness.move_to(number)
            await stage.press("enter")
            break
    number = next(n for n, it in list_rows().items() if (it.path, it.line) == (path, line))
    freshness.move_to(number)
    await stage.press("enter")
    await stage.wait_for(lambda: stage.here == path, path)
    await stage.panes.note.wait_until_drawn()
    await stage.settle()


@pytest.mark.parametrize("size", SIZES)
async def test_a_finding_opens_its_line(tmp_path: Path, size: tuple[int, int]) -> None:
    async with staged(build(tmp_path, FILES), size) as stage:
        for number in (*OF_LONG[:6], OF_LONG[-2], OF_LONG[-1]):
            await open_finding(stage, "long.md", number)
            begins_in_sight(stage, stage.panes.note, number)
        for number in (OF_INDEX[0], OF_INDEX[20], OF_INDEX[-1]):
            await open_finding(stage, "MEMORY.md", number)
            begins_in_sight(stage, stage.panes.note, number)


@pytest.mark.parametrize("size", SIZES)
async def test_a_finding_opens_its_line_in_the_source_and_stays_there(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    async with staged(build(tmp_path, FILES), size) as stage:
        await stage.go_to("other.md")
        await stage.press("2", "s")
        for number in (OF_LONG[4], OF_LONG[-1]):
            await open_finding(stage, "long.md", number)
            begins_in_sight(stage, stage.panes.note, number)
        # another width, and what is found out meanwhile, move nothing out of sight
        await stage.press("z")
        await stage.settle()
        begins_in_sight(stage, stage.panes.note, OF_LONG[-1])
        await stage.press("z")
        stage.main._reading.show(keep_place=True)
        await stage.settle()
        begins_in_sight(stage, stage.panes.note, OF_LONG[-1])
        # rendered again it is still the same line
        await stage.press("s")
        await stage.panes.note.wait_until_drawn()
        assert any(f"begin{OF_LONG[-1]}" in text for _, text in in_sight(stage.panes.note))


@pytest.mark.parametrize("size", SIZES)
async def test_a_line_of_the_frontmatter_is_shown_as_source(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    async with staged(build(tmp_path, FILES), size) as stage:
        await open_finding(stage, "headed.md", 4)
        marked = [text for _, text in in_sight(stage.panes.note) if text]
        assert marked[0].split()[:2] == ["4", "key:"]
        await stage.go_to("other.md")
        assert "Nothing is wrong here" in stage.note_text
        assert "name: other" not in stage.note_text, "the next note is rendered again"


@pytest.mark.parametrize("size", SIZES)
async def test_the_finder_shows_the_passage_and_opens_the_note_at_it(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    text, numbers = long_note()
    number = numbers[-2]
    files = {**FILES, "long.md": text.replace(f"begin{number} ", f"begin{number} periwinkle ")}
    async with staged(build(tmp_path, files), size) as stage:
        screen = await open_finder(stage, "periwinkle")
        assert isinstance(screen, FinderScreen)
        await screen._preview.wait_until_drawn()
        await stage.settle()
        if size[0] >= 100:
            begins_in_sight(stage, screen._preview, number)
        await stage.press("enter")
        await stage.shows(MainScreen)
        await stage.wait_for(lambda: stage.here == "long.md", "the note")
        await stage.press("2")
        await stage.panes.note.wait_until_drawn()
        await stage.settle()
        begins_in_sight(stage, stage.panes.note, number)


@pytest.mark.parametrize("size", SIZES)
async def test_another_memory_opens_at_the_line_of_its_hit(
    tmp_path: Path, pinned: Path, size: tuple[int, int]
) -> None:
    other = pinned / ".claude/projects/-srv-harbour/memory"
    other.mkdir(parents=True)
    number = OF_LONG[-2]
    write_memory(other, {**FILES, "long.md": LONG.replace(f"begin{number} ", "begin periwinkle ")})
    async with staged(build(tmp_path), size) as stage:
        screen = await open_finder(stage, "periwinkle")
        await stage.press("ctrl+f")
        await stage.wait_for(lambda: screen.is_settled and screen.hit, "what was found")
        await stage.press("enter")
        await stage.wait_for(lambda: isinstance(stage.app.screen, MainScreen))
        await stage.wait_for(lambda: stage.main.root == str(other) and stage.looked)
        await stage.know()
        await stage.press("2")
        await stage.panes.note.wait_until_drawn()
        await stage.settle()
        begins_in_sight(stage, stage.panes.note, "begin periwinkle")


@pytest.mark.parametrize("size", SIZES)
async def test_the_review_shows_the_line_of_the_finding(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    doubt = f"begin70 The merge freeze ends on 2026-11-02. {FILLING}\n"
    text = (
        "---\nname: freeze\ndescription: when\nmetadata:\n  type: project\n"
        "  modified: 2026-10-28\n---\n\n" + f"{FILLING}\n\n" * 30 + f"\n{doubt}\n"
    )
    assert text.split("\n")[69] == doubt.rstrip("\n")
    root = build(tmp_path, {"MEMORY.md": "# T\n\n- [F](freeze.md) — x\n", "freeze.md": text})
    async with staged(root, size) as stage:
        screen = await open_review(stage)
        assert isinstance(screen, ReviewScreen)
        await screen._note.wait_until_drawn()
        await stage.settle()
        begins_in_sight(stage, screen._note, 70)


@pytest.mark.parametrize("size", SIZES)
async def test_the_workbench_shows_both_claims(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    monkeypatch.setenv("RICORDO_AGENT_HOME", str(tmp_path / "sample" / "home"))
    copytree(SAMPLE, tmp_path / "sample")
    memory = tmp_path / "sample" / "memory"
    for note in memory.rglob("*.md"):
        # both claims far below the first screen
        head, behind, body = note.read_bytes().rpartition(b"---\n")
        if behind and note.name != "MEMORY.md":
            note.write_bytes(head + behind + f"\n{FILLING}\n".encode() * 25 + body)
    async with staged(memory, size) as stage:
        await open_workbench(stage)
        screen = bench(stage)
        assert isinstance(screen, ConflictsScreen)
        assert screen.conflict is not None
        for view in screen._texts.values():
            claims = [it for it in range(view.line_count) if _is_claim(view, it)]
            top, height = view.scroll_offset.y, view.scrollable_content_region.height
            assert claims, stage.painted()
            assert top <= claims[0] < top + height, stage.painted()


def _is_claim(view: LineView, number: int) -> bool:
    return any("match" in span.style for span in view.line_at(number)[0].spans)


@pytest.mark.parametrize("size", SIZES)
async def test_the_origin_shows_the_words_that_caused_the_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    root = build(tmp_path)
    says = Claude.says
    before = iter((f"{FILLING * 9}\n" * 9,))
    monkeypatch.setattr(Claude, "says", lambda self, text: says(self, next(before, text)))
    with_transcript(root, "project_tides.md")
    async with staged(root, size) as stage:
        await stage.go_to("project_tides.md")
        await opened_origin(stage)
        await stage.paints("Remember: the port is Sines.")
