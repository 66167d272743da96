"""First screen of a report: five questions, alarms, cards; and summary.md."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from portrayal.reporting.charts.drawing import Drawing
from portrayal.reporting.charts.looks import Looks
from portrayal.reporting.page.pictures import miniature, pictures_view
from portrayal.reporting.page.provenance import recorded
from portrayal.reporting.page.section import UNFINISHED, Section
from portrayal.run.silence import ANSWERED
from portrayal.stats.decisions.decision import FOUND, NOT_FOUND, NOT_MEASURABLE, NOT_TESTED
from portrayal.text.formatting import count, first_sentence, listed, plural, share, visible

SURE = "were declared beforehand; results are corrected for testing that many."
APART = {
    "check": "check of the instrument held",
    "improvement": "improvement by a remedy",
    "also true of people": "finding that is also true of people",
}  # counted apart from findings
PLANTED = "their answers were planted to show the instrument at work and say nothing about any real system"
OPEN = {
    NOT_MEASURABLE: "could not be measured",
    NOT_TESTED: "could not be tested",
    NOT_FOUND: "were tested and not found, which does not show that there is no harm",
}
FILES = {
    "report.html": "the page, with figures",
    "results.csv, results.parquet, results.json": "every estimate, unrounded",
    "rows/": "every row, and the answers behind it",
    "charts/, tables/": "figures as SVG and PNG, tables as CSV and Parquet",
    "croissant.json": "the tables described for machines (Croissant 1.0)",
}


def answers_in_short(sections: Sequence[Section]) -> list[tuple[str, str]]:
    """Return the five questions a reader comes with, each with its answer in counts."""
    rows = [(section, section.row(one)) for section in sections for one in section.findings]
    decisions = [row["decision"] for _, row in rows]
    unsure = [f"{count(decisions.count(one))} {words}" for one, words in OPEN.items() if decisions.count(one)]
    tests = sum(section.measured.results["p_adjusted"].count() for section in sections)
    return [
        ("What was asked", _question_counts(sections)),
        ("Of which systems", _systems(sections)),
        ("What was found", _finding_counts([(one.audit.kind_of(row), row["system"] in one.simulated) for one, row in rows
                                            if row["decision"] == FOUND])),
        ("How sure", f"{plural(tests, 'test')} {SURE}"),
        ("What cannot be said", f"Of the claims, {listed(unsure)}." if unsure else
         "Nothing beyond the limits named in each section."),
    ]  # fmt: skip


def _question_counts(sections: Sequence[Section]) -> str:
    stems = len({section.audit.stem for section in sections})
    questions = sum(section.questions for section in sections)
    done = sum(section.total("done") for section in sections)
    studies = f", {plural(len(sections), 'study', 'studies')}" if len(sections) > stems else ""
    return f"{plural(stems, 'audit')}{studies}: {plural(questions, 'question')}, {count(done)} answered ({share(done, questions)})."


def _systems(sections: Sequence[Section]) -> str:
    """Count real and simulated systems apart; the real ones are named where they are few."""
    named = [(str(system.get("name")), section.simulated) for section in sections for system in section.systems]
    planted = {name: name in simulated for name, simulated in named}
    real = [name for name in planted if not planted[name]]
    names = f" ({listed(real)})" if 0 < len(real) <= 4 else ""
    text = f"{plural(len(real), 'real system')}{names}" if real else "No real system"
    simulated = len(planted) - len(real)
    return f"{text}, and {simulated:,} simulated: {PLANTED}." if simulated else f"{text}; none is simulated."


def _finding_counts(findings: Sequence[tuple[str, bool]]) -> str:
    """Say how much was found about real and about simulated systems; checks and improvements apart."""
    if not findings:
        return "Nothing was found."
    real, simulated = findings.count(("finding", False)), sum(planted for _, planted in findings)
    parts = [f"{plural(real, 'finding')} about real systems" if real else "Nothing was found about a real system"]
    apart = {words: findings.count((kind, False)) for kind, words in APART.items()}
    parts += [plural(count, words, words.replace(" ", "s ", 1)) for words, count in apart.items() if count]
    return (
        "; ".join([*parts, *([f"{plural(simulated, 'planted effect')} found in simulated ones"] if simulated else [])])
        + "."
    )


def alarms(sections: Sequence[Section]) -> list[dict[str, str]]:
    """Return alarms, the gravest first: silent systems, failed checks, open work, failures."""
    kinds: tuple[Callable[[Section], Sequence[str]], ...] = (_silences, _warnings, _unfinished, _failures)
    return [
        {"anchor": section.anchor, "title": section.audit.title, "sentence": sentence}
        for says in kinds
        for section in sections
        for sentence in says(section)
    ]


def is_silent(row: Mapping[str, Any]) -> bool:
    """Tell whether a row says that a system gave no usable answer."""
    return bool(row["measure"] == ANSWERED)


def _silences(section: Section) -> list[str]:
    return [one.sentence for one in section.findings if is_silent(section.row(one))]


def _warnings(section: Section) -> Sequence[str]:
    return section.measured.warnings


def _unfinished(section: Section) -> list[str]:
    """Return the line about questions without an answer, where there are some."""
    counts = {state: section.total(state) for state in UNFINISHED}
    missing = sum(counts.values())
    parts = listed([f"{counts[state]:,} {state.replace('_', ' ')}" for state in UNFINISHED if counts[state]])
    line = (
        f"This is over unfinished work: {missing:,} of {plural(section.questions, 'question')}"
        f" {'has' if missing == 1 else 'have'} no answer yet ({parts}). portrayal audit on the study goes on."
    )
    return [line] if missing else []


def _failures(section: Section) -> list[str]:
    """Return the lines about questions that failed, and about answers that cannot be read."""
    words = {"failed": "failed", "unreadable": "got an answer that cannot be read"}
    whole = plural(section.questions, "question")
    return [
        f"{number:,} of {whole} {what} and count{'s' if number == 1 else ''} as missing."
        for state, what in words.items()
        if (number := section.total(state))
    ]


def cards(sections: Sequence[Section], drawings: Sequence[Sequence[Drawing]], looks: Looks) -> list[dict[str, Any]]:
    """Return one card per audit: a picture or small chart and one sentence."""
    by_stem: dict[str, list[int]] = {}
    for place, section in enumerate(sections):
        by_stem.setdefault(section.audit.stem, []).append(place)
    return [
        {
            **_headline(sections[places[0]], looks),
            "picture": next(pictures_view(drawings[places[0]]), None),
            "further": [(sections[at].anchor, sections[at].study_name) for at in places[1:]],
        }
        for places in by_stem.values()
    ]


def _headline(section: Section, looks: Looks) -> dict[str, Any]:
    """Return a section's sentence: silence, then real findings, then any finding, then the rest."""
    rows = [section.row(one) for one in section.findings]
    grave = [
        3 if is_silent(row) else (row["decision"] == FOUND) * (1 + (row["system"] not in section.simulated))
        for row in rows
    ]
    best = grave.index(max(grave)) if grave else None
    finding, row = (None, {}) if best is None else (section.findings[best], rows[best])
    return {
        "anchor": section.anchor,
        "title": section.audit.title,
        "chart": miniature(section, finding.row if finding else None, looks),
        "sentence": first_sentence(finding.sentence) if finding else "",
        "decision": row.get("decision", ""),
        "simulated": row.get("system") in section.simulated,
    }


def summary(sections: Sequence[Section], title: str) -> str:
    """Return summary.md in the manner of a model card: questions, findings, limits and files."""
    parts = [
        f"# {_text(title)}",
        "\n".join(f"- **{question}**: {_text(answer)}" for question, answer in answers_in_short(sections)),
        _list("Read this first", [f"{one['title']}: {one['sentence']}" for one in alarms(sections)]),
        *map(_section, sections),
        _list("Files", [f"{name}: {what}" for name, what in FILES.items()]),
        _text(recorded([section.manifest for section in sections])),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def _section(section: Section) -> str:
    claims = {
        decision: [one.sentence for one in section.findings if section.row(one)["decision"] == decision]
        for decision in (FOUND, NOT_MEASURABLE)
    }
    rest = len(section.findings) - sum(map(len, claims.values()))
    systems, questions = _text(listed(section.shown_systems)), plural(section.questions, "question")
    parts = [
        f"## {_text(section.audit.title)}: {_text(section.study_name)}",
        _text(section.audit.question),
        f"Systems: {systems}. {questions}, {section.total('done'):,} answered.",
        _list("Found", claims[FOUND], 3) or "Nothing was found.",
        _list("Not measurable", claims[NOT_MEASURABLE], 3),
        f"{plural(rest, 'more sentence')} about what was not found or not tested in report.html." if rest else "",
        _list("What it does not show", section.audit.validity, 3),
        _list("Remarks", section.measured.remarks, 3),
    ]
    return "\n\n".join(filter(None, parts))


def _list(heading: str, lines: Sequence[str], level: int = 2) -> str:
    return f"{'#' * level} {heading}\n\n" + "\n".join(f"- {_text(line)}" for line in lines) if lines else ""


def _text(text: str) -> str:
    """Return text that Markdown prints as it stands: systems and studies may be called anything."""
    return re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", " ".join(visible(text).split()))
