"""What counts as a credential, shown on a corpus that is made anew from a seed."""

import hashlib
import re
import time
import tomllib
from collections import defaultdict
from importlib.resources import files
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ricordo.secrets import find_secrets, mask
from ricordo.secrets.find import is_distinct
from tests.support import secret_families, seed_phrases
from tests.support.secret_corpus import ALNUM, LOOKALIKES, SECRETS, Sample, corpus, draw, vendor
from tests.support.seed_phrases import as_families, draw_phrase, lay_out

SEED = 20_261_121
KEY_TALK = Path(__file__).parents[1] / "data/key_talk.txt"
"""Sentences and settings in which somebody speaks of keys of every other kind."""
RULES = tomllib.loads(files("ricordo").joinpath("secrets/rules.toml").read_text("utf-8"))


def covered(sample: Sample) -> list[bool]:
    """For each value of the sample: are at least 95 % of its characters in a finding?"""
    inside = {i for _, start, end in find_secrets(sample.text) for i in range(start, end)}
    return [
        len(inside.intersection(range(at, at + len(value)))) >= 0.95 * len(value)
        for value in sample.values
        for at in [sample.text.index(value)]
    ]


@pytest.fixture(scope="module")
def samples() -> list[Sample]:
    return corpus(SEED, each=60)


def test_nearly_every_credential_is_covered_from_end_to_end(samples: list[Sample]) -> None:
    hits: dict[str, list[bool]] = defaultdict(list)
    for sample in samples:
        hits[sample.family] += covered(sample)
    recall = {family: sum(hits[family]) / len(hits[family]) for family in SECRETS}
    assert sum(recall.values()) / len(recall) >= 0.98, recall
    assert min(recall.values()) >= 0.7, recall


def test_text_that_only_looks_like_a_credential_is_not_found(samples: list[Sample]) -> None:
    lookalikes = [sample for sample in samples if sample.family in LOOKALIKES]
    flagged = [sample.text for sample in lookalikes if find_secrets(sample.text)]
    assert len(flagged) <= 0.002 * len(lookalikes), flagged


def test_families_that_were_held_out_once_are_found_too() -> None:
    random, hits = Random(SEED), defaultdict[str, list[bool]](list)
    for family, make in secret_families.SECRETS.items():
        for _ in range(20):
            hits[family] += covered(make(random, family))
    recall = {family: sum(found) / len(found) for family, found in hits.items()}
    assert sum(recall.values()) / len(recall) >= 0.95, recall


def test_more_text_that_only_looks_like_a_credential_is_not_found() -> None:
    random = Random(SEED)
    families = secret_families.LOOKALIKES.items()
    texts = [make(random, family).text for family, make in families for _ in range(40)]
    assert len([text for text in texts if find_secrets(text)]) <= 0.002 * len(texts)


def test_every_seed_phrase_is_found_whatever_its_layout_and_its_checksum() -> None:
    random, layouts = Random(SEED), list(seed_phrases.LAYOUTS.items())
    samples = [
        lay_out(random, name, draw_phrase(random, size, valid=valid), layout)
        for size in seed_phrases.SIZES
        for valid in (True, False)
        for name, layout in random.choices(layouts, k=100)
    ]
    assert len(samples) == 1_000
    assert [sample.text for sample in samples if not all(covered(sample))] == []


def test_layouts_that_were_held_out_are_found_too() -> None:
    random = Random(SEED)
    families = as_families(seed_phrases.HELD_OUT_LAYOUTS).items()
    samples = [make(random, family) for family, make in families for _ in range(10)]
    assert [sample.text for sample in samples if not all(covered(sample))] == []


def test_a_phrase_of_few_words_is_found_by_its_checksum() -> None:
    assert mask(f"It is {'abandon ' * 11}about.") == "It is [secret: seed-phrase]."
    assert mask(f"It is {'abandon ' * 11}above.") == f"It is {'abandon ' * 11}above."


def test_the_label_of_a_phrase_is_no_part_of_it() -> None:
    phrase = " ".join(draw_phrase(Random(SEED), 12, valid=True))
    assert mask(f"Wallet phrase: {phrase}.") == "Wallet phrase: [secret: seed-phrase]."
    assert mask(f"It was `{phrase}`, keep.") == "It was `[secret: seed-phrase]`, keep."


def test_prose_and_lists_of_common_words_are_no_credentials() -> None:
    random = Random(SEED)
    texts = random.sample(seed_phrases.sentences(), 1_000)
    assert [text for text in texts if find_secrets(text)] == []
    lists = [seed_phrases.list_of_words(random) for _ in range(1_000)]
    # by chance twelve of the words that phrases have follow each other, and their checksum is right
    assert sum(bool(find_secrets(text)) for text in lists) <= 2


PROGRAMS = [
    "border-top-width, border-right-width, border-bottom-width, border-left-width, border-top",
    "text[:start], base), (text[start:end], 'match'), (text[end:], base)); return",
    "- top\n- bottom\n- left\n- right\n- top left\n- top right\n- bottom left\n- bottom right",
    "Never use `will-change: all`. Only add when you notice first-frame",
    "True True\n1 2 True True\n2 4 True True\n3 8 True True\n4 16 True True\n5 32 True True",
    "add_edge(1, 2); add_edge(1, 3); add_edge(2, 3); add_edge(3, 4); add_edge(4, 5); add_edge(6)",
]


@pytest.mark.parametrize("text", PROGRAMS)
def test_programs_that_repeat_their_words_are_no_seed_phrases(text: str) -> None:
    assert mask(text) == text


def test_the_list_of_words_is_the_one_of_the_standard() -> None:
    words = "".join(f"{word}\n" for word in seed_phrases.WORDS)
    assert hashlib.sha256(words.encode()).hexdigest() == (
        "2f5eed53a4727b4bf8880d8f3f199efc90e58503646d9ff8eff3a2ed3b24dbda"
    )


def test_text_about_keys_that_are_no_credentials_is_not_found() -> None:
    lines = KEY_TALK.read_text("utf-8").splitlines()
    assert len(lines) > 40
    assert [line for line in lines if find_secrets(line)] == []


def test_a_password_in_an_element_is_found_even_if_it_begins_like_a_host() -> None:
    assert mask("<password>@bcD123x9Z</password>") == "<password>[secret: password]</password>"


NAMED = [
    "nasdaq_key = {}", "the bearer {} is used", '"querykey": "{}",',
    "pagerduty_key: {}",
]  # fmt: skip


@pytest.mark.parametrize("text", NAMED)
def test_a_key_that_is_named_needs_no_long_run_of_letters_and_digits(text: str) -> None:
    whole = text.format("98yhT-Fulk7_ELh3-jC6o-udRX")
    assert "98yhT" not in mask(whole)


SITE_KEY = "6LdXfT0pCdEfGKq7vWn2mYs8dRj4Hc1Lz9GtEuPa"


@pytest.mark.parametrize(
    ("text", "is_secret"),
    [
        ("The captcha has the site key `{}`.", False),
        ('<div class="captcha" data-sitekey="{}"></div>', False),
        ("VITE_CAPTCHA_SITE_KEY={}", False),
        ("siteKey: '{}'", False),
        ("Site-Schlüssel: {}", False),
        ("网站密钥：{}", False),
        ("サイトキー：{}", False),
        ("The drawing has the file key `{}`.", False),
        ("The captcha has the secret key `{}`.", True),
        ("CAPTCHA_SECRET_KEY={}", True),
        ("composite_key = {}", True),
        ("The api key of the site: {}", True),
    ],
)
def test_the_key_of_a_site_that_its_pages_show_is_no_secret(text: str, is_secret: bool) -> None:
    assert (SITE_KEY not in mask(text.format(SITE_KEY))) is is_secret


def test_a_secret_is_found_beside_the_key_of_the_site() -> None:
    found = mask(f"| site key | {SITE_KEY} |\n| secret key | {SITE_KEY[:-1]}b |\n")
    assert found == f"| site key | {SITE_KEY} |\n| secret key | [secret: api-key] |\n"


@pytest.mark.parametrize(
    "text",
    [
        "aws_secret_access_key = {}",
        "AWS_SECRET_ACCESS_KEY={}",
        "| aws_secret_access_key | {} |",
        "aws configure set aws_secret_access_key {}",
    ],
)
def test_the_secret_of_a_pair_is_found_without_its_id(text: str) -> None:
    assert "kR7d" not in mask(text.format("kR7dQ2xVn9LmT4bY8sWc/HfJ6gPz3uEaX5oKi+vB"))


def test_digits_at_the_start_of_a_key_are_no_number_of_it() -> None:
    assert mask("unseal key 98m+o2ylRhVbOi+3o5ub6PbP343ocFUV") == "unseal key [secret: api-key]"
    assert mask("unseal key 2: o2ylRhVbOi+3o5ub6PbP343ocFUV") == "unseal key 2: [secret: api-key]"


LONG = [
    "my_token = {}", '"access_token": "{}"', "token: '{}'", "the api key is `{}`",
    "Authorization: Bearer {}", "password: {}", "cookie: session={}", "secret: “{}”",
    "curl -u ana:{} https://x.example", "AccountName=a;AccountKey={};EndpointSuffix=core",
]  # fmt: skip


@pytest.mark.parametrize("length", [300, 1_000, 5_000])
@pytest.mark.parametrize("text", LONG)
def test_a_long_value_is_masked_whole(text: str, length: int) -> None:
    value = "9k" + draw(Random(SEED), f"{ALNUM}-_", length) + "7a"
    left = re.sub(r"\[secret: [\w-]+\]", "", mask(text.format(value)))
    assert left == text.format("")


def test_the_masked_text_has_no_value_and_is_otherwise_the_same(samples: list[Sample]) -> None:
    for sample in samples:
        masked = mask(sample.text)
        assert not left_in(masked, sample.text)
        assert masked.startswith(before(sample))


def values(text: str) -> set[str]:
    return {text[start:end] for _, start, end in find_secrets(text)}


def left_in(masked: str, text: str) -> list[str]:
    """Return the values of `text`, but for common words, that are words of what was masked."""
    distinct = filter(is_distinct, values(text))
    return [it for it in distinct if re.search(rf"(?<!\w){re.escape(it)}(?!\w)", masked)]


def before(sample: Sample) -> str:
    found = find_secrets(sample.text)
    return sample.text[: found[0].start] if found else sample.text


def test_offsets_are_those_of_the_value_alone() -> None:
    text = "The password is kitten4711, ask Ana."
    (found,) = find_secrets(text)
    assert text[found.start : found.end] == "kitten4711"
    assert mask(text) == "The password is [secret: password], ask Ana."


def test_a_value_is_masked_wherever_it_occurs() -> None:
    assert "kitten4711" not in mask("password: kitten4711\n\nI typed kitten4711 and it worked.")


def test_a_vendors_format_names_the_vendor() -> None:
    token = "gh" + "p_" + draw(Random(SEED), ALNUM, 36)
    assert [found.kind for found in find_secrets(f"use {token}")] == ["github-token"]


def test_data_as_text_has_no_format_within_it() -> None:
    # a key that begins a line of it is still one
    key = "EAA" + draw(Random(SEED), ALNUM, 180)
    data = "+/" + draw(Random(SEED), ALNUM, 300)
    assert [found.kind for found in find_secrets(f"use {key}{data}")] == ["social-token"]
    assert find_secrets(f"{data}{key}{data[2:]}") == []


def test_a_masked_text_has_nothing_more_to_mask(samples: list[Sample]) -> None:
    assert not [s.text for s in samples if "base64" not in s.family and find_secrets(mask(s.text))]


@pytest.mark.parametrize("text", ["", "\x00", "\ud800", "İ password: İ1234x", "password:", "://@"])
def test_odd_texts_are_read_to_the_end(text: str) -> None:
    mask(text)


PIECES = [
    "password",
    " is ",
    ": ",
    "=",
    '"',
    "`",
    "\n",
    "kitten4711",
    "token",
    "api_key",
    "Bearer ",
    "PIN 4711",
    "://a:",
    "@host",
    "\u200b",
    "%41",
    "\\n",
    "密码",
    "-----BEGIN PRIVATE KEY-----",
    "x",
    "0",
    "a1b2c3d4e5f6a7b8c9",
]


@given(st.text() | st.lists(st.sampled_from(PIECES) | st.text(max_size=5)).map("".join))
def test_any_text_is_masked_within_its_bounds(text: str) -> None:
    at = 0
    for _, start, end in find_secrets(text):
        assert at <= start < end <= len(text)
        at = end
    masked = mask(text)
    assert not left_in(masked, text)


HOSTILE = [
    "a", "a1", "-", "_", ".", "/", "=", "\n", "\\n", "%41", "%25", "&quot;", "\u200b", "A1b",
    "a_B1", "ab_", "token_", "--token-", "a.b.", "eyJ", "-eyJ", "sk-ant-", "://a:", "5432:",
    "abcdefg1\n", "password ", "password=", "password, a ", "x as password ", "api_key=",
    "key ", "mysql ", "curl ", "cookie: a=b;", 'auth=("a",', "echo a1b2 | a --password-stdin ",
    "mnemonic zoo bar1 ", "seed phrase: zoo bar baz qux ", "密码", "パスワードは", "비밀번호",
    "密码 a", 'a1b2c3d4"\n"', "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----\n",
    "MIIEvQIBADANBgkqhkiG9w0BAQ\n", "zoo ", "zoo, ", "zoo word 1 ", "<a zoo", "zoo wolf: ",
    "abandon ability able about above absent absorb abstract absurd abuse access accident ",
    "recovery codes ", "recovery codes: a1b2-c3d4\n", "passphrase zoo ", "passphrase is zoo bar ",
    "sshpass -p ", "machine a login ", "gpg --passphrase ",
]  # fmt: skip
LOOKED_AT = "password: a1b2c3, PIN 4711, a1b2c3d4e5f6a7b8c9d0\n-----\n"
"""What makes every rule look at a text."""


@pytest.mark.one_in(3)
@pytest.mark.parametrize("piece", HOSTILE)
def test_a_hostile_text_takes_time_in_proportion_to_its_length(piece: str) -> None:
    def seconds(length: int) -> float:
        text = LOOKED_AT + (piece * length)[:length]
        start = time.process_time()
        find_secrets(text)
        return time.process_time() - start

    seconds(1_000)
    # four times the text takes four times as long; squared, it would be sixteen
    assert seconds(32_000) < 10 * seconds(8_000) + 0.5


def test_every_rule_is_complete() -> None:
    for rule in RULES["token"]:
        assert rule.keys() <= {"kind", "pattern", "entropy", "group"}
        assert rule.get("group", "value") == "value"
    for rule in RULES["context"]:
        assert rule.keys() == {"kind", "after", "pattern", "shape"}
    for rule in RULES["before"]:
        assert rule.keys() == {"kind", "before", "pattern", "shape"}
    for rule in RULES["context"] + RULES["before"]:
        assert rule["shape"] in RULES["shapes"]
        assert set(rule.get("after", rule.get("before"))) <= set(RULES["names"])


def test_every_pattern_compiles() -> None:
    guards = [pattern for patterns in RULES["guards"].values() for pattern in patterns]
    names = [pattern for patterns in RULES["names"].values() for pattern in patterns]
    for pattern in [*guards, *names, *RULES["pieces"].values()]:
        re.compile(pattern)
    find_secrets(vendor(Random(SEED)))  # compiles the rest


def test_every_name_begins_with_a_plain_character() -> None:
    for patterns in RULES["names"].values():
        assert not [pattern for pattern in patterns if pattern[0] in r"([.^$*+?\|{"]


@pytest.mark.parametrize(
    "text",
    [
        "Kubernetes Secrets: base64-encoded, in etcd as v1 objects",
        "Passwort: UTF8-kodiert",
        "It improves on single-pass best-of-32 runs.",
        "Test PASS: to_quay=NORTH and barge_drop=SOUTH.",
        'The tour is stored under `TOUR_KEY="hrb_tour_<page>_v1"`.',
        "Parts: 48_long_pier, 49_hidden_pass, 50_pilot_cancel, 51_end.",
        "On GKE use 3 things: Binary Authorization, Container-Optimized OS, Shielded Nodes.",
    ],
)
def test_how_a_value_is_written_and_names_in_a_list_are_no_secrets(text: str) -> None:
    assert mask(text) == text


@pytest.mark.parametrize(
    "name",
    [
        "2026-06-01_gazette_sk-harbour-berth4-tides-30pct",
        "notes_sk-ferry-quay7-lisbon-2026",
        "t2_rdme_gb_ar_b_v_2x3_15s_c_g_ui_n_pr_b_vtwn_b_st_nil_vo_en_sea_and_a_long_pier",
        "_pa-regatta-2025-results-and-the-crews-of-all-harbours",
    ],
)
def test_the_name_of_a_page_that_has_the_prefix_of_a_key_is_no_secret(name: str) -> None:
    assert not list(find_secrets(f"- [[sources/{name}]]: see it\n"))


@pytest.mark.parametrize(
    "text",
    [
        'citekey: "okunoDistributedOptimizationLearning2022"',
        "- **Better BibTeX key**: `okunoDistributedOptimizationLearning2022`",
        "Citation key okunoDistributedOptimizationLearning2022",
    ],
)
def test_the_key_of_a_reference_in_a_bibliography_is_no_secret(text: str) -> None:
    assert mask(text) == text
    assert "[secret: api-key]" in mask("excite-key: k9Qx7ZpLw3Vt8RyBn2Ms6Fd1")
    assert "[secret: api-key]" in mask("key: okunoDistributedOptimizationLearning2022")


def test_the_name_of_a_thing_before_a_word_is_no_secret() -> None:
    text = "They are key CNTNAP2-expressing cells.\n- Lee et al. 2022: the CHD8 model.\n"
    assert mask(text) == text
    for named in ("API_KEY=Q7RT2VB9XK4M-harbour", "token: Q7RT2VB9XK4M-harbour"):
        assert "[secret: api-key]" in mask(named)


@pytest.mark.parametrize("end", ["\\n", "\n"])
def test_a_private_key_of_a_few_letters_is_an_example(end: str) -> None:
    head, foot = "-----BEGIN ENCRYPTED PRIVATE KEY-----", "-----END ENCRYPTED PRIVATE KEY-----"
    assert mask(f"{head}{end}pqrst=={end}{foot}").count("secret") == 0
    tail = f"a1B2c3D4e5F6a1B2c3D4e5F6=={end}{foot}"
    assert mask(f"\n{tail}\n") == "\n[secret: private-key]\n", "the rest of a longer one"
    body = "MC4CAQAwBQYDK2VwBCIEIJ" + "a1B2c3D4e5F6" * 3
    for text in (f"{head}{end}{body}{end}{foot}", f"{head}{end}{body}", f"{body}{end}{foot}"):
        assert "[secret: private-key]" in mask(f"\n{text}\n"), text


def test_a_key_with_a_word_before_it_is_found() -> None:
    assert list(find_secrets("use sk-relay-a8Fk29dLq0ZmXw41PvTn7Ys3 here"))


def test_comma_assigns_behind_a_name_in_quotes() -> None:
    assert mask('set("Authorization", "Bearer abcDEF1234567890")') == (
        'set("Authorization", "Bearer [secret: auth-header]")'
    )


@pytest.mark.parametrize("word", ["true", "False", "none", "off"])
def test_a_switch_behind_the_name_of_a_command_is_no_password(word: str) -> None:
    assert mask(f"- set_admin_password: Harmful={word}, Quick=true\n").count("secret") == 0
    assert "[secret: password]" in mask("- set_admin_password: Harmful=Kx9mQ2vLp7\n")
