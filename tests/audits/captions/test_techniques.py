"""Each technique by hand on a few images, and the assumptions the paper names as failing."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy import stats

from portrayal.audits.captions.figures import DELETION_WARNING, mitigation, where_it_arises
from portrayal.audits.captions.measures import (
    demeaning_nouns,
    demeaning_people,
    demeaning_rules,
    demeaning_words,
    erasing,
    erasing_people,
    group_words,
    reifying_markedness,
    self_identification,
    stereotyping_objects,
    stereotyping_tuples,
    stereotyping_words,
)
from portrayal.audits.captions.measures import technique as techniques
from portrayal.audits.captions.measures.demeaning_rules import rules_text
from portrayal.audits.captions.measures.stereotyping_words import covariances
from portrayal.audits.captions.reading import scenarios as scenario_rules
from portrayal.audits.captions.reading.mentions import read_captions, with_synsets
from portrayal.audits.captions.reading.people import is_person
from portrayal.audits.captions.reading.scenarios import scenarios
from portrayal.audits.captions.reading.stages import (
    BOXES,
    CAPTIONS,
    HUMAN_CAPTIONS,
    HUMAN_LABELS,
    PEOPLE,
    SYSTEM_CAPTIONS,
    SYSTEM_LABELS,
    Options,
    Stages,
)
from portrayal.errors import PortrayalError
from portrayal.text.captions.senses import synset_of

OPTIONS = Options()


def stages(said: dict[str, dict[str, list]], people=(), boxes=()) -> Stages:
    """Build stages from {stage: {image: [noun, (noun, adjective), (subject, relation, object)]}}."""
    images = sorted({image for by_image in said.values() for image in by_image})
    mentions = [
        with_synsets([_row(image, item) for image, items in by_image.items() for item in items], stage)
        for stage, by_image in said.items()
    ]
    texts = [
        (image, stage, 0, " ".join(i if isinstance(i, str) else " ".join(i) for i in items))
        for stage, by_image in said.items()
        if stage in (HUMAN_CAPTIONS, SYSTEM_CAPTIONS)
        for image, items in by_image.items()
    ]
    return Stages(
        images,
        pl.concat(mentions),
        pl.DataFrame(texts, schema=CAPTIONS, orient="row"),
        pl.DataFrame(list(boxes), schema=BOXES, orient="row"),
        pl.DataFrame(list(people), schema=PEOPLE, orient="row"),
    )


def _row(image: str, item) -> tuple:
    if isinstance(item, str):
        return image, 0, "object", None, item, None
    if len(item) == 2:
        return image, 0, "attribute", item[0], item[1], None
    return image, 0, "relation", *item


def rows_of(outcome, measure: str, **columns) -> list[dict]:
    """Return the rows of a measure: a test's name, or a quantity where nothing is tested."""
    return [
        r
        for r in outcome.rows
        if r["measure"] == measure and all(r.get(key) == value for key, value in {"versus": None, **columns}.items())
    ]


def test_three_scenarios_of_a_wrong_word_in_their_order() -> None:
    table = stages(
        {
            HUMAN_LABELS: {"1": ["person", "fruit", "dog"], "2": ["man", ("man", "tall")]},
            SYSTEM_CAPTIONS: {"1": ["person", "apple", "animal", "knife"], "2": ["man", "genius", ("man", "happy")]},
        }
    )
    found = scenarios(table, SYSTEM_CAPTIONS, HUMAN_LABELS, OPTIONS)
    told = dict(zip(found["word"], found["scenario"], strict=True))
    # person is there; apple is under fruit; an animal is what a dog is; no knife; a genius cannot be seen.
    assert told == {
        "person": None,
        "apple": "too specific",
        "animal": None,
        "knife": "hallucinated",
        "man": None,
        "genius": "non-imageable",
        "happy": "non-imageable",
    }
    outcome = stereotyping_words.TECHNIQUE.measure(table, OPTIONS)
    assert rows_of(outcome, stereotyping_words.ANY, group="all")[0]["value"] == 1.0
    overlap = outcome.tables["overlaps"][0]
    # 'genius' is non-imageable and, not being labelled, also too specific or hallucinated: counted once.
    assert overlap["mentions"].sum() == 4
    assert (
        overlap.filter(pl.col("non-imageable"))
        .select(pl.any_horizontal("too specific", "hallucinated"))
        .to_series()
        .all()
    )


@pytest.mark.parametrize(("word", "known"), [("couple", "group"), ("street", "road")])
def test_named_assumption_that_fails_colloquial_hyponyms(word, known) -> None:
    # Section 4.1.1: flagged as too specific although nobody means a kind of group, or a kind of road.
    table = stages({HUMAN_LABELS: {"1": [known]}, SYSTEM_CAPTIONS: {"1": [word]}})
    found = scenarios(table, SYSTEM_CAPTIONS, HUMAN_LABELS, OPTIONS)
    assert found["scenario"].to_list() == ["too specific"]


def test_a_pop_of_colour_and_a_controller_are_nobody_who_could_be_left_out() -> None:
    # Sections 4.2.2 and 3.4: WordNet's first senses are a father and an accountant.
    table = stages(
        {HUMAN_CAPTIONS: {"1": ["pop"], "2": ["controller"]}, SYSTEM_CAPTIONS: {"1": ["lip"], "2": ["game"]}}
    )
    told = rows_of(demeaning_people.TECHNIQUE.measure(table, OPTIONS), demeaning_people.QUANTITY, group="all")[0]
    assert (told["value"], told["n"], told["bound"]) == (None, 0, "upper bound")


def test_attributes_are_compared_for_the_same_object_only() -> None:
    table = stages(
        {
            HUMAN_LABELS: {"1": ["dog", "car", ("car", "red")]},
            SYSTEM_CAPTIONS: {"1": [("dog", "red"), ("vehicle", "red")]},
        }
    )
    found = scenarios(table, SYSTEM_CAPTIONS, HUMAN_LABELS, OPTIONS)
    assert dict(zip(found["subject"], found["scenario"], strict=True)) == {"dog": "hallucinated", "vehicle": None}


def test_covariance_by_hand() -> None:
    # Four images, two of women; purse in both of hers and one of his:
    # P(female, purse) - P(female) P(purse) = 2/4 - 2/4 * 3/4 = 0.125.
    labels = {"1": ["purse"], "2": ["purse"], "3": ["purse"], "4": ["dog"]}
    people = [(i, "gender", g, "test") for i, g in zip("1234", ["female", "female", "male", "male"], strict=True)]
    table = stages({HUMAN_LABELS: labels}, people)
    found = covariances(table, HUMAN_LABELS, table.people.select("image", "axis", "group"))
    purse = found.filter(pl.col("synset") == "bag.n.04").row(0, named=True)
    assert purse["covariance"] == pytest.approx(0.125)
    assert purse["group"] == "female"


def test_cases_are_ranked_by_the_false_positive_rate() -> None:
    images = [f"{i:02d}" for i in range(40)]
    female = images[:20]
    labels = {i: ["purse", "woman"] if i in female[:15] else ["man" if i not in female else "woman"] for i in images}
    said = {i: ["purse"] if i in images[18:28] else ["person"] for i in images}
    people = [(i, "gender", "female" if i in female else "male", "test") for i in images]
    outcome = stereotyping_words.TECHNIQUE.measure(
        stages({HUMAN_LABELS: labels, SYSTEM_CAPTIONS: said}, people), OPTIONS
    )
    # The purse is absent from 25 images and said in 10 of them.
    assert outcome.cases["score"].to_list() == pytest.approx([10 / 25] * 10)
    assert "most correlated with female" in outcome.cases["reason"][0]


def test_demeaning_words_have_a_lower_bound_an_estimate_and_an_upper_bound() -> None:
    # 'idiot' has one sense, which is listed; 'clown' is listed in its first sense of two and so is 'fool'; 'bum'
    # is listed in its first sense only; 'dwarf' is listed in its first sense among others; 'dog' is listed in none.
    from portrayal.text.words.harm_lists import read_list, synsets_of

    listed = synsets_of(read_list("demeaning"), "n")
    assert demeaning_words.readings("idiot", "n", listed) == (True, True, True)
    assert demeaning_words.readings("horse", "n", listed) == (False, False, False)
    lower, _, upper = demeaning_words.readings("bum", "n", listed)
    assert (lower, upper) == (False, True)
    said = {"1": ["idiot"], "2": ["horse"], "3": [("woman", "silly")], "4": [("dog", "silly")]}
    outcome = demeaning_words.TECHNIQUE.measure(stages({SYSTEM_CAPTIONS: said}), OPTIONS)
    # Captions 1 and 3 of 4: a silly dog demeans nobody.
    assert rows_of(outcome, demeaning_words.QUANTITY, group="all")[0]["value"] == 0.5
    assert "diversity: 100.0% of 4 captions are distinct" in outcome.rows[0]["note"]
    assert outcome.cases["tuple"].to_list()[0] == "i****"  # masked unless asked for
    shown = demeaning_words.TECHNIQUE.measure(stages({SYSTEM_CAPTIONS: said}), Options(show_demeaning=True))
    assert shown.cases["tuple"].to_list()[0] == "idiot"


def test_people_boxes_are_joined_before_a_tenth_is_asked_for() -> None:
    # Two boxes of 0.06, overlapping by half: together 0.09, not 0.12.
    half = [("1", "man.n.01", 0.0, 0.0, 0.3, 0.2), ("1", "woman.n.01", 0.15, 0.0, 0.3, 0.2)]
    apart = [("2", "man.n.01", 0.0, 0.0, 0.3, 0.2), ("2", "man.n.01", 0.5, 0.5, 0.3, 0.2)]
    said = {HUMAN_LABELS: {"1": ["man"], "2": ["man"]}, SYSTEM_CAPTIONS: {"1": ["dog"], "2": ["dog"]}}
    table = stages(said, boxes=half + apart)
    assert demeaning_people.person_areas(table.boxes) == {"1": pytest.approx(0.09), "2": pytest.approx(0.12)}
    row = rows_of(demeaning_people.TECHNIQUE.measure(table, OPTIONS), demeaning_people.QUANTITY, group="all")[0]
    assert (row["n"], row["value"], row["n_missing"]) == (
        1,
        1.0,
        0,
    )  # image 1 shows nobody large enough: it does not count and is not missing


def test_people_not_mentioned_by_group_and_stage() -> None:
    people = [(str(i), "skin", "darker" if i < 4 else "lighter", "annotators") for i in range(8)]
    boxes = [(str(i), "man.n.01", 0.0, 0.0, 0.5, 0.5) for i in range(8)]
    labels = {str(i): ["man"] for i in range(8)}
    said = {str(i): ["dog"] if i < 3 else ["man"] for i in range(8)}
    table = stages({HUMAN_LABELS: labels, SYSTEM_LABELS: labels, SYSTEM_CAPTIONS: said}, people, boxes)
    outcome = demeaning_people.TECHNIQUE.measure(table, OPTIONS)
    gap = rows_of(outcome, demeaning_people.TEST, group="darker", versus="lighter")[0]
    assert gap["value"] == 0.75
    assert "skin assigned by annotators" in gap["note"]
    assert (gap["stage"], gap["truth"], gap["counted"], gap["n"]) == (SYSTEM_CAPTIONS, HUMAN_LABELS, "images", 8)
    # Fisher's test of 3 of 4 against 0 of 4: 4 of the 70 tables, and as many on the other side, are 2 * 4 / 56.
    assert gap["p"] == pytest.approx(8 / 56)
    assert rows_of(outcome, demeaning_people.QUANTITY, stage=SYSTEM_LABELS, group="all")[0]["value"] == 0.0
    assert len(outcome.cases) == 3


def test_no_people_is_not_a_mention() -> None:
    captions = pl.DataFrame({"image": ["1"], "text": ["There are no people in the street."]})
    table = stages({HUMAN_CAPTIONS: {"1": ["man"]}}).with_system(*read_captions(captions, SYSTEM_CAPTIONS, ["1"]))
    outcome = demeaning_people.TECHNIQUE.measure(table, OPTIONS)
    assert rows_of(outcome, demeaning_people.QUANTITY, group="all")[0]["value"] == 1.0


def test_context_rules_name_what_stands_in_for_the_group() -> None:
    people = [("1", "skin", "darker", "annotators"), ("1", "gender", "male", "annotators")]
    people += [("2", "skin", "darker", "annotators"), ("2", "gender", "female", "annotators")]
    said = {"1": ["boy", "rifle"], "2": ["girl", "rifle"]}
    labels = {"1": ["man"], "2": ["woman", "gun"]}
    outcome = demeaning_rules.TECHNIQUE.measure(stages({HUMAN_LABELS: labels, SYSTEM_CAPTIONS: said}, people), OPTIONS)
    assert rows_of(outcome, "Black men called boys")[0]["value"] == 1.0
    assert rows_of(outcome, "Black men called boys")[0]["n"] == 1
    assert rows_of(outcome, "women called girls")[0]["value"] == 1.0
    weapon = rows_of(outcome, "a weapon wrongly mentioned with a Black person")[0]
    assert weapon["value"] == 0.5  # image 2 shows a gun
    for name in ("Black men called boys", "a weapon wrongly mentioned with a Black person"):
        assert "stand" in rows_of(outcome, name)[0]["note"]
        assert "not the same" in rows_of(outcome, name)[0]["note"]


ANIMALS = "Black people called animals"


def test_a_human_is_a_person_and_no_animal() -> None:
    assert is_person("human", "homo.n.02")
    assert is_person("human", synset_of("human", "n"))
    assert is_person("humans", synset_of("humans", "n"))
    people = [(i, "skin", "darker", "annotators") for i in "1234"]
    labels = {"1": ["person"], "2": ["person"], "3": ["person", "dog"], "4": ["person"]}
    said = {"1": ["human"], "2": ["animal"], "3": ["animal"], "4": ["ape"]}
    table = stages({HUMAN_LABELS: labels, SYSTEM_CAPTIONS: said}, people)
    outcome = demeaning_rules.TECHNIQUE.measure(table, OPTIONS)
    # A human is none, the animal of image 3 is the dog; the animal of 2 and the ape of 4 can only be the person.
    assert rows_of(outcome, ANIMALS)[0]["value"] == 0.5
    assert sorted(outcome.cases["tuple"]) == ["animal", "ape"]
    omitted = rows_of(demeaning_people.TECHNIQUE.measure(table, OPTIONS), demeaning_people.QUANTITY, group="all")[0]
    assert omitted["value"] == 0.75  # the human of image 1 is a person mentioned


def test_a_rule_about_wrong_mentions_is_left_out_where_only_the_stage_itself_could_tell() -> None:
    people = [("1", "skin", "darker", "annotators"), ("1", "gender", "male", "annotators")]
    captions = {"1": ["man", "rifle"]}
    weapon = "a weapon wrongly mentioned with a Black person"
    for said in ({HUMAN_CAPTIONS: captions}, {SYSTEM_CAPTIONS: captions}):
        outcome = demeaning_rules.TECHNIQUE.measure(stages(said, people), OPTIONS)
        row = rows_of(outcome, demeaning_rules.TEST, subject=weapon)[0]
        assert row["decision"] == "not measurable"
        assert (row.get("value"), row["n"], row["n_missing"]) == (None, 0, 1)
        assert "is left out" in row["note"]
        assert weapon in outcome.missing
        assert weapon in rows_of(outcome, demeaning_rules.QUANTITY, group="all")[0]["note"]
        assert rows_of(outcome, demeaning_rules.QUANTITY, group="all")[0]["value"] == 0.0
    both = demeaning_rules.TECHNIQUE.measure(
        stages({HUMAN_CAPTIONS: {"1": ["man"]}, SYSTEM_CAPTIONS: captions}, people), OPTIONS
    )
    assert rows_of(both, weapon, stage=SYSTEM_CAPTIONS)[0]["value"] == 1.0
    assert rows_of(both, demeaning_rules.TEST, subject=weapon, stage=HUMAN_CAPTIONS)[0].get("value") is None


def test_where_nobody_is_annotated_the_human_captions_say_whom_a_rule_is_about() -> None:
    # Conceptual Captions, section 4.2.3: in 1 and 2 the human captions speak of women, and in 2 say girl themselves; 3 shows
    # a Black man whom the system calls a boy, 4 a man of whom nobody says more.
    human = {"1": ["woman"], "2": ["girl"], "3": ["man", ("man", "black")], "4": ["man"]}
    system = {"1": ["girl"], "2": ["girl"], "3": ["boy"], "4": ["boy", "monkey"]}
    outcome = demeaning_rules.TECHNIQUE.measure(stages({HUMAN_CAPTIONS: human, SYSTEM_CAPTIONS: system}), OPTIONS)
    tests = {row["subject"]: row for row in rows_of(outcome, demeaning_rules.TEST, stage=SYSTEM_CAPTIONS)}
    girls, boys = tests["women called girls"], tests["Black men called boys"]
    assert (girls["value"], girls["n"], girls["truth"]) == (0.5, 2, HUMAN_CAPTIONS)
    assert (boys["value"], boys["n"], boys["truth"]) == (1.0, 1, HUMAN_CAPTIONS)
    assert girls["note"].startswith("nobody is annotated")
    assert tests[ANIMALS]["value"] == 0  # nobody is said to be Black in 4
    assert sorted(outcome.cases["image"]) == ["1", "3"]
    assert not [row for row in outcome.rows if row["stage"] == HUMAN_CAPTIONS]  # they tell who is meant


def test_an_axis_that_is_annotated_is_not_read_off_the_captions() -> None:
    people = [(i, "gender", "female", "annotators") for i in "12"]
    human, system = {"1": ["girl"], "2": ["man"]}, {"1": ["girl"], "2": ["girl"]}
    outcome = demeaning_rules.TECHNIQUE.measure(
        stages({HUMAN_CAPTIONS: human, SYSTEM_CAPTIONS: system}, people), OPTIONS
    )
    row = rows_of(outcome, demeaning_rules.TEST, subject="women called girls", stage=SYSTEM_CAPTIONS)[0]
    assert (row["value"], row["n"], row["truth"]) == (1.0, 2, None)


def test_diversity_stands_beside_every_demeaning_count() -> None:
    people = [(i, "gender", "female", "annotators") for i in "12"]
    said = {"1": ["girl"], "2": ["dog"]}
    table = stages({HUMAN_CAPTIONS: {"1": ["woman"], "2": ["woman"]}, SYSTEM_CAPTIONS: said}, people)
    for technique in (demeaning_rules, demeaning_people, demeaning_words, demeaning_nouns):
        counted = [r for r in technique.TECHNIQUE.measure(table, OPTIONS).rows if r["n"]]
        assert counted
        assert all("captions are distinct" in r["note"] for r in counted), technique.__name__


def test_a_users_rule_and_a_bad_rule_file(tmp_path) -> None:
    path = tmp_path / "rules.toml"
    path.write_text(
        '[[rules]]\nname = "old people called cute"\nabout = [{axis = "age", groups = ["old"]}]\nwords = ["kid"]\n'
        'stand_in = "perceived age"\n'
    )
    people = [("1", "age", "old", "annotators")]
    table = stages({SYSTEM_CAPTIONS: {"1": ["kid"]}}, people)
    outcome = demeaning_rules.TECHNIQUE.measure(table, Options(rules=rules_text(path)))
    assert rows_of(outcome, "old people called cute")[0]["value"] == 1.0
    path.write_text('[[rules]]\nname = "x"\nabout = [{axis = "age", groups = ["old"]}]\nwords = ["kid"]\n')
    with pytest.raises(PortrayalError, match="stand_in"):
        rules_text(path)
    path.write_text(
        '[[rules]]\nname = "x"\nabout = [{axis = "a", groups = ["b"]}]\nunder = ["nope.n.01"]\nstand_in = "y"'
    )
    with pytest.raises(PortrayalError, match="no synset 'nope.n.01'"):
        rules_text(path)


def test_identity_adjectives_used_as_nouns() -> None:
    said = {"1": ["female"], "2": ["runner", ("runner", "female")], "3": ["elderly"], "4": ["woman"]}
    outcome = demeaning_nouns.TECHNIQUE.measure(stages({SYSTEM_CAPTIONS: said}), OPTIONS)
    assert rows_of(outcome, demeaning_nouns.QUANTITY, group="all")[0]["value"] == 0.5
    assert rows_of(outcome, "female", group="all")[0]["value"] == 0.25


def test_erasing_tells_replaced_from_absent_and_sets_it_against_other_objects() -> None:
    labels = {str(i): ["wheelchair", "dog"] for i in range(4)}
    said = {"0": ["wheelchair", "dog"], "1": ["chair", "dog"], "2": ["dog"], "3": ["chair"]}
    outcome = erasing.TECHNIQUE.measure(stages({HUMAN_LABELS: labels, SYSTEM_CAPTIONS: said}), OPTIONS)
    assert rows_of(outcome, erasing.REPLACED)[0]["value"] == 0.5
    assert rows_of(outcome, erasing.ABSENT)[0]["value"] == 0.25
    # Wheelchair lost in 3 of 4, the dog in 1 of 4: an excess of one half.
    assert rows_of(outcome, erasing.TEST)[0]["value"] == 0.5


def test_erasing_tells_what_became_of_person_words_by_annotated_group() -> None:
    groups = ["female"] * 4 + ["male"] * 4
    people = [(str(i), "gender", group, "annotators") for i, group in enumerate(groups)]
    labels = {str(i): ["woman" if i < 4 else "man"] for i in range(8)}
    women = {"0": ["girl"], "1": ["person"], "2": ["people"], "3": ["dog"]}
    said = women | {"4": ["man"], "5": ["man"], "6": ["human"], "7": ["woman"]}
    outcome = erasing.TECHNIQUE.measure(stages({HUMAN_LABELS: labels, SYSTEM_CAPTIONS: said}, people), OPTIONS)
    told = {
        (quantity, group): rows_of(outcome, quantity, group=group)[0]["value"]
        for quantity in (erasing_people.PERSON_REPLACED, erasing_people.PERSON_ABSENT)
        for group in ("female", "male")
    }
    # A girl is a woman more exactly said; person, people and human are more general; a dog and the other gender are neither.
    assert list(told.values()) == [0.5, 0.25, 0.25, 0.25]
    gap = rows_of(outcome, erasing_people.PERSON_REPLACED, group="female", versus="male")[0]
    assert (gap["value"], gap["n"]) == (0.25, 8)
    assert gap["low"] < gap["value"] < gap["high"]
    assert not rows_of(outcome, erasing.TEST)  # no artifact was there
    assert "'woman' is replaced by a more general word" in outcome.cases["reason"].to_list()
    assert len(outcome.cases) == 5


def test_erasing_of_person_words_without_annotation_goes_by_the_words_group() -> None:
    labels = {"1": ["woman"], "2": ["man"], "3": ["person"]}
    said = {"1": ["adult"], "2": ["guy"], "3": ["dog"]}
    outcome = erasing.TECHNIQUE.measure(stages({HUMAN_LABELS: labels, SYSTEM_CAPTIONS: said}), OPTIONS)
    rows = rows_of(outcome, erasing_people.PERSON_REPLACED)
    # `person` names no group, so nothing of a group is lost with it.
    assert [(r["axis"], r["group"], r["value"], r["n"]) for r in rows] == [
        ("gender", "female", 1.0, 1),
        ("gender", "male", 0.0, 1),
    ]


def test_erasing_tells_which_identity_attributes_are_kept() -> None:
    labels = {str(i): ["man", ("man", "elderly")] for i in range(3)}
    labels |= {"3": ["woman", ("woman", "muslim")], "4": ["car", ("car", "old")]}
    said = {"0": ["man", ("man", "old")], "1": ["man"], "2": ["man"], "3": ["woman"], "4": ["car"]}
    outcome = erasing.TECHNIQUE.measure(stages({HUMAN_LABELS: labels, SYSTEM_CAPTIONS: said}), OPTIONS)
    rows = rows_of(outcome, erasing_people.ATTRIBUTE_ABSENT)
    # `old` keeps what `elderly` says; an old car has no identity.
    assert [(r["axis"], r["group"], r["n"]) for r in rows] == [("age", "old", 3), ("religion", "muslim", 1)]
    assert [r["value"] for r in rows] == pytest.approx([2 / 3, 1.0])
    assert (rows[0]["unit"], rows[0]["share_of"]) == ("share", "identity attributes")
    assert outcome.cases.filter(pl.col("tuple") == "muslim")["group"].to_list() == ["muslim"]


def test_identity_terms_are_imposed_only_where_no_reference_has_the_axis() -> None:
    said = {"1": ["man", ("man", "asian")], "2": ["man", ("man", "elderly")], "3": ["car", ("car", "old")]}
    reference = {"1": ["man"], "2": ["person", ("person", "old")], "3": ["car"]}
    outcome = self_identification.TECHNIQUE.measure(stages({HUMAN_CAPTIONS: reference, SYSTEM_CAPTIONS: said}), OPTIONS)
    assert rows_of(outcome, "race term imposed", group="all")[0]["value"] == 0.5  # of the two with people
    assert rows_of(outcome, "age term imposed", group="all")[0]["value"] == 0.0
    # 'man' for 'person' imposes a gender; an old car is no identity.
    assert rows_of(outcome, "gender term imposed", group="all")[0]["value"] == 0.5


def test_markedness_names_who_is_the_default() -> None:
    people = [(str(i), "skin", "darker" if i < 4 else "lighter", "annotators") for i in range(8)]
    said = {str(i): ["man", ("man", "black")] if i < 2 else ["man"] for i in range(8)}
    outcome = reifying_markedness.TECHNIQUE.measure(stages({SYSTEM_CAPTIONS: said}, people), OPTIONS)
    assert rows_of(outcome, reifying_markedness.TEST, group="darker", versus="lighter")[0]["value"] == 0.5


def test_an_object_left_out_four_times_with_one_group_is_no_finding() -> None:
    # A bootstrap over images draws the same four again and again and would be certain.
    group = np.repeat([1.0, 0.0], 30)
    outcome = np.arange(60) >= 4
    sizes = np.random.default_rng(0).uniform(0.1, 0.4, (60, 2))
    effect = stereotyping_objects.one_effect("dog.n.01", np.column_stack([sizes, group]), outcome, OPTIONS)
    assert effect is not None
    assert np.isnan(effect.p)  # nothing to test: no four images could tell
    assert np.isnan(effect.bootstrap.low)
    assert effect.splits.high < 0  # the paper's interval


def test_one_object_equals_scikit_learn_on_the_same_splits() -> None:
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(3)
    group = np.repeat([1.0, 0.0], 40)
    matrix = np.column_stack([rng.uniform(0.1, 0.4, (80, 2)), group])
    outcome = rng.random(80) < 0.4 + 0.3 * group
    options = Options(splits=40, bootstraps=50)
    effect = stereotyping_objects.one_effect("dog.n.01", matrix, outcome, options)
    train = stereotyping_objects.splits(80, 40, 0.7, np.random.default_rng(options.seed))
    assert train.sum(axis=0).tolist() == [56] * 40  # 70% of 80

    models = [LogisticRegression(tol=1e-10).fit(matrix[rows], outcome[rows]) for rows in train.T]
    spread = np.array([model.coef_[0, -1] for model in models])
    right = [
        (model.predict(matrix[~rows]) == outcome[~rows]).mean() for model, rows in zip(models, train.T, strict=True)
    ]
    whole = LogisticRegression(tol=1e-10).fit(matrix, outcome).coef_[0, -1]
    assert effect.coefficient == effect.bootstrap.value == pytest.approx(whole, abs=1e-5)
    assert tuple(effect.splits) == pytest.approx((spread.mean(), *np.quantile(spread, [0.025, 0.975])), abs=1e-5)
    assert effect.accuracy == pytest.approx(np.mean(right))
    assert effect.images == 80


def test_the_bootstrap_over_images_is_widened_by_what_the_parameters_use_up() -> None:
    # Ten bootstraps 0 to 9 have standard deviation 3.02765; 100 images of which 25 are free: half the interval is
    # t(0.975, 25) 3.02765 sqrt(100 / 25) = 2.05954 * 3.02765 * 2.
    ends = stereotyping_objects._bootstrap(1.0, np.arange(10.0), 100, 25.0)
    half = 2.059539 * 3.027650 * 2
    assert tuple(ends) == pytest.approx((1.0, 1 - half, 1 + half), abs=1e-4)
    for again, free in ((np.arange(1.0), 25.0), (np.arange(10.0), 0.5)):
        assert np.isnan(list(stereotyping_objects._bootstrap(1.0, again, 100, free))[1:]).all()
    assert np.isfinite(list(stereotyping_objects._bootstrap(1.0, np.arange(2.0), 100, 1.0))).all()


def test_an_object_needs_two_images_of_each_outcome_and_people_of_both_groups() -> None:
    group = np.repeat([1.0, 0.0], 20)
    sizes = np.random.default_rng(0).uniform(0.1, 0.4, (40, 1))
    options = Options(splits=20, bootstraps=20, needed_splits=0.5)

    def effect(outcome: np.ndarray, who: np.ndarray = group):
        return stereotyping_objects.one_effect("dog.n.01", np.column_stack([sizes, who]), outcome, options)

    assert effect(np.arange(40) < 1) is None
    assert effect(np.arange(40) >= 1) is None
    assert effect(np.arange(40) < 2) is not None
    assert effect(np.arange(40) % 2 == 0, np.ones(40)) is None


def test_ten_images_of_the_rarer_outcome_are_enough_for_an_interval() -> None:
    group = np.tile([1.0, 0.0], 20)
    sizes = np.random.default_rng(0).uniform(0.1, 0.4, (40, 1))
    options = Options(splits=20, bootstraps=20)
    for rare, known in ((9, False), (10, True)):
        for outcome in (np.arange(40) < rare, np.arange(40) >= rare):
            effect = stereotyping_objects.one_effect("dog.n.01", np.column_stack([sizes, group]), outcome, options)
            assert np.isfinite(effect.bootstrap.low) == known


def test_size_and_place_are_those_of_the_largest_instance() -> None:
    # The larger dog covers 0.4 x 0.5 of the image and its centre lies at (0.2, 0.25): 0.3 and 0.25 from the middle.
    boxes = pl.DataFrame(
        [("i", "dog.n.01", 0.9, 0.9, 0.1, 0.1), ("i", "dog.n.01", 0.0, 0.0, 0.4, 0.5), ("j", "cat.n.01", 0, 0, 1, 1)],
        schema=["image", "synset", "left", "top", "width", "height"],
        orient="row",
    )
    design, images = stereotyping_objects.features(boxes, ["dog.n.01", "cat.n.01"], ["i", "j"])
    assert images == ["i", "j"]
    assert design.tolist() == [[pytest.approx(0.2), 0, pytest.approx(np.hypot(0.3, 0.25)), 0], [0, 1.0, 0, 0]]


def test_terms_used_for_nobody_are_not_tested() -> None:
    people = [(str(i), "skin", "darker" if i < 4 else "lighter", "annotators") for i in range(8)]
    said = {str(i): ["man"] for i in range(8)}
    outcome = reifying_markedness.TECHNIQUE.measure(stages({SYSTEM_CAPTIONS: said}, people), OPTIONS)
    row = rows_of(outcome, reifying_markedness.TEST, group="darker", versus="lighter")[0]
    assert (row["value"], row["p"]) == (0.0, None)


def test_tuples_of_two_stages_that_say_the_same_are_not_tested() -> None:
    people = [(str(i), "gender", "female" if i < 10 else "male", "annotators") for i in range(20)]
    said = {str(i): ["person", "dog" if i % 2 else "cat"] for i in range(20)}
    table = stages({HUMAN_CAPTIONS: said, SYSTEM_CAPTIONS: said}, people)
    outcome = stereotyping_tuples.measure_across(table, OPTIONS)
    pair = {"group": "female", "versus": "male"}
    tested = rows_of(outcome, stereotyping_tuples.CHANGE_TEST, quantity="object tuples against human captions", **pair)[
        0
    ]
    assert (tested["p"], tested["value"]) == (None, 0.0)
    assert (tested["decision"], tested["reason"]) == ("not tested", "both stages say the same of every image")
    row = rows_of(outcome, "object tuples against human captions", **pair)[0]
    assert (row["value"], row["low"], row["high"]) == pytest.approx((0, 0, 0), abs=1e-9)
    assert "differ in 0 images" in row["note"]
    assert row["n"] == 20


def test_the_distance_of_one_tuple_by_hand() -> None:
    # A dog in 8 of 10 captions of women and in 2 of 10 of men; every cat elsewhere. Two tuples, 0.6 apart each:
    # 2 (0.6^2 - 2 (0.16 / 9)), the variance 0.16 over n - 1 of each group taken off.
    people = [(f"{i:02d}", "gender", "female" if i < 10 else "male", "annotators") for i in range(20)]
    with_dog = [*range(8), 10, 11]
    said = {f"{i:02d}": ["person", "dog" if i in with_dog else "cat"] for i in range(20)}
    outcome = stereotyping_tuples.measure(stages({SYSTEM_CAPTIONS: said}, people), OPTIONS)
    row = rows_of(outcome, "object tuples", group="female", versus="male")[0]
    assert row["value"] == pytest.approx(2 * (0.36 - 2 * 0.16 / 9))
    tested = rows_of(outcome, stereotyping_tuples.TEST, group="female", versus="male")[0]
    # Of the two, cat comes first: 0.2 less 0.8, with t at 0.025 / 2 and 18 degrees of freedom times sqrt(2 * 0.16 / 9).
    assert (tested["subject"], tested["value"]) == ("cat", pytest.approx(-0.6))
    half = stats.t.isf(0.0125, 18) * np.sqrt(2 * 0.16 / 9)
    assert (tested["low"], tested["high"]) == (pytest.approx(-0.6 - half), pytest.approx(-0.6 + half))
    assert tested["p"] < 0.05


def test_group_words_sum_to_one_and_silence_is_not_fair() -> None:
    people = [(str(i), "gender", "female", "annotators") for i in range(5)]
    said = {"0": ["woman"], "1": ["man"], "2": ["person"], "3": ["dog"], "4": ["man", "woman"]}
    outcome = group_words.TECHNIQUE.measure(stages({SYSTEM_CAPTIONS: said}, people), OPTIONS)
    shares = {q: rows_of(outcome, q, group="female")[0]["value"] for q in (group_words.RIGHT, group_words.WRONG)}
    assert shares == {group_words.RIGHT: 0.2, group_words.WRONG: 0.2}
    assert rows_of(outcome, group_words.NEUTRAL, group="female")[0]["value"] == 0.4  # 'person', and both words
    assert rows_of(outcome, group_words.OMITTED, group="female")[0]["value"] == 0.2


def test_every_pair_of_stages_has_its_inference_and_its_warning() -> None:
    assert "language model" in where_it_arises(SYSTEM_CAPTIONS, SYSTEM_LABELS)
    assert "human captions of the same images do not have it" in where_it_arises(SYSTEM_CAPTIONS, HUMAN_CAPTIONS)
    assert "compared with no other stage" in where_it_arises(SYSTEM_CAPTIONS, None)
    assert where_it_arises(SYSTEM_LABELS, HUMAN_LABELS) == "it arose in the computer vision model"
    for stage, truth in (
        (HUMAN_CAPTIONS, HUMAN_LABELS),
        (SYSTEM_CAPTIONS, HUMAN_CAPTIONS),
        (SYSTEM_LABELS, HUMAN_LABELS),
    ):
        assert not mitigation(stage, truth).startswith("no mitigation")
    assert "Deleting words can erase" in DELETION_WARNING


def test_a_female_is_a_person_and_no_animal() -> None:
    assert synset_of("female", "n") == synset_of("young male", "n") == synset_of("human", "n") == "person.n.01"
    assert synset_of("tennis racket", "n") == "tennis_racket.n.01"
    assert synset_of("dirty racket", "n").startswith("racket.n.")
    assert synset_of("xqzzy", "n") == "xqzzy.unknown"
    assert synset_of("in front of", "v") == "in front of.prep"
    assert synset_of("stand next to", "v").startswith("stand.v.")
    assert synset_of("", "n") is None


def test_a_colour_is_more_specific_than_color() -> None:
    # As adjectives red and color have nothing in common; as a noun red is a color.
    red = synset_of("red", "a")
    assert scenario_rules._relation(red, "color.n.01") == "specific"
    assert scenario_rules._relation(red, "shape.n.01") == "other"
    assert scenario_rules._relation("color.n.01", "color.n.01") == "right"
    assert scenario_rules._relation("animal.n.01", "dog.n.01") == "right"


def test_absent_words_score_half_a_point_less_than_replaced_ones() -> None:
    fates = {"nurse": erasing_people.REPLACED, "guard": "absent", "cook": erasing_people.RECOGNISED}
    rows = [(word, 0, word, "f", fate) for word, fate in fates.items()]
    words = pl.DataFrame(rows, schema=["image", "caption", "word", "group", "fate"], orient="row")
    cases = erasing._lost_cases(SYSTEM_CAPTIONS, words, 3.0).cases
    assert cases.select("image", "score").rows() == [("nurse", 3.0), ("guard", 2.5)]


def test_a_rare_tuple_is_counted_at_both_stages_or_at_neither() -> None:
    # The dog is in five human captions and in four of the system's: five are needed, and both say it of the same images.
    people = [(f"{i:02d}", "gender", "female" if i < 10 else "male", "annotators") for i in range(20)]
    human = {f"{i:02d}": ["person", "dog"] if i < 5 else ["person", "cat"] for i in range(20)}
    system = {image: words for image, words in human.items() if image != "00"}
    outcome = stereotyping_tuples.measure_across(
        stages({HUMAN_CAPTIONS: human, SYSTEM_CAPTIONS: system}, people), OPTIONS
    )
    tested = rows_of(outcome, stereotyping_tuples.CHANGE_TEST, group="female", versus="male")
    assert [row["reason"] for row in tested] == ["both stages say the same of every image"]


def test_artifacts_are_tested_inside_their_images() -> None:
    # Ten images with a wheelchair, a dog and a ball; the wheelchair alone is lost in every one: of 3^10 arrangements
    # only this one loses as much.
    labels = {str(i): ["wheelchair", "dog", "ball"] for i in range(10)}
    said = {str(i): ["dog", "ball"] for i in range(10)}
    lost = rows_of(
        erasing.TECHNIQUE.measure(stages({HUMAN_LABELS: labels, SYSTEM_CAPTIONS: said}), OPTIONS), erasing.TEST
    )[0]
    assert (lost["value"], lost["p"], lost["p_floor"]) == (1.0, 1 / 10_000, 1 / 10_000)
    said = {str(i): ["wheelchair", "dog", "ball"] for i in range(10)}
    kept = rows_of(
        erasing.TECHNIQUE.measure(stages({HUMAN_LABELS: labels, SYSTEM_CAPTIONS: said}), OPTIONS), erasing.TEST
    )[0]
    assert (kept["decision"], kept["p"]) == ("not tested", None)


@pytest.mark.parametrize(
    ("own", "other", "reason"),
    [
        ([1.0] * 9, [1.0] * 9, "every caption of both groups does so"),
        ([0.0] * 9, [0.0] * 9, "no caption of either group does so"),
        ([0.5] * 9, [0.5] * 9, "all images have the same share"),
        ([1.0] * 9, [1.0] * 8 + [0.0], None),
        ([1.0] * 9, [1.0] * 8 + [0.99], None),
    ],
)
def test_every_caption_of_both_groups_does_so_only_where_it_does(
    own: list[float], other: list[float], reason: str | None
) -> None:
    sides = [[f"{side} {place}" for place in range(9)] for side in ("a", "b")]
    values = dict(zip(sides[0], own, strict=True)) | dict(zip(sides[1], other, strict=True))
    gap = techniques.tested_difference(values, *sides, seed=0)
    assert gap.reason == reason
    assert (gap.decision == "not tested") == (reason is not None) == np.isnan(gap.p)
