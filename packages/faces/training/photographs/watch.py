"""Timing of every hundredth step by stage, since a GPU works asynchronously."""

from __future__ import annotations

import time

import torch

EVERY = 100


class Watch:
    """Seconds by stage over the steps that were watched."""

    def __init__(self, device: str) -> None:
        self.device, self.on, self.steps, self.last = device, False, 0, 0.0
        self.seconds: dict[str, float] = {}

    def turn(self, step: int) -> None:
        """Start a step; time every hundredth, except for the first of a run."""
        self.on = step % EVERY == 1
        if self.on:
            self.steps, self.last = self.steps + 1, self._now()

    def __call__(self, stage: str) -> None:
        """End a stage."""
        if self.on:
            now = self._now()
            self.seconds[stage] = self.seconds.get(stage, 0.0) + now - self.last
            self.last = now

    def summary(self) -> str:
        """Return one line."""
        each = {stage: round(spent / max(1, self.steps), 4) for stage, spent in self.seconds.items()}
        return f"seconds a step, of {self.steps} watched: {each}"

    def _now(self) -> float:
        if self.device == "cuda":
            torch.cuda.synchronize()
        return time.perf_counter()
