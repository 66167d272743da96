"""bm25s: words of texts, then its index."""

import json

import bm25s
import numpy as np
from told import FOLDER, told

texts = (FOLDER / "texts.txt").read_text().splitlines()


def index() -> dict[str, np.ndarray]:
    ranker = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
    ranker.index(bm25s.tokenize(texts, stopwords=None, show_progress=False), show_progress=False)
    columns, numbers = ranker.scores["indptr"], ranker.vocab_dict
    asked = json.loads((FOLDER / "words.json").read_text())
    frequencies = [int(columns[numbers[word] + 1] - columns[numbers[word]]) for word in asked]
    return {"postings": np.array(len(ranker.scores["data"])), "frequencies": np.array(frequencies)}


told(index, bm25s.__version__)
