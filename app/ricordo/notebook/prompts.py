"""Which prompts are in use, as `ricordo config` explains it."""

from __future__ import annotations

from collections.abc import Iterator

from ricordo.curator.prompts import NAMES, load_prompt, own_file
from ricordo.notebook.surroundings import Surroundings
from ricordo.resources import data_file
from ricordo.text import visible

_EXPLAINED = (
    "# Prompts: what a model or a program is told to do. A file of yours goes before ours; its",
    "# version, as ledger and history name it, ends with a digest of its text.",
)


def prompt_lines(surroundings: Surroundings) -> Iterator[str]:
    """Yield what each prompt is and where it lies, as comments of TOML, remarks marked."""
    yield from _EXPLAINED
    for name in NAMES:
        prompt = load_prompt(name, surroundings.config)
        own = visible(own_file(name, surroundings.config))
        if prompt.remark:
            yield f"#! {prompt.remark}"
        if prompt.is_own:
            yield f"# {name} = {prompt.version}: {own}"
            continue
        ours = visible(data_file(f"curator/prompts/{prompt.version}.md"))
        yield f"# {name} = {prompt.version}: ours, {ours}; yours would be {own}"
