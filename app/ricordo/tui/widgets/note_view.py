"""The note pane: one note, rendered or as source."""

from __future__ import annotations

import asyncio
import itertools
import re
from collections.abc import Iterator

from textual.events import Click
from textual.message import Message

from ricordo.text import clip
from ricordo.tui.color_palette import Palette
from ricordo.tui.render.empty import NO_NOTE, render_paragraphs
from ricordo.tui.render.line import StyledLine, StyledSpan
from ricordo.tui.render.note_page import LinkTarget, NotePage
from ricordo.tui.widgets.line_view import LineView

_SCANNING = StyledLine((StyledSpan("scanning for secrets …", "dim"),))
TARGET = "target"
"""The style of the target line."""


class NoteView(LineView, inherit_bindings=False):
    """Shows a page piece by piece: the first piece at once, the rest when idle."""

    class Followed(Message):
        """A link was followed."""

        def __init__(self, target: LinkTarget) -> None:
            """`target` is the target of the link."""
            super().__init__()
            self.target = target

    class SecretsScanned(Message):
        """A long text was scanned for secrets."""

    def __init__(self, palette: Palette, *, id: str) -> None:
        super().__init__(palette, id=id)
        self._page: NotePage | None = None
        self._lines: list[StyledLine] = []
        self._pieces: Iterator[list[StyledLine]] = iter(())
        self._draw_task: asyncio.Task[None] | None = None
        self._line = 0
        """The target line of the file; 0 for none."""
        self._keeps_line_in_sight = False
        """Whether to keep the target line in sight: until the user moves."""
        self._is_source_for_line = False
        """Whether source is shown because the rendered text lacks the target line."""
        self._line_rows = range(0)
        """Rows of the target line."""
        self._is_whole = False
        """Whether the whole page is drawn."""
        self._chosen = -1
        self._lost_choice: tuple[int, LinkTarget] | None = None
        """The link that was chosen before the same note was drawn again, and its number."""
        self._words = ""
        self._needle: re.Pattern[str] | None = None
        self.matches: list[int] = []
        """Lines that match the search."""
        self._match = -1

    def show(self, page: NotePage | None, *, keep_place: bool = False, line: int = 0) -> None:
        """Show `page` from its beginning, or with `keep_place` at the place of the page before;
        with a `line` of the file go there like `go_to`.
        """
        if self._draw_task is not None:
            self._draw_task.cancel()
        place = self._place if keep_place else (0, 0)
        if not keep_place:
            self._line, self._keeps_line_in_sight, self._is_source_for_line = line, line > 0, False
            super().release()
            self._lost_choice = None
        elif (target := self.chosen_link) is not None:
            self._lost_choice = self._chosen, target
        if page is not None and self._is_source_for_line and not page.as_source:
            page = page.as_source_page()
        self._chosen = -1
        if page is None or page.can_mask_at_once:
            self._show_page(page, place)
            self._draw_task = asyncio.create_task(self._draw_rest())
        else:
            self._page, self._lines, self._pieces = page, [_SCANNING], iter(())
            self._show_lines()
            self._draw_task = asyncio.create_task(self._scan_and_show(page, place))

    async def _scan_and_show(self, page: NotePage, place: tuple[int, int]) -> None:
        """Scan a long text for secrets in a thread, then show it."""
        await asyncio.to_thread(page.scan_secrets)
        self._show_page(page, place)
        self.post_message(self.SecretsScanned())
        await self._draw_rest()

    def _show_page(self, page: NotePage | None, place: tuple[int, int]) -> None:
        """Show as much of `page` as is in sight at `place`."""
        self._draw(page, place)
        if page is not None and self._lacks_line:
            self._is_source_for_line = True
            self._draw(page.as_source_page(), place)
        self._show_lines()
        self.jump_to(self._row_of(place))
        self._hold_line()

    def _show_lines(self) -> None:
        self._choose_again()
        self._search_again()
        self.lines_changed()

    def go_to(self, line: int) -> None:
        """Mark `line` of the file, and keep its first row in sight until the user moves. If the
        rendered text lacks the line, as for frontmatter, show the source.
        """
        super().release()
        self._line, self._keeps_line_in_sight = line, True
        self._mark_line()
        if self._lacks_line:
            self.show(self._page, line=line)
        else:
            self._hold_line()
            self.refresh()

    def switch_page(self, page: NotePage | None) -> None:
        """Show another page of the same note at the same place."""
        self._is_source_for_line = self._keeps_line_in_sight = False
        self.show(page, keep_place=True)

    def release(self) -> None:
        """Stop keeping the target line in sight; it stays marked."""
        super().release()
        self._keeps_line_in_sight = False

    @property
    def page(self) -> NotePage | None:
        """Return the shown page; None without a note."""
        return self._page

    def _draw(self, page: NotePage | None, place: tuple[int, int]) -> None:
        """Draw as much of `page` as is in sight at `place`."""
        self._page, self._is_whole = page, page is None
        self._pieces = page.iter_pieces() if page else iter(())
        self._lines = [] if page else self._render_empty()
        height = self.size.height or 24
        while not self._is_whole and len(self._lines) < self._row_of(place) + height:
            piece = next(self._pieces, None)
            self._is_whole = piece is None
            self._lines.extend(piece or ())
        self._mark_line()

    def _render_empty(self) -> list[StyledLine]:
        return render_paragraphs([(NO_NOTE, "dim")], self.content_width)

    @property
    def _place(self) -> tuple[int, int]:
        """Return the first line of the file in sight, and how many rows below the top it begins; 0
        and the negative top row if the top is above all lines of the file.
        """
        top = self.scroll_offset.y
        sources = [line.source_line for line in self._lines]
        if not any(sources[: top + 1]):
            return 0, -top
        source = next(filter(None, sources[top:]), 0) or max(sources)
        return source, sources.index(source) - top

    def _row_of(self, place: tuple[int, int]) -> int:
        """Return the top row that shows `place`."""
        source, below = place
        rows = enumerate(self._lines)
        first = next((n for n, row in rows if row.source_line >= source), len(self._lines))
        return max(0, (first if source else 0) - below)

    def _mark_line(self, first: int = 0) -> None:
        """Find the rows of the target line, from row `first` on."""
        numbers = range(first, len(self._lines)) if self._line else ()
        rows = [n for n in numbers if self._lines[n].has_source_line(self._line)]
        self._line_rows = range(rows[0], rows[-1] + 1) if rows else range(0)

    @property
    def _lacks_line(self) -> bool:
        """Return whether the page is rendered text without the target line."""
        page = self._page
        if (
            page is None
            or not self._keeps_line_in_sight
            or self._line_rows
            or not page.has_source_page
        ):
            return False
        last = next((row.source_line for row in reversed(self._lines) if row.source_line), 0)
        return self._is_whole or last > self._line

    def _hold_line(self) -> None:
        if self._keeps_line_in_sight and self._line_rows:
            self.hold(self._line_rows)
        elif self._keeps_line_in_sight and self._is_whole and self.as_source:
            # the file is shorter than the target line
            self.jump_to(self.line_count)

    @property
    def as_source(self) -> bool:
        """Return whether the source is shown."""
        return self._page is not None and self._page.as_source

    async def _draw_rest(self) -> None:
        for piece in self._pieces:
            drawn = len(self._lines)
            self._lines.extend(piece)
            self._choose_again()
            self._search_again()
            if not self._line_rows:
                self._mark_line(drawn)
            if self._lacks_line:
                self.show(self._page, line=self._line)
                return
            self.lines_changed(first=drawn)
            self._hold_line()
            await asyncio.sleep(0)
        self._is_whole = True
        self._choose_again()
        if self._lacks_line:
            self.show(self._page, line=self._line)
        self._hold_line()

    async def wait_until_drawn(self) -> None:
        """Wait until the whole page is drawn or another one is shown."""
        if self._draw_task is not None:
            await asyncio.wait({self._draw_task})

    def append(self, lines: list[StyledLine]) -> None:
        """Show `lines` below all others of the page."""
        drawn = len(self._lines)
        self._lines.extend(lines)
        self._choose_again()
        self._search_again()
        self.lines_changed(first=drawn)

    @property
    def line_count(self) -> int:
        return len(self._lines)

    @property
    def has_links(self) -> bool:
        """Return whether there is a link to choose in the lines drawn so far."""
        return bool(self._page and self._page.targets)

    @property
    def chosen_link(self) -> LinkTarget | None:
        """Return the link that the user chose; None without one."""
        targets = self._page.targets if self._page else []
        return targets[self._chosen] if 0 <= self._chosen < len(targets) else None

    def _choose_again(self) -> None:
        """Choose the link again that was chosen before, once it is drawn."""
        if self._lost_choice is None or self._page is None:
            return
        number, target = self._lost_choice
        targets = self._page.targets
        if number < len(targets) and targets[number] == target:
            self._chosen = number
        elif target in targets and (self._is_whole or number < len(targets)):
            self._chosen = targets.index(target)
        if self._chosen >= 0:
            self._lost_choice = None

    def line_at(self, number: int) -> tuple[StyledLine, str]:
        line, ground = self._lines[number], ""
        if number in self._line_rows:
            line, ground = self._highlight_line(line)
        if self._chosen >= 0:
            line = line._replace(spans=tuple(self._highlight_link(span) for span in line.spans))
        if self._needle is not None and number in self._match_lines:
            line = line._replace(spans=tuple(_split_matches(line.spans, self._needle)))
        return line, ground

    def _highlight_line(self, line: StyledLine) -> tuple[StyledLine, str]:
        """Return a row with its part of the target line highlighted, and the style of its
        background: a row of nothing else is highlighted whole.
        """
        is_of_line = [(span.source_line or line.source_line) == self._line for span in line.spans]
        if all(is_of_line):
            return line, TARGET
        spans = (
            span._replace(style=f"{TARGET} {span.style}".strip()) if is_meant else span
            for span, is_meant in zip(line.spans, is_of_line, strict=True)
        )
        return line._replace(spans=tuple(spans)), ""

    def _highlight_link(self, span: StyledSpan) -> StyledSpan:
        return span._replace(style="chosen-link") if span.link == self._chosen else span

    def choose_link(self, step: int) -> None:
        """Choose the next (1) or the previous (-1) link, beginning with those in sight."""
        places = self._find_links()
        if not places:
            return
        links = list(places)
        if self._chosen in places:
            position = (links.index(self._chosen) + step) % len(links)
        else:
            top = self.scroll_offset.y
            below = [n for n, link in enumerate(links) if places[link] >= top]
            position = below[0] if below and step > 0 else len(links) - 1 if step < 0 else 0
        self.release()
        self._chosen, self._lost_choice = links[position], None
        self.bring_into_sight(places[self._chosen])
        self.refresh()

    def _find_links(self) -> dict[int, int]:
        places: dict[int, int] = {}
        for number, line in enumerate(self._lines):
            for span in line.spans:
                if span.link >= 0:
                    places.setdefault(span.link, number)
        return places

    def move(self, step: int) -> None:
        self.release()
        self.scroll_relative(y=step, animate=False)

    def move_page(self, direction: int) -> None:
        self.move(direction * max(1, self.scrollable_content_region.height - 2))

    def move_to_end(self, direction: int) -> None:
        self.release()
        self.jump_to(0 if direction < 0 else self.line_count)

    def search(self, words: str) -> int:
        """Find `words` in the text, go to the first match from here on, and return the number of
        matching lines.
        """
        self.highlight(words)
        if words:
            self.release()
        for piece in self._pieces if words else ():
            self._lines.extend(piece)
        self._search_again()
        self.lines_changed()
        if self.matches:
            top = self.scroll_offset.y
            self._match = next((n for n, line in enumerate(self.matches) if line >= top), 0)
            self.bring_into_sight(self.matches[self._match], margin=3)
        return len(self.matches)

    def highlight(self, words: str) -> None:
        """Highlight `words` wherever they are, without scrolling."""
        self._words = words
        self._needle = re.compile(re.escape(words), re.IGNORECASE) if words else None
        self._match = -1
        self._search_again()
        self.refresh()

    def next_match(self, step: int) -> None:
        """Go to the next (1) or the previous (-1) line that matches."""
        if self.matches:
            self.release()
            self._match = (self._match + step) % len(self.matches)
            self.bring_into_sight(self.matches[self._match], margin=3)

    @property
    def search_status(self) -> str:
        """Return the search and the number of the current match, visible text; "" without one."""
        if self._needle is None:
            return ""
        at = f"{self._match + 1} of {len(self.matches)}" if self.matches else "not found"
        return f"/{clip(self._words, 20)} {at}"

    @property
    def is_searching(self) -> bool:
        """Return whether there is a search."""
        return self._needle is not None

    def _search_again(self) -> None:
        needle = self._needle
        self.matches = (
            [n for n, line in enumerate(self._lines) if needle.search(line.text)] if needle else []
        )
        self._match_lines = frozenset(self.matches)

    _match_lines: frozenset[int] = frozenset()

    @property
    def plain_text(self) -> str:
        """Return the whole text without styles."""
        return "\n".join(line.text.rstrip() for line in self._lines)

    def on_click(self, event: Click) -> None:
        number = event.style.meta.get("link")
        if self._page is not None and isinstance(number, int):
            self._chosen = number
            self.refresh()
            self.post_message(self.Followed(self._page.targets[number]))


def _split_matches(spans: tuple[StyledSpan, ...], needle: re.Pattern[str]) -> Iterator[StyledSpan]:
    """Split spans so that matches are spans of their own; a match may cover several spans."""
    text = "".join(span.text for span in spans)
    inside = [match.span() for match in needle.finditer(text) if match.end() > match.start()]
    position = 0
    for span in spans:
        end = position + len(span.text)
        cuts = {position, end}
        cuts.update(edge for pair in inside for edge in pair if position < edge < end)
        edges = sorted(cuts)
        for start, stop in itertools.pairwise(edges):
            hit = any(first <= start < last for first, last in inside)
            style = f"{span.style} match".strip() if hit else span.style
            yield span._replace(text=text[start:stop], style=style)
        position = end
