"""The ledger's file: its tables, its checks, and how it is opened.

A ledger may come from somebody else: a view in place of a table could count for ever, a trigger could write.
"""

import sqlite3
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from portrayal.edges.writing import refuse_strange_file
from portrayal.errors import PortrayalError

TABLES = {"questions", "waves", "facts"}
BESIDE = ("", "-wal", "-shm", "-journal")


def refuse_strange(path: Path) -> None:
    """Refuse a ledger of no bytes, or one that is no plain file."""
    for ending in BESIDE:
        refuse_strange_file(path.with_name(path.name + ending))
    if path.exists() and path.stat().st_size == 0:  # to begin anew in its place would pay for every answer again
        raise PortrayalError(
            f"{path} is empty (0 bytes): its answers are gone. Put a copy back, or record anew into another folder with --out."
        )


def check_ours(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a file whose tables are not a ledger's, before anything in it is run."""
    connection.execute("PRAGMA trusted_schema = OFF")
    objects = connection.execute("SELECT type, name, substr(sql, 1, 30) FROM sqlite_master LIMIT 100").fetchall()
    # Views, triggers and tables that are programs could do more than be read and written.
    strange = [
        f"{kind} {name!r}"
        for kind, name, text in objects
        if kind not in ("table", "index") or (text or "").upper().startswith("CREATE VIRTUAL")
    ]
    lacking = TABLES - {name for kind, name, _ in objects if kind == "table"}
    if strange or lacking:
        connection.close()
        reason = f"it holds the {strange[0]}" if strange else f"it lacks the table {min(lacking)!r}"
        raise PortrayalError(f"{path} is not a ledger of Portrayal: {reason[:120]}. Move it away and record again.")


STATES = ("planned", "in_flight", "done", "refused", "unreadable", "failed", "unknown")
_SCHEMA = Path(__file__).with_name("ledger.sql").read_text(encoding="utf-8")
# Columns that ledgers of earlier versions lack. They are filled when the run is recorded again, but for sha256: answers that came
# before there were hashes are read without being checked.
_ADDED = ("kind", "reader")


def open_writable(path: Path) -> sqlite3.Connection:
    """Open for writing; the ledger of an earlier version is brought up to date."""
    refuse_strange(path)
    try:
        in_memory = str(path) == ":memory:"
        if not in_memory and not path.exists():  # it is made beside its place and moved there whole
            part = path.with_name(path.name + ".part")
            part.unlink(missing_ok=True)
            with closing(sqlite3.connect(part)) as fresh:
                fresh.executescript(_SCHEMA)
            part.replace(path)
        # A notebook's recorder runs in a thread of its own, but never beside another (`portrayal.run.recording`).
        connection = sqlite3.connect(path, timeout=30, check_same_thread=False)
        if not in_memory:
            check_ours(connection, path)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.executescript(_SCHEMA)
        for column in (*_ADDED, "sha256"):
            if column not in columns_of(connection):
                connection.execute(f"ALTER TABLE questions ADD COLUMN {column} TEXT NOT NULL DEFAULT ''")
                with connection:  # what the plan's hash was of has lost a column
                    connection.execute("DELETE FROM facts WHERE name = 'plan'")
        _allow_all_states(connection)
    except sqlite3.OperationalError as error:
        raise PortrayalError(f"cannot write the ledger {path}: {error}.") from None
    except sqlite3.DatabaseError as error:
        raise PortrayalError(f"{path} is not a ledger of Portrayal ({error}). Move it away and record again.") from None
    return connection


def _allow_all_states(connection: sqlite3.Connection) -> None:
    """Copy the questions of a ledger whose table refuses a later state."""
    ((table,),) = connection.execute("SELECT sql FROM sqlite_master WHERE name = 'questions'").fetchall()
    if all(f"'{state}'" in table for state in STATES):
        return
    names = ", ".join(sorted(columns_of(connection)))
    connection.executescript(
        "BEGIN IMMEDIATE; DROP INDEX IF EXISTS questions_by_state; ALTER TABLE questions RENAME TO questions_before;"
        f"{_SCHEMA} INSERT INTO questions ({names}) SELECT {names} FROM questions_before;"
        "DROP TABLE questions_before; COMMIT;"
    )


def columns_of(connection: sqlite3.Connection) -> set[str]:
    """Return the columns that a ledger's questions have."""
    return {row[1] for row in connection.execute("PRAGMA table_info(questions)")}


def open_readonly(path: Path) -> sqlite3.Connection:
    """Open without writing; without a log nothing is put beside the file."""
    if not path.exists():
        raise PortrayalError(f"no ledger at {path}. Record a run first: portrayal audit STUDY.toml")
    refuse_strange(path)
    log = path.with_name(path.name + "-wal")
    beside = ["mode=ro"] if log.exists() and log.stat().st_size else []
    for options in (*beside, "mode=ro&immutable=1"):
        connection = sqlite3.connect(f"file:{quote(str(path))}?{options}", uri=True, timeout=30)
        try:
            check_ours(connection, path)
            connection.execute("SELECT count(*) FROM questions")
            if set(_ADDED) <= columns_of(connection):
                return connection
        except sqlite3.DatabaseError as error:
            reason = error
            connection.close()
            continue
        connection.close()
        raise PortrayalError(  # its answers cannot be read without their systems
            f"{path.parent} was recorded by an earlier version of Portrayal. Complete it once, where its study's files are: "
            f"portrayal record {path.parent}. Answers are kept and nothing is asked twice."
        )
    raise PortrayalError(f"{path} cannot be read as a ledger of Portrayal ({reason}).")
