"""Fresh probes of the latent code: what can still be read from it about gender, on faces nobody trained on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from portrayal.stimuli.faces.batches import Faces, read_packed
from portrayal.stimuli.faces.network import CODE, Encoder

STRENGTHS = (1e-3, 1e-2, 1e-1)  # weight decay of the linear probes


def probe_gender(packed: Path | str, weights: Path | str, seed: int = 0) -> dict[str, Any]:
    """Train fresh probes on the codes of the training faces and count how often they are right on held-out ones.

    Several probes are tried, linear and convolutional; the best on the held-out faces is reported, which errs on the side
    of finding something.

    Returns
    -------
    dict
        right, n, chance (the share of the larger group) and each probe's share.
    """
    parts, _ = read_packed(packed)
    kept = torch.load(weights, map_location="cpu", weights_only=True)
    encoder = Encoder().eval()
    encoder.load_state_dict({key: value.float() for key, value in kept["encoder"].items()})
    train, held = (codes(encoder, parts[name]) for name in ("train", "held"))
    targets, truth = (parts[name].values[:, 0] > 0 for name in ("train", "held"))
    middle, spread = train.mean(0), train.std(0) + 1e-6
    train, held = (train - middle) / spread, (held - middle) / spread
    torch.manual_seed(seed)
    shares = {f"linear, decay {decay}": _linear(train, targets, held, truth, decay) for decay in STRENGTHS}
    shares["convolutional"] = _convolutional(train, targets, held, truth)
    best = max(shares.values())
    chance = max(float(truth.float().mean()), 1 - float(truth.float().mean()))
    return {"right": round(best * len(truth)), "n": len(truth), "chance": chance, "probes": shares}


def codes(encoder: Encoder, faces: Faces, batch: int = 64) -> Tensor:
    """Return the codes of all faces, flattened."""
    with torch.no_grad():
        made = [encoder(part) for part in faces.centred().split(batch)]
    return torch.cat(made).flatten(1)


def _linear(train: Tensor, targets: Tensor, held: Tensor, truth: Tensor, decay: float) -> float:
    weight, bias = torch.zeros(train.shape[1], requires_grad=True), torch.zeros(1, requires_grad=True)
    optimiser = torch.optim.LBFGS([weight, bias], max_iter=60, line_search_fn="strong_wolfe")

    def loss() -> Tensor:
        optimiser.zero_grad()
        fit = functional.binary_cross_entropy_with_logits(train @ weight + bias, targets.float())
        total = fit + decay * weight.square().sum()
        total.backward()
        return total

    optimiser.step(loss)
    return float((((held @ weight + bias) > 0) == truth).float().mean())


def _convolutional(train: Tensor, targets: Tensor, held: Tensor, truth: Tensor, epochs: int = 12) -> float:
    side = int((train.shape[1] // CODE) ** 0.5)
    network = nn.Sequential(
        nn.Unflatten(1, (CODE, side, side)), nn.Conv2d(CODE, 64, 3, 1, 1), nn.GroupNorm(8, 64), nn.ReLU(),
        nn.Conv2d(64, 64, 4, 2, 1), nn.ReLU(), nn.Flatten(), nn.Dropout(0.5), nn.LazyLinear(1),
    )  # fmt: skip
    network(train[:2])
    optimiser = torch.optim.AdamW(network.parameters(), 1e-3, weight_decay=0.05)
    best = 0.0
    for _ in range(epochs):
        network.train()
        for at in torch.randperm(len(train)).split(64):
            optimiser.zero_grad()
            functional.binary_cross_entropy_with_logits(
                network(train[at])[:, 0], targets[at].float()
            ).backward()
            optimiser.step()
        network.eval()
        with torch.no_grad():
            best = max(best, float(((network(held)[:, 0] > 0) == truth).float().mean()))
    return best
