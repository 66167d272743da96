"""Inputs of a contexts study: what is refused, warned of, and flattened; confidences a service has of its own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from PIL import Image

from audits.contexts.made_up_taggers import evidence_of, study_for
from portrayal.audits.contexts.factorial import Recipe, compose_all, load_backgrounds
from portrayal.audits.contexts.input_checks import confounded, unsure, usual_confidence
from portrayal.errors import PortrayalError
from portrayal.flow import audit_evidence
from portrayal.pictures.images import NEUTRAL_GROUND
from portrayal.study.questions import make_stimuli
from portrayal.study.study_file import make_study


def recorded(folder: Path, table: str, **settings) -> pl.DataFrame:
    (folder / "people.csv").write_text(table)
    study = {"name": "t", "audit": "contexts", "systems": [{"name": "t", "use": "replay:tags.csv"}]}
    return make_stimuli(
        make_study({**study, "contexts": {"people": "people.csv", "images": False, **settings}}, folder)
    )


@pytest.mark.parametrize(
    ("table", "settings", "words"),
    [
        ("image_id,person,gender\na,p,female\n", {"factors": ["gender", "skinn"]}, "names the factor 'skinn'.*no such column"),
        ("image_id,person,gender\na,p,femal\n", {}, "has the gender 'femal'.*did you mean 'female'"),
        ("image_id,person,gender,context\na,p,female,\nb,p,female,F9\n", {}, "has the place 'F9'"),
        ("image_id,person,gender\n", {}, "shows nobody|without rows|no rows"),
    ],
)  # fmt: skip
def test_wrong_tables_are_refused_by_name(tmp_path: Path, table: str, settings: dict, words: str) -> None:
    with pytest.raises(PortrayalError, match=f"(?i)(?s){words}"):
        recorded(tmp_path, table, **settings)


def test_a_cut_out_person_stands_on_the_neutral_ground(tmp_path: Path) -> None:
    picture = Image.new("RGBA", (120, 160), (0, 0, 0, 0))
    picture.paste((150, 100, 80, 255), (40, 40, 80, 160))
    picture.save(tmp_path / "p.png")
    about = {"source": ["mine"], "license": ["mine"], "consent": ["mine"]}
    people = pl.DataFrame({"person": ["p"], "file": [str(tmp_path / "p.png")], **about})
    manifest = compose_all(people, load_backgrounds(None, 1)[:1], tmp_path / "out", Recipe(width=120, height=160))
    alone = np.asarray(Image.open(manifest.filter(role="baseline")["file"][0]))
    assert np.abs(alone[:20].astype(int) - NEUTRAL_GROUND).max() < 12  # black before


def test_a_group_that_is_composed_smaller_is_warned_of() -> None:
    people = [(f"p{at}", "darker" if at % 2 else "lighter", 0.1 if at % 2 else 0.2) for at in range(16)]
    stimuli = pl.DataFrame(
        [{"stimulus": name, "role": "composite", "person": name, "skin": skin, "person_share": size + at / 1000, "flags": ""}
         for at, (name, skin, size) in enumerate(people)]
    )  # fmt: skip
    (line,) = confounded(stimuli, ["gender", "skin"])
    assert line.startswith(
        "Pictures differ by skin before any tag: darker people fill 11% of the picture and lighter people fill 21%"
    )
    mixed = stimuli.with_columns(skin=pl.Series(["darker", "darker", "lighter", "lighter"] * 4))
    assert confounded(mixed, ["skin"]) == []
    flagged = mixed.with_columns(flags=pl.when(skin="darker").then(pl.lit("head clipped")).otherwise(pl.lit("")))
    assert "darker people have a remark on their cut-out in 100% of cases" in confounded(flagged, ["skin"])[0]


def test_a_service_is_taken_at_its_own_confidence_and_unsure_tags_are_warned_of() -> None:
    study = study_for({"t": None})
    assert usual_confidence([*study.systems, study.systems[0].model_copy(update={"use": "rekognition"})]) == {"t": 0.55}
    tags = pl.DataFrame({"system": ["a"] * 4, "tag": list("wxyz"), "confidence": [30.0, 20.0, 99.0, 98.0]})
    assert unsure(tags) == [
        "50% of a's tags have a confidence under 0.5, and count as all others: set least_confidence to what its users take."
    ]
    assert unsure(tags.with_columns(confidence=pl.lit(None, pl.Float64))) == []


def namer(person: str, gender: str, place: str | None, random: np.random.Generator) -> list[str]:
    """Name the gender in fitting places, which displaces concrete tags; what is abstract stays in proportion."""
    fits = place is not None and (place[0] == "F") == (gender == "female")
    others = ["wall", "chair", "table", "beauty"] * 2
    return [*(["woman", "female", "lady"] if fits else []), *others[: 8 if random.random() < 0.5 else 4]]


def test_naming_a_gender_more_often_is_no_abstractness_and_without_abstract_tags_nothing_is_said() -> None:
    def plain(person: str, gender: str, place: str | None, random: np.random.Generator) -> list[str]:
        return [tag for tag in namer(person, gender, place, random) if tag != "beauty"]

    answers = {"namer": namer, "plain": plain}
    results, findings = audit_evidence(study_for(answers), evidence_of(answers))
    rows = {row["system"]: row for row in results.filter(measure="expectancy").iter_rows(named=True)}
    assert rows["namer"]["decision"] != "found"
    assert rows["plain"]["decision"] == "not measurable" and "no abstract tags" in rows["plain"]["reason"]
    assert not any("abstractly" in one.sentence and "not" not in one.sentence for one in findings)
