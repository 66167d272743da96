"""Tags and dependencies of many captions, by the weights of spaCy's pipeline and the same as spaCy's own.

spaCy visits every word of every caption in turn; here the numbers of a batch are worked out together, each distinct run
of words once. Sums are added up in another order, so that two moves that are nearly equal could change places: a
caption in which the best two were ever closer than `CLOSE` is not answered here, and is left to spaCy. The moves are those of
spaCy's arc-eager system [1]_: shift a word onto the stack, reduce it, join it to the next word on the left or on the right, or
break the sentence. The states of all captions lie in arrays, and a step costs a few dozen array operations for all of them.

References
----------
.. [1] Honnibal, Johnson (2015), An improved non-monotonic transition system for dependency parsing, EMNLP.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from portrayal.text.captions.phrase_vectors import Floats, Numbers, PhraseVectors

CLOSE = np.float32(1e-3)  # sums in another order differ by some 0.00001
TOGETHER = 512  # captions parsed at a time
# What the parts of a pipeline are, in thinc's words.
PARTS = ("tok2vec", "tagger", "parser")
AFTERWARDS = ("attribute_ruler", "lemmatizer")
BLOCK = "residual(expand_window>>maxout>>layernorm>>dropout)"
TAGGER = "tok2vec-listener>>with_array(softmax)"
NARROW = "tok2vec-listener>>list2array>>linear"
ROOT = "ROOT"
MOVED = "||"  # in a label: the word belongs to another one, which spaCy looks for afterwards

Flags = NDArray[np.bool_]

KINDS = "SDLRB"  # what spaCy calls the moves, by their first letter
SHIFT, REDUCE, LEFT, RIGHT, BREAK = range(len(KINDS))
BOTTOM = 3  # places below the stack that hold no word, so that one may look three words down


class Parse(NamedTuple):
    """What a parser says of the words of a caption: tags, dependencies, and how far away each word's head is."""

    tags: Sequence[str]
    dependencies: Sequence[str]
    heads: Sequence[int]


def can_read(pipeline: Any) -> bool:
    """Say whether a pipeline is built as `QuickParser` reads it: as spaCy's small English pipeline is."""
    if [name for name in pipeline.pipe_names if name not in AFTERWARDS] != list(PARTS):
        return False
    encoder, tagger, parser = (pipeline.get_pipe(name) for name in PARTS)
    return _reads_encoder(encoder.model) and tagger.model.name == TAGGER and _reads_parser(parser)


def _reads_encoder(model: Any) -> bool:
    if model.ops.name != "numpy" or len(model.layers) != 2:
        return False
    blocks = model.layers[1].layers[0].layers
    windows = [layer.attrs["window_size"] for layer in model.walk() if layer.name == "expand_window"]
    return [block.name for block in blocks] == [BLOCK] * len(windows) and set(windows) == {1}


def _reads_parser(parser: Any) -> bool:
    model = parser.model
    if parser.cfg["beam_width"] != 1 or not model.attrs["has_upper"] or model.attrs["unseen_classes"]:
        return False
    lower = model.get_ref("lower")
    looks = (lower.get_dim("nF"), lower.get_dim("nP")) == (8, 2)
    return looks and model.layers[0].name == NARROW and not any("subtok" in name for name in parser.move_names)


class QuickParser:
    """A pipeline's tagger and parser."""

    def __init__(self, pipeline: Any) -> None:
        encoder, tagger, parser = (pipeline.get_pipe(name) for name in PARTS)
        self._vectors = PhraseVectors(encoder.model, pipeline.vocab)
        self._tagger = _Linear(tagger.model.get_ref("softmax"))
        self._tags = np.array(tagger.labels, object)
        self._scorer = _Scorer(parser.model)
        names = list(parser.move_names)
        self._kinds = np.array([KINDS.index(name[0]) for name in names])
        self._labels = np.array([*(name[2:] for name in names), ROOT], object)  # the last: no move gave it a head
        self._moved = np.array([MOVED in name for name in (*names, ROOT)])
        self._not_allowed = _not_allowed(self._kinds)

    def __call__(self, texts: Sequence[Sequence[str]]) -> list[Parse | None]:
        """Return the parse of each text, given as its words; None where spaCy has to be asked."""
        if not any(texts):
            return [Parse((), (), ())] * len(texts)
        vectors, which = self._vectors(texts)
        tags, close = _best(self._tagger(vectors))
        lengths = [len(text) for text in texts]
        found: list[Parse | None] = []
        start = 0
        for first in range(0, len(texts), TOGETHER):
            some = lengths[first : first + TOGETHER]
            part = which[start : start + sum(some)]
            found += self._together(vectors, part, some, self._tags[tags[part]], close[part])
            start += len(part)
        return found

    def _together(
        self, vectors: Floats, which: Numbers, lengths: list[int], tags: NDArray[np.object_], close: Flags
    ) -> list[Parse | None]:
        """Parse captions whose words have these vectors and tags, some of the tags in doubt."""
        states, doubtful = self._moves(vectors, which, lengths)
        words = np.arange(states.none) < states.lengths[:, None]
        doubtful[np.nonzero(words)[0][close]] = True
        moves = states.moves[:, :-1][words]
        doubtful[np.nonzero(words)[0][self._moved[moves]]] = True
        heads, places = states.heads[:, :-1][words], np.nonzero(words)[1]
        offsets = np.where(heads < 0, 0, heads - places).tolist()
        labels, tagged = self._labels[moves].tolist(), tags.tolist()
        found: list[Parse | None] = []
        end = 0
        for length, unsure in zip(lengths, doubtful.tolist(), strict=True):
            start, end = end, end + length
            found.append(None if unsure else Parse(tagged[start:end], labels[start:end], offsets[start:end]))
        return found

    def _moves(self, vectors: Floats, which: Numbers, lengths: list[int]) -> tuple[States, Flags]:
        """Make moves until every caption is parsed; say in which of them any was a close decision."""
        states = States(lengths)
        distinct, numbers = np.unique(which, return_inverse=True)
        score = self._scorer.prepared(vectors[distinct])
        # The row of a word in what was prepared; the first is for no word.
        rows = np.zeros((len(lengths), states.none + 1), np.int64)
        rows[:, :-1][np.arange(states.none) < states.lengths[:, None]] = numbers + 1
        doubtful = np.zeros(len(lengths), bool)
        while len(states.open):
            looked = states.look()
            scores = score(rows[states.open, words] for words in looked)
            scores += self._not_allowed[states.allowed(*looked[:2])]
            best, close = _best(scores)
            doubtful[states.open[close]] = True
            states.move(self._kinds[best], best, *looked[:3])
        return states, doubtful


class _Linear:
    """A linear layer."""

    def __init__(self, model: Any) -> None:
        self._weights, self._bias = np.ascontiguousarray(model.get_param("W").T), model.get_param("b")

    def __call__(self, rows: Floats) -> Floats:
        return rows @ self._weights + self._bias


class _Scorer:
    """How good each move is, by the words that a state looks at."""

    def __init__(self, model: Any) -> None:
        lower = model.get_ref("lower")
        weights = lower.get_param("W")  # places looked at, outputs, pieces, inputs
        pieces = weights.transpose(0, 3, 2, 1)  # all outputs of one piece beside each other
        self._narrow = _Linear(model.get_ref("tok2vec").layers[-1])
        self._weights = np.ascontiguousarray(pieces.reshape(*pieces.shape[:2], -1))
        self._none = lower.get_param("pad")[0].transpose(0, 2, 1).reshape(len(weights), -1)
        self._bias = lower.get_param("b").T.reshape(-1)
        self._width = weights.shape[1]
        self._upper = _Linear(model.get_ref("upper"))

    def prepared(self, vectors: Floats) -> Callable[[Iterator[Numbers]], Floats]:
        """Return a function that scores states, given the rows of these vectors (from 1 on) at each place they look at."""
        narrow = self._narrow(vectors)
        tables = [self._table(none, narrow, weights) for none, weights in zip(self._none, self._weights, strict=True)]

        def score(places: Iterator[Numbers]) -> Floats:
            sums = tables[0].take(next(places), axis=0)
            for table in tables[1:]:
                sums += table.take(next(places), axis=0)
            sums += self._bias
            return self._upper(np.maximum(sums[:, : self._width], sums[:, self._width :]))

        return score

    def _table(self, none: Floats, narrow: Floats, weights: Floats) -> Floats:
        """Return what each vector adds to the sums at one place; the first row is for no word."""
        table = np.empty((1 + len(narrow), weights.shape[1]), np.float32)
        table[0] = none
        np.matmul(narrow, weights, out=table[1:])
        return table


def _best(scores: Floats) -> tuple[Numbers, Flags]:
    """Return the best of each row, and where another comes close to it."""
    best = scores.argmax(axis=1)
    limit = scores[np.arange(len(scores)), best] - CLOSE
    return best, (scores > limit[:, None]).sum(axis=1) > 1


def _not_allowed(kinds: Numbers) -> Floats:
    """Return what is added to the scores of moves, by the bits of the kinds that are allowed."""
    allowed = (np.arange(1 << len(KINDS))[:, None] >> kinds) & 1
    return np.where(allowed == 1, 0, -np.inf).astype(np.float32)


class States:
    """How far the parsing of each caption is."""

    def __init__(self, lengths: Sequence[int]) -> None:
        count, self.none = len(lengths), max(lengths)
        width = self.none + 1
        self.lengths = np.asarray(lengths, np.int64)
        self.depth = np.zeros(count, np.int64)
        self.at = np.zeros(count, np.int64)  # where in the queue the next word is
        self.stack = np.full((count, BOTTOM + width), self.none)
        queue = np.arange(self.none + 2)
        self.queue = np.where(queue < self.lengths[:, None], queue, self.none)
        self.heads = np.full((count, width), -1)
        self.moves = np.full((count, width), -1)  # the move that gave a word its head
        # The last words joined to each, on its left and its right, and the one joined to the right before that.
        self.lefts, self.rights, self.earlier = (np.full((count, width), self.none) for _ in range(3))
        self.returned = np.zeros((count, width), bool)  # put back from the stack: not to be shifted again
        self.starts = np.zeros((count, width), bool)
        self.open = np.flatnonzero(self.lengths)

    def look(self) -> tuple[Numbers, ...]:
        """Return what the parser looks at, for each open caption.

        The next two words, the three on the stack, the last joined on the left of the next word and of the stack's top, and
        on the right of the top.
        """
        rows, at, depth = self.open, self.at[self.open], self.depth[self.open]
        next_, second = self.queue[rows, at], self.queue[rows, at + 1]
        top = self.stack[rows, depth + 2]
        below = self.stack[rows, depth + 1], self.stack[rows, depth]
        joined = self.lefts[rows, next_], self.lefts[rows, top], self.rights[rows, top]
        return next_, second, top, *below, *joined

    def allowed(self, next_: Numbers, second: Numbers) -> Numbers:
        """Return which moves each open caption may make, as bits: 1 << SHIFT and so on."""
        rows = self.open
        some = self.depth[rows] > 0
        left = self.lengths[rows] - self.at[rows]
        begins = self.starts[rows, next_]
        join = some & (left > 0) & ~begins
        shift = ~some | ((left > 1) & ~begins & ~self.returned[rows, next_])
        cut = (left > 1) & (second == next_ + 1) & ~self.starts[rows, second]
        joins = (1 << LEFT) + (1 << RIGHT)
        return (shift << SHIFT) + (some << REDUCE) + join * joins + (cut << BREAK)

    def move(self, kinds: Numbers, moves: Numbers, next_: Numbers, second: Numbers, top: Numbers) -> None:
        """Make one move in each open caption."""
        rows = self.open
        for kind, make in ((LEFT, self._left), (RIGHT, self._right), (REDUCE, self._reduce)):
            which = np.flatnonzero(kinds == kind)
            make(rows[which], moves[which], next_[which], top[which])
        shifts = (kinds == SHIFT) | (kinds == RIGHT)
        self._push(rows[shifts], next_[shifts])
        breaks = kinds == BREAK
        self.starts[rows[breaks], second[breaks]] = True
        self.open = rows[(self.depth[rows] > 0) | (self.at[rows] < self.lengths[rows])]

    def _left(self, rows: Numbers, moves: Numbers, next_: Numbers, top: Numbers) -> None:
        """Join the top to the next word, in place of the head it had: that was the word below, joined to it last."""
        before = self.heads[rows, top]
        had = before >= 0
        self.rights[rows[had], before[had]] = self.earlier[rows[had], top[had]]
        self.heads[rows, top], self.moves[rows, top] = next_, moves
        self.lefts[rows, next_] = top
        self.returned[rows, next_] = False
        self.depth[rows] -= 1

    def _right(self, rows: Numbers, moves: Numbers, next_: Numbers, top: Numbers) -> None:
        self.heads[rows, next_], self.moves[rows, next_] = top, moves
        self.earlier[rows, next_] = self.rights[rows, top]
        self.rights[rows, top] = next_

    def _reduce(self, rows: Numbers, moves: Numbers, next_: Numbers, top: Numbers) -> None:
        """Take the top off the stack; a word without a head goes back to the queue, unless it is the last."""
        back = (self.heads[rows, top] < 0) & (self.depth[rows] > 1)
        self.depth[rows] -= 1
        rows, top = rows[back], top[back]
        self.returned[rows, top] = True
        self.at[rows] -= 1
        self.queue[rows, self.at[rows]] = top

    def _push(self, rows: Numbers, next_: Numbers) -> None:
        self.stack[rows, self.depth[rows] + BOTTOM] = next_
        self.depth[rows] += 1
        self.at[rows] += 1
