"""Results of tools: JSON documents of bounded size, the next part by a cursor."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from typing import Any

from ricordo.agents.prompt_rules import break_speaker_tags
from ricordo.errors import WrongUsage
from ricordo.patterns import compile_lazily
from ricordo.secrets import mask
from ricordo.text import make_visible

Document = dict[str, Any]

MAX_CHARACTERS = 16_000
"""Characters of one result. Agents cut results at 25,000 tokens, and a character of some scripts is
more than one.
"""
LONGEST_LINE = 300
"""Characters of a name, a description or a reason."""
_CURSOR = compile_lazily(r"(0|[1-9][0-9]{0,8})\.([0-9a-f]{12})")


def make_plain(text: str) -> str:
    """Return text of a note as agents get it: without credentials, control characters visible, and
    without tags that mark speakers.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return break_speaker_tags(make_visible(mask(lines)))


def dump(document: Document) -> str:
    """Return a document as JSON without lone surrogates or invisible characters."""
    return json.dumps(_encodable(document), ensure_ascii=False)


def _encodable(value: Any) -> Any:
    if isinstance(value, str):
        return make_visible(value)
    if isinstance(value, dict):
        return {make_visible(key): _encodable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_encodable(item) for item in value]
    return value


class Request:
    """One request of a tool that may take several pages."""

    def __init__(self, tool: str, *arguments: str, cursor: str = "") -> None:
        """Read the `cursor`, which is valid for the same tool and arguments only. Raises WrongUsage
        where it is not one.
        """
        whole = json.dumps([tool, *arguments]).encode("ascii")
        self._digest = hashlib.blake2b(whole, digest_size=6).hexdigest()
        self.start = self._read(cursor) if cursor else 0
        """The number of the first item, or character, of this page."""

    def _read(self, cursor: str) -> int:
        match = _CURSOR.fullmatch(cursor)
        if match is None or match[2] != self._digest:
            raise WrongUsage(
                "The cursor does not belong to this request.",
                hint="Pass the cursor of the last result with the same arguments, or none.",
            )
        return int(match[1])

    def make_cursor(self, start: int) -> str:
        """Return the cursor of the page that begins at `start`."""
        return f"{start}.{self._digest}"

    def make_page(
        self, key: str, items: Sequence[Any], describe: Callable[[Any], Document], **more: Any
    ) -> Document:
        """Return the document with as many items from `start` on, under `key`, as fit; only those
        are described. At least one is on a page.
        """
        described: list[Document] = []
        room, at = MAX_CHARACTERS - len(json.dumps(more)), self.start
        for item in items[self.start :]:
            one = describe(item)
            room -= len(json.dumps(one, ensure_ascii=False))
            if described and room < 0:
                break
            described.append(one)
            at += 1
        cursor = self.make_cursor(at) if at < len(items) else None
        return {**more, key: described, "total": len(items), "cursor": cursor}

    def cut_text(self, text: str) -> tuple[str, str | None]:
        """Return the part of `text` from `start` on that fits on a page, and the cursor of the
        next; parts end at a line end where there is one.
        """
        part = text[self.start : self.start + MAX_CHARACTERS]
        end = self.start + len(part)
        if end >= len(text):
            return part, None
        newline = part.rfind("\n")
        if newline > 0:
            part = part[: newline + 1]
        return part, self.make_cursor(self.start + len(part))


def make_brief(text: str, most: int = LONGEST_LINE) -> str:
    """Return `text` as `make_plain` does, cut to `most` characters with `…`."""
    plain = make_plain(text)
    return plain if len(plain) <= most else f"{plain[:most].rstrip()} …"
