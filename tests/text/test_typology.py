"""The typology: the paper's own examples, sources, spellings, and what a review adds."""

import re

import polars as pl
import pytest

from portrayal.audits.contexts.measures.coding import decisions, extend, queue
from portrayal.audits.contexts.measures.pictures import WordLists, unknown_tags
from portrayal.errors import PortrayalError
from portrayal.tables import REVIEWS
from portrayal.text.words.tag_spelling import find, normalise, spellings
from portrayal.text.words.typology import classify_tags, load_context_tags, load_contexts, load_typology


@pytest.fixture(scope="module")
def clusters():
    table = load_typology()
    pairs = table.select("tag", pl.coalesce("sub_cluster", "super_cluster").alias("cluster")).iter_rows()
    found: dict[str, set[str]] = {}
    for tag, cluster in pairs:
        found.setdefault(tag, set()).add(cluster)
    return found


@pytest.mark.parametrize(
    ("tag", "cluster"),
    [  # Table 5 of Barlas et al. (2020)
        ("man", "masculine"), ("masculinity", "masculine"), ("girl", "feminine"), ("hostess", "feminine"),
        ("fine-looking", "judgement"), ("strange", "judgement"), ("funny", "traits"), ("serious", "traits"), ("joy", "emotion"),
        ("pain", "emotion"), ("chef", "occupation"), ("gang", "occupation"),
        # its Section 4.4: a girl is feminine and an age
        ("girl", "age"),
    ],
)  # fmt: skip
def test_the_papers_examples(clusters, tag, cluster):
    assert cluster in clusters[tag]


@pytest.mark.parametrize("tag", ["tart", "brownie", "pop", "kitchen", "t-shirt", "beard"])
def test_things_are_not_people(clusters, tag):
    assert clusters[tag] == {"concrete"}


def test_every_entry_says_where_it_came_from():
    for table in (load_typology(), load_context_tags()):
        assert table["source"].null_count() == 0
        assert table.filter(pl.col("source").str.len_chars() == 0).is_empty()


def test_dictionaries_hold_the_examples_of_table_six(shared):
    printed = pl.read_csv(shared("published/contexts/context_dictionaries.csv"))
    ours = {code: set(part["tag"]) for (code,), part in load_context_tags().group_by("context")}
    for code, tags, _ in printed.iter_rows():
        assert set(tags.split(";")) <= ours[code]


def test_contexts_are_table_one(shared):
    printed = pl.read_csv(shared("published/contexts/contexts.csv"), infer_schema=False)
    assert load_contexts().rows() == printed.drop("median_score").rows()


def test_normalisation_and_spellings():
    assert normalise("  Wedding   Dress") == "wedding_dress"
    assert list(spellings("fine-looking")) == ["fine-looking", "fine_looking"]
    assert list(spellings("families")) == ["families", "family"]
    assert list(spellings("dress")) == ["dress"]
    assert find(["eyes", "cloak_(women's)", "qwxz"], {"eye", "cloak"}) == {"eyes": "eye", "cloak_(women's)": "cloak"}


def test_coverage_of_real_tags(shared):
    rows = pl.read_csv(shared("data/tags/coco_2019/tags.csv.gz"))
    answered = rows.drop_nulls("tag").rename({"tagger": "system", "image_id": "stimulus"})
    unknown = unknown_tags(answered, WordLists())
    assert 1 - unknown["rows"].sum() / answered.height > 0.9


def reviews(*rows):
    return pl.DataFrame(rows, schema=dict(REVIEWS), orient="row")


def test_unknown_tags_wait_for_review_and_come_back_as_entries():
    unknown = pl.DataFrame({"tag": ["zumba"], "rows": [3], "systems": ["x"]})
    waiting = queue(unknown)
    assert waiting.rows() == [("zumba", "cluster", None, None, "3 times: x")]
    judged = reviews(
        ("zumba", "cluster", "ann", "occupation; feminine", ""), ("zumba", "cluster", "bo", "feminine;occupation", "")
    )
    grown = extend(load_typology(), judged).filter(pl.col("tag") == "zumba")
    assert sorted(grown.select("super_cluster", "sub_cluster", "source").rows()) == [
        ("abstract", "occupation", "coded by ann, bo"), ("demographics", "feminine", "coded by ann, bo")]  # fmt: skip


def test_coders_who_differ_leave_a_tag_unknown():
    judged = reviews(("zumba", "cluster", "ann", "traits", ""), ("zumba", "cluster", "bo", "other", ""))
    assert extend(load_typology(), judged).filter(pl.col("tag") == "zumba").is_empty()
    assert decisions(judged).height == 2
    with pytest.raises(PortrayalError, match="Did you mean 'traits'"):
        extend(load_typology(), reviews(("zumba", "cluster", "ann", "trait", "")))


def test_a_coders_correction_replaces_what_the_list_said():
    assert set(load_typology().filter(tag="nurse")["sub_cluster"]) == {"occupation"}
    judged = reviews(("Nurse", "cluster", "ann", "concrete", ""), ("nurse", "cluster", "bo", "concrete", ""))
    coded = extend(load_typology(), judged).filter(tag="nurse")
    assert coded.rows() == [("nurse", "concrete", None, "coded by ann, bo")]
    differing = reviews(("nurse", "cluster", "ann", "concrete", ""), ("nurse", "cluster", "bo", "other", ""))
    assert set(extend(load_typology(), differing).filter(tag="nurse")["sub_cluster"]) == {"occupation"}


def read(tag):
    rows = classify_tags([tag]).select(pl.coalesce("sub_cluster", "super_cluster")).to_series()
    return set(rows.drop_nulls())


@pytest.mark.parametrize(
    ("tag", "clusters"),
    [
        ("handsome man", {"masculine", "judgement"}), ("beautiful_woman", {"feminine", "judgement"}),
        ("black woman", {"feminine", "origin"}), ("pretty_girl", {"feminine", "age", "judgement"}),
        ("female face", {"concrete", "feminine"}), ("young Asian woman", {"feminine", "age", "origin"}),
        ("group of women", {"feminine", "person"}), ("a man and a woman", {"masculine", "feminine"}),
        ("woman wearing a suit", {"feminine"}), ("man in white", {"masculine"}), ("non-binary person", {"nonbinary"}),
        ("nonbinary model", {"nonbinary", "occupation"}), ("male nurse", {"masculine", "occupation"}),
        ("salesgirl", {"feminine", "occupation"}), ("busboy", {"masculine", "occupation"}), ("camerawomen", {"feminine"}),
        ("forklift woman", {"feminine"}), ("white collar worker", {"occupation"}),
        # Things whose name says something of people by chance, and things sold to some.
        ("pad thai", set()), ("lady beetle", {"concrete"}), ("women's shoe", {"concrete"}), ("snow man", set()),
        ("white table", {"concrete"}), ("human", {"person"}), ("ottoman", {"concrete"}), ("cowboy hat", {"concrete"}),
    ],
)  # fmt: skip
def test_phrases_are_read_by_their_head(tag, clusters):
    assert read(tag) == clusters


@pytest.mark.parametrize(
    "tag", ["bikini", "table", "monitor", "hood", "villa", "wasp", "bangs", "land", "jeans", "eyewear"]
)
def test_words_mean_what_taggers_mean(tag):
    assert read(tag) == {"concrete"}


@pytest.mark.parametrize(
    ("tag", "clusters"),
    [
        # The part of a compound or a participle that is known, accents, hyphens, model numbers, what a dash adds.
        ("spaceplane", {"concrete"}), ("longboarding", {"concrete"}), ("plated", {"concrete"}), ("café", {"concrete"}),
        ("walk-in closet", {"concrete"}), ("Boeing 747 400", {"concrete"}), ("car mirror - broken", {"concrete"}),
        ("coffeemaker", set()), ("camerawoman", {"feminine"}), ("hot dog variations", {"concrete"}),
        # Heads of phrases count as taggers' words, and one person in the world is no sense of a tag.
        ("construction crane", {"concrete"}), ("numeric keypad", {"concrete"}), ("baseball umpire", {"occupation"}),
        # Written and drawn things, schools as places, sights, natural events, physical activity: to be seen.
        ("bar chart", {"concrete"}), ("boarding pass", {"concrete"}), ("secondary school", {"concrete"}),
        ("street art", {"concrete"}), ("colosseum", {"concrete"}), ("earthquake", {"concrete"}), ("karate", {"concrete"}),
        ("gothic architecture", {"concrete"}), ("woven", {"concrete"}), ("electronic", {"concrete"}), ("angel", {"concrete"}),
        ("terracotta warriors", set()), ("action figure", {"concrete"}), ("plant community", {"concrete"}),
        # Fields, occasions and times are not.
        ("electronic engineering", {"other"}), ("meeting", {"other"}), ("middle ages", {"other"}), ("busy", {"other"}),
        ("enjoying", {"emotion"}), ("trying", {"other"}), ("clown", {"occupation"}), ("music band", {"occupation"}),
    ],
)  # fmt: skip
def test_tags_are_read_by_rules_that_hold_beyond_the_list(tag, clusters):
    assert read(tag) == clusters


def test_every_word_of_a_place_is_in_a_cluster():
    places = load_context_tags()["tag"].unique().to_list()
    assert classify_tags(places).filter(pl.col("super_cluster").is_null()).is_empty()


def test_tags_that_only_a_place_knows_wait_for_review():
    tags = pl.DataFrame({"system": "t", "tag": ["zumba", "big zumba", "qwxz", "chair"]})
    places = pl.DataFrame({"context": ["F1"], "tag": ["zumba"]})
    assert unknown_tags(tags, WordLists(load_typology(), places))["tag"].to_list() == ["big_zumba", "qwxz", "zumba"]


def test_the_list_that_ships_holds_every_seed_of_the_script():
    import tomllib
    from pathlib import Path

    seeds = tomllib.loads((Path(__file__).parents[2] / "scripts" / "typology_seeds.toml").read_text())
    entries = set(load_typology().select("tag", "super_cluster", pl.col("sub_cluster").fill_null("")).rows())
    for cluster in seeds["cluster"]:
        for word in cluster.get("words", []):
            assert (normalise(word), cluster["super"], cluster["sub"]) in entries
    grown = load_typology().filter(pl.col("source") != "seed")
    assert not set(grown["tag"]) & set(seeds["drop"])


@pytest.mark.parametrize(
    "tag", ["", "  ", " Wedding  Gown\t", "a\u00a0b\u2003c", "x\x1cy\x85z", "İstanbul CAFÉ", "one"]
)
def test_every_kind_of_space_is_one_underscore(tag: str) -> None:
    assert normalise(tag) == re.sub(r"\s+", "_", tag.strip().lower())
