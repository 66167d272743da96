"""The networks DRMM and MatchPyramid and their training. Needs the extra `torch`.

Guo, Fan, Ai, Croft (2016), A deep relevance matching model for ad-hoc retrieval, CIKM; Pang, Lan, Guo, Xu, Wan, Cheng (2016), Text
matching as image recognition, AAAI.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from portrayal_rankers.settings import BINS

Array = NDArray[np.float32]

NEGATIVES = 16  # candidates that are not relevant, drawn for each query and epoch
RATES = {"drmm": 0.01, "matchpyramid": 0.002}
DECAY = 0.01
GRID, KERNELS = (3, 10), 8  # of MatchPyramid
_SEEDED = Lock()  # torch draws first weights from one generator for the whole process, whoever else trains


@dataclass(frozen=True)
class Example:
    """One query and its candidates: matches, the query words' weights, and the relevance."""

    matches: Array  # candidates by ...
    idf: Array  # query words; 0 beyond the query's end
    levels: NDArray[np.int64]  # relevance of each candidate


class Drmm(nn.Module):
    """A small network scores each query word's histogram; a softmax over idf weighs the words."""

    def __init__(self) -> None:
        super().__init__()
        self.word = nn.Sequential(nn.Linear(BINS, 5), nn.Tanh(), nn.Linear(5, 1), nn.Tanh())
        self.gate = nn.Parameter(torch.ones(1))

    def forward(self, matches: Tensor, idf: Tensor) -> Tensor:
        """Return one score per candidate."""
        weights = torch.softmax((self.gate * idf).masked_fill(idf == 0, -torch.inf), dim=-1)
        return (self.word(matches).squeeze(-1) * weights).sum(-1)


class MatchPyramid(nn.Module):
    """A convolution over the picture of cosines, pooled to a grid, two layers."""

    def __init__(self) -> None:
        super().__init__()
        self.convolution = nn.Conv2d(1, KERNELS, (3, 3), padding=1)
        self.pool = nn.AdaptiveMaxPool2d(GRID)
        self.score = nn.Sequential(nn.Linear(KERNELS * GRID[0] * GRID[1], 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, matches: Tensor, idf: Tensor) -> Tensor:
        """Return one score per candidate; rows beyond the query's end are cut before pooling."""
        length = max(int((idf > 0).sum()), 1)
        features = torch.relu(self.convolution(matches[:, None, :length]))
        return self.score(self.pool(features).flatten(1)).squeeze(-1)


NETWORKS: dict[str, type[nn.Module]] = {"drmm": Drmm, "matchpyramid": MatchPyramid}


def train(architecture: str, examples: Sequence[Example], epochs: int, seed: int) -> nn.Module:
    """Train a network to score relevant candidates above others, with a hinge on pairs.

    Every epoch sees each query once: all its relevant candidates against some that are not, drawn anew.
    """
    generator = np.random.default_rng(seed)
    with _SEEDED, torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = NETWORKS[architecture]()
    optimiser = torch.optim.Adam(network.parameters(), RATES[architecture], weight_decay=DECAY)
    usable = [example for example in examples if 0 < (example.levels > 0).sum() < len(example.levels)]
    for _ in range(epochs):
        for place in generator.permutation(len(usable)):
            example = usable[place]
            relevant, others = np.flatnonzero(example.levels > 0), np.flatnonzero(example.levels <= 0)
            drawn = generator.choice(others, min(NEGATIVES, len(others)), replace=False)
            scores = _scores(network, example, np.concatenate([relevant, drawn]))
            better, worse = scores[: len(relevant)], scores[len(relevant) :]
            optimiser.zero_grad()
            torch.relu(1 - better[:, None] + worse[None, :]).mean().backward()
            optimiser.step()
    return network.eval()


def score(network: nn.Module, example: Example) -> NDArray[np.float64]:
    """Return the network's scores of all candidates."""
    with torch.no_grad():
        return _scores(network, example, np.arange(len(example.levels))).double().numpy()


def _scores(network: nn.Module, example: Example, rows: NDArray[np.int64]) -> Tensor:
    return network(torch.from_numpy(example.matches[rows]), torch.from_numpy(example.idf))
