"""Pipeline from FairFace's adults to series of generated people; finished steps are reused.

python -m training.generated.make PARTS FAIRFACE.npz STATE
"""

from __future__ import annotations

import argparse
import io
import json
import tarfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image

from portrayal.pictures.series.manifest import KINDS
from portrayal_faces.generator.directions import Compass, find_compass, read_compass, regressed
from portrayal_faces.generator.people import adult, choose, score
from portrayal_faces.generator.placebo import placebo
from portrayal_faces.generator.readings import COLUMNS, GROUPS
from portrayal_faces.generator.series import series_title
from portrayal_faces.generator.steering import Centre, Line, between, find_centre, lines, pictures_of, span_of
from training.generated.calibrate import calibrated
from training.generated.likely import likely
from training.generated.networks.readers import (
    OUTPUTS,
    ResidualReader,
    accuracy,
    fine_tune,
    layout,
    pretrain,
    read_packed,
)
from training.generated.recogniser import Recogniser
from training.generated.studio import GpuStudio

FINDING_SEED, PEOPLE_SEED, WAYS_SEED = 1, 2, 3
TRUNCATION, YOUNGEST = 0.85, 25
# Standard deviations from the middle of a pool: who faces the camera, without glasses.
TURN, GLASSES = 1.3, 0.3
DRAWN = 48  # styles drawn for each that is looked at: most are read as White, and groups are to be even
VALUES = {"gender": np.linspace(-2, 2, 7).round(4).tolist(), "race": [-2.0, -1.0, 0.0, 1.0, 2.0]}


class Job:
    """Request of one run, and the folder of its state."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.asked, self.state, self.start = args, args.state, time.time()
        self.state.mkdir(parents=True, exist_ok=True)
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.studio = GpuStudio(args.parts, self.device)
        self.figures: dict[str, Any] = {}

    def say(self, line: str) -> None:
        """Print a line with the seconds gone."""
        print(f"[{time.time() - self.start:6.1f}] {line}", flush=True)


def main() -> None:
    """Run all stages."""
    parser = argparse.ArgumentParser()
    parser.add_argument("parts", type=Path)
    parser.add_argument("fairface", type=Path)
    parser.add_argument("state", type=Path)
    for name, number in (("styles", 24000), ("pool", 4000), ("seed", PEOPLE_SEED), ("each", 8), ("epochs", 40),
                         ("pretraining", 24), ("readers", 6), ("width", 32), ("finders", 4000)):  # fmt: skip
        parser.add_argument(f"--{name}", type=int, default=number)
    parser.add_argument("--groups", nargs="+", choices=GROUPS, default=GROUPS)
    job = Job(parser.parse_args())
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    torch.backends.cudnn.benchmark = True
    compass = straightened(job, find(job))
    make(job, compass)
    (job.state / "figures.json").write_text(json.dumps(job.figures, indent=1), encoding="utf-8")


def find(job: Job) -> Compass:
    """Draw styles, teach the readers, read the styles and find the directions."""
    if (job.state / "compass.npz").exists():
        load_readers(job)
        return read_compass(job.state / "compass.npz")
    styles, mean = job.studio.styles(job.asked.styles, FINDING_SEED, TRUNCATION)
    pictures = torch.cat([job.studio.render(part.cpu().numpy()) for part in styles.split(960)])
    job.say(f"rendered {len(pictures)} styles")
    with ThreadPoolExecutor(1) as pool:
        ages = pool.submit(job.studio.years, pictures)
        teach(job, pictures, styles)
        age_read = ages.result()
    readings = np.concatenate([job.studio.read(part) for part in pictures.split(960)])
    adults = age_read >= YOUNGEST
    job.say(f"{int(adults.sum())} of {len(adults)} read as {YOUNGEST} or more")
    compass = find_compass(styles.double().cpu().numpy()[adults], readings[adults], mean.double().cpu().numpy())
    embedded = Recogniser(job.asked.parts / "mobileface", job.device).embed(pictures)
    recognised, shared = regressed(styles.double().cpu().numpy()[adults], embedded[adults])
    compass = compass.keeping(recognised)
    job.figures |= {
        "styles": len(adults),
        "adults": int(adults.sum()),
        "explained": _named(compass.explained),
        "explained of the recogniser's embedding": round(shared, 3),
    }
    job.say(f"R2 {_named(compass.explained)}, of the recogniser's embedding {shared:.3f}")
    compass.save(job.state / "compass.npz")
    return compass


def straightened(job: Job, compass: Compass) -> Compass:
    """Correct the ways of race by people of a seed of their own."""
    if compass.ways:
        return compass
    pool = job.asked.finders
    _, styles, _, _ = chosen_people(job, compass, FINDING_SEED, pool, max(1, pool // 500))
    compass = calibrated(job.studio, compass, styles, job.say)
    compass.save(job.state / "compass.npz")
    return compass


def teach(job: Job, pictures: Any, styles: Any) -> None:
    """Pretrain on styles, fine-tune the ensemble on FairFace's adults, and keep it."""
    known, holdout = read_packed(job.asked.fairface, job.device)
    faces = torch.cat([torch.nn.functional.interpolate(part.float(), size=(160, 160), mode="area").to(torch.uint8)
                       for part in pictures.split(960)])  # fmt: skip
    body = pretrain(faces, styles, job.asked.pretraining, job.asked.width, job.say)
    job.studio.nets = [
        fine_tune(body, known, job.asked.epochs, seed, job.asked.width, job.say) for seed in range(job.asked.readers)
    ]
    job.figures["held-out FairFace adults"] = accuracy(job.studio.nets, holdout)
    job.say(f"held-out {job.figures['held-out FairFace adults']}")
    for number, net in enumerate(job.studio.nets):
        weights = {
            name: values.half() if values.is_floating_point() else values for name, values in net.state_dict().items()
        }
        torch.save(weights, job.state / f"reader{number}.pt")


def load_readers(job: Job) -> None:
    """Take the readers from the state folder."""
    for path in sorted(job.state.glob("reader*.pt")):
        net = ResidualReader(OUTPUTS, job.asked.width, drop=0.4).to(job.device, memory_format=layout(job.device))
        weights = torch.load(path, map_location=job.device)
        net.load_state_dict(
            {name: values.float() if values.is_floating_point() else values for name, values in weights.items()}
        )
        job.studio.nets.append(net.eval())


def make(job: Job, compass: Compass) -> None:
    """Choose people never used to find directions, and make their series, both kinds."""
    if not (job.state / "people.npz").exists():
        gather(job, compass)
    with np.load(job.state / "people.npz") as arrays:
        people, chosen = arrays["styles"].astype(float), arrays["number"]
    with tarfile.open(job.state / "face_only.tar", "w") as face, tarfile.open(job.state / "whole.tar", "w") as whole:
        write(job, compass, people, chosen, (face, whole))


def gather(job: Job, compass: Compass) -> None:
    """Choose the people, and keep who they are."""
    chosen, styles, readings, age_read = chosen_people(job, compass, job.asked.seed, job.asked.pool, job.asked.each)
    np.savez(job.state / "people.npz", number=chosen, styles=styles.astype(np.float32), readings=readings[chosen],
             age=age_read[chosen], under=np.array([(age_read < YOUNGEST).sum(), len(age_read)]))  # fmt: skip


def chosen_people(
    job: Job, compass: Compass, seed: int, pool: int, each: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Draw styles of a seed and choose so many people of every cell."""
    mean = torch.tensor(compass.mean, dtype=torch.float32, device=job.device)
    drawn, _ = job.studio.styles(DRAWN * pool, seed, TRUNCATION, mean)
    looked = likely(drawn.cpu().numpy() @ compass.slopes, pool, job.asked.groups)
    styles = drawn[torch.as_tensor(looked, device=job.device)]
    pictures = torch.cat([job.studio.render(part.cpu().numpy()) for part in styles.split(960)])
    age_read = job.studio.years(pictures)
    readings = np.concatenate([job.studio.read(part) for part in pictures.split(960)])
    plain = np.concatenate([job.studio.plain(part) for part in pictures.split(960)])
    chosen = choose(readings, age_read, each, suitable(readings, age_read) & plain, job.asked.groups)
    job.say(f"{int((age_read < YOUNGEST).sum())} of {len(styles)} read as under {YOUNGEST}; chose {len(chosen)}")
    return chosen, styles.double().cpu().numpy()[chosen], readings, age_read


def suitable(readings: np.ndarray, age_read: np.ndarray) -> np.ndarray:
    """Return who is an adult by every reading, faces the camera and wears no glasses."""
    ahead = np.abs(score(readings, "yaw")) < TURN
    return adult(readings, age_read) & ahead & (score(readings, "glasses") < GLASSES)


def write(job: Job, compass: Compass, people: np.ndarray, names: np.ndarray, tars: tuple[Any, Any]) -> None:
    """Make and write the series of both kinds: WebP in tars, styles and readings."""
    tables: tuple[dict[str, np.ndarray], dict[str, np.ndarray]] = ({}, {})
    for line in lines():
        # One centre for both kinds where they have one middle, so that they meet in the same picture.
        middles = {span_of(line, kind).neutral for kind in KINDS}
        centres = {middle: find_centre(job.studio, compass, people, line, middle) for middle in middles}
        title, values = series_title(line.attribute, line.poles), VALUES[line.attribute]
        for kind, tar, table in zip(KINDS, tars, tables, strict=True):
            centre = centres[span_of(line, kind).neutral]
            steps = between(job.studio, compass, centre, line, values, kind)
            pictures = [(styles, pictures_of(job.studio, styles, centre, kind)) for styles in steps]
            _keep(job, tar, table, title, names, values, pictures, centre)
            if kind == KINDS[0]:
                beside = placebos(job, compass, centre, line, pictures, kind)
                named = series_title("placebo", line.poles)
                _keep(job, tar, table, named, names, values, beside, centre)
    for stem, table in zip(("face_only", "whole"), tables, strict=True):
        np.savez(job.state / f"{stem}.npz", names=names, columns=np.array(COLUMNS), allow_pickle=False, **table)


def placebos(job: Job, compass: Compass, centre: Centre, line: Line, made: list[Any], kind: str) -> list[Any]:
    """Return a placebo step of the same size for each step of an axis."""
    random = np.random.default_rng(WAYS_SEED)
    sizes = [job.studio.distance(pictures, centre.pictures) for _, pictures in made]
    middle = len(made) // 2
    down = placebo(job.studio, compass, centre, sizes[:middle][::-1], kind, random, line=line)[::-1]
    up = placebo(job.studio, compass, centre, sizes[middle + 1 :], kind, random, line=line)
    return [(styles, pictures_of(job.studio, styles, centre, kind)) for styles in (*down, centre.styles, *up)]


def _keep(
    job: Job,
    tar: Any,
    table: dict[str, np.ndarray],
    title: str,
    names: np.ndarray,
    values: list[float],
    made: list[Any],
    centre: Centre,
) -> None:
    """Add one series of everybody to the tar and the table."""
    readings = np.stack([job.studio.read(pictures) for _, pictures in made], 1)
    ages = np.stack([job.studio.years(pictures) for _, pictures in made], 1)
    table[f"{title} styles"] = np.stack([styles for styles, _ in made], 1).astype(np.float32)
    female = np.stack([job.studio.female(pictures) for _, pictures in made], 1)
    table[f"{title} readings"], table[f"{title} ages"] = readings.astype(np.float32), ages.astype(np.float32)
    table[f"{title} female"] = female.astype(np.float32)
    table[f"{title} sizes"] = np.stack(
        [job.studio.distance(pictures, centre.pictures) for _, pictures in made], 1
    ).astype(np.float32)
    table[f"{title} covered"] = np.stack([job.studio.covered(pictures, centre) for _, pictures in made], 1)
    at = [
        COLUMNS.index(name)
        for name in (
            "gender",
            "years",
            "wild age",
            "wild gender",
            "White",
            "Black",
            "East Asian",
            "yaw",
            "mouth width",
            "glasses",
            "background",
        )
    ]
    job.say(f"{title} {readings[:, :, at].mean(0).round(2).tolist()} years {ages.mean(0).round(1).tolist()} "
            f"female {female.mean(0).round(3).tolist()} "
            f"size {table[f'{title} sizes'].mean(0).round(2).tolist()}")  # fmt: skip
    jobs = [(f"{name}/{title}/{value:+.2f}.webp", picture) for value, (_, pictures) in zip(values, made, strict=True)
            for name, picture in zip(names, pictures.permute(0, 2, 3, 1).cpu().numpy(), strict=True)
            if not (title.startswith("placebo") and value == 0)]  # fmt: skip
    with ThreadPoolExecutor(16) as pool:
        for (name, _), stored in zip(jobs, pool.map(lambda one: _webp(one[1]), jobs), strict=True):
            entry = tarfile.TarInfo(name)
            entry.size = len(stored)
            tar.addfile(entry, io.BytesIO(stored))


def _webp(picture: np.ndarray, quality: int = 84) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(picture).save(buffer, "WEBP", quality=quality, method=5)
    return buffer.getvalue()


def _named(values: np.ndarray) -> dict[str, float]:
    return {name: round(float(one), 3) for name, one in zip(COLUMNS, values, strict=True)}


if __name__ == "__main__":
    main()
