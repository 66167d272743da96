"""Barlas et al. (2020): tags generated from the published counts go through the whole pipeline and give them back.

Tables 7 and 9 from reconstruct_confusion.csv (21 tagger-condition pairs). Table 8 from counts built to its marginals and
conditionals, leaving out the four places where the paper contradicts itself (Microsoft F1 any; Amazon M3 given N; Watson M2
any and given N; see the published README).
"""

import polars as pl
import pytest

from portrayal.audits.contexts.measures.design import Design
from portrayal.audits.contexts.measures.pictures import WordLists, describe_pictures
from portrayal.audits.contexts.measures.questions import answer_questions
from portrayal.text.words.typology import load_contexts

TAG = {"woman": "Woman", "man": "man", "neutral": "person"}
CLUSTER = {"woman": "feminine", "man": "masculine", "neutral": "neutral"}
PLACE_TAG = {"F1": "Wedding Dress", "F2": "crib", "F3": "Cooktop", "F4": "kindergarten", "M1": "garage", "M2": "chef's kitchen",
             "M3": "Pub", "M4": "university"}  # fmt: skip
PLACE_TAG["M2"] = "restaurant kitchen"
MEASURES = ("inferred_count", "gender_f1", "recognised")
CONTRADICTORY = {("Microsoft", "F1", "any"), ("Amazon", "M3", "N"), ("Watson", "M2", "any"), ("Watson", "M2", "N")}


def people(women: int = 307, men: int = 290) -> list[tuple[str, str]]:
    return [(f"w{i:03d}", "women") for i in range(women)] + [(f"m{i:03d}", "men") for i in range(men)]


def stimulus(person: str, gender: str, condition: str) -> dict:
    alone = condition == "baseline"
    return {
        "stimulus": f"{person}@{condition}", "role": "baseline" if alone else "composite", "person": person,
        "context": None if alone else condition, "background": None if alone else f"{condition}-1", "gender": gender,
    }  # fmt: skip


def responses(system: str, name: str, tags: list[str]) -> list[dict]:
    return [
        {"system": system, "stimulus": name, "repeat": 0, "status": "answered", "tag": tag, "confidence": None}
        for tag in tags
    ]


def run(stimuli: list[dict], answers: list[dict]) -> dict[tuple[str, str, str, str], float]:
    """Return the values by system, measure, place, and inferred gender or depicted group."""
    schema = {"context": pl.String, "background": pl.String}
    pictures = describe_pictures(
        pl.DataFrame(stimuli, schema_overrides=schema).unique("stimulus"),
        pl.DataFrame(answers, schema_overrides={"confidence": pl.Float64}),
        WordLists(),
    )
    stereotypes = dict(load_contexts().select("context", "stereotype").iter_rows())
    found = answer_questions(pictures, Design(stereotypes=stereotypes, factors=("gender",), mixed=False))
    return {
        (row["system"], row["measure"], row["place"], row["inferred"] or row["group"]): row["value"]
        for row in found.filter(pl.col("measure").is_in(MEASURES)).iter_rows(named=True)
    }


@pytest.fixture(scope="module")
def tables_seven_and_nine(shared):
    counts = pl.read_csv(shared("published/contexts/reconstruct_confusion.csv"))
    stimuli, answers = [], []
    for (tagger, condition), part in counts.group_by("tagger", "condition"):
        for depicted in ("women", "men"):
            told = [
                name
                for name, count in part.filter(depicted=depicted).select("inferred", "count").iter_rows()
                for _ in range(count)
            ]
            crowd = [person for person in people() if person[1] == depicted]
            for (person, gender), inferred in zip(crowd, told, strict=True):
                stimuli.append(stimulus(person, gender, condition))
                place = [] if condition == "baseline" else [PLACE_TAG[condition]]
                answers += responses(tagger, f"{person}@{condition}", [TAG[inferred], *place])
    return counts.select("tagger", "condition").unique().rows(), run(stimuli, answers)


def test_table_seven_exactly(shared, tables_seven_and_nine):
    pairs, found = tables_seven_and_nine
    published = pl.read_csv(shared("published/contexts/gender_inferences.csv"))
    assert len(pairs) == 21
    for tagger, condition in pairs:
        women, men, neutral = (
            published.filter(tagger=tagger, condition=condition).select("women", "men", "neutral").row(0)
        )
        assert found[tagger, "inferred_count", condition, "feminine"] == women
        assert found[tagger, "inferred_count", condition, "masculine"] == men
        assert found[tagger, "inferred_count", condition, "neutral"] == neutral


def test_table_nine_to_two_decimals(shared, tables_seven_and_nine):
    pairs, found = tables_seven_and_nine
    published = pl.read_csv(shared("published/contexts/gender_f1.csv"), infer_schema=False)
    for tagger, condition in pairs:
        for group in ("women", "men"):
            printed = float(published.filter(tagger=tagger, condition=condition, depicted_gender=group)["f1"][0])
            value = found[tagger, "gender_f1", condition, group]
            assert abs(value - printed) <= 0.005 + 1e-9, (tagger, condition, group, value)


def table_eight_counts(inferred: dict[str, int], printed: dict[str, float]) -> dict[str, int]:
    """The number of recognised pictures per inferred gender: the integer nearest to the printed conditional."""
    return {key: round(printed[key] * n) if n else 0 for key, n in inferred.items()}


@pytest.fixture(scope="module")
def table_eight(shared):
    inferred = pl.read_csv(shared("published/contexts/gender_inferences.csv"))
    printed = pl.read_csv(shared("published/contexts/background_recognition.csv"), null_values="NA")
    stimuli, answers = [], []
    for (tagger, context), part in printed.group_by("tagger", "context"):
        shares = dict(part.select("given", "probability").iter_rows())
        totals = inferred.filter(tagger=tagger, condition=context).row(0, named=True)
        counts = {"W": totals["women"], "M": totals["men"], "N": totals["neutral"]}
        seen = table_eight_counts(counts, shares)
        told = [(kind, place < seen[kind]) for kind, n in counts.items() for place in range(n)]
        for (person, gender), (kind, recognised) in zip(people(), told, strict=True):
            stimuli.append(stimulus(person, gender, context))
            tag = TAG[{"W": "woman", "M": "man", "N": "neutral"}[kind]]
            answers += responses(tagger, f"{person}@{context}", [tag, *([PLACE_TAG[context]] if recognised else [])])
    return printed, run(stimuli, answers)


def test_table_eight_marginals_and_conditionals(table_eight):
    printed, found = table_eight
    name = {"any": "any", "W": "feminine", "M": "masculine", "N": "neutral"}
    checked = 0
    for tagger, context, given, probability in printed.iter_rows():
        if (tagger, context, given) in CONTRADICTORY:
            continue
        value = found[tagger, "recognised", context, name[given]]
        if probability is None:
            assert value is None
        else:
            assert abs(value - probability) <= 0.0005 + 1e-9, (tagger, context, given, value)
        checked += 1
    assert checked == 156


def test_table_nine_prints_na_under_ten_percent(table_eight):
    # Imagga recognised the wedding shop in 3 of 597 pictures.
    _, found = table_eight
    assert found["Imagga", "gender_f1", "F1", "women"] is None
    assert 0 < found["Amazon", "gender_f1", "F1", "women"] <= 1
