"""What a session reverted: edits made backwards, new files deleted, git, and refused calls."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ricordo.agents.transcripts.session import CallResult, FileAction, FileTouch, ToolCall
from ricordo.handoff.facts import CommandPurpose, MessageRef, Refusal
from ricordo.handoff.gather.commands import list_programs
from ricordo.handoff.gather.reverts import RevertedAction, RevertedActions
from ricordo.handoff.gather.runs import CommandRun


def at(number: int) -> MessageRef:
    return MessageRef(0, number)


def edit(before: str, after: str, path: str = "a.py") -> FileTouch:
    return FileTouch(FileAction.EDITED, path, "call", after, before)


def write(path: str) -> FileTouch:
    return FileTouch(FileAction.WROTE, path, "call")


def read(path: str) -> FileTouch:
    return FileTouch(FileAction.READ, path, "call")


def delete(path: str) -> FileTouch:
    return FileTouch(FileAction.DELETED, path, "call")


def touch(*calls: FileTouch | tuple[FileTouch, ...]) -> RevertedActions:
    """Return what calls reverted that touched these files, numbered from 1."""
    actions = RevertedActions()
    for number, touches in enumerate(calls, 1):
        actions.record_touches(touches if isinstance(touches, tuple) else (touches,), at(number))
    return actions


def list_reverted(actions: RevertedActions) -> list[tuple[int, int, str, str]]:
    """Return the number of each action, of its reverting, and what it was, in which file."""
    return [
        (action.since.number, action.at.number, action.what, action.path)
        for action in actions.actions
    ]


# Edits


def test_an_edit_made_backwards_is_reverted_and_named_by_its_first_line() -> None:
    back = touch(edit("one", "\n\n  two  \nthree\n"), edit("x", "y"), edit("two  \nthree", " one "))
    assert list_reverted(back) == [(1, 3, ": two", "a.py")]
    assert [action.needs_reason for action in back.actions] == [False]
    long = touch(edit("one", "t" * 130), edit("t" * 130, "one"))
    assert list_reverted(long) == [(1, 2, f": {'t' * 120}", "a.py")]
    removal = touch(edit("one", ""), edit("", "one"))
    assert list_reverted(removal) == [(1, 2, "", "a.py")]


@pytest.mark.parametrize(
    "touches",
    [
        (edit("one", "two"), edit("two", "one", "b.py")),
        (edit("one", "two"), edit("two", "three")),
        (edit("one", "two"), edit("one", "two")),
        # other white space at its ends is no other text
        (edit("one", " one\n"), edit("one\n", "one")),
    ],
)
def test_what_reverts_no_edit(touches: tuple[FileTouch, ...]) -> None:
    assert list_reverted(touch(*touches)) == []


@given(st.lists(st.booleans(), max_size=9))
def test_an_edit_is_reverted_once_each_time_that_it_is_made(forwards: list[bool]) -> None:
    pending, expected = None, []
    for number, is_forward in enumerate(forwards, 1):
        # the opposite of the last edit reverts it; otherwise it is an edit of its own
        if pending is not None and pending[0] != is_forward:
            expected.append((pending[1], number))
            pending = None
        else:
            pending = (is_forward, number)
    touches = [edit("a", "b") if is_forward else edit("b", "a") for is_forward in forwards]
    assert [(since, until) for since, until, _, _ in list_reverted(touch(*touches))] == expected


def test_the_last_2000_edits_may_still_be_reverted() -> None:
    forwards = [edit("one", f"two {number}") for number in range(2_001)]
    back = touch(*forwards, edit("two 0", "one"))
    assert list_reverted(back) == []
    back = touch(*forwards, edit("two 1", "one"))
    assert list_reverted(back) == [(2, 2_002, ": two 1", "a.py")]


# New files


def test_a_new_file_that_is_deleted_is_reverted_if_there_is_a_reason() -> None:
    back = touch(write("a.py"), read("b.py"), delete("a.py"), delete("a.py"))
    assert list_reverted(back) == [(1, 3, ", which was new", "a.py")]
    assert [action.needs_reason for action in back.actions] == [True]


@pytest.mark.parametrize(
    "calls",
    [
        (delete("a.py"),),
        # it was there before
        (read("a.py"), write("a.py"), delete("a.py")),
        (edit("one", "two"), write("a.py"), delete("a.py")),
        (delete("a.py"), write("a.py"), delete("a.py")),
        # it was moved
        (write("a.py"), (delete("a.py"), write("b.py"))),
    ],
)
def test_a_file_that_was_there_before_or_was_moved_is_not_reverted(
    calls: tuple[FileTouch | tuple[FileTouch, ...], ...],
) -> None:
    assert list_reverted(touch(*calls)) == []


def test_a_moved_file_is_new_under_its_new_name() -> None:
    back = touch(write("a.py"), (delete("a.py"), write("b.py")), delete("b.py"))
    assert list_reverted(back) == [(2, 3, ", which was new", "b.py")]


# Git


def run(command: str, has_failed: bool | None = False) -> CommandRun:
    programs = tuple(list_programs(command))
    return CommandRun(at(9), command, programs, CommandPurpose.OTHER, has_failed=has_failed)


@pytest.mark.parametrize(
    ("command", "reverts_changes"),
    [
        ("git restore a.py", True),
        ("git restore --staged a.py", False),
        ("git revert HEAD", True),
        ("git checkout -- a.py", True),
        ("git checkout .", True),
        ("git checkout main", False),
        ("git reset --hard", True),
        ("git reset HEAD~1", False),
        ("git reset --hard --staged", False),
        ("git", False),
        ("git status && git restore a.py", True),
        ("make restore", False),
        ("restore restore", False),
    ],
)
def test_commands_of_git_that_revert_changes(command: str, reverts_changes: bool) -> None:
    back = touch(read("b.py"), edit("one", "two"), edit("five", "six"))
    back.record_run(run(command))
    # all that was edited since the first edit may be reverted
    assert list_reverted(back) == ([(2, 9, f"`{command}`", "")] if reverts_changes else [])


def test_git_reverts_nothing_if_it_fails_or_nothing_was_edited() -> None:
    back = touch(edit("one", "two"))
    back.record_run(run("git restore a.py", has_failed=True))
    assert list_reverted(back) == []
    # how it ended may be unknown
    back.record_run(run("git restore a.py", has_failed=None))
    assert len(list_reverted(back)) == 1
    for nothing in (touch(), touch(edit("one", "two"), edit("two", "one"))):
        before = list_reverted(nothing)
        nothing.record_run(run("git restore a.py"))
        assert list_reverted(nothing) == before


# Refused calls


def refuse(command: str = "", **result: object) -> RevertedAction:
    actions = RevertedActions()
    ending = CallResult("call", **result)  # type: ignore[arg-type]
    actions.record_refusal(ToolCall("call", "Write", command), "a.py", ending, at(7))
    (action,) = actions.actions
    return action


def test_a_refused_call_is_named_by_its_command_or_by_file_and_tool() -> None:
    action = refuse("make", is_rejected=True, user_words="No mocks. Use the log.", output="x")
    assert action == RevertedAction(
        at(7),
        at(7),
        "make",
        user_text="No mocks. Use the log.",
        refusal=Refusal.USER,
        refusal_text="No mocks. Use the log.",
    )
    action = refuse(is_denied=True, output="Denied. Stop.")
    assert action == RevertedAction(
        at(7), at(7), " (Write)", "a.py", refusal=Refusal.RULES, refusal_text="Denied."
    )


def test_of_very_many_refused_calls_the_first_and_the_last_500_are_kept() -> None:
    actions = RevertedActions()
    for number in range(1_001):
        ending = CallResult("call", is_denied=True)
        actions.record_refusal(ToolCall("call", "Write", "make"), "", ending, at(number))
    numbers = [action.at.number for action in actions.actions]
    assert numbers == [*range(500), *range(501, 1_001)]


@pytest.mark.parametrize(
    ("output", "text"),
    [
        ("", ""),
        ("\n Rejected by a rule. Go on. \n", "Rejected by a rule."),
        ("Rejected by rule 1.2\nReason: x. y", "Rejected by rule 1.2"),
        ("Rejected.", "Rejected."),
        ("x" * 301 + ". y", "x" * 300),
    ],
)
def test_a_refusal_is_quoted_by_the_first_sentence_of_its_output(output: str, text: str) -> None:
    assert refuse(is_denied=True, output=output).refusal_text == text
