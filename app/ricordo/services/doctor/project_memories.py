"""Memories that agents keep for projects: those that no session loads any more, and those that
several projects share.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import blake2b
from typing import TYPE_CHECKING

from ricordo import git
from ricordo.agents.diagnosis import MemorySource, ProjectFolder
from ricordo.agents.folder import has_notes
from ricordo.agents.registry import SUPPORTED, find_transcript_at, open_transcript, recognise
from ricordo.agents.transcripts.session import FileAction
from ricordo.agents.workplace import Workplace, find_workplace
from ricordo.errors import MemoryNotFound, MemoryUnreadable
from ricordo.lint.finding import Severity
from ricordo.patterns import compile_lazily
from ricordo.services.doctor.identity import (
    STRONG,
    WEAK,
    Likeness,
    PastProject,
    Repositories,
    list_worktrees,
    read_first_time,
)
from ricordo.services.doctor.problem import MoveRepair, Problem
from ricordo.services.workspace.environment import Environment
from ricordo.storage.foreign_file import list_subfolders, read_plain_file
from ricordo.storage.reader import read_memory

if TYPE_CHECKING:
    from ricordo.agents.support import AgentSupport

Step = Callable[[str], None]
"""Gets the current activity, a few words; raises where the user cancelled."""
_FOLDED = compile_lazily(r"[^a-z0-9]+")
_MOST_NAMED = 5
_MOST_NOTES = 500
"""Notes of one memory that are compared with those of others."""
_LARGEST_NOTE = 1024 * 1024
_FEWEST_NOTES = 2
"""Notes that two memories of one project have to share."""


def fold_name(name: str) -> str:
    """Return the name of a folder without what different rules for such names make different."""
    return _FOLDED.sub("-", name.casefold()).strip("-")


@dataclass
class ProjectMap:
    """The projects and folders of one agent on this machine."""

    support: AgentSupport
    environment: Environment
    folders: list[ProjectFolder]
    projects: list[str]
    """Directories of projects that are there."""
    repositories: Repositories = field(default_factory=Repositories)
    _loaded: dict[str, str] = field(default_factory=dict)
    _inside: dict[str, Sequence[str]] = field(default_factory=dict)

    def find_loaded_memory(self, place: Workplace) -> str:
        """Return the directory of the memory that sessions of a workplace load."""
        if place.root not in self._loaded:
            home, environ = self.environment.agent_home, self.environment.environ
            memory = next(iter(self.support.memories_at(place, home, environ)))
            self._loaded[place.root] = os.path.realpath(memory.root)
            if not os.path.isdir(memory.root):
                self._loaded[place.root] = self._find_named(place, self._loaded[place.root])
        return self._loaded[place.root]

    def _find_named(self, place: Workplace, memory: str) -> str:
        """Return the memory in the folder that is named after a workplace, where `memory`, which is
        not there, would be in such a folder: the name of a long path is cut.
        """
        above = os.path.dirname(os.path.dirname(memory))
        for folder in self.folders:
            path = os.path.realpath(folder.path)
            if place.root in folder.owners and os.path.dirname(path) == above:
                return os.path.realpath(folder.memory)
        return memory

    def find_loading(self, memory: str) -> Sequence[str]:
        """Return the projects whose sessions load the memory."""
        return self._loading.get(os.path.realpath(memory), ())

    @cached_property
    def _loading(self) -> Mapping[str, Sequence[str]]:
        loading: dict[str, list[str]] = {}
        for project in self.projects:
            memory = self.find_loaded_memory(find_workplace(project))
            loading.setdefault(memory, []).append(project)
        return loading

    def find_worktree_owner(self, path: str) -> str:
        """Return the project of which the directory `path` was a worktree; "" for none."""
        folder = self.support.worktree_folder
        above, mark, _ = path.partition(f"/{folder}/")
        if folder and mark and above in self.projects:
            return above
        return self._worktrees.get(path, "")

    @cached_property
    def _worktrees(self) -> Mapping[str, str]:
        return {path: project for project in self.projects for path in list_worktrees(project)}

    @cached_property
    def twins(self) -> Mapping[str, ProjectFolder]:
        """The folders whose memories are loaded, by their names without signs and case."""
        loaded = (it for it in reversed(self.folders) if self.find_loading(it.memory))
        return {fold_name(folder.name): folder for folder in loaded}

    @cached_property
    def notes(self) -> Mapping[bytes, Sequence[ProjectFolder]]:
        """The folders by the digests of the notes in their memories."""
        notes: dict[bytes, list[ProjectFolder]] = {}
        for folder in self.folders:
            for digest in _digest_notes(folder.memory):
                notes.setdefault(digest, []).append(folder)
        return notes

    def list_repositories(self, folder: str) -> Sequence[str]:
        """Return the projects that are repositories in a folder."""
        if folder not in self._inside:
            paths = list_subfolders(folder)
            inside = [path for path in paths if os.path.lexists(os.path.join(path, ".git"))]
            self._inside[folder] = [find_workplace(path).root for path in inside]
        return self._inside[folder]

    def list_sources(self, place: Workplace) -> list[MemorySource]:
        """Return the settings of a workplace that name a memory."""
        home, environ = self.environment.agent_home, self.environment.environ
        return self.support.memory_sources(place, home, environ)

    def list_path_holders(self, project: str) -> tuple[str, ...]:
        """Return what holds the path of a project besides its memory, a line each."""
        home, environ = self.environment.agent_home, self.environment.environ
        holders = self.support.path_holders(project, home, environ)
        return tuple(f"{holder.path} ({holder.about})" for holder in holders)


def map_projects(environment: Environment, step: Step = lambda phase: None) -> list[ProjectMap]:
    """Return the projects of each agent that keeps folders for them."""
    home, environ = environment.agent_home, environment.environ
    surveyed: set[str] = set()
    for support in SUPPORTED:
        step(f"reading sessions of {support.agent.shown}" if support.agent else "reading sessions")
        surveyed |= support.survey(home, environ).cwds
    maps: list[ProjectMap] = []
    for support in SUPPORTED:
        folders = support.project_folders(home, environ)
        if not folders:
            continue
        named = {path for folder in folders for path in (*folder.cwds, *folder.owners)}
        known = support.known_projects(home, environ)
        here = {environment.cwd} if git.find_top_level(environment.cwd) else set[str]()
        paths = sorted({*named, *surveyed, *known, *here})
        roots = dict.fromkeys(find_workplace(path).root for path in paths if os.path.isdir(path))
        maps.append(ProjectMap(support, environment, folders, list(roots)))
    return maps


def find_memory_problems(
    projects: ProjectMap, step: Step = lambda phase: None
) -> Iterator[Problem]:
    """Yield the problems of the memories of one agent."""
    unloaded: list[ProjectFolder] = []
    for number, folder in enumerate(projects.folders, 1):
        step(f"reading memories, {number} of {len(projects.folders)}")
        loading = projects.find_loading(folder.memory)
        if not has_notes(folder.memory):
            continue
        if loading:
            yield from _find_mixed(projects, folder, loading)
        elif (problem := _explain_present(projects, folder)) is not None:
            yield problem
        else:
            unloaded.append(folder)
    gone: list[tuple[ProjectFolder, list[PastProject]]] = []
    for number, folder in enumerate(unloaded, 1):
        step(f"reading sessions of projects that are gone, {number} of {len(unloaded)}")
        gone.append((folder, _read_past(folder)))
    # each repository is asked for the commits of all at once
    projects.repositories.expect_commits(
        commit for _, past in gone for each in past for commit in each.commits
    )
    for number, (folder, past) in enumerate(gone, 1):
        step(f"looking for projects that are gone, {number} of {len(gone)}")
        yield _explain_gone(projects, folder, past, step)


# Memories that no session loads


def _explain_present(projects: ProjectMap, folder: ProjectFolder) -> Problem | None:
    """Return the problem of a memory that no session loads, by the project that is still there;
    None if that is gone.
    """
    for path in folder.owners or folder.cwds:
        if os.path.isdir(path):
            return _explain_moved_rule(projects, folder, find_workplace(path), path)
    twin = projects.twins.get(fold_name(folder.name))
    if twin is None:
        return None
    project = projects.find_loading(twin.memory)[0]
    evidence = (
        f"the folders {folder.name} and {twin.name} differ only in signs or case",
        f"sessions in {project} load {twin.memory}",
    )
    return _make_split(projects, folder, "twin-memory", project, twin.memory, evidence)


def _explain_moved_rule(
    projects: ProjectMap, folder: ProjectFolder, place: Workplace, cwd: str
) -> Problem:
    """Return the problem of a memory whose project is there, but loads another one."""
    target = projects.find_loaded_memory(place)
    sources = [it for it in projects.list_sources(place) if it.directory]
    named = next((it for it in sources if os.path.realpath(it.directory) == target), None)
    if named is not None:
        check = "redirected-memory"
        evidence = (f"{named.file} ({named.scope} settings) names {named.directory}",)
    elif place.top != place.root:
        check = "worktree-memory"
        evidence = (f"{cwd} is a worktree of {place.root}",)
    elif fold_name(os.path.basename(os.path.dirname(target))) == fold_name(folder.name):
        check = "twin-memory"
        other = os.path.basename(os.path.dirname(target))
        evidence = (f"the folders {folder.name} and {other} differ only in signs or case",)
    elif place.directory != place.root:
        check = "subfolder-memory"
        evidence = (f"{cwd} is inside the repository {place.root}",)
    else:
        check = "split-memory"
        evidence = (f"its sessions worked in {cwd}",)
    loads = f"sessions in {place.root} load {target}"
    return _make_split(projects, folder, check, place.root, target, (*evidence, loads))


def _read_past(folder: ProjectFolder) -> list[PastProject]:
    """Return the projects that are gone after which a folder is named, by their sessions."""
    return [
        PastProject(path, [it.path for it in folder.sessions if _is_at(it.cwd, path)])
        for path in folder.owners or folder.cwds
    ]


def _explain_gone(
    projects: ProjectMap, folder: ProjectFolder, past: Sequence[PastProject], step: Step
) -> Problem:
    """Return the problem of a memory whose project is gone: moved, renamed or deleted."""
    for each in past:
        if owner := projects.find_worktree_owner(each.path):
            was = f"{each.path}, which is gone, was a worktree of {owner}"
            return _explain_inside(projects, folder, "worktree-memory", owner, was)
        if owner := _find_surrounding(projects, each.path):
            was = f"{each.path}, which is gone, was inside the repository {owner}"
            return _explain_inside(projects, folder, "subfolder-memory", owner, was)
    likely = _find_likely(projects, folder, past, step)
    path = past[0].path if past else ""
    if not likely or (len(likely) > 1 and likely[0].weight == likely[1].weight):
        return _make_orphan(folder, path, likely)
    best = likely[0]
    evidence = (f"{path} is gone", *best.evidence) if path else best.evidence
    last = max((it.last_time for it in past), default="")
    ran_beside = _ran_earlier(projects, best.project, last)
    if ran_beside and not best.is_confirmed:
        return _make_orphan(folder, path, likely)
    if any(it.project == best.project for it in _compare_neighbours(projects, path)):
        check = "worktree-memory"
    elif ran_beside:
        check = "split-memory"
        evidence += (f"sessions ran in {best.project} at the same time: one was a copy",)
    elif os.path.dirname(best.project) == os.path.dirname(path):
        check = "renamed-project"
    else:
        check = "moved-project"
    target = projects.find_loaded_memory(find_workplace(best.project))
    problem = _make_split(projects, folder, check, best.project, target, evidence, path)
    if best.is_confirmed:
        return problem
    whose = f"{_name_notes(folder.memory)} of {path or folder.name}"
    what = f"{whose} may belong to {best.project}: no session loads them."
    doubt = "This is likely, not certain: look at the evidence first."
    advice = f"{doubt} {problem.advice}"
    return replace(problem, what=what, advice=advice, severity=Severity.INFO)


def _explain_inside(
    projects: ProjectMap, folder: ProjectFolder, check: str, project: str, evidence: str
) -> Problem:
    target = projects.find_loaded_memory(find_workplace(project))
    return _make_split(projects, folder, check, project, target, (evidence,))


def _find_surrounding(projects: ProjectMap, path: str) -> str:
    """Return the project in whose repository the directory `path`, which is gone, was; "" if there
    is none. A repository inside another one is a project of its own.
    """
    around = max((it for it in projects.projects if _is_inside(path, it)), key=len, default="")
    if not around or git.find_top_level(around) != around:
        return ""
    relative = f":(literal){os.path.relpath(path, around)}"
    is_tracked = git.run_git(around, "log", "--all", "-1", "--format=%H", "--", relative)
    return around if is_tracked else ""


def _ran_earlier(projects: ProjectMap, project: str, time: str) -> bool:
    """Return whether sessions ran in `project` before `time`; not if either is unknown."""
    sessions = (
        session.path
        for folder in projects.folders
        for session in folder.sessions
        if _is_at(session.cwd, project)
    )
    return bool(time) and any("" < read_first_time(it) < time for it in sessions)


def _find_likely(
    projects: ProjectMap, folder: ProjectFolder, past: Sequence[PastProject], step: Step
) -> list[Likeness]:
    """Return the projects that may be the one of a folder, the likeliest first."""
    best: dict[str, Likeness] = {}
    for each in past:
        candidates = _list_candidates(projects, each.path)
        compared = [each.compare(project, projects.repositories) for project in candidates]
        branches = _compare_branches(projects, each, candidates)
        for it in _add_up([*compared, *branches, *_compare_neighbours(projects, each.path)]):
            if it.project not in best or best[it.project].weight < it.weight:
                best[it.project] = it
    likely = _add_up([*best.values(), *_compare_notes(projects, folder)])
    return sorted(likely, key=lambda it: (-it.weight, it.project))


def _add_up(found: Iterable[Likeness]) -> Iterator[Likeness]:
    """Yield one sum for each project for which anything speaks."""
    sums: dict[str, Likeness] = {}
    for project, weight, evidence in found:
        known = sums.get(project, Likeness(project, 0, ()))
        sums[project] = Likeness(project, known.weight + weight, (*known.evidence, *evidence))
    return (it for it in sums.values() if it.weight)


def _compare_branches(
    projects: ProjectMap, past: PastProject, candidates: Sequence[str]
) -> Iterator[Likeness]:
    """Yield the projects that alone have a branch on which sessions worked."""
    for branch in past.branches:
        owners = [it for it in candidates if projects.repositories.has_branch(it, branch)]
        if len(owners) == 1:
            yield Likeness(owners[0], WEAK, (f"no other project has its branch {branch}",))
            return


def _compare_neighbours(projects: ProjectMap, path: str) -> Iterator[Likeness]:
    """Yield the project of which all that is left in the folder of `path` are worktrees."""
    above = os.path.dirname(path)
    owners = {projects.find_worktree_owner(it) for it in list_subfolders(above)}
    if len(owners) == 1 and (owner := owners.pop()):
        yield Likeness(owner, WEAK, (f"all that is left in {above} are its worktrees",))


def _list_candidates(projects: ProjectMap, path: str) -> list[str]:
    """Return the projects that may be the one that was at `path`: those that the agent knows, and
    repositories in the nearest folder around it that is there.
    """
    above = os.path.dirname(path)
    while not os.path.isdir(above):
        above = os.path.dirname(above)
    home = os.path.realpath(projects.environment.agent_home)
    near = projects.list_repositories(above) if above not in ("/", os.path.dirname(home)) else ()
    return list(dict.fromkeys((*projects.projects, *near)))


def _compare_notes(projects: ProjectMap, folder: ProjectFolder) -> Iterator[Likeness]:
    """Yield the projects whose memory has notes of this one."""
    same = Counter(
        other.memory
        for digest in _digest_notes(folder.memory)
        for other in projects.notes.get(digest, ())
        if other.path != folder.path
    )
    for memory, count in same.items():
        for project in projects.find_loading(memory) if count >= _FEWEST_NOTES else ():
            yield Likeness(project, STRONG, (f"{count} notes are the same in {memory}",))


def _digest_notes(root: str) -> frozenset[bytes]:
    names = sorted(filter(_is_note, _list_names(root)))[:_MOST_NOTES]
    raws = (read_plain_file(os.path.join(root, name), _LARGEST_NOTE) for name in names)
    return frozenset(blake2b(raw, digest_size=16).digest() for raw in raws if raw)


def _list_names(root: str) -> Sequence[str]:
    try:
        return os.listdir(root)
    except OSError:
        return ()


def _make_split(
    projects: ProjectMap,
    folder: ProjectFolder,
    check: str,
    project: str,
    target: str,
    evidence: tuple[str, ...],
    gone: str = "",
) -> Problem:
    """Return the problem of notes that belong to the memory `target` of `project`."""
    notes = _name_notes(folder.memory)
    verb = "is" if notes == "1 note" else "are"
    what = f"{notes} of {project} {verb} not loaded: {_WHY[check]}."
    has_target = has_notes(target) if os.path.isdir(target) else False
    done = "joins them with the notes there" if has_target else "moves them to the loaded memory"
    advice = f"The repair {done}; `ricordo undo` reverts it."
    title = f"From {os.path.basename(gone or (folder.cwds[0] if folder.cwds else folder.name))}"
    reason = f"{_WHY[check]}: notes of {folder.name} belong to {project}"
    repair = MoveRepair(folder.memory, target, project, title, reason)
    holders = projects.list_path_holders(gone) if gone else ()
    return Problem(
        check,
        Severity.WARNING,
        what,
        (*evidence, f"no session loads {folder.memory}"),
        advice,
        (folder.memory, target),
        holders,
        repair,
    )


_WHY = {
    "worktree-memory": "the memory is that of a worktree",
    "subfolder-memory": "the memory is that of a folder inside it",
    "twin-memory": "the memory has nearly the same name as the loaded one",
    "redirected-memory": "the settings name another directory",
    "renamed-project": "the project was renamed",
    "moved-project": "the project was moved",
    "split-memory": "sessions load another memory",
}


def _make_orphan(folder: ProjectFolder, path: str, likely: Sequence[Likeness]) -> Problem:
    evidence = [f"{path} is gone"] if path else ["no session of it is left"]
    evidence += [f"{it.project} may be it: {'; '.join(it.evidence)}" for it in likely[:_MOST_NAMED]]
    problem = Problem(
        "orphan-memory",
        Severity.INFO,
        f"No project is there for {_name_notes(folder.memory)} in {folder.memory}.",
        tuple(evidence),
        paths=(folder.memory,),
    )
    command = f"`ricordo doctor --fix {problem.id} --into DIR`"
    advice = f"Where the project is elsewhere now, name it: {command}."
    return replace(problem, advice=advice)


def _name_notes(root: str) -> str:
    count = len([name for name in _list_names(root) if _is_note(name)])
    return "1 note" if count == 1 else f"{count} notes"


def _is_note(name: str) -> bool:
    return name.endswith(".md") and name.lower() not in ("memory.md", "readme.md")


def _is_inside(path: str, folder: str) -> bool:
    return path.startswith(os.path.join(folder, ""))


def _is_at(path: str, folder: str) -> bool:
    return path == folder or _is_inside(path, folder)


# Memories of several projects


def _find_mixed(
    projects: ProjectMap, folder: ProjectFolder, loading: Sequence[str]
) -> Iterator[Problem]:
    """Yield the problems of a memory that sessions of several projects load or wrote."""
    distinct = _list_distinct(projects.repositories, loading)
    if len(distinct) > 1:
        named = ", ".join(distinct[:_MOST_NAMED])
        yield Problem(
            "shared-memory",
            Severity.WARNING,
            f"Sessions of {len(distinct)} projects load one memory: {named}.",
            tuple(f"sessions in {project} load {folder.memory}" for project in distinct),
            "Give one of them a memory of its own: `autoMemoryDirectory` in its local settings.",
            (folder.memory, *distinct),
        )
    for project, transcripts in _group_foreign(projects, folder, loading).items():
        yield _explain_foreign(projects, folder, loading[0], project, transcripts)


def _list_distinct(repositories: Repositories, projects: Sequence[str]) -> Sequence[str]:
    """Return the projects without further clones of one."""
    distinct = list(projects[:1])
    for project in projects[1:]:
        if not repositories.is_one_of(project, distinct):
            distinct.append(project)
    return distinct


def _group_foreign(
    projects: ProjectMap, folder: ProjectFolder, loading: Sequence[str]
) -> Mapping[str, list[str]]:
    """Return the transcripts of sessions that began in other existing projects, by project."""
    roots = {cwd: find_workplace(cwd).root for cwd in folder.cwds if os.path.isdir(cwd)}
    others = {
        cwd: root
        for cwd, root in roots.items()
        if root not in loading and not projects.repositories.is_one_of(root, loading)
    }
    foreign: dict[str, list[str]] = {}
    for session in folder.sessions:
        if session.cwd in others:
            foreign.setdefault(others[session.cwd], []).append(session.path)
    return foreign


def _explain_foreign(
    projects: ProjectMap,
    folder: ProjectFolder,
    owner: str,
    project: str,
    transcripts: Sequence[str],
) -> Problem:
    """Return the problem of sessions of `project` in the folder of `owner`."""
    target = projects.find_loaded_memory(find_workplace(project))
    notes = _find_notes_of(folder.memory, transcripts)
    count = len(transcripts)
    sessions = "1 session" if count == 1 else f"{count} sessions"
    evidence = [f"{sessions} in {folder.path} began in {project}"]
    repair = None
    advice = f"Look at the notes of {folder.memory} that are about {project}."
    if notes:
        evidence.append(f"they wrote {', '.join(notes[:_MOST_NAMED])}")
        title, reason = f"From {os.path.basename(owner)}", f"written by sessions in {project}"
        repair = MoveRepair(folder.memory, target, project, title, reason, tuple(notes))
        advice = f"The repair moves what they wrote to {target}; `ricordo undo` reverts it."
    return Problem(
        "mixed-memory",
        Severity.WARNING,
        f"The memory of {owner} also has sessions of {project}.",
        tuple(evidence),
        advice,
        (folder.memory, project),
        repair=repair,
    )


def _find_notes_of(root: str, transcripts: Sequence[str]) -> list[str]:
    """Return the notes of the memory at `root` that these sessions, and no others, wrote: by the
    session that a note names, else by the transcripts.
    """
    try:
        memory = read_memory(root, recognise(root))
    except (MemoryNotFound, MemoryUnreadable):
        return []
    ids = {os.path.splitext(os.path.basename(path))[0] for path in transcripts}
    written = {path for transcript in transcripts for path in _list_written(root, transcript)}
    found: list[str] = []
    for note in memory.notes:
        named = note.frontmatter.get_text("originSessionId")
        if named in ids if named else note.path in written:
            found.append(note.path)
    return found


def _list_written(root: str, transcript: str) -> Iterator[str]:
    """Yield the paths in the memory at `root` of files that a session wrote as a whole."""
    inside = os.path.join(root, "")
    reading = open_transcript(find_transcript_at(transcript))
    for message in reading.messages():
        for touch in message.touches:
            if touch.action is FileAction.WROTE and touch.path.startswith(inside):
                yield touch.path.removeprefix(inside)
