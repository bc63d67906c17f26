"""A memory written to take over the terminal of whoever looks at it."""

from __future__ import annotations

from collections.abc import Mapping

from tests.support.builders import note_text

MARKUP = (
    "[/]",
    "[/x]",
    "[@click=app.quit]quit[/]",
    "[link=https://x.org]l[/link]",
    "[b]",
    "[a=b c=",
)
LONG = "x" * 200
WIDE = "港の潮汐表 🌊 👩\u200d👩\u200d👧 e\u0301"

_CODES = [code for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\t\n"]
CONTROLS: Mapping[str, str] = {
    **{
        f"{code:02x}": chr(code)
        for code in (*range(0x20), *range(0x7F, 0xA0))
        if code not in (9, 10)
    },
    "osc52": "\x1b]52;c;aGVsbG8=\x07",
    "osc0": "\x1b]0;title\x1b\\",
    "csi": "\x1b[2J\x1b[31m",
    "dcs": "\x1bPq#0\x1b\\",
    "bidi": "\u202e",
    "isolate": "\u2066",
    "zero": "\u200b",
    "tag": "\U000e0041",
    "mark": "\ufeff",
}
"""What no terminal may be given, by the name that marks it."""


def marked(name: str) -> str:
    """Return a control between marks that say which one it is: the marks are looked for."""
    return f"Q{name}q{CONTROLS[name]}p{name}P"


def notes() -> dict[str, str | bytes]:
    """Return a memory in which every place of a note holds something hostile."""
    files: dict[str, str | bytes] = {"MEMORY.md": _index()}
    for name in CONTROLS:
        quoted = marked(name).replace("\x00", "").replace("\r", "")
        files[f"note_{name}.md"] = (
            f"---\nname: {quoted}\ndescription: {quoted}\nmetadata:\n  type: {quoted}\n---\n\n"
            + _body(marked(name))
        )
        files[f"plain_{name}.md"] = _body(marked(name))
    for number, markup in enumerate(MARKUP):
        files[f"markup_{number} {markup.replace('/', '_')}.md"] = note_text(
            f"'{markup}'", _body(markup), f"'{markup}'", f"'{markup}'"
        )
    return {**files, **odd_names()}


def odd_names() -> dict[str, str | bytes]:
    """Return notes whose file names are no names."""
    return {
        "line\nbreak.md": "A newline is in the name.\n",
        "esc\x1b[31mred.md": "An escape is in the name.\n",
        "latin\udce9.md": "The name is not UTF-8.\n",
        "-rf.md": "A name like an option.\n",
        "$(touch x).md": "A name like a command.\n",
        f"{LONG}.md": "A long name.\n",
        f"{WIDE}.md": "A wide name.\n",
        "not_utf8.md": b"---\nname: caf\xe9\n---\nRaw \x9b31m bytes \xff\xfe.\n",
    }


def _index() -> str:
    lines = [f"- [{marked(name)}](note_{name}.md) — {marked(name)}\n" for name in CONTROLS]
    lines += [f"- [{markup}](markup_{n}.md) — {markup}\n" for n, markup in enumerate(MARKUP)]
    return f"# {marked('csi')} [/]\n\n{marked('osc52')}\n\n" + "".join(lines)


def _body(text: str) -> str:
    return (
        f"# {text}\n\n{text} and *{text}* and `{text}`\n\n- {text}\n\n> {text}\n\n"
        f"```{text}\n{text}\n```\n\n[{text}](note_csi.md) [l]({text}) [[{text}]] <b>{text}</b>\n\n"
        f"| {text} | b |\n|---|---|\n| {text} | c |\n\n<!-- {text} -->\n"
        f"\nThe password is {text}; tests pass, done before last Thursday, see `src/{text}.py`.\n"
    )
