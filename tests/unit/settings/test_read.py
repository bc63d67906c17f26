from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as profile
from hypothesis import strategies as st

from ricordo.settings.keymap import ActionKeys
from ricordo.settings.reader import SettingsNames, read_settings
from ricordo.settings.settings import (
    CurateSettings,
    EngineSettings,
    MemorySettings,
    Settings,
    find_settings_file,
)

MAIN, JUDGE = frozenset(("main",)), frozenset(("judge",))
KNOWN = SettingsNames(
    rules={"stale": "warning", "dead-link": "error"},
    thresholds={"stale.retention": 0.5, "oversized-note.bytes": 8192},
    largest={"stale.retention": 1},
    actions=(
        ActionKeys("help", ("question_mark",), MAIN | JUDGE),
        ActionKeys("source", ("s",), MAIN),
        ActionKeys("curate", ("c",), MAIN),
        ActionKeys("yes", ("a",), JUDGE),
    ),
    themes=("ricordo-dark", "manuscript"),
    home="/home/ada",
)


def read(config: Path, text: str) -> tuple[Settings, list[str]]:
    (config / "settings.toml").write_text(text, encoding="utf-8")
    settings, warnings = read_settings(str(config), KNOWN)
    return settings, [str(warning).removeprefix(f"{config}/settings.toml") for warning in warnings]


def test_without_a_file_everything_has_its_default(tmp_path: Path) -> None:
    assert read_settings(str(tmp_path / "none"), KNOWN) == (Settings(), [])


def test_everything_that_can_be_set_is_read(tmp_path: Path) -> None:
    settings, warnings = read(
        tmp_path,
        """
        theme = "manuscript"
        editor = "code --wait"
        keymap = { help = "f1", source = ["S", "ctrl+u"], curate = [] }
        rules.stale = "off"
        thresholds.stale.retention = 1
        curate = { hour = 2, quiet = 0 }
        [engine]
        use = "anthropic"
        model = "qwen3"
        server = "http://127.0.0.1:11434/"
        command = ["claude", "-p", "--model", "opus"]
        sent = 10
        month = 1
        [memory."~/wiki/"]
        rules = { dead-link = "info" }
        thresholds."stale.retention" = 0.25
        """,
    )
    assert warnings == []
    assert settings == Settings(
        theme="manuscript",
        editor="code --wait",
        keymap={"help": ("f1",), "source": ("S", "ctrl+u"), "curate": ()},
        rules={"stale": "off"},
        thresholds={"stale.retention": 1.0},
        curate=CurateSettings(hour=2, day=24, quiet=0),
        engine=EngineSettings(
            use="anthropic",
            model="qwen3",
            server="http://127.0.0.1:11434/",
            command=("claude", "-p", "--model", "opus"),
            sent=10,
            month=1,
        ),
        memory={"/home/ada/wiki": MemorySettings({"dead-link": "info"}, {"stale.retention": 0.25})},
    )


def test_settings_of_a_memory_override_those_of_all(tmp_path: Path) -> None:
    everywhere, own = tmp_path / "other", tmp_path / "wiki"
    settings, _ = read(
        tmp_path,
        f"""
        rules = {{ stale = "off", dead-link = "info" }}
        [memory."{own}"]
        rules.stale = "error"
        """,
    )
    assert settings.for_memory(str(own)).rules == {"stale": "error", "dead-link": "info"}
    assert settings.for_memory(str(everywhere)).rules == {"stale": "off", "dead-link": "info"}


def test_a_memory_is_known_by_its_link_too(tmp_path: Path) -> None:
    (tmp_path / "wiki").mkdir()
    (tmp_path / "link").symlink_to("wiki")
    settings, _ = read(tmp_path, f'[memory."{tmp_path}/link"]\nrules.stale = "off"\n')
    assert settings.for_memory(str(tmp_path / "wiki")).rules == {"stale": "off"}


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        ("\nthem = 1", ":2: them: There is no such key. Did you mean “theme”?"),
        (
            'theme = "manuscrip"',
            ":1: theme: There is no theme “manuscrip”. Did you mean “manuscript”?",
        ),
        ("theme = 1", ":1: theme: This has to be the name of a theme."),
        (
            'editor = "vi \'"',
            ":1: editor: This has to be a command; check that every quote is closed.",
        ),
        (
            '[rules]\n\nstael = "off"',
            ":3: rules.stael: There is no such rule. Did you mean “stale”?",
        ),
        (
            'rules.stale = "warn"',
            ":1: rules.stale: This has to be one of off, error, warning, info."
            " Did you mean “warning”?",
        ),
        ("rules = 1", ":1: rules: This has to be a table."),
        ("curate = 1", ":1: curate: This has to be a table."),
        (
            "curate.hour = 0",
            ":1: curate.hour: This has to be a whole number, 1 to 10,000.",
        ),
        (
            "[curate]\nhuor = 1",
            ":2: curate.huor: There is no such key. Did you mean “hour”?",
        ),
        (
            '[engine]\nmodle = "x"',
            ":2: engine.modle: There is no such key. Did you mean “model”?",
        ),
        (
            'engine.use = "antropic"',
            ":1: engine.use: This has to be one of rules, anthropic, command."
            " Did you mean “anthropic”?",
        ),
        ('engine.model = "a\\u0007"', ":1: engine.model: This has to be the name of a model."),
        ('engine.model = ""', ":1: engine.model: This has to be the name of a model."),
        *(
            (
                f"engine.server = {server}",
                ":1: engine.server: This has to be an address such as http://127.0.0.1:11434,"
                " without a password.",
            )
            for server in ('"ollama"', '"https://ana:key@host"', '"http://h:99999"', "[]")
        ),
        *(
            (
                f"engine.command = {command}",
                ':1: engine.command: This has to be a list of words, such as ["claude", "-p"].',
            )
            for command in ('"claude -p"', "[1]", '[""]', '["a\\u0000"]')
        ),
        *(
            (
                f"engine.{cap} = {number}",
                f":1: engine.{cap}: This has to be a whole number, 1 to 1,000,000,000.",
            )
            for cap, number in (("sent", "0"), ("written", "1.5"), ("day", "true"))
        ),
        (
            "[thresholds]\nstale.retentoin = 1",
            ":2: thresholds.stale.retentoin: There is no such threshold."
            " Did you mean “stale.retention”?",
        ),
        (
            "thresholds.stale.retention = nan",
            ":1: thresholds.stale.retention: This has to be a number, 0 to 1.",
        ),
        (
            "thresholds.oversized-note.bytes = true",
            ":1: thresholds.oversized-note.bytes: This has to be a number, 0 or more.",
        ),
        (
            '[memory."wiki"]',
            ":1: memory.wiki: This has to be an absolute path, or one that begins with ~.",
        ),
        (
            '[memory."/wiki"]\nrule.stale = "off"',
            ':2: memory."/wiki".rule: There is no such key. Did you mean “rules”?',
        ),
        ('keymap.hlep = "f1"', ":1: keymap.hlep: There is no such action. Did you mean “help”?"),
        (
            'keymap.help = "esc"',
            ":1: keymap.help: There is no key “esc”. Did you mean “escape”?",
        ),
        ("keymap.help = 1", ":1: keymap.help: This has to be a key, or a list of keys."),
        ("a = 1\nb == 2", ":2: This is not TOML: Invalid value."),
        ("x = " + "[" * 20000, ": This is nested too deeply."),
    ],
)
def test_an_invalid_value_is_ignored_with_a_warning_that_has_its_line(
    tmp_path: Path, text: str, warning: str
) -> None:
    settings, warnings = read(tmp_path, text)
    assert warning in warnings
    assert settings == Settings(memory=settings.memory)


def test_one_fault_leaves_the_rest_in_place(tmp_path: Path) -> None:
    settings, warnings = read(tmp_path, 'theme = 1\neditor = "vi"\nrules.stale = "off"')
    assert len(warnings) == 1
    assert (settings.editor, settings.rules) == ("vi", {"stale": "off"})


def test_a_warning_has_no_control_characters(tmp_path: Path) -> None:
    _, warnings = read(tmp_path, 'theme = "\\u001b[31m\\n"')
    assert warnings[0].isprintable()


def test_bytes_that_are_no_text_give_a_warning(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_bytes(b'theme = "\xff"')
    settings, warnings = read_settings(str(tmp_path), KNOWN)
    assert settings == Settings()
    assert [warning.message for warning in warnings] == ["This is not UTF-8, from byte 10 on."]


def test_a_byte_order_mark_and_carriage_returns_are_fine(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_bytes(b'\xef\xbb\xbftheme = "manuscript"\r\n')
    assert read_settings(str(tmp_path), KNOWN) == (Settings(theme="manuscript"), [])


def test_a_pipe_or_a_directory_in_place_of_the_file_does_not_stop_the_start(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "settings.toml")
    _, warnings = read_settings(str(tmp_path), KNOWN)
    assert [warning.message for warning in warnings] == [
        "This cannot be read: it is not a plain file."
    ]
    (tmp_path / "folder" / "settings.toml").mkdir(parents=True)
    assert read_settings(str(tmp_path / "folder"), KNOWN)[0] == Settings()


def test_thousands_of_faults_give_a_hundred_warnings(tmp_path: Path) -> None:
    _, warnings = read(tmp_path, "\n".join(f"key{number} = 1" for number in range(4000)))
    assert len(warnings) == 100


def test_without_a_screen_the_keymap_is_not_judged(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text('keymap.any = "f1"')
    assert read_settings(str(tmp_path), KNOWN._replace(actions=None)) == (Settings(), [])


WORDS = st.sampled_from(
    [*'[]{}=.,"\n #1', "theme", "keymap", "rules", "memory", "stale", '"off"', '"/a"', "help"]
)


@profile(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.one_of(st.binary(), st.lists(WORDS).map(lambda words: "".join(words).encode())))
def test_no_bytes_stop_the_start(tmp_path: Path, raw: bytes) -> None:
    Path(find_settings_file(str(tmp_path))).write_bytes(raw)
    settings, warnings = read_settings(str(tmp_path), KNOWN)
    assert isinstance(settings, Settings)
    assert all(str(warning) for warning in warnings)
