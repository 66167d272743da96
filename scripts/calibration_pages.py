"""Run every calibration and write its figures into the documentation: `python scripts/calibration_pages.py`.

The block between the two comments of `docs/STEM_calibration.md` is replaced, so that no figure there is typed by hand.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from portrayal.errors import PortrayalError
from portrayal.flow import calibrate
from portrayal.study.calibration import CALIBRATIONS, Calibration

BEGIN = "<!-- calibration:begin -->"
END = "<!-- calibration:end -->"
SEED = 0  # never changed


PARTS = {"experiments": "associations_experiments"}  # instruments whose page is among those of an audit
MOST = 33 / 400  # of the research questions of one shape that may have a finding where there is none
MOST_OVERALL = 0.055


def markdown(calibration: Calibration) -> str:
    """Return the headline figures, the worst rows, whole audits by shape, and one table row per condition."""
    head = (
        f"{calibration.runs:,} runs a condition, seed {calibration.seed}. False alarms at 5%: "
        f"{_share(calibration.false_alarm)}; power: {_share(calibration.power)}; coverage of 95% intervals: "
        f"{_share(calibration.coverage)}."
    )
    parts = [head, *_worst(calibration), *_nulls(calibration.nulls), *_plans(calibration.plans)]
    return "\n\n".join([*parts, _table(calibration.conditions)] if calibration.conditions else parts)


def _worst(calibration: Calibration) -> list[str]:
    """Name the worst conditions: the headline alone would hide them."""
    said = []
    for name, words, pick in (("false_alarm", "Most false alarms", max), ("coverage", "Least coverage", min)):
        rows = [row for row in calibration.conditions if isinstance(row.get(name), float)]
        if rows:
            row = pick(rows, key=lambda one: one[name])
            about = ", ".join(f"{key} {_cell(item)}" for key, item in row.items() if isinstance(item, str | int))
            said.append(f"{words} of any condition: {_share(row[name])} ({about}).")
    return [" ".join(said)] if said else []


def _nulls(cells: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return whole audits of two systems without an effect, and how many print a sentence that something was found."""
    if not cells:
        return ["No whole audits were simulated for this instrument."]
    worst = max(cells, key=lambda cell: cell["share"])
    head = (
        f"Whole audits of two systems without an effect, through the reading path, counted in printed sentences; the worst shape is"
        f" {worst['shape']}: {worst['found']} of {worst['questions']} research questions of a system have a finding."
    )
    return [head, _table(cells)]


def _plans(cells: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return how often a planted effect is found, beside the power that `portrayal plan` states."""
    if not cells:
        return []
    held = sum(cell["low"] <= cell["stated"] <= cell["high"] for cell in cells)
    head = (
        "Whole audits with an effect in one of the two systems: `stated` is the power that `portrayal plan` gives, `low` and `high`"
        f" the 95% interval of the share that find it. The stated power lies within it in {held} of {len(cells)} shapes."
    )
    return [head, _table(cells)]


def exceeding(cells: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return what is wrong with the share of null audits that print a finding; nothing when all is well."""
    said = [f"{cell['shape']}: {cell['found']} of {cell['questions']}" for cell in cells if cell["share"] > MOST]
    overall = sum(cell["found"] for cell in cells) / max(sum(cell["questions"] for cell in cells), 1)
    return [*said, *([f"over all shapes {_share(overall)}"] if overall > MOST_OVERALL else [])]


def page_of(docs: Path, stem: str) -> Path:
    """Return the page that shows the figures of an instrument: its page of calibration, else its own."""
    page = docs / f"{PARTS.get(stem, stem)}_calibration.md"
    return page if page.is_file() else docs / f"{stem}.md"


def rewrite(page: Path, block: str) -> None:
    """Replace what stands between the two comments of a page.

    Raises
    ------
    PortrayalError
        When the page or one of the comments is missing.
    """
    before, after = _around(page)
    page.write_text(f"{before}{BEGIN}\n\n{block}\n\n{END}{after}", encoding="utf-8")


def _around(page: Path) -> tuple[str, str]:
    """Return what stands before and after the block."""
    if not page.is_file():
        raise PortrayalError(f"no page {page}. Run this in a source checkout, where docs/ is.")
    before, begin, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise PortrayalError(f"{page} lacks the lines {BEGIN} and {END}. Put them where the figures go.")
    return before, after


def main(arguments: Sequence[str] | None = None) -> int:
    """Calibrate the stems named (all by default) and rewrite their pages."""
    parser = argparse.ArgumentParser(prog="calibration_pages.py", description=__doc__)
    parser.add_argument("--runs", type=int, default=1000, help="runs a condition")
    parser.add_argument("--stem", action="append", choices=list(CALIBRATIONS), help="one stem; may be repeated")
    parser.add_argument("--docs", type=Path, default=Path("docs"), help="where the pages are")
    options = parser.parse_args(arguments)
    try:
        stems = options.stem or list(CALIBRATIONS)
        for stem in stems:  # before hours of runs
            _around(page_of(options.docs, stem))
        cells = [cell for stem in stems for cell in _refresh(stem, options.runs, options.docs)]
    except PortrayalError as error:
        print(error, file=sys.stderr)
        return 2
    wrong = exceeding(cells)
    for line in wrong:
        print(f"too many null audits print a finding: {line}", file=sys.stderr)
    return 1 if wrong else 0


def _refresh(stem: str, runs: int, docs: Path) -> Sequence[Mapping[str, Any]]:
    start = time.monotonic()
    calibration = calibrate(stem, runs, SEED)
    rewrite(page := page_of(docs, stem), markdown(calibration))
    print(f"{page}: {time.monotonic() - start:.0f} s", file=sys.stderr)
    return [{**cell, "shape": f"{stem}, {cell['shape']}"} for cell in calibration.nulls]


def _table(conditions: Sequence[Mapping[str, Any]]) -> str:
    columns = list(dict.fromkeys(key for row in conditions for key in row))
    lines = [columns, ["---"] * len(columns), *([_cell(row.get(key)) for key in columns] for row in conditions)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    text = f"{value:.3f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
    return text.replace("|", "\\|")


def _share(value: float) -> str:
    return f"{100 * value:.1f}%"


if __name__ == "__main__":
    raise SystemExit(main())
