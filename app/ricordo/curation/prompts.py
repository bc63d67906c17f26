"""The prompts: versioned files with the instructions to a model, which the user can override."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from typing import Any

import tomli

from ricordo.resources import read_data_text
from ricordo.secrets import mask
from ricordo.storage.foreign_file import read_plain_file
from ricordo.text import make_visible

CURATE = "curate"
CHECK = "check"
JUDGE = "judge"
HANDOFF = "handoff"
NAMES = (CURATE, CHECK, JUDGE, HANDOFF)
TOOLS: Mapping[str, str] = {
    CURATE: "propose",
    CHECK: "report",
    JUDGE: "judge",
    HANDOFF: "draft",
}
"""The tool that each prompt has to mention: a model that cannot be forced would not use it else."""
FOLDER = "prompts"
_LARGEST = 64 * 1024


@dataclass(frozen=True, slots=True)
class Prompt:
    """The instructions to a model."""

    version: str
    """Its name in history and ledger: `curate-3`, or `curate-own-` and a digest."""
    text: str
    warning: str = ""
    """A warning about the user's own file; "" for none."""

    @property
    def is_own(self) -> bool:
        """Whether it is the user's own."""
        return "-own-" in self.version


def load_prompt(name: str, config: str = "") -> Prompt:
    """Return the prompt `name`: the user's own from the directory `config` where it is usable, else
    the built-in one.
    """
    own, warning = _read_own(name, config)
    if own:
        return Prompt(f"{name}-own-{compute_digest(own)[:8]}", own, warning)
    builtin = load_shipped_prompt(name, load_versions()[name]["current"])
    return Prompt(builtin.version, builtin.text, warning)


def load_shipped_prompt(name: str, number: int) -> Prompt:
    """Return a version of a prompt that ships with Ricordo."""
    version = f"{name}-{number}"
    return Prompt(version, read_data_text(f"curation/prompts/{version}.md").strip())


def get_own_path(name: str, config: str) -> str:
    """Return the path of the user's own text of a prompt; the file need not exist."""
    return os.path.join(config, FOLDER, f"{name}.md")


@cache
def load_versions() -> Mapping[str, Mapping[str, Any]]:
    """Return the built-in versions by prompt: which is `current`, and their digests by number."""
    return tomli.loads(read_data_text("curation/prompts/versions.toml"))


def compute_digest(text: str) -> str:
    """Return the SHA-256 of a prompt's text."""
    return sha256(text.encode("utf-8", "replace")).hexdigest()


def _read_own(name: str, config: str) -> tuple[str, str]:
    """Return the user's text, "" where it is unusable, and a warning, "" for none."""
    path = get_own_path(name, config)
    if not config or not os.path.lexists(path):
        return "", ""
    raw = read_plain_file(path, _LARGEST + 1, follow=True)
    try:
        text = (raw or b"").decode("utf-8-sig").strip()
    except UnicodeDecodeError:
        text = ""
    if raw is None or len(raw) > _LARGEST or not text:
        why = f"is not plain UTF-8 text of at most {_LARGEST // 1024} KB"
        return "", f"{make_visible(path)} {why}. The file is ignored."
    masked = mask(text)
    if masked != text:
        return masked, f"{make_visible(path)} has a possible secret, which is not sent."
    if TOOLS[name] not in text:
        return text, f"{make_visible(path)} does not mention the tool `{TOOLS[name]}`."
    return text, ""
