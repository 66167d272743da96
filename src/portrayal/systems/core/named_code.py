"""Code that a study names: checked without running it, imported as it is now.

Python keeps a module under its name as long as the process lives. So modules of a study's folder are forgotten before
another study's, or a changed one, is imported.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

from portrayal.errors import PortrayalError

MADE_AS_IT_RUNS = {"globals", "vars", "setattr", "exec", "__getattr__"}  # whoever uses these may define any name
SCRIPTS = (".py", ".sh", ".js", ".pl", ".rb", ".R", ".jl", ".jar")  # what an interpreter is given to run


def module_file(name: str, folder: Path) -> Path | None:
    """Find a module's file without importing any package; the study's folder comes first."""
    return local_file(name, folder) or _file_in(name, list(sys.path))


def local_file(name: str, folder: Path) -> Path | None:
    """Find a module's file in the study's folder."""
    return _file_in(name, [str(folder.resolve())])


def _file_in(name: str, places: list[str]) -> Path | None:
    spec = None
    for step in name.split("."):
        spec = PathFinder.find_spec(step, places)
        if spec is None:
            return None
        places = list(spec.submodule_search_locations or [])
    return Path(spec.origin) if spec and spec.origin and Path(spec.origin).is_file() else None


def refuse_known_name(name: str, folder: Path) -> None:
    """Refuse a local module that hides an installed or standard one."""
    top = name.partition(".")[0]
    known = getattr(sys.modules.get(top), "__file__", None) or ""
    installed = {"site-packages", "dist-packages"} & set(Path(known).parts) and not Path(known).is_relative_to(folder)
    if top in sys.stdlib_module_names or top == "portrayal" or installed:
        raise PortrayalError(
            f"{local_file(name, folder)} has the name of a module that Python has already. Rename the file, and say so in `use`."
        )


def check_function(use: str, folder: Path) -> None:
    """Refuse `python:module:function` where there is no such module, or its text never names the function."""
    _, module, function = use.split(":")
    path = module_file(module, folder)
    if local_file(module, folder):
        refuse_known_name(module, folder.resolve())
    if path is None and module.partition(".")[0] not in {*sys.modules, *sys.builtin_module_names}:
        raise PortrayalError(f"no module {module!r} for {use!r}. Expected {module.replace('.', '/')}.py in {folder}.")
    if path is not None and path.suffix == ".py" and function not in _names(path):
        raise PortrayalError(f"module {module!r} has no function {function!r} (asked for by {use!r}).")


def check_program(use: str, folder: Path) -> None:
    """Refuse `command:program arguments` where there is no such program."""
    program, *words = shlex.split(use.partition(":")[2]) or [""]
    if not (folder / program).is_file() and shutil.which(program) is None:
        raise PortrayalError(
            f"no program {program!r} for {use!r}. Expected a file in {folder} or a command on the PATH."
        )
    script = words[0] if words else ""
    if Path(script).suffix in SCRIPTS and not script.startswith("-") and not (folder / script).is_file():
        raise PortrayalError(f"no file {script!r} for {use!r}. Expected it in {folder}.")


def _names(path: Path) -> set[str]:
    """Return every name that a module's text defines, imports or assigns."""
    try:
        nodes = list(ast.walk(ast.parse(path.read_bytes())))
    except (SyntaxError, ValueError, RecursionError) as error:
        raise PortrayalError(f"{path} cannot be read as Python: {error}.") from None
    names = {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)}
    names |= {node.id for node in nodes if isinstance(node, ast.Name)}
    imported = [alias for node in nodes if isinstance(node, ast.Import | ast.ImportFrom) for alias in node.names]
    if any(alias.name == "*" for alias in imported) or names & MADE_AS_IT_RUNS:
        return _Any()
    return names | {alias.asname or alias.name for alias in imported}


class _Any(set[str]):
    """Holds every name."""

    def __contains__(self, name: object) -> bool:
        return True


_loaded: dict[str, str] = {}  # modules taken from studies' folders, with the hash of their file as it was
_folder: Path | None = None  # the folder they are from


def load_function(use: str, folder: Path) -> Callable[..., Any]:
    """Import the function of `python:module:function`; modules beside the study file come first."""
    _, module_name, function_name = use.split(":")
    try:
        module = _imported(module_name, folder.resolve())
    except (PortrayalError, KeyboardInterrupt):
        raise
    except BaseException as error:  # whatever the user's module does while it is imported, ending the process included
        words = str(error) or type(error).__name__
        raise PortrayalError(f"cannot import {module_name!r} for {use!r}: {words}.") from None
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
