"""The model card, written from the model's own page (`model.json`): every number in it was printed by a command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ABOUT = """# Model card: the manipulator of faces

**What it is.** An encoder-decoder with adversarial latent critics (a Fader network) that changes one perceived cue of a
face, gender or race, and is asked to leave the rest. It adds the difference D(z, a) - D(z, a0) to the photograph inside a
feathered skin mask, so that at a = a0 the picture is exactly the original. Colours of an edit are bounded, dark pictures are
changed by less, and race is varied as an even tint of the skin only, led by the groups' mean skin colours in the training
photographs: left free, the network painted grins and lips. The latent code is rounded to -1, 0 and 1 after noise drawn from
the picture, so that little of the person's own gender can be read from it. Two ONNX files, {megabytes:.1f} MB, 128 pixels.

**What it is for.** Measuring how image classifiers respond to facial cues, on generated people or on adults who agreed.
Not for changing pictures of people who did not agree, not for telling anybody's gender or race, not for anything else.
It never changes age: the age input is clamped to adult values and no command varies it. Its own checks below did change held-out
photographs of the data set, in memory only: nothing of them is kept but numbers.
"""

TRAINED = """
**What it was trained on.** {train} aligned, frontal faces of adults: {source}. Faces labelled under 20 were left out, and
faces the age reader put under 20. {held} faces were held out by seed {split_seed} and never trained on; another {choose} were kept
for choosing settings{then}.

**How.** {steps} steps of {batch} faces, seed {seed}, in {runs} run(s) of `python -m training train` on one {device} in {precision},
{seconds:.0f} seconds in all (longest run {longest:.0f}): {images_per_second:.0f} images a second, {tflops:.0f} TFLOP/s,
{peak_share:.1%} of the {peak_tflops:.0f} TFLOP/s that an H200's data sheet gives for dense bf16.
"""

CHECKED = """
**Checks on {part} faces** ({date}, {used} faces that look straight ahead, read by networks that had no part in training):

| check | cue | value | 95% interval | needs | |
|---|---|---|---|---|---|
{rows}

Left out of the checks: {left_out}.
P(female) by the independent reader at the seven values from -2 to 2: {female}.
Perceived age in years at the same values: {age}.
"""

PARTS = {"held": "held-out", "choose": "the choosing"}
UNCHECKED = (
    "\n**Checks on held-out faces.** Not done yet: `python -m training evaluate` does them. Believe no result before.\n"
)
ABLATED = "The same held-out faces, in another condition:"
UNWRITTEN = "Nobody has written this down yet. Look at the contact sheets and the checks."


def write_card(model: Path) -> Path:
    """Write CARD.md beside a model from its page; returns its path."""
    about: dict[str, Any] = json.loads((model / "model.json").read_text(encoding="utf-8"))
    size = sum(path.stat().st_size for path in model.glob("*.onnx")) / 1e6
    parts = [ABOUT.format(megabytes=size), _trained(about), _checked(about), _beside(about)]
    parts += [f"\n**{head}** {text}\n" for head, text in _told(about).items()]
    (model / "CARD.md").write_text("".join(parts), encoding="utf-8")
    return model / "CARD.md"


def _trained(about: dict[str, Any]) -> str:
    training = about.get("training")
    if not training:
        return ""
    runs = training["runs"]
    then = "" if training.get("choosing") else " and then trained on too"
    longest = max((run["seconds"] for run in runs), default=0.0)
    told = {"precision": "bf16", **training}  # pages that do not say it were all of trainings in bf16
    return TRAINED.format(**{**told, "runs": len(runs), "longest": longest, "then": then})


def _checked(about: dict[str, Any]) -> str:
    checks = about.get("checks")
    if not checks:
        return UNCHECKED
    steps, left_out = checks["steps"], dict(checks["left_out"])
    used = left_out.pop("used", 0)
    return CHECKED.format(
        date=checks["date"], used=used, part=PARTS[checks["part"]],
        rows="\n".join(_line(row) for row in checks["rows"]),
        left_out=", ".join(f"{count} {reason}" for reason, count in left_out.items()) or "none",
        female=_numbers(steps["gender"]["female"]), age=_numbers(steps["gender"]["age"], 1),
    )  # fmt: skip


def _beside(about: dict[str, Any]) -> str:
    """Put the ablations through the same checks beside it, and the drawn faces with a known counterfactual."""
    found = about.get("ablations", {})
    lines = [f"\n**Ablations, through the same checks.** {ABLATED}"] if found else []
    lines += [f"- {name}: {_summary(checks)}" for name, checks in found.items()]
    for name, drawn in about.get("drawn", {}).items():
        lines.append(_drawn(name, drawn))
    return "\n".join([*lines, ""]) if lines else ""


def _summary(checks: dict[str, Any]) -> str:
    """Say in one line what an ablation did."""
    values = {row["check"]: row["value"] for row in checks["rows"] if row["attribute"] == "gender"}

    def told(check: str, form: str) -> str:
        return "not done" if values.get(check) is None else format(values[check], form)

    return (
        f"perceived gender moves by {told('perceived gender moves', '.2f')}, {told('perceived gender is monotone', '.0%')} of "
        f"{checks['left_out'].get('used', 0)} faces are monotone, perceived age moves by {told('perceived age stays', '+.1f')} years, "
        f"identity stays for {told('identity stays', '.0%')}, the probe reads "
        f"{told('latent code says little of gender', '.1f')} points above chance."
    )


def _drawn(name: str, drawn: dict[str, Any]) -> str:
    return (
        f"\n**On drawn faces, where the true counterfactual is known** ({name}, {drawn['people']} people never trained on, inside "
        f"the mask): {drawn['psnr']:.1f} dB against the truth (sd {drawn['psnr_sd']:.1f}); changing nothing gives "
        f"{drawn['nothing']:.1f} dB (sd {drawn['nothing_sd']:.1f}); nearer than nothing for {drawn['nearer']:.0%}."
    )


def _told(about: dict[str, Any]) -> dict[str, str]:
    """What people wrote about the model: kept in its page, since no command can print it."""
    told = {"What was chosen by looking.": about.get("chosen"), "Where it fails.": about.get("fails", UNWRITTEN)}
    return {head: text for head, text in told.items() if text}


def _line(row: dict[str, Any]) -> str:
    verdict = {True: "passed", False: "**missed**", None: "not judged"}[row["passed"]]
    if row["value"] is None:
        return f"| {row['check']} | {row['attribute']} | not done | | {row['needs']} | {row['note']} |"
    ends = f"{row['low']:.3g} to {row['high']:.3g}"
    what = f"{row['check']} ({row['unit']}, n = {row['n']})"
    told = f"{verdict}; {row['note']}" if row["note"] else verdict
    return f"| {what} | {row['attribute']} | {row['value']:.3g} | {ends} | {row['needs']} | {told} |"


def _numbers(values: list[float], digits: int = 2) -> str:
    return ", ".join(f"{value:.{digits}f}" for value in values)
