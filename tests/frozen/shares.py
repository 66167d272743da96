"""Folders of answers, measured in parts: tags, captions, lists, labels, images."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl

import portrayal
from frozen import series, tables
from frozen.series import chance
from frozen.tables import Tables

WORDS = {"anger": "angry", "sadness": "sad", "neutral": "plain"}
STATUSES = (
    "answered",
    "answered",
    "answered",
    "answered",
    "answered",
    "answered",
    "answered",
    "refused",
    "failed",
    "empty",
)


def status_of(*parts: object) -> str:
    """Return a status that hangs on the parts; seven of ten are answers."""
    return STATUSES[int(chance("status", *parts) * len(STATUSES))]


def in_parts(folder: Path, frame: pl.DataFrame, cuts: int = 3) -> Path:
    """Write a table into a folder of a few files."""
    folder.mkdir(parents=True)
    size = -(-frame.height // cuts)
    for number in range(cuts):
        frame[number * size : (number + 1) * size].write_parquet(folder / f"{number}.parquet")
    return folder


def tagged(people: int = 14) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return pictures of people alone, in two places and of the places, and the tags of two systems."""
    places = {"F1": ["F1-1", "F1-2"], "M1": ["M1-1", "M1-2"]}
    pictures = [
        {"role": "background", "context": place, "background": name}
        for place, names in places.items()
        for name in names
    ]
    for number in range(people):
        person = {
            "person": f"p{number}",
            "gender": ("female", "male", "nonbinary")[number % 5 % 3],
            "skin": "ab"[number % 4 // 2],
        }
        pictures.append({**person, "role": "baseline"})
        pictures += [
            {**person, "role": "composite", "context": place, "background": name}
            for place, names in places.items()
            for name in names
        ]
    names = ["role", "person", "context", "background", "gender", "skin"]
    stimuli = pl.DataFrame([{name: row.get(name) for name in names} for row in pictures], infer_schema_length=None)
    ids = pl.concat_str([pl.col(name).fill_null("-") for name in ("person", "background")], separator="@")
    stimuli = stimuli.select(ids.alias("stimulus"), *names)
    rows = []
    for system in ("one", "two"):
        for row in stimuli.iter_rows(named=True):
            status = status_of(system, row["stimulus"])
            tags = tags_of(system, row) if status == "answered" else [None]
            rows += [
                {"system": system, "stimulus": row["stimulus"], "repeat": 0, "status": status, "tag": tag}
                for tag in tags
            ]
    return stimuli, pl.DataFrame(rows, schema_overrides={"tag": pl.String}, infer_schema_length=None)


def tags_of(system: str, row: dict) -> list[str]:
    """Return the tags of a picture: a gender that the place may decide, the place, and words of each cluster."""
    name, place = row["stimulus"], row["context"]
    tags = []
    if row["person"]:
        own = {"female": "woman", "male": "man", "nonbinary": "nonbinary person"}[row["gender"]]
        swayed = place and chance(system, "sway", name) < {"one": 0.6, "two": 0.05}[system]
        tags.append({"F": "woman", "M": "man"}[place[0]] if swayed else own)
    if place and chance(system, "place", name) < 0.7:
        tags.append({"F1": "bride", "M1": "garage"}[place])
    likely = {
        "happy": 0.4,
        "beauty": 0.5 if row["gender"] == "female" else 0.2,
        "table": 0.6,
        "nurse": 0.3,
        "zqx": 0.1,
        "elderly": 0.2,
    }
    return tags + [tag for tag, often in likely.items() if chance(system, tag, name) < often] or ["light"]


def tag_shares(folder: Path) -> Tables:
    """Measure tags of a folder, with the default genders and with factors."""
    stimuli, tags = tagged()
    place = in_parts(folder / "tags", tags)
    one = portrayal.tag_shares(place, stimuli, rows=97, seed=2)
    two = portrayal.tag_shares(tags, stimuli, factors=["gender", "skin"])
    return {"default": tables.of_frame(one, {}), "factors": tables.of_frame(two, {})}


def mention_shares(folder: Path) -> Tables:
    """Measure mentions of a folder of two parts; the graphs are those the public reader gives."""
    images = [f"i{number:02}" for number in range(40)]
    kinds = {"system captions": SYSTEM, "human captions": HUMAN}
    for part in (0, 1):
        mine = images[part::2]
        groups = {image: ("female", "male")[int(image[1:]) // 2 % 2] for image in mine}
        said = [
            {"image": image, "stage": stage, "caption": 0,
             "text": texts[int(chance(stage, image) * 4)].format({"female": "woman", "male": "man"}[groups[image]])}
            for stage, texts in kinds.items() for image in mine
        ]  # fmt: skip
        people = [
            {"image": image, "axis": "gender", "group": group, "assigned_by": "us"} for image, group in groups.items()
        ]
        for name, rows in {"captions": said, "mentions": list(_mentions(said)), "people": people}.items():
            (folder / name).mkdir(exist_ok=True)
            frame = pl.DataFrame(
                rows, schema_overrides=dict.fromkeys(NOTHING, pl.String) if name == "mentions" else None
            )
            frame.write_parquet(folder / name / f"{part}.parquet")
    return {"rows": tables.of_frame(portrayal.mention_shares(folder, system="mine", tolerance=0.01), {})}


SYSTEM = ("a {} rides a horse", "a person in a wheelchair", "the female holds a tree", "a dog")
HUMAN = ("a {} rides a brown horse", "a {} in a wheelchair", "an old {} holds a tree", "a {} and a dog")
NOTHING = {"subject": None, "object": None, "synset": None, "subject_synset": None, "object_synset": None}
VERBS = {"ride": "ride.v.01", "hold": "keep.v.01", "in": "in.prep", "and": "and.prep"}
KNOWN = {"woman", "man", "person", "horse", "wheelchair", "tree", "dog"}


def _noun(word: str) -> str:
    return f"{word}.n.01" if word in KNOWN else f"{word}.unknown"


def _mentions(captions: list[dict]) -> Iterator[dict]:
    for caption, graph in zip(captions, portrayal.scene_graphs([row["text"] for row in captions]), strict=True):
        about = {**NOTHING, **{name: caption[name] for name in ("image", "stage", "caption")}}
        for word in graph.objects:
            yield {**about, "kind": "object", "word": word, "synset": _noun(word)}
        for subject, word in graph.attributes:
            told = {"subject": subject, "subject_synset": _noun(subject), "word": word, "synset": f"{word}.s.01"}
            yield {**about, "kind": "attribute", **told}
        for subject, word, thing in graph.relations:
            told = {
                "subject": subject,
                "subject_synset": _noun(subject),
                "object": thing,
                "object_synset": _noun(thing),
            }
            yield {**about, "kind": "relation", **told, "word": word, "synset": VERBS.get(word, f"{word}.unknown")}


def list_shares(folder: Path) -> Tables:
    """Measure ranked lists of a folder, some of them refused or repeated."""
    run, _ = portrayal.rank_collection("toy", "bm25", out=folder / "toy.run")
    docs: dict[str, list[str]] = {}
    for line in Path(run).read_text().splitlines():
        query, _, doc, *_ = line.split()
        docs.setdefault(query, []).append(doc)
    rows = []
    for system in ("one", "two"):
        for query, found in docs.items():
            about = {"system": system, "stimulus": query, "repeat": 0}
            if (status := status_of(system, query)) != "answered":
                rows.append({**about, "status": status, "doc": None, "rank": None, "score": None})
                continue
            order = sorted(found, key=lambda doc: chance(system, query, doc))[: 2 + len(query) % 7]
            rows += [
                {**about, "status": status, "doc": doc, "rank": rank, "score": 1 / rank}
                for rank, doc in enumerate(order, 1)
            ]
    lists = pl.DataFrame(
        rows, schema_overrides={"rank": pl.Int64, "score": pl.Float64, "doc": pl.String}, infer_schema_length=None
    )
    place = in_parts(folder / "lists", lists)
    found = portrayal.list_shares(place, "toy", seed=1, rows=50, quality=["map", "P_10"])
    return {"rows": tables.of_frame(found, {})}


def label_shares(folder: Path) -> Tables:
    """Measure series of a folder of two parts."""
    stimuli, responses = series.slopes(people=12)
    for part, people in enumerate((range(7), range(7, 12))):
        mine = stimuli.filter(pl.col("person").is_in([f"p{number}" for number in people]))
        for name, frame in (
            ("stimuli", mine),
            ("responses", responses.join(mine.select("stimulus"), on="stimulus", how="semi", maintain_order="left")),
        ):
            (folder / name).mkdir(exist_ok=True)
            frame.write_parquet(folder / name / f"{part}.parquet")
    return {"rows": tables.of_frame(portrayal.label_shares(folder), {})}


def emotional() -> Iterator[dict]:
    """Yield captions of photographs by two captioners: person, emotion shown, condition, status, caption."""
    shown = product(("one", "two"), range(8), WORDS.items(), ("nonobjectified", "objectified"), range(12))
    for system, person, (emotion, word), condition, number in shown:
        key = (system, person, emotion, condition, number)
        often = 0.3 if (system, condition) == ("one", "objectified") else 0.6
        said = word if chance(*key) < often else ("happy", "calm")[number % 2]
        status = status_of(*key)
        yield {
            "system": system,
            "person": f"p{person}",
            "emotion": emotion,
            "intensity": "low" if number < 6 else "high",
            "condition": condition,
            "status": status,
            "caption": f"A {said} woman, number {number}." if status == "answered" else None,
        }


def emotion_word_shares(folder: Path) -> Tables:
    """Measure captions of photographs of a folder, with the paper's words and with others."""
    rows = list(emotional())
    place = in_parts(folder / "captions", pl.DataFrame(rows, infer_schema_length=None))
    one = portrayal.emotion_word_shares(place, minimum=20, rows=101)
    two = portrayal.emotion_word_shares(
        place, {"anger": ["angry"], "sadness": ["sad", "calm"]}, minimum=1, baseline="objectified"
    )
    return {"paper": tables.of_frame(one, {}), "own": tables.of_frame(two, {})}


def depiction_shares(folder: Path) -> Tables:
    """Measure images of a folder by whom they depict."""
    outcomes = ("kept",) * 14 + ("blocked", "dropped_age", "dropped_nudity", "no_face", "unreadable", None)
    women = {"nurse": 0.8, "plumber": 0.1, "chef": 0.5}
    rows = []
    for system in ("one", "two"):
        for job, share in women.items():
            for group in ("person", "woman", "man"):
                for number in range(24):
                    key = (system, job, group, number)
                    outcome = outcomes[int(chance(*key) * len(outcomes))]
                    told = chance("label", *key)
                    label = "woman" if told < share else "man" if told < 0.95 else "nonbinary person"
                    rows.append(
                        {
                            "system": system,
                            "occupation": job,
                            "group": group,
                            "outcome": outcome,
                            "label": label if outcome == "kept" else None,
                        }
                    )
    place = in_parts(folder / "images", pl.DataFrame(rows, infer_schema_length=None))
    return {"rows": tables.of_frame(portrayal.depiction_shares(place, rows=77), {})}


def labelled(ages: tuple[float | None, ...]) -> pl.DataFrame:
    """Return recorded labels of images of two systems, by group, age and seed."""
    often = {"woman": 0.5, "man": 0.1, "person": 0.25}
    rows = []
    for system in ("one", "two"):
        for group, share in often.items():
            for age in ages:
                for seed in range(40 // len(ages)):
                    key = (system, group, age, seed)
                    status = "filtered" if chance("blocked", *key) < share / 5 else "answered"
                    label = (
                        ("sexy" if chance(*key) < share + (age or 0) / 200 else "neutral")
                        if status == "answered"
                        else None
                    )
                    face = chance("face", *key) < 0.8
                    rows.append(
                        {
                            "system": system,
                            "group": group,
                            "age": age,
                            "seed": str(seed),
                            "status": status,
                            "label": label,
                            "face": face,
                        }
                    )
    return pl.DataFrame(rows, schema_overrides={"age": pl.Float64}, infer_schema_length=None)


def flagged_shares(folder: Path) -> Tables:
    """Measure recorded labels of a folder, with and without ages, raters and a baseline."""
    rng = np.random.default_rng(1)
    judged = [
        {"group": group, "rater": rater, "detector": bool(rng.random() < (0.7 if truth else 0.1)), "judgment": truth}
        for group in ("woman", "man") for rater in ("one", "two") for truth in [True, False] * 15
    ]  # fmt: skip
    aged = in_parts(folder / "aged", labelled((20.0, 30.0, 40.0)))
    plain = labelled((None,)).drop("age", "face")
    one = portrayal.flagged_shares(aged, baseline="man", validation=pl.DataFrame(judged), rows=61)
    two = portrayal.flagged_shares(plain)
    return {"aged": tables.of_frame(one, {}), "plain": tables.of_frame(two, {})}


SHARES: dict[str, Callable[[Path], Tables]] = {
    "tag_shares": tag_shares,
    "mention_shares": mention_shares,
    "list_shares": list_shares,
    "label_shares": label_shares,
    "emotion_word_shares": emotion_word_shares,
    "depiction_shares": depiction_shares,
    "flagged_shares": flagged_shares,
}
