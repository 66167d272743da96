"""Count research questions of which a null audit prints a finding: `python scripts/sentence_nulls.py [AUDITS [CELL ...]]`.

Cells are shapes that reviews found wrong: labels that are rare at the centre, three and five groups, ten people, one system beside five
others, answers unknown at random. At most 5% of the questions that are tested should print a finding; silence is one of them.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

import polars as pl

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / folder) for folder in ("tests", "packages/faces/src")]

# ruff: noqa: E402
from audits.contexts import made_up_taggers as contexts
from audits.counterfactuals import made_up_taggers as series
from portrayal.flow import audit_evidence
from portrayal.stats.decisions.decision import FOUND
from portrayal.stats.intervals.intervals import wilson
from portrayal.study.audit import Evidence, Finding
from portrayal.study.registry import get_audit
from portrayal.study.research_questions import question_keys
from portrayal.study.study import Study

WORDS = ["wall", "chair", "lovely", "smile", "car", "nice", "person", "dress"]


def steps_of_one_rate(seed: int, people: int, rate: float, systems: int = 1, labels: int = 6) -> tuple[Study, Evidence]:
    """Return series before taggers whose labels come at one rate, more to some people than to others."""

    def tagger(name: int) -> series.Tagger:
        def labels_of(person: int, attribute: str, value: float) -> list[str]:
            draw = Random(f"{seed} {name} {person} {attribute} {value}")
            own = [Random(f"{seed} {name} {person} {label}").uniform(0, 2 * rate) for label in range(labels)]
            return ["Face", *(f"label {label}" for label, chance in enumerate(own) if draw.random() < chance)]

        return labels_of

    return series.evidence_of({f"system {name}": tagger(name) for name in range(systems)}, people)


def people_alike(
    seed: int, each: int, groups: int = 2, unknown: float = 0.0, systems: int = 1
) -> tuple[Study, Evidence]:
    """Return people in places before taggers that name genders and words at random, whoever is shown where."""

    def tagger(name: int) -> Callable[..., list[str] | str]:
        def tags(person: str, gender: str, place: str | None, random: object) -> list[str] | str:
            draw = Random(zlib.crc32(f"{seed} {name} {person} {place}".encode()))
            if draw.random() < unknown:
                return "unknown"
            return [draw.choice(["woman", "man"]), *draw.sample(WORDS, 3)]

        return tags

    taggers = {f"system {name}": tagger(name) for name in range(systems)}
    design = {"described": False, "confidences": []}
    return contexts.study_for(taggers, **design), contexts.evidence_of(taggers, each=each, races="ABCDE"[:groups])


CELLS: dict[str, Callable[[int], tuple[Study, Evidence]]] = {
    **{
        f"series, labels at {rate}% of faces, 24 people": lambda seed, rate=rate: steps_of_one_rate(
            seed, 24, rate / 100
        )
        for rate in (2, 5, 10)
    },
    "series, ten people": lambda seed: steps_of_one_rate(seed, 10, 0.4),
    "series, one system beside five": lambda seed: steps_of_one_rate(seed, 10, 0.4, systems=6),
    "contexts, ten people": lambda seed: people_alike(seed, 5),
    "contexts, three groups": lambda seed: people_alike(seed, 12, groups=3),
    "contexts, five groups": lambda seed: people_alike(seed, 15, groups=5),
    "contexts, a tenth unknown, 24 people": lambda seed: people_alike(seed, 12, unknown=0.1),
}


def questions_found(results: pl.DataFrame, findings: Sequence[Finding], study: Study) -> tuple[int, int]:
    """Return how many questions of a system print a finding, and how many are tested."""
    asked = question_keys(get_audit(study.audit).research_questions, results).alias("question")
    rows = results.with_row_index("row").with_columns(asked).filter(~pl.col("measure").is_in(LEVELS))
    printed = rows.filter(pl.col("row").is_in([one.row for one in findings]), decision=FOUND)
    tested = rows.filter(pl.col("p_adjusted").is_not_null())
    return tuple(part.select("system", "question").n_unique() for part in (printed, tested))  # type: ignore[return-value]


LEVELS = ("misgendered", "unanswered_level")  # who names genders by chance misgenders half of all people: no null


def main(audits: int = 400, *cells: str) -> None:
    """Print the share of questions with a finding, a line a cell."""
    for name in cells or CELLS:
        found = tested = 0
        for seed in range(audits):
            study, evidence = CELLS[name](seed)
            one, of = questions_found(*audit_evidence(study, evidence), study)
            found, tested = found + one, tested + of
        share = wilson(found, tested)
        ends = f"{100 * share.low:.1f} to {100 * share.high:.1f}"
        print(f"{name:46} {found:4} of {tested:5} ({100 * share.value:.1f}%, {ends})", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]), *sys.argv[2:])
