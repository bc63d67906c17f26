from __future__ import annotations

from pathlib import Path

from tests.benchmarks.published import examples
from tests.benchmarks.redaction import published_recall

RULES = r"""
rules:
- name: Harbour API Key
  pattern: 'harbour_key=(\w{20})'
  examples: ['harbour_key=q7w3e9r1t5y2u8i4o6p0', 'harbour_key=xxxxxxxxxxxxxxxxxxxx']
- name: Database URI
  pattern: '(postgres://\S+@\w+)'
  examples: ['postgres://app:k1tten4711@db']
- name: Harbour Account ID
  pattern: '(\d+)'
  examples: ['4711']
"""


def test_what_a_pattern_captures_is_the_credential_that_has_to_be_found(tmp_path: Path) -> None:
    tmp_path.joinpath("harbour.yml").write_text(RULES)
    found = list(examples(tmp_path))
    values = [it.text[start:end] for it in found for start, end in it.spans]
    assert values == ["q7w3e9r1t5y2u8i4o6p0", "x" * 20, "k1tten4711"]
    assert [it.is_random for it in found] == [True, False, True]
    assert published_recall(it for it in found if it.is_random) == (2, 2)
