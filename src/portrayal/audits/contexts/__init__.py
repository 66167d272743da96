"""The contexts audit: whether a tagger sees a person differently in a stereotyped place."""

from __future__ import annotations

from pathlib import Path

from portrayal.audits.contexts.charts import all_charts, tradeoff_table
from portrayal.audits.contexts.findings import find_sentences
from portrayal.audits.contexts.inputs import read_inputs
from portrayal.audits.contexts.measure import groups_shown, measure
from portrayal.audits.contexts.measures.design import FAMILY
from portrayal.audits.contexts.power import say_power
from portrayal.audits.contexts.settings import ContextsSettings
from portrayal.audits.contexts.stimuli import make_stimuli
from portrayal.study.audit import Audit, Measured, ReportTable


def report_tables(measured: Measured, settings: ContextsSettings) -> list[ReportTable]:
    """Return the trade-off's numbers, the tags in no cluster, coverage, and raters' words."""
    found = [
        ReportTable("unknown_tags", "Tags in no cluster", "They wait in reviews.csv for people to put them in a cluster.",
                    measured.tables["unknown_tags"].head(50)),
        ReportTable("coverage", "How much of each tagger's words is read", "Of all uses of tags, and of distinct tags, the share that"
                    " the typology or a place's dictionary holds, as a whole or by its head.", measured.tables["coverage"]),
    ]  # fmt: skip
    if "ratings" in measured.tables:
        found.append(
            ReportTable("ratings", "What raters said of the places", "Their own words, how these were coded, their rating (0"
                        " feminine, 10 masculine) and their own gender where they gave it.", measured.tables["ratings"].head(100))
        )  # fmt: skip
    tradeoff = tradeoff_table(measured.results)
    if not tradeoff.is_empty():
        text = "Gender F1, stereotype congruence and the share of neutral answers, per tagger."
        found.insert(0, ReportTable("tradeoff", "The trade-off in numbers", text, tradeoff))
    return found


def say_what_is_shown(group: str, axis: str, within: str | None) -> str:
    """Say of whom, and where, pictures are, for sentences about silence."""
    where = f" in the {within}" if within else ""
    return f"pictures in the {group}" if axis == "place" else f"pictures of {group} people{where}"


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
    groups=groups_shown,
    shows=say_what_is_shown,
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
