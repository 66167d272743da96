"""ranx: from a table of results to mean average precision, nDCG@100 and precision at 10."""

import json

import numpy as np
import pandas as pd
import ranx
from told import FOLDER, told

frame = pd.read_parquet(FOLDER / "run.parquet").astype({"query": object, "doc": object})
judged = json.loads((FOLDER / "qrels.json").read_text())
metrics = ["map", "ndcg@100", "precision@10"]


def evaluate() -> dict[str, np.ndarray]:
    run = ranx.Run.from_df(frame, q_id_col="query", doc_id_col="doc", score_col="score")
    found = ranx.evaluate(ranx.Qrels(judged), run, metrics)
    return {"means": np.array([found[name] for name in metrics])}


evaluate()  # numba compiles here
told(evaluate, "0.3.21")
