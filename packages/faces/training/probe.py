"""Fresh probes of the latent code: what can still be read from it about gender, on faces nobody trained on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from training.batches import Faces, read_packed
from training.network import CODE, Encoder
from training.sheet import used_codes

Judged = list[tuple[Tensor, Tensor]]
WITHIN = "linear, within the held-out faces"
STRENGTHS = (1e-3, 1e-2, 1e-1)  # weight decay of the linear probes


def probe_gender(packed: Path | str, weights: Path | str, part: str = "held", seed: int = 0) -> dict[str, Any]:
    """Train fresh probes on the codes of the training faces and count how often they are right on held-out ones.

    A fifth of the training faces chooses the weight decay of the linear probes, the epoch of the convolutional one and
    the better of the two. The erasure was fitted on the same training faces, which a probe trained on them cannot see
    through; so another is trained and tested within the held-out faces, in five folds. The better of both is judged.

    Returns
    -------
    dict
        right, n, chance (the share of the larger group) and each probe's share on the held-out faces.
    """
    parts, _ = read_packed(packed)
    kept = torch.load(weights, map_location="cpu", weights_only=True)
    encoder = Encoder().eval()
    encoder.load_state_dict({key: value.float() for key, value in kept["encoder"].items()})
    seen = parts["train"] if kept["plan"].get("choosing") else parts["train"] + parts["choose"]
    train, held = (codes(encoder, faces) for faces in (seen, parts[part]))
    targets, truth = (faces.values[:, 0] > 0 for faces in (seen, parts[part]))
    return probe_codes(train, targets, held, truth, seed)


def probe_codes(train: Tensor, targets: Tensor, held: Tensor, truth: Tensor, seed: int = 0) -> dict[str, Any]:
    """Do the same for codes that are there already."""
    torch.manual_seed(seed)
    middle, spread = train.mean(0), train.std(0) + 1e-6
    # A value that is constant in training but not beyond would otherwise shout.
    train, held = (((each - middle) / spread).clamp(-30, 30) for each in (train, held))
    order = torch.randperm(len(train))
    choose, learn = order[: len(train) // 5], order[len(train) // 5 :]
    judged = [(train[choose], targets[choose]), (held, truth)]
    tried = {f"linear, decay {decay}": _linear(train[learn], targets[learn], judged, decay) for decay in STRENGTHS}
    tried["convolutional"] = _convolutional(train[learn], targets[learn], judged)
    best = max(tried, key=lambda name: tried[name][0])
    shares = {name: round(share, 4) for name, (_, share) in tried.items()}
    shares[WITHIN] = round(within(held, truth), 4)
    chosen = best if shares[best] >= shares[WITHIN] else WITHIN
    return {
        "right": round(shares[chosen] * len(truth)),
        "n": len(truth),
        "chance": max(float(truth.float().mean()), 1 - float(truth.float().mean())),
        "chosen": chosen,
        "probes": shares,
    }


def within(held: Tensor, truth: Tensor, folds: int = 5) -> float:
    """Return the share a linear probe gets right that is trained on four fifths of these faces and tested on the rest."""
    right = 0.0
    for part in torch.randperm(len(held)).chunk(folds):
        rest = torch.ones(len(held), dtype=torch.bool)
        rest[part] = False
        _, share = _linear(held[rest], truth[rest], [(held[part], truth[part])] * 2, STRENGTHS[-1])
        right += share * len(part)
    return right / len(held)


def codes(encoder: Encoder, faces: Faces, batch: int = 64) -> Tensor:
    """Return the codes of all faces as they are in use, flattened."""
    return torch.cat([used_codes(encoder, part) for part in faces.centred().split(batch)]).flatten(1)


def _linear(train: Tensor, targets: Tensor, judged: Judged, decay: float) -> tuple[float, float]:
    """Return the share right on the choosing and on the held-out faces."""
    weight, bias = torch.zeros(train.shape[1], requires_grad=True), torch.zeros(1, requires_grad=True)
    optimiser = torch.optim.LBFGS([weight, bias], max_iter=60, line_search_fn="strong_wolfe")

    def loss() -> Tensor:
        optimiser.zero_grad()
        fit = functional.binary_cross_entropy_with_logits(train @ weight + bias, targets.float())
        total = fit + decay * weight.square().sum()
        total.backward()
        return total

    optimiser.step(loss)
    chosen, held = (_right(part @ weight + bias, truth) for part, truth in judged)
    return chosen, held


def _convolutional(train: Tensor, targets: Tensor, judged: Judged, epochs: int = 12) -> tuple[float, float]:
    """Return the shares right at the epoch that did best on the choosing faces."""
    side = int((train.shape[1] // CODE) ** 0.5)
    network = nn.Sequential(
        nn.Unflatten(1, (CODE, side, side)), nn.Conv2d(CODE, 64, 3, 1, 1), nn.GroupNorm(8, 64), nn.ReLU(),
        nn.Conv2d(64, 64, 4, 2, 1), nn.ReLU(), nn.Flatten(), nn.Dropout(0.5), nn.Linear(16 * side * side, 1),
    )  # fmt: skip
    optimiser = torch.optim.AdamW(network.parameters(), 1e-3, weight_decay=0.05)
    best = (0.0, 0.0)
    for _ in range(epochs):
        network.train()
        for at in torch.randperm(len(train)).split(64):
            optimiser.zero_grad()
            functional.binary_cross_entropy_with_logits(network(train[at])[:, 0], targets[at].float()).backward()
            optimiser.step()
        network.eval()
        with torch.no_grad():
            chosen, held = (_right(network(part)[:, 0], truth) for part, truth in judged)
        best = max(best, (chosen, held), key=lambda pair: pair[0])
    return best


def _right(logits: Tensor, truth: Tensor) -> float:
    return float(((logits > 0) == truth).float().mean())
