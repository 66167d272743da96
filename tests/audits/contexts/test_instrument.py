"""Contexts beside its four questions: confidences, places alone, three genders, ratings, pictures."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from audits.contexts.made_up_taggers import evidence_of, study_for
from portrayal import flow
from portrayal.audits.contexts.figures import report_tables
from portrayal.audits.contexts.measure import measure
from portrayal.audits.contexts.measures.questions import VARIANT, confident
from portrayal.audits.contexts.settings import ContextsSettings
from portrayal.errors import PortrayalError
from portrayal.tables import REVIEWS

NAMED = {"female": "woman", "male": "man", "nonbinary": "nonbinary person"}
GENDERED = {"F1": "woman", "F2": "woman", "M1": "man", "M2": "man"}


def follows(person, gender, place, random):
    """Name the place's gender."""
    return [GENDERED.get(place, NAMED[gender]), "hair", *random.permutation(["happy", "shirt", "calm"])[:2].tolist()]


def with_confidence(evidence, confidence):
    """Return the evidence with a confidence for each tag, by a dict with a default."""
    usual = confidence.get("", 0.95)
    given = evidence.responses["tag"].replace_strict(confidence, default=usual, return_dtype=pl.Float64)
    return replace(evidence, responses=evidence.responses.with_columns(confidence=given))


def sentences(study, evidence):
    results, findings = flow.audit_evidence(study, evidence)
    return results, [finding.sentence for finding in findings if results["decision"][finding.row] == "found"]


def test_tags_a_service_is_less_sure_of_are_not_counted():
    evidence = with_confidence(evidence_of({"t": follows}), {"woman": 0.4, "man": 0.4})
    study = study_for({"t": follows})
    assert any("names the gender of a place" in one for one in sentences(study, evidence)[1])
    strict = study_for({"t": follows}, least_confidence=0.5)
    results, found = sentences(strict, evidence)
    assert not any("names the gender of a place" in one for one in found)
    # Nobody is named: neutral, and answered still.
    neutral = results.filter(measure="inferred_count", place="Mechanics Garage", inferred="neutral").row(0, named=True)
    assert (neutral["value"], neutral["n_missing"]) == (16, 0)


def test_confidences_beyond_one_are_percent():
    rows = {"system": ["a", "a", "b", "b", "c"], "tag": ["x", "y", "x", "y", "x"]}
    table = pl.DataFrame({**rows, "confidence": [80.0, 0.9, 0.8, 0.4, None]})
    assert confident(table, 0.5)["tag"].to_list() == ["x", None, "x", None, "x"]


def test_a_finding_says_with_which_confidence_it_is_gone():
    evidence = with_confidence(evidence_of({"t": follows}), {"woman": 0.8, "man": 0.8})
    results, found = sentences(study_for({"t": follows}), evidence)
    (said,) = [one for one in found if "names the gender of a place" in one]
    assert said.endswith("Counted with tags of a confidence of at least 90% alone, the interval reaches 0.")
    sure = with_confidence(evidence, {"": 0.95})
    (said,) = [one for one in sentences(study_for({"t": follows}), sure)[1] if "names the gender of a place" in one]
    assert said.endswith("It holds with tags of a confidence of at least 50%, at least 70% and at least 90% alone.")
    again = results.filter(pl.col("measure") == VARIANT)
    assert set(again["decision"]) == {"not tested"}
    assert again["p"].null_count() == again.height


def test_services_without_confidences_are_told_once():
    results, _ = flow.audit_evidence(study_for({"t": follows}), evidence_of({"t": follows}))
    assert results.filter(pl.col("measure") == VARIANT).is_empty()


def alone_in(evidence, said):
    """Add every place alone, with what is said of it."""
    first = evidence.stimuli.head(1)
    stimuli, rows = [evidence.stimuli], []
    for place, tags in said.items():
        name = f"background@{place}"
        stimuli.append(first.with_columns(
            stimulus=pl.lit(name), hash=pl.lit(name), role=pl.lit("background"), context=pl.lit(place), background=pl.lit(place),
            person=pl.lit(None, pl.String), gender=pl.lit(None, pl.String), race=pl.lit(None, pl.String),
        ))  # fmt: skip
        rows += [("t", name, 0, "answered", tag, None) for tag in tags]
    more = pl.DataFrame(rows, schema=evidence.responses.schema, orient="row")
    return replace(evidence, stimuli=pl.concat(stimuli), responses=pl.concat([evidence.responses, more]))


def test_a_place_that_brings_out_a_gender_with_nobody_in_it():
    said = {"F1": ["bride", "wedding"], "F2": ["crib"], "M1": ["man", "garage"], "M2": ["woman", "oven"]}
    evidence = alone_in(evidence_of({"t": follows}), said)
    found = measure(evidence, ContextsSettings(mixed=False))
    rows = found.results.filter(pl.col("measure").str.ends_with("without_people"))

    def value(measure, place=None, **more):
        row = rows.filter(pl.col("place").eq_missing(pl.lit(place)), measure=measure, **more)
        return row.row(0, named=True)["value"]

    assert value("gendered_without_people") == 3 / 4
    assert value("stereotype_without_people") == pytest.approx(
        2 / 3
    )  # a bride, a man; but a woman in the professional kitchen
    assert value("gendered_without_people", "Wedding Dress Shop", inferred="feminine") == 1
    assert value("recognised_without_people", "Mechanics Garage") == 1
    assert (
        "t names a gender in 3 of 4 pictures of places with nobody in them (feminine in the Wedding Dress Shop, masculine in the"
        " Mechanics Garage and feminine in the Professional Kitchen)."
    ) in found.warnings


def test_three_genders_in_every_measure():
    def right(person, gender, place, random):
        words = random.permutation(["hair", "happy", "calm", "shirt", "serious"])[:3].tolist()
        seen = ["crib"] if place == "F2" and random.random() < 0.7 else []
        return [NAMED[gender], *words, *seen]

    evidence = evidence_of({"t": right}, genders=("female", "male", "nonbinary"), each=6)
    found = measure(evidence, ContextsSettings()).results

    def sides(measure):
        return set(found.filter(measure=measure).select("group", "versus").rows())

    pairs = {("female", "male"), ("female", "nonbinary"), ("male", "nonbinary")}
    assert sides("attribute_between") == sides("attribute_within") == pairs
    assert sides("recognition_independence") == {
        ("a gender", "no gender"), ("feminine", "masculine"), ("feminine", "nonbinary"), ("masculine", "nonbinary")
    }  # fmt: skip
    for name in ("inferred_count", "inferred_change", "inferred_of_group"):
        assert set(found.filter(measure=name)["inferred"]) == {"feminine", "masculine", "nonbinary", "neutral"}
    f1 = found.filter(pl.col("measure") == "gender_f1", pl.col("place") == "baseline")
    assert dict(f1.select("group", "value").iter_rows()) == {"female": 1, "male": 1, "nonbinary": 1}
    assert found.filter(measure="gender_f1_overall").row(0, named=True)["note"].startswith("mean over 3")
    # Right about everybody follows no place, whatever the person's gender.
    assert found.filter(measure="congruence").row(0, named=True)["value"] == 0
    levels = found.filter(pl.col("measure") == "distance_mixed", pl.col("factor") == "gender")
    assert set(levels["group"]) == {"male", "nonbinary"}


def test_a_gender_that_nobody_shows_or_says_gets_no_rows():
    found = measure(evidence_of({"t": follows}), ContextsSettings(mixed=False)).results
    assert "nonbinary" not in set(found["inferred"])
    # A typology of one's own without the cluster is no error, unless the study names it.
    evidence = evidence_of({"t": follows})
    own = evidence.inputs["typology"].filter(pl.col("sub_cluster").fill_null("") != "nonbinary")
    measure(replace(evidence, inputs={**evidence.inputs, "typology": own}), ContextsSettings(mixed=False))
    with pytest.raises(PortrayalError, match="genders names the cluster 'nonbinray'. Did you mean 'nonbinary'"):
        measure(evidence, ContextsSettings(genders={"nonbinray": ["x"]}))


def test_ratings_keep_the_raters_words_and_gender():
    rows = [
        (place, question, rater, answer, note)
        for rater, gender in (("a", "female"), ("b", "non-binary"), ("c", None))
        for place, score in (("F1", 1), ("M1", 4))
        for question, answer, note in (
            ("gendered", str(score), None), ("place", "correct", f"{rater} said so"), ("rater_gender", gender, None)
        )
    ]  # fmt: skip
    rated = pl.DataFrame(rows, schema=dict(REVIEWS), orient="row")
    evidence = evidence_of({"t": follows})
    found = measure(replace(evidence, inputs={**evidence.inputs, "ratings": rated}), ContextsSettings(mixed=False))
    table = found.tables["ratings"]
    told = table.filter(place="Wedding Dress Shop").row(0, named=True)
    assert (told["words"], told["code"], told["rating"], told["rater_gender"]) == ("a said so", "correct", 1, "female")
    assert set(table["rater_gender"]) == {"female", "non-binary", None}
    assert [one for one in found.warnings if "raters put" in one] == [
        "The study's raters put the Mechanics Garage at 4 between 0 (feminine) and 10 (masculine), although its stereotype is taken to be"
        " masculine."
    ]
    assert "ratings" in {one.name for one in report_tables(found, ContextsSettings())}


def test_coverage_by_system_is_in_the_report():
    def strange(person, gender, place, random):
        return ["woman", "qwxz", "handsome man"]

    found = measure(evidence_of({"t": strange}), ContextsSettings(mixed=False))
    row = found.tables["coverage"].row(0, named=True)
    assert (row["system"], row["distinct"]) == ("t", 3)
    assert (row["of_uses"], row["of_distinct"]) == (pytest.approx(2 / 3), pytest.approx(2 / 3))
    assert "coverage" in {one.name for one in report_tables(found, ContextsSettings())}


def head_at_the_edge(folder):
    """Write two people before a white backdrop, the first one's head cut off by the top edge."""
    from PIL import Image, ImageDraw

    for name, top in (("a", -40), ("b", 60)):
        image = Image.new("RGB", (400, 400), "white")
        ImageDraw.Draw(image).rectangle((120, top, 280, 400), fill="navy")
        image.save(folder / f"{name}.png")
    return pl.DataFrame(
        [{"person": name, "file": str(folder / f"{name}.png"), "source": "drawn", "license": "own", "consent": "generated"}
         for name in ("a", "b")]
    )  # fmt: skip


def test_a_head_cut_off_by_its_own_picture_meets_the_edge_of_the_frame(tmp_path):
    from PIL import Image

    from portrayal.audits.contexts.factorial import ENLARGED, Recipe, compose_all, load_backgrounds

    people, places = head_at_the_edge(tmp_path), load_backgrounds(per_context=1).head(1)
    made = compose_all(people, places, tmp_path / "made", Recipe(ratio=0.2))
    rows = {row["person"]: row for row in made.filter(role="composite").iter_rows(named=True)}
    assert ENLARGED in rows["a"]["flags"]
    assert not rows["b"]["flags"]
    first = np.asarray(Image.open(rows["a"]["file"]).convert("RGB")).astype(int)
    assert (np.abs(first[0] - [0, 0, 128]).max(axis=1) < 40).sum() > 100  # the cut is in the first row of pixels
    left = compose_all(people, places, tmp_path / "left", Recipe(ratio=0.2, cut_heads="leave out"))
    assert left.filter(role="unusable").select("stimulus", "flags").rows() == [("a", "head clipped at the top")]


def test_enlarged_people_and_left_out_ones_are_named_in_the_report():
    evidence = evidence_of({"t": follows})
    inputs = {**evidence.inputs, "cut_heads": ["female0", "female1"], "unusable": [("x", "head clipped at the top")]}
    remarks = measure(replace(evidence, inputs=inputs), ContextsSettings(mixed=False)).remarks
    assert remarks[0] == "x was left out: head clipped at the top"
    assert remarks[1].startswith("The heads of female0 and female1 are cut off by the edges of their own pictures.")
