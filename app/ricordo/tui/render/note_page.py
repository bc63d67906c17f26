"""One note as lines: its facts, its text rendered or as source, its links.

The page is made in pieces, so that the beginning of a long note is on the screen at once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial

from ricordo.memory.layout import FileRole
from ricordo.memory.links import Link
from ricordo.memory.names import TargetKind
from ricordo.memory.note import Note, ReadError
from ricordo.search.association import LINKS, Association
from ricordo.services.sessions.activity_text import (
    describe_age,
    describe_reads_briefly,
    format_day_briefly,
)
from ricordo.services.workspace.notebook import Snapshot
from ricordo.text import clip, make_one_line
from ricordo.tui.render.empty import READING
from ricordo.tui.render.index_rows import PROTECTED_MARK
from ricordo.tui.render.line import (
    BLANK,
    MEASURE,
    StyledLine,
    StyledSpan,
    fit,
    measure,
    span_text,
    wrap,
)
from ricordo.tui.render.markdown import LinkResolver, render_markdown, split_markdown
from ricordo.tui.render.mask import (
    MASK,
    can_mask_at_once,
    find_cached_secrets,
    mask_passage,
    mask_text,
)


def render_source(
    lines: list[str],
    first: int,
    width: int,
    head_lines: int,
    links: dict[int, list[Link]],
    resolve: LinkResolver,
) -> list[StyledLine]:
    """Return `lines` with their numbers; the first is line `first` of the file.

    `head_lines` is the number of lines of the frontmatter; `links` are the note's links by line.
    """
    gutter = 5
    rows: list[StyledLine] = []
    rest = (StyledSpan(" " * gutter),)
    for number, line in enumerate(lines, first):
        before = (StyledSpan(f"{number:>{gutter - 1}} ", "dim"),)
        base = "frontmatter" if number <= head_lines else _style_of(line)
        spans = _render_spans(line.rstrip("\r"), base, links.get(number, []), resolve)
        rows.extend(StyledLine(row, number) for row in wrap(spans, width, before, rest))
    return rows


def _style_of(line: str) -> str:
    if line.startswith("#"):
        return "heading"
    return "quote" if line.startswith(">") else ""


def _render_spans(
    line: str, base: str, links: list[Link], resolve: LinkResolver
) -> list[StyledSpan]:
    spans: list[StyledSpan] = []
    end = 0
    for link in links:
        written = f"[[{link.target}" if link.is_wikilink else f"[{link.label}]("
        start = line.find(written, end)
        if start < 0:
            continue
        stop = start + (link.end - link.start)
        number, style = resolve(link.target, link.is_wikilink, link.anchor)
        spans.append(StyledSpan(span_text(line[end:start]), base))
        spans.append(StyledSpan(span_text(line[start:stop]), style, number))
        end = stop
    spans.append(StyledSpan(span_text(line[end:]), base))
    return [span for span in spans if span.text]


MAX_LINE = 10_000
"""Most characters of a line that are shown; the rest is counted."""
_CONFLICT_COPY = re.compile(r"\.sync-conflict-|conflicted copy|\(conflict")
"""File names that Syncthing, Dropbox and others give to conflict copies."""
_ASSOCIATIONS_LABEL = StyledSpan("reminds of  ", "dim")
_SOURCE_PIECE = 400
"""Lines of source that are drawn at once."""
_BYTES_SHOWN = 256


@dataclass(frozen=True, slots=True)
class LinkTarget:
    """The target of a link on the page."""

    kind: TargetKind
    path: str
    """Path of the file, or the address as written."""
    anchor: str = ""


_STYLES = {
    TargetKind.NOTE: "link",
    TargetKind.FILE: "external-link",
    TargetKind.MISSING: "dead-link",
    TargetKind.OUTSIDE: "dead-link",
    TargetKind.EXTERNAL: "external-link",
}


class NotePage:
    """The lines of one note at one width."""

    def __init__(
        self,
        snapshot: Snapshot,
        note: Note,
        width: int,
        as_source: bool,
        today: date,
        *,
        revealed: bool = False,
        reveal_key: str = "",
    ) -> None:
        """`as_source` shows the text as it is on disk, with frontmatter and line numbers;
        `revealed` shows its secrets, which are masked otherwise; `reveal_key` is the label of the
        key that reveals them, "" for none.
        """
        self._snapshot = snapshot
        self._note = note
        self._width = width
        self._measure = min(width, MEASURE)
        self.as_source = as_source
        self._today = today
        self._revealed = revealed
        self._reveal_key = reveal_key
        self.targets: list[LinkTarget] = []
        self._associations: Sequence[Association] = ()

    @property
    def path(self) -> str:
        """Return the path of the note."""
        return self._note.path

    @property
    def can_mask_at_once(self) -> bool:
        """Return whether the text can be masked at once; else scan it in a thread first."""
        return can_mask_at_once(self._note.text)

    @property
    def secret_count(self) -> int:
        """Return the number of secrets in the text; 0 while it is not scanned."""
        return len(find_cached_secrets(self._note.text)) if self.can_mask_at_once else 0

    @property
    def body(self) -> str:
        """Return the text as it is shown, without frontmatter."""
        note = self._note
        return note.body if self._revealed else mask_text(note.text, note.frontmatter.end)

    def scan_secrets(self) -> None:
        """Scan the text for secrets; slow, for a thread."""
        find_cached_secrets(self._note.text)

    @property
    def has_source_page(self) -> bool:
        """Return whether `written` returns another page."""
        return not self.as_source and bool(self._note.text)

    def as_source_page(self) -> NotePage:
        """Return the page that shows the same note as source."""
        page = NotePage(
            self._snapshot,
            self._note,
            self._width,
            True,
            self._today,
            revealed=self._revealed,
            reveal_key=self._reveal_key,
        )
        page._associations = self._associations
        return page

    def add_associations(self, associations: Sequence[Association]) -> list[StyledLine]:
        """Store the associations of the note, and return them as lines for the end of the page.
        Associations via a note that this snapshot lacks are left out.
        """
        by_path = self._snapshot.memory.by_path
        self._associations = [
            each for each in associations if all(step.path in by_path for step in each.steps)
        ]
        return self._render_associations()

    def iter_pieces(self) -> Iterator[list[StyledLine]]:
        """Yield the page piece by piece; a short note is one piece."""
        if self._note.read_error is ReadError.PENDING:
            yield [StyledLine((StyledSpan(READING, "dim"),))]
            return
        drawn = self._render_facts()
        for number, draw in enumerate(self._iter_body()):
            if number:
                yield drawn
                drawn = []
            drawn += draw()
        yield drawn + self._render_links() + self._render_associations()

    def _iter_body(self) -> Iterator[Callable[[], list[StyledLine]]]:
        """Yield functions that draw the parts of the body."""
        note = self._note
        if not note.text:
            yield self._render_bytes
        elif self.as_source:
            yield from self._iter_source()
        else:
            for line, part in split_markdown(
                _shorten_lines(self.body), note.line_of(note.frontmatter.end)
            ):
                yield partial(self._render_part, line, part)

    def _render_facts(self) -> list[StyledLine]:
        note = self._note
        facts = [
            describe_role(note),
            note.type,
            describe_age(note, self._today, self._snapshot.ages),
            f"≈{estimate_tokens(note.text):,} tokens",
            describe_reads_briefly(self._snapshot.evidence, note),
        ]
        if _CONFLICT_COPY.search(note.path):
            facts.append("conflict copy")
        if note.facts.links > 1:
            facts.append("hard link")
        if not note.facts.is_writable:
            facts.append("read-only")
        if self._snapshot.is_protected(note):
            facts.append(f"{PROTECTED_MARK} protected")
        rows = [
            StyledLine(row)
            for row in wrap(
                [StyledSpan(make_one_line(" · ".join(filter(None, facts))), "dim")], self._measure
            )
        ]
        rows += self._render_origin()
        if self.secret_count:
            rows.append(self._render_secrets())
        if note.description:
            description = note.description
            if not self._revealed:
                description, _ = mask_passage(" ".join(description.split()), (), note.text)
            spans = [StyledSpan(make_one_line(description[:2_000]), "italic")]
            rows.extend(StyledLine(row) for row in wrap(spans, self._measure))
        if note.read_error:
            rows.append(
                StyledLine(
                    (StyledSpan(clip(f"✗ {note.read_error.value}", self._measure), "error"),)
                )
            )
        fault = note.frontmatter.error
        if fault:
            text = f"✗ line {fault.line}: {fault.message}"
            rows.append(StyledLine((StyledSpan(clip(text, self._measure), "error"),)))
        return [*rows, BLANK]

    def _render_secrets(self) -> StyledLine:
        count = "1 secret is" if self.secret_count == 1 else f"{self.secret_count} secrets are"
        words = f"! {count} shown" if self._revealed else f"{MASK} {count} masked"
        verb = "mask" if self._revealed else "reveal"
        key = (
            (StyledSpan(f"  {self._reveal_key} ", "key"), StyledSpan(verb, "dim"))
            if self._reveal_key
            else ()
        )
        return StyledLine(fit((StyledSpan(words, "warning"), *key), self._measure))

    def _render_origin(self) -> list[StyledLine]:
        """Return the session of the note: from the transcripts, else from its frontmatter."""
        known = self._snapshot.evidence.origins.get(self._note.path)
        session = self._note.frontmatter.get_text("originSessionId")
        if known is not None:
            before, behind = "from session “", f"” · {format_day_briefly(known.at, self._today)}"
            key = (StyledSpan("  O ", "key"), StyledSpan("origin", "dim"))
            room = max(8, self._measure - measure((StyledSpan(before + behind), *key)))
            text = StyledSpan(f"{before}{clip(known.session, min(room, 60))}{behind}", "dim")
            # a narrow pane has no room for the key
            shown = (text, *key) if measure((text, *key)) <= self._measure else (text,)
            return [StyledLine(fit(shown, self._measure))]
        if session:
            # as much of an id as other screens and commands show
            return [StyledLine((StyledSpan(f"from session {clip(session, 9)}", "dim"),))]
        return []

    def _render_part(self, line: int, part: str) -> list[StyledLine]:
        rendered = render_markdown(part, self._width, line, self._create_resolver())
        return [*rendered, BLANK] if rendered else []

    def _iter_source(self) -> Iterator[Callable[[], list[StyledLine]]]:
        note = self._note
        text = note.text if self._revealed else mask_text(note.text)
        lines = _shorten_lines(text).split("\n")
        links: dict[int, list[Link]] = {}
        for link in note.links:
            links.setdefault(link.line, []).append(link)
        head_lines = note.text.count("\n", 0, note.frontmatter.end)
        for start in range(0, len(lines), _SOURCE_PIECE):
            part = lines[start : start + _SOURCE_PIECE]
            yield partial(
                render_source,
                part,
                start + 1,
                self._width,
                head_lines,
                links,
                self._create_resolver(),
            )
        yield lambda: [BLANK]

    def _render_bytes(self) -> list[StyledLine]:
        raw = self._note.raw[:_BYTES_SHOWN]
        if not raw:
            return [StyledLine((StyledSpan("this file is empty", "dim"),)), BLANK]
        rows = [
            f"{start:08x}  {raw[start : start + 16].hex(' ')}" for start in range(0, len(raw), 16)
        ]
        return [*(StyledLine((StyledSpan(clip(row, self._width), "dim"),)) for row in rows), BLANK]

    def _render_links(self) -> list[StyledLine]:
        memory = self._snapshot.memory
        path = self._note.path
        forward = [
            link.path
            for link in memory.links.get(path, ())
            if link.target_kind is TargetKind.NOTE and link.path != path
        ]
        backward = list(memory.backlinks.get(path, ()))
        spans: list[StyledSpan] = []
        for arrow, paths in (("→", forward), ("←", backward)):
            for other in dict.fromkeys(paths):
                spans += [StyledSpan(f" {arrow} ", "dim"), self._render_link(other)]
        if not spans:
            return []
        label = StyledSpan("links ", "dim")
        return [
            StyledLine(row) for row in wrap(spans, self._measure, (label,), (StyledSpan("      "),))
        ]

    def _render_associations(self) -> list[StyledLine]:
        """Return the associations beyond the note's own links, each with its path."""
        spans: list[StyledSpan] = []
        for association in self._associations:
            if len(association.steps) == 1 and association.steps[0].relation in LINKS:
                continue
            spans += [
                self._render_link(association.path),
                StyledSpan(f" ({make_one_line(self._describe_path(association))})  ", "dim"),
            ]
        if not spans:
            return []
        return [
            StyledLine(row)
            for row in wrap(spans, self._measure, (_ASSOCIATIONS_LABEL,), (StyledSpan(" " * 12),))
        ]

    def _describe_path(self, association: Association) -> str:
        between = [self._snapshot.memory.by_path[step.path].stem for step in association.steps[:-1]]
        if between:
            return f"via {', '.join(between)}"
        # "same session as", "given together with": drop the last word, no name follows
        return association.steps[0].relation.rpartition(" ")[0]

    def _render_link(self, path: str) -> StyledSpan:
        self.targets.append(LinkTarget(TargetKind.NOTE, path))
        file = self._snapshot.memory.by_path[path]
        name = path if file.role is FileRole.INDEX else file.stem
        return StyledSpan(clip(name, 48), "link", len(self.targets) - 1)

    def _create_resolver(self) -> LinkResolver:
        memory, note = self._snapshot.memory, self._note

        def resolve(target: str, is_wikilink: bool, anchor: str) -> tuple[int, str]:
            if not is_wikilink and "#" in target and "://" not in target:
                target, _, anchor = target.partition("#")
            link = Link(_unquote(target), anchor, "", 0, 0, 0, is_wikilink)
            resolved = memory.resolve(note, link)
            path = resolved.path or target
            if resolved.target_kind is TargetKind.EXTERNAL and not target and anchor:
                self.targets.append(LinkTarget(TargetKind.NOTE, note.path, anchor))
            else:
                self.targets.append(LinkTarget(resolved.target_kind, path, anchor))
            is_unwritten = is_wikilink and resolved.target_kind is TargetKind.MISSING
            return len(self.targets) - 1, "wanted-link" if is_unwritten else _STYLES[
                resolved.target_kind
            ]

        return resolve


def estimate_tokens(text: str) -> int:
    """Return the estimated tokens of `text`: one for four ASCII characters, one for every other
    character (a rule of thumb; tokenisers differ).
    """
    plain = len(text.encode("ascii", "ignore"))
    return max(1, plain // 4 + (len(text) - plain)) if text else 0


def find_heading_line(note: Note, anchor: str) -> int:
    """Return the line of the heading that `anchor` names in GitHub's or Obsidian's way; 0 if
    there is none.
    """
    slug = _slug(anchor)
    if slug:
        for number, line in enumerate(note.text.split("\n"), 1):
            if line.startswith("#") and _slug(line.lstrip("#")) == slug:
                return number
    return 0


def explain_unfollowed(target: LinkTarget) -> str:
    """Return in one line of visible text why a link to no note is not followed."""
    reason = {
        TargetKind.EXTERNAL: "Ricordo opens no addresses; y copies it",
        TargetKind.OUTSIDE: "Link out of the memory",
        TargetKind.FILE: "Link to a file that is no note",
    }.get(target.kind, "Link to a note that does not exist")
    return f"{reason}: {clip(target.path, 400)}"


def _slug(heading: str) -> str:
    chars = "".join(char for char in heading.casefold() if char.isalnum() or char in " -_")
    return chars.strip().replace(" ", "-")


def describe_role(note: Note) -> str:
    """Return the role of a file in its memory, in words; "" for an ordinary note."""
    return {
        FileRole.INDEX: "index",
        FileRole.SOURCE: "raw source",
        FileRole.SUPPORT: "log or schema",
    }.get(note.role, "")


def _unquote(target: str) -> str:
    from urllib.parse import unquote

    return unquote(target, errors="surrogateescape")


def _shorten_lines(text: str) -> str:
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    if len(text) <= MAX_LINE:
        return text
    return "\n".join(
        line
        if len(line) <= MAX_LINE
        else f"{line[:MAX_LINE]} … (+{len(line) - MAX_LINE:,} characters)"
        for line in text.split("\n")
    )
