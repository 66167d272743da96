"""bm25s with numba: queries on an index made beforehand."""

import json

import bm25s
import numpy as np
from told import FOLDER, told

texts = (FOLDER / "texts.txt").read_text().splitlines()
given = json.loads((FOLDER / "queries.json").read_text())
ranker = bm25s.BM25(method="lucene", k1=1.2, b=0.75, backend="numba")
ranker.index(bm25s.tokenize(texts, stopwords=None, show_progress=False), show_progress=False)
depth = min(given["depth"], len(texts))


def search() -> dict[str, np.ndarray]:
    tokens = bm25s.tokenize(given["queries"], stopwords=None, show_progress=False)
    found = ranker.retrieve(tokens, k=depth, show_progress=False)
    return {"scores": found.scores}


search()  # numba compiles here
told(search, bm25s.__version__)
