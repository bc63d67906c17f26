"""Updating a handoff: statements of the old one that are still valid are kept, and new ones added.

An old statement is dropped where
* it is no longer valid, or was not valid when it was written;
* a new statement repeats it: the same words, more or less of them from the same message, or the
  same file, note or repository;
* it is in the objective, active, blocked or next section, which are about the present, and new
  statements there have a proof; where only new ones without a proof are there, those are dropped
  instead;
* an engine could not prove it and has read the same sessions again: it repeats it, or no longer
  thinks so.

All others are kept, after the new ones, and still name the session that they are from.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import replace

from ricordo.handoff.document import (
    FileProof,
    GitProof,
    Handoff,
    HandoffHeader,
    HandoffStatement,
    MemoryProof,
    NoteProof,
    ProofStatus,
    QuoteProof,
    ResultProof,
    StatementSection,
)
from ricordo.handoff.format import normalize_statement
from ricordo.handoff.resume import RecheckedHandoff
from ricordo.llm.redaction import PLACEHOLDER_LIKE

HideSecrets = Callable[[str], str]

_CURRENT_SECTIONS = frozenset(
    (
        StatementSection.OBJECTIVE,
        StatementSection.ACTIVE,
        StatementSection.BLOCKED,
        StatementSection.NEXT,
    )
)


def merge_handoffs(
    old: RecheckedHandoff, new: Handoff, hide: HideSecrets = lambda text: text
) -> Handoff:
    """Return `new` with the statements of `old` that are kept. `old` is the handoff in the file,
    rechecked. `hide` puts placeholders for the secrets of a new statement, as the old ones have
    them.
    """
    fresh = [_normalize(statement, hide) for statement in new.statements]
    known_keys = {key for statement in fresh for key in _list_keys(statement)}
    quoted = [(_find_origin(statement, new.header), statement.quote) for statement in fresh]
    replaced = {
        statement.section for statement in new.statements if statement.proof is not None
    } & _CURRENT_SECTIONS
    was_read_again = _was_read_again(old.handoff, new)
    statements = [
        statement.statement
        for statement in old.statements
        if statement.is_valid
        and statement.status_now is not ProofStatus.STALE
        and statement.statement.section not in replaced
        and not (statement.status_now is ProofStatus.UNVERIFIED and was_read_again)
        and known_keys.isdisjoint(_list_keys(normalized := _normalize(statement.statement)))
        and not _is_same_quote(normalized, old.handoff.header, quoted)
    ]
    return _join(new, old.handoff.header, statements)


def _normalize(
    statement: HandoffStatement, hide: HideSecrets = lambda text: text
) -> HandoffStatement:
    """Return a statement as its document has it, with the same placeholder for every secret."""

    def hide_secrets(text: str) -> str:
        return PLACEHOLDER_LIKE.sub("[REDACTED]", hide(text))

    normalized = normalize_statement(statement)
    return replace(
        normalized, text=hide_secrets(normalized.text), quote=hide_secrets(normalized.quote)
    )


def _list_keys(statement: HandoffStatement) -> Iterator[Hashable]:
    """Yield the keys by which a repeated statement is recognized."""
    yield statement.text, statement.quote
    match statement.proof:
        case FileProof(path):
            yield statement.section, path
        case NoteProof(path):
            yield NoteProof, path
        case GitProof():
            yield GitProof
        case MemoryProof():
            yield MemoryProof
        case _:
            pass


def _is_same_quote(
    statement: HandoffStatement, header: HandoffHeader, quoted: Iterable[tuple[Hashable, str]]
) -> bool:
    """Return whether one of the `quoted` texts is the same quote, cut at another place."""
    origin = _find_origin(statement, header)
    return origin is not None and any(
        other == origin and (words.startswith(statement.quote) or statement.quote.startswith(words))
        for other, words in quoted
    )


def _find_origin(statement: HandoffStatement, header: HandoffHeader) -> Hashable:
    """Return the section of a quote, its session and its message; None where it quotes nothing."""
    if not isinstance(statement.proof, QuoteProof) or statement.proof.ref.session >= len(
        header.sources
    ):
        return None
    source = header.sources[statement.proof.ref.session]
    return statement.section, source.agent, source.id, statement.proof.ref.number


def _was_read_again(old: Handoff, new: Handoff) -> bool:
    """Return whether the same engine has read all sessions of the old handoff again."""
    return old.header.engine == new.header.engine and _list_session_ids(old) <= _list_session_ids(
        new
    )


def _list_session_ids(handoff: Handoff) -> set[tuple[str, str]]:
    return {(source.agent.name, source.id) for source in handoff.header.sources}


def _join(new: Handoff, old: HandoffHeader, stays: list[HandoffStatement]) -> Handoff:
    """Return `new` with the statements that stay, renumbered from the sessions of the `old` header
    to those of `new`; the files that their results depend on are added to its header.
    """
    sources = list(new.header.sources)
    ids = [(source.agent, source.id) for source in sources]
    named_sessions = {
        item.proof.ref.session for item in stays if isinstance(item.proof, QuoteProof | ResultProof)
    }
    has_unnamed = any(statement.proof is None for statement in stays)
    numbers: dict[int, int] = {}
    for number, source in enumerate(old.sources):
        if (source.agent, source.id) in ids:
            numbers[number] = ids.index((source.agent, source.id))
        elif number in named_sessions or has_unnamed:
            numbers[number] = len(sources)
            sources.append(source)
    old_files = (
        old.files if any(isinstance(statement.proof, ResultProof) for statement in stays) else {}
    )
    header = replace(new.header, sources=tuple(sources), files={**old_files, **new.header.files})
    kept_statements = tuple(_renumber(statement, numbers) for statement in stays)
    replaced = {statement.section for statement in kept_statements} & _CURRENT_SECTIONS
    new_statements = (
        item for item in new.statements if item.proof is not None or item.section not in replaced
    )
    return replace(new, header=header, statements=(*new_statements, *kept_statements))


def _renumber(statement: HandoffStatement, numbers: Mapping[int, int]) -> HandoffStatement:
    if not isinstance(statement.proof, QuoteProof | ResultProof):
        return statement
    ref = statement.proof.ref
    if ref.session not in numbers:
        return replace(statement, proof=None)
    return replace(
        statement, proof=replace(statement.proof, ref=ref._replace(session=numbers[ref.session]))
    )
