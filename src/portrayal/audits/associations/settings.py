"""The settings of an associations study."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, model_validator

from portrayal.audits.associations.picture_sets import PictureSet
from portrayal.settings import Settings

SetName = Literal["x", "y", "a", "b"]
Variant = Literal["prompts", "article", "words"]  # what a researcher could have chosen otherwise


class OwnTest(Settings):
    """A test of the study's own: `[[associations.test]]`.

    A set is a list of stimuli, a list that ships ('weat:flowers'), a file (.csv and .parquet with a column `content`, .txt with one
    stimulus a line), or pictures by their factors. `base` takes what is left out from a test that ships.
    """

    name: str = Field(min_length=1)
    base: str | None = None
    x: list[str] | str | PictureSet | None = None
    y: list[str] | str | PictureSet | None = None  # left out (and in no base): the single-category test
    a: list[str] | str | PictureSet | None = None
    b: list[str] | str | PictureSet | None = None
    x_name: str | None = None
    y_name: str | None = None
    a_name: str | None = None
    b_name: str | None = None
    kind: Literal["text", "image"] = "text"  # of the targets
    attribute_kind: Literal["text", "image"] = "text"  # both "image" make an image-image test
    cluster: str | None = None  # the column of the targets' files that says who is shown
    x_cluster: list[str] | None = None  # or one id per target
    y_cluster: list[str] | None = None
    harm: str | None = None
    templates: str | list[str] | None = None


class AssociationsSettings(Settings):
    """`[associations]` in a study file."""

    tests: list[str] = []  # tests that ship: weat1 to weat10
    test: list[OwnTest] = []
    templates: str | list[str] | None = None  # None: as each test has it; 'none', 'paper' or templates
    template_sets: list[SetName] = ["a", "b"]
    procedure: Literal["portrayal", "wolfe2023"] = "portrayal"  # or the paper's articles, and its p beside ours
    article: Literal["right", "literal", "authors"] = "right"
    alternative: Literal["greater", "less", "two-sided"] = "greater"
    permutations: int | None = Field(default=None, ge=99)
    ddof: Literal[0, 1] = 1
    variants: list[Variant] = ["prompts", "article", "words"]
    unpaired: bool = True  # where people repeat, the paper's unpaired test beside the one by person
    too_few: Literal["error", "report"] = "error"

    @model_validator(mode="before")
    @classmethod
    def _authors_articles(cls, data: Any) -> Any:
        """The paper's procedure has the authors' articles, unless the study names others."""
        paper = isinstance(data, dict) and data.get("procedure") == "wolfe2023"
        return {"article": "authors", **data} if paper else data
