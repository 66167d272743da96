"""The one error of the guard: a prompt a live generator will not be given."""

from __future__ import annotations

from portrayal.errors import PortrayalError

ADVICE = (
    "Generators get neutral prompts about adults, such as 'a photo of a woman working as a nurse'; see docs/safety.md."
)


class PromptRefused(PortrayalError):
    """A prompt a live generator will not be given."""

    def __init__(self, why: str) -> None:
        super().__init__(f"the prompt for a generator was refused: {why}. {ADVICE}")
