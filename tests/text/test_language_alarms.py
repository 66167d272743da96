"""False alarms of the gate for language, on English captions and queries of other people."""

from __future__ import annotations

import polars as pl
import pytest

from portrayal.text.languages import other_languages

MOST = 0.005
FILES = {
    "captions by people": ("data/captions/coco_systems/human_captions_val2017.csv.gz", "caption"),
    "captions by systems": ("data/captions/coco_systems/captions.csv.gz", "caption"),
    "masked captions": ("data/captions/sobem/captions.jsonl.gz", "caption"),
    "tags": ("data/tags/coco_2019/tags.csv.gz", "tag"),
    "queries": ("data/ir/gendered_queries/genderbias_ir_queries.csv.gz", "query"),
}


@pytest.mark.parametrize("name", FILES)
def test_english_texts_are_taken_for_no_other_language(name: str, shared, capsys) -> None:
    file, column = FILES[name]
    path = shared(file)
    table = pl.read_ndjson(path) if "jsonl" in file else pl.read_csv(path)
    texts = table[column].drop_nulls().to_list()
    others = other_languages(texts)
    share = 1 - others.count(None) / len(others)
    with capsys.disabled():
        print(f"{name}: {len(others) - others.count(None)} of {len(others):,} in other languages")
    assert share < MOST
