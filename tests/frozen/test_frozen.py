"""No number may move: every case gives what was frozen, cell by cell.

The quick ones: pytest tests/frozen -k quick. Where a change is meant, freeze anew: python -m frozen.store NAME.
Numbers of networks (face readers, sentence encoder) are those of one kind of machine.
"""

from __future__ import annotations

import pytest

from frozen import tables
from frozen.cases import CASES

SHOWN = 20


@pytest.mark.parametrize(
    "name", [pytest.param(name, id=f"{name}-quick" if case.quick else name) for name, case in CASES.items()]
)
@pytest.mark.filterwarnings("default")
def test_frozen(name: str, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    now = CASES[name].tables(tmp_path)
    lines = tables.differences(tables.read(name), now)
    shown = "\n".join(f"{name}: {line}" for line in lines[:SHOWN])
    assert not lines, f"{len(lines)} cells differ, the first:\n{shown}"


def test_every_frozen_file_has_its_case() -> None:
    """Files and cases are the same."""
    assert {path.name.removesuffix(".json.xz") for path in tables.DATA.glob("*.xz")} == set(CASES)
