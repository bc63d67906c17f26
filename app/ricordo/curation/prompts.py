"""The prompts: what a model is told to do, as files that have a version and that the person can
put a file of their own before.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from typing import Any

from ricordo.resources import data_text
from ricordo.secrets import mask
from ricordo.storage.foreign_file import read_plain_file
from ricordo.text import visible

CURATE = "curate"
JUDGE = "judge"
HANDOFF = "handoff"
NAMES = (CURATE, JUDGE, HANDOFF)
TOOLS: Mapping[str, str] = {CURATE: "propose", JUDGE: "judge", HANDOFF: "draft"}
"""The tool that each has to speak of: without it a model that cannot be made to use it does not."""
FOLDER = "prompts"
_LARGEST = 64 * 1024


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a model is told to do."""

    version: str
    """What names it in history and ledger: `curate-3`, or `curate-own-` and a digest."""
    text: str
    remark: str = ""
    """What the person should know of a file of theirs."""

    @property
    def is_own(self) -> bool:
        """Whether it is the person's."""
        return "-own-" in self.version


def load_prompt(name: str, config: str = "") -> Prompt:
    """Return the prompt `name`: the person's, from their settings in the directory `config`, where
    it can be used, else ours.
    """
    own, remark = _own(name, config)
    if own:
        return Prompt(f"{name}-own-{digest(own)[:8]}", own, remark)
    ours = our_prompt(name, versions()[name]["current"])
    return Prompt(ours.version, ours.text, remark)


def our_prompt(name: str, number: int) -> Prompt:
    """Return a version of a prompt that ships with Ricordo."""
    version = f"{name}-{number}"
    return Prompt(version, data_text(f"curation/prompts/{version}.md").strip())


def own_file(name: str, config: str) -> str:
    """Return where the person's own text of a prompt lies; it need not exist."""
    return os.path.join(config, FOLDER, f"{name}.md")


@cache
def versions() -> Mapping[str, Mapping[str, Any]]:
    """Return what is known of our versions, by prompt: which is `current`, and their digests by
    their numbers.
    """
    return tomllib.loads(data_text("curation/prompts/versions.toml"))


def digest(text: str) -> str:
    """Return what tells one text of a prompt from another."""
    return sha256(text.encode("utf-8", "replace")).hexdigest()


def _own(name: str, config: str) -> tuple[str, str]:
    """Return the person's text, "" where it cannot be used, and what is to be said of it."""
    path = own_file(name, config)
    if not config or not os.path.lexists(path):
        return "", ""
    raw = read_plain_file(path, _LARGEST + 1, follow=True)
    try:
        text = (raw or b"").decode("utf-8-sig").strip()
    except UnicodeDecodeError:
        text = ""
    if raw is None or len(raw) > _LARGEST or not text:
        why = f"is no plain UTF-8 text of at most {_LARGEST // 1024} KB"
        return "", f"{visible(path)} {why}. It is passed over."
    masked = mask(text)
    if masked != text:
        return masked, f"{visible(path)} holds what looks like a credential: it is not sent."
    if TOOLS[name] not in text:
        return text, f"{visible(path)} does not speak of the tool `{TOOLS[name]}`."
    return text, ""
