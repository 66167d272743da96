"""Make the pictures of docs/gallery.md from the notebooks of examples/: made-up systems, drawn figures, nobody shown.

    python scripts/gallery.py

Each notebook is run; one chart of its run is copied as SVG. Then one report over all five runs is looked at in Debian's chromium, at
the width of a desk and of a phone.
"""

from __future__ import annotations

import io
import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

import portrayal

ROOT = Path(__file__).parents[1]
OUT = ROOT / "docs" / "assets" / "gallery"
CHARTS = {
    "contexts": "tradeoff",
    "captions": "people_not_mentioned",
    "counterfactuals": "slopes-gender",
    "search": "gsr",
    "associations": "effect_sizes",
}
SCREENS = {"report-desk": (1280, 900, 900), "report-phone": (390, 844, 390)}  # width, height, width kept
FLAGS = ["--no-sandbox", "--disable-gpu"]


def main() -> None:
    """Run the notebooks, then copy and take the pictures."""
    OUT.mkdir(parents=True, exist_ok=True)
    runs = [run_notebook(stem) for stem in CHARTS]
    for run, (stem, chart) in zip(runs, CHARTS.items(), strict=True):
        shutil.copyfile(run.folder / "charts" / f"{stem}-{chart}.svg", OUT / f"{stem}.svg")
    with tempfile.TemporaryDirectory() as folder:
        page = portrayal.report(
            [run.folder for run in runs], Path(folder) / "all", title="Five audits of made-up systems"
        )
        take(Path(page))
    for path in sorted(OUT.iterdir()):
        print(f"{path.relative_to(ROOT)}: {path.stat().st_size:,} bytes")


def run_notebook(stem: str) -> portrayal.Run:
    """Run the code of a notebook and return its run."""
    names: dict[str, Any] = {}
    cells = json.loads((ROOT / "examples" / f"{stem}.ipynb").read_text(encoding="utf-8"))["cells"]
    for cell in cells:
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), f"{stem}.ipynb", "exec"), names)
    return names["run"]


def take(page: Path) -> None:
    """Keep the first screen of a report at each width."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        for name, (width, height, kept) in SCREENS.items():
            shown = browser.new_page(viewport={"width": width, "height": height})
            shown.goto(page.resolve().as_uri())
            keep(shown.screenshot(), kept, OUT / f"{name}.webp")
        browser.close()


def keep(png: bytes, width: int, path: Path) -> None:
    """Write a screenshot as a small WebP."""
    from PIL import Image

    picture = Image.open(io.BytesIO(png)).convert("RGB")
    height = round(picture.height * width / picture.width)
    picture.resize((width, height), Image.Resampling.LANCZOS).save(path, quality=80, method=6)


if __name__ == "__main__":
    main()
