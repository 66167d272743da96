"""Refusals in words, such as "I'm sorry, but I can't identify people".

Vision-language models and captioners decline in sentences, with a status that says all went well. A text is read in
pieces: it refuses where a piece declines in the first person ("I can't describe ...", "my guidelines do not allow ...") or as a filter
speaks ("the response was blocked by the content policy", "unable to generate a caption"), and no piece goes on to describe the
picture. "I can't say who this is, but the image shows a woman in a red coat" is an answer: it holds a description
that can be measured. An offer to describe ("I can describe the clothing if you like") is none.

That a system sees no picture ("please upload it again") is read as a refusal too: it tells nothing of the picture. The phrases are
English. How well this does on answers it was not written on is tested in tests/systems/test_refusals.py.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

LONGEST = 2_000  # characters read: a refusal declines at once, and patterns stay quick on whatever is sent
OPENERS_MOST = 4

_PICTURE = r"(?:images?|pictures?|photos?|photographs?|attachments?|files?|uploads?)"
_THE_PICTURE = rf"(?:an? |any |the |this |that |your |these |those )?{_PICTURE}\b"
# What a system that answers would do. "I can't believe", "I can't wait" and "I can't make out" are none of it.
_ANSWER = (
    r"(?:identify|recogni[sz]e|name(?! an? \w+er\b)|tell(?! you how)|say(?! enough)|describe|assist|help(?! but\b| it\b| \w+ing\b(?! th))|"
    r"provide|give|offer|supply|share|disclose|reveal|answer|respond|reply|comment|continue|proceed|comply|"
    r"fulfil|fulfill|complete|process|analy[sz]e|view|access|interpret|examine|inspect|generate|create|produce|"
    r"write|draw conclusions|list|tag|label|caption|determine|infer|deduce|guess|speculate|assume|judge|assess|"
    r"evaluate|rate|characteri[sz]e|classify|categori[sz]e|discuss|talk|engage|participate|accommodate|handle|"
    r"support|work with|confirm|verify|estimate|perform|detect|do (?:that|this|it|so)\b|be of (?:help|assistance)|"
    rf"make (?!out\b|sense\b)\w+|(?:see|open|load|read|look at) {_THE_PICTURE})\b"
)
_ADVERB = r"(?:\w+ly |yet |also |even |be able to |in good conscience |be comfortable |legally |for privacy reasons )?"
_NOT = r"(?:cannot|could not|can no longer|will not|would not|should not|shall not|must not|may not|do not)"
_UNABLE = r"(?:unable|not (?:\w+ly |yet )?(?:able|allowed|permitted|going|supposed|willing)|unwilling|forbidden)"
_BARRED = (
    r"(?:not (?:\w+ly |yet )?(?:comfortable|programmed|designed|trained|authori[sz]ed|equipped|capable|meant|built|"
    r"in a position)|prohibited from|uncomfortable|restricted from|still learning)"
)
_RULES = r"(?:guidelines?|polic(?:y|ies)|rules?|instructions|programming|training|principles|terms|values)"
_MADE = r"(?:designed|built|programmed|trained|made|created|instructed|told|configured|set up)"
_PROPER = r"(?:possible|appropriate|right|ethical|okay|proper|fair|respectful)"
_DECLINE = r"(?:decline|refuse|refrain|abstain|pass on|skip|opt out|avoid|leave this)"
_LACKED = (
    r"(?:ability|capability|capacity|access|enough|sufficient|information|permission|personal|means|way|eyes|vision)"
)
_SAID = r"(?:captions?|descriptions?|tags?|labels?|answers?|responses?|outputs?|results?|images?|pictures?|photos?|photographs?)"
_SENT = (
    r"(?:request|response|prompt|images?|picture|photo|photograph|content|output|input|answer|caption|description|"
    r"query|question|message|result|upload|completion|generation|reply|text|material)"
)
_STOPPED = (
    r"(?:blocked|filtered|flagged|rejected|declined|withheld|denied|removed|refused|violat\w+|censored|"
    r"redacted|suppressed|restricted|disallowed|prohibited|not allowed|not permitted|unavailable|not available|"
    r"stopped|triggered|against)"
)
_WHY = re.compile(
    r"polic(?:y|ies)|filter|safety (?:system|reason|rule|check|measure|concern|setting)|guideline|moderation|"
    r"restriction|terms of|sensitive|unsafe|harmful|responsible ai"
)
_UNSAID = r"(?:available|generated|provided|attached|produced|found|given|uploaded|received|returned|included|shared)"

# Each holds at the beginning of a piece, after its courtesies: a caption that quotes a refusal begins otherwise.
_REFUSES = re.compile(
    "|".join(
        (
            rf"(?:i|we) {_NOT} {_ADVERB}{_ANSWER}",
            rf"(?:i|we) (?:am|are|was|were|have been) (?:\w+ ){{0,2}}{_UNABLE} to (?:have to )?{_ADVERB}(?:{_ANSWER}|{_DECLINE})",
            rf"(?:i|we) (?:am|are|was|were|have been) (?:\w+ ){{0,2}}{_BARRED}\b",
            rf"(?:i|we) (?:am|was|have been) (?:\w+ly )?{_MADE} .{{0,60}}\b(?:not|cannot|unable)\b",
            r"i am (?:just |only )?an? .{0,60}\b(?:cannot|unable|not able)\b",
            rf"(?:i|we) (?:(?:must|have|had|need|will|would|should|am|going|to|\w+ly) ){{0,5}}{_DECLINE}\b",
            r"(?:i|we) (?:would |will |have |must |try |aim |had |\w+ly ){0,3}(?:rather|prefer|decided|choose|chosen|try|aim) not\b",
            r"(?:i|we) (?:must|have to|need to|aim to|should|strive to) .{0,60}\bcannot\b",
            rf"(?:i|we) (?:do not have|have no|have not|lack) (?:\w+ ){{0,3}}{_LACKED}\b",
            r"(?:i|we) do not (?:feel (?:\w+ )?comfortable|feel right|think (?:i|we|it) (?:should|is|would))",
            rf"(?:i|we) (?:do not|cannot) (?:\w+ )?(?:see|find|have) {_THE_PICTURE}",
            rf"(?:my|our|your|these|current|existing) (?:\w+ ){{0,3}}{_RULES}\b.{{0,60}}"
            r"\b(?:not|cannot|prevent|prohibit|forbid|bar|restrict)",
            rf"it (?:is|would be|would|is simply|may) not (?:be )?{_PROPER} for (?:me|us)\b",
            rf"it (?:is|would) not (?:be )?{_PROPER}(?: or \w+)? to (?!see\b){_ANSWER}",
            rf"it (?:is|would be) (?:inappropriate|unethical|wrong|impossible) (?:for (?:me|us) )?to (?!see\b){_ANSWER}",
            rf"(?:it|this|that) (?:is|goes|would be|would go) against (?:\w+ ){{1,3}}?{_RULES}\b",
            rf"(?:that|this|the|your) request (?:is|goes|would go) against (?:\w+ )?{_RULES}\b",
            r".{0,80}\bis not something (?:i|we) (?:can|do|am|are|will|feel|would)\b",
            r".{0,80}\bis something (?:i|we) (?:cannot|do not|will not|am not|am unable|are unable|are not)\b",
            rf"(?:unable to|cannot|could not|not able to|not allowed to|failed to) {_ANSWER}.{{0,30}}"
            rf"\b(?:{_SAID}|this|that|it|people|request|content)\b",
            rf"no {_SAID} (?:is |was |were |are |could be |can be |has been |will be )?{_UNSAID}\b",
            rf"{_SAID} (?:is |was |could )?(?:not (?:be )?{_UNSAID}|unavailable|withheld)\b",
            rf"there is no {_PICTURE} {_UNSAID}\b",
            rf"there does not (?:seem|appear) to be {_THE_PICTURE}",
        )
    )
)
# A filter's note needs its reason as well: "request denied, stamp, red ink" are tags.
_FILTERED = re.compile(
    rf"(?:(?:the|this|that|your|our|an?|all) )?(?:\w+ ){{0,2}}?{_SENT}s? (?:\w+ ){{0,5}}?{_STOPPED}\b"
)

_OPENER = re.compile(
    r"(?:i am (?:very |so |really |truly )?sorry|(?:very |so )?sorry|i (?:do )?apologi[sz]e|(?:my )?apologies|i am afraid|"
    r"unfortunately|regrettably|i think|i believe|i can (?:tell you|say|add|confirm) that|but|however|and|so|that|"
    r"therefore|thus|because|since|as such|while|although|though|as an? (?:[\w-]+ ){1,6}?(?=i )|"
    r"error|no(?= (?:i|we) ))[ :-]*\b"
)

_KIND = r"(?:an?|one|two|three|four|five|six|several|many|some)"
_PERSON = r"(?:man|woman|person|people|individual|boy|girl|child|children|couple|men|women|group|figure|subject)s?"
_IS = (
    r"(?:is|are|was|were|has|have|had|wears?|appears?|seems?|looks?|holds?|stands?|sits?|plays?|smiles?|walks?|works?|"
    r"carries|carry|reads?|says?)"
)
_SHOWS = r"(?:shows?|depicts?|features?|captures?|displays?|portrays?|contains?|presents?|is of|is an?)"
_DESCRIBES = re.compile(
    "|".join(
        (
            rf"(?:in )?(?:the|this|that|your) (?:\w+ )?{_PICTURE}(?: itself| here)? (?:clearly |mainly )?{_SHOWS}\b",
            rf"(?:the|this|that) (?:\w+ ){{0,2}}?{_PERSON}\b(?: \w+){{0,5}}? {_IS}\b(?! not\b)",
            rf"(?:he|she|they) (?:\w+ly )?{_IS}\b(?! not\b)",
            r"(?:what )?(?:i|we) (?:can |do |could )?(?:see|notice|observe)\b",
            rf"there (?:is|are|seems to be|appears to be) {_KIND}\b",
            rf"(?:it|this|that|these) (?:is|are|seems|appears|looks)(?: to be| to show| like)? {_KIND}\b"
            r"(?! (?:matter|policy|limit|private|real|request))",
            rf"(?:in|at|on) the (?:background|foreground|centre|center|middle|left|right|{_PICTURE})\b,? .{{0,40}}\b{_KIND}\b",
            r"(?:who|which) (?:is|are|seems?|appears?) (?:\w+ly )?\w+ing\b",
            r"the \w+ (?:\w+ ){0,4}?(?:says|reads|reading|saying)\b",
        )
    )
)
_BEGINS_AS_CAPTION = re.compile(
    rf"{_KIND} (?!(?:different|clearer|better|new|other|content|safety)\b)(?!(?:\w+ )?{_SENT}s? (?:\w+ ){{0,3}}?{_STOPPED})"
)
_TALK = re.compile(
    r"\b(?:i|me|my|we|us|our|you|your|please|cannot|not|no|can|could|may|might|would|should|must|if|sorry|error|"
    r"privacy|private|polic(?:y|ies)|guidelines?|safety|ethic\w*|appropriate\w*|respect\w*|information|identity|"
    r"identif\w+|sensitive|filter\w*|personal|request\w*|stereotyp\w*|harm\w*|assumptions?|consent|important)\b"
)

_LONG_FORMS = (
    (re.compile(r"\bcan not\b|\bcan'?t\b"), "cannot"),
    (re.compile(r"\bwon'?t\b"), "will not"),
    (re.compile(r"\bi'?m\b"), "i am"),
    (re.compile(r"\bdont\b|\bdon't\b"), "do not"),
    (re.compile(r"(?<=\w)n't\b"), " not"),
    (re.compile(r"\b(i|we|you|they)'d\b"), r"\1 would"),
    (re.compile(r"(?<=\w)'ll\b"), " will"),
    (re.compile(r"(?<=\w)'ve\b"), " have"),
    (re.compile(r"(?<=\w)'re\b"), " are"),
    (re.compile(r"\b(it|that|there|this|he|she|what)'s\b"), r"\1 is"),
)
_SHORT_FORM = re.compile(r"'|\b(?:can not|cant|wont|im|dont)\b")
_LETTERS = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u02bc\u0060\u00b4", "'"),
        **dict.fromkeys('\u201c\u201d\u00ab\u00bb"*_#[]{}()<>', " "),
        "\u2014": ", ",
        "\u2013": ", ",
    }
)
_SENTENCE_END = re.compile(r"[.!?;:\n]+(?:\s|$)|,? (?:but|however),? |\s--?\s")
_BLANKS = re.compile(r"[ \t\r\f\v]+")


def is_refusal(text: str) -> bool:
    """Say whether an answer in words declines to answer and tells nothing of the picture.

    Returns
    -------
    bool
        True for a refusal. An answer that declines one thing and goes on to describe the picture is an answer.

    Examples
    --------
    >>> is_refusal("I’m sorry, but I can’t identify people in images.")
    True
    >>> is_refusal("I can't identify who this is, but the image shows a woman in a red coat.")
    False
    >>> is_refusal("A woman refuses to sign a letter.")
    False
    """
    sentences = list(_sentences(text))
    reasons = [bool(_WHY.search(sentence)) for sentence in sentences]
    refused = [_refuses(sentence, sum(reasons) > own) for sentence, own in zip(sentences, reasons, strict=True)]
    return any(refused) and not any(
        _describes(sentence) or not (declines or _is_talk(sentence))
        for sentence, declines in zip(sentences, refused, strict=True)
    )


def _sentences(text: str) -> Iterator[str]:
    """Yield the sentences in lower case, with short forms written out."""
    plain = unicodedata.normalize("NFKC", text[:LONGEST].translate(_LETTERS)).lower()[:LONGEST]
    for short, long in _LONG_FORMS if _SHORT_FORM.search(plain) else ():
        plain = short.sub(long, plain)
    for sentence in _SENTENCE_END.split(_BLANKS.sub(" ", plain)):
        stripped = sentence.strip(" '-,.!?\n")
        if stripped:
            yield stripped


def _refuses(sentence: str, reason_elsewhere: bool) -> bool:
    """Return True where a part of this sentence declines."""
    parts = [_without_openers(part) for part in sentence.split(", ")]
    if _is_list(parts):
        return False
    if any(map(_REFUSES.match, parts)):
        return True
    return any(_FILTERED.match(part) and (reason_elsewhere or _WHY.search(part)) for part in parts)


def _is_list(parts: Sequence[str]) -> bool:
    """Return True for a list of tags."""
    return len(parts) > 2 and all(len(part.split()) <= 3 and not part.startswith("i ") for part in parts)


def _is_talk(sentence: str) -> bool:
    """Return True for a courtesy, an offer or a reason."""
    return len(sentence.split()) < 4 or bool(_TALK.search(sentence))


def _without_openers(part: str) -> str:
    piece = part.strip(" '")
    for _ in range(OPENERS_MOST):
        found = _OPENER.match(piece)
        if not found:
            break
        piece = piece[found.end() :]
    return piece


def _describes(sentence: str) -> bool:
    """Return True for a sentence that describes the picture."""
    if _BEGINS_AS_CAPTION.match(_without_openers(sentence)):
        return True
    parts = [part for part in sentence.split(", ") if not part.startswith(("since ", "as ", "because ", "if "))]
    return any(_DESCRIBES.match(_without_openers(part)) for part in parts)
