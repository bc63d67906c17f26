"""The documentation of the rules, made of their pages.

`python -m tools.rule_page > docs/rules.md` writes it.
"""

from __future__ import annotations

from collections.abc import Sequence

from ricordo.lint.rule_page import GROUPS, RulePage, load_rule_pages
from ricordo.services.rule_help import render_rule

_INTRODUCTION = """
# Rules

<!-- Made by `python -m tools.rule_page`: change app/ricordo/lint/rule_pages/, not this. -->

`ricordo lint` and the notebook report findings of these rules. `ricordo rule NAME` prints the same
as this page, and so does *explain* in the palette of the notebook (`ctrl+p`) for the finding under
the cursor. Every example is run by a test: the bad one makes the rule report exactly the lines that
are shown, the good one makes no rule report an error or a warning.

An *error* is something that an agent gets wrong or does not get at all. A *warning* is likely to
mislead it. An *info* is worth knowing. `ricordo lint` exits with 1 if there is an error;
`--fail-on` sets another severity.

Errors and warnings are what "needs attention": the number is the same on screen, in `ricordo lint`,
`list` and `--json`. A rule that fires on more than a fifth of a memory, on size or age three times,
or on the form of eight notes, counts as one finding with its examples: its fixes are reviewed
together, and dismissing it dismisses the rule in this memory. Each note still shows its own.

What is usual in a memory is no fault. Ricordo learns it from the notes: where they have their
title, which fields and link prefixes, which folders hold no pages; in a wiki also from its
`SCHEMA.md`, `CLAUDE.md` or `AGENTS.md`. `ricordo config conventions` shows what it learned; `--set`
corrects it.

[fixes.md](fixes.md) says what makes an automatic fix safe.

The table `[rules]` of the settings gives a rule another severity or turns it off, for all memories
or for one; `[thresholds]` sets its limits. [settings.md](settings.md) explains both.
"""


def rules_page() -> str:
    """Return the page in Markdown."""
    pages = load_rule_pages()
    parts = [_INTRODUCTION.strip(), _table(pages)]
    for group in GROUPS:
        parts.append(f"## {group}")
        for page in pages:
            if page.group == group:
                parts += [f"### {page.name}", render_rule(page)]
    return "\n\n".join(parts) + "\n"


def _table(pages: Sequence[RulePage]) -> str:
    rows = [
        f"| [{page.name}](#{page.name}) | {page.severity.word} | {page.summary} "
        f"| {'yes' if page.fix else '–'} |"
        for page in pages
    ]
    return "\n".join(["| rule | severity | what it finds | fix |", "|---|---|---|---|", *rows])


if __name__ == "__main__":
    print(rules_page(), end="")
