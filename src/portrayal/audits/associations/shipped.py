"""The studies that ship, and audits with their texts of audits.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from portrayal.reporting.words.sentences import Claim, say
from portrayal.study.audit import Audit, Basis, Evidence, basis_of, groups_by

FOLDER = Path(__file__).parent / "studies"
TEXTS: dict[str, dict[str, Any]] = tomllib.loads((Path(__file__).parent / "audits.toml").read_text(encoding="utf-8"))


def titled(name: str, **words: str) -> tuple[str, str]:
    """Return title and text of a chart or table."""
    title, text = TEXTS["shown"][name]
    return title.format(**words), text.format(**words)


def shipped_study(name: str) -> Path:
    """Return the path of a study that ships."""
    return FOLDER / name


def experiment(name: str, **parts: Any) -> Audit:
    """Return an experiment's audit: its texts, and the functions given."""
    texts = dict(TEXTS[name])
    claims = {measure: Claim(**own) for measure, own in texts.pop("claims").items()}
    axis, unit = texts.pop("groups")
    return Audit(
        stem="associations",
        findings=lambda measured, _: say(measured, claims),
        family=tuple(claims),
        groups=lambda evidence, _: groups_by(evidence.stimuli, [axis], unit),
        demo=(shipped_study(f"associations_{name}.toml"),),
        basis=lambda row, evidence, _: own_basis(row, evidence, axis),
        **texts,
        **parts,
    )


def own_basis(row: Mapping[str, Any], evidence: Evidence, axis: str) -> Basis:
    """Return the stimuli that a row names; a group without stimuli is one of answers."""
    if row["measure"] == "false_mention":  # counted where no emotion is shown
        row = {**row, "emotion": None}
    groups = set(evidence.stimuli[axis])
    factors = {name: axis for name in ("group", "versus") if row[name] in groups}
    return basis_of(
        row, factors | {name: name for name in ("emotion", "intensity", "occupation", "age") if name in row}
    )
