from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ricordo.extraction.dates import make_dates_absolute
from ricordo.lexicon import read_words, statement_table

DAY = date(2026, 11, 12)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("it ends on 11 January", "it ends on 2027-01-11"),
        ("from November 30th", "from 2026-11-30"),
        ("the audit of 3 October", "the audit of 2026-10-03"),
        ("by Friday", "by 2026-11-13"),
        ("next Tuesday", "2026-11-17"),
        ("tomorrow at nine", "2026-11-13 at nine"),
        ("we dropped it last week", "we dropped it 2026-W45"),
        ("bis zum 3. Februar", "bis zum 2027-02-03"),
        ("le 14 décembre", "le 2026-12-14"),
        ("12月14日", "2026-12-14"),
        ("on 2026-12-01", "on 2026-12-01"),
        ("31 February", "31 February"),
        ("version 1.2, 30 % of March", "version 1.2, 30 % of March"),
    ],
)
def test_a_date_counts_from_the_day_on_which_it_was_said(said: str, meant: str) -> None:
    assert make_dates_absolute(said, DAY) == meant


PREPOSITIONS = {
    "en": ("until", "till", "since", "by", "before", "after", "from", "not before", "up to", "for"),
    "de": ("bis", "ab", "seit", "vor", "nach", "für", "erst", "spätestens", "nicht vor", "bis zu"),
    "fr": ("jusqu'à", "d'ici à", "avant", "après", "dès", "depuis", "pour", "à partir de"),
    "es": ("hasta", "desde", "antes de", "después de", "para", "a partir de"),
    "it": ("fino a", "entro", "prima di", "dopo", "da", "per", "a partire da"),
    "pt": ("até", "desde", "antes de", "depois de", "para", "a partir de"),
    "zh": ("直到", "到", "自", "从", "在"),
    "ja": ("遅くとも",),
    "ko": ("늦어도",),
    "ru": ("до", "с", "после", "к", "не раньше"),
}
"""What is said of a date right before it, by language."""
POSTPOSITIONS = {
    "zh": ("之前", "以前", "起", "以后", "为止"),
    "ja": ("まで", "までに", "から", "以降", "より前に"),
    "ko": ("까지", "부터", "이후", "전에"),
}
"""What is said of it right behind it."""
RUSSIAN = ("вчера", "сегодня", "завтра", "послезавтра", "на следующей неделе", "пятницы")
KNOWN = frozenset(("depois de amanhã",))
DATE = r"20\d\d(?:-(?:\d\d(?:-\d\d)?|W\d\d))?"


def relative_dates() -> Iterator[tuple[str, str]]:
    """Yield the language and the words of every date that is relative."""
    yield from (("ru", word) for word in RUSSIAN)
    for units in read_words("dates")["ahead"].values():
        for language, words in units.items():
            yield from ((language, word.rpartition(" ")[0]) for word in words)
    for language, names in statement_table("weekdays").items():
        for name in (name for names in names for name in re.sub(r"\w\?", "", names).split("|")):
            yield language, name
            yield from ((language, f"{it} {name}") for it in NEXT.get(language, ()))


NEXT = {
    "en": ("next",),
    "de": ("nächsten",),
    "es": ("el próximo",),
    "it": ("il prossimo",),
    "pt": ("na próxima", "a próxima", "o próximo"),
}


@pytest.mark.parametrize(("language", "written"), sorted(set(relative_dates())))
def test_what_is_said_of_a_relative_date_survives(language: str, written: str) -> None:
    gap = "" if language in ("zh", "ja", "ko") else " "
    word = re.sub("[()]", "", written)
    kept = re.fullmatch(r"(?:\((?P<first>\w+)\))?.*?(?:\((?P<last>\w+)\))?", written)
    assert kept is not None
    alone = make_dates_absolute(word, DAY)
    assert alone.startswith(kept["first"] or "")
    assert alone.endswith(kept["last"] or "")
    for before in ("", *PREPOSITIONS[language]):
        for behind in ("", *POSTPOSITIONS.get(language, ())):
            for begin in {before, before.capitalize()}:
                said = f"{begin}{gap if before else ''}{word}{behind}"
                if said.lower() in KNOWN:
                    # both words are the name of one day
                    continue
                meant = make_dates_absolute(said, DAY)
                rest = re.fullmatch(rf"{begin}(.*){behind}", meant)
                assert rest, (said, meant)
                assert re.search(DATE, rest[1]) or meant == said, (said, meant)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("Bis morgen bitte nicht mergen.", "Bis 2026-11-13 bitte nicht mergen."),
        ("Erst  morgen früh deployen.", "Erst  2026-11-13 früh deployen."),
        ("Do not deploy until tomorrow morning.", "Do not deploy until 2026-11-13 morning."),
        ("It broke last night.", "It broke 2026-11-11 night."),
        ("não até a próxima sexta", "não até a 2026-11-20"),
        ("mudou na semana passada", "mudou na 2026-W45"),
        ("直到明天都不要合并", "直到2026-11-13都不要合并"),
        ("昨晚失败了", "2026-11-11晚失败了"),
        ("大前天发布", "2026-11-09发布"),
        ("明日まで待って", "2026-11-13まで待って"),
        ("再来週から", "2026-W48から"),
        ("내일까지 머지하지 마", "2026-11-13까지 머지하지 마"),
        ("do jutra nie łącz gałęzi", "do jutra nie łącz gałęzi"),
        # another word that only shares its characters
        ("以上周期为准", "以上周期为准"),
        ("以后天气不好", "以后天气不好"),
        ("版本周期两周", "版本周期两周"),
        ("当前天数", "当前天数"),
    ],
)
def test_only_the_words_of_a_date_become_one(said: str, meant: str) -> None:
    assert make_dates_absolute(said, DAY) == meant


@given(text=st.text(max_size=80), day=st.dates(date(2000, 1, 1), date(2099, 1, 1)))
def test_any_text_is_made_absolute_without_an_error(text: str, day: date) -> None:
    make_dates_absolute(text, day)
