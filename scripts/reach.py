"""Lines that each test file reaches: run once in a fork under `coverage`.

A file is run again when it, a helper of the tests or the package has changed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from warm_tests import Done, Job, in_forks, run_tests

LIMIT = 600.0  # seconds for one test file under coverage


class Contexts:
    """A plug-in of pytest that tells coverage which test is running."""

    def __init__(self, coverage: Any) -> None:
        self.coverage = coverage

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: Any) -> Any:
        """Name the lines of one test after it, those of its fixtures too."""
        self.coverage.switch_context(item.nodeid)
        return (yield)


@dataclass(frozen=True)
class Reach:
    """The tests that pass, how long each takes, and the lines each reaches."""

    seconds: Mapping[str, float]
    tests: Mapping[tuple[str, int], frozenset[str]]  # by file and line
    breadth: Mapping[str, int]  # the number of lines a test reaches
    troubled: Sequence[str]  # test files that hung, died or could not be collected
    failed: Sequence[str]

    def reaching(self, path: str, lines: Iterable[int]) -> frozenset[str]:
        """Return the tests that reach any of these lines."""
        return frozenset().union(*(self.tests.get((path, line), ()) for line in lines))

    def beside(self, tests: Iterable[str]) -> set[str]:
        """Return the tests that share a file with these: what is cached there is reached by the first alone."""
        files = {test.partition("::")[0] for test in tests}
        return {test for test in self.seconds if test.partition("::")[0] in files}


def read_reach(
    root: Path,
    test_files: Sequence[Path],
    sources: Sequence[Path],
    cache: Path,
    at_once: int,
    chosen: Sequence[str] = (),
) -> Reach:
    """Return what the tests reach, running those files whose record is missing or old; `chosen` are options of pytest."""
    known = json.loads(cache.read_text()) if cache.exists() else {}
    helpers = [path for path in sorted((root / "tests").rglob("*.py")) if not path.name.startswith("test_")]
    common = _digest([*sorted((root / "src").rglob("*.py")), *helpers])
    stamps = {str(path.relative_to(root)): " ".join((common, _digest([path]), *chosen)) for path in test_files}
    records = {name: known[name] for name, stamp in stamps.items() if known.get(name, {}).get("stamp") == stamp}
    watched = [str(path) for path in sources]
    jobs = [
        Job(name, lambda folder, name=name: _trace((*chosen, name), root, watched, folder), LIMIT)
        for name in stamps
        if name not in records
    ]
    for done in in_forks(jobs, at_once):
        records[done.name] = {**_record(done), "stamp": stamps[done.name]}
        print(f"\rtests read: {len(records)} of {len(stamps)} files", end="", flush=True)
        _write(cache, records)
    if jobs:
        print()
    return _joined({name: records[name] for name in stamps})


def _write(cache: Path, records: Mapping[str, Any]) -> None:
    cache.parent.mkdir(parents=True, exist_ok=True)
    part = cache.with_suffix(".part")
    part.write_text(json.dumps(records))
    part.replace(cache)


def _digest(paths: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        digest.update(f"{path.name}\n".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def _trace(asked: Sequence[str], root: Path, watched: Sequence[str], folder: Path) -> Mapping[str, Any]:
    """Run the tests of one file under coverage; return seconds and lines of each test."""
    from coverage import Coverage

    coverage = Coverage(data_file=None, include=list(watched), config_file=False)
    coverage.start()
    code, outcomes = run_tests(asked, folder, False, Contexts(coverage))
    coverage.stop()
    data, lines = coverage.get_data(), {}
    for path in data.measured_files():
        short = str(Path(path).relative_to(root))
        for line, tests in data.contexts_by_lineno(path).items():
            for test in filter(None, tests):
                lines.setdefault(test, {}).setdefault(short, []).append(line)
    bad = {"failed": outcomes.failed, "skipped": outcomes.skipped}
    return {"code": code, "seconds": outcomes.seconds, "lines": lines, **bad}


def _record(done: Done) -> dict[str, Any]:
    words = "it took too long" if done.hung else done.last_words
    lost = {"code": -1, "seconds": {}, "lines": {}, "failed": [], "skipped": []}
    return {**(done.result or lost), "last_words": words}


def _joined(records: Mapping[str, Mapping[str, Any]]) -> Reach:
    seconds, breadth, tests = dict[str, float](), dict[str, int](), dict[tuple[str, int], set[str]]()
    for record in records.values():
        bad = {*record["failed"], *record["skipped"]}
        seconds.update({test: took for test, took in record["seconds"].items() if test not in bad})
        for test in record["lines"].keys() - bad:
            breadth[test] = sum(map(len, record["lines"][test].values()))
            for path, lines in record["lines"][test].items():
                for line in lines:
                    tests.setdefault((path, line), set()).add(test)
    failed = [test for record in records.values() for test in record["failed"]]
    troubled = [
        f"{name} cannot be run here: {record['last_words']}"
        for name, record in records.items()
        if record["code"] not in (0, 1, 5)
    ]
    frozen = {place: frozenset(found) for place, found in tests.items()}
    return Reach(seconds, frozen, breadth, troubled, failed)
