"""Memories that agents keep for projects: those that no session loads any more, and those that
several projects share.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
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
from ricordo.services.doctor.identity import Likeness, PastProject, read_identity
from ricordo.services.doctor.problem import MoveRepair, Problem
from ricordo.services.workspace.environment import Environment
from ricordo.storage.foreign_file import list_subfolders, read_plain_file
from ricordo.storage.reader import read_memory

if TYPE_CHECKING:
    from ricordo.agents.support import AgentSupport

MOST_CANDIDATES = 40
"""Projects that are compared with one that is gone."""
_FOLDED = compile_lazily(r"[^a-z0-9]+")
_MOST_NAMED = 5


def fold_name(name: str) -> str:
    """Return the name of a folder without what different rules for such names make different."""
    return _FOLDED.sub("-", name.casefold()).strip("-")


@dataclass(slots=True)
class ProjectMap:
    """The projects and folders of one agent on this machine."""

    support: AgentSupport
    environment: Environment
    folders: list[ProjectFolder]
    projects: list[str]
    """Directories of projects that are there."""
    _loaded: dict[str, str] = field(default_factory=dict)

    def find_loaded_memory(self, place: Workplace) -> str:
        """Return the directory of the memory that sessions of a workplace load."""
        if place.root not in self._loaded:
            home, environ = self.environment.agent_home, self.environment.environ
            memory = next(iter(self.support.memories_at(place, home, environ)))
            self._loaded[place.root] = os.path.realpath(memory.root)
        return self._loaded[place.root]

    def find_loading(self, memory: str) -> list[str]:
        """Return the projects whose sessions load the memory."""
        root = os.path.realpath(memory)
        return [it for it in self.projects if self.find_loaded_memory(find_workplace(it)) == root]

    def list_sources(self, place: Workplace) -> list[MemorySource]:
        """Return the settings of a workplace that name a memory."""
        home, environ = self.environment.agent_home, self.environment.environ
        return self.support.memory_sources(place, home, environ)

    def list_path_holders(self, project: str) -> tuple[str, ...]:
        """Return what holds the path of a project besides its memory, a line each."""
        home, environ = self.environment.agent_home, self.environment.environ
        holders = self.support.path_holders(project, home, environ)
        return tuple(f"{holder.path} ({holder.about})" for holder in holders)


def map_projects(environment: Environment) -> list[ProjectMap]:
    """Return the projects of each agent that keeps folders for them."""
    home, environ = environment.agent_home, environment.environ
    surveyed = {cwd for support in SUPPORTED for cwd in support.survey(home, environ).cwds}
    maps: list[ProjectMap] = []
    for support in SUPPORTED:
        folders = support.project_folders(home, environ)
        if not folders:
            continue
        cwds = {cwd for folder in folders for cwd in folder.cwds}
        known = support.known_projects(home, environ)
        here = {environment.cwd} if git.find_top_level(environment.cwd) else set[str]()
        paths = sorted({*cwds, *surveyed, *known, *here})
        roots = dict.fromkeys(find_workplace(path).root for path in paths if os.path.isdir(path))
        maps.append(ProjectMap(support, environment, folders, list(roots)))
    return maps


def find_memory_problems(projects: ProjectMap) -> Iterator[Problem]:
    """Yield the problems of the memories of one agent."""
    for folder in projects.folders:
        if not has_notes(folder.memory):
            continue
        loading = projects.find_loading(folder.memory)
        if loading:
            yield from _find_mixed(projects, folder, loading)
        else:
            yield _explain_unloaded(projects, folder)


# Memories that no session loads


def _explain_unloaded(projects: ProjectMap, folder: ProjectFolder) -> Problem:
    """Return the problem of a memory that no session loads."""
    for cwd in folder.cwds:
        if os.path.isdir(cwd):
            return _explain_moved_rule(projects, folder, find_workplace(cwd), cwd)
    twin = next((it for it in projects.folders if _is_twin(projects, it, folder)), None)
    if twin is not None:
        project = projects.find_loading(twin.memory)[0]
        evidence = (
            f"the folders {folder.name} and {twin.name} differ only in signs or case",
            f"sessions in {project} load {twin.memory}",
        )
        return _make_split(projects, folder, "twin-memory", project, twin.memory, evidence)
    return _explain_gone(projects, folder)


def _is_twin(projects: ProjectMap, one: ProjectFolder, other: ProjectFolder) -> bool:
    is_alike = one.path != other.path and fold_name(one.name) == fold_name(other.name)
    return is_alike and bool(projects.find_loading(one.memory))


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


def _explain_gone(projects: ProjectMap, folder: ProjectFolder) -> Problem:
    """Return the problem of a memory whose project is gone: moved, renamed or deleted."""
    for path in folder.cwds:
        root = next((it for it in projects.projects if _is_inside(path, it)), None)
        if root is not None:
            target = projects.find_loaded_memory(find_workplace(root))
            evidence = (f"{path}, which is gone, was inside {root}",)
            return _make_split(projects, folder, "worktree-memory", root, target, evidence)
    likely = _find_likely(projects, folder)
    path = folder.cwds[0] if folder.cwds else ""
    if not likely or (len(likely) > 1 and likely[0].weight == likely[1].weight):
        return _make_orphan(folder, path, likely)
    best = likely[0]
    is_renamed = os.path.dirname(best.project) == os.path.dirname(path)
    check = "renamed-project" if is_renamed else "moved-project"
    target = projects.find_loaded_memory(find_workplace(best.project))
    gone = f"{path} is gone"
    problem = _make_split(
        projects, folder, check, best.project, target, (gone, *best.evidence), path
    )
    if best.is_confirmed:
        return problem
    doubt = "This is likely, not certain: look at the evidence first."
    return replace(problem, advice=f"{doubt} {problem.advice}", severity=Severity.INFO)


def _find_likely(projects: ProjectMap, folder: ProjectFolder) -> list[Likeness]:
    """Return the projects that may be the one of a folder, the likeliest first."""
    found: dict[str, Likeness] = {}
    for path in folder.cwds:
        transcripts = [it.path for it in folder.sessions if it.cwd == path]
        past = PastProject(path, transcripts)
        for project in _list_candidates(projects, path):
            likeness = past.compare(project)
            known = found.get(project)
            if likeness.weight and (known is None or known.weight < likeness.weight):
                found[project] = likeness
    for likeness in _compare_notes(projects, folder):
        known = found.get(likeness.project)
        evidence = (*(known.evidence if known else ()), *likeness.evidence)
        weight = likeness.weight + (known.weight if known else 0)
        found[likeness.project] = Likeness(likeness.project, weight, evidence)
    return sorted(found.values(), key=lambda it: (-it.weight, it.project))


def _list_candidates(projects: ProjectMap, path: str) -> list[str]:
    """Return the projects that may be the one that was at `path`: those that the agent knows, and
    repositories in the nearest folder around it that is there.
    """
    above = os.path.dirname(path)
    while not os.path.isdir(above):
        above = os.path.dirname(above)
    home = os.path.realpath(projects.environment.agent_home)
    near = list_subfolders(above) if above not in ("/", os.path.dirname(home)) else []
    beside = [it for it in near if os.path.lexists(os.path.join(it, ".git"))]
    roots = [find_workplace(it).root for it in beside]
    return list(dict.fromkeys((*projects.projects, *roots)))[:MOST_CANDIDATES]


def _compare_notes(projects: ProjectMap, folder: ProjectFolder) -> Iterator[Likeness]:
    """Yield the projects whose memory has notes of this one."""
    own = _digest_notes(folder.memory)
    for other in projects.folders:
        if other.path == folder.path or not own:
            continue
        same = own & _digest_notes(other.memory)
        for project in projects.find_loading(other.memory) if len(same) >= 2 else ():
            text = f"{len(same)} notes are the same in {other.memory}"
            yield Likeness(project, 2, (text,))


def _digest_notes(root: str) -> frozenset[bytes]:
    names = sorted(name for name in _list_names(root) if name.endswith(".md"))
    raws = (read_plain_file(os.path.join(root, name), 1 << 20) for name in names[:500])
    skipped = {"memory.md", "readme.md"}
    return frozenset(
        raw for name, raw in zip(names, raws, strict=False) if raw and name.lower() not in skipped
    )


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
    count = _count_notes(folder.memory)
    noun = "note" if count == 1 else "notes"
    verb = "is" if count == 1 else "are"
    what = f"{count} {noun} of {project} {verb} not loaded: {_WHY[check]}."
    has_target = has_notes(target) if os.path.isdir(target) else False
    done = "joins it with the memory there" if has_target else "moves it to where they do"
    advice = f"No session loads {folder.memory}. The repair {done}; `ricordo undo` reverts it."
    title = f"From {os.path.basename(gone or (folder.cwds[0] if folder.cwds else folder.name))}"
    reason = f"{_WHY[check]}: notes of {folder.name} belong to {project}"
    repair = MoveRepair(folder.memory, target, project, title, reason)
    holders = projects.list_path_holders(gone) if gone else ()
    return Problem(
        check,
        Severity.WARNING,
        what,
        evidence,
        advice,
        (folder.memory, target),
        holders,
        repair,
    )


_WHY = {
    "worktree-memory": "they are in the memory of a worktree",
    "subfolder-memory": "they are in the memory of a folder inside it",
    "twin-memory": "they are in a memory with nearly the same name",
    "redirected-memory": "the settings name another directory",
    "renamed-project": "the project was renamed",
    "moved-project": "the project was moved",
    "split-memory": "sessions load another memory",
}


def _make_orphan(folder: ProjectFolder, path: str, likely: Sequence[Likeness]) -> Problem:
    evidence = [f"{path} is gone"] if path else ["no session of it is left"]
    evidence += [f"{it.project} may be it: {'; '.join(it.evidence)}" for it in likely[:_MOST_NAMED]]
    count = _count_notes(folder.memory)
    noun = "note" if count == 1 else "notes"
    return Problem(
        "orphan-memory",
        Severity.INFO,
        f"{count} {noun} in {folder.memory} belong to no project that is there.",
        tuple(evidence),
        "Where the project is elsewhere now, name it: `ricordo doctor --fix ID --into DIR`.",
        (folder.memory,),
        repair=None,
    )


def _count_notes(root: str) -> int:
    return len([name for name in _list_names(root) if _is_note(name)])


def _is_note(name: str) -> bool:
    return name.endswith(".md") and name.lower() not in ("memory.md", "readme.md")


def _is_inside(path: str, folder: str) -> bool:
    return path.startswith(os.path.join(folder, ""))


# Memories of several projects


def _find_mixed(
    projects: ProjectMap, folder: ProjectFolder, loading: Sequence[str]
) -> Iterator[Problem]:
    """Yield the problems of a memory that sessions of several projects load or wrote."""
    distinct = _list_distinct(loading)
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
    for project, transcripts in _group_foreign(folder, loading).items():
        yield _explain_foreign(projects, folder, loading[0], project, transcripts)


def _list_distinct(projects: Iterable[str]) -> list[str]:
    """Return the projects without further clones of one."""
    distinct: list[str] = []
    for project in projects:
        identity = read_identity(project)
        if not any(identity.is_same(read_identity(other)) for other in distinct):
            distinct.append(project)
    return distinct


def _group_foreign(folder: ProjectFolder, loading: Sequence[str]) -> Mapping[str, list[str]]:
    """Return the transcripts of sessions that began in other existing projects, by project."""
    roots = {cwd: find_workplace(cwd).root for cwd in folder.cwds if os.path.isdir(cwd)}
    others = {
        cwd: root
        for cwd, root in roots.items()
        if root not in loading
        and not any(read_identity(root).is_same(read_identity(it)) for it in loading)
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
