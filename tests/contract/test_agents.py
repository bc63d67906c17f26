"""No module outside agents/ names an agent: what depends on one is a capability that the registry
answers for.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from ricordo.agents.registry import SUPPORTED

PACKAGE = Path(__file__).resolve().parents[2] / "app" / "ricordo"
NAMES = frozenset(
    name.split("-")[0]
    for support in SUPPORTED
    for name in (
        *(layout.kind for layout in support.layouts),
        *([support.agent.name] if support.agent else []),
    )
)
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")

EXCEPTIONS = {
    # texts for users, which list the agents of today
    ("cli/command_page.py", "claude"): 1,
    **{("cli/connect.py", agent): 1 for agent in ("claude", "codex", "opencode", "gemini")},
    ("cli/curation.py", "claude"): 1,
    ("cli/curation.py", "codex"): 1,
    ("cli/curation.py", "opencode"): 1,
    ("cli/handoff.py", "claude"): 1,
    ("cli/handoff.py", "codex"): 1,
    ("cli/handoff.py", "opencode"): 1,
    ("tui/actions/catalogue.py", "claude"): 1,
    ("tui/actions/catalogue.py", "codex"): 1,
    ("tui/actions/catalogue.py", "opencode"): 1,
    ("tui/actions/catalogue.py", "gemini"): 1,
    ("tui/dialogs/memories.py", "claude"): 1,
    ("tui/dialogs/memories.py", "codex"): 1,
    ("tui/dialogs/memories.py", "wiki"): 1,
    ("tui/handoff/session_rows.py", "claude"): 1,
    ("tui/handoff/session_rows.py", "codex"): 1,
    ("tui/handoff/session_rows.py", "opencode"): 1,
    # the summary of a rule names the file CLAUDE.md
    ("lint/rules/project.py", "claude"): 1,
    # examples of a command line, of a model and of a path, and the model that is the default
    ("services/engines/choice.py", "claude"): 1,
    ("settings/page.py", "claude"): 1,
    ("settings/page.py", "wiki"): 1,
    ("settings/values.py", "claude"): 1,
    ("settings/settings.py", "claude"): 1,
    ("tui/handoff/pipe_screen.py", "claude"): 1,
    # a setting, and a row of the table of retention, which layouts name
    ("lint/rule.py", "wiki"): 1,
    ("lint/retention.py", "wiki"): 4,
}
"""How often a module may have the name of an agent, and why."""


def named_agents(source: str) -> Iterator[str]:
    """Yield the agents that a module names in identifiers and in texts, docstrings left out."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            node.body = [part for part in node.body if not is_text(part)]
    for node in ast.walk(tree):
        for value in texts_of(node):
            words = {word.lower() for word in WORD.findall(value)}
            yield from sorted(NAMES & words)


def is_text(node: ast.stmt) -> bool:
    """Say whether a statement is a text alone: a docstring."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def texts_of(node: ast.AST) -> Iterator[str]:
    """Yield the names and texts that stand in a node itself."""
    for field in ("id", "attr", "name", "asname", "arg", "module", "value"):
        value = getattr(node, field, None)
        if isinstance(value, str):
            yield value


@cache
def counts() -> dict[tuple[str, str], int]:
    found: dict[tuple[str, str], int] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        source = path.read_text("utf-8")
        # most modules have no such word anywhere, and need not be parsed
        if not name.startswith("agents/") and any(it in source.lower() for it in NAMES):
            for agent in named_agents(source):
                found[name, agent] = found.get((name, agent), 0) + 1
    return found


def test_no_module_outside_agents_names_an_agent():
    assert {"claude", "codex", "opencode", "gemini", "letta", "wiki"} == NAMES
    over = {at: n for at, n in counts().items() if n > EXCEPTIONS.get(at, 0)}
    assert over == {}


def test_no_exception_is_left_that_is_not_needed():
    found = counts()
    assert {at: n for at, n in EXCEPTIONS.items() if found.get(at, 0) < n} == {}


def test_a_planted_branch_on_an_agent_is_found():
    for planted, agent in (
        ("if session.agent.name == 'codex': pass", "codex"),
        ("from ricordo.agents.claude import location", "claude"),
        ("from ricordo.agents.letta import LETTA", "letta"),
        ("def read_opencode(): pass", "opencode"),
        ("is_wiki = layout.kind is MemoryKind.WIKI", "wiki"),
        ("class ClaudeReader: pass", "claude"),
        ("match agent:\n    case Agent.GEMINI: pass", "gemini"),
    ):
        assert agent in set(named_agents(planted)), planted
    assert not set(named_agents('"""Claude Code reads it."""\nlink = wikilink(name)'))
