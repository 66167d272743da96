"""The notebooks of examples/: one for each audit, executed from top to bottom, with no outputs kept."""

from __future__ import annotations

import ast
import os
import warnings
from pathlib import Path
from typing import Any

import pytest

from documentation.pages import ROOT, STEMS, text_of

with warnings.catch_warnings():  # of jupyter's own imports, which are none of ours
    warnings.simplefilter("ignore")
    import nbformat
    from nbclient import NotebookClient

EXAMPLES = ROOT / "examples"


def notebook(stem: str) -> Any:
    return nbformat.read(EXAMPLES / f"{stem}.ipynb", as_version=4)


def code(stem: str) -> list[str]:
    return [cell.source for cell in notebook(stem).cells if cell.cell_type == "code"]


def test_every_audit_has_one_and_the_page_names_it() -> None:
    assert sorted(path.stem for path in EXAMPLES.glob("*.ipynb")) == sorted(STEMS)
    assert all(f"`examples/{stem}.ipynb`" in text_of("docs/notebooks.md") for stem in STEMS)


@pytest.mark.parametrize("stem", STEMS)
def test_no_output_is_kept(stem: str) -> None:
    kept = [cell for cell in notebook(stem).cells if cell.get("outputs") or cell.get("execution_count") is not None]
    assert kept == []


@pytest.mark.parametrize("stem", STEMS)
def test_it_shows_a_study_as_a_dict_a_function_as_a_system_and_all_that_a_run_has(stem: str) -> None:
    whole = "\n".join(code(stem))
    tree = ast.parse(whole)
    study = [node for node in tree.body if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict)]
    assert any(getattr(node.targets[0], "id", "") == "study" for node in study)
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    given = whole.partition("systems={")[2].partition("}")[0].partition(":")[2].strip()
    assert given in functions
    assert all(f"run.{name}" in whole for name in ("results", "charts", "answers", "report"))
    assert "run" in code(stem)  # a cell of its own: the run shows itself


@pytest.mark.parametrize("stem", STEMS)
@pytest.mark.filterwarnings("default")  # of jupyter's client, which runs the notebook
def test_it_runs_and_shows_findings(stem: str, tmp_path: Path) -> None:
    ran = notebook(stem)
    client = NotebookClient(ran, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}})
    client.execute(env={**os.environ, "TMPDIR": str(tmp_path)})
    shown = {cell.source: cell.outputs for cell in ran.cells if cell.cell_type == "code"}
    (html,) = [output["data"]["text/html"] for output in shown["run"]]
    assert "<b>found</b>" in html
    drawn = next(outputs for source, outputs in shown.items() if "run.charts[" in source)
    assert "image/svg+xml" in {kind for output in drawn for kind in output.get("data", {})}
