"""Decisions of a contexts audit: planted harms are found, look-alikes are not."""

import numpy as np
import polars as pl
import pytest

from audits.contexts.made_up_taggers import evidence_of, study_for
from portrayal import flow
from portrayal.audits.contexts.calibration import simulate, study_of
from portrayal.audits.contexts.figures import all_charts
from portrayal.audits.contexts.measures.congruence import expectancy_gaps
from portrayal.audits.contexts.measures.rq4_descriptions import cosine_distance
from portrayal.reporting.page.provenance import shown_view
from portrayal.reporting.page.section import find
from portrayal.stats.models.groups import anova, welch

EIGHT = ("F1", "F2", "F3", "F4", "M1", "M2", "M3", "M4")
WORDS = dict(
    zip(
        EIGHT,
        ("veil", "crib", "cooktop", "kindergarten", "garage", "restaurant kitchen", "pub", "university"),
        strict=True,
    )
)
NAMED = {"female": "woman", "male": "man"}


def measured(answers, **design):
    """Return what flow makes of systems that answer by these functions, and its sentences."""
    study = study_for(answers)
    found = flow.measure_evidence(study, evidence_of(answers, places=EIGHT, **design))
    return found, [(one.sentence, found.results["decision"][one.row]) for one in find(study, found)]


def rows(found, measure, **columns):
    wanted = [pl.col(name).eq_missing(pl.lit(item)) for name, item in columns.items()]
    return found.results.filter(pl.col("measure") == measure, *wanted)


def test_equal_descriptions_lie_exactly_nowhere_apart():
    random = np.random.default_rng(0)
    vectors = random.dirichlet(np.ones(3), 500)
    assert (cosine_distance(vectors, vectors) == 0).all()
    assert (cosine_distance(vectors, vectors * 3) == 0).all()  # as shares of other numbers of tags
    assert cosine_distance(vectors, vectors[::-1]).max() > 0.1


@pytest.mark.parametrize("noise", [2.2e-16, 1e-14])
def test_rounding_is_not_varied(noise):
    random = np.random.default_rng(0)
    values = random.choice([0.0, noise], 60)
    factors = {"gender": np.arange(60) % 2, "race": np.arange(60) // 2 % 3}
    found = anova(values, factors)
    assert [term.note for term in found.terms] == ["nothing varies within the cells"] * 3
    assert all(np.isnan(term.p) for term in found.terms)
    assert np.isnan(welch(values[:30], values[30:]).p)


def constant(person, gender, place, random):
    """The same words of everybody, in every place."""
    return [NAMED[gender], "hair", "face", "happy"]


def test_a_tagger_that_says_the_same_everywhere_is_not_tested_and_has_no_chart():
    found, sentences = measured({"reader": constant})
    tests = rows(found, "distance_anova")
    assert tests["p"].null_count() == tests.height == 24
    assert set(tests["reason"]) == {"nothing varies within the cells"}
    (level,) = [sentence for sentence, decision in sentences if decision != "not tested"]
    assert level.startswith(
        "It was not found that reader names another gender than people's own"
    )  # it names all rightly
    assert all_charts(found, None)[0].name == "tradeoff"
    assert len(all_charts(found, None)) == 1  # no empty frames


def test_f1_of_nobody_is_missing():
    def refuses(person, gender, place, random):
        refused = gender == "female" and place == "F1"
        return "refused" if refused else [NAMED[gender], "hair", *([WORDS[place]] if place else [])]

    found, _ = measured({"tagger": refuses})
    (women,) = rows(found, "gender_f1", place="Wedding Dress Shop", group="female").iter_rows(named=True)
    assert women["value"] is None
    assert women["note"].startswith("NA: no picture of female people could be scored")
    assert rows(found, "gender_f1_change", place="Wedding Dress Shop", group="female")["value"][0] is None
    assert rows(found, "gender_f1", place="Wedding Dress Shop", group="male")["value"][0] == 1
    # Eight women are shown: it is the tagger that says nothing of them.
    assert not any("fewer than three people are NA" in text for text in found.remarks)
    said = "tagger gave tags that are read about fewer than three people of a group in 1 place, which are NA there: female, A; female, B."
    assert said in found.remarks


def test_recognition_that_hangs_on_the_named_gender_is_found():
    # A gender is named in 60% of pictures. There the place is seen in 90%, elsewhere in 32 to 64%: gaps of .26 to .58.
    gaps = dict(zip(EIGHT, np.linspace(0.26, 0.58, 8), strict=True))

    def told(person, gender, place, random):
        named = random.random() < 0.6
        seen = place and random.random() < 0.9 - (0 if named else gaps[place])
        words = random.permutation(["hair", "face", "shirt", "happy", "calm"])[:3].tolist()
        return [*([NAMED[gender]] if named else ["person"]), *words, *([WORDS[place]] if seen else [])]

    found, sentences = measured({"tagger": told}, each=32)
    tests = rows(found, "recognition_independence", group="a gender")
    said = [sentence for sentence, decision in sentences if decision == "found" and "recognises" in sentence]
    told = "recognises places more often where it names a gender than where it names none: 39 percentage points"
    assert any(told in sentence for sentence in said)
    assert any("recognises the University Classroom more often where it names a gender" in one for one in said)
    assert tests.filter(pl.col("decision") == "found").height >= 3


def test_a_gap_within_an_attribute_is_found_in_every_place():
    # In places women get two abstract words for concrete ones, men none.
    def told(person, gender, place, random):
        abstract = 3 if place and gender == "female" else 1
        words = [
            *random.permutation(["happy", "calm", "serious", "beautiful"])[: abstract + random.integers(2)],
            *random.permutation(["hair", "face", "shirt", "chin", "neck"])[: 4 - abstract + random.integers(2)],
        ]
        return [NAMED[gender], *map(str, words)]

    found, sentences = measured({"tagger": told}, each=16)
    tests = rows(found, "attribute_within", attribute="abstract")
    assert tests["decision"].to_list() == ["found"] * 8
    said = [sentence for sentence, decision in sentences if decision == "found"]
    for place in ("Wedding Dress Shop", "Sports Bar"):
        text = (
            "tagger shifts more towards abstract tags for female people than for male people when the same people are"
            f" put in the {place}: "
        )
        assert any(sentence.startswith(text) for sentence in said)


def test_eight_people_can_show_a_stereotype():
    def follows(person, gender, place, random):
        named = NAMED[gender] if place is None else {"F": "woman", "M": "man"}[place[0]]
        return [named, *random.permutation(["hair", "face", "shirt", "happy", "calm"])[:3].tolist()]

    found, sentences = measured({"tagger": follows}, each=4)
    (row,) = rows(found, "congruence").iter_rows(named=True)
    assert row["p"] == 2 / 2**8
    assert row["decision"] == "found"
    assert sentences[0][0].startswith(
        "tagger names the gender of a place's stereotype more often than the other, whoever is shown there: 100 percentage"
    )


def test_a_right_tag_of_a_nonbinary_person_does_not_go_against_the_places():
    def right(person, gender, place, random):
        return [{"nonbinary": "enby", **NAMED}[gender], "hair"]

    typology = {"tag": ["enby"], "super_cluster": ["demographics"], "sub_cluster": ["nonbinary"], "source": ["test"]}
    genders = {"feminine": ["female"], "masculine": ["male"], "nonbinary": ["nonbinary"]}
    answers = {"tagger": right}
    evidence = evidence_of(
        answers, genders=("female", "male", "nonbinary"), typology=pl.DataFrame(typology), places=EIGHT
    )
    found = flow.measure_evidence(study_for(answers, genders=genders), evidence)
    (row,) = rows(found, "congruence").iter_rows(named=True)
    assert (row["value"], row["n"], row["decision"]) == (0, 24, "not tested")


def test_expectancy_keeps_who_lacks_a_place():
    # Two places of each kind; the second feminine one is described more abstractly of everybody (by 1).
    abstract = {
        "F1": np.array([0.5, 0.5, 0.0, 0.0]), "F2": np.array([1.5, np.nan, 1.0, 1.0]),
        "M1": np.array([0.0, 0.0, 0.5, 0.5]), "M2": np.array([0.0, 0.0, 0.5, 0.5]),
    }  # fmt: skip
    places = {"F1": "feminine", "F2": "feminine", "M1": "masculine", "M2": "masculine"}
    own = np.array(["feminine", "feminine", "masculine", "masculine"], dtype=object)
    gaps = expectancy_gaps(abstract, places, own)
    assert [len(gap) for gap in gaps.values()] == [2, 2]
    # The one who lacks F2 has .5 - .25 in F1 and -.25 in M1 and M2; a whole place missing would have been a gap of 0 - .25 wrong.
    assert gaps["feminine"][1] == pytest.approx(0.5)
    assert gaps["feminine"][0] == pytest.approx((0.25 + 1.5 - 3.5 / 3) / 2 + 0.25)


def test_the_family_counts_no_pairs_of_tukeys():
    results, _ = flow.audit_evidence(study_of(0, described=True), simulate("demo", 0).evidence)
    pairs = results.filter(pl.col("measure").str.starts_with("distance_tukey"), pl.col("p").is_not_null())
    assert pairs.height == 48  # 8 places x 3 pairs of large enough groups x 2 systems
    assert set(pairs["family"]) == {"exploratory"}
    assert pairs["p_adjusted"].null_count() == pairs.height


def test_people_whose_consent_is_empty_are_not_said_to_be_none():
    # Eight pictures of people without recorded consent, and a background alone.
    stimuli = evidence_of({}, genders=("female",), each=2, places=("F1", "M1", "F2")).stimuli.with_columns(
        consent=pl.lit("")
    )
    alone = stimuli.head(1).with_columns(stimulus=pl.lit("background"), consent=pl.lit("none shown"))
    told = dict(shown_view(pl.concat([stimuli, alone]))["rows"])
    assert told["consent"] == "none shown (1), not recorded (8)"
