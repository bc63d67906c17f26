"""Fix findings: one that the user chose, or all that can be fixed."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ricordo.errors import ChangeRefused
from ricordo.lint.finding import Finding
from ricordo.memory.change import (
    AddEntry,
    Author,
    AuthorRole,
    Change,
    ChangeOperation,
    ChangeSet,
    Edit,
    EditLine,
    Insert,
    MoveLine,
    drop_empty_edits,
)
from ricordo.memory.compose import compose, find_hard_link_warnings
from ricordo.memory.diff import format_unified
from ricordo.memory.draft import apply_edits
from ricordo.memory.entry import find_line_before, find_model_entry, format_entry
from ricordo.memory.memory import Memory
from ricordo.memory.note import is_protected
from ricordo.secrets.find import collect_secrets, mask_excerpt
from ricordo.services.describe import describe_finding, format_finding
from ricordo.services.edits.change import protected_paths
from ricordo.services.workspace.notebook import Notebook, Snapshot
from ricordo.text import make_visible


def build_changes(finding: Finding) -> list[Change]:
    """Return the changes that fix `finding`; none where it has no fix."""
    if finding.fix is None:
        return []
    author = Author(AuthorRole.RULE, finding.rule)
    reason = finding.fix.reason or finding.fix.label
    return [Change(act, reason, author) for act in finding.fix.acts]


def gather_changes(memory: Memory, todo: Sequence[Finding]) -> list[Change]:
    """Return the changes that fix `todo`, with one insertion for all entries at one place of an
    index: separate ones would each parse a long index again.
    """
    indexes = {index.path: index for index in memory.indexes}
    lines: dict[tuple[str, int], list[str]] = {}
    changes: list[Change] = []
    for change in (change for finding in todo for change in build_changes(finding)):
        act = change.operation
        note = memory.by_path.get(act.note) if isinstance(act, AddEntry) else None
        if not isinstance(act, AddEntry) or note is None or act.path not in indexes:
            changes.append(change)
            continue
        index = indexes[act.path]
        model = find_model_entry(memory, index, note)
        if model is None or model.text.lstrip()[:1].isdigit():
            # each entry is the model or the number before the next
            changes.append(change)
            continue
        text = format_entry(memory, index, note, model)
        lines.setdefault((index.path, find_line_before(index, note, model)), []).append(text)
    author = Author(AuthorRole.RULE, "unindexed-note")
    for (path, after), texts in sorted(lines.items(), reverse=True):
        changes.append(Change(Insert(path, after, "\n".join(texts)), author=author))
    return changes


INTERACTIVE_RULES = frozenset(("secret",))
"""Rules whose fix asks the user first."""
_SAME_PROBLEM = {"index-near-budget": "index-over-budget"}
"""Rules that grade one problem: a fix may turn the second into the first."""
_ABOUT_USE = frozenset(("never-read", "stale"))
"""Rules on what agents and the user do with a note: no text of a fix is their cause."""
_PASSES = 8
"""One fix may allow another: an index is shorter without an entry."""
_MOST_RUNS = 40
"""How often all rules run while fixes are tried; bounds the time."""


@dataclass(frozen=True, slots=True)
class UnfixedFinding:
    """A finding that is not fixed, and why."""

    finding: Finding
    reason: str


@dataclass(frozen=True, slots=True)
class FixPlan:
    """The findings that would be fixed, by which changes, and those that would not."""

    change_set: ChangeSet
    fixed: tuple[Finding, ...]
    unfixed: tuple[UnfixedFinding, ...]


def compose_fix(notebook: Notebook, snapshot: Snapshot, findings: Sequence[Finding]) -> ChangeSet:
    """Return the change set that fixes the `findings` of `snapshot` together. Raises ChangeRefused,
    also where `plan_fixes` would not make it: it would add a finding, or an entry would cost agents
    something.
    """
    memory = snapshot.memory
    # findings on one line may share a fix
    changes = {
        change.operation: change for finding in findings for change in build_changes(finding)
    }
    if not changes:
        raise ChangeRefused("This finding has no automatic fix; e edits the note.")
    change_set = compose(memory, list(changes.values()), protected=protected_paths(notebook))
    acts = [change.operation for change in changes.values()]
    after = apply_edits(memory, change_set.edits)
    loss = _describe_loss(memory, after, acts)
    planner = _FixPlanner(notebook, snapshot, frozenset(), unsafe=True)
    if harm := planner.find_harm(_Trial(after, tuple(findings)), loss):
        raise ChangeRefused(f"Not fixed: {harm}. e edits the note.")
    warnings = [f"{loss[0].upper()}{loss[1:]}."] if loss else []
    return replace(change_set, warnings=(*change_set.warnings, *warnings))


def plan_fixes(
    notebook: Notebook, snapshot: Snapshot, *, unsafe: bool, only: frozenset[str] = frozenset()
) -> FixPlan:
    """Return the plan that fixes every finding of `snapshot` whose fix is safe, or with `unsafe`
    every one that has a fix; of the rules `only`, unless empty. A fix is made whole or not at all,
    and never where it would add a finding.
    """
    return _FixPlanner(notebook, snapshot, only, unsafe=unsafe).plan()


@dataclass(frozen=True, slots=True)
class _Trial:
    """A memory with some fixes made, not written."""

    memory: Memory
    fixed: tuple[Finding, ...] = ()
    """The findings whose fixes were made."""
    remarks: tuple[str, ...] = ()


class _FixPlanner:
    """Makes fixes one after the other on a memory in RAM."""

    def __init__(
        self, notebook: Notebook, snapshot: Snapshot, only: frozenset[str], *, unsafe: bool
    ) -> None:
        self._notebook = notebook
        self._snapshot = snapshot
        self._only = only
        self._unsafe = unsafe
        self._marked: Collection[str] = protected_paths(notebook)
        self._memory = snapshot.memory
        self._findings: Sequence[Finding] = snapshot.findings
        self._changes: list[Change] = []
        self._remarks: tuple[str, ...] = ()
        self._made: set[str] = set()
        """Ids of the findings whose fix was made."""
        self._refused: dict[str, str] = {}
        """Why a fix was refused, by the id of its finding."""
        self._closed: dict[tuple[str, str], str] = {}
        """Why no further fix of a rule may change a file, by rule and path."""
        self._runs = 0

    def plan(self) -> FixPlan:
        """Make all allowed fixes and return the plan."""
        for _ in range(_PASSES):
            before = len(self._changes)
            self._refused, self._closed = {}, {}
            self._make(self._todo(entries=False))
            if len(self._changes) == before:
                # entries last: one that is relinked may be the entry that a note lacks
                self._make(self._todo(entries=True))
            if len(self._changes) == before:
                break
        dismissed = {finding.id for finding in self._snapshot.dismissed}
        unfixed = tuple(
            UnfixedFinding(finding, self._explain_unfixed(finding))
            for finding in self._findings
            if finding.id not in dismissed and self._is_selected(finding)
        )
        return FixPlan(self._change_set(), self._fixed_findings(), unfixed)

    def find_harm(self, trial: _Trial, loss: str) -> str:
        """Return why the fixes of `trial` are not to be made: they add a finding, or an entry with
        this `loss`; "" where nothing speaks against them.
        """
        acts = (act for finding in trial.fixed if finding.fix for act in finding.fix.acts)
        if loss and any(isinstance(act, AddEntry) for act in acts):
            return loss
        added = self._added(self._notebook.lint(trial.memory), trial)
        return _describe_added(added[0]) if added else ""

    def _is_selected(self, finding: Finding) -> bool:
        return not self._only or finding.rule in self._only

    def _todo(self, *, entries: bool) -> list[Finding]:
        """Return the findings that may be fixed, in each file from its last line to its first, so
        that line numbers stay valid.
        """
        todo = [
            finding
            for finding in self._findings
            if finding.fix is not None
            and (finding.fix.safe or self._unsafe)
            and finding.rule not in INTERACTIVE_RULES
            and self._is_selected(finding)
            and any(isinstance(act, AddEntry) for act in finding.fix.acts) == entries
        ]
        return sorted(todo, key=lambda one: (one.path, -one.line, one.rule, one.id))

    def _make(self, todo: Sequence[Finding]) -> None:
        """Make the fixes of `todo` that apply, remove their finding and add none."""
        todo = [finding for finding in todo if not self._is_refused(finding)]
        trial = self._try(self._memory, todo)
        if not trial.fixed:
            return
        acts = [act for finding in trial.fixed if finding.fix for act in finding.fix.acts]
        # unsafe fixes may remove text on purpose, but must not add entries that do harm
        adds = any(isinstance(act, AddEntry) for act in acts)
        loss = _describe_loss(self._memory, trial.memory, acts) if adds or not self._unsafe else ""
        if loss:
            self._make_halves(trial.fixed, loss)
            return
        self._runs += 1
        findings = self._notebook.lint(trial.memory)
        added = self._added(findings, trial)
        refused = self._refuse_useless(findings, trial.fixed) or self._refuse_harmful(
            trial.fixed, added
        )
        if refused:
            self._make([finding for finding in trial.fixed if finding not in refused])
        elif not added:
            self._accept(trial, findings)
        else:
            for part in _split(trial.fixed, added):
                self._make(part)

    def _make_halves(self, todo: Sequence[Finding], loss: str) -> None:
        """Make fixes that together cost agents something, half by half; refuse a single one with
        its `loss`.
        """
        if len(todo) == 1:
            self._refused[todo[0].id] = loss
            self._closed.update({(todo[0].rule, path): loss for path in _paths(todo[0])})
            return
        middle = len(todo) // 2
        self._make(todo[:middle])
        self._make(todo[middle:])

    def _is_refused(self, finding: Finding) -> bool:
        """Return whether the fix is not to be tried again in this pass."""
        closed = (self._closed.get((finding.rule, path)) for path in _paths(finding))
        why = next((why for why in closed if why), "")
        if not why and self._runs >= _MOST_RUNS:
            why = "not tried: too many overlapping fixes; run the command again"
        if why:
            self._refused[finding.id] = why
        return finding.id in self._refused

    def _try(self, memory: Memory, todo: Sequence[Finding]) -> _Trial:
        """Make the fixes of `todo` on `memory`, and refuse those that cannot be made."""
        if not todo:
            return _Trial(memory)
        try:
            composed = compose(memory, gather_changes(memory, todo), protected=self._marked)
            if not self._unsafe:
                _refuse_hard_links(memory, composed.edits)
        except ChangeRefused as refused:
            if len(todo) == 1:
                self._refused[todo[0].id] = refused.message
                return _Trial(memory)
            middle = len(todo) // 2
            first = self._try(memory, todo[:middle])
            second = self._try(first.memory, todo[middle:])
            return _Trial(second.memory, first.fixed + second.fixed, first.remarks + second.remarks)
        return _Trial(apply_edits(memory, composed.edits), tuple(todo), composed.warnings)

    def _added(self, findings: Sequence[Finding], trial: _Trial) -> list[Finding]:
        """Return those of `findings` that the fixes added.

        A finding whose text changed on the way replaces its former self, as long as its rule has no
        more findings in its file. For an index over its budget, only if it has not grown; and a
        dismissed finding must not return in other words.
        """
        known = {finding.id for finding in (*self._findings, *self._snapshot.dismissed)}
        still = {finding.id for finding in findings}
        fixed = {finding.id for finding in trial.fixed}
        room = Counter(_problem_of(one) for one in self._findings if one.id not in still | fixed)
        closed = {_problem_of(one) for one in self._snapshot.dismissed if one.id not in still}
        if _has_grown(self._snapshot.memory, trial.memory):
            closed |= {problem for problem in room if problem[0] in _SAME_PROBLEM.values()}
        added: list[Finding] = []
        for finding in findings:
            problem = _problem_of(finding)
            if finding.id in known or finding.rule in _ABOUT_USE:
                continue
            if room[problem] and problem not in closed:
                room[problem] -= 1
            else:
                added.append(finding)
        return added

    def _refuse_useless(
        self, findings: Sequence[Finding], fixed: Sequence[Finding]
    ) -> list[Finding]:
        """Refuse the fixes that do not remove their finding, and return them. They are counted, for
        where one of several findings with one text is gone, the next gets its id.
        """
        still = {finding.id for finding in findings}
        fewer = Counter(map(_problem_of, self._findings)) - Counter(map(_problem_of, findings))
        made = Counter(map(_problem_of, fixed))
        useless = [
            finding
            for finding in fixed
            if finding.id in still and fewer[_problem_of(finding)] < made[_problem_of(finding)]
        ]
        for finding in useless:
            self._refused[finding.id] = "the finding would remain after its fix"
        return useless

    def _refuse_harmful(self, fixed: Sequence[Finding], added: Sequence[Finding]) -> list[Finding]:
        """Refuse the fixes that must have added a finding, and return them: the only fix, or the
        only one that changes the file of the new finding.
        """
        harmful: list[Finding] = []
        for finding in added:
            suspects = [one for one in fixed if len(fixed) == 1 or finding.path in _paths(one)]
            if len(suspects) == 1 and suspects[0] not in harmful:
                harmful += suspects
                why = _describe_added(finding)
                self._refused[suspects[0].id] = why
                if not finding.line or finding.rule in _SAME_PROBLEM.values():
                    # a file that is full is so for all fixes of this rule
                    self._closed[suspects[0].rule, finding.path] = why
        return harmful

    def _accept(self, trial: _Trial, findings: Sequence[Finding]) -> None:
        self._memory, self._findings = trial.memory, findings
        self._remarks += trial.remarks
        for finding in trial.fixed:
            self._changes += build_changes(finding)
            self._made.add(finding.id)

    def _change_set(self) -> ChangeSet:
        """Return all fixes that were made, as one change set."""
        before, after = self._snapshot.memory.by_path, self._memory.by_path
        edits = [
            Edit(
                self._memory.root,
                path,
                before[path].raw if path in before else None,
                after[path].raw if path in after else None,
            )
            for path in sorted(before.keys() | after.keys())
            if before.get(path) is not after.get(path)
        ]
        return ChangeSet(drop_empty_edits(edits), tuple(self._changes), self._remarks)

    def _fixed_findings(self) -> tuple[Finding, ...]:
        """Return the findings of the snapshot that are gone, including side effects of fixes."""
        known = {finding.id for finding in self._snapshot.findings}
        still = {finding.id for finding in self._findings}
        reworded = Counter(_problem_of(one) for one in self._findings if one.id not in known)
        fixed: list[Finding] = []
        for finding in self._snapshot.findings:
            if finding.id in still:
                continue
            if finding.id not in self._made and reworded[_problem_of(finding)]:
                reworded[_problem_of(finding)] -= 1
            else:
                fixed.append(finding)
        return tuple(fixed)

    def _explain_unfixed(self, finding: Finding) -> str:
        memory = self._memory
        note = memory.by_path.get(finding.path)
        if memory.layout.read_only:
            return memory.layout.read_only
        if note is not None and is_protected(note, self._marked):
            return "the note is protected"
        if finding.id in self._refused:
            return self._refused[finding.id]
        if finding.fix is None:
            return "no automatic fix"
        if finding.rule in INTERACTIVE_RULES:
            return "the fix asks first; F in the notebook makes it"
        return "fix not safe; F in the notebook shows it, --unsafe makes it"


def _split(fixed: Sequence[Finding], added: Sequence[Finding]) -> Iterator[list[Finding]]:
    """Yield the parts in which to try fixes again that together added findings: those of other
    files, then of each file the first half and the second, in order.
    """
    parts: tuple[list[Finding], ...] = ([], [], [])
    by_file: dict[str, list[Finding]] = {}
    paths = {finding.path for finding in added}
    for finding in fixed:
        common = sorted(paths.intersection(_paths(finding)))
        by_file.setdefault(common[0] if common else "", []).append(finding)
    unrelated = by_file.pop("", []) if len(by_file) > 1 else []
    parts[0].extend(unrelated)
    for findings in by_file.values():
        middle = len(findings) // 2
        parts[1].extend(findings[:middle])
        parts[2].extend(findings[middle:])
    yield from (part for part in parts if part)


def _paths(finding: Finding) -> Collection[str]:
    """Return the files that the fix of a finding changes."""
    return finding.fix.paths if finding.fix else ()


def _refuse_hard_links(memory: Memory, edits: Iterable[Edit]) -> None:
    """Raise ChangeRefused where one of the `edits` would separate the two names of a file."""
    if warnings := find_hard_link_warnings(memory, edits):
        raise ChangeRefused(f"{warnings[0]} F in the notebook asks, --unsafe does it")


def _describe_added(finding: Finding) -> str:
    return f"the fix would add a finding, {finding.rule}"


def _problem_of(finding: Finding) -> tuple[str, str]:
    """Return the rule and the file of a finding, with one rule for all grades of a problem."""
    return _SAME_PROBLEM.get(finding.rule, finding.rule), finding.path


def _describe_loss(before: Memory, after: Memory, acts: Sequence[ChangeOperation]) -> str:
    """Return what agents would no longer load of the index, or which entry they would not load, if
    `acts` turned the memory `before` into `after`; "" where they load no less.
    """
    loaded, was_loaded = _loaded_notes(after), _loaded_notes(before)
    if not {act.note for act in acts if isinstance(act, AddEntry)} <= loaded:
        return "the entry would not be loaded; the index is too long"
    # the end of the last line is stripped as long as it is the last
    edited = Counter(act.old.rstrip() for act in acts if isinstance(act, EditLine | MoveLine))
    lines, remaining = (
        Counter(line.rstrip() for line in memory.load.text.split("\n"))
        for memory in (before, after)
    )
    if lines - remaining - edited or was_loaded & after.by_path.keys() - loaded:
        return "agents would load less of the index"
    return ""


def _loaded_notes(memory: Memory) -> frozenset[str]:
    """Return the paths of the notes whose entries agents load."""
    index, cut = memory.index, memory.load.cut_at_line
    if index is None:
        return frozenset(memory.entries)
    places = [(entry.line, memory.resolve_entry(index, entry).path) for entry in index.entries]
    below = {path for line, path in places if cut is not None and line >= cut}
    above = {path for line, path in places if cut is None or line < cut}
    return frozenset(memory.entries.keys() - (below - above))


def _has_grown(before: Memory, after: Memory) -> bool:
    """Return whether the index is longer than `before`."""
    return after.load.lines > before.load.lines or after.load.units > before.load.units


_MOST_RULES = 6
"""Rules that are named after a reason, those with most findings."""
_MOST_REASONS = 10
"""Reasons that are printed: some name a file, so there may be any number."""


def describe_fixes(plan: FixPlan, *, applied: bool) -> dict[str, Any]:
    """Return the `fixes` of `lint --json`; `applied` says whether they were made."""
    return {
        "applied": applied,
        "fixed": [describe_finding(finding, dismissed=False) for finding in plan.fixed],
        "not_fixed": [
            {
                "id": one.finding.id,
                "rule": one.finding.rule,
                "path": one.finding.path,
                "why": one.reason,
            }
            for one in plan.unfixed
        ],
        "changes": [
            {"path": edit.path, "diff": format_diff(edit)} for edit in plan.change_set.edits
        ],
    }


def format_diff(edit: Edit, directory: str = "") -> str:
    """Return the change of one file as a unified diff, with every secret masked. Paths are those in
    the memory; in `directory`, if that is given and holds the memory, so that `git apply` takes
    them there.
    """
    old, new = (
        "" if raw is None else raw.decode("utf-8-sig", "replace")
        for raw in (edit.before, edit.after)
    )
    folder = os.path.relpath(edit.root, os.path.realpath(directory)) if directory else "."
    is_inside = folder != "." and folder.split(os.sep)[0] != ".."
    path = os.path.join(folder, edit.path) if is_inside else edit.path
    old_name = f"a/{path}" if edit.before is not None else "/dev/null"
    new_name = f"b/{path}" if edit.after is not None else "/dev/null"
    return mask_excerpt(format_unified(old, new, old_name, new_name), collect_secrets((old, new)))


def format_diffs(plan: FixPlan, directory: str) -> list[str]:
    """Return all changes as lines of unified diffs, with paths as `format_diff` gives them."""
    diffs = (format_diff(edit, directory).removesuffix("\n") for edit in plan.change_set.edits)
    return [line for diff in diffs for line in make_visible(diff).split("\n")]


def format_fixed(plan: FixPlan) -> list[str]:
    """Return the findings that were fixed, a line each."""
    return [f"fixed: {format_finding(finding)}" for finding in plan.fixed]


def format_counts(plan: FixPlan, *, applied: bool) -> Iterator[str]:
    """Yield the number of findings that were fixed, or would be, then the others by reason."""
    verb = "fixed" if applied else "would be fixed"
    yield f"{len(plan.fixed):,} {verb}, {len(plan.unfixed):,} not{':' if plan.unfixed else '.'}"
    rules: dict[str, Counter[str]] = defaultdict(Counter)
    for unfixed in plan.unfixed:
        rules[unfixed.reason][unfixed.finding.rule] += 1
    commonest = sorted(rules.items(), key=lambda pair: (-pair[1].total(), pair[0]))
    for why, counts in commonest[:_MOST_REASONS]:
        common = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
        named = ", ".join(f"{rule} {count:,}" for rule, count in common[:_MOST_RULES])
        more = ", …" if len(common) > _MOST_RULES else ""
        yield f"  {counts.total():,} {make_visible(why).rstrip('.')}: {named}{more}"
    if others := sum(counts.total() for _, counts in commonest[_MOST_REASONS:]):
        yield f"  {others:,} for other reasons; --json has them"
