"""Files read by other processes arrive as if they had been read here, in order, and nothing is left lying about."""

from __future__ import annotations

from pathlib import Path

import pytest

from portrayal.systems.encoders.images import files_read
from portrayal.systems.encoders.images.files_read import FEWEST, FileReaders, bundle, read_here, unbundled
from systems.encoders import small_clip
from systems.encoders.test_fast_decoding import as_jpeg


@pytest.fixture
def paths(tmp_path: Path) -> list[str]:
    """More files than are read in one process; every fifth is not there, every seventh is cut off."""
    made = []
    for place in range(FEWEST + 9):
        path = tmp_path / f"{place}.jpg"
        whole = as_jpeg(small_clip.picture(place, (40, 30)))
        if place % 5:
            path.write_bytes(whole[: -9 if place % 7 == 0 else None])
        made.append(str(path))
    return made


def test_processes_read_what_this_one_reads(paths: list[str]) -> None:
    readers = FileReaders(2)
    try:
        found = [(place, bytes(data)) for place, data in readers.read(paths)]
        left = list(Path(readers._folder.name).iterdir())
    finally:
        readers.close()
    assert found == [(place, bytes(data)) for place, data in read_here(paths)]
    assert 5 not in dict(found) and 7 not in dict(found) and len(found) > FEWEST // 2 and left == []


def test_few_files_are_read_here(paths: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    readers = FileReaders(1)
    monkeypatch.setattr(readers._pool, "map", lambda *_: pytest.fail("handed over"))
    try:
        assert [place for place, _ in readers.read(paths[:4])] == [1, 2, 3] and readers.read([]) == []
    finally:
        readers.close()


def test_a_full_memory_sends_a_bundle_to_the_disk(
    paths: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files_read.tempfile, "gettempdir", lambda: str(tmp_path))
    made = bundle(paths[:4], str(tmp_path / "not there"))
    assert Path(made.path).parent == tmp_path and made.places == [1, 2, 3]
    assert [bytes(data) for _, data in unbundled(made)] == [Path(path).read_bytes() for path in paths[1:4]]
    assert not Path(made.path).exists()
    monkeypatch.setattr(files_read.tempfile, "gettempdir", lambda: str(tmp_path / "not there either"))
    with pytest.raises(OSError, match="not there"):
        bundle(paths[:4], str(tmp_path / "not there"))
