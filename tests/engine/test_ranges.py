"""Ranges of files: every row in exactly one piece, whatever the size of the pieces."""

from __future__ import annotations

import io
import itertools
import json
import os
import tarfile
from functools import partial
from pathlib import Path

import polars as pl
import pytest

from portrayal.engine import Shard, run
from portrayal.engine.ranges import Range, ranges, rows
from portrayal.errors import PortrayalError

LINES = [{"id": number, "caption": "å dog " * (number % 5)} for number in range(50)]


def jsonl(path: Path, ending: str = "\n") -> Path:
    """Write lines, some of which are blank."""
    text = "\n".join(json.dumps(line, ensure_ascii=False) + ("\n" if line["id"] % 7 == 0 else "") for line in LINES)
    path.write_text(text + ending, encoding="utf-8")
    return path


@pytest.mark.parametrize("ending", ["\n", ""])
@pytest.mark.parametrize("size", [1, 7, 30, 64, 100, 1000, 10**6])
def test_each_line_is_in_one_range(tmp_path, size: int, ending: str) -> None:
    file = jsonl(tmp_path / "a.jsonl", ending)
    pieces = ranges(file, size)
    assert [line for piece in pieces for line in rows(piece)] == LINES
    assert pieces[0].start == 0 and pieces[-1].stop == file.stat().st_size
    assert all(one.stop == other.start for one, other in itertools.pairwise(pieces))


@pytest.mark.parametrize("size", [1, 7, 100, 1000, None])
def test_each_row_of_a_parquet_file_is_in_one_range(tmp_path, size: int | None) -> None:
    table = pl.DataFrame({"id": range(100), "tag": [f"tag {number % 3}" for number in range(100)]})
    table.write_parquet(tmp_path / "a.parquet", row_group_size=13)
    pieces = ranges(tmp_path / "a.parquet", size)
    assert pl.concat([rows(piece) for piece in pieces]).equals(table)
    assert len(pieces) == (-(-100 // size) if size else 1)


def webdataset(path: Path, long: str = "") -> dict[str, dict[str, bytes]]:
    """Write samples of two or three files each, in folders, one with a name over 100 characters."""
    samples = {}
    with tarfile.open(path, "w") as archive:
        for number in range(20):
            key = f"{long}{number // 10:03d}/{number:06d}"
            files = {"jpg": os.urandom(700 * (number % 3)), "json": b'{"n": %d}' % number}
            files |= {"seg.png": b"png"} if number % 4 == 0 else {}
            samples[key] = files
            for ending, data in files.items():
                info = tarfile.TarInfo(f"{key}.{ending}")
                info.size = len(data)
                archive.addfile(info, io.BytesIO(data))
    return samples


@pytest.mark.parametrize("long", ["", "x" * 120 + "/"])
@pytest.mark.parametrize("size", [1, 3000, 10**7])
def test_each_sample_of_an_archive_is_whole_in_one_range(tmp_path, size: int, long: str) -> None:
    samples = webdataset(tmp_path / "a.tar", long)
    pieces = ranges(tmp_path / "a.tar", size)
    read = [sample for piece in pieces for sample in rows(piece)]
    assert {sample.pop("__key__"): sample for sample in read} == samples
    assert len(read) == 20
    assert len(pieces) == (20 if size == 1 else 1 if size == 10**7 else len(pieces))


def test_ranges_are_shards_of_a_job(tmp_path) -> None:
    file = jsonl(tmp_path / "a.jsonl")
    shards = [Shard(piece.name, piece) for piece in ranges(file, 300)]
    found = {shard.name: count for shard, count in run(count_lines, shards, 2)}
    assert sum(found.values()) == 50
    assert "a.jsonl, bytes 300 to 600" in found
    assert len({shard.key("job") for shard in shards}) == len(shards)


def count_lines():
    """Count the lines of a range, where the worker is."""
    return lambda piece: len(rows(piece))


def test_an_empty_file_has_no_ranges(tmp_path) -> None:
    (tmp_path / "a.jsonl").touch()
    pl.DataFrame({"a": []}).write_parquet(tmp_path / "a.parquet")
    tarfile.open(tmp_path / "a.tar", "w").close()
    assert [ranges(tmp_path / f"a.{form}") for form in ("jsonl", "parquet", "tar")] == [[], [], []]


def test_what_is_wrong_with_a_file_is_one_line(tmp_path) -> None:
    file = jsonl(tmp_path / "a.jsonl")
    (piece,) = ranges(file)
    file.write_text('{"a": 1}\nno json\n')
    with pytest.raises(PortrayalError, match="was changed after it was cut"):
        rows(piece)
    with pytest.raises(PortrayalError, match="the line that begins at byte 9 is no JSON"):
        rows(ranges(file)[0])
    file.unlink()
    with pytest.raises(PortrayalError, match="is not on this machine"):
        rows(piece)
    with pytest.raises(PortrayalError, match="no file"):
        ranges(file)
    with pytest.raises(
        PortrayalError, match=r"has the ending '.gz'. Expected one that can be read from the middle: .parquet"
    ):
        ranges(tmp_path / "a.jsonl.gz")


def test_the_name_of_a_range_says_where_it_lies() -> None:
    assert Range("/data/tags.parquet", "parquet", 1000, 2000, 5, 5).name == "tags.parquet, rows 1,000 to 2,000"
    assert partial(Range, "/data/x.tar", "samples")(0, 1024, 5, 5).name == "x.tar, bytes 0 to 1,024"
