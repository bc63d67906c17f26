"""`python -m tests.benchmarks.recall --data FILE`: what recall finds, beside FTS5 and plain BM25.

With `--prompts FILE --stores FOLDER` it measures what agents and users get for prompts: the notes
that the hook gives, and the five of `ricordo recall`. A line of FILE has four columns with tabs
between them: a store, a folder below FOLDER; the path of the note that is needed, `-` if none is;
the kind; the prompt, with `\\n` for a line break. `--sheet` writes the notes that the hook gives,
to be judged. `--semantic` uses the model of `ricordo[semantic]` for `recall`.

R@k is the share of a question's evidence among the first k notes, averaged over questions; MRR the
mean of 1 / rank of the first note with evidence. A question whose evidence no note holds is left
out. Categories as in LoCoMo: 1 several hops, 2 time, 3 open, 4 one hop, 5 not to be answered; 0
where the file tells none. A file is a list of conversations, a single one, or one a line.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from functools import partial
from math import log
from pathlib import Path
from typing import NamedTuple

from ricordo.agents.agent import MemoryPlace
from ricordo.agents.folder import FOLDER
from ricordo.hook.prompt import answer_prompt
from ricordo.memory.memory import Memory
from ricordo.search.index import SearchIndex
from ricordo.search.question import RecallQuestion
from ricordo.search.rank import LEAST_WORDS, NARROW, WIDE, Breadth, Ranking, rank
from ricordo.search.select import LENIENT, STRICT, estimate_likelihoods
from ricordo.search.words import content_words, split_words, stem_word
from ricordo.services.search.recall import open_index, recall
from ricordo.services.workspace.environment import Environment
from ricordo.services.workspace.places import find_memories
from ricordo.storage.reader import read_memory
from tests.benchmarks.locomo import KINDS, Asked, Conversation, Piece, read_conversations
from tests.support.builders import write_memory

TUNED_ON = frozenset(("conv-26", "conv-42"))
"""Conversations on which constants were chosen; figures of all others are those that count."""
TARGETS = {"turns": (None, 0.64), "facts": (None, 0.66), "sessions": (0.65, 0.86)}
"""R@1 and R@5 on conversations that were not tuned on."""
DEEP = 50

Search = Callable[[str], list[str]]
"""Gives the paths of notes for a question, best first."""


class Bench:
    """The notes of one kind of one conversation, on the disk and indexed."""

    def __init__(self, folder: Path, pieces: Sequence[Piece], today: date) -> None:
        folder.mkdir(parents=True)
        self.pieces = pieces
        self.today = today
        root = write_memory(folder / "memory", {it.path: it.markdown() for it in pieces})
        self.memory: Memory = read_memory(str(root), FOLDER)
        self.index = SearchIndex(str(folder / "state"), self.memory.root)

    def ranking(self, question: str, breadth: Breadth = WIDE) -> Ranking:
        asked = RecallQuestion(question, self.today)
        return self.index.query(
            self.memory, lambda reader: rank(reader, asked, self.today, breadth)
        )

    def bearing(self, question: str) -> float:
        """Return how likely any note bears on a question, 0 to 1."""
        ranking = self.ranking(question)
        if len(ranking.question.words) < LEAST_WORDS:
            return 0.0
        return max(estimate_likelihoods(ranking).values(), default=0.0)

    def recall(self, question: str, breadth: Breadth = WIDE) -> list[str]:
        found = self.ranking(question, breadth).candidates[:DEEP]
        return [it.row.path.decode() for it in found]


def fts5(pieces: Sequence[Piece]) -> Search:
    """Return FTS5 alone: Porter's stems, OR of the content words, its own BM25."""
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE note USING fts5 (text, tokenize = 'porter unicode61')")
    texts = [(n, f"{it.name} {it.text}") for n, it in enumerate(pieces)]
    connection.executemany("INSERT INTO note (rowid, text) VALUES (?, ?)", texts)

    def search(question: str) -> list[str]:
        match = " OR ".join(f'"{word}"' for word in content_words(split_words(question)))
        sql = "SELECT rowid FROM note WHERE note MATCH ? ORDER BY rank LIMIT ?"
        rows = connection.execute(sql, (match, DEEP)) if match else ()
        return [pieces[row[0]].path for row in rows]

    return search


def plain_bm25(pieces: Sequence[Piece]) -> Search:
    """Return BM25 over stems as textbooks have it: k1 1.2, b .75, no fields, no chunks."""
    texts = [Counter(map(stem_word, split_words(f"{it.name} {it.text}"))) for it in pieces]
    notes = Counter(term for text in texts for term in text)
    average = sum(text.total() for text in texts) / len(texts)

    def score(terms: Iterable[str], text: Counter[str]) -> float:
        length = 1.2 * (0.25 + 0.75 * text.total() / average)
        return sum(
            log(1 + (len(texts) - notes[term] + 0.5) / (notes[term] + 0.5))
            * text[term]
            * 2.2
            / (text[term] + length)
            for term in terms
            if term in text
        )

    def search(question: str) -> list[str]:
        terms = set(map(stem_word, content_words(split_words(question))))
        scored = [(score(terms, text), it.path) for text, it in zip(texts, pieces, strict=True)]
        return [path for score, path in sorted(scored, key=lambda it: -it[0])[:DEEP] if score]

    return search


class Figures(NamedTuple):
    """How well questions were answered, on average."""

    questions: int
    first: float
    five: float
    ten: float
    mrr: float

    def row(self, what: str) -> str:
        numbers = "  ".join(f"{value:.3f}" for value in self[1:])
        return f"    {what:<22} {self.questions:>4}  {numbers}"


class Answered(NamedTuple):
    """One question as it was answered."""

    conversation: str
    category: int
    shares: tuple[float, float, float, float]


def figures(answers: Sequence[Answered]) -> Figures:
    """Return the averages over `answers`."""
    columns = zip(*(it.shares for it in answers), strict=True)
    return Figures(len(answers), *(sum(column) / len(answers) for column in columns))


def judge(
    conversation: str, asked: Asked, pieces: Sequence[Piece], search: Search
) -> Answered | None:
    """Return how `search` answers; None where no note holds the evidence."""
    gold = {it.path for it in pieces if it.turns & asked.evidence}
    if not gold:
        return None
    found = search(asked.text)
    share = [len(gold.intersection(found[:k])) / len(gold) for k in (1, 5, 10)]
    first = next((1 / n for n, path in enumerate(found, 1) if path in gold), 0.0)
    return Answered(conversation, asked.category, (share[0], share[1], share[2], first))


def measure(kind: str, benches: Mapping[str, Bench], talks: Sequence[Conversation]) -> None:
    """Print the figures of every engine for one kind of notes."""
    print(f"\n{kind} as notes{' ' * 21}R@1    R@5    R@10   MRR")
    answers: dict[str, list[Answered]] = {}
    for talk in talks:
        bench = benches[talk.id]
        engines: dict[str, Search] = {
            "FTS5 alone": fts5(bench.pieces),
            "plain BM25": plain_bm25(bench.pieces),
            "the hook": partial(bench.recall, breadth=NARROW),
            "recall": bench.recall,
        }
        for name, search in engines.items():
            judged = (judge(talk.id, it, bench.pieces, search) for it in talk.questions)
            answers.setdefault(name, []).extend(it for it in judged if it)
    if not any(answers.values()):
        print("  no question is answered by a note")
        return
    for name, of_engine in answers.items():
        print(f"  {name}")
        for label, chosen in _parts(of_engine, details=name == "recall"):
            print(figures(chosen).row(label))
    _verdict(kind, answers)


def _parts(answers: Sequence[Answered], details: bool) -> Iterable[tuple[str, list[Answered]]]:
    unseen = [it for it in answers if it.conversation not in TUNED_ON]
    tuned = [it for it in answers if it.conversation in TUNED_ON]
    yield from (pair for pair in (("tuned on", tuned), ("not tuned on", unseen)) if pair[1])
    if not details:
        return
    for talk in sorted({it.conversation for it in answers}):
        yield talk, [it for it in answers if it.conversation == talk]
    for category in sorted({it.category for it in unseen}):
        yield f"category {category}, not tuned", [it for it in unseen if it.category == category]


def _verdict(kind: str, answers: Mapping[str, list[Answered]]) -> None:
    unseen = {
        name: [it for it in of_engine if it.conversation not in TUNED_ON]
        for name, of_engine in answers.items()
    }
    if not unseen["recall"]:
        return
    got = figures(unseen["recall"])
    for label, value, target in zip(("R@1", "R@5"), got[1:3], TARGETS[kind], strict=True):
        if target:
            verdict = "ok" if value >= target else "MISSED"
            print(f"  {label} {value:.3f}, target {target}: {verdict}")
    loss = 100 * (got.five - figures(unseen["the hook"]).five)
    print(f"  the hook loses {loss:.1f} points of R@5 (3 at most)")


SHARE = 0.8
"""Of a conversation's own questions, to which the threshold of the silence test lets notes go."""
LOUDEST = 0.35
"""Of foreign questions, that may get notes then."""
SMALL_TALK = ("thanks", "ok", "continue", "yes please do it", "and then?", "why", "what is this")


def silence(kind: str, benches: Mapping[str, Bench], talks: Sequence[Conversation]) -> None:
    """Print how many questions of one conversation get notes of the next one."""
    if len(talks) < 2:
        print("  silence is not measured: there is no other conversation")
        return
    for counted, label in ((False, "tuned on"), (True, "not tuned on")):
        own: list[float] = []
        foreign: list[float] = []
        for number, talk in enumerate(talks):
            if (talk.id not in TUNED_ON) == counted:
                bench, other = benches[talk.id], talks[(number + 1) % len(talks)]
                own += [bench.bearing(it.text) for it in talk.questions]
                foreign += [bench.bearing(it.text) for it in other.questions]
        if own:
            _print_silence(f"{kind}, {label}", sorted(own), foreign)
    loud = [text for text in SMALL_TALK for bench in benches.values() if bench.bearing(text)]
    print(f"  small talk that gets notes: {loud or 'none'}")


def _print_silence(label: str, own: list[float], foreign: list[float]) -> None:
    threshold = own[int(len(own) * (1 - SHARE))]
    loud = sum(value >= threshold for value in foreign) / len(foreign)
    verdict = "ok" if loud <= LOUDEST else "MISSED"
    print(f"  silence, {label}: {loud:.1%} of foreign questions get notes ({verdict}) where")
    at_own = [sum(value >= STRICT.best for value in of) / len(of) for of in (own, foreign)]
    print(f"    {SHARE:.0%} of its own do; as shipped {at_own[1]:.1%} where {at_own[0]:.1%} do")


class Prompt(NamedTuple):
    """A prompt of a file, and the notes of which it needs one; none if it needs no note."""

    store: str
    paths: frozenset[str]
    kind: str
    text: str


def read_prompts(file: Path) -> list[Prompt]:
    """Return the prompts of a file."""
    rows = (line.split("\t") for line in file.read_text("utf-8").splitlines() if line.strip())
    return [
        Prompt(store, frozenset(path.split("|")) - {"-"}, kind, text.replace("\\n", "\n"))
        for store, path, kind, text in rows
    ]


class Store:
    """A memory of somebody, indexed, with a project from which the hook finds it."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.state = str(folder / "state")
        self.project = folder / "project"
        self.project.mkdir(parents=True)
        self.environment = Environment(str(folder), {}, str(folder), self.state, str(folder))
        place = find_memories(str(root.resolve()), self.environment)[0]
        self.memory = read_memory(place.root, place.layout)
        self.index = open_index(
            MemoryPlace(place.root, place.layout, str(self.project)), self.environment
        )
        self.index.update(self.memory)

    def hook(self, prompt: str, session: str) -> list[str]:
        """Return the paths of the notes that the hook gives."""
        event = {"prompt": prompt, "cwd": str(self.project), "session_id": session}
        answer = answer_prompt(json.dumps(event).encode(), self.state)
        if not answer:
            return []
        context = json.loads(answer)["hookSpecificOutput"]["additionalContext"]
        return [it.path for it in self.memory.files if f"({it.path}" in context]

    def recall(self, prompt: str, *, semantic: bool) -> list[str]:
        """Return the paths of the five notes of `ricordo recall`."""
        found = recall(
            self.index,
            self.memory,
            prompt,
            self.environment,
            semantic=semantic,
            strictness=LENIENT,
        )
        return [it.note.path for it in found]


class Answers(NamedTuple):
    """What was given for one prompt."""

    prompt: Prompt
    hook: list[str]
    recall: list[str]


def ask_all(
    prompts: Sequence[Prompt], stores: Path, folder: Path, *, semantic: bool
) -> list[Answers]:
    """Return what the hook and recall give for `prompts` about the memories in `stores`."""
    opened: dict[str, Store] = {}
    answers = []
    for number, prompt in enumerate(prompts):
        if prompt.store not in opened:
            opened[prompt.store] = Store(stores / prompt.store, folder / str(len(opened)))
        store = opened[prompt.store]
        given = store.hook(prompt.text, str(number))
        answers.append(Answers(prompt, given, store.recall(prompt.text, semantic=semantic)))
    return answers


def table(answers: Sequence[Answers]) -> Iterable[str]:
    """Yield what was given for each kind of prompts."""
    yield f"{'':<14}{'prompts':>8}{'hook speaks':>13}{'right':>7}{'notes':>7}{'recall, 5':>11}"
    for kind in dict.fromkeys(it.prompt.kind for it in answers):
        of_kind = [it for it in answers if it.prompt.kind == kind]
        spoken = sum(bool(it.hook) for it in of_kind)
        notes = sum(len(it.hook) for it in of_kind)
        if of_kind[0].prompt.paths:
            right = str(sum(not it.prompt.paths.isdisjoint(it.hook) for it in of_kind))
            recalled = sum(not it.prompt.paths.isdisjoint(it.recall) for it in of_kind)
        else:
            right, recalled = "", sum(bool(it.recall) for it in of_kind)
        yield f"{kind:<14}{len(of_kind):>8}{spoken:>13}{right:>7}{notes:>7}{recalled:>11}"


def write_sheet(answers: Sequence[Answers], file: Path) -> None:
    """Write the notes that the hook gave, a line each: store, path, kind, prompt."""
    rows = (
        "\t".join((it.prompt.store, path, it.prompt.kind, it.prompt.text.replace("\n", "\\n")))
        for it in answers
        for path in it.hook
    )
    file.write_text("".join(f"{row}\n" for row in rows), "utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the conversations of a file."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.recall",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--data", type=Path, metavar="FILE")
    parser.add_argument("--prompts", type=Path, metavar="FILE")
    parser.add_argument("--stores", type=Path, metavar="FOLDER")
    parser.add_argument("--sheet", type=Path, metavar="FILE")
    parser.add_argument("--semantic", action="store_true")
    options = parser.parse_args(arguments)
    if bool(options.prompts) != bool(options.stores) or not (options.data or options.prompts):
        parser.error("give --data, or --prompts with --stores")
    if options.prompts:
        with tempfile.TemporaryDirectory(prefix="ricordo-prompts-") as folder:
            prompts = read_prompts(options.prompts)
            answers = ask_all(prompts, options.stores, Path(folder), semantic=options.semantic)
        print(*table(answers), sep="\n")
        if options.sheet:
            write_sheet(answers, options.sheet)
    if not options.data:
        return 0
    conversations = read_conversations(options.data)
    with tempfile.TemporaryDirectory(prefix="ricordo-recall-") as folder:
        for kind in KINDS:
            talks = [it for it in conversations if it.pieces[kind]]
            benches = {
                it.id: Bench(Path(folder) / kind / str(number), it.pieces[kind], it.last_day)
                for number, it in enumerate(talks)
            }
            measure(kind, benches, talks)
            silence(kind, benches, talks)
    return 0


if __name__ == "__main__":
    sys.exit(main())
