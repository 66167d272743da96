"""One training of the manipulator: latent critics, readers, patch critic and encoder-decoder, step by step."""

from __future__ import annotations

import copy
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor, nn

from training import objective
from training.batches import FOLDS, Faces, disturbed
from training.network import AttributeReader, Decoder, Encoder, LatentCritics, PatchCritic, rounded
from training.skin import oval


@dataclass(frozen=True)
class Plan:
    """The settings of a training run."""

    steps: int = 1600
    batch: int = 256
    seed: int = 0
    rate: float = 3e-4
    latent_rate: float = 6e-4
    latent_steps: int = 2
    likeness: float = 10.0
    ignorance: float = 8.0
    reach: float = 3.0
    hold: float = 1.0
    patch: float = 0.6
    cycle: float = 2.0
    rough: float = 1.5
    colour: float = 2.0  # against colours that change when gender is varied
    steep: float = 1.5  # the perceived gender aimed at, per unit of the value
    small: float = 0.1
    tint: float = 10.0  # for the mean skin colour to follow the groups' when race is varied
    controls: bool = True  # False: a plain Fader network, which knows the main attribute only
    choosing: bool = False  # True: the faces kept for choosing settings are not trained on


class Trainer:
    """All networks and optimisers of one run."""

    def __init__(self, plan: Plan, faces: Faces, device: str) -> None:
        torch.manual_seed(plan.seed)
        self.plan, self.device, self.step = plan, device, 0
        self.faces = faces.to(device)
        if not plan.controls:
            self.faces.values[:, 1:] = torch.nan
        labelled = objective.known(self.faces.values).any(0)
        self.races, self.smiles = bool(labelled[-1]), bool(labelled[objective.SMILING])
        self.random = torch.Generator(device=device).manual_seed(plan.seed)
        self.mask = torch.from_numpy(oval()).float().to(device)[None, None]
        self.prior = objective.prior_of(self.faces.values)
        self.tints = objective.tints_of(self.faces.centred(), self.faces.values, self.mask)
        self.networks: Any = nn.ModuleDict(
            {
                "encoder": Encoder(),
                "decoder": Decoder(),
                "latent": LatentCritics(FOLDS),
                "patch": PatchCritic(),
                "readers": nn.ModuleList([AttributeReader(), AttributeReader((48, 96, 128, 160))]),
            }
        ).to(device)
        self.networks.to(memory_format=torch.channels_last)
        self.averaged = copy.deepcopy(self.networks).requires_grad_(False)
        self.optimisers = self._optimisers()
        self.critics = torch.arange(FOLDS, device=device)[:, None]
        self.log: dict[str, Any] = {}

    def _optimisers(self) -> dict[str, torch.optim.Optimizer]:
        plan, nets = self.plan, self.networks
        fused = self.device.startswith("cuda")

        def adam(networks: list[str], rate: float, first: float, decay: float) -> torch.optim.Optimizer:
            parameters = [each for name in networks for each in nets[name].parameters()]
            return torch.optim.AdamW(parameters, rate, (first, 0.99), weight_decay=decay, fused=fused)

        return {
            "made": adam(["encoder", "decoder"], plan.rate, 0.5, 0.0),
            "latent": adam(["latent"], plan.latent_rate, 0.5, 0.01),
            "patch": adam(["patch"], plan.rate, 0.0, 0.0),
            "readers": adam(["readers"], plan.rate, 0.9, 0.05),
        }

    @property
    def precision(self) -> str:
        """Say what products are computed in: many processors have no bf16, and torch's way around is many times slower."""
        return "bf16" if self.device.startswith("cuda") else "float32"

    def advance(self) -> None:
        """Take one step of everything."""
        for group in self.optimisers.values():
            for options in group.param_groups:
                options["lr"] = options.setdefault("initial_lr", options["lr"]) * self._warmth()
        with torch.autocast(self.device.partition(":")[0], dtype=torch.bfloat16, enabled=self.precision == "bf16"):
            for _ in range(self.plan.latent_steps):
                self._learn("latent", self._latent_loss())
            self._learn("readers", self._reader_loss())
            face, values, folds = self.faces.batch(self.plan.batch, self.random)
            made = self._make(face, values)
            self._learn("patch", self._patch_loss(face, made["face"].detach()))
            self._learn("made", self._made_loss(face, values, folds, made))
        self._average()
        self.step += 1

    def _warmth(self) -> float:
        """Rise over 200 steps, then fall to a tenth over the last third."""
        last = max(0.0, (self.step / self.plan.steps - 2 / 3) * 3)
        return min(1.0, (self.step + 1) / 200) * (1 - 0.9 * min(1.0, last))

    def _learn(self, name: str, loss: Tensor) -> None:
        optimiser = self.optimisers[name]
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        parameters = [p for group in optimiser.param_groups for p in group["params"]]
        nn.utils.clip_grad_norm_(parameters, 5.0)
        optimiser.step()

    def _code(self, face: Tensor) -> Tensor:
        soft = self.networks["encoder"].soft(face.contiguous(memory_format=torch.channels_last)).float()
        return rounded(soft)

    def _latent_loss(self) -> Tensor:
        """Each critic learns from all folds but its own."""
        face, values, folds = self.faces.batch(self.plan.batch, self.random)
        with torch.no_grad():
            code = self._code(face)
        losses = self._by_critic(self.networks["latent"](code), values)
        others = (folds != self.critics).float()
        loss = (losses * others).sum(1).div(others.sum(1).clamp_min(1)).mean()
        self._note("latent", loss)
        return FOLDS * loss

    def _by_critic(self, read: Tensor, values: Tensor) -> Tensor:
        """Return the reading loss of every critic on every face, critics x faces."""
        repeated = values.expand(read.shape[1], -1).repeat(len(read), 1)
        return objective.reading_loss(read.float().flatten(0, 1), repeated).view(read.shape[:2])

    def _reader_loss(self) -> Tensor:
        """Learn from disturbed and mixed photographs, so that its gradients mean something."""
        face, values, _ = self.faces.batch(self.plan.batch, self.random)
        share = torch.rand(len(face), 1, generator=self.random, device=self.device) ** 4
        other = torch.randperm(len(face), generator=self.random, device=self.device)
        mixed = torch.lerp(face, face[other], share[..., None, None])
        seen = disturbed(mixed, self.random).contiguous(memory_format=torch.channels_last)
        blend = torch.lerp(values, values[other], share)
        losses = [objective.reading_loss(reader(seen).float(), blend).mean() for reader in self.networks["readers"]]
        self._note("reader", losses[0])
        return torch.stack(losses).sum()

    def _make(self, face: Tensor, values: Tensor) -> dict[str, Tensor]:
        """Encode, rebuild with the face's own attributes, and edit towards drawn ones."""
        code = self._code(face)
        start = objective.filled(values)
        first = self._first(len(face))
        go, aim = objective.targets(values, first, self.random, self.plan.steep)
        both = self.networks["decoder"](torch.cat([code, code]), torch.cat([start, go])).float()
        rebuilt, changed = both.chunk(2)
        edit = objective.tempered(changed - rebuilt, face, self.mask, ~first)
        return {
            "code": code, "rebuilt": rebuilt, "edit": edit, "aim": aim, "moved": go - start,
            "face": (face + self.mask * edit).clamp(-1.1, 1.1),
        }  # fmt: skip

    def _first(self, size: int) -> Tensor:
        """Say whose gender is varied: half of the batch, or all of it where race is not labelled."""
        share = (size + 1) // 2 if self.races else size
        return torch.arange(size, device=self.device) < share

    def _patch_loss(self, face: Tensor, made: Tensor) -> Tensor:
        """Return the least-squares loss of the patch critic: photographs are 1, manipulated faces 0."""
        real, fake = self.networks["patch"](torch.cat([face, made])).float().chunk(2)
        return (real - 1).square().mean() + fake.square().mean()

    def _made_loss(self, face: Tensor, values: Tensor, folds: Tensor, made: dict[str, Tensor]) -> Tensor:
        plan, ramp = self.plan, min(1.0, self.step / (0.08 * self.plan.steps))
        reach, hold = self._guidance(face, made)
        again = self.networks["encoder"].soft(made["face"]).float()
        inside, first = made["edit"] * self.mask, self._first(len(face))
        terms = {
            "likeness": plan.likeness * objective.likeness_loss(made["rebuilt"], face, self.mask),
            "ignorance": plan.ignorance * ramp * self._ignorance(made["code"], folds),
            "reach": plan.reach * ramp * reach,
            "hold": plan.hold * ramp * hold,
            "patch": plan.patch * ramp * (self.networks["patch"](made["face"]).float() - 1).square().mean(),
            "cycle": plan.cycle * (again - made["code"].detach()).abs().mean(),
            "rough": plan.rough * objective.roughness(made["edit"]),
            "colour": plan.colour * ramp * objective.colouring(inside[first]),
            "tint": plan.tint * ramp * self._tint(face, inside, made["moved"])[~first].sum() / len(face),
            "small": plan.small * inside.abs().mean(),
        }
        for name, term in terms.items():
            self._note(name, term)
        return torch.stack(list(terms.values())).sum()

    def _ignorance(self, code: Tensor, folds: Tensor) -> Tensor:
        """Each critic judges the fold it never saw, so that it cannot reward forgetting single faces."""
        losses = self._by_critic(self.networks["latent"](code), self.prior)
        return (losses * (folds == self.critics)).sum() / len(code)

    def _tint(self, face: Tensor, inside: Tensor, moved: Tensor) -> Tensor:
        """Return how far each edit's mean colour is from what the groups' mean skin colours ask for, in this light."""
        given = inside.sum((2, 3)) / self.mask.sum()
        asked = objective.light(face, self.mask)[:, None] * (moved[:, objective.FIRST_RACE :] @ self.tints)
        return (given - asked).abs().sum(1)

    def _guidance(self, face: Tensor, made: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
        """Ask the averaged readers, through the same disturbance of both pictures."""
        first = self._first(len(face))
        seen = disturbed(torch.cat([made["face"], face]), self.random, copies=2)
        after, plain = seen.contiguous(memory_format=torch.channels_last).chunk(2)
        pairs = []
        for reader in self.averaged["readers"]:
            with torch.no_grad():
                before = reader(plain).float()
            pairs.append(
                objective.keeping_loss(reader(after).float(), before, made["aim"], first, self.races, self.smiles)
            )
        reach, hold = (torch.stack(list(terms)).mean() for terms in zip(*pairs, strict=True))
        return reach, hold if self.plan.controls else 0 * hold

    def _average(self) -> None:
        """Keep a moving average of the weights, which is what is used in the end."""
        keep = min(0.999, (1 + self.step) / (10 + self.step))
        with torch.no_grad():
            mine = [*self.averaged.parameters(), *self.averaged.buffers()]
            theirs = [*self.networks.parameters(), *self.networks.buffers()]
            torch._foreach_lerp_(mine, theirs, 1 - keep)

    def _note(self, name: str, value: Tensor) -> None:
        """Keep a running mean for the log, on the device."""
        old = self.log.get(name)
        now = value.detach()
        self.log[name] = now if old is None else old + 0.02 * (now - old)

    def state(self) -> dict[str, Any]:
        """Return all that a later run needs to go on."""
        return {
            "plan": asdict(self.plan),
            "step": self.step,
            "networks": self.networks.state_dict(),
            "averaged": self.averaged.state_dict(),
            "optimisers": {name: each.state_dict() for name, each in self.optimisers.items()},
            "random": self.random.get_state(),
            "dropout": self._generator().get_rng_state(),
        }

    def load(self, state: dict[str, Any]) -> None:
        """Go on where a checkpoint stopped."""
        self.step = state["step"]
        self.networks.load_state_dict(state["networks"])
        self.averaged.load_state_dict(state["averaged"])
        for name, each in self.optimisers.items():
            each.load_state_dict(state["optimisers"][name])
        self.random.set_state(state["random"].cpu())
        self._generator().set_rng_state(state["dropout"].cpu())

    def _generator(self) -> Any:
        """Return where dropout draws from: torch's own generator of the device."""
        return torch.cuda if self.device.startswith("cuda") else torch

    def weights(self) -> dict[str, Any]:
        """Return the averaged weights that make the model, in half precision, as they ship."""
        kept = {"encoder": self._erased(), "decoder": self.averaged["decoder"], "reader": self.averaged["readers"][0]}
        return {"step": self.step, "plan": asdict(self.plan), "smiles": self.smiles} | {
            name: {
                key: (value.half() if value.numel() > 2048 else value).cpu()
                for key, value in network.state_dict().items()
            }
            for name, network in kept.items()
        }

    def _erased(self) -> Encoder:
        """Return the averaged encoder less what a linear reader can tell of gender from the training faces' codes."""
        encoder = copy.deepcopy(self.averaged["encoder"])
        with torch.no_grad():
            codes = torch.cat([encoder.soft(part) for part in self.faces.centred().split(64)]).flatten(1)
        encoder.erase(codes, self.faces.values[:, objective.GENDER] > 0)
        return encoder
