"""What handoffs are like: `python -m tests.benchmarks.handoff [FOLDER…] [--budget N]`.

Every transcript beneath the folders is handed off on its own, as the command line does it: Claude
Code's, Codex's and opencode's. Without a folder it is the real sessions beside the repository and
those of the sample memory. Printed is a table: how many statements carry which mark, how many
tokens the file takes, how often something was kept back. Each handoff is then looked at by other
means than it was made with: it has to fit its budget, quote letter by letter, name nothing that
neither transcript nor project nor memory has, mark every statement, hold when it is probed again
at once, and show no credential. What is amiss is told below the table, and ends with 1.
"""

from __future__ import annotations

import argparse
import json
import re
import sqlite3
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from shutil import copytree

from ricordo.agents.opencode.transcript import read_sessions_at
from ricordo.errors import RicordoError
from ricordo.handoff.budget import DEFAULT_BUDGET
from ricordo.handoff.document import HandoffStatement, ProofStatus, QuoteProof
from ricordo.handoff.format import DocumentState, parse
from ricordo.llm.redaction import PLACEHOLDER_LIKE
from ricordo.secrets import find_secrets
from ricordo.services.handoff.handoff import HandoffOptions, draft_handoff
from ricordo.services.handoff.output import RenderedHandoff, finish_draft, write_handoff
from ricordo.services.handoff.resume import resume_handoff
from ricordo.services.workspace.environment import load_environment
from ricordo.services.workspace.notebook import Notebook
from ricordo.services.workspace.places import find_memory
from ricordo.services.workspace.settings import load_settings
from ricordo.text import make_visible
from tests.benchmarks.planted import NOW, SAMPLE
from tests.support.builders import SHARED

TRANSCRIPTS = SHARED / "data" / "transcripts"
_MEMORY = ".claude/projects/-home-ana-work-tidepool/memory"
_CODE = re.compile(r"(`+)(.+?)\1(?!`)")
_ITEM = re.compile(r"(?:- |\d+\. ).*")
_MARKED = re.compile(r".* \[(?:verified|reported|stale|quoted|unverified)\b[^\[\]]*\]")
_CUT = " …"
_TYPED = re.compile(
    r"<command-name>(.*?)</command-name>.*?<command-args>(.*?)</command-args>", re.DOTALL
)


@dataclass(frozen=True)
class Transcript:
    """A transcript, and all that it says."""

    name: str
    """As the command line takes it."""
    files: tuple[Path, ...]

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """Every text in it, whatever it belongs to, with controls made visible."""
        found = [text for path in self.files for value in _values(path) for text in _texts(value)]
        # a command that the person typed is kept as its name and its words
        typed = (f"{it[1]} {it[2]}" for text in found for it in _TYPED.finditer(text))
        return tuple(make_visible(text.replace("\r\n", "\n")) for text in (*found, *typed))

    @cached_property
    def words(self) -> str:
        """All of it in one line."""
        return " ".join(" ".join(self.texts).split())


@dataclass(frozen=True)
class Row:
    """How one transcript was handed off."""

    name: str
    done: RenderedHandoff | None
    """None where nothing was written."""
    amiss: tuple[str, ...]


def transcripts(folder: Path) -> Iterator[Transcript]:
    """Yield the transcripts beneath `folder`."""
    for path in sorted(folder.rglob("*.jsonl")):
        yield Transcript(str(path), (path,))
    for path in sorted(folder.rglob("session/*/*.json")):
        storage = path.parents[2]
        yield Transcript(str(path), tuple(sorted(storage.rglob("*.json"))))
    for path in sorted(folder.rglob("opencode*.db")):
        for session in read_sessions_at(str(path)):
            yield Transcript(f"{path}#{session.id}", (path,))


def hand_off(notebook: Notebook, found: Transcript, budget: int) -> Row:
    """Return how a transcript is handed off in the project of `notebook`."""
    wish = HandoffOptions(budget=budget, sessions=(found.name,))
    memory = notebook.read()
    try:
        drafted = draft_handoff(notebook, wish)
        done = finish_draft(drafted)
        written = write_handoff(notebook, memory, drafted, done)
        resumed = resume_handoff(notebook.environment, written.path).rechecked
    except RicordoError as error:
        return Row(found.name, None, (f"{type(error).__name__}: {error}",))
    raw = Path(written.path).read_bytes()
    names = _names_in(Path(notebook.environment.project))
    known = (*names, notebook.place.root, *(it.path for it in memory.notes))
    state = drafted.facts.git
    known += (state.branch, *state.dirty) if state else ()
    amiss = (
        *_over(raw, budget),
        *_misquoted(done.handoff.statements, found),
        *_invented(done.handoff.statements, found, known),
        *_unmarked(raw, len(done.handoff.statements)),
        *(f"does not hold: {it.statement.text}" for it in resumed.statements if not it.is_valid),
        *(f"shows a credential: {it.kind}" for it in find_secrets(raw.decode())),
    )
    return Row(found.name, done, amiss)


def _over(raw: bytes, budget: int) -> Iterator[str]:
    if len(raw) > 4 * budget:
        yield f"takes {len(raw) // 4} tokens of {budget}"


def _misquoted(statements: Sequence[HandoffStatement], found: Transcript) -> Iterator[str]:
    for it in statements:
        if it.quote and not _is_said(it.quote, found):
            yield f"quotes what is not said: {it.quote[:60]!r}"
        if isinstance(it.proof, QuoteProof) and not it.quote:
            yield f"is marked as a quotation and quotes nothing: {it.text}"


def _is_said(quote: str, found: Transcript) -> bool:
    """Whether a text of the transcript holds the quote, or each of its lines is a whole text."""
    pieces = [piece for piece in PLACEHOLDER_LIKE.split(quote) if piece]
    in_one = any(all(piece in text for piece in pieces) for text in found.texts)
    return in_one or all(line in found.texts for line in quote.split("\n"))


def _invented(
    statements: Sequence[HandoffStatement], found: Transcript, known: Sequence[str]
) -> Iterator[str]:
    """Yield what stands between backticks in a line of ours, or is a file of ours, and is not
    there.
    """
    for it in statements:
        for match in _CODE.finditer(it.text):
            name = match[2].strip().removesuffix(_CUT)
            if all(piece in found.words for piece in PLACEHOLDER_LIKE.split(name)) or name in known:
                continue
            yield f"names what nothing has: {name}"


def _unmarked(raw: bytes, statements: int) -> Iterator[str]:
    parsed = parse(raw)
    if parsed.state is not DocumentState.UNCHANGED:
        yield f"is not read back: {parsed.reason}"
    body = raw.decode().split("ricordo handoff: begin", 1)[1]
    items = [line for line in body.split("\n") if _ITEM.fullmatch(line)]
    if len(items) != statements:
        yield f"has {len(items)} lines for {statements} statements"
    yield from (f"is not marked: {line}" for line in items if not _MARKED.fullmatch(line))


def machine(folder: Path) -> Notebook:
    """Return the notebook of the sample memory on a machine of its own in `folder`."""
    home = folder / "home"
    root = copytree(SAMPLE / "memory", home / _MEMORY)
    environment = load_environment(
        {"HOME": str(home)}, state=str(folder / "state"), now=NOW, agent_home=str(home)
    )
    settings, _ = load_settings(environment, frozenset())
    notebook = Notebook(find_memory(str(root), environment), environment, settings)
    notebook.record(notebook.read())
    return notebook


def _in_project(notebook: Notebook, where: Path, project: Path | None) -> Notebook:
    """Return a notebook of the same memory; its project is a copy of `project`, or empty."""
    if project is None:
        where.mkdir()
    else:
        copytree(project, where)
    here = notebook.environment._replace(project=str(where), cwd=str(where))
    return Notebook(notebook.place, here, notebook.settings)


def _names_in(project: Path) -> list[str]:
    return [str(path.relative_to(project)) for path in project.rglob("*")]


def _values(path: Path) -> Iterator[object]:
    """Yield the values of JSON in a file of lines, a file, or a database."""
    if path.suffix == ".db":
        with closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as connection:
            for table in ("session", "message", "part", "todo"):
                try:
                    rows = connection.execute(f"SELECT * FROM {table}").fetchall()
                except sqlite3.Error:
                    continue
                yield from (_read(cell) for row in rows for cell in row if isinstance(cell, str))
    elif path.suffix == ".jsonl":
        yield from map(_read, path.read_text("utf-8", "replace").split("\n"))
    else:
        yield _read(path.read_text("utf-8", "replace"))


def _read(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _texts(value: object) -> Iterator[str]:
    """Yield all texts in a value, also those in JSON that is a text itself, and what is named."""
    if isinstance(value, str):
        yield value
        inner = _read(value) if value[:1] in "{[" else None
        yield from _texts(inner) if isinstance(inner, dict | list) else ()
    elif isinstance(value, Mapping):
        yield from (text for key, it in value.items() for text in (str(key), *_texts(it)))
    elif isinstance(value, list):
        yield from (text for it in value for text in _texts(it))


def rows(folders: Sequence[Path], budget: int = DEFAULT_BUDGET) -> Iterator[Row]:
    """Yield how each transcript beneath the folders is handed off. Those of the sample memory are
    handed off in its project.
    """
    with tempfile.TemporaryDirectory() as name:
        place = Path(name).resolve()
        notebook = machine(place)
        for folder in folders:
            project = SAMPLE / "project" if folder.is_relative_to(SAMPLE) else None
            for number, found in enumerate(transcripts(folder)):
                where = place / f"{folder.name}-{number}"
                row = hand_off(_in_project(notebook, where, project), found, budget)
                yield Row(_short(found.name, folder), row.done, row.amiss)


def _short(name: str, folder: Path) -> str:
    parts = Path(name).relative_to(folder).parts
    return "/".join(part[:24] for part in parts[-3:])


_HEADS = (*(it.value for it in ProofStatus), "tokens", "kept back", "left out")


def _told(row: Row) -> str:
    if row.done is None:
        return f"{row.name:<60}  nothing was written"
    head = row.done.handoff.header
    by_status = Counter(statement.status for statement in row.done.handoff.statements)
    counts = [by_status[it] for it in ProofStatus]
    cells = (*counts, row.done.tokens, head.redactions, row.done.handoff.left_out)
    return f"{row.name:<60}" + "".join(f"{it:>11,}" for it in cells)


def main() -> int:
    """Print the table and what is amiss; return 1 where anything is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER")
    parser.add_argument("--budget", type=int, default=DEFAULT_BUDGET, metavar="N", help="tokens")
    given = parser.parse_args()
    folders = [it.resolve() for it in given.folders]
    folders = folders or [it for it in (TRANSCRIPTS, SAMPLE / "home") if it.is_dir()]
    print(f"{'transcript':<60}" + "".join(f"{it:>11}" for it in _HEADS))
    found = []
    for row in rows(folders, given.budget):
        print(_told(row), flush=True)
        found.append(row)
    done = [it.done for it in found if it.done is not None]
    by_status = Counter(each.status for it in done for each in it.handoff.statements)
    totals = [by_status[status] for status in ProofStatus]
    totals += [max((it.tokens for it in done), default=0)]
    print(
        f"{f'{len(done)} handoffs; all marks, most tokens':<60}"
        + "".join(f"{it:>11,}" for it in totals)
    )
    amiss = [f"{row.name}: {it}" for row in found for it in row.amiss]
    print(*(amiss or ["nothing is amiss"]), sep="\n")
    return int(bool(amiss))


if __name__ == "__main__":
    sys.exit(main())
