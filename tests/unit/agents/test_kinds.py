from __future__ import annotations

import os
from pathlib import Path

import pytest

from ricordo.agents.claude.location import find_project_sub_agent_memories
from ricordo.agents.folder import has_notes
from ricordo.agents.registry import recognise
from ricordo.agents.wiki import find_whole_wiki
from ricordo.memory.layout import FileRole
from tests.unit.machine import fill

CLAUDE_HEAD = "---\nname: pier\ndescription: where\nmetadata:\n  type: project\n---\n"
OTHER_HEAD = "---\ntitle: Pier\n---\n"


def build(root: Path, *paths: str) -> str:
    """Make files, and folders where a path ends in `/`; text may follow a `=`."""
    for path in paths:
        name, _, text = path.partition("=")
        target = root / name
        if name.endswith("/"):
            target.mkdir(parents=True, exist_ok=True)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
    return str(root)


@pytest.mark.parametrize(
    ("kind", "paths"),
    [
        ("claude", ["MEMORY.md"]),
        ("claude", ["MEMORY.md", "system/a.md=---\n"]),
        ("claude", [f"a.md={CLAUDE_HEAD}", f"b.md={CLAUDE_HEAD}"]),
        ("folder", [f"a.md={CLAUDE_HEAD}", f"b.md={OTHER_HEAD}"]),
        ("folder", [f"SKILL.md={CLAUDE_HEAD}"]),
        ("codex", ["memory_summary.md=v1\n\n## User Profile", "MEMORY.md"]),
        ("codex", ["memory_summary.md=v1\r\n"]),
        ("codex", ["rollout_summaries/", "MEMORY.md"]),
        ("folder", ["memory_summary.md=v12"]),
        ("letta", [f"system/human.md={OTHER_HEAD}", "reference/runbooks.md"]),
        ("folder", ["system/human.md=no head"]),
        ("folder", ["system/"]),
        ("wiki", ["raw/", "wiki/"]),
        ("wiki", ["raw-sources/", "wiki/"]),
        ("wiki", ["Raw/", "wiki/"]),
        ("wiki", ["sources/", "wiki/", "wiki-schema.md"]),
        # of a program
        ("folder", ["sources/", "wiki/"]),
        ("wiki", ["_index.md"]),
        ("wiki", ["index.md", "log.md"]),
        ("folder", ["index.md"]),
        ("folder", ["README.md"]),
        ("folder", []),
    ],
)
def test_a_directory_is_recognised_by_its_files(
    tmp_path: Path, kind: str, paths: list[str]
) -> None:
    assert recognise(build(tmp_path, *paths)).kind == kind


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("claude-agent", ".claude/agent-memory/reviewer"),
        ("claude-agent", ".claude/agent-memory-local/reviewer"),
        ("claude", "projects/-home-ana/memory"),
        ("folder", "project/memory"),
    ],
)
def test_an_empty_directory_is_recognised_by_its_path(tmp_path: Path, kind: str, name: str) -> None:
    assert recognise(build(tmp_path / name, "./")).kind == kind


@pytest.mark.parametrize(
    ("memory", "paths", "is_loaded"),
    [
        (".claude/memory", ["CLAUDE.md=Be brief.\n"], True),
        ("docs/memory", ["CLAUDE.md=Be brief.\n"], True),
        ("docs/memory", [f"docs/memory/a.md={CLAUDE_HEAD}"], True),
        # no sign of Claude Code, or of another agent
        ("docs/memory", ["docs/memory/a.md=text"], False),
        (".agents/memory", ["CLAUDE.md=Be brief.\n"], False),
        # instructions name it, whole or a file in it, by its path
        (".claude/memory", ["CLAUDE.md=Read `.claude/memory/MEMORY.md` first.\n"], False),
        (".claude/memory", ["AGENTS.md=See ./.claude/memory/pier.md.\n"], False),
        (".claude/memory", [".claude/commands/start.md=Open .claude/memory/ first.\n"], False),
        (".claude/memory", ["CLAUDE.md=It is in ~/.claude/memory/ at home.\n"], True),
        ("memory", ["CLAUDE.md=Sum up in old-memory/ and docs/memory/.\n"], True),
    ],
)
def test_only_an_index_that_no_instruction_names_has_limits(
    tmp_path: Path, memory: str, paths: list[str], is_loaded: bool
) -> None:
    build(tmp_path, ".git/HEAD=ref: refs/heads/main\n", f"{memory}/MEMORY.md=- [A](a.md)\n", *paths)
    layout = recognise(str(tmp_path / memory))
    assert (layout.kind, layout.limits is not None) == ("claude", is_loaded)


@pytest.mark.parametrize(
    ("memory", "paths", "expected"),
    [
        ("docs/agent-memory", ["AGENTS.md=Read docs/agent-memory/.\n"], True),
        ("docs/agent-memory", ["AGENTS.md=Read docs/agent-memory/.\n", "CLAUDE.md=x\n"], False),
        ("docs/agent-memory", [".claude/settings.json={}"], False),
        ("docs/claude-memory", ["AGENTS.md=Read docs/claude-memory/.\n"], False),
    ],
)
def test_agents_without_a_sign_of_claude_choose_notes_by_the_index(
    tmp_path: Path, memory: str, paths: list[str], expected: bool
) -> None:
    build(tmp_path, ".git/HEAD=ref: refs/heads/main\n", f"{memory}/MEMORY.md=- [A](a.md)\n", *paths)
    assert recognise(str(tmp_path / memory)).chooses_by_index is expected


def test_an_index_outside_of_projects_has_limits(tmp_path: Path) -> None:
    """Claude Code loads those below its own folder, whatever repository is around that."""
    build(tmp_path, ".git/HEAD=ref: refs/heads/main\n", "AGENTS.md=Read projects/-srv/memory/.\n")
    for root in ("projects/-srv/memory", "plain"):
        build(tmp_path, f"{root}/MEMORY.md=- [A](a.md)\n")
    assert recognise(str(tmp_path / "projects/-srv/memory")).limits is not None
    (tmp_path / ".git/HEAD").unlink()
    assert recognise(str(tmp_path / "plain")).limits is not None


def test_a_sub_agents_memory_has_an_index_like_any_other(tmp_path: Path) -> None:
    root = fill(tmp_path / "agent-memory" / "reviewer")
    assert recognise(str(root)).get_role("MEMORY.md") is FileRole.INDEX


def test_a_directory_that_is_not_there_is_a_plain_folder() -> None:
    assert recognise("/not/there").kind == "folder"


def test_special_files_do_not_block(tmp_path: Path) -> None:
    for name in ("memory_summary.md", "a.md"):
        os.mkfifo(tmp_path / name)
    assert recognise(str(tmp_path)).kind == "folder"


def test_the_pages_of_a_wiki_belong_to_the_whole_of_it(tmp_path: Path) -> None:
    vault = build(tmp_path / "vault", "Raw/a.md", "Wiki/a.md")
    assert find_whole_wiki(f"{vault}/Wiki") == vault
    root = build(tmp_path, "raw/a.md", "wiki/index.md", "wiki/log.md")
    assert find_whole_wiki(f"{root}/wiki") == root
    assert find_whole_wiki(f"{root}/raw") == f"{root}/raw"
    os.unlink(f"{root}/raw/a.md")
    os.rmdir(f"{root}/raw")
    assert find_whole_wiki(f"{root}/wiki") == f"{root}/wiki"


@pytest.mark.parametrize(
    ("roles", "paths", "kind"),
    [
        ([FileRole.INDEX, FileRole.SOURCE, FileRole.SUPPORT, FileRole.NOTE],
         ["memory_summary.md", "rollout_summaries/a.md", "raw_memories.md", "MEMORY.md"],
         "rollout_summaries/"),
        ([FileRole.INDEX, FileRole.INDEX, FileRole.SUPPORT, FileRole.SUPPORT, FileRole.SOURCE,
          FileRole.NOTE],
         ["wiki/index.md", "raw/_index.md", "wiki/log.md", "CLAUDE.md", "raw/a.md", "wiki/a.md"],
         "raw/ wiki/"),
        ([FileRole.INDEX, FileRole.SOURCE, FileRole.SUPPORT, FileRole.NOTE],
         ["index.md", "Raw/a.md", "Readers/a.md", "Wiki/a.md"], "Raw/ Wiki/"),
        ([FileRole.INDEX, FileRole.SOURCE, FileRole.SUPPORT, FileRole.NOTE],
         ["index.md", "sources/a.md", "docs/a.md", "wiki/a.md"], "sources/ wiki/ index.md"),
        ([FileRole.INDEX, FileRole.SUPPORT, FileRole.NOTE], ["Index.md", "README.md", "a.md"],
         "README.md"),
    ],
)  # fmt: skip
def test_every_file_has_its_role(
    tmp_path: Path, roles: list[FileRole], paths: list[str], kind: str
) -> None:
    layout = recognise(build(tmp_path, *kind.split()))
    assert [layout.get_role(path) for path in paths] == roles


@pytest.mark.parametrize(
    ("holds", "paths"),
    [
        (True, ["pier.md"]),
        (True, ["folder/pier.MD"]),
        (False, ["README.md", "CLAUDE.md", "main.py", ".hidden/pier.md"]),
        (False, ["a/b/pier.md"]),
        (False, []),
    ],
)
def test_the_papers_of_a_project_are_no_notes(
    tmp_path: Path, holds: bool, paths: list[str]
) -> None:
    assert has_notes(build(tmp_path, *paths)) is holds


SHARED = Path("/work/shared")


@pytest.mark.skipif(not SHARED.is_dir(), reason="the real memories are not on this machine")
@pytest.mark.parametrize(
    ("kind", "pattern"),
    [
        ("claude", "data/memory/*/memory"),
        ("claude", "data/memory/labelled-defects/store/store/*/memory"),
        ("claude", "data/memory/labelled-defects/store/agents/user-scope/*"),
        ("claude-agent", "data/memory/labelled-defects/store/agents/repo/.claude/*/*"),
        ("wiki", "data/wiki/labelled-defects/golden-wiki"),
        ("wiki", "data/wiki/labelled-defects/defects/*"),
        ("claude", "formats/samples/claude-memory/*/projects/*/memory"),
        ("claude-agent", "formats/samples/claude-memory/agent-memory/*"),
        ("codex", "formats/samples/codex/memories"),
        ("letta", "formats/samples/letta-memfs"),
        ("wiki", "formats/samples/llm-wiki"),
    ],
)
def test_real_memories_are_recognised(kind: str, pattern: str) -> None:
    roots = list(SHARED.glob(pattern))
    assert roots
    assert {recognise(str(root)).kind for root in roots} == {kind}


@pytest.mark.parametrize(
    ("head", "is_given"),
    [("name: reviewer\nmemory: project\n", True), ("name: reviewer\n", False), ("", True)],
)
def test_a_sub_agent_is_given_its_memory_where_its_definition_asks_for_it(
    tmp_path: Path, head: str, *, is_given: bool
) -> None:
    definition = f".claude/agents/reviewer.md=---\n{head}---\n" if head else "x.md"
    build(tmp_path, ".claude/agent-memory/reviewer/MEMORY.md=- [A](a.md)\n", definition)
    layout = recognise(str(tmp_path / ".claude/agent-memory/reviewer"))
    assert (layout.kind, layout.limits is not None) == ("claude-agent", is_given)
    (place,) = find_project_sub_agent_memories([str(tmp_path)])
    assert place.layout is layout
