"""Typology of tags, from `lexicons/` or, in no list, by a phrase's head.

"handsome man" speaks of a man, and of one found handsome; "modern kitchen" of a kitchen; "salesgirl" of a woman; "spaceplane" of
a plane. Words before people count beside them; before a thing they do not: "lady beetle" says nobody's gender.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

import polars as pl

from portrayal.errors import PortrayalError
from portrayal.text.lexicons import read_lexicon
from portrayal.text.words.tag_spelling import find, normalise, spellings

SEE = "See docs/contexts.md."


def load_typology(path: Path | str | None = None) -> pl.DataFrame:
    """Read the typology that ships, or another of the same columns."""
    return _normalised(read_lexicon("typology", path, ("tag", "super_cluster", "sub_cluster", "source"), SEE))


def load_context_tags(path: Path | str | None = None) -> pl.DataFrame:
    """Read the dictionaries of the places: one row per context and tag."""
    return _normalised(read_lexicon("context_tags", path, ("context", "tag", "source"), SEE))


def load_contexts(path: Path | str | None = None) -> pl.DataFrame:
    """Read the places: code, name, and the gender cluster they are stereotyped to (empty: none)."""
    return read_lexicon("contexts", path, ("context", "name", "stereotype"), SEE)


def clusters_of(typology: pl.DataFrame) -> dict[str, frozenset[str]]:
    """Return every entry's clusters: sub-clusters, or the super-cluster where there is none."""
    named = typology.select("tag", cluster=pl.coalesce("sub_cluster", "super_cluster"))
    grouped = named.group_by("tag", maintain_order=True).agg("cluster")
    return {tag: frozenset(clusters) for tag, clusters in grouped.iter_rows()}


def read_tags(
    tags: Iterable[str], known: Mapping[str, frozenset[str]], further: Collection[str] = ()
) -> dict[str, tuple[str, ...]]:
    """Return the entries each normalised tag is read by."""
    everything = {**dict.fromkeys(further, frozenset()), **known}
    whole = find(tags, everything)
    read = {tag: (whole[tag],) if tag in whole else read_phrase(tag, everything) for tag in tags}
    return {tag: entries for tag, entries in read.items() if entries}


def classify_tags(tags: Iterable[str], typology: Path | str | None = None) -> pl.DataFrame:
    """Return the clusters of tags: things, people's looks and character, or who they are.

    Parameters
    ----------
    tags
        Tags of any spelling: letter case, spaces and plurals are looked through, and phrases read by their head.
    typology
        A CSV of the columns tag, super_cluster, sub_cluster and source; the typology that ships by default.

    Returns
    -------
    polars.DataFrame
        `tag` (as given), `super_cluster` (concrete, abstract, demographics or other) and `sub_cluster` (emotion, judgement,
        occupation, traits, age, feminine, masculine, nonbinary, origin, person, or null): one row for each cluster of each tag,
        both null for a tag that no list holds (Barlas, Kyriakou, Guest, Kleanthous, Otterbacher 2020).

    Examples
    --------
    >>> from portrayal import classify_tags
    >>> classify_tags(["Girl", "t-shirt", "zqx"]).rows()
    [('Girl', 'demographics', 'age'), ('Girl', 'demographics', 'feminine'), ('t-shirt', 'concrete', None), ('zqx', None, None)]
    """
    if isinstance(tags, str):
        raise PortrayalError("tags is one text. Expected a list of tags: classify_tags([tag]).")
    spelled = list(tags)
    table = load_typology(typology)
    read = read_tags({normalise(tag) for tag in spelled}, clusters_of(table))
    rows = [(at, tag, entry) for at, tag in enumerate(spelled) for entry in read.get(normalise(tag), (None,))]
    looked_up = pl.DataFrame(rows, schema={"at": pl.Int64, "tag": pl.String, "entry": pl.String}, orient="row")
    clusters = table.select("super_cluster", "sub_cluster", entry="tag")
    clustered = looked_up.join(clusters, on="entry", how="left", maintain_order="left_right")
    return clustered.unique(["at", "super_cluster", "sub_cluster"], maintain_order=True).select(
        "tag", "super_cluster", "sub_cluster"
    )


def _normalised(table: pl.DataFrame) -> pl.DataFrame:
    """Spell the tags of a user's table as the typology spells them."""
    return table.with_columns(pl.col("tag").map_elements(normalise, return_dtype=pl.String))


PEOPLE = frozenset(
    {"feminine", "masculine", "nonbinary", "age", "origin", "occupation", "person", "judgement", "traits", "emotion"}
)
# Clusters of describing words: they are no heads ("pad thai" is not Thai).
DESCRIBING = frozenset({"origin", "traits", "emotion", "judgement"})
# Heads of people's looks: a gender, an age or an origin before them is that of a person.
LOOKS = frozenset({"face", "head", "hair", "body", "portrait", "skin", "figure", "hand", "eye", "hairstyle", "fashion"})
SAID_OF_LOOKS = frozenset({"feminine", "masculine", "nonbinary", "age", "origin"})
# Before a word for people these are no colours.
ORIGINS = {"black": "black_person", "white": "white_person", "brown": "person_of_color"}
# What follows one of these says where or how; the head stands before.
LINKS = re.compile(r"_(?:-|–|in|with|on|at|by|near|behind|wearing|holding|sitting|standing|who|that|from|for)_")
MODEL = re.compile(r"(?:_[^\W_]*\d[^\W_]*)+$")  # which one of its make: "boeing_747_400"
BOTH = re.compile(r"_(?:and|of|&)_")  # a group of women, a man and a woman
# At a phrase's end these say how things are counted, classed or kept, not what they are: "cow goat family", "dog breed group".
COLLECTIVE = frozenset({"group", "family", "pair", "couple", "set", "collection", "series", "type", "species", "class", "order",
                        "kind", "genus", "variety", "variation", "community", "product", "presentation", "congestion",
                        "processing"})  # fmt: skip
NO_PEOPLE = frozenset({"gingerbread", "snow", "stick", "iron", "spider", "bat", "pac", "super", "straw", "tin", "lego", "wax",
                       "terracotta", "toy", "plush"})  # fmt: skip
FORMS = (("woman", "feminine"), ("women", "feminine"), ("girl", "feminine"), ("girls", "feminine"), ("lady", "feminine"),
         ("man", "masculine"), ("men", "masculine"), ("boy", "masculine"), ("boys", "masculine"))  # fmt: skip
STANDS_FOR = {"feminine": "woman", "masculine": "man"}
# Words that end like a gendered form and are none; "freshman" is said of everybody.
NO_FORMS = frozenset({"human", "german", "roman", "ottoman", "talisman", "caiman", "cayman", "shaman", "norman", "freshman",
                      "dolman", "toman", "hetman", "specimen", "acumen", "regimen", "semen", "abdomen", "cyclamen", "stamen",
                      "snowman", "batman", "superman", "tomboy", "lowboy", "highboy"})  # fmt: skip


def gender_of_form(word: str) -> str:
    """Return the gender cluster of a word's form; nothing for most words."""
    if word in NO_FORMS:
        return ""
    return next((gender for form, gender in FORMS if word.endswith(form) and len(word) > len(form) + 1), "")


def read_phrase(tag: str, known: Mapping[str, frozenset[str]]) -> tuple[str, ...]:
    """Return the entries a tag is read by; none where its head is unknown."""
    first = MODEL.sub("", LINKS.split(tag)[0].replace("-", "_"))
    parts = [read for part in BOTH.split(first) if (read := _of_part(part, known))]
    people = [entry for read in parts if known[read[0]] & PEOPLE for entry in read]
    things = [read for read in parts if "concrete" in known[read[0]]] or parts
    return tuple(dict.fromkeys(people or (things[0] if things else ())))


def _of_part(part: str, known: Mapping[str, frozenset[str]]) -> tuple[str, ...]:
    words = part.strip("_").split("_")
    if len(words) > 1 and not COLLECTIVE.isdisjoint(spellings(words[-1])):
        before = _of_part("_".join(words[:-1]), known)
        if before and "concrete" in known[before[0]]:
            return before
    for at in range(len(words)):
        head = _entry("_".join(words[at:]), known)
        if head and (at == 0 or not known[head] or not known[head] <= DESCRIBING):
            made = at and words[at - 1] in NO_PEOPLE and known[head] & PEOPLE
            return () if made else (head, *_said_before(words[:at], head, known))
    form = gender_of_form(words[-1])
    if form and len(words[-1]) > 5 and STANDS_FOR[form] in known:
        return (STANDS_FOR[form],)
    return _of_compound(words[-1], known)


def _of_compound(word: str, known: Mapping[str, frozenset[str]]) -> tuple[str, ...]:
    """Read a participle by its stem, a compound by its second word."""
    for stem in _stems(word):
        if "concrete" in known.get(stem, ()):
            return (stem,)
    for cut in range(3, len(word) - 3):
        thing = _entry(word[cut:], known)
        if thing and "concrete" in known[thing] and word[:cut] in known:
            return (thing,)
    return ()


def _stems(word: str) -> Iterator[str]:
    """Yield the stems of a form in -ing or -ed: topped of top."""
    stem = re.sub("(?:ing|ed)$", "", word)
    if stem != word and len(stem) > 3:
        yield from (stem, f"{stem}e", *([stem[:-1]] if stem[-1] == stem[-2] else []))


def _entry(word: str, known: Mapping[str, frozenset[str]]) -> str | None:
    return find([word], known).get(word)


def _said_before(words: list[str], head: str, known: Mapping[str, frozenset[str]]) -> list[str]:
    """Return the entries of the words before a head that say something of a person."""
    clusters = known[head]
    if not clusters & PEOPLE and head not in LOOKS:
        return []
    counted = PEOPLE if clusters & PEOPLE else SAID_OF_LOOKS
    entries = []
    for at, word in enumerate(words, 1):
        near = at == len(words) and bool(clusters & PEOPLE)  # "white collar worker" says nothing of an origin
        entry = ORIGINS[word] if near and ORIGINS.get(word) in known else _entry(word, known)
        if entry and known[entry] & counted:
            entries.append(entry)
    return entries
