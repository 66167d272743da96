"""Quality of rankers on judged collections: MAP, nDCG@10, P@10 and seconds, one line each.

python benchmarks/quality.py ../shared/data/ir/time --rankers bm25 qlm tfidf add si sentence drmm matchpyramid
"""

from __future__ import annotations

import argparse
import sys
import time

from portrayal.audits.search.measures.quality import mean_quality
from portrayal.errors import PortrayalError
from portrayal.text.collections import read_collection
from portrayal_rankers.base import rank
from portrayal_rankers.registry import Searchable, make_ranker

MEASURES = ("map", "ndcg_cut_10", "P_10")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("collections", nargs="*", default=["../shared/data/ir/time"])
    parser.add_argument("--rankers", nargs="+", default=["bm25", "qlm", "tfidf", "add", "si"])
    options = parser.parse_args()
    print(f"{'collection':12}{'ranker':14}{'map':>8}{'ndcg@10':>9}{'P@10':>8}{'seconds':>9}")
    for path in options.collections:
        try:
            searchable = Searchable(read_collection(path))
        except PortrayalError as error:
            print(f"{path}: {error} Name a folder with documents, queries and judgments.")
            continue
        for name in options.rankers:
            start = time.perf_counter()
            run = rank(searchable.collection, make_ranker(name, searchable))
            found = mean_quality(run, searchable.collection.gains, measures=MEASURES)
            seconds = time.perf_counter() - start
            figures = "".join(
                f"{found[measure]:>{width}.3f}" for measure, width in zip(MEASURES, (8, 9, 8), strict=True)
            )
            print(f"{searchable.collection.name:12}{name:14}{figures}{seconds:9.1f}", flush=True)


if __name__ == "__main__":
    try:
        main()
    except PortrayalError as error:  # a part that is not installed: one line, no traceback
        sys.exit(str(error))
