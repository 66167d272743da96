"""WEFE's association test."""

import warnings

warnings.simplefilter("ignore")

import numpy as np  # noqa: E402
import wefe  # noqa: E402
from gensim.models import KeyedVectors  # noqa: E402
from told import FOLDER, told  # noqa: E402
from wefe.metrics import WEAT  # noqa: E402
from wefe.query import Query  # noqa: E402
from wefe.word_embedding_model import WordEmbeddingModel  # noqa: E402

arrays = np.load(FOLDER / "sets.npz")
names = {key: [f"{key}{row}" for row in range(len(arrays[key]))] for key in "xyab"}
vectors = KeyedVectors(arrays["x"].shape[1])
vectors.add_vectors([name for side in names.values() for name in side], np.concatenate([arrays[key] for key in "xyab"]))
query = Query([names["x"], names["y"]], [names["a"], names["b"]], ["X", "Y"], ["A", "B"])
options = {"calculate_p_value": True, "p_value_iterations": int(arrays["permutations"])}
model = WordEmbeddingModel(vectors, "random")


def weat() -> dict[str, np.ndarray]:
    found = WEAT().run_query(query, model, **options)
    return {"d": np.array(found["effect_size"]), "p": np.array(found["p_value"])}


told(weat, wefe.__version__)
