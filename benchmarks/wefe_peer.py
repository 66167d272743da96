"""Times WEFE's association test in WEFE's own environment; called by `associations.py`, prints seconds."""

import sys
import time
import warnings

warnings.simplefilter("ignore")

import numpy as np  # noqa: E402
from gensim.models import KeyedVectors  # noqa: E402
from wefe.metrics import WEAT  # noqa: E402
from wefe.query import Query  # noqa: E402
from wefe.word_embedding_model import WordEmbeddingModel  # noqa: E402


def main(file: str, permutations: int) -> None:
    arrays = np.load(file)
    names = {key: [f"{key}{row}" for row in range(len(arrays[key]))] for key in "xyab"}
    vectors = KeyedVectors(arrays["x"].shape[1])
    vectors.add_vectors(
        [name for side in names.values() for name in side], np.concatenate([arrays[key] for key in "xyab"])
    )
    query = Query([names["x"], names["y"]], [names["a"], names["b"]], ["X", "Y"], ["A", "B"])
    options = {"calculate_p_value": True, "p_value_iterations": permutations}
    start = time.perf_counter()
    result = WEAT().run_query(query, WordEmbeddingModel(vectors, "random"), **options)
    print(time.perf_counter() - start, result["effect_size"], result["p_value"])


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
