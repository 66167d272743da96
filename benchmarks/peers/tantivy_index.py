"""tantivy: an index in memory of documents and counts, written by two threads."""

import json

import numpy as np
import tantivy
from told import FOLDER, told

texts = (FOLDER / "texts.txt").read_text().splitlines()
asked = json.loads((FOLDER / "words.json").read_text())


def index() -> dict[str, np.ndarray]:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("body", stored=False, tokenizer_name="default", index_option="freq")
    made = tantivy.Index(builder.build())
    writer = made.writer(512 << 20, 2)
    for text in texts:
        writer.add_document(tantivy.Document(body=[text]))
    writer.commit()
    writer.wait_merging_threads()
    made.reload()
    found = made.searcher()
    frequencies = [found.doc_freq("body", word) for word in asked]
    return {"documents": np.array(found.num_docs), "frequencies": np.array(frequencies)}


told(index, tantivy.__version__.split(",")[0].removeprefix("tantivy v"))
