"""Build text/data/word_clusters.npz: the clusters of WordNet's words that no entry of the typology holds.

    python scripts/build_word_clusters.py WORDNET_FOLDER

WORDNET_FOLDER is that of build_typology.py. The rules are those of the typology (`typology_seeds.toml`), applied to every lemma of
text/data/wordnet.npz however rare; base verbs go where their participles go. A word's code says which entries of the
typology it is read as, one for each of its clusters; 0 is none.
"""

from __future__ import annotations

import sys
import tomllib
from collections import defaultdict
from pathlib import Path

import build_typology
import numpy as np
from wordnet_files import Dictionary

from portrayal.text.lexicons import FOLDER
from portrayal.text.words.harm_lists import read_list
from portrayal.text.words.typology import load_typology

DATA = FOLDER.parent / "data"
READ_AS = {"feminine": "woman", "masculine": "man", "nonbinary": "nonbinary", "age": "child", "origin": "ethnicity",
           "occupation": "profession", "emotion": "emotion", "traits": "personality", "judgement": "beauty",
           "person": "person", "concrete": "object", "other": "concept"}  # fmt: skip


# Trees that the typology follows only where taggers use their words, or not at all: here all of each.
FURTHER = {"traits": ["trait.n.01"], "person": ["relative.n.01", "spouse.n.01", "lover.n.01", "friend.n.01"]}
PEOPLE = frozenset({"occupation", "person", "age", "origin", "feminine", "masculine"})


def base_verbs(seeds: dict, words: Dictionary, known: set[str]) -> dict[str, set[str]]:
    """Return the cluster of every verb that is no noun and no adjective."""
    place = {file: one["sub"] or one["super"] for one in seeds["cluster"] for file in one.get("doing", [])}
    place |= dict.fromkeys(
        ("verb.stative", "verb.change", "verb.communication", "verb.creation"), "other"
    )  # not to be seen
    verbs = {lemma for lemma, part in words.senses if part == "v"} - known
    bare = (verb for verb in verbs if not {(verb, "n"), (verb, "a")} & words.senses.keys())
    return {verb: {place[file]} for verb in bare if (file := words.verb_file(verb)) in place}


def main() -> None:
    """Write the codes."""
    words, seeds = Dictionary(Path(sys.argv[1])), tomllib.loads(build_typology.SEEDS.read_text())
    lemmas = bytes(np.load(DATA / "wordnet.npz")["lemmas"]).decode().split("\n")
    for cluster in seeds["cluster"]:
        cluster["trees"] = [*FURTHER.get(cluster["sub"], ()), *cluster.get("trees", ())]
    demeaning = sorted(
        {lemma.lower() for key in read_list("demeaning")["term"] for lemma in words.lemmas.get(key, [key])}
    )
    seeds["drop"] += demeaning  # such a tag goes to people for review
    build_typology._common = lambda *_: True  # every lemma, however rare
    entries = build_typology.grow(seeds, words, set(lemmas))
    entries += build_typology.looks(entries, words, set(lemmas) - set(seeds["drop"]))
    entries += build_typology.gendered(entries)
    clusters = defaultdict(set)
    for tag, above, below, _ in entries:
        clusters[tag].add(below or above)
    for lemma in [lemma for lemma, found in clusters.items() if found & PEOPLE]:
        if words.uses[lemma, "a"] >= words.uses[lemma, "n"] and (lemma, "a") in words.senses:
            del clusters[lemma]  # "intimate" describes, though there are intimates
    clusters |= base_verbs(seeds, words, set(clusters) | set(seeds["drop"]))
    known = load_typology()["tag"].to_list()
    left_out = {*known, *demeaning}
    unlisted = {lemma: found for lemma, found in clusters.items() if lemma not in left_out and len(lemma) > 1}
    read_as = [" ".join(sorted(READ_AS[one] for one in unlisted.get(lemma, ()))) for lemma in lemmas]
    table = ["", *sorted(set(read_as) - {""})]
    codes = np.array([table.index(entry) for entry in read_as], np.uint8)
    text = np.frombuffer("\n".join(table).encode(), np.uint8)
    np.savez_compressed(DATA / "word_clusters.npz", codes=codes, read_as=text)
    print(f"{int((codes > 0).sum())} words, {(DATA / 'word_clusters.npz').stat().st_size} bytes")


if __name__ == "__main__":
    main()
