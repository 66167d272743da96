"""Everything `make demo` installs is pinned with hashes, for every supported Python and processor."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
ASKED = [
    *PROJECT["project"]["dependencies"],
    *PROJECT["project"]["optional-dependencies"]["language"],
    *PROJECT["build-system"]["requires"],
]
# Wheels of these are built for each Python; of others one wheel serves several, or all processors.
COMPILED = ("numpy", "scipy", "pillow", "onnxruntime", "pydantic-core", "markupsafe", "spacy", "thinc")
TARGETS = 6  # Python 3.11, 3.12 and 3.13, on x86_64 and aarch64


def name_of(requirement: str) -> str:
    return re.split(r"[<>=!~;\[( ]", requirement.strip())[0].lower().replace("_", "-").replace(".", "-")


def pinned() -> dict[str, tuple[str, list[str]]]:
    """Return version and hashes of each package in the file."""
    text = (ROOT / "requirements" / "demo.txt").read_text().replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith(("#", "--"))]
    found = {}
    for line in lines:
        named, *rest = line.split()
        name, version = named.split("==")
        found[name_of(name)] = (version, rest)
    return found


PINNED = pinned()


def test_every_line_is_one_version_with_hashes() -> None:
    for name, (version, hashes) in PINNED.items():
        assert version, name
        assert hashes, name
        assert all(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", one) for one in hashes), name


def test_wheels_of_every_python_and_processor_are_there() -> None:
    for name in COMPILED:
        assert len(PINNED[name][1]) == TARGETS, name


def test_what_the_package_asks_for_is_pinned_within_its_ranges() -> None:
    for requirement in ASKED:
        version = PINNED[name_of(requirement)][0]
        for sign, bound in re.findall(r"(>=|<)([0-9.]+)", requirement):
            below = numbers(version) < numbers(bound)
            assert below == (sign == "<"), requirement


def test_nothing_that_would_be_installed_is_left_out() -> None:
    """Follow what the installed packages ask for: with --require-hashes one that is not in the file stops the installation."""
    open_, seen = {name_of(requirement) for requirement in ASKED}, set()
    while open_:
        name = open_.pop()
        seen.add(name)
        try:
            asked = requires(name) or []
        except PackageNotFoundError:  # pinned for another Python, or not needed by the tests
            continue
        open_ |= {name_of(one) for one in asked if needed(one)} - seen
    assert seen - set(PINNED) == set()


def needed(requirement: str) -> bool:
    """Return whether a requirement holds on some Python and processor that we support."""
    marker = requirement.partition(";")[2]
    if "extra" in marker or re.search(r"(?i)win32|windows|darwin|emscripten|pypy|cygwin", marker):
        return False
    bound = re.search(r"python_(?:full_)?version *< *[\"\']([0-9.]+)", marker)
    return bound is None or numbers(bound[1]) > (3, 11)


def numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"[0-9]+", version)[:3])
