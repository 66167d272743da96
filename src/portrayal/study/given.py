"""A study as Python hands it over: a file, a dict or a `Study`, with functions among its systems."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from portrayal.edges.sizes import read_toml
from portrayal.edges.toml_text import toml_text
from portrayal.errors import PortrayalError
from portrayal.study.registry import get_audit
from portrayal.study.study import Study
from portrayal.study.study_file import make_study, read_study
from portrayal.systems.plugins.given_function import give

GivenStudy: TypeAlias = Path | str | Mapping[str, Any] | Study
# Functions, or what a study file writes of a system without its name.
GivenSystems: TypeAlias = Mapping[str, Callable[..., Any] | Mapping[str, Any]]


@dataclass(frozen=True)
class Given:
    """A study, and the text a run keeps of it."""

    study: Study
    text: str


def given_study(study: GivenStudy, systems: GivenSystems | None = None) -> Given:
    """Return the study with further systems in it."""
    if isinstance(study, Path | str) and not systems:
        return Given(read_study(study), Path(study).read_text(encoding="utf-8"))
    data, folder = _data(study)
    data["systems"] = _with(data.get("systems") or [], systems or {})
    return Given(make_study(data, folder), toml_text(data))


def _data(study: GivenStudy) -> tuple[dict[str, Any], Path]:
    """Return what the study file holds, or would hold, and where its relative paths start."""
    if isinstance(study, Study):
        fields = study.model_dump(mode="json", by_alias=True, exclude_unset=True, exclude={"folder", "settings"})
        own = (
            study.settings.model_dump(mode="json", by_alias=True, exclude_unset=True)
            if study.settings is not None
            else {}
        )
        return {**fields, get_audit(study.audit).stem: own}, study.folder
    if isinstance(study, Mapping):
        return dict(study), Path()
    if isinstance(study, Path | str):
        if not Path(study).is_file():
            read_study(study)  # says what is wrong
        return read_toml(Path(study)), Path(study).parent
    raise PortrayalError(
        f"the study is a {type(study).__name__}. Expected the path of a study file, a dict of the same shape or a Study."
    )


def _with(own: Any, given: GivenSystems) -> list[Any]:
    if not isinstance(own, list | tuple):  # make_study says what is wrong with it
        return [own]
    added = [{"name": name, **_system(name, one)} for name, one in given.items()]
    kept = [one for one in own if not (isinstance(one, Mapping) and one.get("name") in given)]
    return [*kept, *added]


def _system(name: str, one: Callable[..., Any] | Mapping[str, Any]) -> dict[str, Any]:
    return dict(one) if isinstance(one, Mapping) else {"use": give(name, one)}
