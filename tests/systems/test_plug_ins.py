"""Systems anyone can plug in: a function, a program, recorded answers."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from portrayal.errors import PortrayalError
from portrayal.study import SystemSettings
from portrayal.systems import open_system
from portrayal.systems.base import Answer, CallFailed, OutcomeUnknown, Question

PROGRAM = """
import json, sys
for line in sys.stdin:
    question = json.loads(line)
    content = question["content"]
    if content == "die":
        sys.exit(3)
    if content == "hang":
        import time; time.sleep(60)
    if content == "mumble":
        print("no json", flush=True); continue
    print(json.dumps({"answer": [content.upper()], "version": "7"}), flush=True)
"""


def opened(folder: Path, use: str, kind: str = "tagger", **settings: Any):
    return open_system(SystemSettings(name="mine", use=use, **settings), folder, kind)


def question(content: str, stimulus: str = "") -> Question:
    return Question(stimulus or content, "text", content, content)


def ask(system: Any, *contents: str) -> list[Any]:
    async def asking() -> list[Any]:
        try:
            return list(await system.ask([question(content) for content in contents]))
        finally:
            await system.close()

    return asyncio.run(asking())


@pytest.fixture
def program(tmp_path: Path) -> str:
    (tmp_path / "program.py").write_text(PROGRAM)
    return f"command:{sys.executable} program.py"


def test_a_function_beside_the_study_is_found(tmp_path: Path) -> None:
    (tmp_path / "shouting_tagger.py").write_text("def tags(text, mark='!'):\n    return [text + mark]\n")
    system = opened(tmp_path, "python:shouting_tagger:tags", parameters={"mark": "?"})
    (answer,) = ask(system, "woman")
    assert system.read(answer) == [{"tag": "woman?", "confidence": None}]


def test_a_function_that_wants_the_question_gets_it(tmp_path: Path) -> None:
    (tmp_path / "asking_tagger.py").write_text("async def tags(question):\n    return [question.stimulus]\n")
    (answer,) = ask(opened(tmp_path, "python:asking_tagger:tags"), "woman")
    assert json.loads(answer.raw) == ["woman"]


@pytest.mark.parametrize(
    ("use", "message"),
    [
        ("python:no_such_module_here:tags", "cannot import 'no_such_module_here'"),
        ("python:json:nothing", "has no function 'nothing'"),
        ("python:json:__name__", "is a str. Expected a function"),
    ],
)
def test_a_function_that_is_not_there_is_named(tmp_path: Path, use: str, message: str) -> None:
    with pytest.raises(PortrayalError, match=message):
        ask(opened(tmp_path, use), "woman")


def test_a_program_answers_line_by_line(tmp_path: Path, program: str) -> None:
    system = opened(tmp_path, program)
    answers = ask(system, "woman", "tree")
    assert [system.read(answer)[0]["tag"] for answer in answers] == ["WOMAN", "TREE"]
    assert answers[0].version == "7"


def test_a_program_that_dies_after_it_was_asked_leaves_an_unknown(tmp_path: Path, program: str) -> None:
    with pytest.raises(OutcomeUnknown, match="ended before it answered"):
        ask(opened(tmp_path, program), "die")


def test_a_program_that_hangs_is_ended_and_started_anew(tmp_path: Path, program: str) -> None:
    system = opened(tmp_path, program)

    async def asking() -> Answer:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(system.ask([question("hang")]), 0.5)
        (answer,) = await system.ask([question("tree")])
        await system.close()
        return answer

    assert system.read(asyncio.run(asking()))[0]["tag"] == "TREE"


def test_a_program_that_writes_no_json_has_failed(tmp_path: Path, program: str) -> None:
    with pytest.raises(CallFailed, match="not JSON"):
        ask(opened(tmp_path, program), "mumble")


def test_a_program_that_cannot_start_is_named(tmp_path: Path) -> None:
    with pytest.raises(PortrayalError, match="cannot start 'command:./missing'"):
        ask(opened(tmp_path, "command:./missing"), "woman")


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_recorded_answers_are_replayed(tmp_path: Path, ending: str) -> None:
    table = pl.DataFrame(
        {
            "image_id": ["1", "1", "2", "3", "4"],
            "tagger": ["google", "google", "google", "google", "amazon"],
            "tag": ["woman", "tree", None, None, "man"],
            "confidence": [0.9, 0.5, None, None, 1.0],
            "status": ["ok", "ok", "ok", "refused", "ok"],
        }
    )
    path = tmp_path / f"answers.{ending}"
    {"csv": table.write_csv, "jsonl": table.write_ndjson, "parquet": table.write_parquet}[ending](path)
    parameters = {"columns": {"stimulus": "image_id"}, "where": {"tagger": "google"}}
    system = opened(tmp_path, f"replay:{path.name}", parameters=parameters)
    first, second, third, fourth = ask(system, "1", "2", "3", "4")
    assert [row["tag"] for row in system.read(first)] == ["woman", "tree"]
    assert system.read(second) == []
    assert third.refused
    assert isinstance(fourth, CallFailed)  # amazon answered, google did not: missing, not empty


def test_a_recording_without_the_column_says_which_and_how_to_name_it(tmp_path: Path) -> None:
    (tmp_path / "answers.csv").write_text("image,tag\n1,woman\n")
    with pytest.raises(PortrayalError, match="lacks column 'stimulus' \\(found: image, tag\\)"):
        ask(opened(tmp_path, "replay:answers.csv"), "1")


def test_recorded_embeddings_come_from_parquet(tmp_path: Path) -> None:
    pl.DataFrame({"stimulus": ["a"], "embedding": [[0.5, 1.0]]}).write_parquet(tmp_path / "vectors.parquet")
    system = opened(tmp_path, "replay:vectors.parquet", kind="encoder")
    (answer,) = ask(system, "a")
    assert system.read(answer) == [{"embedding": [0.5, 1.0]}]


def test_an_unknown_system_gets_the_nearest_name(tmp_path: Path) -> None:
    with pytest.raises(PortrayalError, match="no system 'glov'. Did you mean 'glove'"):
        opened(tmp_path, "glov", kind="encoder")


def test_a_system_of_the_wrong_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PortrayalError, match="'mine' is a encoder. This audit asks a tagger"):
        opened(tmp_path, "glove", kind="tagger")
