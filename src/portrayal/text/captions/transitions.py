"""spaCy's dependency parser for many captions at once: every step is taken by all of them together.

The moves are those of spaCy's arc-eager system [1]_: shift a word onto the stack, reduce it, join it to the next word on
the left or on the right, or break the sentence. Here the states of all captions lie in arrays, and a step costs a few
dozen array operations for all of them; in spaCy it costs as many visits to each.

References
----------
.. [1] Honnibal, Johnson (2015), An improved non-monotonic transition system for dependency parsing, EMNLP.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]

KINDS = "SDLRB"  # what spaCy calls the moves, by their first letter
SHIFT, REDUCE, LEFT, RIGHT, BREAK = range(len(KINDS))
BOTTOM = 3  # places below the stack that hold no word, so that one may look three words down


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
