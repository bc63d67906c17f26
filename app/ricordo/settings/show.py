"""The settings that hold, as a settings file that explains itself."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict

from ricordo.settings.explain import explanations
from ricordo.settings.keymap import effective_keys
from ricordo.settings.known import Known
from ricordo.settings.remark import Remark
from ricordo.settings.settings import CURATE, ENGINE, Settings
from ricordo.settings.toml_text import Value, toml_key, toml_value

_EXAMPLE = ('# [memory."~/path/to/memory"]', '# rules.stale = "off"')
_UNCOMMENTED = re.compile(r"^(?=[^#\[\n])", re.MULTILINE)


def effective_toml(settings: Settings, known: Known, remarks: Sequence[Remark]) -> str:
    """Return everything that holds as TOML: explained, and marked where the file sets it."""
    refused = {remark.key for remark in remarks}
    lines = {
        ".".join(path): line
        for path, line in settings.lines.items()
        if toml_key(path) not in refused
    }
    parts = (_remarks(remarks), *_keys(settings, lines), *_tables(settings, known, lines))
    return "\n".join("\n".join(part) + "\n" for part in (*parts, _memories(settings)) if part)


def template(known: Known) -> str:
    """Return a settings file that sets nothing and shows everything that can be set."""
    return _UNCOMMENTED.sub("# ", effective_toml(Settings(), known, ()))


def _remarks(remarks: Iterable[Remark]) -> list[str]:
    return [f"#! {remark}" for remark in remarks]


def _keys(settings: Settings, lines: Mapping[str, int]) -> Iterator[list[str]]:
    for key in ("theme", "editor", "review"):
        yield [*_comment(key), _assign(key, getattr(settings, key), lines.get(key, 0))]


def _tables(settings: Settings, known: Known, lines: Mapping[str, int]) -> Iterator[list[str]]:
    """Yield the tables in which every known name has a value."""
    curate, engine = asdict(settings.curate), asdict(settings.engine)
    keys = effective_keys(known.actions or (), settings.keymap)
    tables: Mapping[str, tuple[Mapping[str, Value], Iterable[str]]] = {
        "keymap": ({name: _alone(value) for name, value in keys.items()}, settings.keymap),
        "rules": ({**known.rules, **settings.rules}, settings.rules),
        "curate": (curate, dict(curate.items() - asdict(CURATE).items())),
        "engine": (engine, dict(engine.items() - asdict(ENGINE).items())),
        "thresholds": ({**known.thresholds, **settings.thresholds}, settings.thresholds),
    }
    for table, (values, own) in tables.items():
        yield [
            *_comment(table),
            f"[{table}]",
            *(
                _assign(name, value, _line(lines, table, name) if name in own else 0)
                for name, value in values.items()
            ),
        ]


def _line(lines: Mapping[str, int], table: str, name: str) -> int:
    """Return where `name` is set; inside an inline table that is where the table stands."""
    return lines.get(f"{table}.{name}") or lines.get(table, 0)


def _memories(settings: Settings) -> list[str]:
    written = [*_comment("memory"), "#", *_EXAMPLE]
    for path, own in settings.memory.items():
        for table, values in (("rules", own.rules), ("thresholds", own.thresholds)):
            if values:
                written += ["", f"[{toml_key(('memory', path, table))}]"]
                written += (_assign(name, value, 0) for name, value in values.items())
    return written


def _assign(name: str, value: Value, line: int) -> str:
    mark = f"  # set in line {line}" if line else ""
    return f"{toml_key(name.split('.'))} = {toml_value(value)}{mark}"


def _alone(value: Value) -> Value:
    """Return the one item of a list that has one."""
    return value[0] if isinstance(value, tuple) and len(value) == 1 else value


def _comment(key: str) -> list[str]:
    return [f"# {line}" for line in textwrap.wrap(explanations(Settings)[key], 96)]
