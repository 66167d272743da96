from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from portrayal.errors import PortrayalError
from portrayal.study.study_file import make_study, read_study

SYSTEM = {"name": "glove", "use": "glove"}


def study(**changes: Any) -> dict[str, Any]:
    return {
        "name": "a study",
        "audit": "associations",
        "systems": [SYSTEM],
        "associations": {"tests": ["weat6"]},
        **changes,
    }


def test_a_study_is_typed_and_frozen() -> None:
    made = make_study(study(seed=3, repeats=2))
    assert (made.seed, made.repeats, made.ask_unknown_again, made.family.method) == (3, 2, False, "holm")
    with pytest.raises(Exception, match="frozen"):
        made.seed = 4


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sead": 1}, "study has an unknown key 'sead'. Did you mean 'seed'?"),
        ({"systems": [{**SYSTEM, "versoin": "1"}]}, "unknown key 'systems.0.versoin'. Did you mean 'version'?"),
        (
            {"systems": [{**SYSTEM, "limits": {"concurency": 2}}]},
            "unknown key 'systems.0.limits.concurency'. Did you mean 'concurrency'?",
        ),
        ({"systems": []}, "systems is []"),
        ({"systems": [SYSTEM, SYSTEM]}, "two systems are named 'glove'"),
        ({"family": {"method": "none at all"}}, "family.method is 'none at all'"),
        ({"repeats": 0}, "repeats is 0"),
        ({"audit": "association"}, "no audit 'association'. Did you mean 'associations'?"),
        ({"audit": 5}, "the study names no audit"),
        (
            {"associations": {"alternativ": "less"}},
            "[associations] has an unknown key 'alternativ'. Did you mean 'alternative'?",
        ),
        ({"associations": 5}, "[associations] is 5"),
        ({"name": ""}, "name is ''"),
        ({"settings": {"tests": []}}, "study has an unknown key 'settings'"),
        ({"folder": "elsewhere"}, "study has an unknown key 'folder'"),
    ],
)
def test_a_misspelt_or_unfit_key_gets_one_line(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(PortrayalError) as caught:
        make_study(study(**changes))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_key_is_named() -> None:
    with pytest.raises(PortrayalError, match="study lacks the key 'systems'"):
        make_study({"name": "x", "audit": "associations"})


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, "no study file at"), (b"a = = 1", "is not a TOML file"), (b"\xff\xfe", "is not a TOML file")],
)
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, content: bytes | None, message: str) -> None:
    path = tmp_path / "study.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(PortrayalError, match=message):
        read_study(path)


def test_a_folder_is_no_study(tmp_path: Path) -> None:
    with pytest.raises(PortrayalError, match="is a folder"):
        read_study(tmp_path)
