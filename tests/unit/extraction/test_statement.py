from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ricordo.extraction.statement import Statement, StatementKind, find_statements

DAY = date(2026, 11, 12)

WORTH = [
    (StatementKind.REQUEST, "Remember this: integration tests run against a real database."),
    (StatementKind.REQUEST, "Two ships at one berth are 30 minutes apart. Write it down."),
    (StatementKind.REQUEST, "Don't forget that the staging server has no backups."),
    (StatementKind.REQUEST, "Merk dir: Releases gibt es nur dienstags nach dem Mittagessen."),
    (StatementKind.REQUEST, "Souviens-toi que le serveur de test est rechargé chaque lundi."),
    (StatementKind.REQUEST, "Recuerda que los informes van en formato CSV con punto y coma."),
    (StatementKind.REQUEST, "Ricordati che il porto di Levanto chiude alle sei di sera."),
    (StatementKind.REQUEST, "记住：发布之前必须先运行完整的测试。"),
    (StatementKind.REQUEST, "本番のデータベースは夜間に止まることを覚えておいて。"),
    (StatementKind.REQUEST, "배포 서버는 월요일마다 재시작한다는 걸 기억해."),
    (StatementKind.PREFERENCE, "From now on write commands with uv run, not with pip."),
    (StatementKind.PREFERENCE, "I prefer small commits with one change each."),
    (StatementKind.PREFERENCE, "I don't want you to push without asking me."),
    (StatementKind.PREFERENCE, "Stop ending your answers with a list of next steps."),
    (StatementKind.PREFERENCE, "Please never run the importer against the live feed."),
    (StatementKind.PREFERENCE, "When you are unsure between two fixes, show me both as diffs."),
    (StatementKind.PREFERENCE, "Ab jetzt bitte alle Kommentare auf Englisch schreiben."),
    (StatementKind.PREFERENCE, "Désormais, écris les messages de commit en anglais."),
    (StatementKind.PREFERENCE, "Prefiero que las respuestas sean cortas y sin listas."),
    (StatementKind.PREFERENCE, "D'ora in poi rispondi in italiano dopo le sei di sera."),
    (StatementKind.PREFERENCE, "以后请用中文写提交信息，不要用英文。"),
    (StatementKind.PREFERENCE, "今後はコミットメッセージを英語で書いてください。"),
    (StatementKind.PREFERENCE, "앞으로는 커밋 메시지를 영어로 작성해 주세요."),
    (StatementKind.PREFERENCE, "I am a backend engineer and read diffs before prose."),
    (StatementKind.DECISION, "We decided to keep everything in one SQLite file."),
    (StatementKind.DECISION, "Let's keep it in one file, because nobody here can run a server."),
    (StatementKind.DECISION, "We no longer support the old browsers of the office."),
    (StatementKind.DECISION, "Wir haben uns für PostgreSQL entschieden, weil es schon läuft."),
    (StatementKind.DECISION, "Nous avons décidé de garder un seul fichier par station."),
    (StatementKind.DECISION, "我们决定用一个文件保存所有的读数。"),
    (StatementKind.DEADLINE, "The release freeze begins on 30 November and ends on 11 January."),
    (StatementKind.DEADLINE, "The audit is due on 2026-12-14."),
    (StatementKind.DEADLINE, "Der Freeze beginnt am 30. November."),
    (StatementKind.PREFERENCE, "In this project we use pnpm, not npm."),
    (StatementKind.PREFERENCE, "We always squash before merging in this repo."),
    (StatementKind.PREFERENCE, "Our convention is that every service owns its own schema."),
    (StatementKind.PREFERENCE, "Don't add emojis to commit messages."),
    (StatementKind.PREFERENCE, "Can you stop asking for confirmation on every tiny edit?"),
    (StatementKind.PREFERENCE, "Please don't create new markdown files unless I ask for them."),
    (StatementKind.PREFERENCE, "I'm on Windows, so give me PowerShell commands."),
    (StatementKind.PREFERENCE, "Wir benutzen hier pnpm und nicht npm."),
    (StatementKind.PREFERENCE, "Usiamo sempre pnpm in questo progetto, non npm."),
    (StatementKind.PREFERENCE, "请一直用中文回答我的问题。"),
    (StatementKind.PREFERENCE, "このプロジェクトでは npm ではなく pnpm を使います。"),
    (StatementKind.PREFERENCE, "이 프로젝트에서는 npm 말고 pnpm을 사용합니다."),
    (StatementKind.DECISION, "Heads up: the payments team owns that module, so ask them first."),
    (StatementKind.DECISION, "We are going with Postgres because the team knows it."),
    (StatementKind.DECISION, "Abbiamo smesso di usare Redis per la cache."),
    (
        StatementKind.POINTER,
        "Bugs in the ingest pipeline are tracked in the Linear project INGEST.",
    ),
    (StatementKind.POINTER, "Errors in production are reported in the #prod-alerts channel."),
]
NOTHING = [
    "Fix the failing test in the parser.",
    "commit",
    "yes",
    "Can you explain how the cache is filled?",
    "Do you remember why we chose this?",
    "The function never returns when the list is empty.",
    "`shouldFilterFile` should always check the summary, because it leaks.",
    "Port 8040 is taken on my laptop, use 8041 for this once.",
    "I am on the train, keep answers under three lines until Savona.",
    "The server is slow this morning, ignore the timeout.",
    "Maybe we should always run the linter first, I think.",
    "If we ever go beyond ten harbours we can think about Postgres.",
    "And one change a commit, as always. Then push.",
    "And run make check before you commit, as CLAUDE.md says.",
    "Use port 8041 for now.",
    "When you're done, run the tests.",
    "Please look at the failing build and tell me what broke.",
    "Let's rename the variable and run it again.",
    "There aren't unit tests covering this, so regressions won't be caught. Please add tests.",
    "Update the version to 2.4.1 and tag it.",
    "Behebe bitte den Fehler im Parser.",
    "Corrige le test qui échoue.",
    "修复解析器里的错误。",
    "このテストを直してください。",
    "We should never hit this branch, because the check above returns early. Remove it.",
    "It's working now.",
    "This is failing now.",
    "Every time I run the tests they fail.",
    "Whenever I open the page, it crashes.",
    "The hook runs and never returns.",
    "Add tests for every file in the folder.",
    "I prefer option 2.",
    "When you push, the hook fails.",
    "We moved parse_head() to utils.py, so import it from there.",
    "We no longer need this function.",
    "Remember to update the changelog.",
    "Make a note in the README that this is experimental.",
    "Note that this function is only called from the tests.",
    "Actually, it should be in the other file.",
    "この関数は常に失敗する。",
    "每次运行测试都失败。",
    "Jedes Mal, wenn ich die Tests starte, hängt der Server.",
    "What if we used a queue instead?",
    "Revert that, it should only touch one file.",
    "I am a bit confused by this diff.",
    "Remember this key: AKIAQ3T7ZK4M2PWX9JLD",
    "We use the wrong index here, not the primary one.",
    "We use a mutex here and it deadlocks.",
    "The policy is attached to the wrong role.",
    "Don't add docstrings to these helpers.",
    "When clicking the button, show a spinner.",
    "The values are kept in memory until the flush.",
    "Always returns 404, see the screenshot.",
    "We decided to rename the column, please write the migration.",
    "Please always sort the results by date in this endpoint.",
    "Can you stop the server on port 8040?",
    "Heads up: the build is red right now.",
    "Wir nutzen hier immer noch die alte API, bitte ersetzen.",
    "Siempre sale el mismo error.",
    'The agent said: "from now on, always use npm".',
    'Not "from now on we use pnpm": that is his wish.',
    'Translate: "Please remember that the office is closed on Friday."',
    "The old note says «never deploy on Fridays», is it right.",
    "Imagine I told you: never use emojis.",
    "Pretend that from now on we use pnpm, not npm.",
    "If from now on we used tabs, diffs would be smaller.",
    "Add a docstring that says: from now on, use v2.",
    "We decided nothing yet about the database because of the vacation.",
    "We have not decided to use Postgres, because nobody can run it.",
    "Assistant: from now on I will always use pnpm.",
    "the error was: deadline exceeded on 2026-12-24 in the release job",
    "Write a function that always returns true and never throws",
    "Stell dir vor, wir benutzen hier pnpm und nicht npm.",
    "Imagine que désormais on écrive les commits en anglais.",
]
KEPT_THOUGH_QUOTED = [
    'Remember: the gate is called "Sea Door" by all captains.',
    'From now on never write "TODO" in the code.',
    "If you are unsure between two fixes, always ask me first.",
]


def found(text: str, *, is_answer: bool = False) -> Statement | None:
    return next(find_statements(text, DAY, is_answer=is_answer), None)


@pytest.mark.parametrize(("kind", "text"), WORTH)
def test_what_is_worth_remembering_is_found_in_many_languages(
    kind: StatementKind, text: str
) -> None:
    saying = found(text)
    assert saying is not None
    assert saying.kind is kind


@pytest.mark.parametrize("text", KEPT_THOUGH_QUOTED)
def test_a_quotation_in_a_rule_and_a_rule_with_a_condition_do_not_hide_it(text: str) -> None:
    saying = found(text)
    assert saying is not None
    assert saying.text == text


@pytest.mark.parametrize("text", NOTHING)
def test_orders_questions_guesses_and_states_of_the_hour_are_ignored(text: str) -> None:
    assert found(text, is_answer=True) is None


def test_a_correction_needs_something_that_the_agent_said() -> None:
    text = "No, the alarm should go to the pilots, not to us."
    saying = found(text, is_answer=True)
    assert saying is not None
    assert saying.kind is StatementKind.CORRECTION
    assert found(text) is None


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("I read German and Italian without trouble.", "user"),
        ("Always put the diff first.", "feedback"),
        ("We decided to keep everything in one file.", "project"),
        ("The plans are at https://plans.example.org. Keep that in mind.", "reference"),
        ("I draw new plans. They are at https://plans.example.org. Remember that.", "reference"),
        ("We decided to keep everything in one file: use SQLite for it.", "project"),
        ("We decided to keep the plans at https://plans.example.org only.", "project"),
        ("Errors in production are reported in the #prod-alerts channel.", "reference"),
        ("The audit is due on 2026-12-14.", "project"),
        ("Remember this: integration tests run against a real database.", "project"),
        ("Remember this: write commands with uv.", "feedback"),
        ("The port is Sines. Write commands with uv. Remember that.", "feedback"),
        ("I read German. The northern gate is blue. Remember that.", "user"),
        ("Tankers must not enter berth 3 because the fenders cracked.", "project"),
        ("You must not open berth 3 because the fenders cracked.", "feedback"),
    ],
)
def test_the_type_follows_from_what_is_said(text: str, type_: str) -> None:
    saying = found(text)
    assert saying is not None
    assert saying.type == type_


def test_a_request_to_remember_means_what_was_said_before_it_and_why_is_kept_apart() -> None:
    text = "Tankers never go to berth 3 until the fenders are replaced. They cracked in August."
    saying = found(text)
    assert saying is not None
    assert saying.text.startswith("Tankers never")
    assert [it.text for it in saying.following] == ["They cracked in August."]


def test_statements_of_one_message_that_are_no_reason_of_each_other_are_apart() -> None:
    message = (
        "Remember: from now on we read the tide from the gauge only. "
        "We decided to close berth 4 on 1 March 2027."
    )
    wanted = [(StatementKind.REQUEST, 1, 0), (StatementKind.DECISION, 1, 0)]
    statements = list(find_statements(message, DAY, is_answer=False))
    assert [(it.kind, len(it.sentences), len(it.following)) for it in statements] == wanted
    assert " ".join(it.text for it in statements) == message


def test_every_quote_is_in_the_message_letter_by_letter() -> None:
    for _, text in WORTH:
        saying = found(f"Hello.\n\n{text}\n")
        assert saying is not None
        assert all(quote in text for quote in saying.quotes)


def test_a_message_with_a_credential_is_skipped() -> None:
    assert found(f"{UV} The key of the port is lost.") is not None
    assert found(f"{UV} The key of the port is AKIAQ3T7ZK4M2PWX9JLD.") is None


def test_code_quotations_and_documents_are_not_what_the_user_says() -> None:
    assert found("```\n# from now on always use tabs\n```") is None
    assert found("> From now on write commands with uv.") is None
    assert found("Look at this.\n" + "From now on write everything twice. " * 80) is None


COAL = "Alpha ships load coal."
GRAIN = "Beta ships load grain."
IRON = "Gamma ships load iron."
WOOD = "Delta ships load wood."
PORT = "The port is Sines."
GATE = "The northern gate is blue."
UV = "From now on write commands with uv."
SMALL = "I prefer small commits with one change."
GERMAN = "I read German."


@pytest.mark.parametrize(
    ("text", "sentences", "reasons"),
    [
        # of the sentences before a bare request the last three are meant
        (f"{COAL} {GRAIN} {IRON} {WOOD} Remember that.", [GRAIN, IRON, WOOD], []),
        (f"{COAL} {GRAIN} Remember that. {IRON}", [COAL, GRAIN], []),
        # those that state nothing are left out
        (f"Is it so? {PORT} Ok. Remember that.", [PORT], []),
        # without one before it the next sentence is meant
        (f"Remember this. {PORT} {GATE}", [PORT], [GATE]),
        (f"Remember this. Is it so? {PORT}", None, None),
        # a request that says something itself may still mean what is before it
        (f"{PORT} Keep it in mind for the next audit of berths.", [PORT], []),
        (
            "Keep it in mind for the next audit of berths.",
            ["Keep it in mind for the next audit of berths."],
            [],
        ),
        (f"{PORT} Remember this: ships load coal.", ["Remember this: ships load coal."], []),
        (f"{PORT} Maybe remember that.", None, None),
        # at most two sentences of the same paragraph give the reason
        (f"{UV} {PORT} {GATE} {COAL}", [UV], [PORT, GATE]),
        (f"{UV}\n\n{PORT}", [UV], []),
        (f"{UV} {PORT} Run the tests of it. {GATE}", [UV], [PORT]),
        (f"{UV} {PORT} The gate is closed today. {GATE}", [UV], [PORT]),
        (f"{UV} {PORT} Is it so? {GATE}", [UV], [PORT]),
        (f"{PORT} {UV}", [UV], []),
        # a rule directly after a rule belongs to it
        (f"{UV} {SMALL} {PORT}", [UV, SMALL], [PORT]),
        (f"{UV}\n\n{SMALL}", [UV], []),
        (f"{UV} {PORT} {SMALL}", [UV], [PORT]),
        # unless it says that it is the reason
        (
            f"{UV} I prefer it because its lock file is small.",
            [UV],
            ["I prefer it because its lock file is small."],
        ),
        # two words are enough for a rule alone; others need a sentence beside them
        ("Never push.", ["Never push."], []),
        (GERMAN, None, None),
        (f"{GERMAN} {PORT}", None, None),
        (f"{GERMAN} {GATE}", [GERMAN, GATE], []),
        (
            f"{GATE} {GERMAN} The southern gate is red.",
            [GATE, GERMAN],
            ["The southern gate is red."],
        ),
        (f"{GERMAN} {PORT} {GATE}", None, None),
        (f"Is it so? Is it not? {GERMAN} {GATE}", [GERMAN, GATE], []),
    ],
)
def test_which_sentences_are_a_statement_and_which_its_reason(
    text: str, sentences: list[str] | None, reasons: list[str] | None
) -> None:
    saying = found(text)
    if sentences is None or reasons is None:
        assert saying is None
    else:
        assert saying is not None
        assert [it.text for it in saying.sentences] == sentences
        assert [it.text for it in saying.following] == reasons
        assert saying.quotes == (*sentences, *reasons)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        # the sentence before it objects, if it has at most twelve characters
        ("No. The alarm should go to the pilots, not to us.", StatementKind.CORRECTION),
        ("No, not now. The alarm should go to the pilots, not to us.", StatementKind.CORRECTION),
        ("No, not here. The alarm should go to the pilots, not to us.", None),
        # one after it does not
        ("The alarm should go to the pilots, not to us. No.", None),
        # an objection needs a norm, and a contrast or a reason
        ("No, the alarm goes to the pilots, not to us.", None),
        ("No, the alarm should go to the pilots.", None),
        ("No, the alarm should go there because pilots wait.", StatementKind.CORRECTION),
        ("No, only uv, not pip.", None),
        ("No, only uv commands, not pip.", StatementKind.CORRECTION),
        ("No, this time the alarm should go to pilots, not to us.", StatementKind.CORRECTION),
        ("No, from now on write commands with uv.", StatementKind.CORRECTION),
        # an order may come after three words that open a sentence
        ("Ok, well, so push twice whenever you commit.", StatementKind.PREFERENCE),
        ("We push twice whenever you commit.", None),
        # what is forbidden needs a reason
        ("Tankers must not enter berth 3 because the fenders cracked.", StatementKind.DECISION),
        ("You must not open berth 3 because the fenders cracked.", StatementKind.PREFERENCE),
        ("You must not open berth 3 today because the fenders cracked.", None),
        ("Tankers must not enter berth 3.", None),
        ("It must not call parse_head() because it leaks memory.", None),
        # a decision about code, or with an order, needs one too
        ("We decided to drop parse_head() and its callers.", None),
        ("We decided to drop parse_head() because it leaks memory.", StatementKind.DECISION),
        ("We decided to rename it because it lies, please go on.", StatementKind.DECISION),
        ("Heads up: parse_head() reads the whole file.", None),
    ],
)
def test_what_an_answer_to_the_agent_states(text: str, kind: StatementKind | None) -> None:
    saying = found(text, is_answer=True)
    assert (saying and saying.kind) == kind


@pytest.mark.parametrize(
    ("day", "is_deadline"),
    [
        ("2026-11-11", False),
        # tomorrow
        ("2026-11-13", False),
        ("2026-11-14", True),
        # 550 days ahead
        ("2028-05-14", True),
        ("2028-05-15", False),
    ],
)
def test_a_deadline_is_after_tomorrow_and_less_than_550_days_ahead(
    day: str, is_deadline: bool
) -> None:
    saying = found(f"The big audit is due on {day}.")
    assert (saying and saying.kind) == (StatementKind.DEADLINE if is_deadline else None)
    assert found(f"The big number {day} has many digits.") is None


@given(text=st.text(max_size=300), is_answer=st.booleans())
def test_any_message_is_judged_without_an_error_and_quoted_exactly(
    text: str, is_answer: bool
) -> None:
    message = f"{text} Remember this: the port is Sines."
    saying = next(find_statements(message, DAY, is_answer=is_answer), None)
    if saying is not None:
        assert all(quote in f"{text} Remember this: the port is Sines." for quote in saying.quotes)


@pytest.mark.parametrize("day", [date.min, date.max])
def test_a_transcript_may_tell_any_day(day: date) -> None:
    """What was said is found all the same."""
    message = "From now on, no merges by Friday. The freeze begins on 30 November, next week."
    assert next(find_statements(message, day, is_answer=True), None)
