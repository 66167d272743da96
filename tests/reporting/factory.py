"""Made-up sections of all five audits, as a report would get them. The numbers mean nothing."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import polars as pl

from portrayal.reporting.charts import charts
from portrayal.reporting.page.page import Section
from portrayal.settings import Settings
from portrayal.stats.decisions.decision import decide
from portrayal.study.audit import Audit, Chart, Finding, Measured, ReportTable
from portrayal.tables import results

NASTY = "<script>window.__ran = true</script>\x00\x1b[31m\u202e & \"quoted\" 'x' ]]> --> </style></svg>"
PROMPTS = ("{}", "a {} person", "this is {}", "a photo of a {} person", "the face of someone {}")
STEMS = ("contexts", "captions", "counterfactuals", "search", "associations")

TITLES = {
    "contexts": ("People in stereotyped places", "Does a tagger see a person differently in a stereotyped place?"),
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
    "counterfactuals": ("slope", "label 'attractive' per step", ["gender cue", "skin tone cue"], "log odds per step"),
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
        measure=lambda evidence, settings: Measured(results([], facets=())),
        charts=lambda measured: [],
        findings=lambda measured: [],
        validity=VALIDITY,
    )


def make_results(stem: str, systems: list[str], seed: int = 0) -> pl.DataFrame:
    """Return rows for every system and group, and one row of a system that gave no usable answer."""
    dice = random.Random(seed)
    rows = [_result(stem, system, group, dice) for group in ROWS[stem][2] for system in systems]
    silent = {
        "audit": stem,
        "system": systems[-1],
        "measure": "refusal_rate",
        "group": "all",
        "n": 0,
        "n_missing": 12,
        "unit": "share of questions",
        "note": "no usable answer; not counted as zero",
    }
    return decide(results([*rows, silent], facets=()), [ROWS[stem][0]])


def _result(stem: str, system: str, group: str, dice: random.Random) -> dict[str, object]:
    measure, contrast, _, unit = ROWS[stem]
    value, half = dice.gauss(0.3, 0.4), 0.1 + 0.3 * dice.random()
    p = math.erfc(abs(value) / half * 1.4)
    return {
        "audit": stem,
        "system": system,
        "measure": measure,
        "group": group,
        "versus": contrast,
        "value": value,
        "low": value - half,
        "high": value + half,
        "p": p,
        "n": dice.randint(8, 240),
        "n_missing": dice.choice([0, 0, 3]),
        "unit": unit,
        "note": "exact permutation test, one-sided",
    }


def make_specifications(seed: int = 0, size: int = 60) -> pl.DataFrame:
    """Return a table of specifications, as the associations audit sweeps them."""
    dice = random.Random(seed)
    values = [dice.gauss(0.6, 0.5) for _ in range(size)]
    return pl.DataFrame(
        {
            "prompt": [PROMPTS[number % 5] for number in range(size)],
            "targets": [("all", "first half", "second half")[number % 3] for number in range(size)],
            "ddof": [number % 2 for number in range(size)],
            "value": values,
            "low": [value - 0.4 for value in values],
            "high": [value + 0.4 for value in values],
        }
    )


def make_charts(measured: Measured) -> list[Chart]:
    """Return the charts an audit would draw of these results."""
    rows = measured.results.filter(pl.col("value").is_not_null())
    forest = charts.forest(rows, label="group", axis=rows["unit"][0])
    curve = charts.specification_curve(
        measured.tables["specifications"], choices=["prompt", "targets", "ddof"], axis="effect size d"
    )
    return [
        Chart("forest", "Every estimate with its interval", "Right of the line is the stereotyped way.", forest),
        Chart("specification_curve", "Specification curve", "Each column is one way of asking.", curve),
    ]


def make_states(systems: list[str], unfinished: int = 0, failed: int = 0) -> pl.DataFrame:
    """Return 240 questions a system; of the unfinished ones a sixth is unknown, the others are planned."""
    unknown = unfinished // 6
    counts = {
        "planned": unfinished - unknown,
        "in_flight": 0,
        "done": 240 - unfinished - failed - 4,
        "failed": failed,
        "refused": 4,
        "unreadable": 0,
        "unknown": unknown,
    }
    return pl.DataFrame([{"system": name, **counts} for name in systems])


def make_findings(measured: Measured) -> list[Finding]:
    """Return two sentences, traced to rows."""
    row = measured.results.row(0, named=True)
    sentence = (
        f"{row['system']} leans the stereotyped way for {row['group']}: {row['value']:.2f} {row['unit']}, "
        f"95% interval {row['low']:.2f} to {row['high']:.2f} (n = {row['n']})."
    )
    return [Finding(sentence, 0), Finding("The other intervals leave room for no difference.", 1)]


def make_tables(measured: Measured) -> list[ReportTable]:
    """Return a long table and a short one."""
    missing = pl.DataFrame({"word": ["hygienist"], "list": ["professions"]})
    specifications = measured.tables["specifications"]
    return [
        ReportTable("specifications", "All specifications", "One row per way of asking.", specifications),
        ReportTable("missing", "Words not found", "Left out of the test.", missing),
    ]


def make_system(name: str) -> dict[str, object]:
    """Describe a system as a manifest does."""
    return {
        "name": name,
        "use": f"glove:{name}",
        "kind": "encoder",
        "version_asked": "1.0.0",
        "versions_answered": ["1.0.0"],
        "parameters": {"normalise": True, "batch": 32},
    }


def make_manifest(stem: str) -> dict[str, object]:
    """Return a manifest such as a run keeps."""
    return {
        "study": f"{stem}-demo",
        "seed": 0,
        "family": {"method": "holm", "measures": None},
        "versions": {"portrayal": "0.1.0", "python": "3.11.7"},
        "stimuli": {f"stimulus {number}": "ab" * 32 for number in range(240)},
        "waves": [{"started": "2026-01-05T10:00:00+00:00", "ended": "2026-01-05T10:12:09+00:00"}],
    }


def make_stimuli(stem: str) -> pl.DataFrame:
    """Return 240 stimuli with two factors, pictures for the audits of pictures and texts for the others."""
    picture = stem in ("contexts", "captions", "counterfactuals")
    numbers = range(240)
    return pl.DataFrame(
        {
            "stimulus": [f"stimulus {number}" for number in numbers],
            "kind": ["image" if picture else "text" for _ in numbers],
            "content": [f"/secret/{number}.png" if picture else f"a person who works, {number}" for number in numbers],
            "hash": ["ab" * 32 for _ in numbers],
            "source": ["made up for this example" for _ in numbers],
            "license": ["CC0-1.0" for _ in numbers],
            "consent": ["generated" for _ in numbers],
            "person": [f"person {number % 10}" for number in numbers],
            "gender": [("woman", "man", "nonbinary person")[number % 3] for number in numbers],
        }
    )


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
    """Return a section of one stem; `unfinished` and `failed` are questions per system."""
    names = list(systems)
    tables = {"specifications": make_specifications(seed)}
    measured = Measured(make_results(stem, names, seed), tables, warnings=warnings)
    return Section(
        audit=make_audit(stem),
        study_name=study or f"{stem}-demo",
        measured=measured,
        charts=make_charts(measured) if with_charts else [],
        findings=make_findings(measured),
        tables=make_tables(measured),
        systems=[make_system(name) for name in names],
        states=make_states(names, unfinished, failed),
        manifest=make_manifest(stem),
        anchor=anchor or stem,
        stimuli=make_stimuli(stem),
    )


def five_sections() -> list[Section]:
    """Return one section per stem; two of them unfinished, one with a failed check."""
    return [
        make_section(
            "contexts",
            systems=("tagger A", "tagger B", "a simulated tagger with a planted harm"),
            unfinished=12,
            seed=1,
        ),
        make_section("captions", systems=("captioner A", "captioner B"), failed=7, seed=2),
        make_section(
            "counterfactuals",
            systems=("tagger A",),
            warnings=("The reader saw the gender cue change in only 61% of the faces; at least 80% was declared.",),
            seed=3,
        ),
        make_section("search", systems=("BM25", "MiniLM bi-encoder", "cross-encoder"), seed=4),
        make_section("associations", unfinished=0, seed=5),
    ]


def nasty_section() -> Section:
    """Return a section whose every text from outside tries to break the page."""
    section = make_section("associations", systems=(NASTY, "plain"), warnings=(NASTY,), study=NASTY)
    table = ReportTable(NASTY, NASTY, NASTY, pl.DataFrame({NASTY: [NASTY, '=HYPERLINK("http://x")'], "n": [1, 2]}))
    return replace(section, findings=[Finding(NASTY, 0)], tables=[table], manifest={NASTY: NASTY})


def coloured(rows: pl.DataFrame) -> object:
    """A chart whose legend is a gradient: drawn, it has ids and references to them."""
    import altair as alt

    fields = {"x": "group:N", "y": "system:N", "color": "value:Q"}
    return alt.Chart(rows).mark_rect().encode(**fields)
