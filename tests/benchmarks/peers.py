"""Other linters of memories beside ours, on the same memories in one run.

Run with `python -m tests.benchmarks.peers [MEMORY[=PROJECT]…]`; without words it takes the sample
memory, and those under `../shared/data/memory` where they are. The peers are installed from PyPI
into an environment that is thrown away. For each memory it prints what each of them finds by rule,
how much of it we name too, and, place by place, what they name and we do not: whether that is true,
a person has to say.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import venv
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from ricordo.memory.memory import Memory
from ricordo.services.workspace.environment import load_environment
from ricordo.services.workspace.notebook import Notebook
from ricordo.services.workspace.places import find_memory
from ricordo.services.workspace.settings import load_settings
from ricordo.text import make_one_line
from tests.benchmarks.planted import NOW, SAMPLE

CML, VAULTLINT, OURS = "claude-memory-lint", "vaultlint", "ricordo"
VERSIONS = {CML: "0.4.0", VAULTLINT: "0.1.0"}
SHARED = Path(__file__).resolve().parents[3] / "shared" / "data" / "memory"
_LINKS = frozenset(("dead-link", "index-missing-file", "wanted-note", "outside-memory"))
_BUDGET = frozenset(("index-over-budget", "index-near-budget"))
COUNTERPARTS = {
    "R000": frozenset(("unreadable-note",)),
    "R001": frozenset(("frontmatter-missing", "frontmatter-invalid", "frontmatter-incomplete")),
    "R003": frozenset(("oversized-note",)),
    "R005": frozenset(("orphan-note", "unindexed-note")),
    "R007": frozenset(("duplicate", "duplicate-name")),
    "R008": frozenset(("stale",)),
    "R009": frozenset(("secret",)),
    "R010": _LINKS,
    "R014": _LINKS,
    "R015": _BUDGET,
    "R016 lines": _BUDGET,
    "R016 body-mixed": frozenset(("index-inline-body",)),
    "R017": frozenset(("missing-path", "missing-symbol")),
    "BROKEN_LINK": _LINKS | {"missing-path"},
    "STALE_STATUS_CANDIDATE": frozenset(("status-claim", "stale")),
}
"""The rules of ours that speak of the same thing. The others of theirs have none: aliases that
agents never write, names of files, words, emojis, backups that are no notes.
"""
_OPTIONS = (
    "--dangling-links",
    "--stale-backup",
    "--trigger-stopwords",
    "--emphasis-density",
    "--phantom-artifact",
)
"""What `claude-memory-lint` leaves out unless it is asked for."""


class Named(NamedTuple):
    """One thing that a tool finds."""

    tool: str
    rule: str
    path: str
    """Relative to the memory."""
    line: int
    """1-based; 0 for the whole file."""
    message: str


class Compared(NamedTuple):
    """What peers name of a memory, and what we name."""

    theirs: tuple[Named, ...]
    ours: tuple[Named, ...]

    @property
    def missed(self) -> tuple[Named, ...]:
        """What they name and we do not."""
        return tuple(it for it in self.theirs if not any(is_same(it, own) for own in self.ours))

    @property
    def alone(self) -> tuple[Named, ...]:
        """What we name and none of them does."""
        return tuple(own for own in self.ours if not any(is_same(it, own) for it in self.theirs))


def is_same(theirs: Named, own: Named) -> bool:
    """Say whether a finding of ours is about what a peer names."""
    is_meant = theirs.path == own.path and own.rule in COUNTERPARTS.get(theirs.rule, ())
    return is_meant and (theirs.line == own.line or not (theirs.line and own.line))


def of_cml(printed: str, root: str) -> Iterator[Named]:
    """Yield what the JSON of `claude-memory-lint` tells of the memory at `root`."""
    for it in json.loads(printed)["violations"]:
        message = str(it["message"])
        # one rule tells two things
        part = message[1:].partition("]")[0] if message.startswith("[") else ""
        path = os.path.relpath(it["path"], root)
        rule = f"{it['rule_id']} {part}".strip()
        # what it tells of a head has the line at which the head ends
        line = 0 if rule in ("R001", "R002") else it["line"] or 0
        yield Named(CML, rule, path, line, message)


def of_vaultlint(printed: str) -> Iterator[Named]:
    """Yield what the JSON of `vaultlint` tells."""
    for it in json.loads(printed)["findings"]:
        yield Named(VAULTLINT, it["rule"], it["file"], it.get("line") or 0, it["message"])


def of_ours(root: str, project: str) -> tuple[Memory, tuple[Named, ...]]:
    """Return the memory at `root`, and what we find in it, beside its `project` if it has one."""
    with tempfile.TemporaryDirectory(prefix="ricordo-") as home:
        # the agents of the sample have a home of their own, and their transcripts in it
        agents = str(SAMPLE / "home") if Path(root).is_relative_to(SAMPLE) else home
        environ = {"HOME": home, "PATH": os.environ["PATH"]}
        environment = load_environment(environ, now=NOW, agent_home=agents)
        environment = environment._replace(project=os.path.abspath(project) if project else "")
        settings, _ = load_settings(environment)
        look = Notebook(
            find_memory(root, environment), environment, settings
        ).read_snapshot_with_evidence()
    told = (Named(OURS, it.rule, it.path, it.line, it.message) for it in look.findings)
    return look.memory, tuple(told)


class Peers:
    """The peers, in an environment of their own."""

    def __init__(self, folder: str) -> None:
        """Install them into `folder`. Raises CalledProcessError."""
        self._programs = os.path.join(folder, "bin")
        venv.create(folder, with_pip=True)
        wanted = [f"{name}=={version}" for name, version in VERSIONS.items()]
        self._run("python", "-m", "pip", "install", "--quiet", "--no-input", *wanted)

    def name(self, root: str) -> Iterator[Named]:
        """Yield what they find in the memory at `root`."""
        yield from of_cml(self._run(CML, "check", "--format", "json", *_OPTIONS, root), root)
        yield from of_vaultlint(self._run(VAULTLINT, "--json", root))

    def _run(self, program: str, *words: str) -> str:
        command = [os.path.join(self._programs, program), *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode not in (0, 1):
            raise subprocess.CalledProcessError(done.returncode, command, done.stdout, done.stderr)
        return done.stdout


def report(memory: Memory, compared: Compared) -> list[str]:
    """Return the table of one memory, and what only they name."""
    missed, alone = compared.missed, compared.alone
    lines = [f"{'tool':20}{'rule':26}{'names':>6}{'also by the other side':>24}"]
    for found, left in ((compared.theirs, missed), (compared.ours, alone)):
        counts, lone = (Counter((it.tool, it.rule) for it in them) for them in (found, left))
        lines += [
            f"{tool:20}{rule:26}{count:6}{count - lone[tool, rule]:24}"
            for (tool, rule), count in sorted(counts.items())
        ]
    notes = [{it.path for it in found} for found in (compared.theirs, compared.ours)]
    lines.append(
        f"notes named: {len(notes[0] & notes[1])} by both, {len(notes[0] - notes[1])} by them "
        f"alone, {len(notes[1] - notes[0])} by us alone"
    )
    lines.append(
        f"places: {len(compared.theirs) - len(missed)} of their {len(compared.theirs)} named by us "
        f"too; {len(missed)} by them alone, {len(alone)} by us alone"
    )
    return [*lines, f"only they: {len(missed)}", *_told(memory, missed)]


def _told(memory: Memory, named: Iterable[Named]) -> Iterator[str]:
    """Yield what was named, place by place; what is told of whole files in the same words, once."""
    whole: dict[tuple[str, str], list[str]] = defaultdict(list)
    for it in sorted(named):
        file = memory.by_path.get(it.path)
        rows = file.text.split("\n") if file else []
        message = make_one_line(it.message)[:160]
        if not it.line:
            whole[it.rule, message].append(make_one_line(it.path))
            continue
        yield f"  {it.rule:24} {make_one_line(it.path)}:{it.line}  {message}"
        if it.line <= len(rows):
            yield f"  {'':24} | {make_one_line(rows[it.line - 1].strip())[:160]}"
    for (rule, message), paths in whole.items():
        yield f"  {rule:24} {len(paths)} × {message}"
        yield f"  {'':24} | {', '.join(paths)}"


def default_memories() -> list[tuple[str, str]]:
    """Return the memories that are compared without words, each with its project or ""."""
    real = sorted({it.parent for it in SHARED.rglob("MEMORY.md")} if SHARED.is_dir() else ())
    return [(str(SAMPLE / "memory"), str(SAMPLE / "project")), *((str(it), "") for it in real)]


def main(words: Sequence[str]) -> int:
    """Compare the memories that `words` name; return 1 where the peers cannot be had."""
    named = [word.partition("=") for word in words]
    memories = [(root, project) for root, _, project in named] or default_memories()
    with tempfile.TemporaryDirectory(prefix="ricordo-peers-") as folder:
        try:
            peers = Peers(folder)
        except subprocess.CalledProcessError as error:
            print(f"The peers cannot be installed: {make_one_line(error.stderr)[-300:]}")
            return 1
        for root, project in memories:
            real = os.path.realpath(root)
            memory, ours = of_ours(real, project)
            compared = Compared(tuple(peers.name(real)), ours)
            beside = f", beside {project}" if project else ", without a project"
            print(f"\n{root}: {len(memory.notes)} notes{beside}", flush=True)
            print("\n".join(report(memory, compared)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
