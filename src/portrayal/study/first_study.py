"""First study: a commented study file and a stub of the system it asks."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from portrayal.edges.writing import write_text
from portrayal.errors import PortrayalError, check_name
from portrayal.study.registry import AUDITS, get_audit

STUDY = "study.toml"
SYSTEM = "system.py"


def new_study(stem: str, out: Path | str | None = None) -> Path:
    """Write a commented study and a stub of the system it asks.

    Parameters
    ----------
    stem
        An audit.
    out
        The folder; by default one of the audit's name. Neither file is ever overwritten.

    Returns
    -------
    pathlib.Path
        The study file.

    Raises
    ------
    PortrayalError
        When there is no such audit, or one of the files is there.

    Examples
    --------
    >>> import tempfile
    >>> from portrayal import new_study
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     study = new_study("associations", folder)
    ...     sorted(path.name for path in study.parent.iterdir())
    ['study.toml', 'system.py']
    """
    check_name(stem, tuple(AUDITS), "audit")
    folder = Path(out) if out else Path(stem)
    for name in (STUDY, SYSTEM):
        if (folder / name).exists() or (folder / name).is_symlink():
            raise PortrayalError(f"{folder / name} is there already. Give another folder: --out DIR.")
    folder.mkdir(parents=True, exist_ok=True)
    first = files("portrayal") / "study" / "first"
    write_text(folder / SYSTEM, (first / f"{get_audit(stem).kind}.py.txt").read_text(encoding="utf-8"))
    write_text(folder / STUDY, (first / f"{stem}.toml").read_text(encoding="utf-8"))
    return folder / STUDY
