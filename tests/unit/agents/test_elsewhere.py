from __future__ import annotations

from pathlib import Path

from ricordo.agents import letta, wiki
from ricordo.agents.codex import support as codex
from tests.unit.agents.test_kinds import build


def test_codex_keeps_its_memories_in_its_home() -> None:
    assert codex.find_memory("/home/ana", {}).root == "/home/ana/.codex/memories"
    moved = codex.find_memory("/home/ana", {"CODEX_HOME": "/moved"})
    assert (moved.root, moved.reason) == ("/moved/memories", "the memories folder in CODEX_HOME")


def test_every_letta_agent_has_a_memory_of_its_own(tmp_path: Path) -> None:
    build(tmp_path, ".letta/agents/b/memory/", ".letta/agents/a/memory/", ".letta/agents/c/")
    roots = [place.root for place in letta.find_memories(str(tmp_path))]
    assert roots == [f"{tmp_path}/.letta/agents/{agent}/memory" for agent in "ab"]


def test_a_read_only_memory_says_why() -> None:
    assert codex.MEMORIES.read_only
    assert letta.MEMORY_FILES.read_only
    assert not wiki.WIKI.read_only


def test_a_project_is_a_wiki_or_has_one(tmp_path: Path) -> None:
    whole = build(tmp_path / "whole", "raw/", "wiki/index.md", "wiki/log.md")
    assert [place.root for place in wiki.find_in_project(whole)] == [whole]
    holder = build(tmp_path / "holder", ".wiki/_index.md", "wiki/page.md")
    assert [place.root for place in wiki.find_in_project(holder)] == [f"{holder}/.wiki"]
    assert wiki.find_in_project(str(tmp_path)) == []
