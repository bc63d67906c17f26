"""Reading the table `[engine]`: what proposes changes, and the most that it may spend."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from ricordo.settings.settings import ENGINE, ENGINES, MOST_TOKENS, EngineSettings, keys_of
from ricordo.settings.source import Source

_TABLE = "engine"
_LONGEST = 200
"""Characters of a model's name."""
_MOST_WORDS = 200


def read_engine(source: Source) -> EngineSettings:
    """Return what the table sets; what in it cannot be used is remarked on, and has its default."""
    table = source.table((_TABLE,))
    source.expect((_TABLE,), keys_of(EngineSettings))
    return EngineSettings(
        use=_use(source, table.get("use", ENGINE.use)),
        model=_model(source, table.get("model", ENGINE.model)),
        server=_server(source, table.get("server", ENGINE.server)),
        command=_command(source, table.get("command", [])),
        **{name: _cap(source, name, table) for name in ("sent", "written", "day", "month")},
    )


def _use(source: Source, value: Any) -> str:
    if value in ENGINES:
        return str(value)
    word = value if isinstance(value, str) else ""
    source.tell((_TABLE, "use"), f"This has to be one of {', '.join(ENGINES)}.", word, ENGINES)
    return ENGINE.use


def is_model(text: str) -> bool:
    """Say whether a text can be the name of a model."""
    return bool(text.strip()) and text.isprintable() and len(text) <= _LONGEST


def _model(source: Source, value: Any) -> str:
    if isinstance(value, str) and is_model(value):
        return value.strip()
    source.tell((_TABLE, "model"), "This has to be the name of a model.")
    return ENGINE.model


def _server(source: Source, value: Any) -> str:
    if value == "" or (isinstance(value, str) and _is_address(value)):
        return value.strip() if value else ""
    message = "This has to be an address such as http://127.0.0.1:11434, without a password."
    source.tell((_TABLE, "server"), message)
    return ENGINE.server


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text.strip())
        port = parts.port
    except ValueError:
        return False
    is_plain = text.isprintable() and "@" not in parts.netloc and port != 0
    return parts.scheme in ("http", "https") and bool(parts.hostname) and is_plain


def _command(source: Source, value: Any) -> tuple[str, ...]:
    is_list = isinstance(value, list) and len(value) <= _MOST_WORDS
    is_line = is_list and all(isinstance(it, str) and "\0" not in it for it in value)
    if is_line and (not value or value[0].strip()):
        return tuple(value)
    message = 'This has to be a list of words, such as ["claude", "-p"].'
    source.tell((_TABLE, "command"), message)
    return ENGINE.command


def _cap(source: Source, name: str, table: Any) -> int:
    default: int = getattr(ENGINE, name)
    value = table.get(name, default)
    if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MOST_TOKENS:
        return value
    source.tell((_TABLE, name), f"This has to be a whole number, 1 to {MOST_TOKENS:,}.")
    return default
