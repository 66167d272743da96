"""Settings of the search audit, under [search] in a study."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from portrayal.settings import Settings
from portrayal.text.languages import Languages

QUALITY = ("map", "ndcg_cut_100", "P_10")  # the columns of Table 3


class SearchSettings(Settings):
    """The search audit's own settings."""

    collection: str = Field(min_length=1)
    vectors: list[str] = Field(default_factory=lambda: ["glove"], min_length=1)  # that measure; never debiased
    languages: Languages = ["en"]  # of the vectors: texts in others are not measured
    pairs: list[tuple[str, str]] | None = None
    poles: tuple[str, str] = ("female", "male")  # positive, negative
    direction: Literal["component", "mean", "first"] = "component"
    discount: Literal["definition", "code", "none"] = "definition"
    cutoff: int | None = Field(None, ge=1)  # K; None: as many as there are relevant documents, else 100
    stop: str = "snowball"  # a list by name or as a file; gendered stop words are always kept
    inflected: bool = True  # leave out inflected forms of the query's words too
    mentions: dict[str, list[str]] | None = None
    names_percent: float = Field(0.02, ge=0)  # census names rarer than this are not counted as names
    bins: list[float] | None = Field(None, min_length=1)  # None: five bins of as many queries each
    compare: dict[str, list[str]] = Field(default_factory=dict)  # a system to its variants
    published: dict[str, str] = Field(default_factory=dict)  # a system to its row of Table 2: "w2v_add, regular"
    quality: list[str] = Field(default_factory=lambda: list(QUALITY))  # in trec_eval's or ir_measures' names
    top: int = Field(100, ge=1)  # results compared by Kendall's distance
    penalty: float = Field(0.0, ge=0, le=0.5)  # p of Fagin's K(p)
    validate_direction: bool = True  # dichotomies, toy and synthetic collections, parity
    variants: bool = True  # the specification curve

    @property
    def about_gender(self) -> bool:
        """True for the package's own gender direction, which the paper's checks are made for."""
        return self.pairs is None
