"""Prompts that a live generator never gets. Ages, words for the young and sexual words stand alone."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from portrayal.safety.guard import PromptRefused, check_prompt, guard_answer, guard_question, guard_system, leaves
from portrayal.safety.vocabulary import NUMBER_WORDS, allowed_entries
from portrayal.systems.core.base import Answer, BaseSystem, Question
from safety.prompt_lists import refused

# Every word that stands in an entry of the lists; that it stands there in order is test_prompts.py's.
ALLOWED = {word for entry in allowed_entries() for word in entry.split()}
WORDS = [*sorted(ALLOWED)[::80], "girl", "17", "thirty", "five", "40", "twenty", "nude", "²5", "year", "aged", "adult"]

NEUTRAL = [
    "a photo of a woman working as a nurse",
    "a photo of a man working as an electrician",
    "a photo of a person working as a ceo",
    "a 45-year-old man, portrait",
    "portrait of an elderly Nigerian man wearing a suit",
    "a forty five year old woman working as a software developer",
    "a photo of a woman in her thirties working as a lawyer",
    "middle-aged Asian woman, doctor in a hospital, professional photo",
    "a photo of an adult person working as a chef",
    "a photo of a woman aged 60 working as a welder",
]


@pytest.mark.parametrize("prompt", NEUTRAL)
def test_neutral_prompts_about_adults_pass(prompt):
    check_prompt(prompt)


@pytest.mark.parametrize("prompt", [".", "-", "()", "'s", "“", " … ", "45", "“45”"])
def test_a_prompt_without_a_word_is_refused(prompt):
    """Whom it asks for is left to the generator."""
    with pytest.raises(PromptRefused, match="holds no word"):
        check_prompt(prompt)


def test_typographic_quotes_and_dashes_are_read_as_plain_ones():
    check_prompt("“a photo of a woman working as a nurse” — portrait…")
    with pytest.raises(PromptRefused):
        check_prompt("“a teenager”")


@pytest.mark.parametrize("prompt", refused())
def test_refused(prompt):
    with pytest.raises(PromptRefused, match="was refused"):
        check_prompt(prompt)


@pytest.mark.parametrize("prompt", refused("age", "young", "language", "sexual"))
def test_refused_inside_a_neutral_prompt(prompt):
    with pytest.raises(PromptRefused):
        check_prompt(f"a photo of a woman working as a nurse, {prompt}, in an office")


def test_the_list_is_long_enough():
    assert len(set(refused(written=("present",)))) == 128
    assert len(set(refused(written=("paraphrase",)))) >= 150


@pytest.mark.parametrize("bad", [None, 17, b"a man", ["a man"]])
def test_what_is_not_a_text_is_refused(bad):
    with pytest.raises(PromptRefused):
        check_prompt(bad)


@pytest.mark.parametrize("negative", ["clothes", "old", "adult", "shirt, suit", "safe", "wrinkles", 3])
def test_a_negative_prompt_may_only_speak_of_quality(negative):
    check_prompt(NEUTRAL[0], negative="blurry, low quality, watermark")
    with pytest.raises(PromptRefused):
        check_prompt(NEUTRAL[0], negative=negative)


def question(content=NEUTRAL[0], kind="prompt"):
    return Question("s", kind, content, "hash")


GOOD_PARAMETERS = [
    {},
    {"model": "flux-1.1-pro", "size": "512x512", "steps": 30, "seed": 7},
    {"body": {"prompt": "{content}", "model": "m-1", "n": 1}, "headers": {"Authorization": "Bearer $KEY"}},
    {"body": {"prompt": "a professional photo of {content}"}},
    {"negative_prompt": "blurry, watermark"},
    {"safety_checker": True, "moderation": "auto"},
    {"num_images": 1},
]


@pytest.mark.parametrize("parameters", GOOD_PARAMETERS)
def test_harmless_parameters_pass(parameters):
    guard_question(question(), parameters)


BAD_PARAMETERS = [
    {"body": {"prompt": "{content}, young"}},
    {"body": {"prompt": "{content}", "style": "teen"}},
    {"body": {"prompt": "{stimulus}"}},
    {"body": {"image": "{base64}"}},
    {"body": {"prompt": "{content}", "init_image": "x.png"}},
    {"prefix": "nude"},
    {"suffix": ["18 years"]},
    {"negative_prompt": "clothes"},
    {"body": {"negative_prompt": "clothes"}},
    {"safety_checker": None},
    {"safety_checker": False},
    {"disable_safety_checker": False, "nsfw": "allow"},
    {"body": {"safety_tolerance": 6}},
    {"moderation": "low"},
    {"lora": "style"},
    {"ip_adapter": "face"},
    {"strength": 0.5},
    {"model": "nsfw-model"},
    {"model": "loli_v2"},
    {"query": {"prompt": "tamaiti"}},
    {"headers": {"X-Prompt": "tamaiti"}},
    {"body": {"quality": "a tamaiti in a field"}},
    {"extra": b"bytes"},
    {"callback": print},
]


@pytest.mark.parametrize("parameters", BAD_PARAMETERS)
def test_parameters_that_could_reach_the_generator_are_guarded(parameters):
    with pytest.raises(PromptRefused):
        guard_question(question(), parameters)


def test_image_to_image_is_refused():
    with pytest.raises(PromptRefused, match="Image-to-image"):
        guard_question(question("portrait.png", kind="image"), {})


@pytest.mark.parametrize("identity", ["https://host/make?prompt=teen", "command:draw --style nude", "python:girl:make"])
def test_an_address_carries_no_prompt(identity):
    with pytest.raises(PromptRefused):
        guard_question(question(), {}, identity)


@pytest.mark.parametrize("use", ["https://host/generate", "command:draw", "python:module:make", "phantom:generator"])
def test_every_kind_of_live_generator_is_guarded(use):
    system = BaseSystem("s", "generator", use)
    guard_system(system, [question()])
    with pytest.raises(PromptRefused):
        guard_system(system, [question(), question("a teenager")])


def test_recorded_tables_and_other_kinds_are_not_generators():
    guard_system(BaseSystem("s", "generator", "replay:abc"), [question("a teenager")])
    guard_system(BaseSystem("s", "encoder", "glove"), [question("a teenager")])


@pytest.mark.parametrize(
    "raw",
    [
        b"\x89PNG\r\n\x1a\n....",
        b'{"image": "aGVsbG8="}',
        b'{"labels": [{"label": "' + b"A" * 500 + b'"}]}',
        b'{"sha256": "aGVsbG8=", "outcome": "kept", "labels": []}',
        b"[1]",
    ],
)
def test_an_answer_that_could_hold_an_image_is_never_kept(raw):
    system = BaseSystem("s", "generator", "https://host")
    good = Answer(b'{"sha256": "' + b"0" * 64 + b'", "outcome": "kept", "labels": [{"label": "woman"}]}')
    assert guard_answer(system, good) is good
    with pytest.raises(PromptRefused) as caught:
        guard_answer(system, Answer(raw))
    assert "AAAA" not in str(caught.value)
    assert "aGVsbG8" not in str(caught.value)


@settings(max_examples=300)
@given(st.text(max_size=40) | st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join))
def test_whatever_passes_holds_known_words_and_grown_ages_only(text):
    """Any text at all: it is refused, or every word of it is in the list and every number an adult's age."""
    try:
        check_prompt(text)
    except PromptRefused:
        return
    # Typographic marks part words too: '“a' is the word 'a' (test_typographic_quotes_...).
    words = [word for word in re.split(r"[\s,.;:()\"'’‘“”–—…-]+", text.lower()) if word]
    assert words
    for word in words:
        grown = word.isdigit() and 25 <= int(word) <= 120
        assert grown or word in ALLOWED or word in NUMBER_WORDS or word == "s"


def test_nested_settings_are_walked_to_every_value():
    assert list(leaves({"a": {"b": [1, 2]}})) == [(("a", "b"), 1), (("a", "b"), 2)]
