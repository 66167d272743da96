"""Composing: the ratio, the alignment, the flood, and what the checks flag."""

import numpy as np
import polars as pl
import pytest
from PIL import Image, ImageDraw

from portrayal.audits.contexts.factorial import MANIFEST, Recipe, compose_all, load_backgrounds, read_manifest
from portrayal.errors import PortrayalError
from portrayal.pictures.compose import (
    cut_out,
    fit_background,
    flaws,
    flood,
    grow,
    person_scale,
    place,
    scale_person,
    trim,
)
from portrayal.pictures.contact_sheet import contact_sheet


def portrait(backdrop=(236, 236, 238), shade: int = 0):
    image = Image.new("RGB", (300, 300), backdrop)
    if shade:  # light falls off to the right
        ramp = np.linspace(0, shade, 300)[None, :, None]
        image = Image.fromarray(np.clip(np.asarray(image) - ramp, 0, 255).astype(np.uint8))
    draw = ImageDraw.Draw(image)
    draw.ellipse((100, 40, 200, 180), fill=(140, 95, 75))
    draw.rectangle((60, 170, 240, 300), fill=(60, 70, 90))
    return image


def naive_flood(alike: np.ndarray) -> np.ndarray:
    height, width = alike.shape
    reached, queue = np.zeros_like(alike), [(0, 0), (0, width - 1)]
    while queue:
        y, x = queue.pop()
        if 0 <= y < height and 0 <= x < width and alike[y, x] and not reached[y, x]:
            reached[y, x] = True
            queue += [(y + 1, x), (y - 1, x), (y, x + 1), (y, x - 1)]
    return reached


@pytest.mark.parametrize("seed", range(5))
def test_flood_equals_a_naive_flood(seed):
    alike = np.random.default_rng(seed).random((25, 40)) < 0.65
    assert np.array_equal(flood(alike), naive_flood(alike))


def test_grow_by_hand():
    mask = np.zeros((5, 5), bool)
    mask[2, 2] = True
    assert grow(mask, 1).sum() == 9
    assert grow(mask, 2).all()


@pytest.mark.parametrize("shade", [0, 50])
def test_the_backdrop_goes_and_the_person_stays(shade):
    alpha = np.asarray(cut_out(portrait(shade=shade)).image.getchannel("A"))
    assert alpha[5, 5] == 0
    assert alpha[5, 290] == 0
    assert alpha[100, 150] == 255
    assert alpha[280, 150] == 255
    # The drawn person: an ellipse of 100 x 140 and a box of 180 x 130 that overlap by about 10 rows.
    assert (alpha > 127).mean() == pytest.approx((np.pi * 50 * 70 + 180 * 130 - 500) / 90000, abs=0.01)


def test_an_alpha_channel_is_used_as_it_is():
    image = portrait().convert("RGBA")
    image.putalpha(Image.new("L", image.size, 0))
    image.putpixel((10, 10), (1, 2, 3, 255))
    assert np.asarray(cut_out(image).image.getchannel("A")).sum() == 255


@pytest.mark.parametrize("ratio", [0.2, 0.5])
def test_person_to_background_ratio(ratio):
    person = trim(cut_out(portrait()).image)
    scale = person_scale(person, (400, 300), ratio)
    placed = place(scale_person(person, scale), Image.new("RGB", (400, 300), "green"), scale)
    # ratio = person / unobscured background, so the person's share of all pixels is ratio / (1 + ratio).
    assert placed.person_share == pytest.approx(ratio / (1 + ratio), abs=0.01)
    assert not placed.clipped


def test_aligned_at_the_bottom_and_centred():
    person = Image.new("RGBA", (20, 10), (255, 0, 0, 255))
    canvas = np.asarray(place(person, Image.new("RGB", (100, 50), "white")).image)
    rows, columns = np.where((canvas == (255, 0, 0)).all(axis=2))
    assert (rows.min(), rows.max(), columns.min(), columns.max()) == (40, 49, 40, 59)


def test_a_person_too_large_is_clipped_and_said():
    assert place(Image.new("RGBA", (20, 90), "red"), Image.new("RGB", (100, 50))).clipped


@pytest.mark.parametrize(("crop", "first", "last"), [("top", 100, 199), ("bottom", 0, 99), ("both", 50, 149)])
def test_background_crop(crop, first, last):
    tall = Image.fromarray(np.repeat(np.arange(200, dtype=np.uint8)[:, None], 100, axis=1)).convert("RGB")
    fitted = np.asarray(fit_background(tall, (100, 100), crop))[:, 0, 0]
    assert (fitted[0], fitted[-1]) == pytest.approx((first, last), abs=1)


def test_bad_crop_and_ratio_are_named():
    with pytest.raises(PortrayalError, match="Expected top, bottom or both"):
        fit_background(portrait(), (10, 10), "left")
    with pytest.raises(PortrayalError, match="ratio is 0"):
        person_scale(portrait().convert("RGBA"), (50, 50), 0)


def test_scaling_keeps_transparent_colour_out():
    person = Image.new("RGBA", (40, 40), (255, 255, 255, 0))
    person.paste((10, 20, 30, 255), (10, 10, 30, 30))
    small = np.asarray(scale_person(person, 0.3))
    inside = small[small[..., 3] > 40]
    assert inside[:, :3].max() < 60  # the white behind the person does not bleed in


def test_flaws_are_flagged():
    assert flaws(cut_out(portrait())) == ()
    clipped = portrait()
    ImageDraw.Draw(clipped).rectangle((100, 0, 200, 100), fill=(40, 30, 20))
    assert "head clipped at the top" in flaws(cut_out(clipped))
    enclosed = portrait()
    ImageDraw.Draw(enclosed).ellipse((120, 210, 180, 270), fill=(236, 236, 238))
    assert "backdrop left over" in flaws(cut_out(enclosed))
    pierced = cut_out(portrait()).image
    ImageDraw.Draw(pierced).ellipse((130, 210, 170, 250), fill=(0, 0, 0, 0))
    assert "holes in the person" in flaws(cut_out(pierced))


@pytest.fixture
def design(tmp_path):
    portrait().save(tmp_path / "a.png")
    portrait((220, 230, 220)).save(tmp_path / "b.png")
    people = pl.DataFrame(
        [
            {
                "person": n,
                "file": str(tmp_path / f"{n}.png"),
                "source": "drawn",
                "license": "CC0",
                "consent": "generated",
                "gender": g,
            }
            for n, g in (("a", "female"), ("b", "male"))
        ]
    )
    return people, load_backgrounds(per_context=1), tmp_path / "pictures"


def test_the_whole_factorial_with_baselines_backgrounds_and_manifest(design):
    people, backgrounds, folder = design
    manifest = compose_all(people, backgrounds, folder, Recipe(160, 120))
    assert dict(manifest["role"].value_counts().iter_rows()) == {"baseline": 2, "composite": 16, "background": 8}
    assert manifest["hash"].null_count() == 0
    composite = manifest.filter(role="composite").row(0, named=True)
    assert composite["license"] == "CC0; Apache-2.0"
    assert composite["person_share"] == pytest.approx(1 / 3, abs=0.02)
    assert (composite["ratio"], composite["tolerance"]) == ("0.5", "24")
    again = compose_all(people, backgrounds, folder, Recipe(160, 120))
    assert again.equals(manifest)
    assert len(list(folder.glob(f"*/{MANIFEST}"))) == 1
    other = compose_all(people, backgrounds, folder, Recipe(160, 120, ratio=0.3))
    assert len(list(folder.glob(f"*/{MANIFEST}"))) == 2
    assert set(other["hash"]) != set(manifest["hash"])


def test_contact_sheet_shows_every_cell(design):
    people, backgrounds, folder = design
    manifest = compose_all(people, backgrounds, folder, Recipe(160, 120))
    import io

    sheet = Image.open(io.BytesIO(contact_sheet(manifest, cell=(40, 30))))
    assert sheet.size == (56 + 9 * 40, 28 + 3 * 30)
    assert read_manifest(next(folder.iterdir())).equals(manifest)


def test_shipped_backgrounds_are_several_per_context_and_small():
    table = load_backgrounds()
    assert table.group_by("context").len()["len"].min() == 3
    assert table["context"].n_unique() == 8
    from pathlib import Path

    assert all(Path(name).stat().st_size < 60_000 for name in table["file"])
