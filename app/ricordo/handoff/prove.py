"""Proving: finding the proof of each statement of a handoff.

A statement gets the mark of its weakest part.

* *Verified* is a statement about exactly one file, one note, the memory or the repository: in the
  section of files about a single file, in that of the memory about a single note or its directory,
  or about the state of the repository. A check has to see it now, as it was gathered. A statement
  that names a file in passing, or is based on anything else too, is not verified by the file. Nor
  is one with a name or a number that was not found there.
* A *result* stays one if it is word for word that of a command among the facts; `changes.py` says
  what makes it stale.
* A *quote* stays one if its words are in the message that it names, in one piece; or if it is, line
  by line, the tasks of that message on which the statement is based.

All else is unverified, and so is everything that a model worded. Whoever made the statements does
not decide: the proof that they bring is only a claim to be checked.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from ricordo.handoff.changes import find_changed_dependencies
from ricordo.handoff.check import SHA_DIGITS, CurrentState, has_digest, remove_handoff_files
from ricordo.handoff.document import (
    FileProof,
    GitProof,
    HandoffStatement,
    MemoryProof,
    NoteProof,
    Proof,
    QuoteProof,
    ResultProof,
    StatementSection,
)
from ricordo.handoff.facts import (
    GIT_ID,
    MEMORY_ID,
    CommandFact,
    DecisionFact,
    ErrorFact,
    Fact,
    Facts,
    FileUse,
    GitState,
    MessageFact,
    MessageRef,
    NoteFact,
    RuledOutFact,
    SummaryFact,
    TaskFact,
)
from ricordo.storage.file_state import FileState, MissingFile


def prove(
    statements: Iterable[HandoffStatement], facts: Facts, current: CurrentState
) -> tuple[HandoffStatement, ...]:
    """Return the `statements`, which were made of `facts`, each with its proof."""
    lookup = FactLookup(facts)
    return tuple(replace(item, proof=_find_proof(item, lookup, current)) for item in statements)


class FactLookup:
    """Finds facts by id and by message."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.by_id: Mapping[str, Fact] = {fact.id: fact for fact in list_facts(facts)}
        self._words: dict[tuple[int, int], list[str]] = defaultdict(list)
        for fact in self.by_id.values():
            if not isinstance(fact, FileUse | NoteFact):
                self._words[fact.ref[:2]] += list_quotable_texts(fact)

    def has_quote(self, ref: MessageRef, words: str) -> bool:
        """Return whether the message at `ref` contains `words` exactly."""
        return bool(words.strip()) and any(words in text for text in self._words[ref[:2]])


def list_facts(facts: Facts) -> list[Fact]:
    """Return every fact that has an id."""
    return [
        *facts.messages,
        *facts.summaries,
        *facts.commands,
        *facts.files,
        *facts.tasks,
        *facts.errors,
        *facts.ruled_out,
        *facts.decisions,
        *facts.notes,
    ]


def list_quotable_texts(
    fact: MessageFact
    | SummaryFact
    | CommandFact
    | TaskFact
    | ErrorFact
    | RuledOutFact
    | DecisionFact,
) -> list[str]:
    """Return the texts that a fact quotes word for word from its message."""
    match fact:
        case CommandFact():
            return [fact.command, fact.result]
        case ErrorFact():
            return [fact.error]
        case RuledOutFact():
            # what was given up, and why, may be from other messages
            return [fact.refusal_text]
        case _:
            return [fact.text]


def _find_proof(
    statement: HandoffStatement, lookup: FactLookup, current: CurrentState
) -> Proof | None:
    if statement.is_model_text:
        return None
    match statement.proof:
        case QuoteProof(ref):
            is_found = lookup.has_quote(ref, statement.quote) or _quotes_tasks(
                statement, ref, lookup
            )
            return QuoteProof(ref) if is_found else None
        case ResultProof() as result:
            return _prove_result(result, statement, lookup, current)
        case _:
            return _verify_subject(statement, lookup, current)


def _quotes_tasks(statement: HandoffStatement, ref: MessageRef, lookup: FactLookup) -> bool:
    """Return whether a statement quotes tasks of one message, a line each, and is based only on
    them.
    """
    tasks = [
        task_fact
        for id in statement.fact_ids
        if isinstance(task_fact := lookup.by_id.get(id), TaskFact)
    ]
    has_only_tasks = len(tasks) == len(statement.fact_ids)
    is_same_turn = all(task.ref[:2] == ref[:2] for task in tasks)
    return (
        has_only_tasks
        and is_same_turn
        and statement.quote == "\n".join(task.text for task in tasks)
    )


def _prove_result(
    result: ResultProof, statement: HandoffStatement, lookup: FactLookup, current: CurrentState
) -> ResultProof | None:
    """Return a result with what was changed since; None where no command among the facts
    ended so.
    """
    cited = [lookup.by_id.get(id) for id in statement.fact_ids]
    runs = [
        fact for fact in cited if isinstance(fact, CommandFact) and _is_outcome_of(result, fact)
    ]
    if len(runs) != 1 or len(runs) != len(cited):
        return None
    return replace(
        result, ref=runs[0].ref, changed=find_changed_dependencies(runs[0], lookup.facts, current)
    )


def _is_outcome_of(result: ResultProof, ran: CommandFact) -> bool:
    outcome = (ran.ref[:2], ran.exit, ran.has_failed)
    return outcome == (result.ref[:2], result.exit, result.has_failed)


def _verify_subject(
    statement: HandoffStatement, lookup: FactLookup, current: CurrentState
) -> Proof | None:
    """Return the proof that a check finds for the one subject of a statement; None without one."""
    text = statement.text
    if tuple(statement.fact_ids) == (GIT_ID,):
        git = lookup.facts.git
        return _prove_git(lookup.facts, current) if git and _describes_only(text, git) else None
    if tuple(statement.fact_ids) == (MEMORY_ID,):
        is_there = current.memory == lookup.facts.memory and current.has_memory
        is_there = is_there and _has_only_known(text, [lookup.facts.memory])
        return MemoryProof(current.memory) if is_there else None
    cited = [lookup.by_id.get(id) for id in statement.fact_ids]
    match statement.section, cited:
        case StatementSection.FILES, [FileUse() as use] if _is_only_about(
            text, use, lookup.facts.files
        ):
            is_verified = _has_only_known(
                text, [use.path, *use.parts], [use.change_count, use.last_use.number]
            )
            return _prove_file(use, current) if is_verified else None
        case StatementSection.MEMORY, [NoteFact() as note]:
            words = f"{note.description} {note.reason}"
            is_verified = _has_only_known(text, [note.path], words=words)
            is_verified = is_verified and has_digest(current.check_note(note.path), note.sha)
            return NoteProof(note.path, note.sha[:SHA_DIGITS]) if is_verified else None
        case _:
            return None


def _has_only_known(
    text: str, names: Iterable[str], counts: Iterable[int] = (), words: str = ""
) -> bool:
    """Return whether all code and every number in a text is known: from `names`, from `counts`, or
    from the `words` of a note.
    """
    known_names = {*_list_codes(words), *(" ".join(name.split()) for name in names)}
    known_numbers = {*_NUMBER.findall(words), *map(str, counts)}
    has_names = all(
        code in known_names
        or (
            code.endswith(_ELLIPSIS)
            and any(name.startswith(code.removesuffix(_ELLIPSIS)) for name in known_names)
        )
        for code in _list_codes(text)
    )
    return has_names and known_numbers.issuperset(_NUMBER.findall(_CODE.sub("", text)))


def _list_codes(text: str) -> list[str]:
    return [match[2].strip() for match in _CODE.finditer(text)]


_CODE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")
_ELLIPSIS = " …"
"""How shortened code ends."""
_NUMBER = re.compile(r"\d+")


def _describes_only(text: str, git: GitState) -> bool:
    """Return whether a text states only what the repository shows."""
    counts = [*range(len(git.dirty) + 1), git.unpushed or 0]
    rest = text.replace(f" at {git.commit[:SHA_DIGITS]}", "", 1)
    return _has_only_known(rest, [git.branch, git.subject, *git.dirty], counts)


def _is_only_about(text: str, use: FileUse, files: Sequence[FileUse]) -> bool:
    """Return whether a text names this file and none of the others."""
    others = (other.path for other in files if other.path not in use.path)
    return use.path in text and not any(path in text for path in others)


def _prove_file(use: FileUse, current: CurrentState) -> FileProof | None:
    state = current.check_file(use.path)
    if isinstance(state, FileState) and state.sha == use.sha:
        return FileProof(use.path, state.sha[:SHA_DIGITS])
    return FileProof(use.path, None) if state is MissingFile.GONE and use.sha is None else None


def _prove_git(facts: Facts, current: CurrentState) -> GitProof | None:
    state = current.git
    if (
        state is None
        or facts.git is None
        or state != remove_handoff_files(facts.git, current.handoff_files)
    ):
        return None
    return GitProof(state.commit, state.branch, len(state.dirty))
