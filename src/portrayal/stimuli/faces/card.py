"""The model card, written from the model's own page (`model.json`): every number in it was printed by a command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

TEXT = """# Model card: the manipulator of faces

**What it is.** An encoder-decoder with adversarial latent critics (a Fader network) that changes one perceived cue of a
face, gender or race, and is asked to leave the rest. It adds the difference D(z, a) - D(z, a0) to the photograph inside a
feathered skin mask, so that at a = a0 the picture is exactly the original. Two ONNX files, {megabytes:.1f} MB, 128 pixels.

**What it is for.** Measuring how image classifiers respond to facial cues, on generated people or on adults who agreed.
Not for changing pictures of people who did not agree, not for telling anybody's gender or race, not for anything else.
It never changes age: the age input is clamped to adult values and no command varies it.

**What it was trained on.** {train} aligned, frontal faces of adults from FairFace (Karkkainen, Joo 2021, CC BY 4.0; its
validation part, labels are annotators' perceptions). Faces labelled under 20 were left out, and faces the age reader put under
20. {held} faces were held out by seed {seed} and never trained on. Gender, age and race were given to every decoder layer.

**How.** {steps} steps of {batch} faces in {seconds:.0f} seconds on one NVIDIA H200 in bf16, seed {seed}:
{images:.0f} images a second over the run (two smaller trainings ran on the same device for its first two minutes),
{tflops:.0f} TFLOP/s, {share:.1%} of the data sheet's 989 TFLOP/s in dense bf16. Made with `portrayal faces train`.

**Checks on held-out faces** ({date}, {used} faces that look straight ahead, read by networks that had no part in training):

| check | cue | value | 95% interval | needs | |
|---|---|---|---|---|---|
{checks}

P(female) by the independent reader at the seven values from -2 to 2: {female}.
Perceived age in years at the same values: {age}.
{extra}
**Where it fails.** {fails}
"""

FAILS = (
    "Beyond -1 and 1 colours run: bluish eyelids and reddish cheeks at -2, a yellow or red nose and forehead at +2. Beards are "
    "brightened, not removed. Glasses, fringes and faces that look down are edited through. Dark and badly lit faces get red "
    "or blue spots. Hair is outside the mask and keeps what it says. There is no trusted reader of race, so the race axis is "
    "checked by lightness, age and perceived gender only, and it is weak: skin lightness moves by a few levels of 255. The "
    "grid of the code and the erasure were chosen after a first probe on the same held-out faces had read too much. Few faces "
    "over 60 were in training. It learnt from what annotators perceived, two genders and seven races, and knows nothing else."
)


def write_card(model: Path) -> Path:
    """Write CARD.md beside a model from its page; returns its path."""
    about: dict[str, Any] = json.loads((model / "model.json").read_text(encoding="utf-8"))
    size = sum(path.stat().st_size for path in model.glob("*.onnx")) / 1e6
    checks, training = about["checks"], about["training"]
    text = TEXT.format(
        megabytes=size, **training, date=checks["date"], used=checks["left_out"].get("used", 0),
        checks="\n".join(_line(row) for row in checks["rows"]), female=_numbers(checks["steps"]["gender"]["female"]),
        age=_numbers(checks["steps"]["gender"]["age"], 1), fails=FAILS, extra=_extra(about),
    )  # fmt: skip
    (model / "CARD.md").write_text(text, encoding="utf-8")
    return model / "CARD.md"


def _line(row: dict[str, Any]) -> str:
    verdict = {True: "passed", False: "**missed**", None: "not judged"}[row["passed"]]
    if row["value"] is None:
        return f"| {row['check']} | {row['attribute']} | not done | | {row['needs']} | {row['note']} |"
    ends = f"{row['low']:.3g} to {row['high']:.3g}"
    what = f"{row['check']} ({row['unit']}, n = {row['n']})"
    return f"| {what} | {row['attribute']} | {row['value']:.3g} | {ends} | {row['needs']} | {verdict} |"


def _extra(about: dict[str, Any]) -> str:
    """Say what the ablations and the drawn faces showed, where they were done."""
    lines = []
    named = {
        "before_rounding": "Before the code was rounded and erased",
        "without_mask": "Without the skin mask (before rounding)",
        "plain": "A plain Fader network without controls",
    }
    for name, words in named.items():
        if found := about.get("ablations", {}).get(name):
            lines.append(f"{words}: {found}.")
    if drawn := about.get("rendered"):
        lines.append(f"On drawn faces with a known counterfactual: {drawn}.")
    return "\n".join(["", *lines, ""]) if lines else ""


def _numbers(values: list[float], digits: int = 2) -> str:
    return ", ".join(f"{value:.{digits}f}" for value in values)
