"""Sentences read back against their rows: numbers, direction, groups, denominators, decision, and words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from portrayal.audits.captions.measures.standing_null import ALSO
from portrayal.reporting.words.conclusions import Conclusion
from portrayal.reporting.words.sentences import MOST_WORDS, SINGULAR
from portrayal.stats.decisions.decision import FOUND, NOT_FOUND, NOT_MEASURABLE, NOT_TESTED
from portrayal.stats.decisions.multiplicity import CORRECTED_AWAY, LEVEL
from portrayal.study.audit import Audit, Finding, Measured
from portrayal.study.research_questions import question_keys

Row = Mapping[str, Any]
NUMBER = r"−?(?:∞|(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?)(?: × 10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?"
FIGURES = re.compile(
    rf"(?P<value>{NUMBER})(?P<unit>%| percentage points?)? \("
    rf"(?:95% interval (?P<low>{NUMBER}) to (?P<high>{NUMBER})%?, )?"
    r"(?:n = (?P<bare>[\d,]+)|(?P<n>[\d,]+) (?P<noun>[a-z][a-z ]*?))"
    r"(?:, (?P<missing>[\d,]+) missing)?"
    r"(?:, (?:(?P<sided>one-sided|two-sided) )?adjusted p (?:(?P<sign>[<>]) |= )(?P<p>[\d.]+))?\)"
)
BEGINNINGS = {
    NOT_FOUND: "It was not found that ",
    NOT_TESTED: "It was not tested whether ",
    NOT_MEASURABLE: "It cannot be said whether ",
}
STILL = 1e-9  # rounding
OFTEN = ("more often", "less often")
# What a sentence says of a value above its null and of one below, by measure; of the others only one above is told.
WAYS: Mapping[str, tuple[str, str]] = {
    **dict.fromkeys(("congruence", "inferred_change", "recognition_independence"), OFTEN),
    "attribute_within": ("shifts more towards", "shifts less towards"),
    "attribute_between": ("with more", "with fewer"),
    "expectancy": ("more abstractly", "more concretely"),
    "artifacts_lost": ("leaves out or generalises", "keeps"),
    "systems_difference": ("does more than", "does less than"),
    "gsr": ("ranks documents along", "ranks documents against"),
    "gsr_difference": ("amplifies", "ranks documents less along"),
    "gsr_change": ("more along", "less along"),
    "over_representation_trend": ("about the people the query leans to", "about other people than the query leans to"),
    "eat": ("ties {group} to {attribute} and", "ties {group} to {other_attribute} and"),
    "scweat": ("ties {group} to {attribute} rather", "ties {group} to {other_attribute} rather"),
    **dict.fromkeys(("emotion_word_difference", "sexualised_difference", "depicted_difference"), OFTEN),
    "saliency_difference": ("looks more at", "looks less at"),
    "sexualised_age_trend": ("the older the age", "the younger the age"),
}
ABOVE = (
    "distance_anova", "misgendered", "people_not_mentioned",
    "wrong_group_word", "people_not_mentioned_difference", "wrong_group_word_difference", "group_named_difference",
    "looks_predict_group_term", "tuples_difference", "tuples_change_difference", "object_mention_difference", "demeaning_word",
    "context_specific_harm", "identity_adjective_as_noun", "identity_term_imposed", "correlated_word_included",
    "unanswered_difference", "unanswered_level", "demeaning_word_difference", "identity_adjective_as_noun_difference",
)  # fmt: skip
# What groups of a row are called in sentences, where not by their own name.
CALLED = {
    "a gender": "names a gender",
    "no gender": "names none",
    "neutral": "names no gender",
    "perfect": "a perfect ranking",
}


def faults(
    audit: Audit, measured: Measured, findings: Sequence[Finding], conclusions: Sequence[Conclusion]
) -> list[str]:
    """Return what is wrong with the sentences and rows of a measured study."""
    lines = [line for one in findings for line in _sentence_faults(audit, measured, one)]
    lines += [line for one in conclusions for line in _answer_faults(audit, measured, one)]
    return [*lines, *row_faults(measured.results)]


def _sentence_faults(audit: Audit, measured: Measured, finding: Finding) -> Iterator[str]:
    row = measured.results.row(finding.row, named=True)
    told, begins = [*_words(measured, finding.sentence)], f"{audit.kind_of(row).capitalize()}: "
    if finding.sentence.startswith(begins) and row["decision"] == FOUND:
        finding = replace(finding, sentence=finding.sentence.removeprefix(begins))
    elif audit.kind_of(row) == ALSO:
        told.append("does not say that it is also true of people")
    if finding.figures:
        told += [*_decision(measured, row, finding), *_figures(row, finding), *_beside(row, finding.sentence, measured)]
    if finding.figures and row["decision"] == FOUND:
        told += [*_direction(row, finding.sentence), *_groups(row, finding.sentence)]
    yield from (f"{line}: {finding.sentence}" for line in told)


def _words(measured: Measured, text: str) -> Iterator[str]:
    """Yield the sentences that are too long; a system's name is one word, and figures are none."""
    for system in sorted(set(measured.results["system"]), key=len, reverse=True):
        text = text.replace(measured.shown(system), "S").replace(system, "S")
    for sentence in re.split(r"(?<=[.?!])\s+(?=[A-Z])", FIGURES.sub("", text)):
        for part in sentence.split(": ", 1):
            words = re.split(r"; ", part)[0].split()
            if len(words) > MOST_WORDS:
                yield f"{len(words)} words in {part!r}"


def _decision(measured: Measured, row: Row, finding: Finding) -> Iterator[str]:
    begins = BEGINNINGS.get(row["decision"], measured.shown(row["system"]))
    if not finding.sentence.startswith(begins):
        yield f"does not begin as {row['decision']!r} does"
    if measured.shown(row["system"]) not in finding.sentence:
        yield "does not name its system"


def _figures(row: Row, finding: Finding) -> Iterator[str]:
    match = FIGURES.search(finding.sentence)
    if match is None or finding.figures not in finding.sentence:
        yield "has no figures"
        return
    scale = 100.0 if row["unit"] in ("share", "points") else 1.0
    numbers = {name: _number(match[name]) for name in ("value", "low", "high")}
    expected = {name: None if row[name] is None else row[name] * scale for name in numbers}
    turned = {"value": _minus(expected["value"]), "low": _minus(expected["high"]), "high": _minus(expected["low"])}
    shown = [match["value"], match["low"], match["high"]]
    if not any(_same(shown, [side[name] for name in numbers]) for side in (expected, turned)):
        yield f"figures {shown} are not {expected}"
    if _number(match["n"] or match["bare"]) != row["n"] or (_number(match["missing"]) or 0) != (row["n_missing"] or 0):
        yield f"counts other units than {row['n']} and {row['n_missing']} missing"
    noun = row["counted"] and (
        SINGULAR.get(row["counted"], row["counted"].removesuffix("s")) if row["n"] == 1 else row["counted"]
    )
    if (match["noun"] or None) != noun:
        yield f"counts {match['noun']!r}, not {noun!r}"
    if row["p_adjusted"] is not None and not _same_p(match["sign"], match["p"], row["p_adjusted"]):
        yield f"adjusted p is {row['p_adjusted']}"


def _beside(row: Row, sentence: str, measured: Measured) -> Iterator[str]:
    """Yield what is wrong with further numbers of a row that was not found."""
    scale = 100.0 if row["unit"] in ("share", "points") else 1.0
    if match := re.search(
        rf"; alone p (?:(?P<sign>[<>]) |= )(?P<p>[\d.]+), but {CORRECTED_AWAY} (\d+) tests", sentence
    ):
        if not _same_p(match["sign"], match["p"], row["p"]) or f"{CORRECTED_AWAY} {match[3]} tests" != row["reason"]:
            yield f"alone p is {row['p']}, {row['reason']}"
    elif row["decision"] == NOT_FOUND and (row["reason"] or "").startswith(CORRECTED_AWAY):
        yield "does not say that it was found alone"
    match = re.search(rf"an effect of ({NUMBER}).* would have been found", sentence)
    if match and not _same([match[1]], [row["detectable"] * scale]):
        yield f"detectable is {row['detectable']}"
    if match := re.search(rf"leaves out effects beyond ({NUMBER})", sentence):
        ends = [row[name] * scale for name in ("low", "high")]
        if not any(_same([match[1]], [end]) for end in ends):
            yield f"the interval ends at {ends}"
    if match := re.search(r" in (\d+) tests(?: \(|\. )", sentence):
        same = pl.all_horizontal(
            pl.col(name).eq_missing(pl.lit(row[name]))
            for name in ("system", "measure", "attribute", "pole_low", "pole_high")
            if name in row and (name != "attribute" or "pole_low" in row)
        )
        rows = measured.results.filter(same, pl.col("p_adjusted").is_not_null(), decision=row["decision"])
        if rows.height != int(match[1]):
            yield f"there are {rows.height} such tests"


def _direction(row: Row, sentence: str) -> Iterator[str]:
    value, null = row["value"], row["null"] or 0.0
    if row["measure"] in ("raw_slope", "refusal_slope"):
        low, high = row["pole_low"] or "more feminine", row["pole_high"] or "more masculine"
        ways = tuple(
            f"as a face is made {pole if pole.startswith('more') else f'closer to the pole {pole}'}"
            for pole in (high, low)
        )
    elif row["measure"] in ABOVE or row["measure"].endswith("_worst_group"):
        printed = FIGURES.search(sentence)
        scale = 100.0 if row["unit"] in ("share", "points") else 1.0
        if printed is None or (_number(printed["value"]) or 0) < null * scale:
            yield "tells a harm below its null"
        return
    else:
        ways = WAYS[row["measure"]]
    above, below = (way.format_map(row) for way in ways)
    if (above if value > null else below) not in sentence or (below if value > null else above) in sentence:
        yield f"the value is {value}"


def _groups(row: Row, sentence: str) -> Iterator[str]:
    """Yield groups that are not named, or named in the wrong order."""
    names = [name for name in ("group", "versus") if row[name] and row[name] not in ("all", "the others")]
    if row["measure"] in ("gsr", "over_representation_trend", "systems_difference") or not names:
        return
    claim = sentence.split(": ")[0]
    places = [_place(CALLED.get(row[name], row[name]), claim) for name in names]
    if min(places) < 0:
        yield f"does not name {[row[name] for name in names]}"
    turned = row["measure"] in ABOVE and row["value"] < (row["null"] or 0.0)
    if len(places) == 2 and (places[0] > places[1]) != turned:
        yield "names its groups in the wrong order"


def _place(name: str, text: str) -> int:
    match = re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text)
    return match.start() if match else -1


def _answer_faults(audit: Audit, measured: Measured, one: Conclusion) -> Iterator[str]:
    """Yield what is wrong with an answer to a research question."""
    rows = measured.results.with_columns(question_keys(audit.research_questions, measured.results))
    if one.row is not None:
        first = rows.row(one.row, named=True)
        mine = rows.filter(pl.col("p_adjusted").is_not_null(), system=one.system, question=first["question"])
        found = mine.filter(decision=FOUND).height
        expected = "yes" if found else "no" if mine.height else one.answer
        if (one.answer, one.tests, one.found) != (expected, mine.height, found) or first["system"] != one.system:
            yield f"{one.sentence}: {found} of {mine.height} tests were found"
        if one.answer in ("yes", "no") and any(_figures(first, Finding(one.figures, one.row, one.figures))):
            yield f"{one.sentence}: its figures are not those of row {one.row}"
    if len(one.text.split()) > MOST_WORDS:
        yield f"{one.text}: too long"


def row_faults(results: pl.DataFrame) -> Iterator[str]:
    """Yield rows whose decision, p and interval contradict each other, or what is possible."""
    for row in results.iter_rows(named=True):
        value, low, high, p = (row[name] for name in ("value", "low", "high", "p"))
        if None in (value, low, high):
            continue
        null, about = (
            row["null"] or 0.0,
            {name: row[name] for name in ("system", "measure", "value", "low", "high", "p", "reason")},
        )
        least, most = {"share": (0.0, 1.0), "points": (-1.0, 1.0)}.get(row["unit"] or "", (float("-inf"), float("inf")))
        if not least - STILL <= low <= value + STILL <= high + 2 * STILL <= most + 3 * STILL:
            yield f"an interval beyond what is possible: {about}"
        if p is None:
            continue
        if (low > null or high < null) != (p < LEVEL):
            yield f"p and interval disagree: {about}"
        # A share of variance under what chance gives has an interval that ends where it lies.
        at_bound = (
            value in (least, most) or abs(value) >= 2.0 - STILL or (row["measure"] == "distance_anova" and p > 0.95)
        )
        if row["decision"] in (FOUND, NOT_FOUND) and not at_bound and not low < value < high:
            yield f"an interval that begins or ends at its own estimate: {about}"
        if (
            row["decision"] == NOT_FOUND
            and p < LEVEL
            and (row["reason"] or "").startswith(CORRECTED_AWAY) != (row["p_adjusted"] != p)
        ):
            yield f"it does not say what took it away: {about}"


def _number(text: str | None) -> float | None:
    if text is None:
        return None
    plain = text.replace("−", "-").replace(",", "").replace("∞", "inf")
    mantissa, _, power = plain.partition(" × 10")
    raised = power.translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789"))
    return float(mantissa) * 10.0 ** int(raised or 0)


def _minus(value: float | None) -> float | None:
    return None if value is None else -value


def _same(texts: Sequence[str | None], values: Sequence[float | None]) -> bool:
    """Tell whether printed numbers are these, but for rounding."""
    for text, value in zip(texts, values, strict=True):
        number = _number(text)
        if number is None or value is None:
            if (number is None) != (value is None):
                return False
            continue
        places = len(text.partition(".")[2]) if text and "×" not in text else 9
        half = 0.5 * 10.0**-places if text and "×" not in text else 0.06 * abs(value)
        if number != value and abs(number - value) > half * (1 + 1e-6) + 1e-12:
            return False
    return True


def _same_p(sign: str | None, text: str | None, p: float) -> bool:
    if text is None:
        return False
    number = float(text)
    return p < number if sign == "<" else p > number if sign == ">" else abs(p - number) <= 0.0005 + 1e-9
