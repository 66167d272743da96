"""A page as a session: its files written, its commands run, in the page's order and in an empty folder."""

from __future__ import annotations

import doctest
import os
import subprocess
import sys
from pathlib import Path

from documentation.pages import ROOT, Block

MARK = "\x1e"  # between commands; no program of ours prints it
LINE = 'code=$?; printf "\\n%s%s\\n" "$MARK" "$code"; (exit "$code")'


def shell_folder(folder: Path) -> Path:
    """Return a folder with the commands that a page calls: this checkout's, whatever is installed."""
    folder.mkdir()
    for name, words in {"portrayal": "-m portrayal", "python3": ""}.items():
        (folder / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {words} "$@"\n')
        (folder / name).chmod(0o755)
    return folder


def environment(programs: Path) -> dict[str, str]:
    """Return the environment of a page's commands."""
    paths = [str(ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {
        **os.environ,
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join(paths),
        "PYTHONUNBUFFERED": "1",
        "MARK": MARK,
        "COLUMNS": "500",
    }


def exchanges(text: str) -> list[tuple[str, str]]:
    """Return each command of a console block with what the page says it prints."""
    found: list[tuple[str, str]] = []
    for line in text.splitlines(keepends=True):
        if line.startswith("$ "):
            found.append((line[2:].rstrip("\n"), ""))
        else:
            command, said = found[-1]
            found[-1] = (command, said + line)
    return found


def run_console(block: Block, folder: Path, programs: Path) -> None:
    """Run the commands of a block and hold what they print against the page; `...` stands for anything."""
    asked = exchanges(block.text)
    script = "\n".join(f"{command}\n{LINE}" for command, _ in asked)
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env=environment(programs),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
    )
    printed = done.stdout.split(f"\n{MARK}")
    codes = [0, *(int(part.partition("\n")[0]) for part in printed[1:])]
    for number, (command, said) in enumerate(asked):
        got = printed[number].partition("\n")[2] if number else printed[number]
        got = got if got.endswith("\n") or not got else got + "\n"
        assert matches(said, got), f"{block}: {command} printed\n{got}\nand the page says\n{said}"
        told = number + 1 < len(asked) and asked[number + 1][0] == "echo $?"
        assert codes[number + 1] == 0 or told, f"{block}: {command} ended with {codes[number + 1]}\n{got}"


def matches(said: str, got: str) -> bool:
    """Return whether an output is what a page says; a page without output allows any."""
    return not said or doctest.OutputChecker().check_output(said, got, doctest.ELLIPSIS)
