"""Registry of audits by stem, and the catalogue of everything that has a name."""

from __future__ import annotations

import tomllib
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from portrayal.errors import PortrayalError, check_name, nearest
from portrayal.systems.core import registry as systems_registry
from portrayal.systems.core.registry import SCHEMES, SYSTEMS

if TYPE_CHECKING:
    from portrayal.study.audit import Audit

_TABLES: dict[str, dict[str, str]] = tomllib.loads(Path(__file__).with_name("registry.toml").read_text("utf-8"))
AUDITS, EXPERIMENTS, QUESTIONS = (_TABLES[name] for name in ("audits", "experiments", "questions"))
CALIBRATIONS, SIMULATIONS = (_TABLES[name] for name in ("calibrations", "simulations"))


def plugged_in() -> dict[str, EntryPoint]:
    """Return the audits that other packages add, by name: entry points of the group `portrayal.audits`."""
    return {entry.name: entry for entry in entry_points(group="portrayal.audits")}


def get_audit(stem: str) -> Audit:
    """Return the audit of this stem, or the experiment of this name.

    Returns
    -------
    Audit
        Its `question`, the `kind` of system it asks, its `settings`, what its numbers do not say (`validity`), the studies
        that ship (`demo`).

    Examples
    --------
    >>> from portrayal import get_audit
    >>> get_audit("search").question
    'Do result lists repeat the gender stereotype in the query?'
    """
    ours = {**AUDITS, **EXPERIMENTS}
    if stem in ours:
        return import_module(ours[stem]).AUDIT
    others = plugged_in()
    check_name(stem, [*ours, *others], "audit")
    return others[stem].load()


def names(what: str, about: bool = False) -> list[str]:
    """Return the names of everything of a sort.

    Parameters
    ----------
    what
        'systems', 'audits', 'lexicons' or 'datasets'.
    about
        Say beside each name what it is.

    Examples
    --------
    >>> from portrayal import names
    >>> {"search", "captions"} <= set(names("audits"))
    True
    >>> [line for line in names("systems", about=True) if line.startswith("bm25 ")][0].split(maxsplit=1)[1]
    "BM25 over a collection, Lucene's variant"
    """
    if what not in CATALOGUES:
        raise PortrayalError(
            f"nothing is listed under {what!r}.{nearest(what, CATALOGUES)} Known: {', '.join(CATALOGUES)}."
        )
    entries = CATALOGUES[what]()
    width = max(map(len, entries), default=0)
    return [f"{name.ljust(width)}  {text}" if about else name for name, text in entries.items()]


def _systems() -> dict[str, str]:
    schemes = {f"{scheme}:": entry.about for scheme, entry in SCHEMES.items()}
    named = {**SYSTEMS, **systems_registry.plugged_in()}
    return {name: entry.about for name, entry in named.items()} | schemes


def _audits() -> dict[str, str]:
    ours = {stem: QUESTIONS[stem] for stem in (*AUDITS, *EXPERIMENTS)}
    return ours | {name: entry.load().question for name, entry in plugged_in().items()}


def _lexicons() -> dict[str, str]:
    """Return the word lists that ship, each with the first line of its source note."""
    folder = Path(str(files("portrayal.text") / "lexicons"))
    names = sorted(path.stem for path in folder.iterdir() if path.suffix in (".csv", ".json", ".txt"))
    notes = {name: folder / f"{name}.source.md" for name in names}
    texts = {name: note.read_text("utf-8") if note.exists() else "#" for name, note in notes.items()}
    return {name: text.strip().splitlines()[0].lstrip("# ") for name, text in texts.items()}


def _datasets() -> dict[str, str]:
    """List the loaders of data sets; a loader's first line says what it reads."""
    import ast

    rooms = Path(str(files("portrayal") / "audits"))
    entries = [path for path in rooms.glob("*/datasets/*.py") if path.stem not in ("__init__", "boxes", "data_files")]
    modules = sorted(entries, key=lambda path: path.stem)
    texts = {path.stem: ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "" for path in modules}
    return {name: text.partition("\n")[0] for name, text in texts.items()}


CATALOGUES = {"systems": _systems, "audits": _audits, "lexicons": _lexicons, "datasets": _datasets}
