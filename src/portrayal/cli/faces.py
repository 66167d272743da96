"""Commands about counterfactual faces: the distribution `portrayal-faces` brings them."""

from __future__ import annotations

from collections.abc import MutableMapping
from importlib.metadata import entry_points
from typing import Any

import typer

from portrayal.cli.app import Commands, app
from portrayal.errors import MissingFaces

GROUP = "portrayal.commands"  # entry points: the name of a command, and its typer application


class PluggedCommands(Commands):
    """Commands of another distribution, imported when first looked at."""

    _found: MutableMapping[str, Any] | None = None

    @property
    def commands(self) -> MutableMapping[str, Any]:
        """The commands by name."""
        if self._found is None:
            entry = next(iter(entry_points(group=GROUP, name=self.name or "")), None)
            if entry is None:
                raise MissingFaces(f"`portrayal {self.name}`")
            self._found = dict(typer.main.get_group(entry.load()).commands)
        return self._found

    @commands.setter
    def commands(self, none_yet: MutableMapping[str, Any]) -> None:
        """Accept the empty table that every group starts with."""


app.add_typer(
    typer.Typer(cls=PluggedCommands, help="Counterfactual faces.", no_args_is_help=True, callback=lambda: None),
    name="faces",
)
