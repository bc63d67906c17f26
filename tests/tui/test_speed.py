"""What is drawn, counted instead of timed."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.screen import Screen

from ricordo.tui.app import RicordoApp
from ricordo.tui.render import note_page
from ricordo.tui.widgets import index_list
from ricordo.tui.widgets.note_view import NoteView
from tests.tui.stage import build, staged
from tests.tui.test_inbox import recorded


async def test_of_three_thousand_notes_only_those_in_sight_are_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[str] = []
    draw = index_list.draw_index_row

    def counted(row: index_list.IndexRow, *rest: object) -> object:
        drawn.append(row.path)
        return draw(row, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(index_list, "draw_index_row", counted)
    root = build(tmp_path, {f"note_{n:05}.md": f"Note {n}.\n" for n in range(3_000)})
    async with staged(root, (120, 30)) as stage:
        drawn.clear()
        await stage.press("j", "j", "G", "k")
        await stage.wait_for(lambda: stage.here == "note_02998.md")
        assert len(drawn) < 10 * 30
        assert len(set(drawn)) < 3 * 30


async def test_a_long_note_shows_its_beginning_before_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rendered: list[int] = []
    render = note_page.render_markdown

    def counted(text: str, *rest: object) -> object:
        rendered.append(len(text))
        return render(text, *rest)  # type: ignore[arg-type]

    filled: list[int] = []
    fill = NoteView._show_page

    def counted_fill(view: NoteView, *rest: object) -> None:
        fill(view, *rest)  # type: ignore[arg-type]
        filled.append(sum(rendered))

    monkeypatch.setattr(note_page, "render_markdown", counted)
    monkeypatch.setattr(NoteView, "_show_page", counted_fill)
    text = "".join(f"Paragraph {n} of a long note, with *words* in it.\n\n" for n in range(4_000))
    root = build(tmp_path, {"a.md": "Short.\n", "b.md": text})
    async with staged(root) as stage:
        assert stage.here == "a.md"
        rendered.clear()
        filled.clear()
        stage.main._go_to("b.md")
        assert sum(rendered) == 0, "it is looked through for secrets beside the screen first"
        await stage.wait_for(lambda: "Paragraph 3999 of" in stage.note_text)
        assert 0 < filled[0] < 20_000, "the beginning is shown before the rest"
        rendered.clear()
        stage.main._go_to("a.md")
        stage.main._go_to("b.md")
        assert 0 < sum(rendered) < 20_000, "once it is looked through, at once"
        assert "Paragraph 0 of" in stage.note_text
        await stage.wait_for(lambda: "Paragraph 3999 of" in stage.note_text)
        assert sum(rendered) > 150_000


@pytest.mark.painted
async def test_a_key_is_answered_by_one_paint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    painted: list[object] = []
    display = RicordoApp._display

    def counted(app: RicordoApp, screen: Screen[None], update: object) -> None:
        if update is not None:
            painted.append(update)
        display(app, screen, update)  # type: ignore[arg-type]

    monkeypatch.setattr(RicordoApp, "_display", counted)
    # what a note reminds of is painted by itself, once the person rests
    monkeypatch.setattr("ricordo.tui.finder.controller._REST", 3600.0)
    links = "".join(f"Paragraph {n}, see [[b]].\n\n" for n in range(20))
    # recorded before: the notice of the first recording is painted by itself
    root = recorded(tmp_path, {"a.md": "Short.\n", "b.md": links, "c.md": "# Head\n\n- point\n"})
    async with staged(root) as stage:
        for key, path in (("j", "b.md"), ("j", "c.md"), ("k", "b.md")):
            painted.clear()
            await stage.press(key)
            assert stage.here == path
            assert len(painted) == 1
