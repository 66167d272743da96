"""duckdb: clusters of tags counted by picture, shares, and the gender inferred; the tags lie in a table in memory."""

import json

import duckdb
import numpy as np
from told import FOLDER, told

given = json.loads((FOLDER / "clusters.json").read_text())
clusters, (first, second) = given["clusters"], given["genders"]
database = duckdb.connect()
database.execute("set threads to 2")
database.execute(f"create table tags as select * from read_parquet('{FOLDER / 'responses.parquet'}')")
database.execute(f"create table members as select * from read_parquet('{FOLDER / 'members.parquet'}')")
sums = ", ".join(f'sum("{name}")::utinyint as "{name}"' for name in clusters)
shares = ", ".join(f'"{name}" / n as "share {name}"' for name in clusters)
QUERY = f"""
with counted as (
    select system, stimulus, repeat, count(*) as n, {sums}
    from tags join members using (tag) group by system, stimulus, repeat
)
select *, {shares}, case when "{first}" > "{second}" then 0 when "{second}" > "{first}" then 1 else 2 end::utinyint as inferred
from counted
"""


def count() -> dict[str, np.ndarray]:
    return database.execute(QUERY).fetchnumpy()


def answer() -> dict[str, np.ndarray]:
    found = count()
    order = np.argsort(found["stimulus"].astype("U12"))
    counts = np.stack([np.asarray(found[name])[order] for name in clusters], axis=1).astype(np.uint8)
    return {"counts": counts, "inferred": np.asarray(found["inferred"])[order].astype(np.uint8)}


told(count, duckdb.__version__)
np.savez(FOLDER / "answer.npz", **answer())
