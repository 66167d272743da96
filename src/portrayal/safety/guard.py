"""The guard of generators: clothed, neutral prompts about adults, and nothing else (docs/safety.md).

It fails closed: refused words in any reading, then numbers that are no adult age, then all words that are in no list of neutral ones
(no list of bad words is complete), then known words in another sense. There is no setting that widens this.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from portrayal.edges.sizes import parse_json
from portrayal.safety import vocabulary
from portrayal.safety.vocabulary import PromptRefused, refuse_listed
from portrayal.systems.core.base import Answer, Question, System

YOUNGEST, OLDEST = 25, 120
LONGEST = 300  # characters
PUNCTUATION = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-", "…": "."})


def check_prompt(text: str, negative: str = "") -> None:
    """Refuse a prompt unless every word is known to be neutral and about adults."""
    if not isinstance(text, str) or not text.strip():
        raise PromptRefused("it is empty or not a text")
    if len(text) > LONGEST:
        raise PromptRefused(f"it is longer than {LONGEST} characters")
    judged = vocabulary.without_exceptions(text)
    refuse_listed(judged)
    words = _words(judged)
    for number in vocabulary.joined_numbers(words):
        if not YOUNGEST <= number <= OLDEST:
            raise PromptRefused(f"{number} is not an age from {YOUNGEST} to {OLDEST}")
    entries = vocabulary.read_entries(words)
    vocabulary.check_meaning(entries)
    vocabulary.check_combinations(words, entries)
    if not isinstance(negative, str):
        raise PromptRefused("its negative prompt is not a text")
    for word in re.split(r"[\s,.;-]+", negative.lower()):  # words of picture quality, and no others
        if word and word not in vocabulary.negative_words():
            raise PromptRefused(f"{word!r} may not stand in a negative prompt")


def _words(text: str) -> list[str]:
    """Split into plain words and whole numbers; anything else is refused."""
    # No folding here: what is judged must be what is sent, and a superscript two before a five is not 25.
    plain = text.translate(PUNCTUATION).lower()
    if not plain.isascii() or not plain.isprintable():
        raise PromptRefused("it holds characters that are not plain English letters; write names without accents")
    words = [word for word in re.split(r"[\s,.;:()\"-]+|'s\b|'", plain) if word]
    for word in words:
        if not re.fullmatch(r"[a-z]+|[1-9][0-9]*", word):
            raise PromptRefused(f"{word!r} is neither a plain word nor a whole number")
    if not any(word.isalpha() for word in words):
        raise PromptRefused("it holds no word, and so may show anybody")
    if re.search(r"\d[.,]\d", plain):
        raise PromptRefused("it holds a number with a decimal point")
    if re.search(r"(?:^|[\s(,:])-+\w", plain):
        raise PromptRefused("a word has a minus before it, which generators read as its opposite")
    return words


IMAGE_INPUTS = re.compile(
    r"\b(images?|img\w*|init\w*|inpaint\w*|masks?|photos?|references?|control\w*|\w*adapters?|loras?|embed\w*"
    r"|inversion|strength|base64|urls)\b"
)
COUNTS = ("num_images", "n_images", "num_images_per_prompt")
SAFETY = re.compile(r"safe|nsfw|filter|moderat|censor|guard|uncensor|explicit")
SAFE_VALUES = (True, "on", "true", "strict", "high", "default", "auto", "enabled", "vendor")
# Parameters that name a technical thing; their text is held against the list of refused words, not against
# the list of neutral ones.
TECHNICAL = re.compile(
    r"model|size|quality|format|response_format|output_format|method|answer|refused|blocked|url|device|dtype"
    r"|precision|scheduler|folder|path|picture|version|model_version|aspect_ratio|reader|fields\..*"
    r"|headers\.(authorization|x-api-key|api-key|accept|content-type)"
)
TECHNICAL_TEXT = re.compile(r"(Bearer |Key )?[\w\-./:$*+]{0,120}")
LONGEST_LABEL = 80


def guard_question(question: Question, parameters: Mapping[str, Any], identity: str = "") -> None:
    """Refuse a question to a generator unless everything it gets is known to be neutral."""
    if question.kind not in ("prompt", "text"):
        raise PromptRefused(f"it is of kind {question.kind!r}. Image-to-image is not done here")
    check_prompt(question.content)
    if "?" in identity or "#" in identity:
        raise PromptRefused("the address carries a query of its own")
    refuse_listed(re.sub(r"[_/:.]", " ", identity))
    for path, value in leaves(parameters):
        _check_parameter(path, value, question)


def guard_system(system: System, questions: Sequence[Question]) -> None:
    """Guard the questions of a live generator; recorded answers and other kinds of system pass."""
    if system.kind != "generator" or system.identity.startswith("replay:"):
        return
    for question in questions:
        guard_question(question, system.parameters, system.identity)


def guard_answer(system: System, answer: Answer) -> Answer:
    """Refuse to keep a generator's answer that is more than a hash and labels."""
    if system.kind != "generator" or system.identity.startswith("replay:"):
        return answer
    if not _only_labels(answer.raw):
        raise PromptRefused(
            f"{system.name!r} answered with more than a hash and labels, and images are never stored. Use a "
            "system of portrayal.systems.generators"
        )
    return answer


def _only_labels(raw: bytes) -> bool:
    try:
        data = parse_json(raw)
    except ValueError:
        return False
    if not isinstance(data, Mapping) or set(data) - {"sha256", "outcome", "labels"}:
        return False
    texts = [data.get("outcome", ""), *(row.get("label", "") for row in data.get("labels", []))]
    short = all(isinstance(text, str) and len(text) <= LONGEST_LABEL for text in texts)
    return short and re.fullmatch(r"[0-9a-f]{64}|", str(data.get("sha256", ""))) is not None


def leaves(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield every value of nested settings with the names it stands under."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from leaves(inner, (*path, str(key)))
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from leaves(inner, path)
    else:
        yield path, value


def _check_parameter(path: tuple[str, ...], value: Any, question: Question) -> None:
    keys = [key.lower() for key in path]
    name = ".".join(path)
    apart = (re.sub(r"[_\-.]|(?<=[a-z])(?=[A-Z])", " ", key).lower() for key in path)  # init_image and initImage alike
    if any(SAFETY.search(key) for key in keys):
        plain = value.lower() if isinstance(value, str) else value
        if plain not in SAFE_VALUES or (value == 1 and value is not True):
            raise PromptRefused(f"the parameter {name!r} turns a safety filter off or lower")
    elif any(map(IMAGE_INPUTS.search, apart)) and not (keys[-1] in COUNTS and isinstance(value, int)):
        raise PromptRefused(f"the parameter {name!r} gives the generator an image or an adapter")
    elif any("negative" in key for key in keys):
        check_prompt(question.content, negative=value)
    elif isinstance(value, str):
        _check_text(name, keys, value, question)
    elif value is not None and not isinstance(value, bool | int | float):
        raise PromptRefused(f"the parameter {name!r} is a {type(value).__name__}")


def _check_text(name: str, keys: Sequence[str], value: str, question: Question) -> None:
    if "{base64}" in value or "{stimulus}" in value:
        raise PromptRefused(f"the parameter {name!r} holds a placeholder generators do not get")
    if "{" in value:
        check_prompt(value.replace("{content}", question.content).replace("{prompt}", question.content))
    # A name alone, or a place that is not sent as part of a prompt.
    elif any(TECHNICAL.fullmatch(one) for one in (keys[-1], ".".join(keys))) and TECHNICAL_TEXT.fullmatch(value):
        refuse_listed(re.sub(r"[_/:.$*]", " ", value))
    else:
        check_prompt(value)
