"""Typology of tags, from `lexicons/`, by a phrase's head, or by WordNet.

"handsome man" speaks of a man, and of one found handsome; "modern kitchen" of a kitchen; "salesgirl" of a woman; "spaceplane" of
a plane. Words before people count beside them; before a thing they do not: "lady beetle" says nobody's gender. "no woman"
is read and says nothing; of alternatives ("woman or girl") counts what they share.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from itertools import chain
from pathlib import Path

import numpy as np
import polars as pl

from portrayal.errors import PortrayalError
from portrayal.text.lexicons import FOLDER, read_lexicon
from portrayal.text.words import wordnet
from portrayal.text.words.group_words import group_words
from portrayal.text.words.tag_spelling import find, normalise, spellings

SEE = "See docs/contexts_tags.md."


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
    """Return the entries each normalised tag is read by; `DENIED` for what it denies."""
    everything = {**dict.fromkeys(further, frozenset()), **known}
    whole = find(tags, everything)
    read = {tag: (_meant(tag, whole[tag], everything),) if tag in whole else read_tag(tag, everything) for tag in tags}
    return {tag: entries for tag, entries in read.items() if entries}


def classify_tags(tags: Iterable[str], typology: Path | str | None = None) -> pl.DataFrame:
    """Return the clusters of tags: things, people's looks and character, or who they are.

    Parameters
    ----------
    tags
        Tags of any spelling: letter case, spaces and plurals are looked through, and phrases read by their head. Of
        alternatives ("woman or girl") counts what they share; a tag that denies ("no woman") is in no cluster.
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


DENIED = "(denied)"  # read, and in no cluster
LONGEST = 12  # words of a phrase that are looked at, the last ones
_LISTS = tomllib.loads((Path(__file__).parent / "tag_words.toml").read_text(encoding="utf-8"))
_SETS = "people describing said_of_looks looks expressions collective no_people no_forms denials signs"
(PEOPLE, DESCRIBING, SAID_OF_LOOKS, LOOKS, EXPRESSIONS, COLLECTIVE, NO_PEOPLE, NO_FORMS, DENIALS, SIGNS) = (
    frozenset(_LISTS[name].split()) for name in _SETS.split()
)
FORMS, ORIGINS, STANDS_FOR, SAID_BY = (_LISTS[name] for name in ("forms", "origins", "stands_for", "said_by"))
LINKS = re.compile(f"_(?:{'|'.join(_LISTS['links'].split())})_")
MODEL = re.compile(r"(?:_[^\W_]*\d[^\W_]*)+$")  # which one of its make: "boeing_747_400"
BOTH = re.compile(r"_(?:and|of|&)_")  # a group of women, a man and a woman
EACH = re.compile(r"[,;|]|_but_")  # several tags in one
EITHER = re.compile(r"_?/_?|_(?:and/)?or_|_nor_")
MARKS = re.compile(r"^(?:[\W_]+|(?:an?|the|one|some)_)+|[^\w)]+$")  # of lists and quotes, and articles


def _meant(tag: str, entry: str, known: Mapping[str, frozenset[str]]) -> str:
    """Return a tag's entry, or that of the person in its brackets."""
    person = _entry(tag.rpartition("_(")[2].rstrip(")"), known) if "_(" in tag and tag != entry else None
    return person if person and known[person] & PEOPLE and not known[entry] & PEOPLE else entry


def read_tag(tag: str, known: Mapping[str, frozenset[str]]) -> tuple[str, ...]:
    """Return the entries of a tag in no list, none where nothing is known."""
    for said in reversed(tag.split(":")):  # "Person: Woman" is a woman
        parts = [read for part in EACH.split(said) if (read := _of_alternatives(MARKS.sub("", part), known))]
        if parts:
            return _together([read for read in parts if read != (DENIED,)], known) or (DENIED,)
    return ()


def _of_alternatives(part: str, known: Mapping[str, frozenset[str]]) -> tuple[str, ...]:
    """Return the entries of what all alternatives share; of people that share nothing, a person."""
    words = re.split(r"[\W_]+", part)
    named = len(words) > 1 and part in _wordnet_entries()  # "no man's land"
    if words[0] in DENIALS and SIGNS.isdisjoint(words) and not named:
        return (DENIED,)
    head, said = _without_phrase(MODEL.sub("", part).replace("s/he", "she/he"))
    each = EITHER.split(LINKS.split(head)[0])
    reads = [read for one in each if (read := read_phrase(MARKS.sub("", one), known))]
    read = _shared(reads, known) if len(reads) > 1 else tuple(*reads)
    return (*read, *(entry for entry in said if entry in known and known[read[0]] & PEOPLE)) if read else ()


def _shared(reads: list[tuple[str, ...]], known: Mapping[str, frozenset[str]]) -> tuple[str, ...]:
    clusters = [frozenset(chain.from_iterable(known[entry] for entry in read)) for read in reads]
    shared = frozenset.intersection(*clusters) or frozenset({"person"} if all(one & PEOPLE for one in clusters) else ())
    kept = dict.fromkeys(entry for read in reads for entry in read if known[entry] and known[entry] <= shared)
    return tuple(kept) or tuple(STANDS_FOR[one] for one in sorted(shared) if STANDS_FOR.get(one) in known)


def _without_phrase(tag: str) -> tuple[str, tuple[str, ...]]:
    """Split "of African descent" and the like off a tag, as entries."""
    gaps = [at for at, sign in enumerate(tag) if sign == "_"][-LONGEST:]
    ends = ((at, group_words().groups(tag[at:], "phrase")) for at in gaps)
    at, said = next(((at, said) for at, said in ends if said), (len(tag), ()))
    return tag[:at], tuple(SAID_BY[axis] for axis, _ in said)


def _by_wordnet(words: list[str], known: Mapping[str, frozenset[str]]) -> tuple[str, ...]:
    """Return WordNet's entries for a phrase, or for its last word."""
    tags = [sign.join(words) for sign in "_-"] + words[-1:] * (not _entry(words[-1], known))
    lemmas = (lemma for tag in tags for part in "nva" for lemma in wordnet.load().lemmas_of(tag, part))
    entries = next(filter(None, map(_wordnet_entries().get, lemmas)), "").split()
    return tuple(entry for entry in entries if entry in known)


@cache
def _wordnet_entries() -> dict[str, str]:
    """Return the entries that WordNet's words are read as (scripts/build_word_clusters.py)."""
    with np.load(FOLDER.parent / "data" / "word_clusters.npz") as table:
        codes, entries = table["codes"].tolist(), bytes(table["read_as"]).decode().split("\n")
    return {lemma: entries[code] for lemma, code in zip(wordnet.load().lemmas, codes, strict=True) if code}


def gender_of_form(word: str) -> str:
    """Return the gender cluster of a word's form; nothing for most words."""
    if word in NO_FORMS:
        return ""
    return next((gender for form, gender in FORMS.items() if word.endswith(form) and len(word) > len(form) + 1), "")


def read_phrase(tag: str, known: Mapping[str, frozenset[str]]) -> tuple[str, ...]:
    """Return the entries of a phrase of one meaning; none where its head is unknown."""
    if entry := _entry(tag, known):
        return (entry,)
    return _together([read for part in BOTH.split(tag.replace("-", "_")) if (read := _of_part(part, known))], known)


def _together(parts: list[tuple[str, ...]], known: Mapping[str, frozenset[str]]) -> tuple[str, ...]:
    """Return the entries of people among the parts, else those of the first thing."""
    people = [entry for read in parts if known[read[0]] & PEOPLE for entry in read]
    things = [read for read in parts if "concrete" in known[read[0]]] or parts
    return tuple(dict.fromkeys(people or (things[0] if things else ())))


def _of_part(part: str, known: Mapping[str, frozenset[str]]) -> tuple[str, ...]:
    words = part.strip("_").split("_")[-LONGEST:]
    if len(words) > 1 and not COLLECTIVE.isdisjoint(spellings(words[-1])):
        before = _of_part("_".join(words[:-1]), known)
        if before and "concrete" in known[before[0]]:
            return before
    if said := _said_after(words, known):
        return said
    for at in range(len(words)):
        head = _entry("_".join(words[at:]), known)
        if head and (at == 0 or not known[head] or not known[head] <= DESCRIBING or head in EXPRESSIONS):
            made = at and words[at - 1] in NO_PEOPLE and known[head] & PEOPLE
            return () if made else (head, *_said_before(words[:at], head, known))
    form = gender_of_form(words[-1])
    if form and len(words[-1]) > 5 and STANDS_FOR[form] in known:
        return (STANDS_FOR[form],)
    return _of_compound(words[-1], known) or _by_wordnet(words, known)


def _said_after(words: list[str], known: Mapping[str, frozenset[str]]) -> tuple[str, ...]:
    """Read a word for people before the last word, where that describes: "woman smiling"."""
    entry, table = _entry(words[-1], known), wordnet.load()
    describes = bool(entry and known[entry] and known[entry] <= DESCRIBING)
    verbs = table.lemmas_of(words[-1], "v") if words[-1].endswith("ing") else ()
    does = words[-1] not in (*verbs, "") and bool(verbs) and table.count(words[-1], "v") > table.count(words[-1], "n")
    before = _of_part("_".join(words[:-1]), known) if words[1:] and (describes or does) else ()
    is_people = before and known[before[0]] & (PEOPLE - DESCRIBING)
    return (*before, *([entry] if entry and describes else ())) if is_people else ()


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
    clusters, looks = known[head], head in LOOKS
    if not (clusters & PEOPLE or looks or head in EXPRESSIONS):
        return []
    counted = SAID_OF_LOOKS if looks and not clusters & PEOPLE else PEOPLE
    entries = []
    at = 0
    while at < len(words):
        pair = _entry("_".join(words[at : at + 2]), known) if words[at + 1 :] else None
        near = at == len(words) - 1 and bool(clusters & PEOPLE)  # "white collar worker" says nothing of an origin
        one = ORIGINS[words[at]] if near and ORIGINS.get(words[at]) in known else _entry(words[at], known)
        entries += [entry for entry in [pair or one] if entry and known[entry] & counted]
        at += 2 if pair else 1
    return entries
