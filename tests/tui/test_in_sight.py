"""What has to be in sight: totals above the findings, the current row in every theme."""

from __future__ import annotations

from pathlib import Path

import pytest

from ricordo.settings.theme import compute_contrast
from tests.support.builders import note_text
from tests.tui.stage import SMALL, build, staged

LEAST = 1.2
"""Contrast between the ground of the current row and that of the pane. Two grounds that lie closer
look alike on many screens; text on both has to reach the contrast that the theme promises.
"""
MANY = note_text("many", "".join(f"See [x](gone{n}.md).\n" for n in range(30)))


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_the_totals_are_in_sight_for_every_note(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    files = {**SMALL, "many.md": MANY, "more.md": MANY.replace("many", "more")}
    async with staged(build(tmp_path, files), size) as stage:
        freshness = stage.panes.freshness
        await stage.go_to("many.md")
        for keys in (("G",), ("pagedown", "pagedown")):
            await stage.press("3", *keys)
            assert freshness.scroll_offset.y > 0
            await stage.go_to("more.md")
            assert freshness.scroll_offset.y == 0
            await stage.press("3")
            assert "need attention" in stage.painted()
            await stage.go_to("many.md")
            assert freshness.scroll_offset.y == 0


async def test_going_to_the_first_finding_shows_the_totals_again(tmp_path: Path) -> None:
    async with staged(build(tmp_path, {**SMALL, "many.md": MANY}), (80, 24)) as stage:
        await stage.go_to("many.md")
        await stage.press("3", *("down",) * 12)
        assert stage.panes.freshness.scroll_offset.y > 0
        await stage.press(*("up",) * 12)
        assert stage.panes.freshness.scroll_offset.y == 0


async def test_the_current_row_is_visible_in_every_theme_with_any_focus(
    tmp_path: Path,
) -> None:
    async with staged(build(tmp_path)) as stage:
        index = stage.panes.index
        for theme in stage.app.ricordo_themes:
            stage.app.theme = theme
            for pane in "123":
                await stage.press(pane)
                row = index.cursor - index.scroll_offset.y
                current, other = (
                    {segment.style.bgcolor for segment in index.render_line(y) if segment.style}
                    for y in (row, row + 1)
                )
                assert len(current) == len(other) == 1
                colors = [next(iter(it)) for it in (current, other)]
                assert all(color is not None for color in colors)
                ratio = compute_contrast(*(color.get_truecolor().hex for color in colors if color))
                assert ratio >= LEAST, (theme, pane, ratio)
