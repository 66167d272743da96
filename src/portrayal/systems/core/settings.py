"""Settings of one system of a study: name, parameters, limits."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeVar

from pydantic import Field

from portrayal.edges.secrets import WITHHELD, hidden
from portrayal.errors import PortrayalError, nearest
from portrayal.settings import Settings, validate
from portrayal.systems.core.base import KINDS, Limits

# Names a credential goes under, and an address with a login inside.
SECRET = re.compile(
    r"(?i)^(?!.*(?:env|file|path|name)$)(?:.*?)(?:api[_-]?key|secret|passw|authori[sz]ation|credential|bearer|cookie|(?:access|subscription|account)[_-]?key|^key$|-key$"
    r"|(?:^|[_-])(?:token|auth|pat|pwd|sig|signature)$)"
)
LOGIN = re.compile(r"https?://[^/@\s]+@")
_LOGIN_INSIDE = re.compile(r"(://)[^/@\s]+@")
_QUERY = re.compile(
    r"(?i)([?&](?:[^=&?#\s]{0,100}(?:key|token|secret|sig|signature|password|auth)|code|pat|pwd)=)[^&#\s]+"
)

Own = TypeVar("Own", bound=Settings)


class LimitSettings(Settings):
    """Limits on asking a system; see `portrayal.systems.core.base.Limits`."""

    concurrency: int = Field(default=4, ge=1)
    per_second: float | None = Field(default=None, gt=0)
    retries: int = Field(default=5, ge=0)
    timeout: float = Field(default=60.0, gt=0)
    price: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    errors_billed: bool | None = None

    def limits(self, price: float = 0.0, errors_billed: bool = True) -> Limits:
        """Return the limits, with the system's own price and billing as defaults."""
        own = {name: value for name, value in self.model_dump().items() if value is not None}
        return Limits(**{"price": price, "errors_billed": errors_billed, **own})


class SystemSettings(Settings):
    """One system of a study."""

    name: str = Field(min_length=1)
    use: str = Field(min_length=1)
    kind: Literal[KINDS] | None = None  # type: ignore[valid-type]
    version: str = ""
    parameters: dict[str, Any] = Field(default_factory=dict)
    limits: LimitSettings = LimitSettings()

    def read(self, own: type[Own]) -> Own:
        """Return the parameters as a system's own settings; an error names the system."""
        return validate(own, self.parameters, f"parameters of system {self.name!r}")

    def completed(self, defaults: Mapping[str, Any], optional: Sequence[str] = ()) -> dict[str, Any]:
        """Return the parameters with their defaults, refusing unknown ones."""
        for name in self.parameters:
            if name not in {*defaults, *optional}:
                hint = nearest(name, {*defaults, *optional})
                raise PortrayalError(f"system {self.name!r} has an unknown parameter {name!r}.{hint}")
        return {**defaults, **self.parameters}

    def fields(self, identity: str, *, price: float = 0.0, errors_billed: bool = True, **own: Any) -> dict[str, Any]:
        """Return what every system takes over from its settings, as the arguments of a `BaseSystem`."""
        return {
            "name": self.name,
            "kind": str(self.kind),
            "identity": identity,
            "version": self.version,
            "parameters": self.parameters,
            "limits": self.limits.limits(price, errors_billed),
            **own,
        }


def without_secrets(value: Any, key: str = "") -> Any:
    """Return the value without credentials."""
    if SECRET.search(key) and value not in (None, ""):
        return WITHHELD
    if isinstance(value, Mapping):
        return {name: without_secrets(inner, str(name)) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [without_secrets(inner) for inner in value]
    if isinstance(value, str):
        return hidden(_QUERY.sub(rf"\1{WITHHELD}", _LOGIN_INSIDE.sub(rf"\1{WITHHELD}@", value)))
    return value
