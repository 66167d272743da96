"""Take the picture in the README: the first screen of the demonstration's report.

    make demo
    .venv/bin/python scripts/readme_picture.py demo/report.html

Needs Debian's chromium and playwright (the extra `[test]` brings it). The people in the demonstration do not exist.
"""

from __future__ import annotations

import argparse
import io
import shutil
import sys
from pathlib import Path

from PIL import Image

PICTURE = Path(__file__).parent.parent / "docs" / "images" / "report.png"
SCREEN = {"width": 1200, "height": 900}
COLOURS = 64  # a page of text and flat charts needs no more
LARGEST = 200_000  # bytes


def screenshot(page: Path) -> bytes:
    """Return the first screen of a page as PNG."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--headless", "--no-sandbox", "--disable-gpu"]
        )
        tab = browser.new_context(viewport=SCREEN, color_scheme="light").new_page()
        tab.goto(page.resolve().as_uri())
        taken = tab.screenshot()
        browser.close()
    return taken


def small(taken: bytes) -> bytes:
    """Return the picture in few colours."""
    with Image.open(io.BytesIO(taken)) as picture:
        reduced = picture.convert("RGB").quantize(COLOURS)
    out = io.BytesIO()
    reduced.save(out, "PNG", optimize=True)
    return out.getvalue()


def main() -> None:
    """Take the picture of a report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("report", type=Path, nargs="?", default=Path("demo/report.html"))
    parser.add_argument("--out", type=Path, default=PICTURE)
    given = parser.parse_args()
    if not given.report.is_file():
        sys.exit(f"no report at {given.report}. Make one: make demo")
    data = small(screenshot(given.report))
    if len(data) > LARGEST:
        sys.exit(f"the picture has {len(data):,} bytes, at most {LARGEST:,} are meant. Take fewer colours.")
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_bytes(data)
    print(f"{given.out}: {len(data):,} bytes")


if __name__ == "__main__":
    main()
