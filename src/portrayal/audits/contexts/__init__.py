"""The contexts audit: whether a tagger sees a person differently in a stereotyped place."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from portrayal.audits.contexts.charts import all_charts, tradeoff_table
from portrayal.audits.contexts.findings import summary
from portrayal.audits.contexts.inputs import read_inputs
from portrayal.audits.contexts.measure import measure, stereotypes_of
from portrayal.audits.contexts.measures.questions import FAMILY
from portrayal.audits.contexts.settings import ContextsSettings
from portrayal.audits.contexts.stimuli import make_stimuli
from portrayal.runs.audit import Audit, Finding, Measured, ReportTable
from portrayal.runs.study import Study


def find_sentences(measured: Measured, settings: ContextsSettings) -> list[Finding]:
    """Return the summary, each sentence with its row."""
    stereotypes = stereotypes_of(measured.tables["stereotypes"])
    return [Finding(sentence, row) for sentence, row in summary(measured.results, stereotypes)]


def report_tables(measured: Measured, settings: ContextsSettings) -> list[ReportTable]:
    """Return the trade-off's numbers and the tags no list holds."""
    found = [
        ReportTable("unknown_tags", "Tags no list holds", "They wait in reviews.csv for people to put them in a cluster.",
                    measured.tables["unknown_tags"].head(50))
    ]  # fmt: skip
    tradeoff = tradeoff_table(measured.results)
    if not tradeoff.is_empty():
        text = "Gender F1, stereotype congruence and the share of neutral answers, per tagger."
        found.insert(0, ReportTable("tradeoff", "The trade-off in numbers", text, tradeoff))
    return found


def say_power(study: Study, stimuli: pl.DataFrame) -> list[str]:
    """Say, for `portrayal plan`, what congruence this number of people could show."""
    from scipy import stats

    placed = stimuli.filter(pl.col("role") == "composite").drop_nulls("person")
    people = placed["person"].n_unique()
    if people < 3:
        return ["fewer than three people in places: no stereotype can be shown"]
    # A picture scores between -1 and 1, so a person's mean over m pictures deviates by at most 1 / sqrt(m).
    spread = (people / placed.height) ** 0.5
    effect = (stats.t.ppf(0.975, people - 1) + stats.norm.ppf(0.8)) * spread / people**0.5
    return [f"with {people} people, a congruence of {effect:.2f} is found in at least 80 of 100 audits"]


AUDIT = Audit(
    stem="contexts",
    title="People in stereotyped places",
    question="Does a tagger see a person differently in a stereotyped place?",
    kind="tagger",
    settings=ContextsSettings,
    stimuli=make_stimuli,
    measure=measure,
    charts=all_charts,
    findings=find_sentences,
    tables=report_tables,
    inputs=read_inputs,
    power=say_power,
    family=FAMILY,
    validity=(
        "A composite is not a photograph: the person's light and edges do not belong to the place.",
        "Gender is what the tagger says and what the data set's label says; neither is who somebody is.",
        "A place counts as recognised when one tag is in its dictionary; drawn backgrounds are stand-ins for photographs.",
        "The typology decides what is abstract or concrete; its coverage stands with every row.",
        "A tagger that names no gender has no stereotype to show here; its share of neutral answers is printed beside it.",
    ),
    demo=(Path(__file__).parent / "studies" / "contexts.toml",),
)
