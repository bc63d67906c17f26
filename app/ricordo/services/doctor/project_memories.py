"""Memories that agents keep for projects, and that no session loads any more."""

from __future__ import annotations

import os
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from unicodedata import normalize

from ricordo import git
from ricordo.agents.diagnosis import ProjectFolder
from ricordo.agents.folder import has_notes
from ricordo.agents.workplace import Workplace, find_workplace
from ricordo.lint.finding import Severity
from ricordo.services.doctor.mixed_memories import (
    find_clones,
    find_divided,
    find_mixed,
    find_mixed_inside,
    find_shared,
    find_taken_over,
    read_earlier,
)
from ricordo.services.doctor.past_project import (
    STRONG,
    WEAK,
    Likeness,
    PastProject,
    pick,
    rank,
)
from ricordo.services.doctor.problem import MoveRepair, Problem
from ricordo.services.doctor.project_map import (
    ProjectMap,
    Step,
    digest_notes,
    find_nearest_folder,
    fold_name,
    is_at,
    is_inside,
    is_note,
    list_names,
)
from ricordo.storage.foreign_file import list_subfolders

_MOST_NAMED = 5
_DETACHED = "HEAD"
"""What transcripts have as the branch where none is checked out."""
_FEWEST_NOTES = 2
"""Notes that two memories of one project have to share."""


def find_memory_problems(
    projects: ProjectMap, step: Step = lambda phase: None
) -> Iterator[Problem]:
    """Yield the problems of the memories of one agent."""
    unloaded: list[ProjectFolder] = []
    remnants: list[tuple[ProjectFolder, PastProject]] = []
    earlier: list[tuple[ProjectFolder, PastProject]] = []
    for number, folder in enumerate(projects.folders, 1):
        step(f"reading memories, {number} of {len(projects.folders)}")
        loading = projects.find_loading(folder.memory)
        remnants += ((folder, it) for path in loading for it in _read_left(projects, folder, path))
        if os.path.islink(folder.memory) and not os.path.exists(folder.memory):
            yield _make_unreachable(folder)
        if not has_notes(folder.memory):
            continue
        if loading:
            earlier += read_earlier(projects, folder, loading[0])
        elif (problem := _explain_present(projects, folder)) is not None:
            yield problem
        else:
            unloaded.append(folder)
    gone: list[tuple[ProjectFolder, list[PastProject]]] = []
    for number, folder in enumerate(unloaded, 1):
        step(f"reading sessions of projects that are gone, {number} of {len(unloaded)}")
        gone.append((folder, _read_past(projects, folder)))
    everything = [past for _, past in (*remnants, *earlier)]
    everything += (it for _, past in gone for it in past)
    # each repository is asked for all at once
    projects.repositories.expect(
        (commit for past in everything for commit in past.commits),
        (first for past in everything for first, _ in past.times),
    )
    for number, (folder, past_project) in enumerate(remnants, 1):
        step(f"looking for projects that moved, {number} of {len(remnants)}")
        yield from _explain_remnant(projects, folder, past_project)
    for memory, loading in projects.list_shared():
        yield from find_shared(projects, memory, loading)
    yield from find_clones(projects, step)
    for number, folder in enumerate(projects.folders, 1):
        step(f"looking for notes of other projects, {number} of {len(projects.folders)}")
        if (loading := projects.find_loading(folder.memory)) and has_notes(folder.memory):
            yield from find_mixed(projects, folder, loading)
            yield from find_mixed_inside(projects, folder, loading[0])
    for number, (folder, past_project) in enumerate(earlier, 1):
        step(f"looking for earlier projects, {number} of {len(earlier)}")
        yield from find_taken_over(projects, folder, past_project)
    for number, (folder, past) in enumerate(gone, 1):
        step(f"looking for projects that are gone, {number} of {len(gone)}")
        yield from _explain_gone(projects, folder, past)


def _make_unreachable(folder: ProjectFolder) -> Problem:
    target = os.path.realpath(folder.memory)
    return Problem(
        "memory-unreachable",
        Severity.WARNING,
        f"{folder.memory} is a link to a directory that is not there: no note is loaded.",
        (f"it names {target}",),
        "Correct the link, or mount the disk that it names.",
        (folder.memory, target),
    )


# Memories that no session loads


def _explain_present(projects: ProjectMap, folder: ProjectFolder) -> Problem | None:
    """Return the problem of a memory that no session loads, by the project that is still there;
    None if that is gone.
    """
    for cwd in folder.owners or folder.cwds:
        # of one name, some systems write another form
        for path in dict.fromkeys((cwd, normalize("NFC", cwd), normalize("NFD", cwd))):
            if os.path.isdir(path):
                return _explain_moved_rule(projects, folder, find_workplace(path), cwd)
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
    named = projects.find_source(place, target)
    if named is not None:
        check = "redirected-memory"
        evidence = [f"{named.file} ({named.scope} settings) names {named.directory}"]
    elif _is_in_other_place(folder, target):
        check = "split-memory"
        now = os.path.dirname(os.path.dirname(os.path.dirname(target)))
        evidence = [f"the directory of settings and memories is {now} now"]
    elif place.top != place.root:
        check = "worktree-memory"
        evidence = [f"{cwd} is a worktree of {place.root}"]
    elif fold_name(os.path.basename(os.path.dirname(target))) == fold_name(folder.name):
        check = "twin-memory"
        other = os.path.basename(os.path.dirname(target))
        evidence = [f"the folders {folder.name} and {other} differ only in signs or case"]
    elif place.directory != place.root:
        check = "subfolder-memory"
        evidence = [f"{cwd} is inside the repository {place.root}"]
    else:
        check = "split-memory"
        is_other_form = cwd != place.directory and normalize("NFC", cwd) == place.directory
        form = ", the same name in another form of Unicode" if is_other_form else ""
        evidence = [f"its sessions worked in {cwd}{form}"]
    evidence.append(f"sessions in {place.root} load {target}")
    if not os.path.isdir(target) and named is not None:
        evidence.append(f"{target} is not there")
    problem = _make_split(projects, folder, check, place.root, target, tuple(evidence))
    if check == "split-memory" and cwd != place.directory:
        # a link, or another form of its name
        problem = replace(problem, other_places=projects.list_path_holders(cwd, folder.memory))
    if named is None:
        return problem
    advice = f"Without the setting in {named.file} they are loaded again."
    if not os.path.isdir(target):
        disk = "" if named.scope == "project" else ", or mount the disk that it names"
        return replace(problem, advice=f"{advice} Remove it{disk}.")
    if len(projects.find_loading(target)) > 1:
        # it has the notes of other projects
        return replace(problem, advice=advice, repair=None)
    return replace(problem, advice=f"{advice} {problem.advice}")


def _is_in_other_place(folder: ProjectFolder, target: str) -> bool:
    """Return whether a folder has the name of the one with the memory `target`, elsewhere."""
    path = os.path.realpath(folder.path)
    named = os.path.dirname(target)
    return path != named and os.path.basename(path) == os.path.basename(named)


def _read_past(projects: ProjectMap, folder: ProjectFolder) -> list[PastProject]:
    """Return the projects that are gone after which a folder is named, by their sessions."""
    return [
        PastProject(
            path,
            [it.path for it in folder.sessions if is_at(it.cwd, path)],
            projects.records.get(path, ()),
        )
        for path in folder.owners or folder.cwds
    ]


def _explain_gone(
    projects: ProjectMap, folder: ProjectFolder, past: Sequence[PastProject]
) -> Iterator[Problem]:
    """Yield the problems of a memory whose project is gone: moved, renamed or deleted."""
    for each in past:
        if owner := projects.find_worktree_owner(each.path):
            yield _explain_past_worktree(projects, folder, each.path, owner)
            return
        if owner := _find_surrounding(projects, each.path):
            was = f"{each.path}, which is gone, was inside the repository {owner}"
            yield _explain_inside(projects, folder, "subfolder-memory", owner, was)
            return
    likely = _find_likely(projects, folder, past)
    path = past[0].path if past else ""
    if (best := pick(likely)) is None:
        several = [it.project for it in likely] if len(likely) > 1 else []
        divided = list(find_divided(projects, folder, past[0], several)) if several else []
        yield from divided
        notes = {note for it in divided if it.repair for note in it.repair.only or ()}
        if not notes.issuperset(it for it in list_names(folder.memory) if is_note(it)):
            yield _make_orphan(projects, folder, past, likely)
        return
    evidence = (_describe_absence(path), *best.evidence) if path else best.evidence
    last = max((it.last_time for it in past), default="")
    yield _explain_moved(projects, folder, path, best._replace(evidence=evidence), last)


def _explain_moved(
    projects: ProjectMap, folder: ProjectFolder, path: str, best: Likeness, last: str
) -> Problem:
    """Return the problem of the memory of a project that was at `path`, is `best` now, and whose
    newest session there ended at `last`.
    """
    evidence = best.evidence
    if any(it.project == best.project for it in _compare_neighbours(projects, path)):
        check = "worktree-memory"
    elif _ran_earlier(projects, best.project, last):
        check = "split-memory"
        evidence += (f"sessions ran in {best.project} at the same time",)
    elif os.path.dirname(best.project) == os.path.dirname(path):
        check = "renamed-project"
    else:
        check = "moved-project"
    target = projects.find_memory_of(best.project)
    return _make_split(projects, folder, check, best.project, target, evidence, path)


def _read_left(projects: ProjectMap, folder: ProjectFolder, path: str) -> Iterator[PastProject]:
    """Yield the project that was in the directory `path` if that may hold mere remnants of it: its
    newest session worked in a repository, and none is there.
    """
    transcripts = [it.path for it in folder.sessions if is_at(it.cwd, path)]
    if git.find_top_level(path) is None:
        newest = PastProject(path, transcripts[:1])
        if newest.branches - {_DETACHED}:
            yield PastProject(path, transcripts, projects.records.get(path, ()))


def _explain_remnant(
    projects: ProjectMap, folder: ProjectFolder, past: PastProject
) -> Iterator[Problem]:
    """Yield the problem of a memory whose project has left its directory, and note where it is now.
    A directory that has files of the project is no remnant, but a copy.
    """
    repositories = projects.repositories
    best = pick(_find_likely(projects, folder, [past]))
    if (
        best is None
        or not past.has_commits_in(best.project, repositories)
        or repositories.has_content(best.project, past.path)
    ):
        return
    projects.moved[past.path] = best.project
    if has_notes(folder.memory) and not projects.find_loading(folder.memory):
        left = list_names(past.path)
        named = ", ".join(sorted(left)[:_MOST_NAMED])
        rest = f"only {named} is left" if left else "it is empty"
        evidence = (f"{past.path} has nothing of the project: {rest}", *best.evidence)
        found = best._replace(evidence=evidence)
        yield _explain_moved(projects, folder, past.path, found, past.last_time)


def _explain_past_worktree(
    projects: ProjectMap, folder: ProjectFolder, path: str, owner: str
) -> Problem:
    now = projects.find_moved_worktree(path)
    was = f"{path}, which is {'now ' + now if now else 'gone'}, was a worktree of {owner}"
    problem = _explain_inside(projects, folder, "worktree-memory", owner, was)
    if not now:
        return problem
    command = f"git -C {shlex.quote(owner)} worktree repair {shlex.quote(now)}"
    advice = f"Then `{command}` tells git that the worktree moved: it may prune it otherwise."
    return replace(problem, advice=f"{problem.advice} {advice}")


def _explain_inside(
    projects: ProjectMap, folder: ProjectFolder, check: str, project: str, evidence: str
) -> Problem:
    target = projects.find_memory_of(project)
    return _make_split(projects, folder, check, project, target, (evidence,))


def _find_surrounding(projects: ProjectMap, path: str) -> str:
    """Return the project in whose repository the directory `path`, which is gone, was; "" if there
    is none. A repository inside another one is a project of its own.
    """
    around = max((it for it in projects.projects if is_inside(path, it)), key=len, default="")
    if not around or git.find_top_level(around) != around:
        return ""
    relative = f":(literal){os.path.relpath(path, around)}"
    is_tracked = git.run_git(around, "log", "--all", "-1", "--format=%H", "--", relative)
    return around if is_tracked else ""


def _ran_earlier(projects: ProjectMap, project: str, time: str) -> bool:
    """Return whether sessions ran in `project` before `time`; not if either is unknown."""
    sessions = (it for folder in projects.folders for it in folder.sessions)
    return any("" < it.began < time and is_at(it.cwd, project) for it in sessions)


def _find_likely(
    projects: ProjectMap, folder: ProjectFolder, past: Sequence[PastProject]
) -> list[Likeness]:
    """Return the projects that may be the one of a folder, the likeliest first."""
    best: dict[str, Likeness] = {}
    for each in past:
        candidates = projects.list_candidates(each.path)
        compared = [each.compare(project, projects.repositories) for project in candidates]
        branches = _compare_branches(projects, each, candidates)
        for it in _add_up([*compared, *branches, *_compare_neighbours(projects, each.path)]):
            if it.project not in best or best[it.project].weight < it.weight:
                best[it.project] = it
    compared = list(_add_up([*best.values(), *_compare_notes(projects, folder)]))
    return rank(past, compared, projects.repositories)


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


def _compare_notes(projects: ProjectMap, folder: ProjectFolder) -> Iterator[Likeness]:
    """Yield the projects whose memory has notes of this one."""
    same = Counter(
        other.memory
        for digest in digest_notes(folder.memory)
        for other in projects.notes.get(digest, ())
        if other.path != folder.path
    )
    for memory, count in same.items():
        for project in projects.find_loading(memory) if count >= _FEWEST_NOTES else ():
            yield Likeness(project, STRONG, (f"{count} notes are the same in {memory}",))


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
    loads = f"no session loads {folder.memory}"
    if gone in projects.moved:
        loads = f"only sessions in {gone} would load {folder.memory}"
    if _is_of_other_system(gone):
        loads = f"no session on this system loads {folder.memory}"
        advice += " Sessions on the other system then load no notes."
    title = f"From {os.path.basename(gone or (folder.cwds[0] if folder.cwds else folder.name))}"
    reason = f"{_WHY[check]}: notes of {folder.name} belong to {project}"
    repair = None
    if obstacle := projects.find_obstacle(project, target):
        advice = obstacle
    else:
        repair = MoveRepair(
            folder.memory,
            target,
            project,
            title,
            reason,
            is_of_part=check in ("worktree-memory", "subfolder-memory"),
        )
    holders = projects.list_path_holders(gone, folder.memory) if gone else ()
    return Problem(
        check,
        Severity.WARNING,
        what,
        (*evidence, loads),
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


def _describe_absence(path: str) -> str:
    is_here = not _is_of_other_system(path)
    return f"{path} is gone" if is_here else f"{path} is a path of another system"


def _is_of_other_system(path: str) -> bool:
    return bool(path) and not path.startswith("/")


def _make_orphan(
    projects: ProjectMap,
    folder: ProjectFolder,
    past: Sequence[PastProject],
    likely: Sequence[Likeness],
) -> Problem:
    path = past[0].path if past else ""
    notes, above = _name_notes(folder.memory), _find_empty_folder(path)
    if above:
        what = f"The project of {notes} cannot be reached now: {path}."
        evidence = [f"{above} is empty, as the folder of a disk that is not mounted is"]
    else:
        is_known = "is there" if path else "is known"
        what = f"No project {is_known} for {notes} in {folder.memory}."
        evidence = [_describe_absence(path) if path else "no session shows whose they are"]
    evidence += [f"{it.project} may be it: {'; '.join(it.evidence)}" for it in likely[:_MOST_NAMED]]
    problem = Problem("orphan-memory", Severity.INFO, what, tuple(evidence), paths=(folder.memory,))
    command = f"ricordo doctor --fix {problem.id} --into"
    equal = [it.project for it in likely if it.is_confirmed and it.weight == likely[0].weight]
    if len(equal) < 2:
        advice = f"Nothing is lost. Where the project is elsewhere now, name it: `{command} DIR`."
        return replace(problem, advice=advice)
    last = max((it.last_time for it in past), default="")
    best, reasons = _find_likelier(projects, equal, last)
    verb = "is" if notes == "1 note" else "are"
    return replace(
        problem,
        severity=Severity.WARNING,
        what=f"{notes} in {folder.memory} {verb} not loaded: {len(equal)} projects may be theirs.",
        evidence=(*evidence, *reasons),
        advice=f"Name the project that it is: `{command} {shlex.quote(best) if best else 'DIR'}`.",
    )


def _find_likelier(
    projects: ProjectMap, equal: Sequence[str], last: str
) -> tuple[str, Sequence[str]]:
    """Return which of some projects for which as much speaks is likelier the one whose newest
    session ended at `last`, and why, a line each; "" for none.
    """
    noted = [it for it in equal if any(record.remote for record in projects.records.get(it, ()))]
    began = {it: projects.find_first_session(it) for it in equal}
    after = [it for it in equal if began[it] > last > ""]
    next_one = min(after, key=lambda it: began[it], default="")
    reasons = [(noted[0], "agents noted a repository there alone")] if len(noted) == 1 else []
    if next_one and (len(after) < len(equal) or len({*began.values()}) > 1):
        day = began[next_one][:10]
        reasons.append((next_one, f"its sessions are the next ones, from {day} on"))
    best = {project for project, _ in reasons}
    likelier = best.pop() if len(best) == 1 else ""
    said = [f"{likelier} is likelier: {text}" for _, text in reasons] if likelier else []
    return likelier, said


def _find_empty_folder(path: str) -> str:
    """Return the nearest folder around `path` that is there, if it is empty; else ""."""
    above = find_nearest_folder(path)
    return above if above and not list_names(above) else ""


def _name_notes(root: str) -> str:
    count = len([name for name in list_names(root) if is_note(name)])
    return "1 note" if count == 1 else f"{count} notes"
