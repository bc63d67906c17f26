"""How much of what asks for attention is right on memories that nobody has seen: one row is one
cause, as on the screen.

    python -m tests.benchmarks.first_sight SET STORES --sheet FILE     rows for readers to judge
    python -m tests.benchmarks.first_sight SET STORES VERDICTS…        what they say of them
    python -m tests.benchmarks.first_sight SET STORES VERDICTS… --keep what they say as labels

SET is a table without a heading: checkout, OWNER/NAME, commit, folder, languages by commas,
licence. STORES is the folder of the checkouts. A reader's VERDICTS has in each line the number of a
row, `true`, `noise` or `false`, and a reason. Rows are numbered by what they say, so that verdicts
hold for another version of the program as long as it says the same.

`--keep` adds the stores to `corpus.toml` and to `labels.tsv` what the first reader says of each
row, for up to twelve of its members; the stores that `--tune` names count as
looked at.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from tests.benchmarks.corpus import HERE, SPEAKING, Store, lint, load_corpus
from tests.benchmarks.precision import Label, Verdict, excerpt

_AT_ONCE = 2
_SEALED = "9ab"
"""First digits of the SHA-256 of OWNER/NAME whose stores are sealed."""
_NO_WORD = re.compile(r"[^a-z0-9]+")
_MOST_MEMBERS = 12
_SHOWN_MEMBERS = 6


class Row(NamedTuple):
    """A cause that asks for attention."""

    store: Store
    cause: Mapping[str, Any]
    """As `ricordo lint --json` gives it."""

    @property
    def number(self) -> str:
        """What verdicts call it: the name of the store and the ids of its members."""
        ids = ",".join(sorted(it["id"] for it in self.members))
        return f"{self.store.name}-{hashlib.sha256(ids.encode()).hexdigest()[:6]}"

    @property
    def members(self) -> Sequence[Mapping[str, Any]]:
        """The findings of this cause that ask for attention."""
        each = self.cause.get("members", [self.cause])
        return [it for it in each if it["severity"] in SPEAKING] or [self.cause]


def read_set(path: Path) -> list[Store]:
    """Return the stores of a table; their names are like no other in the corpus, but for those that
    are in it already.
    """
    stores: list[Store] = []
    kept = {(it.repository, it.folder): it.name for it in load_corpus()}
    taken = set(kept.values())
    for line in path.read_text(encoding="utf-8").splitlines():
        _, repository, commit, folder, languages, licence = line.split("\t")[:6]
        whole = _NO_WORD.sub("-", f"{repository}/{folder}".lower()).strip("-")
        names = (_NO_WORD.sub("-", repository.rpartition("/")[2].lower()).strip("-"), whole)
        name = kept.get((repository, folder)) or next(it for it in names if it not in taken)
        taken.add(name)
        digit = hashlib.sha256(repository.lower().encode()).hexdigest()[0]
        use = "sealed" if digit in _SEALED else "tune"
        spoken = tuple(it.strip() for it in languages.split(","))
        stores.append(Store(name, repository, commit, folder, use, spoken, licence))
    return stores


def read_rows(stores: Sequence[Store], checkouts: Path) -> list[Row]:
    """Return what asks for attention in the stores, in their order."""

    def read(store: Store) -> list[Row]:
        checkout = store.find_checkout(checkouts)
        if checkout is None:
            print(f"{store.name}: no checkout of {store.repository}", file=sys.stderr)
            return []
        try:
            document, _ = lint(checkout / store.folder)
        except SystemExit as error:
            print(error, file=sys.stderr)
            return []
        causes = document["findings"]
        return [Row(store, it) for it in causes if it["severity"] in SPEAKING]

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return [row for rows in pool.map(read, stores) for row in rows]


def render_sheet(rows: Sequence[Row], checkouts: Path) -> Iterator[str]:
    """Yield the lines of a page on which a reader finds each row with its place."""
    for row in rows:
        checkout = row.store.find_checkout(checkouts)
        assert checkout is not None
        memory = checkout / row.store.folder
        yield f"## {row.number}: {row.cause['severity']} {row.cause['rule']}\n"
        yield f"memory {memory}"
        yield f"\n**{row.cause['message']}**\n"
        for it in row.members[:_SHOWN_MEMBERS]:
            yield f"at {it['path']}:{it['line']}: {it['message']}"
            yield from (f"- evidence: {text}" for text in it["evidence"])
            yield from excerpt(memory / it["path"], it["line"])
        left = len(row.members) - _SHOWN_MEMBERS
        if left > 0:
            yield f"and {left} more"
        yield ""


def read_verdicts(path: Path) -> dict[str, tuple[Verdict, str]]:
    """Return what a reader says of each row."""
    with path.open(encoding="utf-8", newline="") as file:
        lines = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return {
        it[0].strip(): (Verdict(it[1].strip()), it[2].strip() if len(it) > 2 else "")
        for it in lines
        if len(it) > 1 and it[1].strip() in list(Verdict)
    }


def render_verdicts(
    rows: Sequence[Row], readers: Sequence[Mapping[str, tuple[Verdict, str]]]
) -> Iterator[str]:
    """Yield a table of what readers say by rule, and the rows that one of them does not call
    true.
    """
    by_rule: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_rule[row.cause["rule"]].append(row)
    for rule, group in (*sorted(by_rule.items()), ("all", rows)):
        counts = [Counter(it[row.number][0] for row in group if row.number in it) for it in readers]
        numbers = "; ".join(" ".join(str(each[word]) for word in Verdict) for each in counts)
        yield f"{rule:<24} {len(group):>4} rows: {numbers}"
    yield ""
    for row in rows:
        said = [it.get(row.number) for it in readers]
        if any(it is None or it[0] != Verdict.TRUE for it in said):
            words = "; ".join(f"{it[0]}: {it[1]}" if it else "not judged" for it in said)
            place = f"{row.cause['path']}:{row.cause['line']}"
            yield f"{row.number} {row.cause['rule']} {place} {row.cause['message'][:120]} [{words}]"


def keep(
    stores: Sequence[Store], rows: Sequence[Row], said: Mapping[str, tuple[Verdict, str]]
) -> None:
    """Add the stores to the corpus, if they are new, and what is said of the rows to the labels."""
    known = {it.name for it in load_corpus()}
    with (HERE / "corpus.toml").open("a", encoding="utf-8") as file:
        for it in (it for it in stores if it.name not in known):
            languages = ", ".join(f'"{each}"' for each in it.languages)
            file.write(
                f'\n[[store]]\nname = "{it.name}"\nrepository = "{it.repository}"\n'
                f'commit = "{it.commit}"\nfolder = "{it.folder}"\nuse = "{it.use}"\n'
                f'languages = [{languages}]\nlicence = "{it.licence}"\n'
            )
    labels = [
        Label(row.store.name, it["rule"], it["path"], it["line"], it["id"], *said[row.number])
        for row in rows
        if row.number in said
        for it in row.members[:_MOST_MEMBERS]
    ]
    with (HERE / "labels.tsv").open("a", encoding="utf-8") as file:
        for label in labels:
            reason = re.sub(r"\s+", " ", label.reason)
            file.write(
                f"{label.store}\t{label.rule}\t{label.path}\t{label.line}\t{label.digest}"
                f"\t{label.verdict}\t{reason}\n"
            )


def main() -> int:
    """Write the sheet, print the table or keep the verdicts."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("set", type=Path, metavar="SET")
    parser.add_argument("stores", type=Path, metavar="STORES")
    parser.add_argument("verdicts", type=Path, nargs="*", metavar="VERDICTS")
    parser.add_argument("--sheet", type=Path, metavar="FILE")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--tune", nargs="*", default=[], metavar="NAME")
    given = parser.parse_args()
    stores = read_set(given.set)
    rows = read_rows(stores, given.stores)
    if given.sheet:
        lines = "\n".join(render_sheet(rows, given.stores))
        given.sheet.write_text(lines, encoding="utf-8", errors="replace")
        print(f"{len(stores)} stores, {len(rows)} rows")
        return 0
    readers = [read_verdicts(path) for path in given.verdicts]
    print("\n".join(render_verdicts(rows, readers)))
    if given.keep:
        tuned = [replace(it, use="tune") if it.name in given.tune else it for it in stores]
        keep(tuned, rows, readers[0])
    return 0


if __name__ == "__main__":
    sys.exit(main())
