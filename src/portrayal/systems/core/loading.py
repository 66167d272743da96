"""The function a study names, imported from the study's folder as its file is now.

Python keeps a module under its name as long as the process lives. So modules of a study's folder are forgotten before
another study's, or a changed one, is imported.
"""

from __future__ import annotations

import hashlib
import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from portrayal.errors import PortrayalError
from portrayal.systems.core.named_code import local_file, refuse_known_name

_loaded: dict[str, str] = {}  # modules taken from studies' folders, with the hash of their file as it was
_folder: Path | None = None  # the folder they are from


def load_function(use: str, folder: Path) -> Callable[..., Any]:
    """Import the function of `python:module:function`; modules beside the study file come first."""
    _, module_name, function_name = use.split(":")
    try:
        module = _imported(module_name, folder.resolve())
    except PortrayalError:
        raise
    except BaseException as error:  # whatever the user's module does while it is imported, ending the process included
        if isinstance(error, KeyboardInterrupt):
            raise
        said = str(error) or type(error).__name__
        raise PortrayalError(f"cannot import {module_name!r} for {use!r}: {said}.") from None
    function = getattr(module, function_name, None)
    if function is None:
        raise PortrayalError(f"module {module_name!r} has no function {function_name!r} (asked for by {use!r}).")
    if not callable(function):
        raise PortrayalError(f"{use!r} is a {type(function).__name__}. Expected a function.")
    return function


def _imported(name: str, folder: Path) -> Any:
    """Import a module with the study's folder first on the path."""
    if local_file(name, folder) is None:
        return importlib.import_module(name)
    refuse_known_name(name, folder)
    _let_go(name, folder)
    if str(folder) in sys.path:
        sys.path.remove(str(folder))
    sys.path.insert(0, str(folder))  # it stays there: a function may import when it is called
    importlib.invalidate_caches()
    module = importlib.import_module(name)
    for each, path in _inside(folder):
        _loaded[each] = _hash(path)
    return module


def _let_go(name: str, folder: Path) -> None:
    """Forget modules of another study, or of this one after a file changed."""
    global _folder
    if _folder is not None and folder != _folder:
        if str(_folder) in sys.path:
            sys.path.remove(str(_folder))
        _forget(list(_loaded))
    elif any(_loaded.get(each) != _hash(path) for each, path in _inside(folder) if each in _loaded):
        _forget(list(_loaded))
    top = name.partition(".")[0]
    if top not in _loaded:  # somebody else imported it, nobody knows in which state
        _forget([each for each in sys.modules if each == top or each.startswith(f"{top}.")])
    _folder = folder


def _forget(names: list[str]) -> None:
    for each in names:
        sys.modules.pop(each, None)
        _loaded.pop(each, None)


def _inside(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the modules whose files lie in a folder, but for packages installed there."""
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if not file or name == "__main__":
            continue
        path = Path(file)
        if path.is_relative_to(folder) and not {"site-packages", "dist-packages"} & set(path.parts):
            yield name, path


def _hash(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""
