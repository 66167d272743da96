"""Every reader on damaged input, a few cases each; `make fuzz MINUTES=n` tries many. Found cases stay here."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fuzz.fuzz import case, fails, fuzz
from fuzz.mutations import mutate
from fuzz.targets import TARGETS


@pytest.mark.parametrize("name", TARGETS)
def test_a_good_file_is_read(name: str, tmp_path: Path) -> None:
    target = TARGETS[name]
    for example in target.examples:
        (tmp_path / target.file).write_bytes(example)
        if name not in ("study",):  # its systems are looked up beside it
            target.read(tmp_path / target.file)
        assert fails(target, example, tmp_path) == ""


@pytest.mark.parametrize("name", TARGETS)
@settings(
    max_examples=15,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(random=st.randoms(use_true_random=False), junk=st.binary(max_size=200), damaged=st.booleans())
def test_a_damaged_file_is_read_or_said_to_be_one(
    name: str, tmp_path: Path, random, junk: bytes, damaged: bool
) -> None:
    data = mutate(random.choice(TARGETS[name].examples), random) if damaged else junk
    assert fails(TARGETS[name], data, tmp_path) == ""


# Cases that once ended in a traceback, or in a page of text.
FOUND = [
    ("vinvl labels", 0), ("vinvl labels", 2), ("coco instances", 6), ("coco instances", 16), ("qrels", 9), ("captions csv", 2),
    ("people csv", 11), ("recorded services", 12), ("recorded services", 13), ("visual genome", 23), ("visual genome", 28),
    ("spice", 29), ("vectors, npz", 164), ("collection", 977), ("collection", 1329), ("coco results", 3486),
]  # fmt: skip


@pytest.mark.parametrize(("name", "seed"), FOUND)
def test_what_was_found_is_mended(name: str, seed: int, tmp_path: Path) -> None:
    assert fails(TARGETS[name], case(name, seed), tmp_path) == ""


DEEP = b"[" * 200_000
NESTED = {
    "lists": DEEP,
    "objects": b'{"a":' * 200_000,
    "closed": DEEP + b"]" * 200_000,
    "after an id": b"1\t" + DEEP,
    "in a row": b'{"id": "d1", "text": ' + DEEP,
    "in an answer": b'{"stimulus": "a", "response": ' + DEEP + b"]" * 200_000 + b"}",
    "a header": len(DEEP).to_bytes(8, "little") + DEEP + b"0" * 9,
}


@pytest.mark.parametrize("form", NESTED)
@pytest.mark.parametrize("name", TARGETS)
def test_what_is_nested_without_end_is_said_to_be_no_file(name: str, form: str, tmp_path: Path) -> None:
    assert fails(TARGETS[name], NESTED[form], tmp_path) == ""


def test_a_reader_that_stumbles_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = TARGETS["qrels"].__class__(lambda path: {}[path.read_bytes()], "x", [b"a"])
    monkeypatch.setitem(TARGETS, "qrels", broken)
    tried, failures = fuzz(["qrels"], 0, 3, 60.0)
    assert tried == 3
    assert any("KeyError" in wrong for wrong in failures.values())
