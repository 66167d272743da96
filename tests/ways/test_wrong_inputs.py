"""Mistakes of new users in each way to plug in: one line with advice, exit code 2."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from portrayal.cli import main

STUDY = """name = "wrong"
audit = "associations"

[[systems]]
name = "mine"
{system}

[associations]
tests = ["weat6"]
variants = []
"""
GOOD = 'use = "python:good:answer"'

# What the study says, and what of the answer must be in the line.
FUNCTION = [
    ('use = "python:absent:answer"', "absent"),
    ('use = "python:good:anwser"', "has no function 'anwser'"),
    ('use = "python:good"', "Expected python:module:function"),
    ('use = "python:"', "Expected python:module:function"),
    ('use = "python::answer"', "Expected python:module:function"),
    ('use = "python:good.py:answer"', "without .py"),
    ('use = "python:../good:answer"', "Expected python:module:function"),
    ('use = "python:half:answer"', "half"),
    ('use = "python:raising:answer"', "no weights here"),
    ('use = "python:leaving:answer"', "leaving"),
    ('use = "python:good:NUMBER"', "Expected a function"),
    ('use = "python:good:two"', "takes"),
    (f"{GOOD}\nparameters = {{ wdth = 3 }}", "wdth"),
    (f'{GOOD}\nkind = "tagger"', "is a tagger. This audit asks a"),
    (f"{GOOD}\nlimits = {{ concurrency = 0 }}", "concurrency is 0"),
    (f"{GOOD}\nlimits = {{ timout = 3 }}", "Did you mean 'timeout'"),
    ('usee = "python:good:answer"', "Did you mean 'use'"),
    ('use = "pyhton:good:answer"', "Did you mean 'python:'"),
]
PROGRAM = [
    ('use = "command:no-such-program"', "no program 'no-such-program'"),
    ('use = "command:./absent"', "no program './absent'"),
    ('use = "command:"', "command"),
    ('use = "command:   "', "command"),
    ('use = "command:cat \'half"', "quot"),
    ('use = "command:./plain.txt"', "plain.txt"),
    ('use = "command:./folder"', "folder"),
    ('use = "command:cat --api-key abcdef"', "credential"),
    ('use = "command:cat"\nlimits = { timeout = -1 }', "timeout is -1"),
    ('use = "command:cat"\nlimits = { retries = "many" }', "retries is 'many'"),
    ('use = "command:cat"\nkind = "ranker"', "is a ranker"),
    ('use = "command:python absent.py"', "absent.py"),
]
ENDPOINT = [
    ('use = "http://"', "address"),
    ('use = "https:///embed"', "address"),
    ('use = "http:embed"', "address"),
    ('use = "http://local host/embed"', "address"),
    ('use = "http://localhost:99999/embed"', "address"),
    ('use = "htp://localhost/embed"', "Did you mean 'http:'"),
    ('use = "localhost:8000/embed"', "no system"),
    ('use = "https://me:word@localhost/embed"', "login"),
    ('use = "https://localhost/embed?api_key=abcdef"', "credential"),
    ('use = "https://localhost/embed"\nparameters = { headers = { Authorization = "Bearer abcdef" } }', "credential"),
    (
        'use = "https://localhost/embed"\nparameters = { headers = { Authorization = "Bearer $ABSENT_KEY" } }',
        "ABSENT_KEY",
    ),
    ('use = "https://localhost/embed"\nparameters = { anwser = "data" }', "Did you mean 'answer'"),
    ('use = "https://localhost/embed"\nparameters = { method = "FETCH" }', "method"),
    ('use = "https://localhost/embed"\nparameters = { headers = "none" }', "headers"),
    ('use = "https://localhost/embed"\nparameters = { body = { text = "{contnet}" } }', "contnet"),
]
COMPATIBLE = [
    ('use = "openai"\nparameters = { model = "m" }', "openai_embeddings"),
    ('use = "openai_embedding"\nparameters = { model = "m" }', "Did you mean 'openai_embeddings'"),
    ('use = "openai_embeddings"', "names no model"),
    ('use = "openai_embeddings"\nparameters = { model = "m" }', "OPENAI_API_KEY"),
    ('use = "openai_embeddings"\nparameters = { model = "m", base_url = "localhost:1" }', "Expected an address"),
    ('use = "openai_embeddings"\nparameters = { model = "m", base_url = "http://a:b@localhost/v1" }', "login"),
    (
        'use = "openai_embeddings"\nparameters = { model = "m", key = "sk-abcdefgh12345678" }',
        "name of an environment variable",
    ),
    ('use = "openai_embeddings"\nparameters = { model = "m", api_key = "sk-abcdefgh12345678" }', "credential"),
    ('use = "openai_embeddings"\nparameters = { model = "m", key = "ABSENT_KEY" }', "ABSENT_KEY, which is not set"),
    ('use = "openai_embeddings"\nparameters = { model = "m", batch = 0 }', "batch is 0"),
    ('use = "openai_embeddings"\nparameters = { model = "m", endpoint = "http://localhost" }', "endpoint"),
    ('use = "openai_embeddings"\nparameters = { modle = "m" }', "Did you mean 'model'"),
    (
        'use = "openai_embeddings"\nparameters = { model = "m", dollars_per_million_input = -1 }',
        "dollars_per_million_input",
    ),
]
RECORDED = [
    ('use = "replay:absent.csv"', "no recording at"),
    ('use = "replay:"', "no recording at"),
    ('use = "replay:folder"', "no recording at"),
    ('use = "replay:plain.txt"', "plain.txt"),
    ('use = "replay:no_stimulus.csv"', "lacks column 'stimulus'"),
    ('use = "replay:no_embedding.csv"', "lacks column 'embedding'"),
    ('use = "replay:empty.csv"', "empty.csv"),
    ('use = "replay:broken.parquet"', "broken.parquet"),
    ('use = "replay:broken.jsonl"', "broken.jsonl"),
    ('use = "replay:twice.csv"', "lists stimulus 'John'"),
    ('use = "replay:repeat.csv"', "repeat that is not a whole number"),
    ('use = "replay:good.csv"\nparameters = { columns = { stimulus = "id" } }', "lacks column 'id'"),
    ('use = "replay:good.csv"\nparameters = { where = { status = "fine" } }', "has no status 'fine'"),
    ('use = "replay:good.csv"\nparameters = { column = { a = "b" } }', "Did you mean 'columns'"),
    ('use = "replay:../outside/good.tsv"', "no recording at"),
]
ALL = [
    pytest.param(*case, id=f"{way}-{case[0]}")
    for way, cases in {
        "function": FUNCTION, "program": PROGRAM, "endpoint": ENDPOINT, "compatible": COMPATIBLE, "recorded": RECORDED,
    }.items()
    for case in cases
]  # fmt: skip


def write_folder(folder: Path) -> None:
    files = {
        "good.py": "NUMBER = 7\ndef answer(text):\n    return [1.0]\ndef two(text, other):\n    return [1.0]\n",
        "half.py": "def answer(",
        "raising.py": "def answer(text):\n    return []\nraise OSError('no weights here')\n",
        "leaving.py": "import sys\ndef answer(text):\n    return []\nsys.exit(5)\n",
        "plain.txt": "no program\n",
        "no_stimulus.csv": "word,embedding\nJohn,[1]\n",
        "no_embedding.csv": "stimulus,vector\nJohn,[1]\n",
        "empty.csv": "",
        "broken.parquet": "PAR1 and then nothing",
        "broken.jsonl": '{"stimulus": "John"\n',
        "twice.csv": 'stimulus,embedding\nJohn,"[1]"\nJohn,"[2]"\n',
        "repeat.csv": 'stimulus,embedding,repeat\nJohn,"[1]",once\n',
        "good.csv": 'stimulus,embedding,status\nJohn,"[1]",answered\n',
    }
    for name, text in files.items():
        (folder / name).write_text(text)
    (folder / "folder").mkdir()


@pytest.mark.parametrize(("system", "said"), ALL)
@pytest.mark.parametrize("command", ["audit"])
def test_one_line_and_exit_code_2(command, system, said, tmp_path, monkeypatch, capfd) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_EMBEDDING_MODEL", "ABSENT_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    write_folder(tmp_path)
    (tmp_path / "study.toml").write_text(STUDY.format(system=system))
    with pytest.raises(SystemExit) as ended:
        main([command, "study.toml", "--quiet"])
    told = capfd.readouterr()
    lines = [line for line in told.err.splitlines() if "with your rights" not in line]
    assert (ended.value.code, told.out) == (2, ""), told.err
    assert len(lines) == 1, told.err
    assert said in lines[0]
    assert "Traceback" not in told.err
    json.dumps(lines)
