"""Run files of a collection by any ranker (`portrayal rank`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from portrayal.edges.console import track
from portrayal.errors import PortrayalError
from portrayal.systems.core.settings import SystemSettings
from portrayal.systems.rankers.base import run_of
from portrayal.systems.rankers.system import open_system
from portrayal.text.collections import Collection, RollCall, without_result, write_run


def rank_collection(
    collection: Path | str,
    ranker: str = "bm25",
    depth: int = 1000,
    out: Path | str | None = None,
    settings: Mapping[str, Any] | None = None,
    quiet: bool = True,
    kept: Path | str | None = None,
) -> tuple[Path, list[str]]:
    """Run a ranker over a collection and write a TREC run.

    Parameters
    ----------
    collection
        Anything `read_collection` reads; nothing is written into it.
    ranker
        A name in `portrayal.systems.rankers.registry.RANKERS`.
    depth
        The most results a query may have.
    out
        The run file; `NAME.RANKER.run` in the working directory by default.
    settings
        The ranker's settings.
    quiet
        Whether to show no progress.
    kept
        A folder to keep the index in and open it from the next time.

    Returns
    -------
    tuple
        The path of the run, and lines: what the collection lacks, and each query without a result.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from portrayal import rank_collection
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path, without_result = rank_collection("toy", "bm25", depth=2, out=Path(folder) / "toy.run")
    ...     print(path.read_text().splitlines()[0].split()[:4], without_result)
    ['stonemason', 'Q0', 'stonemason_male', '1'] []
    """
    parameters = {"collection": str(collection), "depth": depth, **(settings or {})}
    system = open_system(SystemSettings(name=ranker, use=ranker, parameters=parameters), Path())
    held = system.searchable.collection
    path = _run_path(held, Path(out) if out is not None else Path(f"{held.name}.{ranker}.run"))
    roll = RollCall(held)
    asked = replace(
        system,
        track=lambda documents: track(roll.watch(documents), "documents", quiet=quiet),
        kept=Path(kept) if kept is not None else None,
    )
    run = run_of(asked.search(held.queries))
    write_run(run, path, ranker)
    missing = without_result(run, held.queries)
    unanswered = [f"query {query!r} has no result: no usable word of it is in the collection" for query in missing]
    return path, [*roll.says(), *unanswered]


def _run_path(held: Collection, path: Path) -> Path:
    """Return the path of the run, or refuse before anything is ranked."""
    if not held.queries:
        raise PortrayalError(f"collection {held.name!r} has no queries. Put queries.tsv (id, tab, text) beside it.")
    if not path.parent.is_dir():
        raise PortrayalError(f"no folder {path.parent} to write {path.name} into. Make it first.")
    return path
