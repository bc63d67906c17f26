"""Memories that several projects share, or in which sessions of other projects wrote."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from ricordo import git
from ricordo.agents.diagnosis import ProjectFolder
from ricordo.agents.folder import has_notes
from ricordo.agents.registry import find_transcript_at, open_transcript, recognise
from ricordo.agents.transcripts.session import FileAction
from ricordo.agents.workplace import find_workplace
from ricordo.errors import MemoryNotFound, MemoryUnreadable
from ricordo.lint.finding import Severity
from ricordo.memory.note import Note
from ricordo.services.doctor.identity import Repositories
from ricordo.services.doctor.past_project import (
    MOST_TRANSCRIPTS,
    STRONG,
    WEAK,
    PastProject,
    pick,
    rank,
    read_cwds,
)
from ricordo.services.doctor.problem import MoveRepair, Problem
from ricordo.services.doctor.project_map import (
    ProjectMap,
    Step,
    is_at,
    is_inside,
    is_note,
    read_origins,
)
from ricordo.storage.reader import read_memory

_MOST_NAMED = 5


def find_shared(projects: ProjectMap, memory: str, loading: Sequence[str]) -> Iterator[Problem]:
    """Yield the problem of a memory that sessions of several projects load."""
    if not os.path.isdir(memory) or not has_notes(memory):
        return
    distinct = _list_distinct(projects.repositories, loading)
    if len(distinct) > 1:
        named = ", ".join(distinct[:_MOST_NAMED])
        yield Problem(
            "shared-memory",
            Severity.WARNING,
            f"Sessions of {len(distinct)} projects load one memory: {named}.",
            tuple(_describe_share(projects, memory, it) for it in distinct[:_MOST_NAMED]),
            "Give one of them a memory of its own: `autoMemoryDirectory` in its local settings.",
            (memory, *distinct),
        )


def _describe_share(projects: ProjectMap, memory: str, project: str) -> str:
    """Return that a project loads a memory, with the notes there that its sessions wrote."""
    origins = read_origins(memory)
    sessions = {name: projects.sessions.get(id) for name, id in origins.items()}
    notes = [name for name, it in sessions.items() if it and is_at(it.cwd, project)]
    wrote = f", and wrote {', '.join(notes[:_MOST_NAMED])}" if notes else ""
    return f"sessions in {project} load {memory}{wrote}"


def find_clones(projects: ProjectMap, step: Step) -> Iterator[Problem]:
    """Yield the clones of one repository that have a memory each."""
    clones: dict[str, list[ProjectFolder]] = {}
    for number, folder in enumerate(projects.folders, 1):
        step(f"looking for clones, {number} of {len(projects.folders)}")
        if (loading := projects.find_loading(folder.memory)) and has_notes(folder.memory):
            remote = projects.repositories.read_remote(loading[0])
            clones.setdefault(remote, []).append(folder)
    for remote, folders in clones.items():
        roots = {projects.find_loading(it.memory)[0]: it.memory for it in folders}
        if not remote or len(roots) < 2:
            continue
        memories = sorted(roots.values())
        problem = Problem(
            "cloned-project",
            Severity.INFO,
            f"{len(roots)} clones of {remote} have a memory each: {', '.join(sorted(roots))}.",
            tuple(f"sessions in {project} load {it}" for project, it in sorted(roots.items())),
            paths=tuple(memories),
        )
        command = f"`ricordo doctor --fix {problem.id} --into DIR`"
        advice = f"Nothing, if they are apart on purpose. To join the first into DIR: {command}."
        yield replace(problem, advice=advice)


def find_mixed(
    projects: ProjectMap, folder: ProjectFolder, loading: Sequence[str]
) -> Iterator[Problem]:
    """Yield the problems of a memory that sessions of other projects wrote."""
    for foreign in _list_foreign(projects, folder, loading):
        yield from _explain_foreign(projects, folder, loading[0], foreign)


def find_mixed_inside(projects: ProjectMap, folder: ProjectFolder, owner: str) -> Iterator[Problem]:
    """Yield the problems of the memory of a folder around projects, `owner`, that sessions wrote
    which went on in one of these.
    """
    for project, transcripts in _group_inside(projects, folder, owner).items():
        what = f"in {folder.path} began in {owner} and went on in {project}"
        for problem in _explain_sessions(projects, folder, owner, project, transcripts, what):
            if problem.repair is not None:
                # what they wrote may be meant for all projects there
                yield replace(problem, severity=Severity.INFO)


def _list_foreign(
    projects: ProjectMap, folder: ProjectFolder, loading: Sequence[str]
) -> Iterator[_Foreign]:
    """Yield the sessions of each other project: those that began there, and those that began in the
    folder and wrote notes while they worked there.
    """
    began = _group_foreign(projects, folder, loading)
    gone_on = _group_gone_on(projects, folder, loading)
    for project in dict.fromkeys((*began, *gone_on)):
        transcripts, written = began.get(project, []), gone_on.get(project, {})
        is_here = all(os.path.dirname(it) == folder.path for it in transcripts)
        place = f"in {folder.path}" if is_here else "that notes there name"
        notes = [
            note
            for note, cwd in _find_notes_of(folder.memory, transcripts).items()
            if not cwd or _find_other_project(projects, cwd, loading)
        ]
        evidence = [_count_sessions(transcripts, f"{place} began in {project}")]
        if not notes and not is_here:
            transcripts, evidence = [], []
        if written:
            what = f"in {folder.path} began in {loading[0]} and wrote notes in {project}"
            evidence = [*(evidence if transcripts else ()), _count_sessions(written, what)]
            notes += (note for each in written.values() for note in each)
        if evidence:
            yield _Foreign(project, [*transcripts, *written], notes, evidence)


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
    """Return the transcripts of sessions that began in other existing projects, by project: those
    in the folder, and those anywhere that notes of its memory name.
    """
    own = {it.id for it in folder.sessions}
    origins = (id for id in read_origins(folder.memory).values() if id not in own)
    named = filter(None, map(projects.sessions.get, origins))
    foreign: dict[str, list[str]] = {}
    others: dict[str, str] = {}
    for session in dict.fromkeys((*folder.sessions, *named)):
        if session.cwd not in others:
            others[session.cwd] = _find_other_project(projects, session.cwd, loading)
        root = others[session.cwd]
        # in the directory of a younger repository another project was then
        is_elsewhere = os.path.dirname(session.path) != folder.path
        if root and not (
            is_elsewhere
            and (
                not projects.repositories.has_commit_before(root, session.began)
                or _ended_before(projects, root, loading)
            )
        ):
            foreign.setdefault(root, []).append(session.path)
    return foreign


def _ended_before(projects: ProjectMap, project: str, others: Sequence[str]) -> bool:
    """Return whether the last session of `project` began before the first of `others`: notes of it
    that these have were carried over.
    """
    sessions = [it for it in projects.sessions.values() if it.began]
    last = max((it.began for it in sessions if is_at(it.cwd, project)), default="")
    own = (it.began for it in sessions if any(is_at(it.cwd, other) for other in others))
    return "" < last < min(own, default="")


def _group_gone_on(
    projects: ProjectMap, folder: ProjectFolder, loading: Sequence[str]
) -> Mapping[str, Mapping[str, list[str]]]:
    """Return the notes that sessions of a folder wrote while they worked in other projects, by
    project and transcript. A project inside a folder that is no repository is not another one.
    """
    origins = read_origins(folder.memory)
    named = set(origins.values())
    grouped: dict[str, dict[str, list[str]]] = {}
    others: dict[str, str] = {}
    for number, session in enumerate(folder.sessions):
        if number >= MOST_TRANSCRIPTS and session.id not in named:
            continue
        if not session.cwd or _find_other_project(projects, session.cwd, loading):
            continue
        for cwd in read_cwds(session.path) - others.keys():
            project = _find_other_project(projects, cwd, loading)
            is_around = is_inside(project, loading[0]) and git.find_top_level(loading[0]) is None
            is_younger = not projects.repositories.has_commit_before(project, session.began)
            others[cwd] = "" if is_around or is_younger else project
        written = _read_written(folder.memory, session.path) if any(others.values()) else {}
        for note, cwd in written.items():
            is_its_own = origins.get(note, session.id) == session.id
            is_there = os.path.lexists(os.path.join(folder.memory, note))
            if others.get(cwd) and is_note(note) and is_its_own and is_there:
                grouped.setdefault(others[cwd], {}).setdefault(session.path, []).append(note)
    return grouped


def _find_other_project(projects: ProjectMap, cwd: str, loading: Sequence[str]) -> str:
    """Return the project in the directory `cwd`; "" if it is gone, or one of `loading`."""
    root = find_workplace(cwd).root if cwd and os.path.isdir(cwd) else ""
    root = projects.moved.get(root, root)
    is_own = root in loading or (root and projects.repositories.is_one_of(root, loading))
    return "" if is_own else root


def _group_inside(
    projects: ProjectMap, folder: ProjectFolder, owner: str
) -> Mapping[str, list[str]]:
    """Return the transcripts of sessions that began in the folder `owner`, which is no repository,
    and went on in one project inside it alone, by that project.
    """
    if git.find_top_level(owner) is not None:
        return {}
    ids = {note.frontmatter.get_text("originSessionId") for note in _read_notes(folder.memory)}
    writing = (it for it in folder.sessions if _get_id(it.path) in ids)
    grouped: dict[str, list[str]] = {}
    for session in writing:
        past = PastProject(session.cwd, [session.path])
        went_on = {find_workplace(cwd).root for cwd in past.cwds - {owner}}
        project = next(iter(went_on), "")
        # in the directory of a younger repository another project was then
        if (
            len(went_on) == 1
            and is_inside(project, owner)
            and git.find_top_level(project) == project
            and projects.repositories.has_commit_before(project, past.last_time)
        ):
            grouped.setdefault(project, []).append(session.path)
    return grouped


# Directories in which another project was


def read_earlier(
    projects: ProjectMap, folder: ProjectFolder, owner: str
) -> Iterator[tuple[ProjectFolder, PastProject]]:
    """Yield the project that was in the directory `owner` before the repository that is there now:
    that of the sessions that are older than its first commit.
    """
    if git.find_top_level(owner) != owner:
        return
    sessions = [it for it in folder.sessions if it.began and is_at(it.cwd, owner)]
    first = min((it.began for it in sessions), default="")
    repositories = projects.repositories
    if repositories.has_commit_before(owner, first):
        return
    begin = repositories.read_begin(owner)
    earlier = [it.path for it in sessions if datetime.fromisoformat(it.began) < begin]
    past = PastProject(owner, earlier)
    # its files are there: it became a repository later
    if not past.has_files_in(owner):
        yield folder, past


def find_taken_over(
    projects: ProjectMap, folder: ProjectFolder, past: PastProject
) -> Iterator[Problem]:
    """Yield the problem of notes of a project that was in the directory of another one before."""
    own = past.compare(past.path, projects.repositories)
    # its name and the directory always speak for the one that is there now
    if any(it.weight >= 2 * WEAK + STRONG for it in rank([past], [own], projects.repositories)):
        return
    candidates = projects.list_candidates(past.path)
    compared = [past.compare(it, projects.repositories) for it in candidates]
    if (best := pick(rank([past], compared, projects.repositories))) is not None:
        what = f"in {folder.path} are older than the repository in {past.path}"
        yield from _explain_sessions(
            projects, folder, past.path, best.project, past.transcripts, what, best.evidence
        )


def find_divided(
    projects: ProjectMap, folder: ProjectFolder, past: PastProject, likely: Sequence[str]
) -> Iterator[Problem]:
    """Yield the problems of notes of several projects whose sessions were in one directory, which
    is gone: each session by itself shows which of the `likely` projects is its own.
    """
    divided: dict[str, list[str]] = {}
    evidence: dict[str, tuple[str, ...]] = {}
    for transcript in past.transcripts:
        single = PastProject(past.path, [transcript])
        compared = [single.compare(it, projects.repositories) for it in likely]
        if (best := pick(rank([single], compared, projects.repositories))) is not None:
            divided.setdefault(best.project, []).append(transcript)
            evidence.setdefault(best.project, best.evidence)
    for project, transcripts in divided.items():
        what = f"in {folder.path} worked in a copy of {project}"
        if len(divided) > 1:
            found = _explain_sessions(
                projects, folder, past.path, project, transcripts, what, evidence[project]
            )
            yield from (it for it in found if it.repair is not None)


class _Foreign(NamedTuple):
    """Sessions of another project in the folder of one."""

    project: str
    transcripts: Sequence[str]
    notes: Sequence[str]
    """Those of the folder's memory that they wrote."""
    evidence: Sequence[str]


def _explain_sessions(
    projects: ProjectMap,
    folder: ProjectFolder,
    owner: str,
    project: str,
    transcripts: Sequence[str],
    what: str,
    known: Iterable[str] = (),
) -> Iterator[Problem]:
    """Yield the problem of sessions of `project` in the folder of `owner`. `what` they did there
    follows their number, and `known` is further evidence.
    """
    notes = list(_find_notes_of(folder.memory, transcripts))
    evidence = [_count_sessions(transcripts, what), *known]
    foreign = _Foreign(project, transcripts, notes, evidence)
    yield from _explain_foreign(projects, folder, owner, foreign)


def _count_sessions(transcripts: Collection[str], what: str) -> str:
    count = len(transcripts)
    return f"1 session {what}" if count == 1 else f"{count} sessions {what}"


def _explain_foreign(
    projects: ProjectMap, folder: ProjectFolder, owner: str, foreign: _Foreign
) -> Iterator[Problem]:
    """Yield the problem of sessions of another project in the folder of `owner`."""
    project, transcripts, notes, known = foreign
    target = projects.find_memory_of(project)
    if target == os.path.realpath(folder.memory):
        return
    if not notes and _have_moved(folder, target, transcripts):
        return
    evidence = list(known)
    repair, severity, has = None, Severity.INFO, "may have"
    advice = f"Look at the notes of {folder.memory} that are about {project}."
    if notes:
        severity, has = Severity.WARNING, "also has"
        evidence.append(f"they wrote {', '.join(notes[:_MOST_NAMED])}")
        title, reason = f"From {os.path.basename(owner)}", f"written by sessions in {project}"
        if obstacle := projects.find_obstacle(project, target):
            advice = f"They belong to {project}. {obstacle}"
        else:
            repair = MoveRepair(folder.memory, target, project, title, reason, tuple(notes))
            advice = f"The repair moves what they wrote to {target}; `ricordo undo` reverts it."
    yield Problem(
        "mixed-memory",
        severity,
        f"The memory of {owner} {has} notes of {project}.",
        tuple(evidence),
        advice,
        (folder.memory, project),
        repair=repair,
    )


def _have_moved(folder: ProjectFolder, target: str, transcripts: Sequence[str]) -> bool:
    """Return whether notes that these sessions wrote were in a folder's memory, which has none of
    them now: they are in `target`, or gone.
    """
    moved = set(read_origins(target).values()).intersection(map(_get_id, transcripts))
    return bool(moved) or any(
        is_note(path)
        for transcript in transcripts
        for path in _read_written(folder.memory, transcript)
    )


def _find_notes_of(root: str, transcripts: Sequence[str]) -> Mapping[str, str]:
    """Return the notes of the memory at `root` that these sessions, and no others, wrote: by the
    session that a note names, else by the transcripts. Each with where that worked; "" if unknown.
    """
    ids = set(map(_get_id, transcripts))
    written: dict[str, str] = {}
    elsewhere: dict[str, str] = {}
    for transcript in transcripts:
        written |= _read_written(root, transcript)
        elsewhere |= {os.path.basename(path): cwd for path, cwd in _read_writes(transcript)}
    found: dict[str, str] = {}
    for note in _read_notes(root):
        named = note.frontmatter.get_text("originSessionId")
        if named in ids if named else note.path in written:
            # it may have been moved here since
            moved = elsewhere.get(os.path.basename(note.path), "")
            found[note.path] = written.get(note.path, moved)
    return found


def _get_id(transcript: str) -> str:
    return os.path.splitext(os.path.basename(transcript))[0]


def _read_notes(root: str) -> Sequence[Note]:
    try:
        return read_memory(root, recognise(root)).notes
    except (MemoryNotFound, MemoryUnreadable):
        return ()


def _read_written(root: str, transcript: str) -> Mapping[str, str]:
    """Return the paths in the memory at `root` of files that a session wrote as a whole, each with
    where it worked when it did so first.
    """
    inside = os.path.join(root, "")
    written: dict[str, str] = {}
    for path, cwd in _read_writes(transcript):
        if path.startswith(inside):
            written.setdefault(path.removeprefix(inside), cwd)
    return written


def _read_writes(transcript: str) -> Iterator[tuple[str, str]]:
    """Yield the files that a session wrote as a whole, each with where it worked."""
    for message in open_transcript(find_transcript_at(transcript)).messages():
        for touch in message.touches:
            if touch.action is FileAction.WROTE:
                yield touch.path, message.cwd
