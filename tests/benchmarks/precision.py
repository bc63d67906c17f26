"""How much of what the rules say is right, on memories that nobody tuned them for, and how much of
what a careful reader finds there they say.

    python -m tests.benchmarks.precision STORES                   the tables
    python -m tests.benchmarks.precision STORES --sheet DIR       pages and tables to judge the rest
    python -m tests.benchmarks.precision STORES --rates           how often each rule fires
    python -m tests.benchmarks.precision STORES --write           the numbers in the rule reference
    python -m tests.benchmarks.precision STORES --recall          what is said of readers' defects
    python -m tests.benchmarks.precision STORES --defects FILE…   takes readers' lists over

STORES is a folder of checkouts, named `OWNER+NAME`; `corpus.toml` says which. `labels.tsv` has the
judgements: store, rule, path, line, digest, verdict, reason. A verdict is `true` (right, and a
careful owner would want to know), `noise` (right, but of no use) or `false`. A label belongs to a
finding of the same store, rule and digest; where the cause of a finding is worded in another way
since, to the only one of the same rule, path and line.

A finding that stands for a habit is judged by its members, each with its own label.

Precision is true or noise over all judged, "of use" is true over all judged; the interval is
Wilson's (E. B. Wilson, 1927) at 95 %.

`defects.tsv` has what readers found wrong before they saw a finding: store, use, path, line (0 for
the whole note), kind, and the digest of the line, by which it is found again. A reader's list has
a row for each: store, path, line, kind, what is wrong, proof. A defect is reported where an error,
a warning or the daily review names its line or one beside it.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from ricordo.lint.rule_page import compute_interval
from ricordo.secrets import mask_passage
from tests.benchmarks.corpus import (
    HERE,
    Found,
    Store,
    check_commit,
    lint,
    list_each,
    load_corpus,
    read_findings,
    read_said,
)
from tests.benchmarks.fixes import find_stores

_LABELS = HERE / "labels.tsv"
_DEFECTS = HERE / "defects.tsv"
_COLUMNS = ("store", "rule", "path", "line", "digest", "verdict", "reason")
_AROUND = 2
"""Lines shown before and after the line of a finding."""


class Verdict(StrEnum):
    """What a reader says of a finding."""

    TRUE = "true"
    NOISE = "noise"
    FALSE = "false"


@dataclass(frozen=True)
class Label:
    """One judgement."""

    store: str
    rule: str
    path: str
    line: int
    digest: str
    verdict: Verdict
    reason: str


def load_labels(path: Path = _LABELS) -> list[Label]:
    """Return the labels in a file; none where it is missing."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [
        Label(
            row["store"],
            row["rule"],
            row["path"],
            int(row["line"]),
            row["digest"],
            Verdict(row["verdict"]),
            row["reason"],
        )
        for row in rows
    ]


def join_labels(found: Sequence[Found], labels: Iterable[Label]) -> dict[Found, Label]:
    """Return the label of each finding that has one."""
    labels = list(labels)
    by_digest = {(it.store, it.rule, it.path, it.digest): it for it in labels}
    joined = {
        it: label
        for it in found
        if (label := by_digest.get((it.store, it.rule, it.path, it.digest))) is not None
    }
    used = set(joined.values())
    at_place: dict[tuple[str, str, str, int], list[Label]] = defaultdict(list)
    for label in labels:
        if label not in used:
            at_place[label.store, label.rule, label.path, label.line].append(label)
    open_ones = [it for it in found if it not in joined]
    alone = Counter((it.store, it.rule, it.path, it.line) for it in open_ones)
    for it in open_ones:
        place = (it.store, it.rule, it.path, it.line)
        if alone[place] == 1 and len(at_place[place]) == 1:
            joined[it] = at_place[place][0]
    return joined


def render_table(
    title: str, groups: Mapping[str, Sequence[Found]], joined: Mapping[Found, Label]
) -> list[str]:
    """Return a table with a row for each group of findings, and one for all."""
    lines = [
        f"### {title}",
        "",
        "| | findings | judged | true | noise | false | precision | 95 % | of use |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    everything = [it for group in groups.values() for it in group]
    for name, group in (*sorted(groups.items()), ("**all**", everything)):
        counts = Counter(joined[it].verdict for it in group if it in joined)
        judged = counts.total()
        right = counts[Verdict.TRUE] + counts[Verdict.NOISE]
        low, high = compute_interval(right, judged)
        shares = (
            f"{right / judged:.2f} | {low:.2f}–{high:.2f} | {counts[Verdict.TRUE] / judged:.2f}"
            if judged
            else "– | – | –"
        )
        numbers = " | ".join(str(counts[verdict]) for verdict in Verdict)
        lines.append(f"| {name} | {len(group)} | {judged} | {numbers} | {shares} |")
    return [*lines, ""]


def _tables(found: Sequence[Found], joined: Mapping[Found, Label]) -> list[str]:
    uses = {store.name: store.use for store in load_corpus()}
    lines: list[str] = []
    for use in ("tune", "sealed"):
        mine = [it for it in found if uses[it.store] == use]
        speaking = [it for it in mine if it.asks]
        quiet = [it for it in mine if not it.asks]
        by_rule = _group(speaking, lambda it: it.rule)
        lines += render_table(f"{use}: errors and warnings by rule", by_rule, joined)
        by_store = _group(speaking, lambda it: it.store)
        lines += render_table(f"{use}: errors and warnings by store", by_store, joined)
        lines += render_table(f"{use}: info by rule", _group(quiet, lambda it: it.rule), joined)
    return lines


_JUDGED = Path("app/ricordo/lint/judged.toml")


def render_judged(joined: Mapping[Found, Label]) -> str:
    """Return the numbers of judged findings of each rule, as the rule reference shows them."""
    uses = {store.name: store.use for store in load_corpus()}
    lines = [
        "# Findings of each rule on real memories that readers judged: wanted, of no use, false.",
        "# Made by `python -m tests.benchmarks.precision STORES --write`.",
    ]
    for use in ("sealed", "tune"):
        for severity, asks in (("", True), ("-info", False)):
            mine = [it for it in joined if uses[it.store] == use and it.asks is asks]
            lines += ["", f"[{use}{severity}]"]
            for rule, group in sorted(_group(mine, lambda it: it.rule).items()):
                counts = Counter(joined[it].verdict for it in group)
                numbers = ", ".join(str(counts[verdict]) for verdict in Verdict)
                lines.append(f"{rule} = [{numbers}]")
    return "\n".join(lines) + "\n"


def _group(found: Iterable[Found], key: Callable[[Found], str]) -> dict[str, list[Found]]:
    groups: dict[str, list[Found]] = defaultdict(list)
    for it in found:
        groups[key(it)].append(it)
    return groups


def write_sheet(store: Store, stores: Path, found: Sequence[Found], folder: Path) -> None:
    """Write what is found in a `store` for a reader to judge: a page, and a table to fill in."""
    checkout = store.find_checkout(stores)
    if checkout is None or not found:
        return
    memory = checkout / store.folder
    page = [f"# {store.name}: {memory}", ""]
    for it in found:
        page += [f"## {it.digest} {it.rule} ({it.severity}) {it.path}:{it.line}", "", it.message]
        page += [f"- {text}" for text in it.evidence]
        page += ["", *excerpt(memory / it.path, it.line), ""]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{store.name}.md").write_text("\n".join(page), encoding="utf-8", errors="replace")
    with (folder / f"{store.name}.tsv").open("w", encoding="utf-8") as file:
        file.write("\t".join(_COLUMNS) + "\n")
        for it in found:
            file.write(f"{it.store}\t{it.rule}\t{it.path}\t{it.line}\t{it.digest}\t\t\n")


def choose_sample(found: Iterable[Found], most: int) -> list[Found]:
    """Return at most so many findings of each rule, in their order: those whose digests, which are
    as good as random, come first.
    """
    by_rule = _group(found, lambda it: it.rule)
    chosen = {it for group in by_rule.values() for it in sorted(group, key=_digest)[:most]}
    return [it for group in by_rule.values() for it in group if it in chosen]


def _digest(it: Found) -> str:
    return it.digest


def excerpt(path: Path, line: int) -> list[str]:
    """Return the lines around a line of a file, indented, with their numbers and with secrets
    masked; its first lines for 0, none where it is not there.
    """
    if not path.is_file():
        return []
    whole = path.read_text(encoding="utf-8", errors="replace")
    lines = whole.splitlines()
    first = max(0, line - 1 - _AROUND)
    shown = lines[first : line + _AROUND] if line else lines[:8]
    masked = (mask_passage(text, whole) for text in shown)
    return [f"    {first + n + 1:5d} {text[:400]}" for n, text in enumerate(masked)]


def render_rates(stores: Path) -> list[str]:
    """Return how often each rule fires in every memory below `stores`, per 100 notes: in how many
    of them, the median where it fires, and the most.
    """
    rates: dict[str, list[float]] = defaultdict(list)
    seconds: list[float] = []
    for store in find_stores(stores):
        document, spent = lint(store)
        notes = document["memory"]["notes"]
        seconds.append(spent)
        for rule, count in Counter(it["rule"] for it in list_each(document)).items():
            rates[rule].append(100 * count / max(notes, 1))
    lines = ["| rule | memories | median per 100 notes | most |", "|---|---|---|---|"]
    for rule, each in sorted(rates.items(), key=lambda it: -len(it[1])):
        middle = sorted(each)[len(each) // 2]
        lines.append(f"| {rule} | {len(each)} of {len(seconds)} | {middle:.1f} | {max(each):.0f} |")
    most = max(seconds, default=0.0)
    return [*lines, "", f"{len(seconds)} memories, {sum(seconds):.0f} s, at most {most:.1f} s"]


@dataclass(frozen=True, order=True)
class Defect:
    """Something that a reader found wrong."""

    store: str
    use: str
    """`tune` or `sealed`."""
    path: str
    line: int
    """0 for the whole note."""
    kind: str
    digest: str
    """Of the text of the line."""


def load_defects(path: Path = _DEFECTS) -> list[Defect]:
    """Return the defects in a file; none where it is missing."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [
        Defect(row["store"], row["use"], row["path"], int(row["line"]), row["kind"], row["digest"])
        for row in rows
    ]


def read_list(path: Path, corpus: Mapping[str, Store], stores: Path) -> Iterator[Defect | str]:
    """Yield the defects in the list of a reader, and for a row that names no line why not."""
    for row in path.read_text(encoding="utf-8").splitlines():
        if not row.strip() or row.startswith(("#", "store\t")):
            continue
        name, note, place, kind = (it.strip() for it in row.split("\t")[:4])
        where = f"{path.name}: {name} {note}:{place}"
        store = corpus.get(name)
        checkout = store.find_checkout(stores) if store else None
        if store is None or checkout is None:
            yield f"{where}: no checkout of it below {stores}"
            continue
        folder = checkout / store.folder
        # readers may count from the root of the repository
        file = next((it for it in (folder / note, checkout / note) if it.is_file()), None)
        if file is None or not file.is_relative_to(folder):
            yield f"{where}: no such note"
            continue
        line, lines = int(place or 0), _read_lines(file)
        if line > len(lines):
            yield f"{where}: the note has {len(lines)} lines"
            continue
        related = file.relative_to(folder).as_posix()
        yield Defect(name, store.use, related, line, kind, digest_line(lines, line))


def _read_lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8", errors="replace").splitlines()


def digest_line(lines: Sequence[str], line: int) -> str:
    """Return the digest of the text of a line, of none for 0."""
    text = lines[line - 1].strip() if line else ""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def find_line(lines: Sequence[str], defect: Defect) -> int | None:
    """Return where the line of a `defect` is now, the nearest of several; None where it is gone."""
    if not defect.line:
        return 0
    here = [n for n in range(1, len(lines) + 1) if digest_line(lines, n) == defect.digest]
    return min(here, key=lambda n: abs(n - defect.line), default=None)


def write_defects(defects: Iterable[Defect], path: Path) -> None:
    """Write the defects, each once."""
    with path.open("w", encoding="utf-8") as file:
        file.write("store\tuse\tpath\tline\tkind\tdigest\n")
        for it in sorted(set(defects)):
            file.write(f"{it.store}\t{it.use}\t{it.path}\t{it.line}\t{it.kind}\t{it.digest}\n")


def match_defects(
    defects: Iterable[Defect], folder: Path, said: Sequence[Found]
) -> dict[Defect, list[Found]]:
    """Return what is `said` of each of the defects of one memory."""
    matched: dict[Defect, list[Found]] = {}
    for it in defects:
        line = find_line(_read_lines(folder / it.path), it)
        named = [] if line is None else [f for f in said if f.asks and f.names_line(it.path, line)]
        matched[it] = named
    return matched


def render_recall(matched: Mapping[Defect, Sequence[Found]]) -> list[str]:
    """Return for each use a table of the defects by kind and one by store."""
    lines: list[str] = []
    for use in ("tune", "sealed"):
        for title in ("kind", "store"):
            lines += [
                f"### {use}: defects that readers listed, by {title}",
                "",
                "| | listed | reported | recall | 95 % | with evidence |",
                "|---|---|---|---|---|---|",
            ]
            mine = [it for it in matched if it.use == use]
            names = sorted({getattr(it, title) for it in mine})
            groups = [(name, [it for it in mine if getattr(it, title) == name]) for name in names]
            for name, group in (*groups, ("**all**", mine)):
                told = [matched[it] for it in group if matched[it]]
                low, high = compute_interval(len(told), len(group))
                recall = f"{len(told) / len(group):.2f}" if group else "–"
                proved = sum(any(found.evidence for found in each) for each in told)
                lines.append(
                    f"| {name} | {len(group)} | {len(told)} | {recall} | {low:.2f}–{high:.2f} "
                    f"| {proved} |"
                )
            lines.append("")
    return lines


def _recall(corpus: Sequence[Store], stores: Path, defects: Sequence[Defect]) -> list[str]:
    matched: dict[Defect, list[Found]] = {}
    for store in corpus:
        mine = [it for it in defects if it.store == store.name]
        checkout = store.find_checkout(stores) if mine else None
        if checkout is not None:
            folder = checkout / store.folder
            matched |= match_defects(mine, folder, list(read_said(folder, store.name)))
    return render_recall(matched)


def main() -> int:
    """Print the tables, or write the sheets."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("stores", type=Path, metavar="STORES")
    parser.add_argument("--sheet", type=Path, metavar="DIR", help="write what has no label yet")
    parser.add_argument("--rates", action="store_true", help="how often each rule fires")
    parser.add_argument("--most", type=int, default=20, help="per rule and store in a sheet (20)")
    parser.add_argument("--store", action="append", default=[], help="only this store")
    parser.add_argument("--labels", type=Path, default=_LABELS, help="judgements (labels.tsv)")
    parser.add_argument("--write", action="store_true", help="write them for the rule reference")
    parser.add_argument("--recall", action="store_true", help="what is said of the defects")
    parser.add_argument("--defects", type=Path, nargs="+", metavar="FILE", help="readers' lists")
    parser.add_argument("--known", type=Path, default=_DEFECTS, help="defects (defects.tsv)")
    given = parser.parse_args()
    if given.rates:
        print("\n".join(render_rates(given.stores)))
        return 0
    corpus = [it for it in load_corpus() if not given.store or it.name in given.store]
    if given.defects:
        by_name = {store.name: store for store in load_corpus()}
        read = [it for path in given.defects for it in read_list(path, by_name, given.stores)]
        listed = [it for it in read if isinstance(it, Defect)]
        write_defects([*load_defects(given.known), *listed], given.known)
        refused = [it for it in read if isinstance(it, str)]
        print("\n".join([*refused, f"{len(listed)} of {len(read)} taken over"]))
        return int(bool(refused))
    if given.recall:
        print("\n".join(_recall(corpus, given.stores, load_defects(given.known))))
        return 0
    # before the first is read, as reading them all takes half an hour
    for store in corpus:
        checkout = store.find_checkout(given.stores)
        if checkout is not None:
            check_commit(store, checkout)
    found = {store: list(read_findings(store, given.stores)) for store in corpus}
    everything = [it for each in found.values() for it in each]
    joined = join_labels(everything, load_labels(given.labels))
    if given.sheet:
        for store, each in found.items():
            judged = Counter(it.rule for it in each if it in joined)
            left = [it for it in each if it not in joined and judged[it.rule] < given.most]
            write_sheet(store, given.stores, choose_sample(left, given.most), given.sheet)
        return 0
    if given.write:
        _JUDGED.write_text(render_judged(joined), encoding="utf-8")
        return 0
    print("\n".join(_tables(everything, joined)))
    print(f"{len(everything) - len(joined)} of {len(everything)} findings have no label")
    return 0


if __name__ == "__main__":
    sys.exit(main())
