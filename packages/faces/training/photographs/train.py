"""Training of the network that changes photographs; it continues an interrupted run.

python -m training.photographs.train PARTS STATE OUT --adults ADULTS.npz
PARTS holds the generator's, the parser's and the readers' files as for `training.generated.make`; STATE its compass and readers,
and what this command keeps.
"""

from __future__ import annotations

import argparse
import copy
import json
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from portrayal_faces.generator.directions import read_compass
from training.generated.networks.nets import ResidualReader
from training.generated.networks.readers import OUTPUTS, layout
from training.generated.studio import GpuStudio
from training.photographs import pairs
from training.photographs.editor import Critic, Editor
from training.photographs.export import export
from training.photographs.figures import figures, sheet
from training.photographs.objective import REAL, WEIGHTS, Eyes, draw_pairs, paired_loss, real_loss, weighed
from training.photographs.packed import read_pack
from training.photographs.watch import Watch

KEPT = 0.995  # of the running mean of weights, a step
HELD = 0.04  # of families: kept from training, for figures
ALIKE = 0.8  # levels, mean
PEOPLE = 12000  # styles that may be started from
CRITIC_FROM, REAL_FROM = 0.25, 0.05  # of the training: before that pixels alone lead


class Job:
    """Request of one run, its networks, and the folder of its state."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.asked, self.start = args, time.time()
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.studio = GpuStudio(args.parts, self.device, args.render)
        self.studio.nets = [_reader(path, self.device) for path in sorted(args.state.glob("reader*.pt"))]
        self.studio.synthesis = hastened(self.studio, self.say)
        self.eyes = Eyes(self.studio)
        torch.manual_seed(args.seed)
        self.editor = Editor().to(self.device, memory_format=layout(self.device))
        self.mean = copy.deepcopy(self.editor).requires_grad_(False)
        self.critic = Critic().to(self.device, memory_format=layout(self.device))
        self.chosen = torch.optim.AdamW(self.editor.parameters(), args.rate, betas=(0.9, 0.98), weight_decay=0.01)
        self.judging = torch.optim.AdamW(self.critic.parameters(), args.rate, betas=(0.5, 0.98))
        self.watch = Watch(self.device)
        self.step, self.spent = 0, 0.0  # steps made, and seconds of training in all runs

    def clock(self) -> float:
        """Return the seconds gone in this run."""
        return time.time() - self.start

    def say(self, line: str) -> None:
        """Print a line with the seconds gone."""
        print(f"[{self.clock():6.1f}] {line}", flush=True)


def hastened(studio: GpuStudio, say: Callable[[str], None]) -> Any:
    """Return the synthesis network with convolutions in half precision on a GPU."""
    plain = studio.synthesis
    if studio.device == "cpu":
        return plain

    def quick(styles: Any) -> Any:
        with torch.autocast("cuda", dtype=torch.float16):
            return plain(styles).float()

    styles, _ = studio.styles(8, 0, 0.85)
    try:
        off = float((quick(styles).clamp(-1, 1) - plain(styles).clamp(-1, 1)).abs().mean() * 127.5)
    except RuntimeError as error:  # an operation that knows no half precision
        say(f"no half precision: {error}")
        return plain
    say(f"half precision renders {off:.2f} levels off")
    return quick if off < ALIKE else plain


def main(arguments: list[str] | None = None) -> None:
    """Make pairs, train, export and read."""
    job = Job(asked_for(arguments))
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    torch.backends.cudnn.benchmark = True
    resume(job)
    families = gather(job)
    real, regions = photographs(job)
    train(job, families, real, regions)
    finish(job, families, real)


def asked_for(arguments: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("parts", "state", "out"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--adults", type=Path, help="packed photographs of adults; none: generated pairs only")
    parser.add_argument("--begin", type=Path, help="weights of an earlier network to go on from; none: from nothing")
    numbers = {"making": 60.0, "training": 320.0, "until": 400.0, "rate": 5e-4, "critic": 0.03, "real": 1.0}
    for name, number in numbers.items():
        parser.add_argument(f"--{name}", type=float, default=number)
    counts = {
        "batch": 48,
        "photographs": 32,
        "people": PEOPLE,
        "chunk": 192,
        "render": 48,
        "side": 256,
        "seed": 0,
        "steps": 10**9,
    }
    for name, count in counts.items():
        parser.add_argument(f"--{name}", type=int, default=count)
    args = parser.parse_args(arguments)
    for folder in (args.state, args.out):
        folder.mkdir(parents=True, exist_ok=True)
    return args


def _reader(path: Path, device: str) -> Any:
    stored = torch.load(path, map_location=device, weights_only=True)
    width = stored["body.0.weight"].shape[0]
    net = ResidualReader(OUTPUTS, width, drop=0.4).to(device, memory_format=layout(device))
    net.load_state_dict({name: one.float() if one.is_floating_point() else one for name, one in stored.items()})
    return net.eval()


def gather(job: Job) -> pairs.Families:
    """Make the families, or render those an earlier run chose."""
    compass, path = read_compass(job.asked.state / "compass.npz"), job.asked.state / "families.npz"
    if path.exists():
        families = pairs.load(job.studio, *pairs.read(path))
    else:
        args = job.asked
        families, styles = pairs.make(job.studio, compass, args.people, args.making, job.clock, job.say, args.chunk)
        pairs.keep(path, styles, families.cues.cpu().numpy())
    job.say(
        f"{len(families.cues)} families, {len(families.pictures)} pictures; by cue {torch.bincount(families.cues).tolist()}"
    )
    return families if job.asked.side == families.pictures.shape[-1] else pairs.shrunk(families, job.asked.side)


def photographs(job: Job) -> tuple[Any, Any]:
    """Return packed photographs on the device, and the masks of their faces."""
    side = job.asked.side
    if job.asked.adults is None:
        return torch.zeros(0, 3, side, side, dtype=torch.uint8), torch.zeros(0, side, side)
    faces = torch.from_numpy(read_pack(job.asked.adults)).to(job.device)
    regions = torch.cat([job.studio.regions(part).half() for part in faces.split(480)])
    if side != faces.shape[-1]:
        faces = functional.interpolate(faces.float(), size=side, mode="area").to(torch.uint8)
        regions = functional.interpolate(regions[:, None].float(), size=side, mode="area")[:, 0].half()
    job.say(f"{len(faces)} photographs")
    return faces, regions


def train(job: Job, families: pairs.Families, real: Any, regions: Any) -> None:
    """Train until the time is up; a checkpoint every minute."""
    people = torch.arange(held_from(families), device=job.device)
    begin, last_save, already = job.clock(), job.clock(), job.spent
    # What was left when training began: the rate falls to its end in just that time.
    goal = min(job.asked.training, already + max(1.0, job.asked.until - begin))
    while job.step < job.asked.steps and (job.spent < goal or job.step == 0):
        progress = min(1.0, max(job.spent / goal, job.step / job.asked.steps))
        set_rates(job, progress)
        terms = one_step(job, families, real, regions, people, progress)
        job.step += 1
        job.spent = already + job.clock() - begin
        if job.step % 200 == 1 or job.step == job.asked.steps:
            report(job, terms)
        if job.clock() - last_save > 60:
            last_save = job.clock()
            checkpoint(job)
    checkpoint(job)
    job.say(job.watch.summary())
    job.say(f"{job.step} steps in {job.spent:.0f} seconds of training")


def set_rates(job: Job, progress: float) -> None:
    """Warm up over 200 steps, then fall along a cosine."""
    rate = job.asked.rate * min(1.0, (job.step + 1) / 200) * (0.03 + 0.97 * (1 + math.cos(math.pi * progress)) / 2)
    for group in (*job.chosen.param_groups, *job.judging.param_groups):
        group["lr"] = rate


def report(job: Job, terms: dict[str, Any]) -> None:
    """Print the terms; return to the last checkpoint if one is no number."""
    job.say(f"step {job.step} " + " ".join(f"{name} {float(one):.4f}" for name, one in terms.items()))
    if not math.isfinite(float(terms["loss"])):
        resume(job)


def held_from(families: pairs.Families) -> int:
    """Return where the families begin that training never sees; a person's two families lie together."""
    return max(1, int(len(families.cues) * (1 - HELD)) // 2 * 2)


def one_step(job: Job, families: Any, real: Any, regions: Any, people: Any, progress: float) -> dict[str, Any]:
    """Take one step of editor and critic; return the terms."""
    job.watch.turn(job.step)
    batch = draw_pairs(families, job.eyes, job.asked.batch, people)
    job.watch("drawing pairs")
    terms, made = paired_loss(job.editor, job.eyes, batch)
    loss, fakes, truths = weighed(terms, WEIGHTS), [made], [batch.wanted]
    job.watch("pairs")
    if len(real) and job.asked.real > 0 and progress >= REAL_FROM:
        at = torch.randint(len(real), (job.asked.photographs,), device=job.device)
        more, changed, inputs = real_loss(
            job.editor, job.eyes, real[at].float() / 127.5 - 1, regions[at][:, None].float()
        )
        loss = loss + job.asked.real * weighed(more, REAL)
        terms = {**terms, **{f"real {name}": one for name, one in more.items()}}
        fakes, truths = [made, changed], [batch.wanted, inputs]
    job.watch("photographs")
    judged = job.asked.critic > 0 and progress >= CRITIC_FROM
    if judged:
        loss = loss - job.asked.critic * _patches(job, torch.cat(fakes)).mean()
    job.chosen.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(job.editor.parameters(), 1.0)
    job.chosen.step()
    job.watch("backward and step")
    if judged:
        terms["critic"] = _judge(job, torch.cat(truths), torch.cat(fakes).detach())
    with torch.no_grad():
        torch._foreach_lerp_(
            list(job.mean.parameters()), list(job.editor.parameters()), 1 - min(KEPT, job.step / (job.step + 20))
        )
    job.watch("critic and mean")
    return {"loss": loss.detach(), **{name: one.detach() for name, one in terms.items()}}


def _patches(job: Job, faces: Any) -> Any:
    """Judge a random half of the side by the critic."""
    half, side = faces.shape[-1] // 2, faces.shape[-1]
    down, across = (side // 8 + int(torch.randint(side // 4 + 1, ())) for _ in range(2))
    part = faces[:, :, down : down + half, across : across + half]
    with torch.autocast(job.device, dtype=torch.bfloat16, enabled=job.device == "cuda"):
        return job.critic(part).float()


def _judge(job: Job, truths: Any, fakes: Any) -> Any:
    """Take one step of the critic (hinge); returns its loss."""
    loss = functional.relu(1 - _patches(job, truths)).mean() + functional.relu(1 + _patches(job, fakes)).mean()
    job.judging.zero_grad(set_to_none=True)
    loss.backward()
    job.judging.step()
    return loss


def checkpoint(job: Job) -> None:
    """Write everything a further run needs; a broken write leaves the old file."""
    path = job.asked.state / "editor.pt"
    parts = {name: getattr(job, name).state_dict() for name in ("editor", "mean", "critic", "chosen", "judging")}
    torch.save({**parts, "step": job.step, "spent": job.spent}, path.with_suffix(".part"))
    path.with_suffix(".part").replace(path)


def resume(job: Job) -> None:
    """Go on from a checkpoint, where there is one."""
    path = job.asked.state / "editor.pt"
    if not path.exists():
        return begin(job)
    stored = torch.load(path, map_location=job.device, weights_only=True)
    for name in ("editor", "mean", "critic", "chosen", "judging"):
        getattr(job, name).load_state_dict(stored[name])
    job.step, job.spent = stored["step"], stored["spent"]
    job.say(f"goes on at step {job.step}, after {job.spent:.0f} seconds of training")


def begin(job: Job) -> None:
    """Take over the weights of another network, where they are given."""
    if job.asked.begin is None:
        return
    stored = torch.load(job.asked.begin, map_location=job.device, weights_only=True)
    for net in (job.editor, job.mean):
        net.load_state_dict({name: one.float() for name, one in stored.items()})
    job.say(f"begins with {job.asked.begin.name}")


def finish(job: Job, families: pairs.Families, real: Any) -> None:
    """Write weights, ONNX file, figures, and a sheet of generated people."""
    weights = {name: one.half() for name, one in job.mean.state_dict().items()}
    torch.save(weights, job.asked.out / "weights.pt")
    results = figures(job.mean, job.studio, job.eyes, families, held_from(families), real)
    results |= {
        "steps": job.step,
        "seconds": round(job.spent),
        "families trained on": held_from(families),
        "photographs trained on": len(real),
    }
    (job.asked.out / "figures.json").write_text(json.dumps(results, indent=1), encoding="utf-8")
    job.say(json.dumps(results))
    sheet(job.mean, families, held_from(families), job.asked.out / "sheet.jpg")
    try:
        job.say(
            f"editor.onnx of {export(job.asked.out / 'weights.pt', job.asked.out / 'editor.onnx', job.asked.side) / 1e6:.1f} MB"
        )
    except Exception as error:  # the weights are there: another machine can write the file
        job.say(f"no ONNX file here ({type(error).__name__}: {error}); run python -m training.photographs.export")


if __name__ == "__main__":
    np.seterr(all="ignore")
    main()
