"""Stems, against NLTK's Porter stemmer, and an index of stems."""

from __future__ import annotations

import builtins
from pathlib import Path

import pytest
from nltk.stem.porter import PorterStemmer

from portrayal.errors import PortrayalError
from portrayal_rankers.index import build_index, load_index, save_index, stemmed, stems

TEXTS = {
    "d0": "Nurses nursing a nurse, relational hospitals",
    "d1": "the hospital was hopping; flies agreed upon",
    "d2": "doing generalizations, electricity, electrical conflated happily",
}


def test_porter_s_stems_are_those_of_nltk() -> None:
    words = sorted({word.strip(",;").lower() for text in TEXTS.values() for word in text.split()})
    other = PorterStemmer(mode=PorterStemmer.ORIGINAL_ALGORITHM)
    long = [word for word in words if len(word) > 2]  # Porter leaves shorter words alone, NLTK's original mode does not
    assert stems(long, "porter") == [other.stem(word) for word in long]
    assert stems(["Nurses"], "none") == ["Nurses"]


def test_words_of_one_stem_are_counted_as_one() -> None:
    index = stemmed(build_index(TEXTS.items()), "porter")
    nurse, hospital = (index.numbers[stem] for stem in ("nurs", "hospit"))
    # nurses, nursing, nurse in d0; hospitals in d0 and hospital in d1
    assert (index.frequencies[nurse], index.totals[nurse]) == (1, 3)
    assert index.matrix[:, [hospital]].toarray().ravel().tolist() == [1, 1, 0]
    assert index.lengths.tolist() == build_index(TEXTS.items()).lengths.tolist()
    ids, counts = index.encode("the nurses and a nurse")
    assert (ids.tolist(), counts.tolist()) == ([nurse], [2])


def test_a_stem_that_looks_like_a_stop_word_is_found() -> None:
    # "doing" is no stop word of Lucene's list; its stem "do" is none either, but "was" stems to "wa" and "this" to "thi"
    index = stemmed(build_index(TEXTS.items(), stop=("do", "the")), "porter")
    ids, _ = index.encode("doing do")
    assert [index.words[number] for number in ids] == ["do"]
    assert index.matrix[:, ids].toarray().ravel().tolist() == [0, 0, 1]


def test_a_kept_index_knows_its_stemmer(tmp_path: Path) -> None:
    index = stemmed(build_index(TEXTS.items()), "english")
    save_index(index, tmp_path / "kept")
    opened = load_index(tmp_path / "kept")
    assert opened.stem == "english"
    assert opened.encode("nurses")[0].tolist() == index.encode("nurses")[0].tolist()


def test_without_the_package_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def missing(name: str, *more: object) -> object:
        if name == "snowballstemmer":
            raise ImportError(name)
        return real(name, *more)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(
        PortrayalError, match=r"the stemmer 'porter' needs an extra .* pip install 'portrayal-audit\[stem\]'"
    ):
        stems(["nurses"], "porter")
    with pytest.raises(PortrayalError, match="no stemmer 'portr'. Did you mean 'porter'"):
        stems(["nurses"], "portr")
