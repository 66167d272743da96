"""First screen of a report: five questions, alarms, and a card per audit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
from markupsafe import Markup

from portrayal.reporting.charts.drawing import Drawing
from portrayal.reporting.charts.looks import Looks
from portrayal.reporting.page.miniature import miniature
from portrayal.reporting.page.pictures import picture_view
from portrayal.reporting.page.section import UNFINISHED, Section
from portrayal.run.silence import ANSWERED
from portrayal.stats.decisions.decision import FOUND, NOT_FOUND, NOT_MEASURABLE, NOT_TESTED
from portrayal.text.formatting import count, first_sentence, listed, plural, share

Said = Mapping[str, Any]
SURE = "Found means declared, adjusted p under .05, an interval clear of no harm, and no failed check."
PLANTED = "their answers were planted to show the instrument at work and say nothing about any real system"


def answers_in_short(sections: Sequence[Section]) -> list[tuple[str, str]]:
    """Return the five questions a reader comes with, each with its answer in counts."""
    return [
        ("What was asked", _asked(sections)),
        ("Of which systems", _systems(sections)),
        ("What was found", _found(sections)),
        ("How sure", f"{_tested(sections)} {SURE}"),
        ("What cannot be said", _open(sections)),
    ]


def _asked(sections: Sequence[Section]) -> str:
    stems = len({section.audit.stem for section in sections})
    questions = sum(section.questions() for section in sections)
    done = sum(section.total("done") for section in sections)
    studies = f", {plural(len(sections), 'study', 'studies')}" if len(sections) > stems else ""
    return f"{plural(stems, 'audit')}{studies}: {plural(questions, 'question')}, {count(done)} answered ({share(done, questions)})."


def _systems(sections: Sequence[Section]) -> str:
    """Count real and simulated systems apart; the real ones are named where they are few."""
    named = {
        str(system.get("name")): str(system.get("name")) in section.simulated
        for section in sections
        for system in section.systems
    }
    real = [name for name, planted in named.items() if not planted]
    planted = len(named) - len(real)
    names = f" ({listed(real)})" if 0 < len(real) <= 4 else ""
    said = f"{plural(len(real), 'real system')}{names}" if real else "No real system"
    return f"{said}, and {planted:,} simulated: {PLANTED}." if planted else f"{said}; none is simulated."


def _found(sections: Sequence[Section]) -> str:
    found = [
        row["system"] in section.simulated
        for section in sections
        for one in section.findings
        if (row := _row(section, one.row))["decision"] == FOUND
    ]
    real, simulated = found.count(False), found.count(True)
    if not found:
        return "Nothing was found."
    of = f"{plural(real, 'finding')} about real systems" if real else "Nothing was found about a real system"
    return f"{of}; {plural(simulated, 'planted effect')} found in simulated ones." if simulated else f"{of}."


def _tested(sections: Sequence[Section]) -> str:
    tests = sum(section.measured.results.filter(pl.col("p_adjusted").is_not_null()).height for section in sections)
    return f"{plural(tests, 'test')} in the declared families."


def _open(sections: Sequence[Section]) -> str:
    decided = [_row(section, one.row)["decision"] for section in sections for one in section.findings]
    parts = [
        f"{count(decided.count(decision))} {words}"
        for decision, words in (
            (NOT_MEASURABLE, "could not be measured"),
            (NOT_TESTED, "could not be tested"),
            (NOT_FOUND, "were tested and not found, which does not show that there is no harm"),
        )
        if decided.count(decision)
    ]
    return f"Of the claims, {listed(parts)}." if parts else "Nothing beyond the limits named in each section."


def _row(section: Section, row: int) -> dict[str, Any]:
    return section.measured.results.row(row, named=True)


def alarms(sections: Sequence[Section]) -> list[dict[str, str]]:
    """Return alarms, the gravest first: silent systems, failed checks, open work, failures."""
    told = [*_each(sections, silences), *_each(sections, lambda one: one.measured.warnings)]
    return [*told, *_each(sections, unfinished), *_each(sections, failures)]


def _each(sections: Sequence[Section], says: Any) -> list[dict[str, str]]:
    return [
        {"anchor": section.anchor, "title": section.audit.title, "sentence": sentence}
        for section in sections
        for sentence in says(section)
    ]


def silences(section: Section) -> list[str]:
    """Return the sentences about systems of which nothing can be said."""
    results = section.measured.results
    return [one.sentence for one in section.findings if is_silent(results, one.row)]


def is_silent(results: pl.DataFrame, row: int) -> bool:
    """Tell whether a row says that a system gave no usable answer."""
    return bool(results["measure"][row] == ANSWERED)


def unfinished(section: Section) -> list[str]:
    """Return the line about questions without an answer, where there are some."""
    missing = section.total(*UNFINISHED)
    if not missing:
        return []
    states = {"planned": "planned", "in_flight": "in flight", "unknown": "unknown"}
    parts = [f"{section.total(state):,} {word}" for state, word in states.items() if section.total(state)]
    has = "has" if missing == 1 else "have"
    return [
        f"This is over unfinished work: {missing:,} of {plural(section.questions(), 'question')} {has} no answer yet"
        f" ({listed(parts)}). portrayal audit on the study goes on."
    ]


def failures(section: Section) -> list[str]:
    """Return the lines about questions that failed, and about answers that cannot be read."""
    whole = plural(section.questions(), "question")
    told = {"failed": "failed", "unreadable": "got an answer that cannot be read"}
    return [
        f"{number:,} of {whole} {what} and count{'s' if number == 1 else ''} as missing."
        for state, what in told.items()
        if (number := section.total(state))
    ]


def cards(sections: Sequence[Section], drawings: Sequence[Sequence[Drawing]], looks: Looks) -> list[dict[str, Any]]:
    """Return one card per audit: a picture or small chart and one sentence."""
    by_stem: dict[str, list[int]] = {}
    for place, section in enumerate(sections):
        by_stem.setdefault(section.audit.stem, []).append(place)
    made = []
    for places in by_stem.values():
        first = sections[places[0]]
        said = headline(first)
        made.append(
            {
                "anchor": first.anchor,
                "title": first.audit.title,
                "picture": _picture(drawings[places[0]]),
                "chart": Markup(miniature(first, said["row"] if said else None, looks)),
                "sentence": first_sentence(said["sentence"]) if said else "",
                "decision": said["decision"] if said else "",
                "simulated": bool(said and said["simulated"]),
                "further": [(sections[at].anchor, sections[at].study_name) for at in places[1:]],
            }
        )
    return made


def headline(section: Section) -> Said | None:
    """Return a section's headline: silence, then real findings, then any finding, then the rest."""
    results = section.measured.results
    told = [
        {
            "sentence": one.sentence,
            "row": one.row,
            "decision": results["decision"][one.row],
            "simulated": results["system"][one.row] in section.simulated,
        }
        for one in section.findings
    ]
    silent = [one for one in told if is_silent(results, one["row"])]
    found = [one for one in told if one["decision"] == FOUND]
    real = [one for one in found if not one["simulated"]]
    return next(iter([*silent, *real, *found, *told]), None)


def _picture(drawings: Sequence[Drawing]) -> dict[str, Any] | None:
    """Return the first of a section's pictures."""
    shown = [one for one in drawings if one.png and not one.svg]
    return picture_view(shown[0]) if shown else None
