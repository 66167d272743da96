"""Two small measured runs with pictures drawn here: captions of two systems, and tags of people in places."""

from __future__ import annotations

import csv
from pathlib import Path

from PIL import Image, ImageDraw

from portrayal import flow

IMAGES = 48
SCRIPT = "<script>window.__ran = 1</script>"
CAPTIONERS = f"""
def girls(path):
    number = int(path[-6:-4])
    if number == 7:
        return 'A girl says "{SCRIPT}" in a kitchen.'
    return f"A girl is holding {{number}} books in a kitchen." if number % 2 else "A man is holding a ball in a park."

def plain(path):
    number = int(path[-6:-4])
    return f"A woman is holding {{number}} books in a kitchen." if number % 2 else "A man is holding a ball in a park."
"""
TAGGERS = """
def tag(path):
    return ["person", "zzyx", "quuxen"] + (["woman"] if "@F" in path else ["man"])

def other(path):
    return ["person", "zzyx", "man"]
"""


def draw(path: Path, number: int, person: bool = True) -> None:
    """Draw a figure on a plain ground; nobody is shown."""
    picture = Image.new("RGB", (320, 240), (235 - number % 20, 235, 225 + number % 20))
    pen = ImageDraw.Draw(picture)
    if person:
        pen.ellipse((140, 40, 180, 80), fill=(200, 160 - number % 60, 120))
        pen.rectangle((125, 85, 195, 239), fill=(60, 90 + number % 100, 160))
    pen.line((0, 200 - number % 50, 320, 210), fill=(150, 150, 150), width=3)
    picture.save(path)


def _table(path: Path, rows: list[dict[str, str]]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def captions_run(folder: Path, images: int = IMAGES) -> Path:
    """Make a run of two captioners, one of which calls women girls; one caption holds a script."""
    folder.mkdir(parents=True, exist_ok=True)
    names = [f"i{number:02d}" for number in range(images)]
    for number, name in enumerate(names):
        draw(folder / f"{name}.png", number)
    _table(
        folder / "images.csv",
        [{"image": name, "path": f"{name}.png", "license": "own", "consent": "generated"} for name in names],
    )
    sexes = {name: "female" if number % 2 else "male" for number, name in enumerate(names)}
    _table(
        folder / "people.csv",
        [{"image": name, "axis": "gender", "group": sex, "assigned_by": "drawn"} for name, sex in sexes.items()],
    )
    texts = {"female": "A woman with books.", "male": "A man with a ball."}
    _table(folder / "human.csv", [{"image": name, "text": texts[sex]} for name, sex in sexes.items()])
    (folder / "viewer_captioners.py").write_text(CAPTIONERS)
    systems = "".join(
        f'[[systems]]\nname = "{name}"\nuse = "python:viewer_captioners:{name}"\n' for name in ("girls", "plain")
    )
    study = (
        'name = "drawn captions"\naudit = "captions"\n[captions]\nimages = "images.csv"\nprocesses = 1\nbootstraps = 20\n'
        'splits = 10\npermutations = 99\nhuman_captions = { file = "human.csv" }\npeople = { file = "people.csv" }\n'
    )
    return _audited(folder, study + systems)


def contexts_run(folder: Path) -> Path:
    """Make a run of two taggers on two drawn people in the places that ship."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in (1, 2):
        draw(folder / f"p{number}.png", number)
    rows = [
        {"person": f"p{number}", "file": f"p{number}.png", "gender": sex, "source": "drawn", "license": "own",
         "consent": "generated"}
        for number, sex in ((1, "female"), (2, "male"))
    ]  # fmt: skip
    _table(folder / "people.csv", rows)
    (folder / "viewer_taggers.py").write_text(TAGGERS)
    systems = "".join(
        f'[[systems]]\nname = "{name}"\nuse = "python:viewer_taggers:{name}"\n' for name in ("tag", "other")
    )
    study = (
        'name = "drawn places"\naudit = "contexts"\n[contexts]\npeople = "people.csv"\nfactors = ["gender"]\n'
        'per_context = 1\npictures = "pictures"\nwidth = 320\nheight = 240\n'
    )
    return _audited(folder, study + systems)


def _audited(folder: Path, study: str) -> Path:
    (folder / "study.toml").write_text(study)
    flow.record(folder / "study.toml", folder / "run", quiet=True)
    flow.measure(folder / "run")
    return folder / "run"
