"""Redacting a handoff: every text in it passes `llm.redaction` before it is written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ricordo.errors import ChangeRefused
from ricordo.handoff.document import Handoff, HandoffHeader, HandoffStatement
from ricordo.handoff.format import read_statement, render_statement, render_without_digest
from ricordo.llm.redaction import PLACEHOLDER, QUOTED, Redaction


def redact_handoff(handoff: Handoff, redaction: Redaction) -> Handoff:
    """Return a handoff with placeholders for its secrets. A statement whose mark would not survive
    that is left out, and so is a file of the header whose name looks like a secret.
    """
    redaction.learn(text for statement in handoff.statements for text in list_texts(statement))
    results = [_redact_statement(statement, handoff, redaction) for statement in handoff.statements]
    statements = tuple(statement for statement in results if statement is not None)
    left_out = handoff.left_out + len(results) - len(statements)
    return Handoff(_redact_header(handoff.header, redaction), statements, left_out)


def add_redaction_count(handoff: Handoff) -> Handoff:
    """Return a handoff whose header counts the redactions in its text."""
    labels = (match[1] for match in PLACEHOLDER.finditer(render_without_digest(handoff)))
    redactions = sum(1 for kind in labels if kind != QUOTED)
    return replace(handoff, header=replace(handoff.header, redactions=redactions))


def drop_remaining_secrets(handoff: Handoff, redaction: Redaction) -> Handoff:
    """Return a handoff without the statements that look like a secret only next to others.

    Raises ChangeRefused where that is not enough.
    """
    text = render_without_digest(handoff)
    masked = redaction.seal(text)
    if masked == text:
        return handoff
    rows, sessions = set(masked.split("\n")), len(handoff.header.sources)
    statements = tuple(
        item for item in handoff.statements if rows.issuperset(render_statement(item, sessions))
    )
    left_out = handoff.left_out + len(handoff.statements) - len(statements)
    if len(statements) == len(handoff.statements):
        raise ChangeRefused("The header of this handoff looks like a secret.")
    return drop_remaining_secrets(Handoff(handoff.header, statements, left_out), redaction)


def list_texts(statement: HandoffStatement) -> Iterator[str]:
    """Yield the texts of a statement from which secrets in other texts can be learned."""
    yield from (statement.text, statement.quote)
    if statement.quote:
        # the text before a quotation may name what it is
        yield f"{statement.text}: {statement.quote}"


def _redact_statement(
    statement: HandoffStatement, handoff: Handoff, redaction: Redaction
) -> HandoffStatement | None:
    """Return a statement without secrets; None where its line would change its meaning."""
    place = f"{statement.section.value}: {statement.text[:40]}"
    text, quote = redaction.redact(place, statement.text), redaction.redact(place, statement.quote)
    redacted = replace(statement, text=text, quote=quote)
    sessions = len(handoff.header.sources)
    # what becomes a secret only next to its mark, or in its escaped form
    rendered = "\n".join(render_statement(redacted, sessions))
    masked = redaction.seal(rendered)
    if masked == rendered:
        return redacted
    reread = read_statement(masked, statement.section)
    if reread is None or render_statement(replace(reread, proof=statement.proof), sessions) != (
        masked.split("\n")
    ):
        return None
    return replace(redacted, text=reread.text, quote=reread.quote)


def _redact_header(header: HandoffHeader, redaction: Redaction) -> HandoffHeader:
    def is_plain(text: str) -> bool:
        return redaction.redact("", text) == text

    files = {path: sha for path, sha in header.files.items() if is_plain(path)}
    dirty = tuple(filter(is_plain, header.dirty))
    dropped = len(header.files) - len(files) + len(header.dirty) - len(dirty)
    sources = tuple(
        replace(
            source,
            id=source.id if is_plain(source.id) else "",
            path=source.path if is_plain(source.path) else "",
        )
        for source in header.sources
    )
    return replace(
        header,
        files=files,
        dirty=dirty,
        sources=sources,
        branch=header.branch if is_plain(header.branch) else "",
        memory=header.memory if is_plain(header.memory) else "",
        project=header.project if is_plain(header.project) else "",
        unlisted=header.unlisted + dropped,
    )
