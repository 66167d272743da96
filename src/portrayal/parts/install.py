"""Installing the parts: pip, with the pinned lists beside this file."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec

from portrayal.errors import PortrayalError
from portrayal.parts.table import FOLDER, OPTIONAL

HASHED = ("--no-deps", "--require-hashes")
# spaCy is a library with libraries of its own, which pip chooses for the platform; what carries weights and data is hashed.
LISTS: dict[str, Sequence[str]] = {"language.txt": (), "parts.txt": HASHED, OPTIONAL: HASHED}


def install_parts(say: Callable[[Sequence[str]], None], quiet: bool = False, dry_run: bool = False) -> None:
    """Install every part; the identity check's packages may fail, with one line.

    Parameters
    ----------
    say
        Takes lines for the user.
    quiet
        Let pip say nothing but warnings and errors.
    dry_run
        Say the calls of pip instead of making them.

    Raises
    ------
    PortrayalError
        When pip is not there or cannot install a list that every platform has.

    Examples
    --------
    >>> from portrayal import install_parts
    >>> calls = []
    >>> install_parts(calls.extend, dry_run=True)
    >>> ["--require-hashes" in call for call in calls]
    [False, True, True]
    """
    if dry_run:
        say([shlex.join(pip_command(name, quiet)) for name in LISTS])
        return
    if find_spec("pip") is None:
        raise PortrayalError(
            f"{sys.executable} has no pip, which installs the parts. Run: {sys.executable} -m ensurepip"
        )
    for name in (name for name in LISTS if name != OPTIONAL):
        if subprocess.run(pip_command(name, quiet), stdout=2).returncode:  # stdout carries only the answer
            raise PortrayalError(
                f"pip could not install {name}; its lines above say why. Check the network and the package index, then"
                " run again: portrayal parts install"
            )
    tried = subprocess.run(pip_command(OPTIONAL, quiet=True), capture_output=True, text=True)
    if tried.returncode:
        say([f"The identity check is left out, its packages do not install here: {_reason(tried.stderr)}"])


def pip_command(name: str, quiet: bool) -> list[str]:
    """Return the call of pip that installs one list."""
    options = ("--disable-pip-version-check", "--no-input", *(("-q",) if quiet else ()))
    return [sys.executable, "-m", "pip", "install", *options, "--no-warn-conflicts", *LISTS[name], "-r",
            str(FOLDER / name)]  # fmt: skip


def _reason(said: str) -> str:
    lines = [line for line in said.splitlines() if line.startswith("ERROR:")]
    return lines[-1].removeprefix("ERROR:").strip() if lines else "pip did not say why"
