"""CLIP's tokens against known ids and against transformers' tokenizer."""

import gzip
import hashlib
import json

import numpy as np
import pytest

from portrayal.errors import PortrayalError
from portrayal.systems.encoders import sentences
from portrayal.systems.encoders.clip_tokens import END, START, VOCABULARY, folder_tokens, read_merges, standard_tokens

TRICKY = [
    "a photo of a person",
    "An  ANGRY human-being!!",
    "don't they're we've",
    "naïve café, 東京 42 times",
    "emoji 🙂 and\ttabs\nlines",
    "person to be intimate with",
    "x" * 60,
    "",
]


@pytest.fixture(scope="module")
def tokens():
    return standard_tokens()


def test_known_ids(tokens):
    # The ids OpenAI's CLIP gives "a photo of a cat" (context start 49406, end 49407).
    ids, ends = tokens.encode(["a photo of a cat", "cat"])
    assert ids[0].tolist() == [49406, 320, 1125, 539, 320, 2368, 49407]
    assert ids[1].tolist() == [49406, 2368, 49407, 0, 0, 0, 0]
    assert ends.tolist() == [6, 2]


def test_equal_to_transformers(tokens, tmp_path):
    transformers = pytest.importorskip("transformers", reason="the reference: pip install 'portrayal-audit[torch]'")
    vocabulary, merges = read_merges(VOCABULARY)
    assert len(vocabulary) == 49408
    theirs = transformers.CLIPTokenizer(vocab=vocabulary, merges=merges)
    for text in TRICKY:
        ids, _ = tokens.encode([text])
        assert ids[0].tolist() == theirs(text)["input_ids"]
    (tmp_path / "vocab.json").write_text(json.dumps(vocabulary))
    (tmp_path / "merges.txt").write_text("#version: 0.2\n" + "\n".join(" ".join(pair) for pair in merges))
    theirs.save_pretrained(tmp_path / "saved")
    for folder in (tmp_path, tmp_path / "saved"):
        assert np.array_equal(folder_tokens(folder).encode(TRICKY)[0], tokens.encode(TRICKY)[0])


def test_too_long_is_an_error(tokens):
    with pytest.raises(PortrayalError, match="reads 77"):
        tokens.encode(["person " * 80])


def test_another_tokenizer_is_refused(tmp_path):
    from tokenizers import Tokenizer, models

    Tokenizer(models.BPE(vocab={"a": 0}, merges=[])).save(str(tmp_path / "tokenizer.json"))
    with pytest.raises(PortrayalError, match="has no"):
        folder_tokens(tmp_path)
    assert START != END


# SHA-256 of the first 48,895 lines of bpe_simple_vocab_16e6.txt (openai/CLIP), and of tokenizer.json of
# sentence-transformers/all-MiniLM-L6-v2.
@pytest.mark.parametrize(
    ("path", "digest"),
    [
        (VOCABULARY, "685491abbdad36159d094ecdc23bebc0dd53f8d1df35c4d74ef6036db2ba7572"),
        (sentences.TOKENIZER, "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"),
    ],
)
def test_what_ships_is_what_was_published(path, digest):
    assert hashlib.sha256(gzip.decompress(path.read_bytes())).hexdigest() == digest


def test_the_sentence_encoders_word_pieces():
    # BERT, uncased: [CLS] 101, hello 7592, world 2088, [SEP] 102 (Devlin et al. 2019, vocab.txt).
    tokenizer = sentences.read_tokenizer(sentences.TOKENIZER)
    tokenizer.no_padding()
    assert tokenizer.encode("Hello world").ids == [101, 7592, 2088, 102]
