"""Bad pictures: each is handled and named, none is lost."""

import io
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from PIL import Image, ImageDraw

from portrayal.audits.contexts.factorial import Recipe, compose_all
from portrayal.pictures.compose import NoUniformBackdrop, cut_out
from portrayal.pictures.images import UnreadableImage, open_image


def portrait(size=(200, 200), backdrop=(240, 240, 240)):
    image = Image.new("RGB", size, backdrop)
    draw = ImageDraw.Draw(image)
    draw.ellipse((60, 30, 140, 130), fill=(150, 100, 80))
    draw.rectangle((40, 125, 160, 200), fill=(40, 60, 120))
    return image


def test_truncated(tmp_path):
    buffer = io.BytesIO()
    portrait().save(buffer, "JPEG")
    (tmp_path / "cut.jpg").write_bytes(buffer.getvalue()[:600])
    with pytest.raises(UnreadableImage, match=r"cut\.jpg cannot be read as a picture"):
        open_image(tmp_path / "cut.jpg")


def test_zero_bytes(tmp_path):
    (tmp_path / "empty.png").touch()
    with pytest.raises(UnreadableImage, match=r"empty\.png is empty \(0 bytes\)"):
        open_image(tmp_path / "empty.png")


def test_not_a_picture_and_missing(tmp_path):
    (tmp_path / "page.jpg").write_text("<html>not found</html>")
    with pytest.raises(UnreadableImage, match=r"page\.jpg cannot be read"):
        open_image(tmp_path / "page.jpg")
    with pytest.raises(UnreadableImage, match="no picture at"):
        open_image(tmp_path / "nobody.jpg")


def test_cmyk(tmp_path):
    portrait().convert("CMYK").save(tmp_path / "print.jpg", quality=95)
    opened = open_image(tmp_path / "print.jpg")
    assert opened.image.mode == "RGB"
    assert opened.notes == ("CMYK: converted to RGB",)
    assert abs(opened.image.getpixel((5, 5))[0] - 240) < 12


def test_sixteen_bits_are_scaled_not_cut_off(tmp_path):
    Image.fromarray(np.full((20, 30), 32896, dtype=np.uint16)).save(tmp_path / "deep.png")
    opened = open_image(tmp_path / "deep.png")
    assert opened.image.getpixel((3, 3)) == (128, 128, 128)  # 32896 / 257
    assert "more than 8 bits: scaled to 8" in opened.notes


def test_animated_uses_the_first_frame(tmp_path):
    frames = [Image.new("RGB", (30, 30), colour) for colour in ("red", "blue")]
    frames[0].save(tmp_path / "moving.gif", save_all=True, append_images=frames[1:])
    opened = open_image(tmp_path / "moving.gif")
    assert opened.image.convert("RGB").getpixel((5, 5))[0] > 200
    assert "animated: first frame used" in opened.notes


def test_exif_rotation_is_followed(tmp_path):
    exif = Image.Exif()
    exif[0x0112] = 6  # turned by 90 degrees
    Image.new("RGB", (60, 20), "green").save(tmp_path / "turned.jpg", exif=exif)
    opened = open_image(tmp_path / "turned.jpg")
    assert opened.image.size == (20, 60)
    assert "turned upright as its EXIF says" in opened.notes


def test_enormous_is_refused_before_it_is_decoded(tmp_path):
    Image.new("1", (9000, 9000)).save(tmp_path / "poster.png")
    with pytest.raises(UnreadableImage, match="9000 x 9000 pixels"):
        open_image(tmp_path / "poster.png", most_pixels=1_000_000)


def test_no_uniform_backdrop_is_named():
    noise = np.random.default_rng(0).integers(0, 255, (120, 120, 3), dtype=np.uint8)
    noisy = Image.fromarray(noise).resize((480, 480), Image.Resampling.NEAREST)
    with pytest.raises(NoUniformBackdrop, match="street has no uniform backdrop"):
        cut_out(noisy, name="street")


def test_a_factorial_names_who_cannot_be_used_and_keeps_the_others(tmp_path):
    portrait().save(tmp_path / "good.png")
    (tmp_path / "bad.png").touch()
    noise = np.random.default_rng(0).integers(0, 255, (12, 12, 3), dtype=np.uint8)
    Image.fromarray(noise).resize((200, 200), Image.Resampling.NEAREST).save(tmp_path / "street.png")
    people = pl.DataFrame(
        [
            {
                "person": name,
                "file": str(tmp_path / f"{name}.png"),
                "source": "s",
                "license": "l",
                "consent": "drawn",
                "gender": "female",
            }
            for name in ("good", "bad", "street")
        ]
    )
    Image.new("RGB", (300, 200), "navy").save(tmp_path / "bg.png")
    backgrounds = pl.DataFrame(
        [{"background": "F1-1", "context": "F1", "file": str(tmp_path / "bg.png"), "source": "b", "license": "c"}]
    )
    manifest = compose_all(people, backgrounds, tmp_path / "out", Recipe(160, 120))
    unusable = dict(manifest.filter(role="unusable").select("stimulus", "flags").iter_rows())
    assert manifest["role"].value_counts().sort("role").rows() == [
        ("background", 1), ("baseline", 1), ("composite", 1), ("unusable", 2)]  # fmt: skip
    assert "is empty (0 bytes)" in unusable["bad"]
    assert "no uniform backdrop" in unusable["street"]
    assert Path(manifest.filter(role="composite")["file"][0]).is_file()
