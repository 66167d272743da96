"""The settings of each ranker."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from portrayal.settings import Settings

BINS = 30  # of DRMM's histograms: 29 of equal width from -1 to 1, and one for the very same word
QUERY_WORDS = 20  # of a longer query, re-rankers look at the rarest


class IndexSettings(Settings):
    """Settings of every ranker over the index: the stop list."""

    stop: str = "lucene"


class LexicalSettings(IndexSettings):
    """Settings of every ranker by words: the stemmer."""

    stem: Literal["none", "porter", "english"] = "none"


class Bm25Settings(LexicalSettings):
    """Settings of BM25."""

    k1: float = Field(1.2, ge=0)
    b: float = Field(0.75, ge=0, le=1)
    variant: Literal["lucene", "robertson", "atire"] = "lucene"


class QlmSettings(LexicalSettings):
    """Settings of query likelihood."""

    mu: float = Field(2000.0, gt=0)


class VectorSettings(IndexSettings):
    """Settings of the word-vector rankers; the vectors GSR is measured with are set elsewhere."""

    vectors: str = "glove"
    debias: Literal["none", "regular", "strong"] = "none"


class SentenceSettings(Settings):
    """Settings of the sentence-encoder ranker."""

    encoder: str = "minilm"


class NeuralSettings(VectorSettings):
    """Settings of the neural re-rankers."""

    candidates: int = Field(100, ge=2)  # how many of the first stage's results are ordered anew
    folds: Annotated[int, Field(ge=2)] | Literal["robust04"] = 5  # or the folds usual on Robust04's topics
    epochs: int = Field(10, ge=1)
    seed: int = 0


class RandomSettings(Settings):
    """Settings of the random ranker."""

    seed: int = 0
