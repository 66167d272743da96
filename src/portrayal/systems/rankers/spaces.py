"""The word vectors a ranker uses: a set by name or path, as it is or with the gender direction taken out.

They are apart from the vectors GSR is measured with, which are never changed.
"""

from __future__ import annotations

from pathlib import Path

from portrayal.text.debias import debias
from portrayal.text.direction import find_direction
from portrayal.text.lexicons import read_lexicon
from portrayal.text.space import WordSpace
from portrayal.text.vector_sets import open_vectors


def ranking_space(vectors: str = "glove", kind: str = "none", folder: Path | str = ".") -> WordSpace:
    """Return the vectors; `kind` is 'none', 'regular' (neutralise and equalise) or 'strong' (every word)."""
    space = open_vectors(vectors, folder)
    if kind == "none":
        return space
    pairs = list(read_lexicon("gender_pairs").iter_rows())
    direction = find_direction(space, pairs).vector
    specific = read_lexicon("gender_specific")["word"]
    equalize = list(read_lexicon("gender_equalize_pairs").iter_rows())
    return debias(space, direction, kind, specific, equalize)
