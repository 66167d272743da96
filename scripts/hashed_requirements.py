"""Writes requirements/demo.txt: every package the demonstration installs, one version each, with the hashes of its wheels.

One resolution by pip for the oldest Python fixes the versions; it is then repeated, held to them, for every Python and
processor we support, and the hashes of all wheels so found go into one file. Needs a package index.

    python scripts/hashed_requirements.py
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
OUT = ROOT / "requirements" / "demo.txt"
PYTHONS = ("3.11", "3.12", "3.13")
PROCESSORS = ("x86_64", "aarch64")
TAGS = ("manylinux_2_28", "manylinux_2_27", "manylinux_2_24", "manylinux_2_17", "manylinux2014", "linux")
HEAD = """# What `make demo` installs, with the hashes of every wheel for Python {pythons} on Linux, {processors}.
# Made by scripts/hashed_requirements.py; pip checks it with --require-hashes. The parts have lists of their own (portrayal parts).
--only-binary :all:
"""


def wanted() -> list[str]:
    """Return what the package, its language extra and building it in place ask for."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    asked = [*project["project"]["dependencies"], *project["project"]["optional-dependencies"]["language"]]
    return [*asked, *project["build-system"]["requires"], "editables"]


def resolve(python: str, processor: str, held: dict[str, str]) -> dict[str, tuple[str, str]]:
    """Return version and hash of every package pip would install there."""
    with tempfile.TemporaryDirectory() as folder:
        constraints, report = Path(folder) / "constraints.txt", Path(folder) / "report.json"
        lines = [f"{name}=={version}" for name, version in held.items()]
        constraints.write_text("\n".join([(ROOT / "requirements" / "constraints.txt").read_text(), *lines]))
        platforms = [f"--platform={tag}_{processor}" for tag in TAGS]
        command = [
            sys.executable,
            "-m",
            "pip",
            "install",
            "--dry-run",
            "--ignore-installed",
            "--quiet",
            "--only-binary=:all:",
        ]
        command += [
            f"--python-version={python}",
            *platforms,
            f"--target={folder}/x",
            f"--report={report}",
            "-c",
            str(constraints),
        ]
        subprocess.run([*command, *wanted()], check=True)
        found = json.loads(report.read_text())["install"]
    return {
        one["metadata"]["name"].lower().replace("_", "-"): (
            one["metadata"]["version"],
            one["download_info"]["archive_info"]["hashes"]["sha256"],
        )
        for one in found
    }


def main() -> None:
    """Resolve for every target and write the file."""
    hashes: dict[str, set[str]] = {}
    versions: dict[str, str] = {}
    for python in PYTHONS:
        for processor in PROCESSORS:
            for name, (version, digest) in resolve(python, processor, versions).items():
                versions.setdefault(name, version)
                hashes.setdefault(name, set()).add(digest)
            sys.stderr.write(f"{python} {processor}: {len(versions)} packages\n")
    blocks = [
        f"{name}=={versions[name]}" + "".join(f" \\\n    --hash=sha256:{digest}" for digest in sorted(hashes[name]))
        for name in sorted(versions)
    ]
    head = HEAD.format(pythons=", ".join(PYTHONS), processors=" and ".join(PROCESSORS))
    OUT.write_text(head + "\n".join(blocks) + "\n")


if __name__ == "__main__":
    main()
