"""Tried as a new user would: every audit asks one made-up system in five ways, and hears the same from all of them."""

from __future__ import annotations

import csv
import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

import portrayal
from portrayal.cli import main
from portrayal.tables import ROWS
from ways import answering
from ways.endpoints import ASKED, serving
from ways.studies import STUDIES

WAYS = ("function", "program", "endpoint", "chat", "recorded")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with serving() as running:
        yield running


def system(name: str, use: str, parameters: str = "") -> str:
    given = f"parameters = {{ {parameters} }}\n" if parameters else ""
    return f'[[systems]]\nname = "{name}"\nuse = "{use}"\n{given}\n'


def systems(kind: str, address: str) -> str:
    picture = kind in ("tagger", "captioner")
    body = 'image = "{base64}"' if picture else 'text = "{content}"'
    chat = f'model = "fake", base_url = "{address}/v1"'
    if kind == "ranker":
        chat += ', prompt_file = "prompt.txt"'
    return "".join(
        [
            system("function", "python:my_system:answer"),
            system("program", f"command:{sys.executable} my_system.py"),
            system("endpoint", f"{address}/plain/{kind}", f'body = {{ {body} }}, answer = "result.said"'),
            system("chat", "openai_embeddings" if kind == "encoder" else "openai", chat),
            system("recorded", "replay:stimuli/answers.csv"),
        ]
    )


def write_answers(folder: Path, kind: str) -> None:
    """Fill in what `portrayal export` wrote, as somebody who records elsewhere does."""
    stimuli = [json.loads(line) for line in (folder / "stimuli.jsonl").read_text().splitlines()]
    columns = (folder / "answers.csv").read_text().strip().split(",")
    main_column = next(iter(ROWS[kind]))
    with (folder / "answers.csv").open("a", newline="") as file:
        table = csv.DictWriter(file, columns)
        for row in stimuli:
            path = folder / row["content"]
            shown = path.read_bytes() if path.is_file() else row["content"].encode()
            said = answering.reply(kind, shown)
            parts = [json.dumps(said)] if kind == "encoder" else [said] if isinstance(said, str) else said
            for part in parts:
                table.writerow({"stimulus": row["stimulus"], main_column: part, "status": "answered"})


def ended(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as end:
        main(list(words))
    said = capsys.readouterr()
    return int(end.value.code or 0), said.out, said.err


@pytest.mark.parametrize("stem", STUDIES)
def test_five_ways_to_plug_in_give_one_answer(stem, address, tmp_path, monkeypatch, capsys) -> None:
    kind, write = STUDIES[stem]
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    own = Path(answering.__file__).read_text().replace('KIND = "tagger"', f'KIND = "{kind}"')
    (tmp_path / "my_system.py").write_text(own)
    (tmp_path / "prompt.txt").write_text(f"Which documents answer this? A JSON array of ids.\n{ASKED}{{content}}")
    head, settings = f'name = "five ways"\naudit = "{stem}"\n\n', write(tmp_path)
    (tmp_path / "first.toml").write_text(head + system("function", "python:my_system:answer") + settings)
    assert ended(capsys, "export", "first.toml", "--out", "stimuli")[0] == 0
    write_answers(tmp_path / "stimuli", kind)
    (tmp_path / "study.toml").write_text(head + systems(kind, address) + settings)

    code, out, err = ended(capsys, "plan", "study.toml")
    assert (code, err) == (0, "")
    code, out, err = ended(capsys, "try", "study.toml", "--questions", "1")
    assert (code, out.count("read as")) == (0, 5), err
    code, out, err = ended(capsys, "audit", "study.toml", "-q")
    assert (code, out) == (0, "runs/five-ways/report.html\n"), err
    assert "Traceback" not in err
    assert any(
        line.startswith(("found: ", "not found: ", "not tested: ", "not measurable: ")) for line in err.splitlines()
    )

    answers = portrayal.Run("runs/five-ways").answers
    assert answers["status"].unique().to_list() == ["answered"]
    columns = [name for name in ("tag", "caption", "embedding", "doc", "rank") if name in answers.columns]
    said = {name: answers.filter(pl.col("system") == name).select("stimulus", *columns) for name in WAYS}
    assert said["function"].height > 0
    for name in WAYS:
        assert said[name].equals(said["function"]), name
    code, out, _ = ended(capsys, "status", "runs/five-ways")
    assert code == 0
    shutil.rmtree("runs")
