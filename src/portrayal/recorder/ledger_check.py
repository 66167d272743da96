"""Whether a file is a ledger of ours, looked at before anything in it is run: tables of our names, no views, no triggers.

A ledger may come from somebody else. A view in place of a table could count for ever, a trigger could write; a link could lead
anywhere. A ledger that was cut to nothing is an error: to begin anew in its place would pay for every answer again.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from portrayal.edges.writing import refuse_strange_file
from portrayal.errors import PortrayalError

TABLES = {"questions", "waves", "facts"}
BESIDE = ("", "-wal", "-shm", "-journal")


def refuse_strange(path: Path) -> None:
    """Refuse a ledger of no bytes, and one that is a link or no plain file."""
    for ending in BESIDE:
        refuse_strange_file(path.with_name(path.name + ending))
    if path.exists() and path.stat().st_size == 0:
        raise PortrayalError(
            f"{path} is empty (0 bytes): its answers are gone. Put a copy back, or record anew into another folder with --out."
        )


def check_ours(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a file whose tables are not those of a ledger; a file that is no database raises sqlite3.DatabaseError."""
    connection.execute("PRAGMA trusted_schema = OFF")
    found = connection.execute("SELECT type, name, substr(sql, 1, 30) FROM sqlite_master LIMIT 100").fetchall()
    strange = [f"{kind} {name!r}" for kind, name, text in found if _is_strange(kind, text)]
    lacking = TABLES - {name for kind, name, _ in found if kind == "table"}
    if not strange and not lacking:
        return
    connection.close()
    reason = f"it holds the {strange[0]}" if strange else f"it lacks the table {min(lacking)!r}"
    raise PortrayalError(f"{path} is not a ledger of Portrayal: {reason[:120]}. Move it away and record again.")


def _is_strange(kind: str, text: str | None) -> bool:
    """Whether reading or writing could do more than read and write: views, triggers, tables that are programs."""
    return kind not in ("table", "index") or (text or "").upper().startswith("CREATE VIRTUAL")
