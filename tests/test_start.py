"""Start of a command: processor time over that of an empty interpreter."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from portrayal.study.registry import AUDITS, EXPERIMENTS, QUESTIONS, get_audit

HEAVY = "scipy altair vl_convert PIL onnxruntime spacy torch rich"  # imported where they are used
AUDITING = "import portrayal.flow, portrayal.flow.demo, " + ", ".join((*AUDITS.values(), *EXPERIMENTS.values()))


def processor_time(*arguments: str) -> float:
    """Return the seconds of processor time of one process, which others on the machine hardly stretch."""
    process = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return usage.ru_utime + usage.ru_stime


def ratio(*arguments: str) -> float:
    """Return a command's time over that of `python -c pass`, the best of seven each, taken in turn."""
    pairs = [(processor_time("-m", "portrayal", *arguments), processor_time("-c", "pass")) for _ in range(7)]
    own, nothing = (min(times) for times in zip(*pairs, strict=True))
    return own / nothing


@pytest.mark.parametrize(
    ("arguments", "most"), [(("--help",), 25), (("list", "audits"), 35), (("list", "audits", "--about"), 35)]
)
def test_a_command_starts_quickly(arguments: tuple[str, ...], most: float) -> None:
    assert ratio(*arguments) <= most


def loaded(program: str, names: str) -> list[str]:
    """Return which of these packages are imported once a program has run."""
    run = f"import sys\nfrom portrayal.cli import main\ntry:\n    {program}\nexcept SystemExit:\n    pass\n"
    found = f"print(*(name for name in '{names}'.split() if name in sys.modules))"
    said = subprocess.run([sys.executable, "-c", run + found], capture_output=True, text=True, check=True)
    return said.stdout.splitlines()[-1].split()


def test_the_package_is_imported_in_five_times_an_empty_python_at_most() -> None:
    times = [(processor_time("-c", "import portrayal"), processor_time("-c", "pass")) for _ in range(7)]
    own, nothing = (min(each) for each in zip(*times, strict=True))
    assert own <= 5 * nothing


@pytest.mark.parametrize("program", ["import portrayal", "main(['--help'])", "main(['list', 'audits'])"])
def test_starting_imports_nothing_heavy(program: str) -> None:
    assert loaded(program, f"numpy polars {HEAVY}") == []


def test_audits_import_what_is_heavy_only_where_they_use_it() -> None:
    assert loaded(AUDITING, HEAVY) == []


def test_the_listed_questions_are_the_audits_own() -> None:
    assert list(QUESTIONS) == [*AUDITS, *EXPERIMENTS]
    for stem, question in QUESTIONS.items():
        assert get_audit(stem).question == question
