"""Text templates, and the right a or an before what is filled in.

The formats as printed put "a" before every stimulus ("a angry person"); the right form is the default, and the printed one a
variant. The authors' article agrees with a set's first stimulus: "an angry adult", but "a individual", "a engineer".
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from portrayal.errors import PortrayalError
from portrayal.text.lexicons import word_list

SLOT = "[stimulus]"
# Spelt with a vowel, spoken with a consonant: a university, a European, a one-time offer. "unin" and "unim"
# (uninvited, unimportant) are spoken as they are spelt.
CONSONANT_SOUND = re.compile(r"(uni(?!n|m)|use|usu|uti|ubiq|eu|ewe|one\b|one-|once|ouija)", re.IGNORECASE)
SILENT_H = re.compile(r"(hour|honest|honou?r|heir)", re.IGNORECASE)
SPELT_OUT = re.compile(r"[AEFHILMNORSX][A-Z]+\b")  # an FBI agent, an MRI: letters read by their names


def article(words: str) -> str:
    """Return 'a' or 'an', as English puts it before these words."""
    if SPELT_OUT.match(words) or SILENT_H.match(words):
        return "an"
    vowel = words[:1].lower() in {"a", "e", "i", "o", "u"}
    return "an" if vowel and not CONSONANT_SOUND.match(words) and not re.match(r"[A-Z]{2,}\b", words) else "a"


def fill(template: str, stimulus: str, right_article: bool = True, first: str | None = None) -> str:
    """Put the stimulus into the template."""
    if right_article:
        agreeing = rf"\g<1>{article(first or stimulus)[1:]} "
        template = re.sub(r"\b([Aa])n? (?=\[stimulus\])", agreeing, template)
    return template.replace(SLOT, stimulus)


def templates(named: str | Sequence[str]) -> list[str]:
    """Return the templates of a name ('none', 'paper'), or check those given."""
    if named == "none":
        return [SLOT]
    if named == "paper":
        return word_list("associations_text:prompts")
    listed = [named] if isinstance(named, str) else list(named)
    for template in listed:
        if SLOT not in template:
            raise PortrayalError(
                f"template {template!r} has no {SLOT}. Put {SLOT} where the stimulus goes, or use 'none' or 'paper'."
            )
    if not listed or len(set(listed)) < len(listed):
        raise PortrayalError("templates is empty or names one twice. Give each template once.")
    return listed
