"""Facts become statements by extraction: quoted, reported, or stated with their source."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ricordo.agents.transcripts.session import FileAction
from ricordo.handoff.compose.compose import compose
from ricordo.handoff.compose.quotes import excerpt
from ricordo.handoff.document import (
    HandoffStatement,
    ProofStatus,
    QuoteProof,
    ResultProof,
    StatementSection,
)
from ricordo.handoff.facts import (
    GIT_ID,
    MEMORY_ID,
    CommandPurpose,
    GitState,
    MessageRef,
    Refusal,
    RuledOutFact,
)
from ricordo.handoff.prove import list_facts
from ricordo.secrets import find_secrets
from tests.support.gathered import Gathered
from tests.support.secret_corpus import corpus


def told(gathered: Gathered, section: StatementSection) -> list[HandoffStatement]:
    """Return the statements of one section."""
    return [statement for statement in compose(gathered.facts) if statement.section is section]


def quotes(gathered: Gathered, section: StatementSection) -> list[str]:
    """Return the quotes of one section."""
    return [statement.quote for statement in told(gathered, section) if statement.quote]


def lines(gathered: Gathered, section: StatementSection) -> str:
    """Return the lines of one section."""
    return "\n".join(statement.text for statement in told(gathered, section))


def test_requests_of_the_user_are_quoted_with_their_changes() -> None:
    """Word for word, with the message; what only agrees or continues is not a request."""
    session = (
        Gathered().says("Make the alarm ring.\n\nTwice.").answers("Shall I?").says("Yes, go on.")
    )
    session.answers("Done.").says("Forget the alarm, send a mail instead.").answers("Sent.")
    requests = told(session, StatementSection.OBJECTIVE)
    assert [message.text for message in requests] == ["Asked first", "Asked last"]
    assert [message.quote for message in requests] == [
        "Make the alarm ring.\n\nTwice.",
        "Forget the alarm, send a mail instead.",
    ]
    assert [message.proof for message in requests] == [
        QuoteProof(MessageRef(0, 1, "2026-10-05T09:01:00+00:00")),
        QuoteProof(MessageRef(0, 5, "2026-10-05T09:05:00+00:00")),
    ]


@pytest.mark.parametrize(
    ("said", "quote"),
    [
        ("The alarm is late. Do not touch the schema.", "Do not touch the schema."),
        (
            "Look at it again. From now on, ask me before you push. It went wrong last week.",
            "From now on, ask me before you push. It went wrong last week.",
        ),
        (
            "It is nearly right. The page must also work without JavaScript, for the tablets.",
            "The page must also work without JavaScript, for the tablets.",
        ),
        (
            "Rename it. Keep the change as small as possible, the review is long.",
            "Keep the change as small as possible, the review is long.",
        ),
        (
            "Gut gemacht bisher, danke dafür. Das Schema darf nicht geändert werden.",
            "Das Schema darf nicht geändert werden.",
        ),
    ],
)
def test_what_the_work_has_to_keep_to_is_quoted(said: str, quote: str) -> None:
    """Rules, limits and requirements are separate statements, in the user's words."""
    session = Gathered().says("Mend the alarm.").answers("Mended.").says(said).answers("So be it.")
    assert quotes(session, StatementSection.CONSTRAINTS) == [quote]


def test_a_limit_in_the_first_request_is_a_constraint() -> None:
    """However much of the request it is; a request that is nothing else is the objective."""
    limit = "Never touch the schema, and always run pytest with -q."
    assert quotes(Gathered().says(f"Mend it. {limit}"), StatementSection.CONSTRAINTS) == [limit]
    assert quotes(Gathered().says(limit), StatementSection.CONSTRAINTS) == []


@pytest.mark.parametrize(
    "said",
    [
        "Should it not be called alarm? What do you think?",
        "The log says:\n\n    you must not pass\n\nWhere does it come from?",
        "Maybe we should not do that at all.",
    ],
)
def test_a_question_a_log_and_a_guess_set_no_limit(said: str) -> None:
    """What is not requested is not listed as a request."""
    session = Gathered().says("Mend the alarm.").answers("Mended.").says(said).answers("So be it.")
    assert told(session, StatementSection.CONSTRAINTS) == []


def test_of_a_plan_only_what_it_forbids_is_a_limit() -> None:
    """A long document describes how something works; it is quoted as the request."""
    plan = "Implement this plan.\n\n" + "The hook should print a line.\n\n" * 80
    plan += "No changes to `setup.go` are needed.\n\nDo not overwrite a backup."
    assert quotes(Gathered().says(plan).answers("Done."), StatementSection.CONSTRAINTS) == [
        "No changes to `setup.go` are needed.",
        "Do not overwrite a backup.",
    ]


def test_words_of_the_agent_are_quoted_as_its_claim() -> None:
    """It is never stated as a fact."""
    session = Gathered().says("Mend the alarm.").changes("alarm.py")
    session.answers("The alarm is mended, and every test passes now.")
    (report,) = told(session, StatementSection.DONE)
    assert report.text == "The agent reported"
    assert report.quote == "The alarm is mended, and every test passes now."
    assert report.status is ProofStatus.QUOTED


def test_how_tests_ended_is_reported_with_what_was_changed_since() -> None:
    """The last run of each command counts."""
    session = Gathered().says("Mend it.").runs("pytest", failed=True, result="1 failed")
    session.changes("alarm.py").runs("pytest", result="3 passed", changed_since=("report.py",))
    session.runs("ls", work=CommandPurpose.OTHER).runs(
        "ruff check", work=CommandPurpose.CHECK
    ).answers("Mended.")
    _, tests, check = told(session, StatementSection.DONE)
    assert (tests.text, tests.status) == ("`pytest` succeeded: 3 passed", ProofStatus.STALE)
    assert (check.text, check.status) == ("`ruff check` succeeded", ProofStatus.REPORTED)
    assert told(session, StatementSection.BLOCKED) == []
    again = told(session, StatementSection.NEXT)[-1]
    assert again.text == "It went well before files were changed again; run it: `pytest`"
    assert again.proof == tests.proof


def test_what_fails_still_is_the_next_thing_to_do() -> None:
    """With the command as it can be run, and the agent's comment."""
    session = Gathered().says("Mend it.").runs("make test").changes("alarm.py")
    session.runs("pytest -q", failed=True, result="1 failed").answers("An old bug, I leave it.")
    session.runs("ls", work=CommandPurpose.OTHER).answers("I stop here.")
    failure, comment = told(session, StatementSection.BLOCKED)
    assert failure.text == "`pytest -q` failed: 1 failed"
    assert failure.proof == ResultProof(1, True, session.facts.commands[1].ref)
    assert (comment.text, comment.quote) == ("The agent on that failure", "An old bug, I leave it.")
    assert lines(session, StatementSection.NEXT).endswith(
        "Fix what fails, then run it again: `pytest -q`"
    )


def test_a_command_of_many_lines_is_no_next_command() -> None:
    """It could not be run from a line."""
    session = Gathered().says("Test it.").runs("python - <<'E'\nassert 1\nE").answers("Tested.")
    assert "E" not in lines(session, StatementSection.NEXT)


def test_a_commit_is_listed_and_a_read_only_command_is_not() -> None:
    """What does more than read or change files counts as done."""
    session = Gathered().says("Commit.").runs("git status", work=CommandPurpose.OTHER)
    session.runs(
        "git commit -m 'Ring twice'", work=CommandPurpose.OTHER, result="[main 1a2b] Ring twice"
    )
    assert lines(session.answers("Committed."), StatementSection.DONE).split("\n")[1:] == [
        "`git commit -m 'Ring twice'` succeeded: [main 1a2b] Ring twice"
    ]


def test_an_unfinished_session_is_marked_as_such() -> None:
    """The last request has no closing answer; the agent's last words show the state of the
    work.
    """
    session = Gathered().says("Mend it.").answers("Mended.").says("Commit what you have, please.")
    session.answers("Let me look at the changes first.")
    session.runs("git commit -am 'x'", work=CommandPurpose.OTHER, failed=None)
    assert "The session ends after these words" in lines(session, StatementSection.ACTIVE)
    assert "the transcript does not report how it ended" in lines(session, StatementSection.ACTIVE)
    request = told(session, StatementSection.NEXT)[0]
    assert request.text == "Asked last, without a closing answer so far"
    assert request.quote == "Commit what you have, please."


def test_a_session_without_remaining_work_says_so() -> None:
    """The next agent need not look for it."""
    session = Gathered().says("Mend it.").answers("Mended, and nothing else was to be done.")
    assert lines(session, StatementSection.NEXT) == "No remaining work was found in the sessions"


@pytest.mark.parametrize(
    ("closing", "left"),
    [
        (
            "Mended.\n\n## Next steps\n\n1. Ring twice\n2. Push\n\n## Notes\n\nNone.",
            "1. Ring twice\n2. Push",
        ),
        (
            "Mended. The tests of the mail are not yet written.",
            "The tests of the mail are not yet written.",
        ),
        ("Mended.\n\n**Remaining work:** push it", "push it"),
        ("Mended.\n\nNext: run `pytest`, then push.", "run `pytest`, then push."),
    ],
)
def test_remaining_work_is_quoted_from_the_agent(closing: str, left: str) -> None:
    """Under a heading of its own, or in a sentence."""
    assert quotes(Gathered().says("Mend it.").answers(closing), StatementSection.NEXT) == [left]


@pytest.mark.parametrize(
    "closing", ["Mended. No warnings remain.", "Mended. Nothing is left to do here."]
)
def test_no_remaining_work_is_not_a_next_step(closing: str) -> None:
    """It names nothing to do."""
    assert quotes(Gathered().says("Mend it.").answers(closing), StatementSection.NEXT) == []


def test_remaining_work_holds_until_work_is_done() -> None:
    """A farewell after the report changes nothing of it."""
    session = Gathered().says("Mend it.").runs("make test")
    session.answers("Mended.\n\nNext steps:\n1. Push\n2. Ring twice")
    session.says("Good, thanks. I have to leave; do the push tomorrow with Codex.")
    session.answers("OK. I stop here.")
    user, agent = told(session, StatementSection.NEXT)[:2]
    assert (user.text, agent.text) == (
        "The user on what comes next",
        "The agent on remaining work",
    )
    assert "do the push tomorrow with Codex." in user.quote
    assert agent.quote == "1. Push\n2. Ring twice"
    assert "leave" not in "".join(quotes(session, StatementSection.CONSTRAINTS))
    session.says("Push it now, please.").runs("git push", work=CommandPurpose.OTHER)
    assert quotes(session.answers("Pushed."), StatementSection.NEXT) == []


def test_nothing_is_left_once_the_agent_says_so() -> None:
    """What it said before does not count any more."""
    session = Gathered().says("Mend it.").answers("Mended.\n\nNext steps: push it")
    session.says("That is done already.").answers("Then nothing is left to do here.")
    assert quotes(session, StatementSection.NEXT) == []


@pytest.mark.parametrize(
    "words",
    [
        "Next: write the page on tides, then push.",
        "Der Rest kommt dran: schreib morgen die Seite über Gezeiten.",
        "明天再写关于潮汐的页面。",
    ],
)
def test_what_the_user_puts_off_is_a_next_step(words: str) -> None:
    """In the words of the user."""
    session = Gathered().says("Mend it.").runs("make test").answers("Mended.")
    session.says(words).answers("OK.")
    assert told(session, StatementSection.NEXT)[0].text == "The user on what comes next"


@pytest.mark.parametrize(
    "request_text",
    ["The window is to close later than today.", "Pour demain, il faut que le calendrier compte."],
)
def test_a_request_that_was_worked_on_is_not_put_off(request_text: str) -> None:
    """Its words about time may describe the work."""
    session = Gathered().says(request_text).runs("make test").answers("Mended.")
    assert quotes(session, StatementSection.NEXT) == []


def test_order_within_a_request_puts_nothing_off() -> None:
    """Words such as “afterwards” are about the same work."""
    session = Gathered().says("Mend it.").runs("make test").answers("Mended.")
    session.says("It has to ring first and write the page about tides afterwards.").answers("OK.")
    assert quotes(session, StatementSection.NEXT) == []


def test_a_farewell_is_no_next_step() -> None:
    """It names nothing to do."""
    session = Gathered().says("Mend it.").runs("make test").answers("Mended.")
    for words in ("See you tomorrow!", "Bis morgen!", "明天见。"):
        session.says(words).answers("Bye.")
    assert quotes(session, StatementSection.NEXT) == []


def test_an_answer_is_quoted_with_its_question() -> None:
    """A yes alone says nothing."""
    session = Gathered().says("Mend it.").answers("Mended. Shall I push it to main as well?")
    session.says("yes").answers("Pushed.")
    (answer,) = told(session, StatementSection.DECISIONS)
    assert answer.text == "The user's answer to “Shall I push it to main as well?”"
    assert (answer.quote, answer.status) == ("yes", ProofStatus.QUOTED)
    assert told(session, StatementSection.QUESTIONS) == []


def test_a_question_without_an_answer_is_open() -> None:
    """Also an earlier one that the user ignored; an ignored offer is not one."""
    session = Gathered().says("Mend it.").answers("Done. Which port do the tables stand for?")
    session.says("Write the mail now.").answers("Written. Would you like me to send it?")
    session.says("Show me a list of berths.").answers("Here it is. Is Levanto one of them?")
    assert quotes(session, StatementSection.QUESTIONS) == [
        "Which port do the tables stand for?",
        "Is Levanto one of them?",
    ]


def test_what_the_user_corrected_is_ruled_out() -> None:
    """What the agent reported then is not the state of the work."""
    session = Gathered().says("Ignore the lock file.").changes(".gitignore")
    session.answers("I added the lock file to the .gitignore of this repository.")
    session.says("No, the program should do that for every user.").answers("It does now.")
    (wrong,) = told(session, StatementSection.RULED_OUT)
    assert wrong.quote == "I added the lock file to the .gitignore of this repository."
    assert "corrected it with “No, the program should do that for every user.”" in wrong.text
    assert wrong.quote not in quotes(session, StatementSection.DONE)


def test_what_the_user_reverted_is_ruled_out_and_not_done() -> None:
    """Also where no word says that the agent was wrong."""
    report = "I added a cache for the tide tables, so that the report is far faster than it was."
    for reply, is_ruled_out in (
        ("Please take the cache out again, I don't want it.", True),
        ("Yes, but add a test.", False),
    ):
        session = Gathered().says("Make it faster.").answers(report).says(reply)
        session = session.answers("Done.")
        unwanted = RuledOutFact("f0", session.facts.messages[2].ref, report, reply)
        session.facts = replace(session.facts, ruled_out=(unwanted,))
        ruled_out = quotes(session, StatementSection.RULED_OUT)
        assert ruled_out == ([report] if is_ruled_out else [])
        assert (report in quotes(session, StatementSection.DONE)) is not is_ruled_out


def test_abandoned_work_and_decisions_have_their_reasons() -> None:
    """In the words of the session."""
    session = Gathered().says("Mend it.").gives_up("Rounding to the minute", "two tests broke")
    session.decides("We keep the stored times.", "reports compare them", person=True)
    session.decides("I use `<=`.").answers("Mended.")
    assert (
        lines(session, StatementSection.RULED_OUT)
        == "The agent abandoned this, because: “two tests broke”"
    )
    assert lines(session, StatementSection.DECISIONS).split("\n") == [
        "The user decided, because: “reports compare them”",
        "The agent's decision",
    ]
    assert quotes(session, StatementSection.DECISIONS) == [
        "We keep the stored times.",
        "I use `<=`.",
    ]


def test_a_reverted_action_is_described_and_not_quoted() -> None:
    """It is nobody's words."""
    session = Gathered().says("Mend it.").gives_up("`git restore a.py`", "it broke", is_deed=True)
    (taken_back,) = told(session, StatementSection.RULED_OUT)
    assert taken_back.text == "Reverted: `git restore a.py`, because: “it broke”"
    assert (taken_back.quote, taken_back.proof) == ("", None)


def test_tasks_are_in_the_section_of_their_status() -> None:
    """What one message listed is one quotation."""
    session = (
        Gathered()
        .says("Build it.")
        .lists(
            ("Write it", "completed"),
            ("Test it", "completed"),
            ("Push it", "in_progress"),
            ("Tell", "pending"),
        )
    )
    session.answers("Going on.")
    assert quotes(session, StatementSection.DONE) == ["Going on.", "Write it\nTest it"]
    assert quotes(session, StatementSection.ACTIVE) == ["Push it"]
    assert quotes(session, StatementSection.NEXT) == ["Tell"]


REMOVE = "rm -f tide.db && pytest -q"


def test_what_the_user_refused_is_a_limit_and_no_next_step() -> None:
    """Neither where it failed before, nor where the agent lists or mentions it."""
    session = Gathered().says("Test it.").runs(REMOVE, failed=True, result="1 failed")
    session.is_refused(REMOVE, "exec command rejected by user").runs("pytest -q")
    session.lists((f"Run `{REMOVE}`", "pending"), ("Write the docs", "pending"))
    session.answers(f"The tests pass. Next I would run `{REMOVE}`. Left to do: the docs.")
    (limit,) = told(session, StatementSection.CONSTRAINTS)
    assert limit.text == f"The user refused `{REMOVE}`"
    assert limit.quote == "exec command rejected by user"
    assert isinstance(limit.proof, QuoteProof)
    next_steps = lines(session, StatementSection.NEXT) + "".join(
        quotes(session, StatementSection.NEXT)
    )
    assert "rm -f" not in next_steps
    assert "Write the docs" in next_steps
    assert next_steps.count("pytest -q") == 1
    assert "rm -f" not in lines(session, StatementSection.RULED_OUT)


def test_what_rules_denied_is_a_limit_of_the_agent_and_not_of_the_user() -> None:
    session = Gathered().says("Test it.")
    denied = f"Permission to use Bash with command {REMOVE} has been denied."
    session.is_refused(REMOVE, denied, by=Refusal.RULES).answers("I leave it.")
    assert lines(session, StatementSection.CONSTRAINTS) == (
        f"Not allowed by the rules of the agent: `{REMOVE}`"
    )


def test_what_was_refused_and_then_done_is_no_limit_any_more() -> None:
    session = Gathered().says("Test it.").is_refused(REMOVE, "rejected by user")
    session.is_refused("alarm.py (Edit)", "Use the helper.", why="Use the helper.")
    session.runs(REMOVE, failed=True, result="1 failed").changes("alarm.py").answers("It fails.")
    assert "refused" not in lines(session, StatementSection.CONSTRAINTS)
    assert lines(session, StatementSection.NEXT).endswith(f"`{REMOVE}`")


def test_a_refused_tool_is_listed_with_the_words_of_the_user() -> None:
    session = Gathered().says("Test it.").is_refused("t/mock.py (Write)", "No.", why="No.")
    session.is_refused(" (AskUserQuestion)", "The user doesn't want to proceed").answers(
        "So be it."
    )
    (limit,) = told(session, StatementSection.CONSTRAINTS)
    assert limit.text == "The user refused `t/mock.py (Write)`"
    assert limit.quote == "No."


def test_files_are_listed_with_their_actions() -> None:
    """The last change first; files outside the project or missing ones that were only read are left
    out.
    """
    session = (
        Gathered()
        .says("Mend it.")
        .changes("notes.md", FileAction.READ)
        .changes("/etc/hosts", FileAction.READ)
    )
    session.changes("gone.md", FileAction.READ, sha=None).changes(
        "old.py", FileAction.DELETED, sha=None
    )
    session.changes("/tmp/draft.md", FileAction.WROTE, sha=None).changes("lost.py", sha=None)
    session.changes(
        "alarm.py", FileAction.READ, FileAction.EDITED, FileAction.EDITED, parts=("due", "Alarm")
    )
    assert lines(session, StatementSection.FILES).split("\n") == [
        "`alarm.py` (transcript: edited 2 times, last at turn 8; the changes name `due`, `Alarm`)",
        "`lost.py` does not exist now (transcript: edited, last at turn 7)",
        "`/tmp/draft.md`, outside the project (transcript: wrote, last at turn 6)",
        "`old.py` does not exist now (transcript: deleted, last at turn 5)",
        "`notes.md` (transcript: only read)",
    ]


def test_a_session_without_file_changes_says_so() -> None:
    """The agent may claim that it changed one."""
    session = (
        Gathered().says("Mend it.").changes("alarm.py", FileAction.READ).answers("I mended it.")
    )
    assert lines(session, StatementSection.FILES).split("\n") == [
        "No file change was found in the sessions",
        "`alarm.py` (transcript: only read)",
    ]


def test_errors_have_their_fixes() -> None:
    """Unfixed ones come first."""
    session = (
        Gathered().says("Mend it.").fails("pytest", "E assert 1 == 2", mended=3, by="alarm.py")
    )
    session.fails("make docs", "make: no rule").answers("There are no pages yet.")
    assert lines(session, StatementSection.ERRORS).split("\n") == [
        "`make docs` failed; no fix is known; the agent then, at turn 4: “There are no pages yet.”",
        "`pytest` failed; no longer failed at turn 3, after a change of alarm.py",
    ]
    assert quotes(session, StatementSection.ERRORS) == ["make: no rule", "E assert 1 == 2"]


def test_the_summary_of_a_compaction_goes_to_its_sections() -> None:
    """The last one counts; text without a known heading is left out."""
    session = (
        Gathered()
        .says("Build it.")
        .sums_up("## Goal\nOld\n")
        .sums_up(
            "1. Primary Request and Intent: a pilot for Levanto\n2. Files: plan.py\n"
            "7. Pending Tasks:\n   - draft the mail\n8. Current Work: the page\n"
        )
    )
    session.answers("Going on.")
    assert quotes(session, StatementSection.OBJECTIVE) == ["Build it.", "a pilot for Levanto"]
    assert quotes(session, StatementSection.NEXT) == ["- draft the mail"]
    assert quotes(session, StatementSection.ACTIVE) == ["the page"]


def test_the_state_of_git_is_one_line() -> None:
    """It is based only on the state of git."""
    facts = replace(
        Gathered().says("Mend it.").facts,
        git=GitState("4f1e2d3a9b0c" + "0" * 28, "feat/x", ("a.py",), 2, "Ring twice"),
    )
    (state,) = [statement for statement in compose(facts) if statement.fact_ids == (GIT_ID,)]
    assert state.text == (
        "Branch `feat/x` at 4f1e2d3a9b0c (`Ring twice`); not committed: `a.py`; "
        "2 commits not pushed"
    )


def test_the_memory_is_listed_with_the_notes_to_read() -> None:
    """One line for each note, based only on that note."""
    session = Gathered().says("Mend it.").finds("tests.md", "How to run them")
    place, note = told(session, StatementSection.MEMORY)
    assert (place.text, place.fact_ids) == ("The memory is at `/memory`", (MEMORY_ID,))
    assert note.text == "`tests.md`: How to run them (names the same words)"
    assert note.fact_ids == (session.facts.notes[0].id,)


def test_every_message_of_the_user_is_included_on_request() -> None:
    """Whole and word for word, also those that only agree."""
    session = Gathered().says("Build it.\n" + "Long. " * 2_000).answers("Shall I?").says("yes")
    assert told(session, StatementSection.MESSAGES) == []
    whole = [
        statement.quote
        for statement in compose(session.facts, with_messages=True)
        if statement.section is StatementSection.MESSAGES
    ]
    assert whole == ["Build it.\n" + "Long. " * 2_000, "yes"]


def test_quotations_are_cut_where_there_is_much_to_tell() -> None:
    """All of them are, with a note on how much is quoted; with enough room they are complete."""
    session = Gathered()
    for number in range(6):
        session.says(f"Wish {number}. " + "It is to ring. " * 90).changes("alarm.py")
        session.answers(f"Answer {number}. " + "It rings. " * 150)
    small, large = (compose(session.facts, tokens=tokens) for tokens in (3_000, 40_000))
    size = [
        sum(len(statement.text) + len(statement.quote) for statement in found)
        for found in (small, large)
    ]
    assert size[0] < 3_000 * 4 < size[1]
    assert any("characters)" in statement.text for statement in small)
    assert compose(session.facts, tokens=40_000)[0].text == "Asked first"


texts = st.text(st.sampled_from("ab Yes?!.\n#*`-:<[@") | st.characters(), max_size=80)
steps = st.lists(
    st.tuples(
        st.sampled_from(["says", "answers", "runs", "sums_up", "gives_up", "decides"]), texts
    ),
    max_size=12,
)


@given(steps)
def test_every_statement_is_based_on_facts(told_steps: list[tuple[str, str]]) -> None:
    """For any session: every statement is based on existing facts, and one of them contains its
    quote.
    """
    session = Gathered()
    for kind, text in told_steps:
        getattr(session, kind)(text)
    known = {fact.id: fact for fact in list_facts(session.facts)}
    for statement in compose(session.facts, with_messages=True):
        assert set(statement.fact_ids) <= known.keys()
        assert bool(statement.quote) <= any(
            statement.quote in str(getattr(known[id], name, ""))
            for id in statement.fact_ids
            for name in ("text", "what")
        )
        assert statement.status is not ProofStatus.VERIFIED


def test_the_context_of_a_decision_is_not_repeated_as_ruled_out() -> None:
    """The same paragraph twice helps nobody."""
    told = "I tried to round, which broke two tests. I compare feet instead."
    session = Gathered().says("Mend it.").answers(told)
    session.decides("I compare feet instead.").gives_up("I tried to round, which broke two tests.")
    facts, ref = session.facts, session.facts.messages[1].ref
    facts = replace(
        facts,
        decisions=(replace(facts.decisions[0], ref=ref),),
        ruled_out=(replace(facts.ruled_out[0], ref=ref),),
    )
    found = {statement.section: statement.quote for statement in compose(facts)}
    assert found[StatementSection.DECISIONS] == told
    assert found[StatementSection.RULED_OUT] == "I tried to round, which broke two tests."


def test_a_decision_is_quoted_with_its_paragraph() -> None:
    """The paragraph of the message, unless it is long."""
    session = (
        Gathered()
        .says("Commit.")
        .answers("I looked.\n\nThree files are only formatted. I commit the other one.\n\nDone.")
    )
    session.decides("I commit the other one.")
    decided = replace(session.facts.decisions[0], ref=session.facts.messages[1].ref)
    (found,) = [
        statement
        for statement in compose(replace(session.facts, decisions=(decided,)))
        if statement.section is StatementSection.DECISIONS
    ]
    assert found.quote == "Three files are only formatted. I commit the other one."


def test_the_users_way_to_check_it_is_a_next_step() -> None:
    """The text under such a heading in the last request that has one."""
    plan = "Build it.\n\n## Verification\n\n```bash\nmake check\n```\n\n## Notes\n\nNone."
    session = Gathered().says(plan).answers("It is built.").says("Now the mail.").answers("Sent.")
    (check,) = [statement for statement in told(session, StatementSection.NEXT) if statement.quote]
    assert check.text == "The user on how to check it"
    assert check.quote == "```bash\nmake check\n```"


PIECES = ["a", "a. ", "? ", "- a\n", "# a\n", "1. a: b\n", "“", "don't "]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("piece", PIECES)
def test_a_hostile_session_is_composed_within_bounds(piece: str) -> None:
    """Whatever its texts repeat; all of it is shortened until it fits."""
    text = piece * (10_000 // len(piece))
    session = Gathered().says(text).answers(text).says(f"no, {text}").sums_up(text)
    session.runs(text[:4_000], result=text[:300]).answers(text).fails(text[:4_000], text[:300])
    size = sum(
        len(statement.text) + len(statement.quote)
        for statement in compose(session.facts, tokens=2_000)
    )
    assert 0 < size < 4 * 4_000


def test_a_quotation_never_ends_inside_of_a_credential() -> None:
    """It could not be recognized by its first half."""
    for number, secret in enumerate(family for family in corpus(7, each=1) if family.values):
        start = secret.text.index(secret.values[0])
        text = f"{'Words before it. ' * 4}{secret.text}{' and words behind it' * 40}"
        for cut in range(start, start + len(secret.values[0]), 9):
            quote = excerpt(text, len("Words before it. ") * 4 + cut)
            found = [
                secret for secret in find_secrets(text) if secret.start < len(quote) < secret.end
            ]
            assert not found, (number, secret.text[:40])


def test_the_first_request_of_each_session_is_quoted() -> None:
    """Whatever else does not fit."""
    session = Gathered().says("Build the alarm.").answers("Built.")
    for number in range(40):
        session.says(f"Then the part {number}.").answers("Done.")
    facts = session.facts
    second = [
        replace(message, ref=message.ref._replace(session=1), id=f"x{message.id}")
        for message in facts.messages
    ]
    second[0] = replace(second[0], text="Now build the mail.")
    told_of = compose(
        replace(facts, sessions=facts.sessions * 2, messages=(*facts.messages, *second))
    )
    assert [(statement.text, statement.quote) for statement in told_of][:1] == [
        ("Asked first", "Build the alarm.")
    ]
    assert ("Asked first in this session", "Now build the mail.") in [
        (statement.text, statement.quote) for statement in told_of
    ]


def test_a_sentence_about_the_user_is_not_a_limit() -> None:
    """A sentence about the user forbids nothing."""
    session = Gathered().says("Look at the tests.").answers("Looked.")
    session.says("They use a dictionary and I do not trust them any more. Write new ones.")
    assert told(session.answers("Written."), StatementSection.CONSTRAINTS) == []


@pytest.mark.parametrize(
    "reply",
    [
        "Yes, but add a test for it as well.",
        "Actually, can you also add the mail?",
        "No problem. Now the mail.",
        "Good. Not much is left then.",
    ],
)
def test_a_report_that_the_user_continues_is_not_ruled_out(reply: str) -> None:
    """It is listed as done."""
    report = "I added the alarm, with a constant for the time that it leads."
    session = Gathered().says("Add an alarm.").changes("alarm.py").answers(report).says(reply)
    session.answers("It is done as well.")
    assert told(session, StatementSection.RULED_OUT) == []
    assert report in quotes(session, StatementSection.DONE)
