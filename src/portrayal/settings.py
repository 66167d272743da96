"""Typed, frozen settings; unknown keys are refused with the nearest right name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from portrayal.errors import PortrayalError, nearest


class Settings(BaseModel):
    """Base of all settings: frozen, unknown keys refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def validate(model: type[BaseModel], data: Any, where: str, extra: tuple[str, ...] = ()) -> Any:
    """Validate `data`, turning the first fault into one line."""
    if not isinstance(data, Mapping):
        raise PortrayalError(f"{where} is {data!r}. Expected a table of settings.")
    try:
        return model.model_validate(dict(data))
    except ValidationError as error:
        raise PortrayalError(_one_line(error, model, where, extra)) from None


def _one_line(error: ValidationError, model: type[BaseModel], where: str, extra: tuple[str, ...]) -> str:
    faults = error.errors()
    # A misspelt key is both unknown and missing under its right name: the first says what to do.
    fault = next((one for one in faults if one["type"] == "extra_forbidden"), faults[0])
    place = ".".join(map(str, fault["loc"]))
    if fault["type"] == "extra_forbidden":
        for step in fault["loc"][:-1]:  # to the table that holds the key
            if isinstance(step, str) and step in model.model_fields:
                model = _inner_model(model.model_fields[step].annotation) or model
        known = {*model.model_fields, *extra} - {"settings", "folder"}
        name = str(fault["loc"][-1])
        return f"{where} has an unknown key {place!r}.{nearest(name, known)} Known: {', '.join(sorted(known))}."
    if fault["type"] == "missing":
        return f"{where} lacks the key {place!r}. Add it."
    return f"{where}: {place} is {fault.get('input')!r}: {fault['msg']}."


def _inner_model(annotation: Any) -> type[BaseModel] | None:
    """Return the settings class inside `list[X]`, `X | None`, `dict[str, X]`, or X itself."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for inner in getattr(annotation, "__args__", ()):
        if inside := _inner_model(inner):
            return inside
    return None
