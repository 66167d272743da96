"""The contexts audit: whether a tagger sees a person differently in a stereotyped place."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
from pydantic import Field

from portrayal.audits.base import Audit, Evidence, Finding, Measured, ReportTable
from portrayal.audits.contexts.charts import all_charts, tradeoff_table
from portrayal.errors import PortrayalError, nearest
from portrayal.language.typology import load_context_tags, load_contexts, load_typology
from portrayal.measures.contexts.coding import agreement, extend, queue
from portrayal.measures.contexts.pictures import describe_pictures, unknown_tags
from portrayal.measures.contexts.questions import FAMILY, LABELS, Design, answer_questions
from portrayal.measures.contexts.ratings import QUESTIONS, ratings
from portrayal.measures.contexts.summary import summary
from portrayal.measures.contexts.warnings import warnings_of
from portrayal.stimuli.compose import Crop
from portrayal.study import Settings, Study
from portrayal.tables import results


class ContextsSettings(Settings):
    """The `[contexts]` table of a study. Paths start at the study file's folder."""

    people: str = (
        "openpeople"  # openpeople, a folder of the Chicago Face Database, or a CSV with image_id and factors
    )
    norming: str | None = None  # the Chicago Face Database's norming sheet, as CSV
    people_license: str = "not stated"
    consent: str = ""  # how the people agreed; empty keeps pictures on this machine
    backgrounds: str | None = None  # a folder with backgrounds.csv; the drawings that ship when left out
    per_context: int | None = Field(None, ge=1)
    pictures: str | None = None  # where composed pictures go; the user's cache when left out
    images: bool = True  # false: recorded tags alone, `people` is the table of images
    width: int = Field(640, ge=64, le=8192)
    height: int = Field(480, ge=64, le=8192)
    ratio: float = Field(0.5, gt=0)
    tolerance: int = Field(24, ge=1, le=255)
    crop: Crop = "both"
    gender: str = "gender"
    genders: dict[str, list[str]] = Field(
        default_factory=lambda: {key: list(names) for key, names in LABELS.items()}
    )
    factors: list[str] = ["gender", "race"]
    typology: str | None = None
    contexts: str | None = None
    context_tags: str | None = None
    ratings: str | None = None  # people's ratings of the places, a Reviews CSV
    mixed: bool = True
    contact_sheet: bool = True


def make_stimuli(study: Study) -> pl.DataFrame:
    """Compose the pictures, or take the table of recorded images; Stimuli with role, person, context and factors."""
    settings: ContextsSettings = study.settings
    if not settings.images or _only_replayed(study):
        from portrayal.stimuli.recorded import recorded_stimuli

        return recorded_stimuli(study.folder / settings.people)
    manifest = _compose(study)
    usable = manifest.filter(pl.col("role") != "unusable")
    if usable.filter(pl.col("role") == "baseline").is_empty():
        raise PortrayalError(
            f"no person's picture can be used. The first: {manifest['flags'].drop_nulls()[0]}"
        )
    return usable.rename({"file": "content"}).with_columns(kind=pl.lit("image"))


def read_inputs(study: Study) -> Mapping[str, Any]:
    """Read what the measure looks at beside responses: word lists, ratings, and the contact sheet."""
    settings: ContextsSettings = study.settings
    path = {
        key: study.folder / value
        for key in ("typology", "contexts", "context_tags")
        if (value := getattr(settings, key))
    }
    found: dict[str, Any] = {
        "typology": load_typology(path.get("typology")),
        "contexts": load_contexts(path.get("contexts")),
        "context_tags": load_context_tags(path.get("context_tags")),
        "ratings": _read_ratings(study),
    }
    if settings.images and not _only_replayed(study):
        found.update(_picture_inputs(study))
    return found


def measure(evidence: Evidence, settings: ContextsSettings) -> Measured:
    """Answer the four questions for every system of the study."""
    typology = extend(evidence.inputs["typology"], evidence.reviews)
    context_tags = evidence.inputs["context_tags"]
    _check_genders(settings, typology)
    pictures = describe_pictures(
        evidence.stimuli, evidence.responses, typology, context_tags, list(settings.genders)
    )
    stereotypes = dict(
        evidence.inputs["contexts"].drop_nulls("stereotype").select("context", "stereotype").iter_rows()
    )
    design = Design(
        settings.genders,
        settings.gender,
        settings.factors,
        stereotypes,
        mixed=settings.mixed,
        seed=evidence.seed,
    )
    answered = answer_questions(pictures, design)
    judged = results([*_ratings(evidence), *agreement(evidence.reviews, evidence.seed)])
    unknown = unknown_tags(evidence.responses, typology, context_tags)
    tables = {"unknown_tags": unknown.head(500), "stereotypes": evidence.inputs["contexts"]}
    if evidence.inputs.get("contact_sheet"):
        tables["contact_sheet"] = pl.DataFrame({"png": [evidence.inputs["contact_sheet"]]})
    found = pl.concat([answered, judged])
    return Measured(
        found,
        tables,
        warnings_of(found, evidence.inputs.get("unusable", ()), settings.factors),
        queue(unknown),
    )


def find_sentences(measured: Measured) -> list[Finding]:
    """Return the summary, each sentence with its row."""
    places = measured.tables["stereotypes"].drop_nulls("stereotype")
    stereotypes = dict(places.select("context", "stereotype").iter_rows())
    return [Finding(sentence, row) for sentence, row in summary(measured.results, stereotypes)]


def report_tables(measured: Measured) -> list[ReportTable]:
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


def _compose(study: Study) -> pl.DataFrame:
    from portrayal.stimuli.factorial import Recipe, cache_folder, compose_all
    from portrayal.stimuli.places import load_backgrounds

    settings: ContextsSettings = study.settings
    folder = study.folder / settings.pictures if settings.pictures else cache_folder()
    backgrounds = load_backgrounds(
        study.folder / settings.backgrounds if settings.backgrounds else None, settings.per_context
    )
    recipe = Recipe(settings.width, settings.height, settings.ratio, settings.tolerance, settings.crop)
    return compose_all(_people(study), backgrounds, folder.absolute(), recipe)


def _people(study: Study) -> pl.DataFrame:
    settings: ContextsSettings = study.settings
    path = study.folder / settings.people
    if settings.people == "openpeople":
        from portrayal.stimuli.datasets.openpeople import load_openpeople

        return load_openpeople()
    if path.is_dir():
        from portrayal.stimuli.datasets.chicago_faces import load_chicago_faces

        norming = study.folder / settings.norming if settings.norming else None
        return load_chicago_faces(path, norming, settings.consent)
    from portrayal.stimuli.datasets.people_folder import load_people

    return load_people(path, license_name=settings.people_license, consent=settings.consent)


def _picture_inputs(study: Study) -> dict[str, Any]:
    """The people left out with their reasons; the contact sheet, unless somebody shown is real."""
    from portrayal.stimuli.contact_sheet import contact_sheet

    manifest = _compose(study)
    left_out = manifest.filter(pl.col("role") == "unusable").select("stimulus", "flags").rows()
    generated = set(manifest.filter(pl.col("role") == "baseline")["consent"]) == {"generated"}
    wanted = study.settings.contact_sheet and generated
    return {"unusable": left_out, "contact_sheet": contact_sheet(manifest) if wanted else None}


def _only_replayed(study: Study) -> bool:
    """Recorded tags and a people CSV: no picture is needed."""
    replayed = all(system.use.startswith("replay:") for system in study.systems)
    return replayed and study.settings.people.endswith(".csv")


def _read_ratings(study: Study) -> pl.DataFrame | None:
    from portrayal.reviews import read_reviews

    return read_reviews(study.folder / study.settings.ratings) if study.settings.ratings else None


def _ratings(evidence: Evidence) -> list[dict[str, Any]]:
    tables = [table for table in (evidence.inputs.get("ratings"), evidence.reviews) if table is not None]
    if not tables:
        return []
    rated = pl.concat(tables, how="diagonal").filter(pl.col("question").is_in(QUESTIONS))
    return list(ratings(rated)) if rated.height else []


def _check_genders(settings: ContextsSettings, typology: pl.DataFrame) -> None:
    known = set(typology["sub_cluster"].drop_nulls())
    for cluster in settings.genders:
        if cluster not in known:
            raise PortrayalError(
                f"[contexts] genders names the cluster {cluster!r}.{nearest(cluster, known)} Known: {', '.join(sorted(known))}."
            )


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
    demo=(Path(__file__).parents[2] / "studies" / "contexts.toml",),
)
