"""The measures of the contexts audit: by hand, against naive recomputation, and what they must obey."""

from functools import partial

import numpy as np
import polars as pl
import pytest
from scipy import stats

from portrayal.audits.contexts.findings import remarks_of
from portrayal.audits.contexts.measures.coding import median, ratings
from portrayal.audits.contexts.measures.congruence import congruence_scores, mean_of_groups
from portrayal.audits.contexts.measures.design import FACETS, Design
from portrayal.audits.contexts.measures.pictures import WordLists, describe_pictures
from portrayal.audits.contexts.measures.questions import answer_questions
from portrayal.audits.contexts.measures.rq2_recognition import independence
from portrayal.audits.contexts.measures.rq4_descriptions import cosine_distance, distances
from portrayal.audits.contexts.measures.views import View
from portrayal.errors import PortrayalError
from portrayal.stats.intervals.intervals import t_estimate
from portrayal.tables import REVIEWS
from portrayal.text.words.typology import load_typology

PLACES = {"F1": "feminine", "M1": "masculine"}
WORDS = {"F1": "wedding dress", "M1": "garage"}


def audit(tags_of, people, repeats=1, places=("F1", "M1"), backgrounds=1):
    """Make stimuli and responses: `tags_of(person, gender, place)` gives tags, or a status instead of a list."""
    stimuli, answers = [], []
    for person, factors in people.items():
        for place in (None, *places):
            for number in range(backgrounds if place else 1):
                name = f"{person}@{place}-{number}"
                role = "composite" if place else "baseline"
                background = f"{place}-{number}" if place else None
                stimuli.append(
                    {
                        "stimulus": name,
                        "role": role,
                        "person": person,
                        "context": place,
                        "background": background,
                        **factors,
                    }
                )
                for repeat in range(repeats):
                    told = tags_of(person, factors["gender"], place)
                    status = told if isinstance(told, str) else "answered"
                    for tag in told if isinstance(told, list) else [None]:
                        answers.append(
                            {
                                "system": "s",
                                "stimulus": name,
                                "repeat": repeat,
                                "status": status,
                                "tag": tag,
                                "confidence": None,
                            }
                        )
    schema = {"context": pl.String, "background": pl.String}
    return pl.DataFrame(stimuli, schema_overrides=schema, infer_schema_length=None), pl.DataFrame(
        answers, schema_overrides={"confidence": pl.Float64, "tag": pl.String}, infer_schema_length=None
    )


def pictures_of(stimuli, answers):
    return describe_pictures(stimuli, answers, WordLists())


def measured(stimuli, answers, **design):
    found = answer_questions(
        pictures_of(stimuli, answers), Design(stereotypes=PLACES, **{"factors": ("gender",), **design})
    )
    return found, partial(only, found)


def only(found, measure, place=None, **columns):
    """Return the one row of a measure and place whose other columns are these."""
    wanted = {"measure": measure, "place": place, **columns}
    (row,) = found.filter(pl.col(name).eq_missing(pl.lit(item)) for name, item in wanted.items()).iter_rows(named=True)
    return row


def crowd(women=6, men=6):
    return {f"w{i}": {"gender": "female"} for i in range(women)} | {f"m{i}": {"gender": "male"} for i in range(men)}


def stereotype(person, gender, place):
    """Names the place's gender in places, the person's own alone; always sees the place."""
    named = gender if place is None else {"F1": "female", "M1": "male"}[place]
    return [{"female": "Woman", "male": "man"}[named], "person", "hair", *([WORDS[place]] if place else [])]


def test_a_picture_by_hand():
    stimuli, answers = audit(
        lambda *_: ["Girl", "eyes", "hair", "happy", "Zzz", "wedding dress"], {"a": {"gender": "female"}}
    )
    row = pictures_of(stimuli, answers).filter(pl.col("context") == "F1").row(0, named=True)
    # girl: demographics (feminine, age); eyes, hair and dress: concrete; happy: abstract; Zzz: unknown.
    assert (row["tags"], row["known"]) == (6, 5)
    assert (row["in demographics"], row["in feminine"], row["in age"]) == (1, 1, 1)
    assert (row["in concrete"], row["in abstract"], row["in emotion"]) == (3, 1, 1)
    assert (row["place"], row["recognised"], row["inferred"]) == (1, True, "feminine")


@pytest.mark.parametrize(
    ("tags", "inferred"),
    [
        (["woman", "man"], "neutral"),
        (["woman", "girl", "man"], "feminine"),
        (["hair"], "neutral"),
        (["guy"], "masculine"),
    ],
)
def test_the_most_gendered_tags_win_and_a_tie_is_neutral(tags, inferred):
    stimuli, answers = audit(lambda *_: tags, {"a": {"gender": "female"}})
    assert pictures_of(stimuli, answers)["inferred"].unique().to_list() == [inferred]


def test_a_tagger_that_follows_the_place():
    _, rows = measured(*audit(stereotype, crowd()), mixed=False)
    assert rows("congruence")["value"] == 1
    # Of 12 pictures at F1 all are inferred feminine, 6 more than at baseline: a change of share of 6 / 12.
    assert rows("inferred_count", "F1", inferred="feminine")["value"] == 12
    change = rows("inferred_change", "F1", inferred="feminine")
    assert change["value"] == 0.5
    assert change["p"] == pytest.approx(2 / 2**6)  # all six signs that moved are equal
    # F1 of women at F1: 2 * 6 / (12 + 6); at the baseline 1.
    assert rows("gender_f1", "F1", group="female")["value"] == pytest.approx(12 / 18)
    assert rows("gender_f1", "baseline", group="female")["value"] == 1
    assert rows("gender_f1", "F1", group="male")["value"] == 0
    assert rows("gender_f1_change", "F1", group="male")["value"] == -1
    assert rows("gender_f1_overall")["value"] == pytest.approx(0.5)  # 2 * 6 / (12 + 12) for both


@pytest.mark.parametrize("always", ["woman", "man", None])
def test_always_one_answer_is_not_congruence(always):
    _, rows = measured(*audit(lambda *_: ["hair", "person", *([always] if always else [])], crowd()), mixed=False)
    row = rows("congruence")
    assert row["value"] == 0
    assert (row["low"], row["high"]) == (pytest.approx(-row["high"]), pytest.approx(-row["low"]))
    assert rows("neutral_share")["value"] == (1 if always is None else 0)


def test_always_right_is_not_congruence_either():
    right = lambda person, gender, place: [{"female": "woman", "male": "man"}[gender], "hair"]  # noqa: E731
    _, rows = measured(*audit(right, crowd()), mixed=False)
    assert rows("congruence")["value"] == 0


def test_places_never_recognised_are_na_not_zero():
    found, rows = measured(*audit(lambda *_: ["woman", "hair"], crowd()), mixed=False)
    row = rows("gender_f1", "F1", group="female")
    assert row["value"] is None
    assert row["note"].startswith("NA: the place was recognised in 0 of 12 pictures, under 10%")
    assert rows("recognised", "F1", inferred="masculine")["note"].startswith("NA: no picture was inferred as masculine")
    assert any(
        "recognises 2 of 2 backgrounds (F1-0, M1-0) in under 10%" in text for text in remarks_of(found, {}, ["gender"])
    )


def test_missing_answers_are_counted_never_scored():
    def flaky(person, gender, place):
        return (
            "failed"
            if person == "w0" and place == "F1"
            else "empty"
            if person == "m0" and place == "F1"
            else stereotype(person, gender, place)
        )

    _, rows = measured(*audit(flaky, crowd()), mixed=False)
    row = rows("inferred_count", "F1", inferred="feminine")
    # Of twelve one failed, which is missing; one said nothing, which is an answer without a gender.
    assert (row["value"], row["n"], row["n_missing"]) == (10, 11, 1)
    assert "1 failed" in row["note"]
    assert rows("inferred_count", "F1", inferred="neutral")["value"] == 1
    assert rows("distance", "F1", group=None)["n_missing"] == 2  # no tags, no direction


def test_conditional_recognition_by_hand():
    def sees(person, gender, place):
        # Women are named and their place is seen; men are not named and it is not.
        return ["woman", WORDS[place]] if gender == "female" and place else ["hair"]

    _, rows = measured(*audit(sees, crowd()), mixed=False)
    assert rows("recognised", "F1", inferred="any")["value"] == 0.5
    assert rows("recognised", "F1", inferred="feminine")["value"] == 1
    assert rows("recognised", "F1", inferred="neutral")["value"] == 0
    row = rows("recognition_independence", "F1", group="a gender")
    assert row["value"] == 1
    assert row["p"] == pytest.approx(2 / 924)  # of 924 ways to deal six places to twelve people two are as extreme


def test_distance_by_hand_and_all_zero_is_missing():
    first, second = np.array([[1.0, 1.0, 0.0]]), np.array([[0.0, 1.0, 1.0]])
    assert cosine_distance(first, second)[0] == pytest.approx(0.5)  # cos = 1 / (sqrt 2 sqrt 2)
    assert np.isnan(cosine_distance(first, 0 * second)).all()
    stimuli, answers = audit(
        lambda person, gender, place: ["woman", "hair"] if place is None else ["hair"], crowd(2, 0)
    )
    found = distances(View.of(pictures_of(stimuli, answers)), "F1", ["gender"])
    assert found.values == pytest.approx([1 - 1 / np.sqrt(2)] * 2)
    stimuli, answers = audit(lambda person, gender, place: ["woman"] if place is None else ["zzz"], crowd(2, 0))
    assert np.isnan(distances(View.of(pictures_of(stimuli, answers)), "F1", ["gender"]).values).all()


def test_small_cells_are_na_with_their_reason():
    people = {f"w{i}": {"gender": "female", "race": "A"} for i in range(4)} | {
        f"m{i}": {"gender": "male", "race": "B"} for i in range(2)
    }
    found, rows = measured(*audit(stereotype, people), factors=("gender", "race"), mixed=False)
    assert rows("distance", "F1", group="male, B")["value"] is None
    assert "NA: 2 people, fewer than 3" in rows("distance", "F1", group="male, B")["note"]
    assert any(
        "male, B" in text for text in remarks_of(found, {"unusable": [("x", "x.png is empty")]}, ["gender", "race"])
    )
    interaction = rows("distance_anova", "F1", factor="gender x race")
    assert interaction["p"] is None
    assert interaction["decision"] == "not tested"
    assert interaction["reason"].startswith("the design estimates")


def noisy(seed):
    random = np.random.default_rng(seed)
    pool = ["hair", "face", "happy", "serious", "beautiful", "chin", "person", "shirt"]
    return lambda person, gender, place: [
        {"female": "woman", "male": "man"}[gender], *random.choice(pool, 4, replace=False), *([WORDS[place]] if place else [])
    ]  # fmt: skip


def expects(person, gender, place):
    """Abstract about who fits, concrete about who does not."""
    number = int(person[1:])
    fits = place and {"F1": "female", "M1": "male"}[place] == gender
    return ["person", *(["happy", "serious"] if fits else ["hair", "shirt"]), *["face", "chin"][: 1 + number % 2]]


def test_linguistic_expectancy_has_the_planted_sign():
    _, rows = measured(*audit(expects, crowd()), mixed=False)
    # Of abstract and concrete tags, with one further concrete tag: 2 of 3 against 0 of 3; with two: 2 of 4 against 0 of 4.
    row = rows("expectancy")
    assert row["value"] == pytest.approx((2 / 3 + 1 / 2) / 2)
    assert row["p"] < 1e-6
    assert rows("expectancy_of_place", "M1")["value"] == pytest.approx((2 / 3 + 1 / 2) / 2)


def test_attribute_changes_by_hand():
    def change(person, gender, place):
        # Alone: one of two tags abstract. In a place women lose it, men keep it; w0 and m0 have a further tag.
        extra = ["person"] if person in ("w0", "m0") else []
        return ["hair", *extra, *(["happy"] if place is None or gender == "male" else ["face"])]

    _, rows = measured(*audit(change, crowd(3, 3)), mixed=False)
    within = rows("attribute_within", "F1", attribute="abstract", group="female", versus="male")
    # Women: -1/2, -1/2, -1/3; men: 0.
    assert within["value"] == pytest.approx(-(0.5 + 0.5 + 1 / 3) / 3)
    assert rows("attribute_change", "F1", attribute="abstract", group="female")["value"] == pytest.approx(
        -(0.5 + 0.5 + 1 / 3) / 3
    )
    between = rows("attribute_between", "F1", attribute="abstract", group="female", versus="male")
    assert between["value"] == pytest.approx(-(0.5 + 0.5 + 1 / 3) / 3)


def test_row_order_never_matters():
    stimuli, answers = audit(noisy(0), crowd(), backgrounds=2)
    one, _ = measured(stimuli, answers)
    other, _ = measured(
        stimuli.sample(fraction=1, shuffle=True, seed=1), answers.sample(fraction=1, shuffle=True, seed=2)
    )
    keys = ["measure", "group", "versus", *FACETS]
    left, right = (table.sort(keys).select("value", "low", "high", "p").to_numpy() for table in (one, other))
    assert np.allclose(left, right, equal_nan=True, atol=1e-6)


def test_relabelling_groups_only_relabels():
    stimuli, answers = audit(noisy(1), crowd())
    other = stimuli.with_columns(pl.col("gender").replace({"female": "women", "male": "men"}))
    one, two = measured(stimuli, answers, mixed=False)[0], measured(other, answers, mixed=False)[0]
    renamed = one.with_columns(
        pl.col("group", "versus").str.replace_all(r"\bfemale\b", "women").str.replace_all(r"\bmale\b", "men")
    )
    # "men" sorts before "women", as "male" does not before "female": a contrast may change its sign with its name.
    named = ["gender_f1", "inferred_of_group", "distance"]
    keys = ["measure", "place", "inferred", "group"]
    left, right = (t.filter(pl.col("measure").is_in(named)).sort(keys) for t in (renamed, two))
    assert left.select(*keys, "value").equals(right.select(*keys, "value"))


def test_three_genders_and_their_own_cluster():
    typology = pl.concat([
        load_typology(),
        pl.DataFrame({"tag": ["enby"], "super_cluster": ["demographics"], "sub_cluster": ["nonbinary"], "source": ["test"]}),
    ])  # fmt: skip
    people = crowd(3, 3) | {f"n{i}": {"gender": "nonbinary"} for i in range(3)}
    named = {"female": "woman", "male": "man", "nonbinary": "enby"}
    stimuli, answers = audit(
        lambda person, gender, place: [named[gender], "hair", *([WORDS[place]] if place else [])], people
    )
    genders = {"feminine": ["female"], "masculine": ["male"], "nonbinary": ["nonbinary"]}
    pictures = describe_pictures(stimuli, answers, WordLists(typology), list(genders))
    found = answer_questions(pictures, Design(genders=genders, factors=("gender",), stereotypes=PLACES, mixed=False))
    assert only(found, "gender_f1", "F1", group="nonbinary")["value"] == 1
    contrasts = found.filter(pl.col("measure") == "attribute_between").select("group", "versus").unique()
    assert sorted(contrasts.rows()) == [("female", "male"), ("female", "nonbinary"), ("male", "nonbinary")]
    # Nobody is tagged by the place: a right tag scores 0 over both kinds of place, a nonbinary one in every place.
    row = only(found, "congruence")
    assert (row["value"], row["n"], row["n_missing"]) == (0, 9, 0)
    assert row["reason"] == "nobody's pictures follow the places, or go against them"


def test_a_factor_may_not_be_called_like_a_computed_column():
    stimuli, answers = audit(stereotype, crowd(1, 1))
    with pytest.raises(PortrayalError, match="a factor is called 'place'"):
        pictures_of(stimuli.with_columns(place=pl.lit("x")), answers)


def test_factors_called_like_clusters_are_fine():
    stimuli, answers = audit(stereotype, crowd(1, 1))
    assert "age" in pictures_of(stimuli.with_columns(age=pl.lit("30")), answers).columns


def test_mixed_model_equals_statsmodels_and_finds_the_planted_congruence():
    random = np.random.default_rng(0)

    def moved(person, gender, place):
        fits = place and {"F1": "female", "M1": "male"}[place] == gender
        abstract = list(
            random.choice(
                ["happy", "serious", "beautiful", "calm"], int(3 if fits else random.integers(0, 2)), replace=False
            )
        )
        return ["woman" if gender == "female" else "man", "hair", "face", *abstract]

    _, rows = measured(*audit(moved, crowd(8, 8), backgrounds=2))
    row = rows("distance_mixed", factor="congruence")
    assert row["value"] > 0.05
    assert row["p"] < 0.001
    assert "random intercept per person" in row["note"]
    assert rows("distance_mixed", factor="gender")["n"] == 64


def test_mixed_model_says_why_it_cannot_be_fitted():
    _, rows = measured(*audit(stereotype, crowd(1, 1)))
    assert rows("distance_mixed", factor="congruence")["note"].startswith("not estimated: too few people")


def test_scores_are_per_person_and_balanced_over_stereotypes():
    # Two feminine places and one masculine: feminine places weigh as much as the masculine one.
    stimuli, answers = audit(lambda p, g, place: ["woman"], {"a": {"gender": "female"}}, places=("F1", "F2", "M1"))
    answered = pictures_of(stimuli, answers).filter(pl.col("role") == "composite")
    places = {"F1": "feminine", "F2": "feminine", "M1": "masculine"}
    assert congruence_scores(View.of(answered), places, {"feminine", "masculine"}) == {"a": 0.0}


def test_mean_of_groups_is_half_a_welch_difference():
    from scipy import stats

    random = np.random.default_rng(0)
    women, men = random.normal(0.3, 1, 20), random.normal(-0.1, 2, 31)
    found = mean_of_groups([women, -men])
    theirs = stats.ttest_ind(women, men, equal_var=False)
    assert found.value == pytest.approx((women.mean() - men.mean()) / 2)
    assert found.p == pytest.approx(theirs.pvalue)


def test_ratings_of_places_by_hand():
    rows = []
    for place, rater, score, code, who in [
        ("F1", "a", "0", "correct", "female"), ("F1", "b", "1", "partial", "male"), ("F1", "c", "2", "correct", "male"),
        ("F1", "d", "9", "wrong", "female"), ("M1", "a", "9", "correct", "female"),
    ]:  # fmt: skip
        rows += [
            (place, "gendered", rater, score, ""),
            (place, "place", rater, code, "a shop"),
            (place, "rater_gender", rater, who, ""),
        ]
    found = list(ratings(pl.DataFrame(rows, schema=dict(REVIEWS), orient="row")))
    rated = {(row["place"], row["group"]): row for row in found if row["measure"] == "place_rating"}
    every = rated["F1", None]
    assert (every["value"], every["n"], every["n_missing"]) == (1, 3, 1)
    assert every["note"] == "without 1 rater who got the place wrong"
    assert rated["F1", "male"]["value"] == 1.5
    named = {(row["place"], row["code"]): row["value"] for row in found if row["measure"] == "place_named"}
    assert named["F1", "wrong"] == 0.25
    with pytest.raises(PortrayalError, match="rated 11"):
        list(ratings(pl.DataFrame([("F1", "gendered", "a", "11", "")], schema=dict(REVIEWS), orient="row")))
    with pytest.raises(PortrayalError, match="coded 'right'"):
        list(ratings(pl.DataFrame([("F1", "place", "a", "right", "")], schema=dict(REVIEWS), orient="row")))


def test_median_by_hand():
    # n = 10: the second and ninth values hold the median with 1 - 2 * 11/1024 = 97.9%.
    assert tuple(median(np.arange(1.0, 11.0))) == (5.5, 2.0, 9.0)
    assert np.isnan(median(np.array([1.0, 2.0])).low)


def test_people_without_a_baseline_are_missing_in_every_distance():
    # The first woman's picture alone failed: her two composites have nothing to lie apart from.
    def told(person, gender, place):
        return "failed" if (person, place) == ("w0", None) else stereotype(person, gender, place)

    _, rows = measured(*audit(told, crowd()), factors=("gender",))
    mixed = rows("distance_mixed", factor="gender")
    assert (mixed["n"], mixed["n_missing"]) == (22, 2)
    variant = rows("distance_variant", "F1", vector="with other")
    assert (variant["n"], variant["n_missing"]) == (11, 1)


def test_a_coefficient_has_a_t_interval_and_needs_a_degree_of_freedom():
    # 0.3 with error 0.1 on one degree of freedom: t(.975, 1) = 12.7062.
    found = t_estimate(0.3, 0.1, 1)
    assert (found.value, found.low, found.high) == pytest.approx((0.3, 0.3 - 1.270620, 0.3 + 1.270620), abs=1e-5)
    assert found.p == pytest.approx(2 * stats.t.sf(3, 1))
    for one in (t_estimate(0.3, 0.1, 0), t_estimate(0.3, 0.0, 5)):
        assert np.isnan([one.value, one.low, one.high, one.p]).all()


def test_a_tag_of_a_failed_answer_is_not_counted():
    stimuli, answers = audit(lambda *_: ["woman", "hair"], {"a": {"gender": "female"}})
    failed = (pl.col("stimulus") == "a@F1-0") & (pl.col("tag") == "hair")
    answers = answers.filter(~((pl.col("stimulus") == "a@F1-0") & (pl.col("tag") == "woman"))).with_columns(
        status=pl.when(failed).then(pl.lit("failed")).otherwise("status")
    )
    bare = answers.head(1).with_columns(pl.lit("a@M1-0").alias("stimulus"), tag=pl.lit(None, pl.String))
    rows = pictures_of(stimuli, pl.concat([answers, bare])).select("stimulus", "tags", "in concrete")
    counted = {name: tags for name, tags, _ in rows.iter_rows()}
    assert counted == {"a@None-0": 2, "a@F1-0": 0, "a@M1-0": 2}


def answered_pictures(people="abcdefgh", background="b"):
    """One picture each of eight: recognised for the first four, who are called women; the others are called men."""
    return pl.DataFrame(
        {
            "person": list(people),
            "context": ["F1"] * 8,
            "background": [background] * 8,
            "repeat": [0] * 8,
            "recognised": [True] * 4 + [False] * 3 + [None],
            "inferred": ["feminine"] * 4 + ["masculine"] * 4,
        }
    )


def independent(answered):
    sides = [answered["inferred"].to_numpy() == name for name in ("feminine", "masculine")]
    return independence(View.of(answered), *sides)


def test_independence_is_the_share_of_all_orders():
    answered = answered_pictures()
    found = independent(answered)
    # Of the 70 ways to choose whose four pictures are recognised, two are as one-sided.
    assert found.value == 1
    assert (found.p, found.p_floor, found.n) == (pytest.approx(2 / 70), pytest.approx(2 / 70), 8)
    # 32 people: 16 of them recognised, C(32, 16) = 601,080,390 ways. 1,999 shuffles could not go below .0005.
    many = pl.concat([answered.with_columns(person=pl.col("person") + str(copy)) for copy in range(4)])
    assert independent(many).p == pytest.approx(2 / 601_080_390)
    for column, value, why in (
        ("recognised", True, "the place was recognised always or never"),
        ("inferred", "feminine", "it infers only one of the two"),
    ):
        found = independent(answered.with_columns(pl.lit(value).alias(column)))
        assert np.isnan(found.p)
        assert (found.decision, found.reason) == ("not tested", why)
    # Of six people two of 20 ways: no difference could be found.
    six = independent(answered.filter(~pl.col("person").is_in(["a", "h"])))
    assert six.reason == "too few pictures of one kind for any difference to be found"


def test_independence_keeps_the_pictures_of_a_person_together():
    # Two pictures of each of eight people say the same: still 70 ways to deal them, not C(16, 8) = 12,870.
    one, two = (answered_pictures(background=name) for name in ("b", "c"))
    found = independent(pl.concat([one, two]))
    assert found.p == pytest.approx(2 / 70, abs=0.006)
    assert found.p_floor == pytest.approx(1 / 70)
    # Without one of a's pictures nobody is left out.
    fewer = pl.concat([one, two.filter(pl.col("person") != "a")])
    assert independent(fewer).n == 8
    assert independent(fewer).p == pytest.approx(2 / 70, abs=0.03)


def test_independence_over_places_is_the_mean_of_their_differences():
    # In the first place all four women are recognised and no man, in the second two of each: (1 + 0) / 2.
    one, two = answered_pictures(), answered_pictures(background="c").with_columns(context=pl.lit("M1"))
    both = pl.concat([one, two.with_columns(recognised=pl.Series([True, True, False, False] * 2))])
    found = independent(both)
    assert (found.value, found.n) == (0.5, 8)
    assert found.low < 0.5 < found.high


def test_a_background_hardly_recognised_says_so():
    def told(person, gender, place):
        return ["woman", "hair", *([WORDS[place]] if place == "F1" else [])]

    _, rows = measured(*audit(told, crowd()), mixed=False)
    assert "with care" not in rows("recognised_background", "F1", background="F1-0")["note"]
    assert "read its other rows with care" in rows("recognised_background", "M1", background="M1-0")["note"]


def test_expectancy_of_a_place_says_how_it_was_tested_or_why_not():
    def told(person, gender, place):
        return ["woman", "hair", *(["happy", "beautiful"] if int(person[1:]) % 2 else [])]

    _, rows = measured(*audit(told, crowd(4, 4)), mixed=False)
    assert rows("expectancy_of_place", "F1")["note"].startswith("Welch t = ")
    _, rows = measured(*audit(told, crowd(4, 1)), mixed=False)
    few = rows("expectancy_of_place", "F1")
    assert few["note"].startswith("not tested: too few people on a side")
    assert few["p"] is None


@pytest.mark.parametrize(
    "wanted",
    [
        {"inferred_change": {"F1"}, "distance_anova": {"M1"}},
        {"recognition_independence": {None, "M1"}},
        {"attribute_within": {"F1"}, "congruence": {None}},
        {"expectancy": {None}},
    ],
)
def test_what_is_asked_alone_comes_out_as_it_does_among_all(wanted):
    pictures = pictures_of(*audit(noisy(3), crowd(), backgrounds=2))
    design = {"stereotypes": PLACES, "factors": ("gender",), "seed": 0}
    every = answer_questions(pictures, Design(**design))
    some = answer_questions(pictures, Design(**design, only=wanted))
    for measure, places in wanted.items():
        asked = (pl.col("measure") == measure) & pl.any_horizontal(
            pl.col("place").eq_missing(pl.lit(place)) for place in places
        )
        assert some.filter(asked).height
        assert some.filter(asked).equals(every.filter(asked))
    # Nothing of the other questions is worked out, but for the coverage that every note tells.
    assert set(some["measure"]).isdisjoint({"gender_f1", "distance_mixed", "nobody", "distance_variant"})
    assert some.height < every.height


def test_responses_that_do_not_lie_together_are_counted_as_if_they_did():
    stimuli, answers = audit(noisy(4), crowd(2, 2))
    apart = answers.with_row_index().sort(pl.col("index") % 3, "index").drop("index")
    one, other = (pictures_of(stimuli, told).sort("stimulus") for told in (answers, apart))
    assert one.equals(other)
