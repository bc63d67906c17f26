"""One note as lines: its facts, its text rendered or as it stands, its links.

The page comes in pieces, so that the beginning of a long note is on screen at once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial

from ricordo.memory.layout import FileRole
from ricordo.memory.links import Link
from ricordo.memory.names import Leads
from ricordo.memory.note import Note, ReadError
from ricordo.services.search.ambient import LINKS, Association
from ricordo.services.sessions.activity_text import age_in_words, brief_day, read_briefly
from ricordo.services.workspace.notebook import Snapshot
from ricordo.text import clip, one_line
from ricordo.tui.render.empty import READING
from ricordo.tui.render.index_rows import PROTECTED
from ricordo.tui.render.line import BLANK, StyledLine, StyledSpan, fit, shown, width_of, wrap
from ricordo.tui.render.markdown import Resolver, chunks, render_markdown
from ricordo.tui.render.mask import MASK, is_looked_through, masked, masked_passage, secrets_in


def render_source(
    lines: list[str],
    first: int,
    width: int,
    head_lines: int,
    links: dict[int, list[Link]],
    resolve: Resolver,
) -> list[StyledLine]:
    """Return `lines`, of which the first is line `first` of the file, with their numbers.

    `head_lines` is the number of lines that the head takes; `links` are the note's by line.
    """
    gutter = 5
    rows: list[StyledLine] = []
    rest = (StyledSpan(" " * gutter),)
    for number, line in enumerate(lines, first):
        before = (StyledSpan(f"{number:>{gutter - 1}} ", "dim"),)
        base = "frontmatter" if number <= head_lines else _style(line)
        spans = _spans(line.rstrip("\r"), base, links.get(number, []), resolve)
        rows.extend(StyledLine(row, number) for row in wrap(spans, width, before, rest))
    return rows


def _style(line: str) -> str:
    if line.startswith("#"):
        return "heading"
    return "quote" if line.startswith(">") else ""


def _spans(line: str, base: str, links: list[Link], resolve: Resolver) -> list[StyledSpan]:
    spans: list[StyledSpan] = []
    end = 0
    for link in links:
        written = f"[[{link.target}" if link.is_wikilink else f"[{link.label}]("
        start = line.find(written, end)
        if start < 0:
            continue
        stop = start + (link.end - link.start)
        number, style = resolve(link.target, link.is_wikilink, link.anchor)
        spans.append(StyledSpan(shown(line[end:start]), base))
        spans.append(StyledSpan(shown(line[start:stop]), style, number))
        end = stop
    spans.append(StyledSpan(shown(line[end:]), base))
    return [span for span in spans if span.text]


LONGEST_LINE = 10_000
"""Characters; what lies beyond is counted, not shown."""
_CONFLICT_COPY = re.compile(r"\.sync-conflict-|conflicted copy|\(conflict")
"""How Syncthing, Dropbox and others name the copy that lost."""
_REMINDS = StyledSpan("reminds of  ", "dim")
_SOURCE_PIECE = 400
"""Lines of source that are drawn in one go."""
_BYTES_SHOWN = 256


@dataclass(frozen=True, slots=True)
class LinkTarget:
    """Where a link of the page leads."""

    leads: Leads
    path: str
    """The file, or the address as it is written."""
    anchor: str = ""


_STYLES = {
    Leads.NOTE: "link",
    Leads.FILE: "external-link",
    Leads.NOWHERE: "dead-link",
    Leads.OUTSIDE: "dead-link",
    Leads.AWAY: "external-link",
}


class NotePage:
    """The lines of one note at one width."""

    def __init__(
        self,
        look: Snapshot,
        note: Note,
        width: int,
        as_source: bool,
        today: date,
        *,
        revealed: bool = False,
        reveal_key: str = "",
    ) -> None:
        """`as_source` shows the text as it stands on disk, with its head and line numbers;
        `revealed` with its secrets, which are masked otherwise; `reveal_key` is what shows them, as
        a person reads it, "" where no key does.
        """
        self._look = look
        self._note = note
        self._width = width
        self.as_source = as_source
        self._today = today
        self._revealed = revealed
        self._reveal_key = reveal_key
        self.targets: list[LinkTarget] = []
        self._reminded: Sequence[Association] = ()

    @property
    def path(self) -> str:
        """Path of the note."""
        return self._note.path

    @property
    def is_looked_through(self) -> bool:
        """Whether the text can be shown at once; otherwise it is to be looked through for secrets
        first, beside the screen.
        """
        return is_looked_through(self._note.text)

    @property
    def secrets(self) -> int:
        """How many secrets the text has; 0 while it is not looked through."""
        return len(secrets_in(self._note.text)) if self.is_looked_through else 0

    @property
    def body(self) -> str:
        """The text of the note as it is shown, without its frontmatter."""
        note = self._note
        return note.body if self._revealed else masked(note.text, note.head.end)

    def look_through(self) -> None:
        """Look for secrets in the text; for a thread."""
        secrets_in(self._note.text)

    @property
    def can_be_written(self) -> bool:
        """Whether there is another page that shows the text as it stands on disk."""
        return not self.as_source and bool(self._note.text)

    def written(self) -> NotePage:
        """Return the page of the same note that shows its text as it stands on disk."""
        page = NotePage(
            self._look,
            self._note,
            self._width,
            True,
            self._today,
            revealed=self._revealed,
            reveal_key=self._reveal_key,
        )
        page._reminded = self._reminded
        return page

    def remind(self, found: Sequence[Association]) -> list[StyledLine]:
        """Take what the note reminds of, and return it as lines that stand below all others. What
        leads over a note that this look does not have is left out.
        """
        here = self._look.memory.by_path
        self._reminded = [it for it in found if all(step.path in here for step in it.steps)]
        return self._reminders()

    def pieces(self) -> Iterator[list[StyledLine]]:
        """Yield the page piece by piece; a note that is drawn in one go is one piece."""
        if self._note.trouble is ReadError.NOT_YET:
            yield [StyledLine((StyledSpan(READING, "dim"),))]
            return
        drawn = self._facts()
        for number, draw in enumerate(self._parts()):
            if number:
                yield drawn
                drawn = []
            drawn += draw()
        yield drawn + self._neighbours() + self._reminders()

    def _parts(self) -> Iterator[Callable[[], list[StyledLine]]]:
        """Yield what draws the parts of the body; none of them is drawn before it is called."""
        note = self._note
        if not note.text:
            yield self._nothing_to_show
        elif self.as_source:
            yield from self._source()
        else:
            for line, part in chunks(_shortened(self.body), note.line_of(note.head.end)):
                yield partial(self._rendered, line, part)

    def _facts(self) -> list[StyledLine]:
        note = self._note
        facts = [
            what_it_is(note),
            note.type,
            age_in_words(note, self._today, self._look.ages),
            f"≈{tokens(note.text):,} tokens",
            read_briefly(self._look.evidence, note),
        ]
        if _CONFLICT_COPY.search(note.path):
            facts.append("conflict copy")
        if note.facts.links > 1:
            facts.append("hard link")
        if not note.facts.writable:
            facts.append("read-only")
        if self._look.is_protected(note):
            facts.append(f"{PROTECTED} protected")
        rows = [
            StyledLine(row)
            for row in wrap(
                [StyledSpan(one_line(" · ".join(filter(None, facts))), "dim")], self._width
            )
        ]
        rows += self._origin()
        if self.secrets:
            rows.append(self._told_of_secrets())
        if note.description:
            description = note.description
            if not self._revealed:
                description, _ = masked_passage(" ".join(description.split()), (), note.text)
            spans = [StyledSpan(one_line(description[:2_000]), "italic")]
            rows.extend(StyledLine(row) for row in wrap(spans, self._width))
        if note.trouble:
            rows.append(
                StyledLine((StyledSpan(clip(f"✗ {note.trouble.value}", self._width), "error"),))
            )
        fault = note.head.fault
        if fault:
            text = f"✗ line {fault.line}: {fault.message}"
            rows.append(StyledLine((StyledSpan(clip(text, self._width), "error"),)))
        return [*rows, BLANK]

    def _told_of_secrets(self) -> StyledLine:
        many = "1 secret is" if self.secrets == 1 else f"{self.secrets} secrets are"
        told = f"! {many} shown" if self._revealed else f"{MASK} {many} masked"
        does = "mask" if self._revealed else "reveal"
        key = (
            (StyledSpan(f"  {self._reveal_key} ", "key"), StyledSpan(does, "dim"))
            if self._reveal_key
            else ()
        )
        return StyledLine(fit((StyledSpan(told, "warning"), *key), self._width))

    def _origin(self) -> list[StyledLine]:
        """From which session it is: as the transcripts tell, else as its head does."""
        known = self._look.evidence.origins.get(self._note.path)
        session = self._note.head.scalar("originSessionId")
        if known is not None:
            before, behind = "from session “", f"” · {brief_day(known.at, self._today)}"
            key = (StyledSpan("  O ", "key"), StyledSpan("origin", "dim"))
            room = max(8, self._width - width_of((StyledSpan(before + behind), *key)))
            text = f"{before}{clip(known.session, min(room, 60))}{behind}"
            return [StyledLine(fit((StyledSpan(text, "dim"), *key), self._width))]
        if session:
            return [StyledLine((StyledSpan(clip(f"from session {session}", self._width), "dim"),))]
        return []

    def _rendered(self, line: int, part: str) -> list[StyledLine]:
        rendered = render_markdown(part, self._width, line, self._resolver())
        return [*rendered, BLANK] if rendered else []

    def _source(self) -> Iterator[Callable[[], list[StyledLine]]]:
        note = self._note
        text = note.text if self._revealed else masked(note.text)
        lines = _shortened(text).split("\n")
        links: dict[int, list[Link]] = {}
        for link in note.links:
            links.setdefault(link.line, []).append(link)
        head_lines = note.text.count("\n", 0, note.head.end)
        for start in range(0, len(lines), _SOURCE_PIECE):
            part = lines[start : start + _SOURCE_PIECE]
            yield partial(
                render_source, part, start + 1, self._width, head_lines, links, self._resolver()
            )
        yield lambda: [BLANK]

    def _nothing_to_show(self) -> list[StyledLine]:
        raw = self._note.raw[:_BYTES_SHOWN]
        if not raw:
            return [StyledLine((StyledSpan("nothing is written here", "dim"),)), BLANK]
        rows = [
            f"{start:08x}  {raw[start : start + 16].hex(' ')}" for start in range(0, len(raw), 16)
        ]
        return [*(StyledLine((StyledSpan(clip(row, self._width), "dim"),)) for row in rows), BLANK]

    def _neighbours(self) -> list[StyledLine]:
        memory = self._look.memory
        path = self._note.path
        forward = [
            link.path
            for link in memory.links.get(path, ())
            if link.leads is Leads.NOTE and link.path != path
        ]
        backward = list(memory.backlinks.get(path, ()))
        spans: list[StyledSpan] = []
        for arrow, paths in (("→", forward), ("←", backward)):
            for other in dict.fromkeys(paths):
                spans += [StyledSpan(f" {arrow} ", "dim"), self._name_of(other)]
        if not spans:
            return []
        label = StyledSpan("links ", "dim")
        return [
            StyledLine(row) for row in wrap(spans, self._width, (label,), (StyledSpan("      "),))
        ]

    def _reminders(self) -> list[StyledLine]:
        """What the note reminds of by more than a link of its own, with the way there."""
        spans: list[StyledSpan] = []
        for it in self._reminded:
            if len(it.steps) == 1 and it.steps[0].how in LINKS:
                continue
            spans += [self._name_of(it.path), StyledSpan(f" ({one_line(self._way(it))})  ", "dim")]
        if not spans:
            return []
        return [
            StyledLine(row)
            for row in wrap(spans, self._width, (_REMINDS,), (StyledSpan(" " * 12),))
        ]

    def _way(self, association: Association) -> str:
        between = [self._look.memory.by_path[it.path].stem for it in association.steps[:-1]]
        if between:
            return f"via {', '.join(between)}"
        # "same session as", "given together with": no name follows here
        return association.steps[0].how.rpartition(" ")[0]

    def _name_of(self, path: str) -> StyledSpan:
        self.targets.append(LinkTarget(Leads.NOTE, path))
        file = self._look.memory.by_path[path]
        name = path if file.role is FileRole.INDEX else file.stem
        return StyledSpan(clip(name, 48), "link", len(self.targets) - 1)

    def _resolver(self) -> Resolver:
        memory, note = self._look.memory, self._note

        def resolve(target: str, is_wikilink: bool, anchor: str) -> tuple[int, str]:
            if not is_wikilink and "#" in target and "://" not in target:
                target, _, anchor = target.partition("#")
            link = Link(_unquoted(target), anchor, "", 0, 0, 0, is_wikilink)
            found = memory.resolve(note, link)
            path = found.path or target
            if found.leads is Leads.AWAY and not target and anchor:
                self.targets.append(LinkTarget(Leads.NOTE, note.path, anchor))
            else:
                self.targets.append(LinkTarget(found.leads, path, anchor))
            wanted = is_wikilink and found.leads is Leads.NOWHERE
            return len(self.targets) - 1, "wanted-link" if wanted else _STYLES[found.leads]

        return resolve


def tokens(text: str) -> int:
    """Return about how many tokens a model reads for `text`: four ASCII characters to one, every
    other character one (a rule of thumb; tokenisers differ).
    """
    plain = len(text.encode("ascii", "ignore"))
    return max(1, plain // 4 + (len(text) - plain)) if text else 0


def line_of_heading(note: Note, anchor: str) -> int:
    """Return the line of the heading that `anchor` names, as GitHub or Obsidian would; 0 without
    one.
    """
    wanted = _slug(anchor)
    if wanted:
        for number, line in enumerate(note.text.split("\n"), 1):
            if line.startswith("#") and _slug(line.lstrip("#")) == wanted:
                return number
    return 0


def why_not_followed(target: LinkTarget) -> str:
    """Return in one visible line why a link that leads to no note is not followed."""
    said = {
        Leads.AWAY: "Addresses are not opened from here; y copies it",
        Leads.OUTSIDE: "This leads out of the memory",
        Leads.FILE: "This is a file and no note",
    }.get(target.leads, "Nothing is there")
    return f"{said}: {clip(target.path, 400)}"


def _slug(heading: str) -> str:
    kept = "".join(char for char in heading.casefold() if char.isalnum() or char in " -_")
    return kept.strip().replace(" ", "-")


def what_it_is(note: Note) -> str:
    """Return what a file is to its memory, in a word; "" for an ordinary note."""
    return {
        FileRole.INDEX: "index",
        FileRole.SOURCE: "raw source",
        FileRole.SUPPORT: "log or schema",
    }.get(note.role, "")


def _unquoted(target: str) -> str:
    from urllib.parse import unquote

    return unquote(target, errors="surrogateescape")


def _shortened(text: str) -> str:
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    if len(text) <= LONGEST_LINE:
        return text
    return "\n".join(
        line
        if len(line) <= LONGEST_LINE
        else f"{line[:LONGEST_LINE]} … (+{len(line) - LONGEST_LINE:,} characters)"
        for line in text.split("\n")
    )
