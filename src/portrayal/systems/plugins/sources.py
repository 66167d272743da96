"""Source files of a system that is code, and their fingerprint."""

from __future__ import annotations

import ast
import hashlib
import shlex
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from portrayal.systems.core.named_code import module_file
from portrayal.systems.plugins.python_function import HANDED_OVER, source_hash

CODE = ("python", "command")  # schemes of systems that run what a study names
WHOLE = 64 * 1024 * 1024  # bytes; of a larger file only its size, beginning and end are looked at
EDGE = 1024 * 1024


@dataclass(frozen=True)
class Source:
    """A system's own files and one hash over all of them."""

    sha256: str
    files: tuple[str, ...]


def is_code(use: str) -> bool:
    """Return True for a `use` that names a function or a program."""
    return use.partition(":")[0] in CODE


def source_of(use: str, folder: Path) -> Source | None:
    """Return the source of a function or program, None where none is found."""
    scheme, _, rest = use.partition(":")
    if scheme == HANDED_OVER:
        digest = source_hash(use)
        return Source(digest, ()) if digest else None
    first = module_file(rest.partition(":")[0], folder) if scheme == "python" else None
    starts = [first] if first else _program_files(rest, folder) if scheme == "command" else []
    files: dict[Path, None] = {}
    for path in starts:
        _gather(path, folder, files)
    if not files:
        return None
    hashes = sorted((path.name, _hash(path)) for path in files)
    whole = hashlib.sha256("\x1f".join(f"{name} {digest}" for name, digest in hashes).encode())
    return Source(whole.hexdigest(), tuple(name for name, _ in hashes))


def _program_files(words: str, folder: Path) -> list[Path]:
    """Return the files among a program's arguments; where there are none, the program itself."""
    program, *arguments = shlex.split(words) or [""]
    named = [folder / word for word in arguments if not word.startswith("-") and (folder / word).is_file()]
    if named:
        return named
    path = str(folder / program) if (folder / program).is_file() else shutil.which(program)
    return [Path(path)] if path else []


def _gather(path: Path, folder: Path, files: dict[Path, None]) -> None:
    """Add a file and the local modules that it imports."""
    path = path.resolve()
    if path in files:
        return
    files[path] = None
    if path.suffix != ".py":
        return
    for name in _imported(path):
        for place in (path.parent, folder.resolve()):
            beside = place.joinpath(*name.split("."))
            for file in (beside.with_suffix(".py"), beside / "__init__.py"):
                if file.is_file() and "site-packages" not in file.parts:
                    _gather(file, folder, files)


def _imported(path: Path) -> Iterator[str]:
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            below = f"{node.module}." if node.module else ""
            yield from ([node.module] if node.module else [])
            yield from (f"{below}{alias.name}" for alias in node.names)


def _hash(path: Path) -> str:
    size = path.stat().st_size
    with path.open("rb") as file:
        if size <= WHOLE:
            return hashlib.file_digest(file, "sha256").hexdigest()
        digest = hashlib.sha256(str(size).encode() + file.read(EDGE))
        file.seek(size - EDGE)
        digest.update(file.read())
    return digest.hexdigest()
