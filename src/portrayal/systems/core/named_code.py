"""Check that the code a study names exists, without running it."""

from __future__ import annotations

import ast
import shlex
import shutil
import sys
from importlib.machinery import PathFinder
from pathlib import Path

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
    found = None
    for step in name.split("."):
        found = PathFinder.find_spec(step, places)
        if found is None:
            return None
        places = list(found.submodule_search_locations or [])
    return Path(found.origin) if found and found.origin and Path(found.origin).is_file() else None


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
