"""`portrayal rank`: run a ranker over a collection and write a TREC run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

CollectionPath = Annotated[
    Path, typer.Argument(help="A folder with documents, queries and judgments.", metavar="COLLECTION")
]


def rank_command(
    collection: CollectionPath,
    ranker: Annotated[
        str, typer.Option(help="bm25, qlm, tfidf, add, si, sentence, drmm or matchpyramid.")
    ] = "bm25",
    depth: Annotated[int, typer.Option(min=1, help="The most results a query may have.")] = 1000,
    out: Annotated[Path | None, typer.Option(help="The run file; COLLECTION.RANKER.run by default.")] = None,
    vectors: Annotated[
        str | None, typer.Option(help="Word vectors by name or path; for add, si and neural.")
    ] = None,
    stop: Annotated[str | None, typer.Option(help="Stop list: lucene, snowball or none.")] = None,
    index: Annotated[
        Path | None, typer.Option(help="A folder to keep the index in, for the next time.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress bar.")] = False,
) -> None:
    """Run a ranker over a collection's queries and write a TREC run."""
    from portrayal.search import rank_collection

    settings = {key: value for key, value in {"vectors": vectors, "stop": stop}.items() if value is not None}
    path, lines = rank_collection(collection, ranker, depth, out, settings, quiet, index)
    for line in lines:
        sys.stderr.write(f"{line}\n")
    typer.echo(path)
