"""The list of tests that are left to the night names tests that exist."""

from __future__ import annotations

from conftest import NIGHT, ROOT


def test_every_line_names_a_test() -> None:
    lines = [line.split("#")[0].strip() for line in NIGHT.read_text(encoding="utf-8").splitlines()]
    gone = []
    for name in filter(None, lines):
        file, _, test = name.partition("::")
        path = ROOT / file
        if not path.is_file() or (test and f"def {test.rpartition('::')[2]}(" not in path.read_text(encoding="utf-8")):
            gone.append(name)
    assert not gone, f"no such tests: {', '.join(gone)}"
    assert len(lines) == len(set(lines) - {""}) + lines.count(""), "a test is listed twice"
