"""Made-up sections of all five audits, as a report would get them. The numbers mean nothing."""

from __future__ import annotations

import math
import random

import polars as pl

from portrayal.audits.base import Audit, Chart, Finding, Measured, ReportTable
from portrayal.report import charts
from portrayal.report.curve import specification_curve
from portrayal.report.page import Section
from portrayal.study import Settings
from portrayal.tables import results

NASTY = "<script>window.__ran = true</script>\x00\x1b[31m\u202e & \"quoted\" 'x' ]]> --> </style></svg>"
STEMS = ("contexts", "captions", "counterfactuals", "search", "associations")

TITLES = {
    "contexts": (
        "People in stereotyped places",
        "Does a tagger see a person differently in a stereotyped place?",
    ),
    "captions": (
        "Five harms in captions",
        "Which of five representational harms do captions do, and where do they arise?",
    ),
    "counterfactuals": (
        "Only the face changes",
        "Does a label become more likely as only the face's gender or race cue changes?",
    ),
    "search": ("Gender in result lists", "Do result lists repeat the gender stereotype in the query?"),
    "associations": (
        "What an encoder ties to whom",
        "Does an encoder tie emotions, professions or sex to some people and not to others?",
    ),
}
ROWS = {
    "contexts": ("tag_difference", "kitchen - garage", ["women", "men", "nonbinary people"], "share of tags"),
    "captions": (
        "stereotyping_rate",
        "difference from the mean",
        ["women", "men", "people read as Black"],
        "share of captions",
    ),
    "counterfactuals": (
        "slope",
        "label 'attractive' per step",
        ["gender cue", "skin tone cue"],
        "log odds per step",
    ),
    "search": (
        "gsr",
        "observed - base rate",
        ["nurse", "plumber", "CEO", "teacher"],
        "gender stereotype reinforcement",
    ),
    "associations": (
        "effect_size",
        "pleasant - unpleasant",
        ["flowers and insects", "European and African names", "math and arts"],
        "d",
    ),
}
VALIDITY = (
    "The number compares answers; it does not say what happens to people who meet them.",
    "Gender labels were assigned by annotators from pictures, not by the people shown.",
    "Ten people stand behind these pictures: the intervals are over people, and ten are few.",
)


def make_audit(stem: str) -> Audit:
    """Return an audit of this stem with nothing behind it."""
    title, question = TITLES[stem]
    return Audit(
        stem=stem,
        title=title,
        question=question,
        kind="encoder",
        settings=Settings,
        stimuli=lambda study: pl.DataFrame(),
        measure=lambda evidence, settings: Measured(results([])),
        charts=lambda measured: [],
        findings=lambda measured: [],
        validity=VALIDITY,
    )


def make_results(stem: str, systems: list[str], seed: int = 0) -> pl.DataFrame:
    """Return rows for every system and group, one of them without any answer."""
    dice = random.Random(seed)
    measure, contrast, groups, unit = ROWS[stem]
    rows = []
    for group in groups:
        for system in systems:
            value, half = dice.gauss(0.3, 0.4), 0.1 + 0.3 * dice.random()
            rows.append(
                {
                    "audit": stem, "system": system, "measure": measure, "group": group, "contrast": contrast,
                    "value": value, "low": value - half, "high": value + half,
                    "p": math.erfc(abs(value) / half * 1.4), "p_adjusted": min(1.0, 3 * math.erfc(abs(value) / half * 1.4)),
                    "n": dice.randint(8, 240), "n_missing": dice.choice([0, 0, 3]), "unit": unit,
                    "note": "exact permutation test, one-sided",
                }
            )  # fmt: skip
    rows.append(
        {"audit": stem, "system": systems[-1], "measure": "refusal_rate", "group": "all", "contrast": None,
         "value": None, "low": None, "high": None, "p": None, "n": 0, "n_missing": 12, "unit": "share of questions",
         "note": "no usable answer; not counted as zero"}
    )  # fmt: skip
    return results(rows)


def make_specifications(stem: str, seed: int = 0, size: int = 60) -> pl.DataFrame:
    """Return a table of specifications, as the associations audit sweeps them."""
    dice = random.Random(seed)
    rows = []
    for number in range(size):
        value = dice.gauss(0.6, 0.5)
        prompts = ("{}", "a {} person", "this is {}", "a photo of a {} person", "the face of someone {}")
        rows.append(
            {"prompt": prompts[number % 5], "targets": ("all", "first half", "second half")[number % 3],
             "ddof": number % 2, "value": value, "low": value - 0.4, "high": value + 0.4}
        )  # fmt: skip
    return pl.DataFrame(rows)


def make_charts(stem: str, measured: Measured) -> list[Chart]:
    """Return the charts an audit of this stem would draw."""
    rows = measured.results.filter(pl.col("value").is_not_null())
    specifications = measured.tables["specifications"]
    forest = charts.forest(rows, label="group", axis=rows["unit"][0])
    curve = specification_curve(specifications, choices=["prompt", "targets", "ddof"], axis="effect size d")
    return [
        Chart(
            "forest",
            "Every estimate with its interval",
            "Points right of the line lean the stereotyped way.",
            forest,
        ),
        Chart("specification_curve", "Specification curve", "Each column is one way of asking.", curve),
    ]


def make_section(
    stem: str = "associations",
    *,
    systems: tuple[str, ...] = ("glove-6b-50d", "all-MiniLM-L6-v2"),
    unfinished: int = 0,
    failed: int = 0,
    warnings: tuple[str, ...] = (),
    study: str = "",
    anchor: str = "",
    seed: int = 0,
    with_charts: bool = True,
) -> Section:
    """Return a section of one stem; `unfinished` questions are spread over planned and unknown."""
    names = list(systems)
    measured = Measured(
        make_results(stem, names, seed),
        {"specifications": make_specifications(stem, seed)},
        warnings=warnings,
    )
    first = measured.results.row(0, named=True)
    sentence = (
        f"{first['system']} leans the stereotyped way for {first['group']}: {first['value']:.2f} {first['unit']}, "
        f"95% interval {first['low']:.2f} to {first['high']:.2f}; those harmed are {first['group']}."
    )
    states = pl.DataFrame(
        [
            {"system": name, "planned": unfinished - unfinished // 6, "in_flight": 0, "done": 240 - unfinished - failed - 4,
             "failed": failed, "refused": 4, "unknown": unfinished // 6}
            for name in names
        ]
    )  # fmt: skip
    return Section(
        audit=make_audit(stem),
        study_name=study or f"{stem}-demo",
        measured=measured,
        charts=make_charts(stem, measured) if with_charts else [],
        findings=[Finding(sentence, 0), Finding("No other group differs by more than chance would bring.", 2)],
        tables=[
            ReportTable("specifications", "All specifications", "One row per way of asking.", measured.tables["specifications"]),
            ReportTable("missing", "Words not found", "Left out of the test.", pl.DataFrame({"word": ["hygienist"], "list": ["professions"]})),
        ],
        systems=[
            {"name": name, "use": f"glove:{name}", "kind": "encoder", "version": "1.0.0", "versions": ["1.0.0"],
             "parameters": {"normalise": True, "batch": 32}}
            for name in names
        ],
        states=states,
        manifest={"portrayal": "0.1.0", "seed": 0, "stimuli": {"count": 240, "sha256": "ab" * 32},
                  "waves": [{"start": "2026-01-05T10:00:00Z", "end": "2026-01-05T10:12:09Z"}]},
        anchor=anchor or stem,
    )  # fmt: skip


def five_sections() -> list[Section]:
    """Return one section per stem; two of them unfinished, one with a failed check."""
    return [
        make_section("contexts", systems=("tagger A", "tagger B", "tagger C"), unfinished=12, seed=1),
        make_section("captions", systems=("captioner A", "captioner B"), failed=7, seed=2),
        make_section(
            "counterfactuals",
            systems=("tagger A",),
            warnings=(
                "The reader saw the gender cue change in only 61% of the faces; at least 80% was declared.",
            ),
            seed=3,
        ),
        make_section("search", systems=("BM25", "MiniLM bi-encoder", "cross-encoder"), seed=4),
        make_section("associations", unfinished=0, seed=5),
    ]


def nasty_section() -> Section:
    """Return a section whose every text from outside tries to break the page."""
    from dataclasses import replace

    section = make_section("associations", systems=(NASTY, "plain"), warnings=(NASTY,), study=NASTY)
    table = ReportTable(
        NASTY, NASTY, NASTY, pl.DataFrame({NASTY: [NASTY, '=HYPERLINK("http://x")'], "n": [1, 2]})
    )
    return replace(section, findings=[Finding(NASTY, 0)], tables=[table], manifest={NASTY: NASTY})
