"""A study file (TOML) read into typed, frozen settings.

A study names one audit, the systems it asks, and the audit's own settings in a table of the audit's stem.
Unknown keys are refused with the nearest right name: a misspelt setting must never be silently ignored.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from portrayal.errors import PortrayalError, nearest
from portrayal.systems.base import KINDS, Limits

# Names a credential goes under, and an address with a login inside.
SECRET = re.compile(
    r"(?i)(api[_-]?key|secret|passw|authori[sz]ation|credential|bearer|cookie|access[_-]?key|^key$|(^|[_-])token$)"
)
LOGIN = re.compile(r"https?://[^/@\s]+@")


class Settings(BaseModel):
    """Base of all settings: frozen, unknown keys refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


Own = TypeVar("Own", bound=Settings)


class LimitSettings(Settings):
    """How hard a system may be asked; see `portrayal.systems.base.Limits`."""

    concurrency: int = Field(default=4, ge=1)
    per_second: float | None = Field(default=None, gt=0)
    retries: int = Field(default=5, ge=0)
    timeout: float = Field(default=60.0, gt=0)
    price: float | None = Field(default=None, ge=0)

    def limits(self, price: float = 0.0) -> Limits:
        """Return the limits, with the system's own price where the study names none."""
        values = self.model_dump()
        values["price"] = price if self.price is None else self.price
        return Limits(**values)


class SystemSettings(Settings):
    """One system of a study.

    `use` names it: a name from `portrayal list systems`, or one of `python:module:function`,
    `command:program arguments`, `http:` or `https:` addresses, `replay:file`, `phantom:name`.
    """

    name: str = Field(min_length=1)
    use: str = Field(min_length=1)
    kind: Literal[KINDS] | None = None  # type: ignore[valid-type]
    version: str = ""
    parameters: dict[str, Any] = Field(default_factory=dict)
    limits: LimitSettings = LimitSettings()

    def read(self, own: type[Own]) -> Own:
        """Return the parameters as a system's own settings; a fault is told with the system's name."""
        return validate(own, self.parameters, f"parameters of system {self.name!r}")

    def fields(self, identity: str, *, price: float = 0.0, **own: Any) -> dict[str, Any]:
        """Return what every system takes over from its settings, as the arguments of a `BaseSystem`.

        Parameters
        ----------
        identity
            What tells this system from another in the ledger's key.
        price
            US dollars a question, where the study names no price of its own.
        own
            What the system says itself whatever the study says, such as its kind.
        """
        return {
            "name": self.name,
            "kind": str(self.kind),
            "identity": identity,
            "version": self.version,
            "parameters": self.parameters,
            "limits": self.limits.limits(price),
            **own,
        }


class Family(Settings):
    """The declared family of tests and its correction."""

    method: Literal["holm", "bonferroni", "benjamini-hochberg", "none"] = "holm"
    measures: list[str] | None = None  # None: those the audit declares


class Study(Settings):
    """A whole study. `settings` are the audit's own, typed by the audit."""

    name: str = Field(min_length=1)
    audit: str
    seed: int = 0
    repeats: int = Field(default=1, ge=1)
    ask_unknown_again: bool = False  # calls that went out and never came back may be billed twice
    ask_failed_again: bool = False
    systems: list[SystemSettings] = Field(min_length=1)
    family: Family = Family()
    settings: Any = None
    folder: Path = Path()  # relative paths in the study start here


def read_study(path: Path | str) -> Study:
    """Read and check a study file.

    Raises
    ------
    PortrayalError
        In one line: the file is missing, is not TOML, or holds an unknown or unfit key.
    """
    path = Path(path)
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise PortrayalError(
            f"no study file at {path}. Write one (docs/associations.md shows how) or check the path."
        ) from None
    except IsADirectoryError:
        raise PortrayalError(f"{path} is a folder. Expected a study file in TOML.") from None
    except OSError as error:
        raise PortrayalError(f"{path} cannot be read: {error.strerror}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise PortrayalError(f"{path} is not a TOML file: {error}.") from None
    return make_study(data, path.parent)


def make_study(data: Mapping[str, Any], folder: Path | str = ".") -> Study:
    """Build a study from a mapping of the same shape as the file."""
    from portrayal.audits import get_audit

    data = dict(data)
    stem = data.get("audit")
    if not isinstance(stem, str):
        raise PortrayalError('the study names no audit. Add a line such as: audit = "associations".')
    audit = get_audit(stem)
    for key in {"settings", "folder"} & set(data):  # fields of the class, not keys of the file
        known = sorted({*Study.model_fields, audit.stem} - {"settings", "folder"})
        raise PortrayalError(f"study has an unknown key {key!r}. Known: {', '.join(known)}.")
    own = data.pop(audit.stem, {})
    study = validate(Study, {**data, "folder": Path(folder)}, "study", extra=(audit.stem,))
    _check_names(study)
    _refuse_credentials(study)
    return study.model_copy(update={"settings": validate(audit.settings, own, f"[{audit.stem}]")})


def validate(model: type[BaseModel], data: Any, where: str, extra: tuple[str, ...] = ()) -> Any:
    """Validate `data`, turning the first fault into one line."""
    if not isinstance(data, Mapping):
        raise PortrayalError(f"{where} is {data!r}. Expected a table of settings.")
    try:
        return model.model_validate(dict(data))
    except ValidationError as error:
        raise PortrayalError(_one_line(error, model, where, extra)) from None


def _one_line(error: ValidationError, model: type[BaseModel], where: str, extra: tuple[str, ...]) -> str:
    fault = error.errors()[0]
    place = ".".join(map(str, fault["loc"]))
    if fault["type"] == "extra_forbidden":
        known = {*_fields_at(model, fault["loc"][:-1]), *extra} - {"settings", "folder"}
        name = str(fault["loc"][-1])
        return (
            f"{where} has an unknown key {place!r}.{nearest(name, known)} Known: {', '.join(sorted(known))}."
        )
    if fault["type"] == "missing":
        return f"{where} lacks the key {place!r}. Add it."
    return f"{where}: {place} is {fault.get('input')!r}: {fault['msg']}."


def _fields_at(model: type[BaseModel], location: tuple[Any, ...]) -> set[str]:
    """Return the field names of the model found by walking `location` from `model`."""
    for step in location:
        if isinstance(step, str) and step in model.model_fields:
            model = _inner_model(model.model_fields[step].annotation) or model
    return set(model.model_fields)


def _inner_model(annotation: Any) -> type[BaseModel] | None:
    """Return the settings class inside `list[X]`, `X | None`, `dict[str, X]`, or X itself."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for inner in getattr(annotation, "__args__", ()):
        if found := _inner_model(inner):
            return found
    return None


def _refuse_credentials(study: Study) -> None:
    """Refuse a credential written into a study, which is kept in every run and handed around."""
    for system in study.systems:
        for name, value in _leaves(system.parameters):
            if SECRET.search(name) and isinstance(value, str) and value and "$" not in value:
                raise PortrayalError(
                    f"system {system.name!r}: parameter {name!r} seems to hold a credential. A study is kept and shared:"
                    " take the credential from the environment instead."
                )
        if LOGIN.match(system.use):
            raise PortrayalError(
                f"the address of system {system.name!r} holds a login. Send it as a header taken from the environment."
            )


def _leaves(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every value of nested settings with the name it stands under."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _leaves(inner, str(key))
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner, name)
    else:
        yield name, value


def _check_names(study: Study) -> None:
    names = [system.name for system in study.systems]
    for name in names:
        if names.count(name) > 1:
            raise PortrayalError(f"two systems are named {name!r}. Give each system its own name.")
