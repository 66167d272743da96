"""A model on drawn people, where the true counterfactual is known: how near it comes, and how near doing nothing comes."""

from __future__ import annotations

from typing import Any

import numpy as np

from training.attributes import vary
from training.manipulator import Manipulator
from training.render import counterfactual, draw_person, render, rendered_psnr
from training.skin import oval
from training.temper import tempered

PEOPLE = 200
SEED = 1_000_003  # of people who are in no packed file: `pack_rendered` draws with small seeds


def drawn_psnr(manipulator: Manipulator, seed: int = SEED) -> dict[str, Any]:
    """Move drawn people to the other gender pole and hold the result against the renderer's own.

    Returns
    -------
    dict
        people, psnr and nothing (mean decibels inside the mask, with sd), nearer (share where the model beats nothing).
    """
    rng = np.random.default_rng(seed)
    mask = oval()
    pairs = np.array([_pair(manipulator, draw_person(rng), mask) for _ in range(PEOPLE)])
    made, nothing = pairs.T
    return {
        "people": PEOPLE, "psnr": float(made.mean()), "psnr_sd": float(made.std(ddof=1)),
        "nothing": float(nothing.mean()), "nothing_sd": float(nothing.std(ddof=1)), "nearer": float((made > nothing).mean()),
    }  # fmt: skip


def _pair(manipulator: Manipulator, person: Any, mask: np.ndarray) -> tuple[float, float]:
    """Return the two PSNRs of one person."""
    pole = -1.0 if person.masculinity > 0 else 1.0
    face, truth = render(person), render(counterfactual(person, pole))
    code, start = manipulator.encode(face)
    edit = tempered(manipulator.edits(code, start, vary(start, "gender", [pole])), face)[0]
    made = np.clip(np.rint(face + mask[:, :, None] * edit), 0, 255)
    return rendered_psnr(made, truth, mask), rendered_psnr(face, truth, mask)
