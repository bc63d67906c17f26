"""Keeping secrets out of a handoff: every text in it passes the one redaction (`model.redaction`)
before it is written.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ricordo.errors import ChangeRefused
from ricordo.handoff.document import Handoff, HandoffHeader, HandoffStatement
from ricordo.handoff.format import read_statement, statement_lines, unsigned
from ricordo.llm.redaction import GIVEN_OUT, SAID, Redaction


def without_secrets(handoff: Handoff, redaction: Redaction) -> Handoff:
    """Return a handoff with placeholders for its secrets. A statement whose mark would not survive
    that is left out, and so is a file of the head whose name looks like a secret.
    """
    redaction.learn(text for it in handoff.statements for text in texts_of(it))
    found = [_redacted(it, handoff, redaction) for it in handoff.statements]
    kept = tuple(it for it in found if it is not None)
    left_out = handoff.left_out + len(found) - len(kept)
    return Handoff(_head(handoff.head, redaction), kept, left_out)


def counted(handoff: Handoff) -> Handoff:
    """Return a handoff whose head tells how often something stands in it that was kept back."""
    kinds = (match[1] for match in GIVEN_OUT.finditer(unsigned(handoff)))
    redactions = sum(1 for kind in kinds if kind != SAID)
    return replace(handoff, head=replace(handoff.head, redactions=redactions))


def cleaned(handoff: Handoff, redaction: Redaction) -> Handoff:
    """Return a handoff in which nothing looks like a secret as a whole either: statements that do
    so only beside others are left out. Raises ChangeRefused where that is not enough.
    """
    text = unsigned(handoff)
    masked = redaction.sealed(text)
    if masked == text:
        return handoff
    rows, sessions = set(masked.split("\n")), len(handoff.head.sources)
    kept = tuple(it for it in handoff.statements if rows.issuperset(statement_lines(it, sessions)))
    left_out = handoff.left_out + len(handoff.statements) - len(kept)
    if len(kept) == len(handoff.statements):
        raise ChangeRefused("The head of this handoff looks like a secret.")
    return cleaned(Handoff(handoff.head, kept, left_out), redaction)


def texts_of(it: HandoffStatement) -> Iterator[str]:
    """Yield the texts of a statement, each of which may tell what is a secret in all others."""
    yield from (it.text, it.quote)
    if it.quote:
        # what stands before a quotation may tell what it is
        yield f"{it.text}: {it.quote}"


def _redacted(
    it: HandoffStatement, handoff: Handoff, redaction: Redaction
) -> HandoffStatement | None:
    """Return a statement without secrets; None where its line would say something else then."""
    place = f"{it.section.value}: {it.text[:40]}"
    text, quote = redaction.redact(place, it.text), redaction.redact(place, it.quote)
    bare = replace(it, text=text, quote=quote)
    sessions = len(handoff.head.sources)
    # what becomes a secret only beside its mark, or in the form in which it is written
    written = "\n".join(statement_lines(bare, sessions))
    masked = redaction.sealed(written)
    if masked == written:
        return bare
    read = read_statement(masked, it.section)
    if read is None or statement_lines(replace(read, proof=it.proof), sessions) != (
        masked.split("\n")
    ):
        return None
    return replace(bare, text=read.text, quote=read.quote)


def _head(head: HandoffHeader, redaction: Redaction) -> HandoffHeader:
    def is_plain(text: str) -> bool:
        return redaction.redact("", text) == text

    files = {path: sha for path, sha in head.files.items() if is_plain(path)}
    dirty = tuple(filter(is_plain, head.dirty))
    hidden = len(head.files) - len(files) + len(head.dirty) - len(dirty)
    sources = tuple(
        replace(it, id=it.id if is_plain(it.id) else "", path=it.path if is_plain(it.path) else "")
        for it in head.sources
    )
    return replace(
        head,
        files=files,
        dirty=dirty,
        sources=sources,
        branch=head.branch if is_plain(head.branch) else "",
        memory=head.memory if is_plain(head.memory) else "",
        project=head.project if is_plain(head.project) else "",
        unlisted=head.unlisted + hidden,
    )
