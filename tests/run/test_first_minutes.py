"""First minutes: a study is written, three questions tried, stimuli exported, failures retried."""

from __future__ import annotations

import csv
import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import portrayal
from portrayal.cli import main

WORDS = {"name": "words", "audit": "associations", "associations": {"tests": ["weat6"], "variants": []}}


def command(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main([str(word) for word in words])
    said = capsys.readouterr()
    return int(ended.value.code or 0), said.out, said.err


def test_a_new_study_is_tried_and_audited_as_it_is(tmp_path: Path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = command(capsys, "new", "associations")
    assert (code, out) == (0, "associations/study.toml\n")
    assert "portrayal try associations/study.toml" in err
    code, out, _ = command(capsys, "try", "associations/study.toml")
    assert code == 0
    assert out.count("read as  a vector of 3 numbers: 1.0, 0.0, 0.0") == 3
    assert not (tmp_path / "runs").exists()  # trying keeps nothing
    code, out, err = command(capsys, "audit", "associations/study.toml", "-q")
    assert (code, out) == (0, "runs/my-encoder/report.html\n")
    assert "not tested: It was not tested whether mine ties groups to attributes" in err


@pytest.mark.parametrize("stem", ["associations", "search", "contexts", "counterfactuals", "captions"])
def test_every_audit_has_a_first_study_that_reads(stem: str, tmp_path: Path) -> None:
    study = portrayal.read_study(portrayal.new_study(stem, tmp_path / "mine"))
    assert study.audit == stem
    system: dict[str, Any] = {}
    exec((tmp_path / "mine" / "system.py").read_text(), system)
    assert callable(system["answer"])


def test_nothing_is_overwritten_and_an_unknown_audit_is_told(tmp_path: Path, capsys) -> None:
    (tmp_path / "system.py").write_text("mine")
    code, _, err = command(capsys, "new", "search", "--out", tmp_path)
    assert code == 2
    assert "is there already. Give another folder: --out DIR." in err
    assert (tmp_path / "system.py").read_text() == "mine"
    assert not (tmp_path / "study.toml").exists()
    code, _, err = command(capsys, "new", "serch", "--out", tmp_path / "other")
    assert (code, "Did you mean 'search'?" in err) == (2, True)


def test_trying_shows_failures_refusals_and_answers_of_another_kind() -> None:
    def broken(word: str) -> Any:
        raise ValueError("no weights at hand")

    tried = portrayal.try_study(
        WORDS,
        questions=2,
        systems={"broken": broken, "refusing": lambda word: {"refused": True}, "odd": lambda word: "hello"},
    )
    read = {one.system: (one.status, one.reading) for one in tried}
    assert len(tried) == 6
    assert read["broken"][0] == "failed"
    assert "no weights at hand" in read["broken"][1]
    assert read["refusing"] == ("refused", "a refusal")
    assert read["odd"][0] == "unparsable"


def test_trying_ends_with_1_where_a_system_gives_nothing_usable_and_2_where_it_is_not_there(
    tmp_path: Path, capsys
) -> None:
    study = portrayal.new_study("associations", tmp_path)
    study.write_text(study.read_text().replace("python:system:answer", "python:wordless_system:answer"))
    code, _, err = command(capsys, "try", study)
    assert (code, "wordless_system" in err) == (2, True)
    (tmp_path / "wordless_system.py").write_text("def answer(text):\n    return 'hello'\n")
    code, out, _ = command(capsys, "try", study)
    assert code == 1
    assert "no answer of this kind: an encoder cannot answer" in out


def test_trying_refuses_code_of_the_untrusted(tmp_path: Path, capsys) -> None:
    study = portrayal.new_study("associations", tmp_path)
    code, _, err = command(capsys, "try", study, "--untrusted")
    assert (code, "would run code" in err) == (2, True)


def test_exported_stimuli_are_answered_elsewhere_and_replayed(tmp_path: Path) -> None:
    study = {**WORDS, "systems": [{"name": "simulated", "use": "phantom:associations"}]}
    table = portrayal.export_stimuli(study, tmp_path / "out")
    with table.open() as file:
        rows = list(csv.DictReader(file))
    exact = [json.loads(line) for line in table.with_suffix(".jsonl").read_text().splitlines()]
    assert [row["stimulus"] for row in rows] == [row["stimulus"] for row in exact]
    with (tmp_path / "out" / "answers.csv").open("a") as file:
        for row in rows:
            file.write(f'{row["stimulus"]},"[{len(row["content"])}.0, 1.0]",answered\n')
    portrayal.export_stimuli(study, tmp_path / "out")  # once more: what was filled in stays
    recorded = {"recorded": {"use": f"replay:{tmp_path / 'out' / 'answers.csv'}"}}
    run = portrayal.audit(WORDS, tmp_path / "run", quiet=True, systems=recorded)
    assert run.answers["status"].to_list() == ["answered"] * 32


def test_pictures_without_recorded_consent_are_withheld(tmp_path: Path, monkeypatch) -> None:
    import polars as pl

    (tmp_path / "a.png").write_bytes(b"one")
    (tmp_path / "b.png").write_bytes(b"two")
    rows = [
        {"stimulus": name, "kind": "image", "content": str(tmp_path / f"{name}.png"), "hash": name,
         "source": "mine", "consent": consent}
        for name, consent in (("a", "signed"), ("b", "none"))
    ]  # fmt: skip
    monkeypatch.setattr("portrayal.study.questions.make_stimuli", lambda study: pl.DataFrame(rows))
    study = {**WORDS, "systems": [{"name": "simulated", "use": "phantom:associations"}]}
    portrayal.export_stimuli(study, tmp_path / "out")
    copied = [path.read_bytes() for path in (tmp_path / "out" / "pictures").iterdir()]
    assert copied == [b"one"]
    assert "withheld: no consent" in (tmp_path / "out" / "stimuli.csv").read_text()


def test_export_takes_no_folder_of_the_users(tmp_path: Path, capsys) -> None:
    study = portrayal.new_study("associations", tmp_path)
    code, _, err = command(capsys, "export", study, "--out", tmp_path)
    assert code == 2
    assert "system.py" in err or "study.toml" in err


def test_retry_asks_what_failed_and_reports_anew(tmp_path: Path, capsys) -> None:
    (tmp_path / "fails.txt").write_text("yes")
    (tmp_path / "moody.py").write_text(
        "from pathlib import Path\n"
        "def answer(word):\n"
        "    if Path(__file__).with_name('fails.txt').read_text() == 'yes':\n"
        "        raise ValueError('asleep')\n"
        "    return [float(len(word)), 1.0]\n"
    )
    study = tmp_path / "study.toml"
    study.write_text(
        'name = "w"\naudit = "associations"\n[[systems]]\nname = "mine"\nuse = "python:moody:answer"\n'
        '[associations]\ntests = ["weat6"]\nvariants = []\n'
    )
    code, _, err = command(capsys, "audit", study, "--out", tmp_path / "run", "-q")
    assert code == 1
    assert f"ask again: portrayal retry {tmp_path / 'run'} --failed" in err
    (tmp_path / "fails.txt").write_text("no")
    code, out, err = command(capsys, "retry", tmp_path / "run", "-q")
    assert (code, out.strip()) == (0, str(tmp_path / "run" / "report.html"))
    assert "not found: " in err or "found: " in err
    assert portrayal.Run(tmp_path / "run").answers["status"].unique().to_list() == ["answered"]


PLANNED = """name = "w"
audit = "{audit}"
[[systems]]
name = "mine"
use = "{use}"
{more}
[{audit}]
{own}
"""
WORD_TEST = 'tests = ["weat6"]'


@pytest.mark.parametrize(
    ("audit", "use", "more", "own", "said"),
    [
        ("associations", "python:absent_module:answer", "", WORD_TEST, "no module 'absent_module'"),
        ("associations", "python:there:missing", "", WORD_TEST, "has no function 'missing'"),
        ("associations", "python:half:answer", "", WORD_TEST, "cannot be read as Python"),
        ("associations", "command:no-such-program-here --fast", "", WORD_TEST, "no program 'no-such-program-here'"),
        (
            "associations",
            "https://localhost/embed",
            'parameters = { headers = { Authorization = "Bearer $ABSENT_KEY" } }',
            WORD_TEST,
            "ABSENT_KEY, which is not set",
        ),
        ("contexts", "imagga", "", "per_context = 1", "IMAGGA_KEY, which is not set"),
    ],
)  # fmt: skip
def test_a_plan_says_what_is_missing(
    audit: str, use: str, more: str, own: str, said: str, tmp_path: Path, capsys, monkeypatch
) -> None:
    monkeypatch.delenv("IMAGGA_KEY", raising=False)
    (tmp_path / "there.py").write_text("raise SystemExit('imported')\ndef answer(text):\n    return [1.0]\n")
    (tmp_path / "half.py").write_text("def answer(")
    study = tmp_path / "study.toml"
    study.write_text(PLANNED.format(audit=audit, use=use, more=more, own=own))
    code, _, err = command(capsys, "plan", study)
    assert code == 2
    assert said in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize("use", ["python:there:answer", "python:stars:anything", "command:cat", "glove"])
def test_a_plan_runs_no_code_of_the_study(use: str, tmp_path: Path, capsys) -> None:
    (tmp_path / "there.py").write_text("raise SystemExit('imported')\ndef answer(text):\n    return [1.0]\n")
    (tmp_path / "stars.py").write_text("from there import *\n")
    study = tmp_path / "study.toml"
    study.write_text(PLANNED.format(audit="associations", use=use, more="", own=WORD_TEST))
    code, out, err = command(capsys, "plan", study)
    assert (code, err) == (0, "")
    assert "in all 32 calls" in out


def test_a_long_list_of_sentences_is_cut_in_the_terminal_and_said_to_be(tmp_path: Path, capsys, monkeypatch) -> None:
    monkeypatch.setattr(import_module("portrayal.cli.app"), "MOST_SAID", 0)
    code, out, err = command(capsys, "audit", portrayal.example_study(), "--out", tmp_path / "run", "-q")
    assert (code, out.strip()) == (0, str(tmp_path / "run" / "report.html"))
    answer, rest = err.splitlines()
    assert answer.startswith("Is there a sign of ") and ", no: d = " in answer
    assert rest == "and 1 more in the report"


def test_a_test_that_was_not_computed_is_not_said_to_be(tmp_path: Path) -> None:
    run = portrayal.audit(WORDS, tmp_path, quiet=True, systems={"odd": lambda word: "hello"})
    (said,) = json.loads((run.folder / "warnings.json").read_text())
    assert "is not computed: it lacks 8 of 8 men's names" in said["remark"]


def test_a_few_failures_are_said_with_the_command_that_asks_again(tmp_path: Path, capsys) -> None:
    (tmp_path / "part.py").write_text(
        "def answer(word):\n    if word in ('John', 'Amy'):\n        raise ValueError('asleep')\n    return [float(len(word)), 1.0]\n"
    )
    study = tmp_path / "study.toml"
    study.write_text(PLANNED.format(audit="associations", use="python:part:answer", more="", own=WORD_TEST))
    for _ in range(2):  # the first time, and when nothing is asked any more
        code, _, err = command(capsys, "audit", study, "--out", tmp_path / "run", "-q")
        assert code == 0
        assert "mine: 2 of 32 questions have no answer (2 failed): ValueError: asleep. Ask again:" in err
        assert f" portrayal retry {tmp_path / 'run'} --failed\n" in err


HERE = [
    ("local", "tagger", {}),
    ("imagenet", "tagger", {}),
    ("bm25", "ranker", {"collection": "toy"}),
    ("random", "ranker", {"collection": "toy"}),
    ("glove", "encoder", {}),
    ("phantom:contexts", "tagger", {}),
    ("phantom:counterfactuals", "tagger", {}),
    ("phantom:captions", "captioner", {"plants": "nothing"}),
    ("phantom:associations", "encoder", {}),
]


@pytest.mark.parametrize(("use", "kind", "parameters"), HERE, ids=[one[0] for one in HERE])
def test_what_is_here_and_free_is_asked_again_by_itself_after_a_kill(
    use: str, kind: str, parameters: dict[str, Any], tmp_path: Path
) -> None:
    from portrayal.systems.core.registry import open_system
    from portrayal.systems.core.settings import SystemSettings

    system = open_system(SystemSettings(name="here", use=use, parameters=parameters), tmp_path, kind)
    assert getattr(system, "repeatable", False)


@pytest.mark.parametrize("use", ["python:there:answer", "command:cat", "https://host/tags", "imagga"])
def test_what_may_cost_is_not(use: str, tmp_path: Path) -> None:
    from portrayal.systems.core.registry import open_system
    from portrayal.systems.core.settings import SystemSettings

    assert not open_system(SystemSettings(name="there", use=use), tmp_path, "tagger").repeatable
