"""The counterfactuals audit: does a label become more likely as only the face's gender or race cue changes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import polars as pl
from pydantic import Field

from portrayal.audits.base import Audit, Evidence, Finding, Measured
from portrayal.audits.counterfactuals.charts import all_charts
from portrayal.audits.counterfactuals.tables import check_rows, label_table, report_tables, world_rows
from portrayal.errors import PortrayalError
from portrayal.measures.counterfactuals.measure import measure_counterfactuals
from portrayal.measures.counterfactuals.rows import Options
from portrayal.study import Settings, Study
from portrayal.tables import results


class CounterfactualsSettings(Settings):
    """The `[counterfactuals]` table of a study. Paths start at the study file's folder."""

    pictures: str = "openpeople"  # or a CSV with file, source, consent, and where known person, license, age
    kinds: list[str] = ["studio_portrait", "amateur_selfie"]  # of the generated people's pictures
    series: str | None = (
        None  # a folder of counterfactual pictures made elsewhere; nothing is manipulated then
    )
    source: str = ""  # of that folder, where its table does not say
    license: str = ""
    consent: str = ""
    attributes: list[Literal["gender", "race"]] = ["gender", "race"]
    poles: list[str] = ["White", "Black"]  # of race: -1 and 1; +2 lies beyond the second
    placebo: bool = True
    model: str | None = (
        None  # a folder with encoder.onnx and decoder.onnx; the model that ships when left out
    )
    images: str | None = None  # where series go; the user's cache when left out
    size: int = Field(320, ge=128, le=4096)
    masked: bool = True
    cluster: Literal["picture", "person"] = "picture"
    plain_concepts: bool = False  # true keeps Face, Skin, Red color ... in the tables
    labels: list[str] = []  # drawn as curves; the steepest ones when left out
    shares: str | None = (
        None  # a CSV with occupation and share (masculine); Table 3 and Kay et al. when left out
    )
    draws: int = Field(1999, ge=99)


def make_stimuli(study: Study) -> pl.DataFrame:
    """Make the series, or take those of a folder."""
    settings: CounterfactualsSettings = study.settings
    if settings.series:
        from portrayal.stimuli.faces.folder import folder_stimuli

        return folder_stimuli(
            study.folder / settings.series, settings.source, settings.license, settings.consent
        )
    from portrayal.stimuli.faces.build import MANIFEST

    made = pl.read_parquet(_built(study) / MANIFEST)
    if made.is_empty():
        raise PortrayalError(
            "no picture could be manipulated: no frontal, adult face in colour. See docs/counterfactuals.md."
        )
    return made


def read_inputs(study: Study) -> Mapping[str, Any]:
    """Read the manipulation checks, what was left out, and the shares slopes are compared with."""
    from portrayal.measures.counterfactuals.world import masculine_shares, shipped_table

    settings: CounterfactualsSettings = study.settings
    shares = pl.read_csv(study.folder / settings.shares) if settings.shares else masculine_shares()
    found: dict[str, Any] = {
        "shares": shares,
        "search": shipped_table("image_search_gender"),
        "repeats": study.repeats,
    }
    if not settings.series:
        from portrayal.stimuli.faces.build import CHECKS, LEFT_OUT

        folder = _built(study)
        found |= {"checks": pl.read_parquet(folder / CHECKS), "left_out": pl.read_parquet(folder / LEFT_OUT)}
    return found


def measure(evidence: Evidence, settings: CounterfactualsSettings) -> Measured:
    """Measure the slopes, and put failed manipulation checks at the top."""
    from portrayal.stimuli.faces.checks import failures

    options = Options(settings.cluster, evidence.inputs.get("repeats", 1), settings.draws, evidence.seed)
    rows, tables, warnings = measure_counterfactuals(evidence.stimuli, evidence.responses, options)
    tables["labels"] = label_table(tables["labels"], settings.plain_concepts)
    checks = evidence.inputs.get("checks")
    if checks is None:
        warnings.insert(0, "The series were made elsewhere: no manipulation check was done here.")
    else:
        tables["checks"] = checks
        warnings = [*failures(checks), *warnings]
    tables |= {"left_out": evidence.inputs.get("left_out", _nothing()), "strips": _strips(evidence.stimuli)}
    tables["chosen"] = pl.DataFrame({"label": settings.labels}, schema={"label": pl.String})
    world = world_rows(tables["labels"], evidence.inputs["shares"], evidence.inputs["search"])
    extra = results([*world, *check_rows(checks)])
    return Measured(pl.concat([rows, extra]), tables, [*warnings, *_left_out(tables["left_out"])])


def find_sentences(measured: Measured) -> list[Finding]:
    """Say, for each system, which labels follow the cue most, and how often anything changes at all."""
    rows = measured.results.with_row_index("place")
    slopes = rows.filter(
        (pl.col("measure") == "slope") & pl.col("low").is_not_null() & ~pl.col("note").str.contains("plain")
    )
    found: list[Finding] = []
    for (system, attribute), mine in slopes.group_by("system", "group", maintain_order=True):
        apart = mine.filter((pl.col("low") > 0) | (pl.col("high") < 0)).sort(
            pl.col("value").abs(), descending=True
        )
        for row in apart.head(2).iter_rows(named=True):
            found.append(Finding(_sentence(row), row["place"]))
        if apart.is_empty():
            row = mine.sort(pl.col("value").abs(), descending=True).row(0, named=True)
            found.append(Finding(f"For {system}, no label's interval along {attribute} lies clear of zero ({mine.height} labels "
                                 "with an interval).", row["place"]))  # fmt: skip
    for row in rows.filter(pl.col("measure") == "any_flip").iter_rows(named=True):
        sentence = (f"For {row['system']}, {row['value']:.0%} of {row['n']} source images get another label somewhere along "
                    f"{row['group']}, with nothing else changed.")  # fmt: skip
        found.append(Finding(sentence, row["place"]))
    return found


def say_power(study: Study, stimuli: pl.DataFrame) -> list[str]:
    """Say, for `portrayal plan`, what the exact test can show with this many source images."""
    settings: CounterfactualsSettings = study.settings
    clusters = stimuli[settings.cluster].n_unique()
    smallest = 2.0 ** (1 - clusters)
    return [
        f"{clusters} clusters ({settings.cluster}): the reversal test's smallest p is {smallest:.2g} before correction"
    ]


def _sentence(row: dict[str, Any]) -> str:
    more = "more" if row["value"] > 0 else "less"
    pole = "masculine" if row["group"] == "gender" else "like the second pole of race"
    if row["group"] == "gender" and row["value"] < 0:
        more, pole = "more", "feminine"
    ends = f"95% interval {row['low']:+.2f} to {row['high']:+.2f}, {row['n']} source images"
    return (
        f"{row['system']} gives {row['contrast']!r} {more} often as a face looks more {pole}: "
        f"slope {row['value']:+.2f} of its rate at the centre per unit ({ends})."
    )


def _built(study: Study) -> Path:
    """Return the folder of the study's series, making them where they are not there yet."""
    from portrayal.stimuli.faces.build import Recipe, build, cache_folder
    from portrayal.stimuli.faces.model import open_manipulator
    from portrayal.stimuli.faces.sources import check_pictures, openpeople_pictures, read_pictures

    settings: CounterfactualsSettings = study.settings
    if settings.pictures == "openpeople":
        pictures = check_pictures(openpeople_pictures(tuple(settings.kinds)))
    else:
        pictures = read_pictures(study.folder / settings.pictures)
    manipulator = open_manipulator(str(study.folder / settings.model) if settings.model else None)
    recipe = Recipe(
        tuple(settings.attributes),
        tuple(settings.poles),
        settings.placebo,
        settings.size,
        settings.masked,
        study.seed,
    )
    folder = study.folder / settings.images if settings.images else cache_folder()
    return build(pictures, manipulator, recipe, folder.absolute())


def _strips(stimuli: pl.DataFrame) -> pl.DataFrame:
    """Return what strips may be drawn from: generated people only, whatever else the study shows."""
    generated = stimuli.filter(pl.col("consent").str.to_lowercase().str.starts_with("generated"))
    return generated.select("picture", "person", "attribute", "value", "condition", "content", "stimulus")


def _left_out(left_out: pl.DataFrame) -> list[str]:
    counted = left_out.filter(pl.col("left_out")).group_by("reason").len().sort("reason")
    return [f"{number} picture(s) were not manipulated: {reason}." for reason, number in counted.iter_rows()]


def _nothing() -> pl.DataFrame:
    return pl.DataFrame(schema={"picture": pl.String, "reason": pl.String, "left_out": pl.Boolean})


AUDIT = Audit(
    stem="counterfactuals",
    title="Faces with one cue changed",
    question="Does a label become more likely as only the face's gender or race cue changes?",
    kind="tagger",
    settings=CounterfactualsSettings,
    stimuli=make_stimuli,
    measure=measure,
    charts=all_charts,
    findings=find_sentences,
    tables=report_tables,
    inputs=read_inputs,
    power=say_power,
    family=("slope",),
    validity=(
        "A slope is a system's response to what a small network learnt to be a gender or race cue in photographs of "
        "strangers; it is not a person's gender or race, and the two ends are not two kinds of people.",
        "Only the face changes. Hair, body, clothes and place keep what they say about gender, so slopes understate what a whole "
        "picture would do.",
        "The centre is itself synthetic; what it changes against the unedited photograph is printed beside the slopes.",
        "A manipulation can move more than its cue. The checks say what independent readers saw; no check sees everything, and "
        "there is no trusted reader of race.",
        "Values beyond -1 and 1 lie outside what was seen in training.",
    ),
    demo=(Path(__file__).parents[2] / "studies" / "counterfactuals.toml",),
)
