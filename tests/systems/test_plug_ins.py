"""Systems anyone can plug in: a function, a program, recorded answers."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from portrayal.errors import PortrayalError
from portrayal.systems.core.base import Answer, CallFailed, OutcomeUnknown, Question, Unreadable
from portrayal.systems.core.readers import read_answer
from portrayal.systems.core.registry import open_system
from portrayal.systems.core.settings import SystemSettings

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
    print(json.dumps({"id": question["id"], "answer": [content.upper()], "version": "7"}), flush=True)
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
    assert read_answer(system, answer) == [{"tag": "woman?", "confidence": None}]


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
    assert [read_answer(system, answer)[0]["tag"] for answer in answers] == ["WOMAN", "TREE"]
    assert answers[0].version == "7"
    said = b'{"id": "1-woman", "answer": ["WOMAN"], "version": "7"}'  # the line as it was written
    assert answers[0].raw == said


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

    assert read_answer(system, asyncio.run(asking()))[0]["tag"] == "TREE"


def test_a_program_that_writes_no_json_leaves_an_unknown_and_its_words(tmp_path: Path, program: str) -> None:
    with pytest.raises(OutcomeUnknown, match="no answer to question '1-mumble': b'no json") as caught:
        ask(opened(tmp_path, program), "mumble")
    assert caught.value.raw == b"no json\n"


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
    assert [row["tag"] for row in read_answer(system, first)] == ["woman", "tree"]
    assert read_answer(system, second) == []
    assert third.refused
    assert isinstance(fourth, CallFailed)  # amazon answered, google did not: missing, not empty


def test_a_captioner_replays_a_coco_results_file(tmp_path: Path) -> None:
    results = [{"image_id": 7, "caption": "a man"}, {"image_id": 7, "caption": "a person"}]
    (tmp_path / "results.json").write_text(json.dumps(results))
    system = opened(tmp_path, "replay:results.json", kind="captioner")
    told, untold = ask(system, "7", "8")
    assert [row["caption"] for row in read_answer(system, told)] == ["a man", "a person"]
    assert isinstance(untold, CallFailed)
    (tmp_path / "results.json").write_text('{"annotations": []}')
    with pytest.raises(PortrayalError, match="A results file is a list of image_id and caption"):
        ask(opened(tmp_path, "replay:results.json", kind="captioner"), "7")
    with pytest.raises(PortrayalError, match="Expected .csv, .tsv, .jsonl or .parquet"):
        ask(opened(tmp_path, "replay:results.json"), "7")


def test_a_recording_without_the_column_says_which_and_how_to_name_it(tmp_path: Path) -> None:
    (tmp_path / "answers.csv").write_text("image,tag\n1,woman\n")
    with pytest.raises(PortrayalError, match="lacks column 'stimulus' \\(found: image, tag\\)"):
        ask(opened(tmp_path, "replay:answers.csv"), "1")


def test_recorded_embeddings_come_from_parquet(tmp_path: Path) -> None:
    pl.DataFrame({"stimulus": ["a"], "embedding": [[0.5, 1.0]]}).write_parquet(tmp_path / "vectors.parquet")
    system = opened(tmp_path, "replay:vectors.parquet", kind="encoder")
    (answer,) = ask(system, "a")
    assert read_answer(system, answer) == [{"embedding": [0.5, 1.0]}]


def test_an_unknown_system_gets_the_nearest_name(tmp_path: Path) -> None:
    with pytest.raises(PortrayalError, match="no system 'glov'. Did you mean 'glove'"):
        opened(tmp_path, "glov", kind="encoder")


def test_a_system_of_the_wrong_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PortrayalError, match="'mine' is an encoder. This audit asks a tagger"):
        opened(tmp_path, "glove", kind="tagger")


def test_a_module_that_breaks_while_it_is_imported_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "broken_tagger.py").write_text("def tags(text)\n    return []\n")
    with pytest.raises(PortrayalError, match="cannot import 'broken_tagger'"):
        ask(opened(tmp_path, "python:broken_tagger:tags"), "woman")


def test_a_function_past_its_time_limit_does_not_keep_the_process_alive(tmp_path: Path) -> None:
    (tmp_path / "sleepy_tagger.py").write_text("import time\ndef tags(text):\n    time.sleep(60)\n")
    program = f"""
import asyncio, pathlib
from portrayal.systems.core.settings import SystemSettings
from portrayal.systems.core.registry import open_system
from portrayal.systems.core.base import Question
system = open_system(SystemSettings(name="s", use="python:sleepy_tagger:tags"), pathlib.Path({str(tmp_path)!r}), "tagger")
async def main():
    try:
        await asyncio.wait_for(system.ask([Question("a", "text", "a", "a")]), 0.2)
    except TimeoutError:
        print("given up")
asyncio.run(main())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=40)
    assert done.stdout == "given up\n"
    assert done.returncode == 0


def test_what_takes_one_question_at_a_time_gets_one_at_a_time(tmp_path: Path, program: str) -> None:
    """Waiting for one's turn must not count against the time limit: it would turn unasked questions unknown."""
    assert opened(tmp_path, program).limits.concurrency == 1
    assert opened(tmp_path, "python:json:loads").limits.concurrency == 1
    assert opened(tmp_path, "python:json:loads", limits={"concurrency": 3}).limits.concurrency == 3


def test_the_price_of_the_study_is_what_a_question_costs_unless_the_answer_says(tmp_path: Path) -> None:
    (tmp_path / "paid_tagger.py").write_text(
        "def tags(text):\n    return {'answer': [text], 'cost': {'dear': 0.5, 'odd': 'much'}.get(text)}\n"
    )
    system = opened(tmp_path, "python:paid_tagger:tags", limits={"price": 0.01})
    assert [answer.cost for answer in ask(system, "plain", "dear", "odd")] == [0.01, 0.5, 0.01]


def test_recorded_ids_stay_as_they_are_written(tmp_path: Path) -> None:
    (tmp_path / "answers.csv").write_text("stimulus,repeat,tag,confidence\n007,,woman,0.9\n7,0,tree,\n")
    system = opened(tmp_path, "replay:answers.csv")
    first, second = ask(system, "007", "7")
    assert read_answer(system, first) == [{"tag": "woman", "confidence": 0.9}]
    assert read_answer(system, second) == [{"tag": "tree", "confidence": None}]


def test_a_repeat_that_is_no_number_is_named(tmp_path: Path) -> None:
    (tmp_path / "answers.csv").write_text("stimulus,repeat,tag\na,first,woman\n")
    with pytest.raises(PortrayalError, match="answers.csv has a repeat that is not a whole number"):
        ask(opened(tmp_path, "replay:answers.csv"), "a")


def test_recorded_embeddings_come_from_csv_too(tmp_path: Path) -> None:
    (tmp_path / "vectors.csv").write_text('stimulus,embedding\na,"[0.5, 1.0]"\nb,broken\n')
    system = opened(tmp_path, "replay:vectors.csv", kind="encoder")
    first, second = ask(system, "a", "b")
    assert read_answer(system, first) == [{"embedding": [0.5, 1.0]}]
    with pytest.raises(Unreadable):
        read_answer(system, second)


def test_an_embedding_recorded_twice_is_refused(tmp_path: Path) -> None:
    table = pl.DataFrame({"stimulus": ["a", "a"], "embedding": [[0.5], [1.0]]})
    table.write_parquet(tmp_path / "vectors.parquet")
    with pytest.raises(PortrayalError, match="lists stimulus 'a' \\(repeat 0\\) 2 times"):
        ask(opened(tmp_path, "replay:vectors.parquet", kind="encoder"), "a")


def said_by(folder: Path, use: str = "python:system:answer") -> Any:
    (answer,) = ask(opened(folder, use), "woman")
    return json.loads(answer.raw)


def test_a_second_study_in_the_same_process_gets_its_own_module(tmp_path: Path) -> None:
    """`portrayal new` names every stub system.py; in a notebook the first one answered for all."""
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "helper.py").write_text(f"WORD = {name!r}\n")
        (tmp_path / name / "system.py").write_text("from helper import WORD\ndef answer(text):\n    return [WORD]\n")
    assert said_by(tmp_path / "first") == ["first"]
    assert said_by(tmp_path / "second") == ["second"]
    assert said_by(tmp_path / "first") == ["first"]


def test_an_edited_module_is_loaded_anew_and_an_unchanged_one_once(tmp_path: Path) -> None:
    source = "import helper\nhelper.LOADED.append(1)\ndef answer(text):\n    return [helper.WORD, len(helper.LOADED)]\n"
    (tmp_path / "helper.py").write_text("WORD, LOADED = 'old', []\n")
    (tmp_path / "system.py").write_text(source)
    assert said_by(tmp_path) == ["old", 1]
    assert said_by(tmp_path) == ["old", 1]
    (tmp_path / "helper.py").write_text("WORD, LOADED = 'new', []\n")
    assert said_by(tmp_path) == ["new", 1]


def test_a_module_named_as_one_of_pythons_own_is_refused(tmp_path: Path) -> None:
    for name in ("json", "polars", "portrayal"):
        (tmp_path / f"{name}.py").write_text("def answer(text):\n    return []\n")
        with pytest.raises(PortrayalError, match=rf"{name}.py has the name of a module that Python has already"):
            said_by(tmp_path, f"python:{name}:answer")
        with pytest.raises(PortrayalError, match="Rename the file"):
            opened(tmp_path, f"python:{name}:answer").check_ready()
    assert json.dumps([1]) == "[1]"


def test_a_program_that_ends_at_once_leaves_no_words_of_ours(tmp_path: Path) -> None:
    """`command:echo hello` printed asyncio's tracebacks: a pipe that had broken by itself was closed once more."""
    study = tmp_path / "study.toml"
    study.write_text(
        'name = "w"\naudit = "associations"\n[[systems]]\nname = "mine"\nuse = "command:echo hello"\n'
        '[associations]\ntests = ["weat6"]\nvariants = []\n'
    )
    done = subprocess.run(
        [sys.executable, "-m", "portrayal", "try", str(study), "--questions", "2"],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 1
    assert "Traceback" not in done.stderr and "Exception" not in done.stderr and "pid" not in done.stderr
    assert "hello" in done.stdout


def test_a_ranker_without_its_package_says_how_to_come_by_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "portrayal_rankers", None)
    monkeypatch.delitem(sys.modules, "portrayal_rankers.system", raising=False)
    settings = SystemSettings(name="mine", use="bm25", parameters={"collection": "toy"})
    with pytest.raises(
        PortrayalError, match="'bm25' needs the package portrayal-rankers, which is not installed. Run: pip install"
    ):
        open_system(settings, Path(), "ranker")
