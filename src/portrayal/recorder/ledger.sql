CREATE TABLE IF NOT EXISTS questions (
    key TEXT PRIMARY KEY,
    system TEXT NOT NULL,
    identity TEXT NOT NULL,
    version TEXT NOT NULL,
    parameters TEXT NOT NULL,
    hash TEXT NOT NULL,
    repeat INTEGER NOT NULL,
    kind TEXT NOT NULL DEFAULT '',
    reader TEXT NOT NULL DEFAULT '',
    state TEXT NOT NULL DEFAULT 'planned'
        CHECK (state IN ('planned', 'in_flight', 'done', 'refused', 'unreadable', 'failed', 'unknown')),
    current INTEGER NOT NULL DEFAULT 1,
    attempts INTEGER NOT NULL DEFAULT 0,
    started REAL,
    ended REAL,
    raw BLOB,
    sha256 TEXT NOT NULL DEFAULT '',
    media TEXT,
    version_answered TEXT,
    cost REAL NOT NULL DEFAULT 0,
    error TEXT
);
CREATE INDEX IF NOT EXISTS questions_by_state ON questions (system, state) WHERE current;
CREATE TABLE IF NOT EXISTS waves (started REAL NOT NULL, ended REAL, portrayal TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);
