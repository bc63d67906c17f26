"""The pages of rules as JSON, as lines for a terminal and as Markdown."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ricordo import HOME_PAGE
from ricordo.lint.rule_page import (
    ENOUGH,
    GROUPS,
    Example,
    RulePage,
    abridge_repeats,
    compute_interval,
    expand_repeats,
)
from ricordo.text import make_visible

_INDENT = "  "
_NAME = 23
"""Cells of the column of names in the list of rules."""
_CODE = re.compile(r"`[^`]*`")
_GLUE = "\u00a0"
"""Replaces the blanks of code while a text is wrapped."""
_FIXING = (
    "`F` shows the fix as a diff. `ricordo lint --fix` makes it if it is safe, `--fix --unsafe` in "
    "any case."
)
_DISMISSAL = (
    "`-` in the notebook and `ricordo lint --dismiss ID` dismiss one finding until its cause "
    "changes. `settings.toml`, which `ricordo config edit` opens, sets the whole rule, for all "
    "memories or for one:"
)


def get_url(name: str) -> str:
    """Return the address of the page of the rule `name`."""
    return f"{HOME_PAGE}/blob/main/docs/rules.md#{name}"


def describe_rule(page: RulePage, set_to: str = "") -> dict[str, Any]:
    """Return a page as `rule --json` prints it. `set_to` is the severity in the settings, or `off`;
    "" where they do not name the rule.
    """
    return {
        "name": page.name,
        "severity": page.severity.word,
        "set_to": set_to or None,
        "group": page.group,
        "summary": page.summary,
        "checks": page.checks,
        "why": page.why,
        "dismiss": page.dismiss,
        "resolve": page.resolve,
        "fix": page.fix or None,
        "bad": _describe_example(page.bad),
        "good": _describe_example(page.good),
        "thresholds": dict(page.thresholds),
        "precision": page.precision,
        "url": get_url(page.name),
    }


def _describe_example(example: Example) -> dict[str, Any]:
    return {
        "memory": {path: expand_repeats(text) for path, text in example.memory.items()},
        "removed": list(example.removed),
        "encodings": dict(example.encodings),
        "project": dict(example.project),
        "today": example.today.isoformat() if example.today else None,
        "read": None if example.read is None else list(example.read),
        "reports": list(example.reports),
    }


def format_rule(page: RulePage, width: int, set_to: str = "") -> Iterator[str]:
    """Yield a page as lines of at most `width` cells, but for the text of files. `set_to` as in
    `describe_rule`.
    """
    yield from textwrap.wrap(f"{page.name}: {page.summary}", width)
    yield _format_facts(page, set_to)
    for title, text in list_sections(page):
        yield from ("", title)
        for number, paragraph in enumerate(text.split("\n\n")):
            yield from [""] if number else []
            yield from _wrap(paragraph, width)
    for title, example in (("Bad", page.bad), ("Good", page.good)):
        yield from ("", title)
        for remark in _list_circumstances(page, example):
            yield from _wrap(remark, width)
        for name, text in _list_files(page, example):
            yield f"{_INDENT}{name}"
            yield from (f"{_INDENT}│ {line}".rstrip() for line in text.split("\n"))
        for report in example.reports:
            yield from _wrap(f"→ {report}", width)
    yield from ("", "Turn it off")
    yield from _wrap(_DISMISSAL, width)
    yield from (f"{_INDENT}│ {line}".rstrip() for line in _list_settings(page))
    yield from ("", f"More: {get_url(page.name)}")


def _wrap(text: str, width: int) -> list[str]:
    """Return a paragraph in indented lines; code is not broken."""
    glued = _CODE.sub(lambda match: match[0].replace(" ", _GLUE), text)
    rows = textwrap.wrap(
        glued,
        width,
        initial_indent=_INDENT,
        subsequent_indent=_INDENT,
        break_on_hyphens=False,
        break_long_words=False,
    )
    return [row.replace(_GLUE, " ") for row in rows]


def format_rules(pages: Sequence[RulePage], set_to: Mapping[str, str], width: int) -> Iterator[str]:
    """Yield a table of all rules as lines of at most `width` cells; `set_to` is by name what the
    settings set a rule to.
    """
    for group in GROUPS:
        yield group
        for page in pages:
            if page.group == group:
                severity = set_to.get(page.name) or page.severity.word
                mark = "*" if page.name in set_to else ""
                start = f"{_INDENT}{page.name:<{_NAME}}{severity + mark:<9}"
                yield from textwrap.wrap(
                    page.summary, width, initial_indent=start, subsequent_indent=" " * len(start)
                )
        yield ""
    if set_to:
        yield "* by your settings"
    yield "`ricordo rule NAME` explains a rule."


def list_sections(page: RulePage) -> Iterator[tuple[str, str]]:
    """Yield the texts of a page, each with its title."""
    yield "What it checks", page.checks
    yield "Why it matters", page.why
    yield "When to dismiss it", page.dismiss
    yield "What to do", page.resolve
    yield "Automatic fix", _describe_fix(page)
    yield "Precision", _describe_judged(page)


_JUDGED_ON = {
    "sealed": "On memories that no rule was changed for",
    "tune": "On memories that rules were corrected on",
}


def _describe_judged(page: RulePage) -> str:
    """Return what readers said of the findings of a rule on real memories, with numbers."""
    kind = "findings of the severity info" if page.is_info_judged else "errors and warnings"
    sentences: list[str] = []
    for use, judged in page.judged.items():
        low, high = compute_interval(judged.right, judged.number)
        sentences.append(
            f"{_JUDGED_ON[use]}, readers judged {judged.number:,} of its {kind}:"
            f" {judged.wanted:,} right and wanted, {judged.useless:,} right but of no use,"
            f" {judged.false:,} false; right {judged.right / judged.number:.0%}"
            f" (at 95 %: {low:.0%} to {high:.0%})."
        )
    if not sentences:
        return "None of its findings on real memories was judged."
    if page.precision is None:
        sentences.append(f"Fewer than {ENOUGH} of the first kind say little.")
    return " ".join(sentences)


def _describe_fix(page: RulePage) -> str:
    if not page.fix:
        return "None."
    # a fix that asks first says itself how it is made
    return page.fix if "`--fix`" in page.fix else f"{page.fix}\n\n{_FIXING}"


def render_rule(page: RulePage) -> str:
    """Return a page as Markdown, without its name."""
    parts = [f"**{page.severity.word}** · {page.summary}"]
    for title, text in list_sections(page):
        first, *others = text.split("\n\n")
        parts += [f"**{title}.** {first}", *others]
    for title, example in (("Bad", page.bad), ("Good", page.good)):
        parts.append(" ".join([f"**{title}.**", *_list_circumstances(page, example)]))
        for name, text in _list_files(page, example):
            parts += [f"`{name}`", f"```{_get_language(name)}\n{text}\n```"]
        parts += [f"Reported: `{report}`" for report in example.reports]
    settings = "\n".join(_list_settings(page))
    parts += [f"**Turn it off.** {_DISMISSAL}", f"```toml\n{settings}\n```"]
    return "\n\n".join(parts)


def _format_facts(page: RulePage, set_to: str) -> str:
    severity = page.severity.word
    if set_to and set_to != severity:
        severity = f"{set_to} by your settings (default: {severity})"
    return f"{severity} · {page.group.lower()}"


def _list_circumstances(page: RulePage, example: Example) -> Iterator[str]:
    """Yield what the result depends on besides the files that are shown, a sentence each."""
    if example.today is not None:
        yield f"Today is {example.today:%-d %B %Y}."
    if example.read is not None:
        yield f"The only known session has read {_join(example.read)}."
    for path, encoding in example.encodings.items():
        yield f"The encoding of `{path}` is {encoding}."
    if example.removed:
        yield f"{_join(example.removed)} is retired."
    others = [path for path in example.memory if not _is_relevant(page, path)]
    if others:
        yield f"The memory also has {_join(others)}."


def _join(paths: Sequence[str]) -> str:
    return " and ".join(f"`{path}`" for path in paths)


def _list_files(page: RulePage, example: Example) -> Iterator[tuple[str, str]]:
    """Yield the files of an example that matter, those of the project last: name and visible
    text.
    """
    for path, text in example.memory.items():
        if _is_relevant(page, path):
            yield path, _show(text)
    # the project is the same in both examples
    for path, text in example.project.items() if example.reports else ():
        yield f"{path} of the project", _show(text)


def _is_relevant(page: RulePage, path: str) -> bool:
    """Return whether a file of the memory is reported or differs between the two examples."""
    is_reported = any(path in report for report in page.bad.reports)
    return is_reported or path in page.good.memory or path in page.good.removed


def _show(text: str) -> str:
    return make_visible(abridge_repeats(text).rstrip("\n"))


def _get_language(name: str) -> str:
    return "python" if ".py" in name else "markdown"


def _list_settings(page: RulePage) -> Iterator[str]:
    yield "[rules]"
    yield f'{page.name} = "off"  # or error, warning, info'
    if page.thresholds:
        yield from ("", "[thresholds]  # with the defaults")
        yield from (f"{key} = {value:g}" for key, value in page.thresholds.items())
    yield from ("", '[memory."PATH"]', f'rules.{page.name} = "off"')
