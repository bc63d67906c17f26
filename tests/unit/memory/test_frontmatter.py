from __future__ import annotations

import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from ricordo.memory.frontmatter import parser as frontmatter
from ricordo.memory.frontmatter.parser import Value, read_leniently, read_plain
from tests.support.builders import note_of

SCALARS = st.one_of(
    st.sampled_from(
        [
            "tides", "no", "on", "010", "1_000", "22:22", "1.10", "2026-01-02", "2026-13-45",
            "null", "~", "", "Null", "a: b", "a:", "x #y", "#x", "-x", "- x", "?x", "[a, b]",
            "[a, ~]", "[]", "[ a ,b]", "[a, [b]]", "[a,]", "[a: b]", "{a: b}", "'it''s'", "'a'",
            '"a"', '"a\\n"', '""', "''", '"', "'a' b", "&x a", "*x", "!t a", "|", ">", "%x", "@x",
            "`x`", "日本", "👩‍💻", "a\tb", "a\u00a0b", "a  b", "<<", "true", "\u2028", "a\\b",
        ]
    ),
    st.text(st.sampled_from("ab -:#[]{},'\"&*!|>%@`~?é\\"), max_size=8),
)  # fmt: skip
KEYS = st.sampled_from(["name", "type", "description", "a-b", "a.b", "null", "no", "1", "<<", "k"])
ROWS = st.one_of(
    st.builds(lambda key, value: f"{key}: {value}", KEYS, SCALARS),
    st.builds(lambda key: f"{key}:", KEYS),
    st.builds(lambda pad, key, value: f"{pad}{key}: {value}",
              st.sampled_from(["  ", "    ", " "]), KEYS, SCALARS),
    st.builds(lambda pad, value: f"{pad}- {value}", st.sampled_from(["", "  "]), SCALARS),
    st.sampled_from(["# comment", "", "  ", "metadata: ", "...", "- ", "? x", "plain words"]),
)  # fmt: skip
BLOCKS = st.lists(ROWS, max_size=7).map(lambda rows: "".join(f"{row}\n" for row in rows))


def strict(block: str) -> object:
    """Return what the strict reader makes of `block`; a ValueError as its value."""
    try:
        return frontmatter.read_yaml(block)
    except ValueError as refused:
        return refused


def as_base_loader(value: Value) -> object:
    if isinstance(value, tuple):
        return [as_base_loader(item) for item in value]
    if isinstance(value, dict):
        return {key: as_base_loader(item) for key, item in value.items()}
    return value


def nulls_out(value: object) -> object:
    if isinstance(value, list):
        return [nulls_out(item) for item in value]
    if isinstance(value, dict):
        return {key: nulls_out(item) for key, item in value.items()}
    return None if value in ("", "~", "null", "Null", "NULL") else value


@given(BLOCKS)
def test_the_line_reader_answers_only_where_strict_yaml_says_the_same(block: str) -> None:
    plain = read_plain(block)
    if plain is not None:
        assert strict(block) == plain


@given(BLOCKS)
def test_an_error_is_that_of_strict_yaml_whichever_reader_finds_it(block: str) -> None:
    error = frontmatter.read_frontmatter(f"---\n{block}---\nbody\n").error
    if error is not None:
        refused = strict(block)
        assert isinstance(refused, ValueError)
        assert refused.args == (error.line - 1, error.message)


@given(BLOCKS)
def test_the_strict_reader_says_what_pyyaml_says_where_both_accept(block: str) -> None:
    ours = strict(block)
    try:
        theirs = yaml.load(block, Loader=yaml.CBaseLoader)
    except (yaml.YAMLError, TypeError, ValueError):
        theirs = None
    if isinstance(ours, dict) and isinstance(theirs, dict):
        assert nulls_out(as_base_loader(ours)) == nulls_out(theirs)


@given(st.dictionaries(st.text(st.sampled_from("abno_"), min_size=1, max_size=4),
                       st.from_regex(r"[a-z0-9]{1,6}( [a-z0-9]{1,6}){0,3}", fullmatch=True)
                       .filter(lambda text: text != "null"), min_size=1, max_size=6))  # fmt: skip
def test_all_three_steps_agree_on_plain_frontmatter(fields: dict[str, str]) -> None:
    block = "".join(f"{key}: {value}\n" for key, value in fields.items())
    assert read_plain(block) == strict(block) == read_leniently(block) == fields


@given(BLOCKS)
def test_whatever_the_frontmatter_says_it_can_be_written_as_json(block: str) -> None:
    json.dumps(frontmatter.read_frontmatter(f"---\n{block}---\nbody\n").fields, default=list)


@pytest.mark.parametrize(
    "written",
    ["2026-01-02", "2026-13-45", "no", "on", "010", "1_000", "22:22", "1.10", "9" * 6000, "true"],
)
@pytest.mark.parametrize("quiet", [True, False], ids=["plain head", "head that needs yaml"])
def test_a_scalar_stays_the_text_that_was_written(written: str, quiet: bool) -> None:
    odd = "" if quiet else "other: >\n  folded\n"
    head = frontmatter.read_frontmatter(f"---\nname: {written}\n{odd}---\n")
    assert head.fields["name"] == written
    assert head.error is None


@pytest.mark.parametrize(
    ("block", "line", "word"),
    [
        ("name: a\nname: b\n", 3, "duplicate"),
        ("name: &a b\n", 2, "anchor"),
        ("name: *a\n", 2, "alias"),
        ("a: &a {}\n<<: *a\n", 2, "anchor"),
        ("ok: x\n<<: {a: b}\n", 3, "merge"),
        ("name: !!python/object:os.system x\n", 2, "tag"),
        ("[a]: b\n", 2, "key"),
        ("null: b\n", 2, "key"),
        ("- a\n- b\n", 2, "mapping"),
        ("ok: x\nname: a: b\n", 3, "mapping values"),
        ("ok: x\nname: @b\n", 3, "cannot start"),
        ("ok: x\n\tname: b\n", 3, ""),
        ("name: a\0b\n", 2, "character"),
        ("name: " + "[" * 30 + "]" * 30 + "\n", 2, "deeper"),
        ("a: b\n--- c\n", 3, "second document"),
        ("short name: quay\nname: a: b\n", 3, "mapping values"),
        # not closed: where it was opened
        ("ok: x\ntags: [tide  # only this one]\nname: b\n", 3, "did not find expected"),
        ('name: "by the quay\ntype: b\n', 2, "unexpected end"),
        ("tags: [\n  a,\n  b,\n  c }\n]\n", 5, "did not find expected"),
    ],
)
def test_what_yaml_or_the_bounds_refuse_is_named_with_its_line(
    block: str, line: int, word: str
) -> None:
    head = frontmatter.read_frontmatter(f"---\n{block}---\nbody\n")
    assert head.error is not None
    assert word in head.error.message
    assert head.error.line == line
    assert head.is_present


def test_refused_frontmatter_is_still_read_leniently() -> None:
    head = frontmatter.read_frontmatter(
        "---\nname: tides\ndescription: a: b\nmetadata:\n  type: user\n---\n"
    )
    assert head.error is not None
    assert (head.get_text("name"), head.get_text("description")) == ("tides", "a: b")
    assert head.get_text("type") == "user"


@pytest.mark.parametrize(
    "text",
    [
        "plain prose\n",
        "\n---\nname: x\n---\n",
        " ---\nname: x\n---\n",
        "-----\nname: x\n-----\n",
        "---\nSome prose between rules\n---\nmore\n",
        "---\n# Note: a heading\nprose\n---\nmore\n",
        "---\n**Status**: bold prose\n---\nmore\n",
        "---\n[a link](x.md) and words\n---\nmore\n",
        "---\n![picture](x.png)\n---\nmore\n",
        "---\n- [Entry](x.md) — hook\n---\nmore\n",
        "---\n\n_Updated: 2026-05-01_\n\n## Mole\n\n"
        "The plan: dredge it (x: y).\nSilt: all\n- Mud\n\n---\n",
        "---\nThe plan of May: dredge the bay: all of it.\n---\nmore\n",
        "+++\nname = 'x'\n+++\n",
        '{"name": "x"}\n',
        "---",
        "---\n",
        "---\n\nprose under a rule, no second rule\n",
    ],
)
def test_prose_between_rules_and_other_texts_are_no_frontmatter_and_all_body(text: str) -> None:
    head = frontmatter.read_frontmatter(text)
    assert not head.is_present
    assert head.error is None


@pytest.mark.parametrize("text", ["---\n---\nbody\n", "---\n\n---\nbody\n", "---\r\n---\r\nbody\n"])
def test_two_fences_with_nothing_between_are_empty_frontmatter(text: str) -> None:
    head = frontmatter.read_frontmatter(text)
    assert (head.is_present, dict(head.fields), text[head.end :]) == (True, {}, "body\n")


def test_frontmatter_that_is_never_closed_is_all_body_with_an_error() -> None:
    head = frontmatter.read_frontmatter("---\nname: x\n\nbody\n")
    assert (head.end, dict(head.fields)) == (0, {})
    assert head.error is not None
    assert "never closed" in head.error.message


def test_rules_in_the_body_do_not_end_it() -> None:
    note = note_of("---\nname: x\n---\nfirst\n\n---\n\nsecond\n---\n")
    assert note.body == "first\n\n---\n\nsecond\n---\n"


def test_an_indented_fence_inside_a_block_scalar_does_not_close_the_frontmatter() -> None:
    note = note_of("---\nname: |\n  a\n  ---\n  b\n---\nbody\n")
    assert (note.name, note.body) == ("a\n---\nb\n", "body\n")


def test_crlf_frontmatter_reads_as_lf_frontmatter() -> None:
    text = "---\nname: x\ntags:\n  - a\nmetadata:\n  type: user\n---\nbody\n"
    assert (
        frontmatter.read_frontmatter(text.replace("\n", "\r\n")).fields
        == frontmatter.read_frontmatter(text).fields
    )


@pytest.mark.parametrize("key", ["content", "handler", "metadata", "fm", "text"])
def test_keys_that_a_library_uses_itself_are_ordinary(key: str) -> None:
    head = frontmatter.read_frontmatter(f"---\n{key}: plain\nother: >\n  folded\n---\n")
    assert (head.fields[key], head.error) == ("plain", None)


def test_frontmatter_over_the_limit_is_read_leniently_up_to_there() -> None:
    rows = "".join(f"k{number}: v\n" for number in range(60_000))
    head = frontmatter.read_frontmatter(f"---\nname: x\n{rows}---\nbody\n")
    assert head.error is not None
    assert "longer than" in head.error.message
    assert head.get_text("name") == "x"


@given(st.binary(max_size=300))
def test_no_bytes_between_the_fences_raise(block: bytes) -> None:
    note = note_of(b"---\n" + block + b"\n---\nbody\n")
    assert note.raw == b"---\n" + block + b"\n---\nbody\n"
