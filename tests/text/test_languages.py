"""Languages of texts, told one by one and over all answers of a system."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from portrayal.text.languages import NAMES, are_read, language_of, named, other_languages

CAPTIONS = tomllib.loads((Path(__file__).parent / "other_languages.toml").read_text(encoding="utf-8"))
TAGS = {
    "de": ["Mann", "Frau", "Kleid", "Lächeln", "Gesicht", "Haar", "Anzug", "Brille", "Küche", "Bart"],
    "es": ["Hombre", "Mujer", "Vestido", "Sonrisa", "Cara", "Pelo", "Traje", "Gafas", "Cocina", "Médico"],
    "sv": ["Man", "Kvinna", "Klänning", "Leende", "Ansikte", "Hår", "Skägg", "Glasögon", "Läkare", "Kök"],
}
# What tells no language: numbers, signs, names, single words, and English of every kind.
ENGLISH = [
    "12 34", "😀😀", "n/a", "IMG_2034.JPG", "n02123045", "...", "Maria Lopez", "Klaus Müller", "Nguyen Van Anh", "Barack Obama",
    "who is Kehlani Parrish", "ok", "no", "dog", "two zebras", "ukulele player", "fedora hat", "selfie", "taco, burrito, guacamole",
    "spaghetti, dish, carbonara, food, cuisine, italian food, naporitan, spaghetti aglio e olio, european food, bucatini",
    "Weimaraner, Schnauzer, Dachshund", "sushi, sashimi, tempura", "José and Sofía eat tapas", "He is riding.", "a _ in front of a _",
    'a sign that reads "Bäckerei Müller"', "portrait photography", "LADIES AND GENTLEMEN", "#selfie #ootd", "nurse salary",
]  # fmt: skip


def test_short_captions_tell_their_language_alone() -> None:
    told = [language_of(text) not in ("en", None) for texts in CAPTIONS.values() for text in texts]
    assert (len(told), sum(told)) == (138, 133)


@pytest.mark.parametrize(
    "language", ["de", "es", "fr", "pt", "it", "nl", "zh", "ja", "ar", "hi", "ko", "sw", "fi", "vi"]
)
def test_systems_in_another_language_are_told(language: str) -> None:
    others = other_languages(CAPTIONS[language])
    assert not are_read(others)
    assert named(others) == NAMES[language]


@pytest.mark.parametrize("text", ENGLISH)
def test_what_is_english_or_tells_nothing_is_in_no_other_language(text: str) -> None:
    assert language_of(text) in ("en", None)
    assert other_languages([text]) == [None]


def test_all_of_them_together_are_in_no_other_language() -> None:
    assert other_languages(ENGLISH) == [None] * len(ENGLISH)
    assert other_languages([name for name in ENGLISH if name.istitle()] * 5) == [None] * 5 * sum(
        map(str.istitle, ENGLISH)
    )


@pytest.mark.parametrize("language", TAGS)
def test_single_words_tell_their_language_together(language: str) -> None:
    others = other_languages(TAGS[language])
    assert not are_read(others)
    assert named(others) == NAMES[language]


def test_a_few_words_of_another_language_among_english_ones_stay() -> None:
    dishes = ["carrot", "bread", "soup"] * 20 + ["zwiebelkuchen", "viennoiserie", "kooikerhondje", "pączki"]
    assert are_read(other_languages(dishes))


def test_systems_that_mix_languages_are_told_from_the_share() -> None:
    english = ["a man on a horse", "a woman on a bench", "two children play", "a dog runs"]
    some = [*english * 15, *CAPTIONS["de"][:3] * 2]  # 6 of 66
    others = other_languages(some)
    assert are_read(others)
    assert others.count("de") == 6
    many = [*english * 15, *CAPTIONS["de"][:3] * 13]  # 39 of 99
    assert not are_read(other_languages(many))
    assert named(other_languages([*many, *CAPTIONS["zh"][:3] * 13])) == "in other languages (German and Chinese)"


def test_an_instrument_of_another_language_reads_that_one() -> None:
    assert set(other_languages(CAPTIONS["de"], ["de"])) == {None}
    both = [*CAPTIONS["es"][:3], "a man on a horse"]
    assert other_languages(both, ["es"]) == [None, None, None, "en"]
    assert other_languages(both, ["en", "es"]) == [None] * 4


def test_the_order_of_answers_does_not_matter() -> None:
    texts = [*TAGS["de"], *TAGS["es"], "dog", "Maria Lopez"]
    assert other_languages(texts[::-1]) == other_languages(texts)[::-1]


def test_a_study_may_read_every_language():
    assert other_languages(["Zqab zqcd", "Eine Frau steht vor dem Haus"], sorted(NAMES)) == [None, None]
