"""Rendering and reading on a GPU: generator, parser, readers and judge of age."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from portrayal.pictures.faces import CHIP
from portrayal_faces.generator.blend import CLOSED, FEATHER
from portrayal_faces.generator.network import read_network
from portrayal_faces.generator.readings import with_pairs
from portrayal_faces.generator.studio import LANDMARKS
from portrayal_faces.generator.torch_network import TorchNetwork
from training.generated.networks.readers import read_raw
from training.generated.networks.tfjs import TfjsNetwork
from training.generated.networks.wild_reader import WildReader

SIDE, PARSED = 256, 448
LOGITS = "BiseNetV2/logits/segmentation_head_logits"
# CelebAMask's classes: 1 skin, 2-3 brows, 4-5 eyes, 6 glasses, 7-8 ears, 10 nose, 11 mouth, 12-13 lips, 14 neck.
FACE = [1, 2, 3, 4, 5, 6, 10, 11, 12, 13]
REGION = [*FACE, 7, 8, 14]
MOUTH, OPEN, GLASSES, NOSE, HAT = [11, 12, 13], [11], [6], [10], [18]
# Chosen by looking: share of pixels, levels, spread of levels by their mean, and red and blue by green, as coloured light shifts them.
LEAST_HAT, DIM, UNEVEN, REDDEST, BLUES = 0.01, 38.0, 0.45, 1.9, (0.45, 1.1)
# Where a reader of FairFace's crops looks: the face with a margin, in shares of the side.
CROP = (0.13, 0.94, 0.12, 0.88)
CORNERS = 40.0  # so that most people differ by about 1
MEANS = np.array([122.781998, 117.000999, 104.297997], np.float32).reshape(1, 3, 1, 1)


class GpuStudio:
    """Everything that looks at styles, on one device."""

    def __init__(self, parts: Path, device: str, batch: int = 48) -> None:
        self.device, self.batch = device, batch
        self.mapping = TorchNetwork(read_network(parts / "MappingNetwork.xml"), device)
        self.synthesis = TorchNetwork(read_network(parts / "SynthesisNetwork.xml"), device)
        self.parser = TfjsNetwork(parts / "bisenetv2-celebamask", device)
        self.wild = WildReader(parts / "face-api", device)
        self.ages = _sessions(parts / "age-v1.onnx")
        self.genders = _sessions(parts / "gender-v1.onnx")
        self.nets: list[Any] = []

    def styles(self, count: int, seed: int, truncation: float, mean: Any = None) -> tuple[Any, Any]:
        """Return styles drawn from a seed, and the mean style they are drawn towards."""
        noise = torch.randn(count, 512, generator=torch.Generator().manual_seed(seed)).to(self.device)
        drawn = self.mapping(noise)
        mean = drawn.mean(0) if mean is None else mean
        return mean + truncation * (drawn - mean), mean

    def render(self, styles: np.ndarray) -> Any:
        """Return pictures of 256 pixels on the device (uint8, channels first)."""
        tensor = torch.as_tensor(np.asarray(styles, np.float32)).to(self.device)
        made = [
            functional.interpolate(self.synthesis(part).clamp(-1, 1), size=SIDE, mode="area")
            for part in tensor.split(self.batch)
        ]
        return ((torch.cat(made) + 1) * 127.5 + 0.5).clamp(0, 255).to(torch.uint8)

    def over(self, pictures: Any, centre: Any) -> Any:
        """Lay faces over their centre, by the arithmetic of `blend.py`."""
        mask = _mask(centre.regions, self.regions(pictures))
        below = centre.pictures.float()
        mixed = (below + mask * (pictures.float() - below)).round().to(torch.uint8)
        return torch.where(mask > 0, mixed, centre.pictures)

    def covered(self, pictures: Any, centre: Any) -> np.ndarray:
        """Return what share of the centre's face is face in the pictures too."""
        face, seen = centre.regions > 0.5, self.regions(pictures) > 0.5
        return ((face & seen).sum((1, 2)) / face.sum((1, 2)).clamp(min=1)).double().cpu().numpy()

    def plain(self, pictures: Any) -> np.ndarray:
        """Return which faces are lit evenly, by white light, and wear no hat."""
        flags = []
        for at, classes in enumerate(self._parsed(pictures)):
            part = pictures[at * self.batch : (at + 1) * self.batch].float()
            skin, hat = classes[:, 1:2], classes[:, HAT].mean((1, 2, 3))
            mass = skin.sum((2, 3)).clamp(min=1)
            red, green, blue = ((skin * part).sum((2, 3)) / mass).unbind(1)
            light = part.mean(1, keepdim=True)
            mean = (skin * light).sum((2, 3)) / mass
            uneven = ((skin * (light - mean[:, :, None, None]).square()).sum((2, 3)) / mass).sqrt()[:, 0]
            white = (red < REDDEST * green) & (blue > BLUES[0] * green) & (blue < BLUES[1] * green)
            flags.append(white & (hat < LEAST_HAT) & (mean[:, 0] > DIM) & (uneven < UNEVEN * mean[:, 0]))
        return torch.cat(flags).cpu().numpy()

    def distance(self, pictures: Any, others: Any) -> np.ndarray:
        """Return the root mean square difference, in levels."""
        return (pictures.float() - others.float()).square().mean((1, 2, 3)).sqrt().double().cpu().numpy()

    def read(self, pictures: Any) -> np.ndarray:
        """Return the readings of COLUMNS."""
        crops = cropped(pictures)
        own, wild = read_raw(self.nets, crops), self.wild.read((crops + 1) * 127.5)
        raw = [own[:, :3], (wild[:, :1] - 40) / 15, wild[:, 1:], own[:, 3:], self.looks(pictures)]
        return with_pairs(torch.cat(raw, 1).double().cpu().numpy())

    def looks(self, pictures: Any) -> Any:
        """Return pose, mouth, glasses and background of pictures on the device."""
        parts = enumerate(self._parsed(pictures))
        return torch.cat([_looks(part, pictures[at * self.batch : (at + 1) * self.batch]) for at, part in parts])

    def corners(self, pictures: Any) -> np.ndarray:
        """Return the distance of the mouth's corners, by the columns that show a mouth."""
        wide = [part[:, MOUTH].sum(1).amax(1).sum(1) / part.shape[-1] for part in self._parsed(pictures)]
        return (torch.cat(wide) * CORNERS).double().cpu().numpy()

    def regions(self, pictures: Any) -> Any:
        """Return, on the device, which pixels are face, ears or neck, as probabilities."""
        return torch.cat([part[:, REGION].sum(1) for part in self._parsed(pictures)])

    def years(self, pictures: Any) -> np.ndarray:
        """Return the judge's years of pictures; it excludes people and never steers."""
        shares = _judged(self.ages, pictures, 64)
        years = np.arange(shares.shape[1], dtype=float)
        years[0] = 0.25
        return shares @ years

    def female(self, pictures: Any) -> np.ndarray:
        """Return the judging gender reader's P(female); it is only reported."""
        return _judged(self.genders, pictures, 32)[:, 0]

    def _parsed(self, pictures: Any) -> Any:
        """Yield class probabilities of one batch after the other, at the pictures' own size."""
        for part in pictures.split(self.batch):
            seen = functional.interpolate(part.float() / 127.5 - 1, size=(PARSED, PARSED), mode="bilinear")
            with torch.no_grad(), torch.autocast(self.device, dtype=torch.bfloat16, enabled=self.device == "cuda"):
                logits = self.parser(seen, LOGITS)
            yield functional.interpolate(logits.float(), size=part.shape[-2:], mode="bilinear", antialias=True).softmax(
                1
            )


def _mask(centre: Any, edited: Any) -> Any:
    """Return the mask of `blend.feathered`, on the device."""
    seen = (edited > 0.5).float()[:, None]
    reach = round(seen.shape[-1] * CLOSED)
    grown = functional.max_pool2d(_edged(seen, reach), 2 * reach + 1, 1)
    closed = -functional.max_pool2d(_edged(-grown, reach), 2 * reach + 1, 1)
    both = torch.minimum((centre > 0.5).float()[:, None], closed)
    width = max(2, round(both.shape[-1] * FEATHER))
    shrunk = -functional.max_pool2d(_edged(-both, width), 2 * width + 1, 1)
    for part in (width // 2, width - width // 2):
        shrunk = functional.avg_pool2d(_edged(shrunk, part), 2 * part + 1, 1)
    return torch.where(both > 0, shrunk.clamp(0, 1), 0)


def cropped(pictures: Any) -> Any:
    """Return what the readers look at: a crop like FairFace's, -1 to 1."""
    side = pictures.shape[-1]
    top, bottom, left, right = (round(share * side) for share in CROP)
    return pictures[:, :, top:bottom, left:right].float() / 127.5 - 1


def _looks(classes: Any, pictures: Any) -> Any:
    """Return yaw, pitch, mouth, glasses and background, each about 1 in spread."""
    side = classes.shape[-1]
    place = (torch.arange(side, device=classes.device) + 0.5) / side
    face, nose, mouth = (classes[:, which].sum(1) for which in (FACE, NOSE, MOUTH))
    luma = (pictures.float() * torch.tensor([0.299, 0.587, 0.114], device=pictures.device).view(1, 3, 1, 1)).sum(
        1
    ) / 255
    rows = [
        _mean(nose, place, 1) - _mean(face, place, 1),
        _mean(nose, place, 2) - _mean(face, place, 2),
        _spread(mouth, place),
        classes[:, OPEN].sum((1, 2, 3)) / mouth.sum((1, 2)).clamp(min=1),
        (classes[:, GLASSES].sum((1, 2, 3)) / face.sum((1, 2)).clamp(min=1)).sqrt(),
        (classes[:, 0] * luma).sum((1, 2)) / classes[:, 0].sum((1, 2)).clamp(min=1),
    ]
    return torch.stack(rows, 1) * torch.tensor([20.0, 20.0, 40.0, 4.0, 4.0, 4.0], device=classes.device)


def _mean(mass: Any, place: Any, axis: int) -> Any:
    """Return the mean place of a mass along an axis (1: across, 2: down)."""
    return (mass.sum(axis) * place).sum(1) / mass.sum((1, 2)).clamp(min=1)


def _spread(mass: Any, place: Any) -> Any:
    across = mass.sum(1)
    whole = across.sum(1).clamp(min=1)
    middle = (across * place).sum(1) / whole
    return ((across * (place - middle[:, None]) ** 2).sum(1) / whole).clamp(min=1e-8).sqrt()


def chips(pictures: Any, side: int, template: np.ndarray = CHIP) -> Any:
    """Return aligned crops, four samples a pixel, for the age reader or a template."""
    across = LANDMARKS @ [1, 1j]
    wanted = template @ [1, 1j]
    spread = across - across.mean()
    turn = np.vdot(spread, wanted - wanted.mean()) / np.vdot(spread, spread)
    steps = (np.arange(side * 4) + 0.5) / (side * 4)
    grid = (steps[None, :] + 1j * steps[:, None] - wanted.mean()) / turn + across.mean()
    places = torch.tensor(np.stack([grid.real, grid.imag], -1) * 2 - 1, dtype=torch.float32, device=pictures.device)
    samples = functional.grid_sample(
        pictures.float(), places[None].expand(len(pictures), -1, -1, -1), align_corners=False, padding_mode="border"
    )
    return functional.avg_pool2d(samples, 4)


def _judged(sessions: list[Any], pictures: Any, side: int) -> np.ndarray:
    """Run a judging network on the crops it expects, one session a thread."""
    crops = np.concatenate([chips(part, side).cpu().numpy() for part in pictures.split(960)])
    stack = ((crops - MEANS) / 256).astype(np.float32)

    def read(at: int) -> np.ndarray:
        return sessions[at // 8 % len(sessions)].run(None, {"images": stack[at : at + 8]})[0]

    with ThreadPoolExecutor(len(sessions)) as pool:
        return np.concatenate(list(pool.map(read, range(0, len(stack), 8))))


def _sessions(path: Path, count: int = 16) -> list[Any]:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return [onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"]) for _ in range(count)]


def _edged(values: Any, width: int) -> Any:
    """Repeat the edge around pictures."""
    return functional.pad(values, (width, width, width, width), mode="replicate")
