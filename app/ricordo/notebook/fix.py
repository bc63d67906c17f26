"""Mending findings: one that the person looks at, or all that can be mended."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from ricordo.errors import ChangeRefused
from ricordo.health.finding import Finding
from ricordo.memory.change import Author, Change, Role
from ricordo.memory.change_set import ChangeSet, Edit, effective
from ricordo.memory.compose import compose
from ricordo.memory.memory import Memory
from ricordo.memory.note import FileFacts, Note, read_note
from ricordo.notebook.change import protected_paths
from ricordo.notebook.open import Look, Notebook

NEVER_ALONE = frozenset(("secret",))
"""Rules whose fix asks the person something first."""
_PASSES = 6
"""One fix makes room for the next: an entry that is gone shortens the index."""
_ONE_BY_ONE = 200
"""Fixes of one rule that are tried singly where all together would bring a new finding."""


@dataclass(frozen=True, slots=True)
class Left:
    """A finding that was not mended, and why."""

    finding: Finding
    why: str


@dataclass(frozen=True, slots=True)
class FixPlan:
    """What would be mended, and what would not."""

    change_set: ChangeSet
    mended: tuple[Finding, ...]
    left: tuple[Left, ...]


def changes_of(finding: Finding) -> list[Change]:
    """Return the changes that mend `finding`; none where it has no fix."""
    if finding.fix is None:
        return []
    author = Author(Role.RULE, finding.rule)
    return [Change(act, finding.fix.label, author) for act in finding.fix.acts]


def fix_one(notebook: Notebook, memory: Memory, findings: Iterable[Finding]) -> ChangeSet:
    """Return the change set that mends the `findings` together. Raises ChangeRefused."""
    changes = [change for finding in findings for change in changes_of(finding)]
    if not changes:
        raise ChangeRefused("This finding has no fix; e edits the note.")
    return compose(memory, changes, marked=protected_paths(notebook))


def plan_fixes(notebook: Notebook, look: Look, *, unsafe: bool) -> FixPlan:
    """Return what mends every finding of `look` whose fix is safe, with `unsafe` all that have
    one. A fix that would bring a new finding is left out.
    """
    work = _Fixing(notebook, look, unsafe)
    for _ in range(_PASSES):
        if not work.go():
            break
    mended = {finding.id for finding in work.mended}
    left = [
        Left(finding, work.refused.get(finding.id) or _why_left(finding))
        for finding in look.findings
        if finding.id not in mended
    ]
    return FixPlan(work.change_set(), tuple(work.mended), tuple(left))


def _why_left(finding: Finding) -> str:
    if finding.fix is None:
        return "nothing mends it mechanically"
    if finding.rule in NEVER_ALONE:
        return "its fix asks first: F in the notebook"
    return "its fix has to be seen: F in the notebook, or --unsafe"


class _Fixing:
    """A memory that gets one fix after the other, in thought."""

    def __init__(self, notebook: Notebook, look: Look, unsafe: bool) -> None:
        self._notebook = notebook
        self._before = look.memory
        self._now = look.memory
        self._unsafe = unsafe
        self._marked: Collection[str] = protected_paths(notebook)
        self._known = {finding.id for finding in (*look.findings, *look.dismissed)}
        self._found: Sequence[Finding] = look.findings
        self._changes: list[Change] = []
        self.mended: list[Finding] = []
        self.refused: dict[str, str] = {}
        """Why a fix was left out, by the id of its finding."""

    def go(self) -> bool:
        """Make the fixes that the findings of the moment have; say whether there was any."""
        todo = [finding for finding in self._found if self._may_fix(finding)]
        made = self._made(todo, together=True)
        if not made:
            for rule in dict.fromkeys(finding.rule for finding in todo):
                own = [finding for finding in todo if finding.rule == rule]
                made |= self._made(own, together=True) or (
                    len(own) <= _ONE_BY_ONE and self._made(own, together=False)
                )
        return made

    def change_set(self) -> ChangeSet:
        """Return all that was made, as one set."""
        old, new = self._before.by_path, self._now.by_path
        edits = [
            Edit(
                self._before.root,
                path,
                old[path].raw if path in old else None,
                new[path].raw if path in new else None,
            )
            for path in sorted(old.keys() | new.keys())
            if old.get(path) is not new.get(path)
        ]
        return ChangeSet(effective(edits), tuple(self._changes))

    def _may_fix(self, finding: Finding) -> bool:
        fix = finding.fix
        return (
            fix is not None
            and (fix.safe or self._unsafe)
            and finding.rule not in NEVER_ALONE
            and finding.id not in self.refused
        )

    def _made(self, todo: Sequence[Finding], *, together: bool) -> bool:
        groups = [todo] if together else [[finding] for finding in todo]
        made = [self._try(group) for group in groups if group]
        return any(made)

    def _try(self, group: Sequence[Finding]) -> bool:
        """Make the fixes of `group`, unless one of them would bring a finding that is new."""
        memory, mended, changes = self._now, [], []
        for finding in sorted(group, key=lambda it: (it.path, -it.line)):
            own = changes_of(finding)
            try:
                memory = with_edits(memory, compose(memory, own, marked=self._marked).edits)
            except ChangeRefused as refused:
                self.refused[finding.id] = refused.message
                continue
            mended.append(finding)
            changes += own
        if not mended:
            return False
        found = self._notebook.findings(memory)
        brought = [finding for finding in found if finding.id not in self._known]
        if brought:
            if len(group) == 1:
                self.refused[group[0].id] = f"it would bring: {brought[0].message}"
            return False
        self._now, self._found = memory, found
        self._changes += changes
        standing = {finding.id for finding in found}
        for finding in mended:
            if finding.id in standing:
                self.refused[finding.id] = "its fix does not mend all of it"
            elif finding.id in self._known:
                self.mended.append(finding)
        return True


def with_edits(memory: Memory, edits: Iterable[Edit]) -> Memory:
    """Return `memory` as it would be after `edits`."""
    changed: dict[str, Note | None] = {}
    for edit in edits:
        if edit.after is None:
            changed[edit.path] = None
            continue
        old = memory.by_path.get(edit.path)
        facts = old.facts if old else FileFacts(0, 0.0, 0, 0)
        sized = FileFacts(len(edit.after), facts.modified, facts.inode, facts.changed_ns)
        changed[edit.path] = read_note(edit.path, edit.after, sized, memory.layout)
    return memory.with_files(changed)
