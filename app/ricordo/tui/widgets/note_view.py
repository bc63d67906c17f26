"""The note pane: one note, rendered or as it stands on disk."""

from __future__ import annotations

import asyncio
import itertools
import re
from collections.abc import Iterator

from textual.events import Click
from textual.message import Message

from ricordo.text import clip
from ricordo.tui.color_palette import Palette
from ricordo.tui.render.empty import NO_NOTE, paragraphs
from ricordo.tui.render.line import StyledLine, StyledSpan
from ricordo.tui.render.note_page import LinkTarget, NotePage
from ricordo.tui.widgets.line_view import LineView

_LOOKING = StyledLine((StyledSpan("looking for secrets …", "dim"),))
TARGET = "target"
"""The style of the line that was gone to."""


class NoteView(LineView, inherit_bindings=False):
    """Shows a page piece by piece; the first piece at once, the rest while nothing else happens."""

    class Followed(Message):
        """A link was followed."""

        def __init__(self, target: LinkTarget) -> None:
            """`target` is where it leads."""
            super().__init__()
            self.target = target

    class LookedThrough(Message):
        """It is known which secrets a long text has."""

    def __init__(self, palette: Palette, *, id: str) -> None:
        """Empty until `show` gives it a page."""
        super().__init__(palette, id=id)
        self._page: NotePage | None = None
        self._lines: list[StyledLine] = []
        self._pieces: Iterator[list[StyledLine]] = iter(())
        self._rest: asyncio.Task[None] | None = None
        self._line = 0
        """The line of the file that was gone to; 0 where none was."""
        self._goes_there = False
        """Whether it is to be in sight: not once the user has moved."""
        self._is_written_for_line = False
        """Whether the text is shown as it stands on disk because the rendered one has no such line.
        """
        self._marked = range(0)
        """Its rows."""
        self._is_whole = False
        """Whether the whole page is drawn."""
        self._chosen = -1
        self._words = ""
        self._needle: re.Pattern[str] | None = None
        self.matches: list[int] = []
        """Lines that hold what is searched for."""
        self._match = -1

    def show(self, page: NotePage | None, *, keep_place: bool = False, line: int = 0) -> None:
        """Show `page` from its beginning, or, with `keep_place`, where the page before was; with a
        `line` of the file go there, as `go_to` does.
        """
        if self._rest is not None:
            self._rest.cancel()
        place = self._place if keep_place else (0, 0)
        if not keep_place:
            self._line, self._goes_there, self._is_written_for_line = line, line > 0, False
            super().release()
        if page is not None and self._is_written_for_line and not page.as_source:
            page = page.written()
        self._chosen = -1
        if page is None or page.is_looked_through:
            self._fill(page, place)
            self._rest = asyncio.create_task(self._draw_the_rest())
        else:
            self._page, self._lines, self._pieces = page, [_LOOKING], iter(())
            self._show_lines()
            self._rest = asyncio.create_task(self._look_through(page, place))

    async def _look_through(self, page: NotePage, place: tuple[int, int]) -> None:
        """Show a long text once it is known what of it is masked."""
        await asyncio.to_thread(page.look_through)
        self._fill(page, place)
        self.post_message(self.LookedThrough())
        await self._draw_the_rest()

    def _fill(self, page: NotePage | None, place: tuple[int, int]) -> None:
        """Show as much of `page` as is in sight at `place`."""
        self._draw(page, place)
        if page is not None and self._lacks_line:
            self._is_written_for_line = True
            self._draw(page.written(), place)
        self._show_lines()
        self.jump_to(self._row_of(place))
        self._rest_on_line()

    def _show_lines(self) -> None:
        self._search_again()
        self.lines_changed()

    def go_to(self, line: int) -> None:
        """Mark `line` of the file, and keep its first row in sight until the user moves. A line
        that the rendered text does not have, as those of the frontmatter, is shown in the text as
        it stands on disk.
        """
        super().release()
        self._line, self._goes_there = line, True
        self._mark_line()
        if self._lacks_line:
            self.show(self._page, line=line)
        else:
            self._rest_on_line()
            self.refresh()

    def turn(self, page: NotePage | None) -> None:
        """Show the same note in another way, where it was."""
        self._is_written_for_line = self._goes_there = False
        self.show(page, keep_place=True)

    def release(self) -> None:
        """Keep nothing in sight any longer; what is marked stays so."""
        super().release()
        self._goes_there = False

    @property
    def page(self) -> NotePage | None:
        """What is shown; None where that is no note."""
        return self._page

    def _draw(self, page: NotePage | None, place: tuple[int, int]) -> None:
        """Draw as much of `page` as is in sight at `place`."""
        self._page, self._is_whole = page, page is None
        self._pieces = page.pieces() if page else iter(())
        self._lines = [] if page else self._nothing()
        height = self.size.height or 24
        while not self._is_whole and len(self._lines) < self._row_of(place) + height:
            piece = next(self._pieces, None)
            self._is_whole = piece is None
            self._lines.extend(piece or ())
        self._mark_line()

    def _nothing(self) -> list[StyledLine]:
        return paragraphs([(NO_NOTE, "dim")], self.content_width)

    @property
    def _place(self) -> tuple[int, int]:
        """Which line of the file is at the top, and how many rows its first one is below that; 0
        and the row at the top where that is above all lines.
        """
        top = self.scroll_offset.y
        sources = [line.source for line in self._lines]
        if not any(sources[: top + 1]):
            return 0, -top
        source = next(filter(None, sources[top:]), 0) or max(sources)
        return source, sources.index(source) - top

    def _row_of(self, place: tuple[int, int]) -> int:
        """Return the row that is at the top where `place` is."""
        source, below = place
        rows = enumerate(self._lines)
        first = next((n for n, row in rows if row.source >= source), len(self._lines))
        return max(0, (first if source else 0) - below)

    def _mark_line(self, first: int = 0) -> None:
        """Find the rows of the line that is gone to, among those from row `first` on."""
        numbers = range(first, len(self._lines)) if self._line else ()
        rows = [n for n in numbers if self._lines[n].shows(self._line)]
        self._marked = range(rows[0], rows[-1] + 1) if rows else range(0)

    @property
    def _lacks_line(self) -> bool:
        """Whether the text is rendered, and has not the line that is gone to."""
        page = self._page
        if page is None or not self._goes_there or self._marked or not page.can_be_written:
            return False
        last = next((row.source for row in reversed(self._lines) if row.source), 0)
        return self._is_whole or last > self._line

    def _rest_on_line(self) -> None:
        if self._goes_there and self._marked:
            self.hold(self._marked)
        elif self._goes_there and self._is_whole and self.as_source:
            # the file has become shorter meanwhile
            self.jump_to(self.line_count)

    @property
    def as_source(self) -> bool:
        """Whether the text is shown as it stands on disk."""
        return self._page is not None and self._page.as_source

    async def _draw_the_rest(self) -> None:
        for piece in self._pieces:
            drawn = len(self._lines)
            self._lines.extend(piece)
            self._search_again()
            if not self._marked:
                self._mark_line(drawn)
            if self._lacks_line:
                self.show(self._page, line=self._line)
                return
            self.lines_changed(first=drawn)
            self._rest_on_line()
            await asyncio.sleep(0)
        self._is_whole = True
        if self._lacks_line:
            self.show(self._page, line=self._line)
        self._rest_on_line()

    async def drawn(self) -> None:
        """Wait until the whole page is drawn, or another one is shown."""
        if self._rest is not None:
            await asyncio.wait({self._rest})

    def append(self, lines: list[StyledLine]) -> None:
        """Show `lines` below all others of the page."""
        drawn = len(self._lines)
        self._lines.extend(lines)
        self._search_again()
        self.lines_changed(first=drawn)

    @property
    def line_count(self) -> int:
        """How many lines are drawn so far."""
        return len(self._lines)

    @property
    def has_links(self) -> bool:
        """Whether there is a link to choose, among what is drawn so far."""
        return bool(self._page and self._page.targets)

    @property
    def chosen(self) -> LinkTarget | None:
        """The link that the person chose."""
        targets = self._page.targets if self._page else []
        return targets[self._chosen] if 0 <= self._chosen < len(targets) else None

    def line_at(self, number: int) -> tuple[StyledLine, str]:
        """Give one line, with the chosen link and what is searched for made plain."""
        line, ground = self._lines[number], ""
        if number in self._marked:
            line, ground = self._with_mark(line)
        if self._chosen >= 0:
            line = line._replace(spans=tuple(self._choice_shown(span) for span in line.spans))
        if self._needle is not None and number in self._match_lines:
            line = line._replace(spans=tuple(_marked(line.spans, self._needle)))
        return line, ground

    def _with_mark(self, line: StyledLine) -> tuple[StyledLine, str]:
        """Return a row with what it shows of the line that was gone to made plain, and the ground
        on which it is drawn: of a row that shows nothing else, that is the whole row.
        """
        is_of_line = [(span.source or line.source) == self._line for span in line.spans]
        if all(is_of_line):
            return line, TARGET
        spans = (
            span._replace(style=f"{TARGET} {span.style}".strip()) if is_meant else span
            for span, is_meant in zip(line.spans, is_of_line, strict=True)
        )
        return line._replace(spans=tuple(spans)), ""

    def _choice_shown(self, span: StyledSpan) -> StyledSpan:
        return span._replace(style="chosen-link") if span.link == self._chosen else span

    def choose(self, step: int) -> None:
        """Choose the next (1) or the previous (-1) link, beginning with those in sight."""
        places = self._link_places()
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
        self._chosen = links[position]
        self.bring_into_sight(places[self._chosen])
        self.refresh()

    def _link_places(self) -> dict[int, int]:
        places: dict[int, int] = {}
        for number, line in enumerate(self._lines):
            for span in line.spans:
                if span.link >= 0:
                    places.setdefault(span.link, number)
        return places

    def move(self, step: int) -> None:
        """Move the text by `step` lines."""
        self.release()
        self.scroll_relative(y=step, animate=False)

    def move_page(self, direction: int) -> None:
        """Move the text by what fits on the screen; `direction` is 1 or -1."""
        self.move(direction * max(1, self.scrollable_content_region.height - 2))

    def move_to_end(self, direction: int) -> None:
        """Show the beginning (-1) or the end (1)."""
        self.release()
        self.jump_to(0 if direction < 0 else self.line_count)

    def search(self, words: str) -> int:
        """Look for `words` in the text and go to the first match from here on; return how many
        lines match.
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
        """Make `words` plain wherever they stand, and go nowhere."""
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
    def found(self) -> str:
        """What is searched for and which match is in sight, visible text; "" without a search."""
        if self._needle is None:
            return ""
        at = f"{self._match + 1} of {len(self.matches)}" if self.matches else "not found"
        return f"/{clip(self._words, 20)} {at}"

    @property
    def searching(self) -> bool:
        """Whether something is searched for."""
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
        """Everything that is shown, without styles."""
        return "\n".join(line.text.rstrip() for line in self._lines)

    def on_click(self, event: Click) -> None:
        """Follow a link inside the memory that was clicked; nothing else can be clicked."""
        number = event.style.meta.get("link")
        if self._page is not None and isinstance(number, int):
            self._chosen = number
            self.refresh()
            self.post_message(self.Followed(self._page.targets[number]))


def _marked(spans: tuple[StyledSpan, ...], needle: re.Pattern[str]) -> Iterator[StyledSpan]:
    """Cut spans so that what matches stands in spans of its own. A match may run over spans."""
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
