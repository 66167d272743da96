"""Bad input to an associations study: one clear line on stderr and exit code 2, never a traceback."""

from __future__ import annotations

import gzip
from pathlib import Path

import polars as pl
import pytest

from portrayal.cli import main

STUDY = """
name = "bad"
audit = "associations"
[[systems]]
name = "e"
use = "{use}"
parameters = {{ {parameters} }}
[associations]
variants = []
{extra}
[[associations.test]]
name = "t"
x = {x}
y = ["c", "d"]
a = ["e", "f"]
b = ["g", "h"]
"""
GOOD = "".join(f"{word} {number} 1 2\n" for number, word in enumerate("abcdefgh"))


def run(folder: Path, capsys: pytest.CaptureFixture[str], **parts: str) -> tuple[int, str]:
    parts = {"use": "vectors", "parameters": 'path = "v.txt"', "extra": "", "x": '["a", "b"]', **parts}
    (folder / "study.toml").write_text(STUDY.format(**parts))
    with pytest.raises(SystemExit) as stop:
        main(["audit", str(folder / "study.toml"), "--out", str(folder / "run")])
        raise SystemExit(0)
    return int(stop.value.code or 0), capsys.readouterr().err.strip().splitlines()[-1]


def test_the_good_study_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "v.txt").write_text(GOOD)
    assert run(tmp_path, capsys)[0] == 0
    assert (tmp_path / "run" / "report.html").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "no vector file at"),
        (GOOD.replace("c 2 1 2", "c 2 nan 2"), "NaN or infinity in the vector of 'c'"),
        (GOOD.replace("c 2 1 2", "c 2 1"), "line 3 has 2 numbers where others have 3"),
        (GOOD.replace("c 2 1 2\n", ""), "has 1 of 2 c and d left. A test needs two on a side"),
        ("\x00\x01", "cannot be read as text vectors"),
    ],
)
def test_bad_vector_files(
    content: str | None, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if content is not None:
        (tmp_path / "v.txt").write_text(content)
    code, line = run(tmp_path, capsys)
    assert code == 2
    assert message in line


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"x": "[]"}, "x of test 't' is empty"),
        ({"x": '["a", "a"]'}, "lists 'a' twice"),
        ({"x": '"absent.csv"'}, "no file at"),
        ({"x": '"words.csv"'}, "lacks column 'content' (found: word)"),
        ({"x": "3"}, "test.0.x"),
        ({"extra": "dof = 1"}, "unknown key 'dof'. Did you mean 'ddof'?"),
        ({"extra": 'tests = ["weat99"]'}, "no association test 'weat99'"),
        ({"parameters": 'paht = "v.txt"'}, "'path'"),
        ({"use": "vektors"}, "Did you mean 'vectors'"),
        ({"parameters": 'path = "v.txt.gz"'}, "cannot be read as text vectors"),
    ],
)
def test_bad_studies(parts: dict[str, str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "v.txt").write_text(GOOD)
    (tmp_path / "v.txt.gz").write_bytes(gzip.compress(GOOD.encode())[:-9])
    (tmp_path / "words.csv").write_text("word\na\n")
    code, line = run(tmp_path, capsys, **parts)
    assert code == 2
    assert message in line


def recorded_vectors(folder: Path, odd: dict[str, str]) -> None:
    vectors = {word: f"[1.0, {number}.5]" for number, word in enumerate("abcdefgh")} | odd
    lines = [f'{{"stimulus": "{word}", "embedding": {vector}}}' for word, vector in vectors.items()]
    (folder / "v.jsonl").write_text("\n".join(lines))


def test_recorded_embeddings_of_two_widths(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Half of them are of one width, half of the other: nobody can say which is meant."""
    recorded_vectors(tmp_path, dict.fromkeys("abcd", "[1.0]"))
    code, line = run(tmp_path, capsys, use="replay:v.jsonl", parameters="")
    assert code == 2
    assert "vectors of widths [1, 2]" in line


@pytest.mark.parametrize(
    ("vector", "reason"),
    [("[1.0]", "a vector of 1 numbers, where most have 2"), ("[0.0, 0.0]", "a vector of length zero")],
)
def test_one_odd_vector_is_measured_around(tmp_path: Path, capsys, vector: str, reason: str) -> None:
    recorded_vectors(tmp_path, {"c": vector})
    code, _ = run(tmp_path, capsys, use="replay:v.jsonl", parameters="")
    assert code == 0
    (row,) = pl.read_parquet(tmp_path / "run" / "responses.parquet").filter(status="unparsable").to_dicts()
    assert row["stimulus"] == "c"
    assert reason in row["reason"]
