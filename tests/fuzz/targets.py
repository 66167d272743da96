"""Targets of fuzzing: readers by name, each with good examples to begin from."""

from __future__ import annotations

import gzip
import io
import json
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from portrayal.audits.captions.datasets import caption_tables, coco, spice, vinvl, visual_genome
from portrayal.audits.captions.datasets.caption_tables import read_conceptual_captions
from portrayal.audits.contexts.people import read_person_table
from portrayal.pictures.series.manifest import manifest_entries, read_manifest
from portrayal.recorder.responses import read_outcome
from portrayal.run.reviews import read_reviews
from portrayal.study.study_file import read_study
from portrayal.systems.core.base import Answer
from portrayal.systems.core.pictures import read_picture
from portrayal.systems.http.vendor import read_native
from portrayal.systems.plugins.replay import Recording, read_coco_results, read_recording
from portrayal.text.collections.readers import read_collection
from portrayal.text.collections.runs import read_run
from portrayal.text.collections.trec import read_qrels, read_sgml, read_topics
from portrayal.text.vectors.files import read_vectors


@dataclass(frozen=True)
class Target:
    """A reader of a file, the name that its file has, and good examples."""

    read: Callable[[Path], Any]
    file: str
    examples: Sequence[bytes]


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()


def _npz() -> bytes:
    held = io.BytesIO()
    np.savez(held, words=np.array(["man", "woman"]), vectors=np.eye(2, 3, dtype=np.float32))
    return held.getvalue()


def _word2vec() -> bytes:
    return b"2 3\nman " + struct.pack("<3f", 1, 2, 3) + b"\nwoman " + struct.pack("<3f", 3, 2, 1) + b"\n"


def _safetensors() -> bytes:
    data = struct.pack("<4f", 1, 2, 3, 4)
    head = _json({"weight": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, len(data)]}})
    return struct.pack("<Q", len(head)) + head + data


def _picture(form: str) -> bytes:
    from PIL import Image

    held = io.BytesIO()
    Image.new("RGB", (8, 8), (200, 100, 50)).save(held, form)
    return held.getvalue()


def _answer(reader: str, kind: str, parameters: Mapping[str, Any] | None = None) -> Callable[[Path], Any]:
    return lambda path: read_outcome(reader, Answer(path.read_bytes()), kind, parameters or {})


def _weights(path: Path) -> Any:
    from portrayal.systems.encoders.clip_weights import read_weights

    return read_weights(path)


STUDY = b"""name = "s"
audit = "associations"
[associations]
tests = ["weat6"]
[[systems]]
name = "a"
use = "glove"
limits = {concurrency = 2}
"""
TAGGER, CAPTIONER, ENCODER, RANKER = "tagger", "captioner", "encoder", "ranker"
OPENAI = {"model": "m", "choices": [{"message": {"content": '["man"]'}, "finish_reason": "stop"}]}
ANSWERS = {
    "plain tags": (_answer("plain", TAGGER), [["man", "tree"], [["man", 0.5]], [{"tag": "man", "confidence": 0.5}]]),
    "plain captions": (_answer("plain", CAPTIONER), ["a man", ["a", "b"], {"caption": "a"}, "I'm sorry, but I can't."]),
    "plain vectors": (_answer("plain", ENCODER), [[1.0, 2.0], {"embedding": [0.1, 0.2]}]),
    "plain lists": (_answer("plain", RANKER), [["d1", "d2"], [{"doc": "d1", "rank": 1, "score": 2.0}]]),
    "mapped": (_answer("mapped", TAGGER, {"answer": "a.*.b"}), [{"a": [{"b": "man"}]}]),
    "openai": (_answer("openai", TAGGER), [OPENAI]),
    "anthropic": (_answer("anthropic", CAPTIONER), [{"model": "m", "content": [{"type": "text", "text": "a man"}]}]),
    "google": (
        _answer("google", TAGGER),
        [{"responses": [{"labelAnnotations": [{"description": "man", "score": 0.9}]}]}],
    ),
    "clarifai": (
        _answer("clarifai", TAGGER),
        [{"status": {"code": 10000}, "outputs": [{"data": {"concepts": [{"name": "man", "value": 0.9}]}}]}],
    ),
    "imagga": (
        _answer("imagga", TAGGER),
        [{"result": {"tags": [{"confidence": 90, "tag": {"en": "man"}}]}, "status": {}}],
    ),
    "azure": (_answer("azure", TAGGER), [{"tagsResult": {"values": [{"name": "man", "confidence": 0.9}]}}]),
    "rekognition": (_answer("rekognition", TAGGER), [{"Labels": [{"Name": "Man", "Confidence": 90.0}]}]),
    "watson": (
        _answer("watson", TAGGER),
        [{"images": [{"classifiers": [{"classes": [{"class": "man", "score": 0.9}]}]}]}],
    ),
}
BOXES = [{"image_id": 1, "id": 7, "category_id": 1, "bbox": [0, 0, 2, 2], "area": 4}]
SCENE = [
    {
        "image_id": 1,
        "objects": [{"object_id": 2, "names": ["man"], "synsets": ["man.n.01"], "x": 0, "y": 0, "w": 2, "h": 2}],
    }
]

# <DOC> with an empty document of its own, as Unix compress packs it: no text repeats, so its codes are its letters in nine bits.
_LETTERS = b"<DOC>\n<DOCNO>a</DOCNO>\n</DOC>\n"
_CODES = sum(code << (9 * place) for place, code in enumerate(_LETTERS))
PACKED = b"\x1f\x9d\x90" + _CODES.to_bytes(-(-9 * len(_LETTERS) // 8), "little")

TARGETS: dict[str, Target] = {
    "study": Target(read_study, "study.toml", [STUDY]),
    "run": Target(read_run, "x.run", [b"q1 Q0 d1 1 2.5 me\nq1 Q0 d2 2 1.5 me\n"]),
    "qrels": Target(read_qrels, "x.qrels", [b"q1 0 d1 1\nq1 0 d2 0\n"]),
    "topics": Target(read_topics, "x.topics", [b"<top>\n<num> Number: 301\n<title> nurse\n</top>\n"]),
    "packed disks": Target(lambda path: list(read_sgml(path)), "x.0z", [PACKED, gzip.compress(_LETTERS)]),
    "documents": Target(
        lambda path: list(read_sgml(path)), "x.sgml", [b"<DOC>\n<DOCNO> d1 </DOCNO>\n<TEXT>a nurse</TEXT>\n</DOC>\n"]
    ),
    "collection": Target(read_collection, "x.jsonl", [b'{"id": "d1", "text": "a nurse"}\n{"id": "d2", "text": "b"}\n']),
    "vectors, text": Target(read_vectors, "x.txt", [b"man 1 2 3\nwoman 3 2 1\n", b"2 3\nman 1 2 3\nwoman 3 2 1\n"]),
    "vectors, word2vec": Target(read_vectors, "x.bin", [_word2vec()]),
    "vectors, npz": Target(read_vectors, "x.npz", [_npz()]),
    "vectors, gzip": Target(read_vectors, "x.txt.gz", [gzip.compress(b"man 1 2 3\nwoman 3 2 1\n", mtime=0)]),
    "safetensors": Target(_weights, "x.safetensors", [_safetensors()]),
    "coco captions": Target(
        coco.read_captions, "c.json", [_json({"images": [{"id": 1}], "annotations": [{"image_id": 1, "caption": "a man"}]})]
    ),
    "coco instances": Target(
        coco.read_instances,
        "i.json",
        [
            _json(
                {
                    "images": [{"id": 1, "width": 9, "height": 9}],
                    "annotations": BOXES,
                    "categories": [{"id": 1, "name": "person"}],
                }
            )
        ],
    ),
    "coco results": Target(read_coco_results, "r.json", [_json([{"image_id": 1, "caption": "a man"}])]),
    "visual genome": Target(visual_genome.read_image_data, "d.json", [_json([{"image_id": 1, "coco_id": 5, "width": 9, "height": 9}])]),
    "visual genome objects": Target(lambda path: visual_genome.read_objects(path, {1: "1"}, {"1": (9, 9)}), "o.json", [_json(SCENE)]),
    "visual genome attributes": Target(
        lambda path: visual_genome.read_attributes(path, {1: "1"}),
        "a.json",
        [_json([{"image_id": 1, "attributes": [{"names": ["man"], "attributes": ["tall"], "synsets": ["man.n.01"]}]}])],
    ),
    "spice": Target(
        lambda path: spice.read_spice(path, "system_captions"),
        "s.json",
        [_json([{"image_id": 1, "test_tuples": [{"tuple": ["man"], "truth_value": True}], "ref_tuples": []}])],
    ),
    "vinvl captions": Target(vinvl.read_captions, "v.tsv", [b'1\t[{"caption": "a man", "conf": 0.9}]\n']),
    "vinvl labels": Target(vinvl.read_labels, "l.tsv", [b'1\t[{"class": "man", "conf": 0.9, "rect": [0, 0, 1, 1]}]\n']),
    "conceptual captions": Target(read_conceptual_captions, "cc.tsv", [b"a man\thttp://x.test/1.jpg\n"]),
    "captions csv": Target(caption_tables.read_captions, "c.csv", [b"image,caption\n1,a man\n"]),
    "people csv": Target(caption_tables.read_people, "p.csv", [b"image,axis,group,assigned_by\n1,gender,female,annotators\n"]),
    "boxes csv": Target(
        caption_tables.read_boxes, "b.csv", [b"image,object,left,top,width,height,image_width,image_height\n1,man,0,0,2,2,9,9\n"]),
    "pictures csv": Target(read_person_table, "i.csv", [b"image_id,person,gender\n1,a,female\n"]),
    "series manifest": Target(
        lambda path: manifest_entries(read_manifest(path.parent)), "manifest.json",
        [b'{"people": {"a": {"age": 30}}, "pictures": [{"file": "a.png", "person": "a", "attribute": "race", "value": -1.5, '
         b'"poles": ["White", "Black"], "kind": "whole"}], "checks": [{"check": "c", "attribute": "race", "passed": true}]}']),
    "reviews csv": Target(read_reviews, "r.csv", [b"reviewer,question,item,judgment,note\na,typology,man,Person,\n"]),
    "tags csv": Target(
        lambda path: read_recording(path, Recording(), TAGGER), "t.csv", [b"stimulus,tag,confidence\n1,man,0.5\n"]
    ),
    "recorded services": Target(read_native, "n.jsonl", [b'{"stimulus": "1", "response": {"a": 1}}\n']),
    "picture png": Target(lambda path: read_picture(str(path)), "x.png", [_picture("PNG")]),
    "picture jpeg": Target(lambda path: read_picture(str(path)), "x.jpg", [_picture("JPEG")]),
    "picture gif": Target(lambda path: read_picture(str(path)), "x.gif", [_picture("GIF")]),
    **{
        f"answer, {name}": Target(read, "answer", [_json(value) for value in values])
        for name, (read, values) in ANSWERS.items()
    },
}  # fmt: skip
