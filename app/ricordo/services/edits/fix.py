"""Mending findings: one that the person looks at, or all that can be mended."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ricordo.errors import ChangeRefused
from ricordo.lint.finding import Finding
from ricordo.memory.change import (
    Act,
    AddEntry,
    Author,
    AuthorRole,
    Change,
    ChangeSet,
    Edit,
    EditLine,
    Insert,
    MoveLine,
    effective,
)
from ricordo.memory.compose import compose
from ricordo.memory.diff import unified
from ricordo.memory.draft import with_edits
from ricordo.memory.entry import entry_text, line_behind, neighbour
from ricordo.memory.index import Entry
from ricordo.memory.memory import Memory
from ricordo.memory.protection import hard_link_remarks, is_protected
from ricordo.secrets.excerpt import collect_secrets, mask_excerpt
from ricordo.services.describe import describe_finding
from ricordo.services.edits.change import protected_paths
from ricordo.services.report import finding_line
from ricordo.services.workspace.notebook import Notebook, Snapshot
from ricordo.text import visible


def changes_of(finding: Finding) -> list[Change]:
    """Return the changes that mend `finding`; none where it has no fix."""
    if finding.fix is None:
        return []
    author = Author(AuthorRole.RULE, finding.rule)
    reason = finding.fix.reason or finding.fix.label
    return [Change(act, reason, author) for act in finding.fix.acts]


def gathered_changes(memory: Memory, todo: Sequence[Finding]) -> list[Change]:
    """Return the changes that mend `todo`, with one insertion for all entries that go to one place
    of an index: one by one they would each have a long index read anew.
    """
    indexes = {index.path: index for index in memory.indexes}
    models: dict[tuple[str, str], Entry | None] = {}
    lines: dict[tuple[str, int], list[str]] = {}
    changes: list[Change] = []
    for change in (change for finding in todo for change in changes_of(finding)):
        act = change.act
        note = memory.by_path.get(act.note) if isinstance(act, AddEntry) else None
        if not isinstance(act, AddEntry) or note is None or act.path not in indexes:
            changes.append(change)
            continue
        index, kind = indexes[act.path], (act.path, note.type)
        if kind not in models:
            models[kind] = neighbour(memory, index, note)
        model = models[kind]
        if model is None or model.text.lstrip()[:1].isdigit():
            # the next one is written in the manner of this one, or counts on
            changes.append(change)
            continue
        text = entry_text(memory, index, note, model)
        lines.setdefault((index.path, line_behind(index, model)), []).append(text)
    author = Author(AuthorRole.RULE, "unindexed-note")
    for (path, after), texts in sorted(lines.items(), reverse=True):
        changes.append(Change(Insert(path, after, "\n".join(texts)), author=author))
    return changes


NEVER_ALONE = frozenset(("secret",))
"""Rules whose fix asks the person something first."""
_ONE_THING = {"index-near-budget": "index-over-budget"}
"""Rules that say of one thing how bad it is: where the one goes, the other may come."""
_PASSES = 8
"""One fix makes room for the next: an entry that is gone shortens the index."""
_MOST_LOOKS = 40
"""How often all rules run over a memory while its fixes are tried; a bound on the time."""


@dataclass(frozen=True, slots=True)
class UnfixedFinding:
    """A finding that was not mended, and why."""

    finding: Finding
    why: str


@dataclass(frozen=True, slots=True)
class FixPlan:
    """What would be mended, and what would not."""

    change_set: ChangeSet
    mended: tuple[Finding, ...]
    left: tuple[UnfixedFinding, ...]


def fix_one(notebook: Notebook, memory: Memory, findings: Iterable[Finding]) -> ChangeSet:
    """Return the change set that mends the `findings` together. Raises ChangeRefused."""
    # findings of one line may have one fix
    changes = {change.act: change for finding in findings for change in changes_of(finding)}
    if not changes:
        raise ChangeRefused("This finding has no fix; e edits the note.")
    change_set = compose(memory, list(changes.values()), marked=protected_paths(notebook))
    acts = [change.act for change in changes.values()]
    lost = _what_is_lost(memory, with_edits(memory, change_set.edits), acts)
    remarks = [f"{lost[0].upper()}{lost[1:]}."] if lost else []
    return replace(change_set, remarks=(*change_set.remarks, *remarks))


def plan_fixes(
    notebook: Notebook, look: Snapshot, *, unsafe: bool, only: frozenset[str] = frozenset()
) -> FixPlan:
    """Return what mends every finding of `look` whose fix is safe, with `unsafe` all that have
    one; of the rules `only` where some are given. A fix is made whole or not at all, and not where
    it would bring a new finding.
    """
    return _Fixing(notebook, look, only, unsafe=unsafe).plan()


@dataclass(frozen=True, slots=True)
class _Tried:
    """A memory as some fixes would make it."""

    memory: Memory
    fixed: tuple[Finding, ...] = ()
    """The findings whose fixes were made."""
    remarks: tuple[str, ...] = ()


class _Fixing:
    """A memory that gets one fix after the other, in thought."""

    def __init__(
        self, notebook: Notebook, look: Snapshot, only: frozenset[str], *, unsafe: bool
    ) -> None:
        self._notebook = notebook
        self._look = look
        self._only = only
        self._unsafe = unsafe
        self._marked: Collection[str] = protected_paths(notebook)
        self._now = look.memory
        self._found: Sequence[Finding] = look.findings
        self._changes: list[Change] = []
        self._remarks: tuple[str, ...] = ()
        self._made: set[str] = set()
        """Findings whose fix was made, by id."""
        self._refused: dict[str, str] = {}
        """Why a fix was left out, by the id of its finding."""
        self._full: dict[tuple[str, str], str] = {}
        """Why no further fix of a rule may touch a file."""
        self._looks = 0

    def plan(self) -> FixPlan:
        """Make all fixes that may be made and tell what came of it."""
        for _ in range(_PASSES):
            before = len(self._changes)
            self._refused, self._full = {}, {}
            self._make(self._todo(entries=False))
            if len(self._changes) == before:
                # an entry that is repointed may be the one that a note misses, so that comes first
                self._make(self._todo(entries=True))
            if len(self._changes) == before:
                break
        dismissed = {finding.id for finding in self._look.dismissed}
        left = tuple(
            UnfixedFinding(finding, self._why_left(finding))
            for finding in self._found
            if finding.id not in dismissed and self._is_asked_for(finding)
        )
        return FixPlan(self._change_set(), self._mended(), left)

    def _is_asked_for(self, finding: Finding) -> bool:
        return not self._only or finding.rule in self._only

    def _todo(self, *, entries: bool) -> list[Finding]:
        """Return the findings that may be mended, in an order in which line numbers hold: in each
        file from its last line to its first.
        """
        todo = [
            finding
            for finding in self._found
            if finding.fix is not None
            and (finding.fix.safe or self._unsafe)
            and finding.rule not in NEVER_ALONE
            and self._is_asked_for(finding)
            and any(isinstance(act, AddEntry) for act in finding.fix.acts) == entries
        ]
        return sorted(todo, key=lambda it: (it.path, -it.line, it.rule, it.id))

    def _make(self, todo: Sequence[Finding]) -> None:
        """Make the fixes of `todo`, all that fit, mend and bring nothing new."""
        todo = [finding for finding in todo if not self._is_refused(finding)]
        tried = self._composed(self._now, todo)
        if not tried.fixed:
            return
        acts = [act for finding in tried.fixed if finding.fix for act in finding.fix.acts]
        # whoever asks for unsafe fixes wants what they take out, but no entries that do harm
        adds = any(isinstance(act, AddEntry) for act in acts)
        why = _what_is_lost(self._now, tried.memory, acts) if adds or not self._unsafe else ""
        if why:
            self._make_apart(tried.fixed, why)
            return
        self._looks += 1
        found = self._notebook.findings(tried.memory)
        brought = self._brought(found, tried)
        guilty = self._refuse_idle(found, tried.fixed) or self._refuse_guilty(tried.fixed, brought)
        if guilty:
            self._make([finding for finding in tried.fixed if finding not in guilty])
        elif not brought:
            self._take(tried, found)
        else:
            for part in _parts(tried.fixed, brought):
                self._make(part)

    def _make_apart(self, todo: Sequence[Finding], why: str) -> None:
        """Make fixes by which agents lose something, as far as they do not so alone; `why` says
        what.
        """
        if len(todo) == 1:
            self._refused[todo[0].id] = why
            self._full.update({(todo[0].rule, path): why for path in _paths(todo[0])})
            return
        middle = len(todo) // 2
        self._make(todo[:middle])
        self._make(todo[middle:])

    def _is_refused(self, finding: Finding) -> bool:
        """Whether the fix need not be tried any more in this pass."""
        full = (self._full.get((finding.rule, path)) for path in _paths(finding))
        why = next((why for why in full if why), "")
        if not why and self._looks >= _MOST_LOOKS:
            why = "not tried: too many fixes touch each other; run it again"
        if why:
            self._refused[finding.id] = why
        return finding.id in self._refused

    def _composed(self, memory: Memory, todo: Sequence[Finding]) -> _Tried:
        """Try the fixes of `todo` on `memory`; those that do not fit are refused."""
        if not todo:
            return _Tried(memory)
        try:
            composed = compose(memory, gathered_changes(memory, todo), marked=self._marked)
            if not self._unsafe:
                _refuse_hard_links(memory, composed.edits)
        except ChangeRefused as refused:
            if len(todo) == 1:
                self._refused[todo[0].id] = refused.message
                return _Tried(memory)
            middle = len(todo) // 2
            first = self._composed(memory, todo[:middle])
            second = self._composed(first.memory, todo[middle:])
            return _Tried(second.memory, first.fixed + second.fixed, first.remarks + second.remarks)
        return _Tried(with_edits(memory, composed.edits), tuple(todo), composed.remarks)

    def _brought(self, found: Sequence[Finding], tried: _Tried) -> list[Finding]:
        """Return the findings in `found` that the fixes brought.

        A finding whose text was changed on the way takes the place of the one that it was: there
        are no more of its rule in its file. Of an index over its budget that holds only if it has
        not grown; and a dismissed finding must not come back in other words.
        """
        known = {finding.id for finding in (*self._found, *self._look.dismissed)}
        still = {finding.id for finding in found}
        mended = {finding.id for finding in tried.fixed}
        room = Counter(_kind(it) for it in self._found if it.id not in still | mended)
        closed = {_kind(it) for it in self._look.dismissed if it.id not in still}
        if _has_grown(self._look.memory, tried.memory):
            closed |= {kind for kind in room if kind[0] in _ONE_THING.values()}
        brought: list[Finding] = []
        for finding in found:
            kind = _kind(finding)
            if finding.id in known:
                continue
            if room[kind] and kind not in closed:
                room[kind] -= 1
            else:
                brought.append(finding)
        return brought

    def _refuse_idle(self, found: Sequence[Finding], fixed: Sequence[Finding]) -> list[Finding]:
        """Refuse the fixes that leave their finding as it is, and return them. Where one of several
        findings with one text is gone, the next has its id, so they are counted.
        """
        still = {finding.id for finding in found}
        fewer = Counter(map(_kind, self._found)) - Counter(map(_kind, found))
        made = Counter(map(_kind, fixed))
        idle = [it for it in fixed if it.id in still and fewer[_kind(it)] < made[_kind(it)]]
        for finding in idle:
            self._refused[finding.id] = "the finding would remain after its fix"
        return idle

    def _refuse_guilty(self, fixed: Sequence[Finding], brought: Sequence[Finding]) -> list[Finding]:
        """Refuse the fixes that alone can have brought something, and return them: the only one,
        or the only one that touches the file in which a finding came up.
        """
        guilty: list[Finding] = []
        for finding in brought:
            touching = [it for it in fixed if len(fixed) == 1 or finding.path in _paths(it)]
            if len(touching) == 1 and touching[0] not in guilty:
                guilty += touching
                why = f"the fix would add a finding, {finding.rule}"
                self._refused[touching[0].id] = why
                if not finding.line or finding.rule in _ONE_THING.values():
                    # a file that is full is so for all fixes of this kind
                    self._full[touching[0].rule, finding.path] = why
        return guilty

    def _take(self, tried: _Tried, found: Sequence[Finding]) -> None:
        self._now, self._found = tried.memory, found
        self._remarks += tried.remarks
        for finding in tried.fixed:
            self._changes += changes_of(finding)
            self._made.add(finding.id)

    def _change_set(self) -> ChangeSet:
        """Return all that was made, as one set."""
        before, after = self._look.memory.by_path, self._now.by_path
        edits = [
            Edit(
                self._now.root,
                path,
                before[path].raw if path in before else None,
                after[path].raw if path in after else None,
            )
            for path in sorted(before.keys() | after.keys())
            if before.get(path) is not after.get(path)
        ]
        return ChangeSet(effective(edits), tuple(self._changes), self._remarks)

    def _mended(self) -> tuple[Finding, ...]:
        """Return the findings of the look that are gone, those too that went on the way."""
        known = {finding.id for finding in self._look.findings}
        now = {finding.id for finding in self._found}
        reworded = Counter(_kind(finding) for finding in self._found if finding.id not in known)
        mended: list[Finding] = []
        for finding in self._look.findings:
            if finding.id in now:
                continue
            if finding.id not in self._made and reworded[_kind(finding)]:
                reworded[_kind(finding)] -= 1
            else:
                mended.append(finding)
        return tuple(mended)

    def _why_left(self, finding: Finding) -> str:
        memory = self._now
        note = memory.by_path.get(finding.path)
        if memory.layout.read_only:
            return memory.layout.read_only
        if note is not None and is_protected(note, self._marked):
            return "the note is protected"
        if finding.id in self._refused:
            return self._refused[finding.id]
        if finding.fix is None:
            return "no automatic fix"
        if finding.rule in NEVER_ALONE:
            return "fix asks first; F in the notebook makes it"
        return "fix not safe; F in the notebook shows it, --unsafe makes it"


def _parts(fixed: Sequence[Finding], brought: Sequence[Finding]) -> Iterator[list[Finding]]:
    """Yield the parts in which fixes are tried that together brought something: those that touch
    other files, then of each file the first half and the second, in their order.
    """
    parts: tuple[list[Finding], ...] = ([], [], [])
    together: dict[str, list[Finding]] = {}
    paths = {finding.path for finding in brought}
    for finding in fixed:
        touched = sorted(paths.intersection(_paths(finding)))
        together.setdefault(touched[0] if touched else "", []).append(finding)
    apart = together.pop("", []) if len(together) > 1 else []
    parts[0].extend(apart)
    for own in together.values():
        middle = len(own) // 2
        parts[1].extend(own[:middle])
        parts[2].extend(own[middle:])
    yield from (part for part in parts if part)


def _paths(finding: Finding) -> Collection[str]:
    """Return the files that the fix of a finding is about."""
    return finding.fix.paths if finding.fix else ()


def _refuse_hard_links(memory: Memory, edits: Iterable[Edit]) -> None:
    """Raise ChangeRefused where one of the `edits` would part the two names of a file."""
    if remarks := hard_link_remarks(memory, edits):
        raise ChangeRefused(f"{remarks[0]} F in the notebook asks, --unsafe does it")


def _kind(finding: Finding) -> tuple[str, str]:
    """What a finding says of what: its rule and its file."""
    return _ONE_THING.get(finding.rule, finding.rule), finding.path


def _what_is_lost(before: Memory, after: Memory, acts: Sequence[Act]) -> str:
    """Return what agents would no longer be given of the index, or which entry they would not be
    given, if `acts` made the memory `after` of the one `before`; "" where they get no less.
    """
    given, was_given = _given(after), _given(before)
    if not {act.note for act in acts if isinstance(act, AddEntry)} <= given:
        return "the entry would not be loaded; the index is too long"
    edited = Counter(act.old for act in acts if isinstance(act, EditLine | MoveLine))
    lines, kept = (Counter(it.load.text.split("\n")) for it in (before, after))
    if lines - kept - edited or was_given & after.by_path.keys() - given:
        return "agents would be given less of the index"
    return ""


def _given(memory: Memory) -> frozenset[str]:
    """Return the paths of the notes whose entries agents load."""
    index, cut = memory.index, memory.load.cut_at_line
    if index is None:
        return frozenset(memory.entries)
    places = [(entry.line, memory.target(index, entry).path) for entry in index.entries]
    below = {path for line, path in places if cut is not None and line >= cut}
    above = {path for line, path in places if cut is None or line < cut}
    return frozenset(memory.entries.keys() - (below - above))


def _has_grown(before: Memory, after: Memory) -> bool:
    """Whether more of the index is to be loaded than `before`."""
    return after.load.lines > before.load.lines or after.load.units > before.load.units


_MOST_RULES = 6
"""Rules that are named behind a reason, those with most findings."""
_MOST_REASONS = 10
"""Reasons that are printed: some name a file, so that there may be any number."""


def describe_fixes(plan: FixPlan, *, applied: bool) -> dict[str, Any]:
    """Return what `lint --json` prints as `fixes`; `applied` says whether they were made."""
    return {
        "applied": applied,
        "fixed": [describe_finding(finding, dismissed=False) for finding in plan.mended],
        "not_fixed": [
            {"id": it.finding.id, "rule": it.finding.rule, "path": it.finding.path, "why": it.why}
            for it in plan.left
        ],
        "changes": [{"path": it.path, "diff": diff_of(it)} for it in plan.change_set.edits],
    }


def diff_of(edit: Edit) -> str:
    """Return what becomes of one file as a unified diff, with every credential masked."""
    old, new = (
        "" if raw is None else raw.decode("utf-8-sig", "replace")
        for raw in (edit.before, edit.after)
    )
    old_name = f"a/{edit.path}" if edit.before is not None else "/dev/null"
    new_name = f"b/{edit.path}" if edit.after is not None else "/dev/null"
    return mask_excerpt(unified(old, new, old_name, new_name), collect_secrets((old, new)))


def diff_lines(plan: FixPlan) -> list[str]:
    """Return all that would be changed as lines of unified diffs."""
    diffs = (diff_of(edit).removesuffix("\n") for edit in plan.change_set.edits)
    return [line for diff in diffs for line in visible(diff).split("\n")]


def fixed_lines(plan: FixPlan) -> list[str]:
    """Return the findings that were fixed, a line each."""
    return [f"fixed: {finding_line(finding)}" for finding in plan.mended]


def count_lines(plan: FixPlan, *, applied: bool) -> Iterator[str]:
    """Yield how many findings were fixed, or would be, how many were not, and why."""
    verb = "fixed" if applied else "would be fixed"
    yield f"{len(plan.mended):,} {verb}, {len(plan.left):,} not{':' if plan.left else '.'}"
    rules: dict[str, Counter[str]] = defaultdict(Counter)
    for it in plan.left:
        rules[it.why][it.finding.rule] += 1
    commonest = sorted(rules.items(), key=lambda it: (-it[1].total(), it[0]))
    for why, counts in commonest[:_MOST_REASONS]:
        common = sorted(counts.items(), key=lambda it: (-it[1], it[0]))
        named = ", ".join(f"{rule} {count:,}" for rule, count in common[:_MOST_RULES])
        more = ", …" if len(common) > _MOST_RULES else ""
        yield f"  {counts.total():,} {visible(why).rstrip('.')}: {named}{more}"
    if others := sum(counts.total() for _, counts in commonest[_MOST_REASONS:]):
        yield f"  {others:,} for other reasons; --json has them"
