"""`decode = "fast"`: Pillow's pixels without Pillow, what a GPU is given, and what becomes of all the rest.

No GPU is needed: a stand-in decodes in place of nvJPEG, and the same code runs on the CPU.
"""

import asyncio
import io
import sys
import threading

import numpy as np
import pytest
from PIL import Image

from portrayal.systems.core.base import Answer, CallFailed, Question
from portrayal.systems.core.readers import read_answer
from portrayal.systems.core.registry import open_system
from portrayal.systems.core.settings import SystemSettings
from portrayal.systems.encoders import towers as towers_module
from portrayal.systems.encoders.images.decoding import Decoder
from portrayal.systems.encoders.images.jpegs import DeviceJpegs, is_plain_jpeg, nvjpeg, read_plain_jpeg
from portrayal.systems.encoders.images.pictures import Preparation
from portrayal.systems.encoders.images.resampling import resizing_weights
from systems.encoders import small_clip

torch = pytest.importorskip("torch", reason="encoders run on torch: pip install 'portrayal[torch]'")

SIZES = [(500, 375), (375, 500), (224, 224), (100, 50), (37, 411), (640, 225)]


def tensor_of(picture):
    return torch.from_numpy(np.array(picture.convert("RGB"))).permute(2, 0, 1).contiguous()


def stand_in(files):
    """Decode as nvJPEG would: all of them, or a RuntimeError."""
    try:
        return [tensor_of(Image.open(io.BytesIO(bytes(file.numpy())))) for file in files]
    except Exception as error:
        raise RuntimeError(f"Error while decoding JPEG images: {error}") from None


def as_jpeg(picture, **options):
    buffer = io.BytesIO()
    picture.save(buffer, "JPEG", **{"quality": 90, **options})
    return buffer.getvalue()


def test_weights_by_hand():
    # Four pixels to two, bilinear: scale 2, reach 2 pixels. Centre of the first is 1; pixels 0 to 2 lie 0.5, 0.5, 1.5 away,
    # halved 0.25, 0.25, 0.75: weights 0.75, 0.75, 0.25 over 1.75. The second mirrors it.
    first = [3 / 7, 3 / 7, 1 / 7, 0]
    assert np.abs(resizing_weights(4, 2, "bilinear") - [first, first[::-1]]).max() < 2**-22


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("resample", ["bicubic", "bilinear", "lanczos"])
@pytest.mark.parametrize("crop", ["torchvision", "transformers"])
def test_cuts_on_a_device_are_pillows(size, resample, crop):
    from portrayal.systems.encoders.images.device_cuts import device_cuts

    preparation = Preparation(resample=resample, crop=crop)
    pictures = [small_clip.picture(seed, size) for seed in range(2)]
    found = device_cuts([tensor_of(picture) for picture in pictures], preparation).numpy().astype(int)
    off = np.abs(found - np.stack([preparation.pixels(picture) for picture in pictures]))
    assert off.max() <= 1 and (off > 0).mean() < 1e-3  # halves, which float32 may round the other way


@pytest.mark.parametrize("crop", ["torchvision", "transformers"])
@pytest.mark.parametrize("square", [False, True])
def test_a_cut_larger_than_the_picture_is_filled_with_black(crop, square):
    from portrayal.systems.encoders.images.device_cuts import device_cuts

    preparation = Preparation(65, shortest=40, crop=crop, square=square)
    picture = small_clip.picture(2, (61, 40))
    found = device_cuts([tensor_of(picture)], preparation).numpy().astype(int)
    assert np.abs(found[0] - preparation.pixels(picture)).max() <= 1


def test_pictures_of_many_sizes_keep_their_order(monkeypatch):
    from portrayal.systems.encoders.images import device_cuts

    monkeypatch.setattr(device_cuts, "MOST", 3 * 500 * 375)  # one of the large ones at a time
    pictures = [small_clip.picture(place, SIZES[place % 3]) for place in range(8)]
    found = device_cuts.device_cuts([tensor_of(picture) for picture in pictures], Preparation()).numpy()
    for picture, cut in zip(pictures, found.astype(int), strict=True):
        assert np.abs(cut - Preparation().pixels(picture)).max() <= 1


def test_which_jpegs_go_to_a_gpu():
    picture = small_clip.picture(0)
    plain = as_jpeg(picture)
    assert is_plain_jpeg(plain) and is_plain_jpeg(as_jpeg(picture, progressive=True))
    assert is_plain_jpeg(as_jpeg(picture, comment=b"x" * 300, exif=b"Exif\0\0" + b"\xff\xc0" * 40))
    assert not is_plain_jpeg(as_jpeg(picture.convert("L")))  # one channel
    assert not is_plain_jpeg(as_jpeg(picture.convert("CMYK")))  # four
    assert not is_plain_jpeg(as_jpeg(picture, keep_rgb=True))  # red, green and blue as they are
    assert not any(is_plain_jpeg(plain[:length]) for length in range(len(plain)))  # cut off: Pillow says so


def test_other_colours_and_sizes_are_left_to_pillow():
    plain = bytearray(as_jpeg(small_clip.picture(0)))
    frame = plain.index(b"\xff\xc0")
    huge = plain[: frame + 5] + b"\xff\xff\xff\xff" + plain[frame + 9 :]  # 65,535 x 65,535
    empty = plain[: frame + 5] + b"\x00\x00" + plain[frame + 7 :]
    adobe = b"\xff\xee\x00\x0eAdobe\x00\x64\x00\x00\x00\x00"
    assert not is_plain_jpeg(huge) and not is_plain_jpeg(empty)
    assert is_plain_jpeg(plain[:2] + adobe + b"\x01" + plain[2:])
    assert not is_plain_jpeg(plain[:2] + adobe + b"\x00" + plain[2:])
    assert not is_plain_jpeg(b"\xff\xd8" + b"\xff\xe0\x00\x00" * 30 + b"\xff\xd9")
    assert not is_plain_jpeg(b"")


def test_a_file_that_is_not_there_is_left_to_pillow(tmp_path):
    assert read_plain_jpeg(str(tmp_path / "gone.jpg")) is None
    assert read_plain_jpeg(str(tmp_path)) is None


def test_nothing_decodes_on_a_cpu_or_without_torchvision(monkeypatch):
    assert nvjpeg("cpu") is None
    monkeypatch.setitem(sys.modules, "torchvision.io", None)
    assert nvjpeg("cuda") is None


def test_a_damaged_picture_costs_its_own_place_alone():
    asked = []

    def decode(files):
        asked.append(len(files))
        return stand_in(files)

    good = as_jpeg(small_clip.picture(0))
    files = [bytearray(good), bytearray(b"damaged"), bytearray(good), bytearray(good)]
    found = DeviceJpegs(decode).decoded(files)
    assert [picture is None for picture in found] == [False, True, False, False]
    assert asked == [4, 2, 1, 1, 2]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    pytest.importorskip("transformers", reason="writes the model: pip install 'portrayal[torch]'")
    place = tmp_path_factory.mktemp("clip")
    small_clip.save(place)
    return place


@pytest.fixture
def on_device(monkeypatch):
    """JPEGs are decoded by the stand-in, as if there were a GPU."""
    monkeypatch.setattr(towers_module, "open_jpegs", lambda device: DeviceJpegs(stand_in))


def open_clip(folder, **parameters):
    settings = SystemSettings(name="c", use="clip", parameters={"device": "cpu", "path": ".", **parameters})
    return open_system(settings, folder, "encoder")


def asked_of(system, questions):
    async def run():
        try:
            return await system.ask(questions)
        finally:
            await system.close()

    return asyncio.run(run())


def mixed(tmp_path):
    """Two JPEGs, a PNG, a grey JPEG, a broken one, one that is not there, a text, and the first again."""
    pictures = [small_clip.picture(seed, (120, 90)) for seed in range(4)]
    files = {
        "a.jpg": as_jpeg(pictures[0]), "b.jpg": as_jpeg(pictures[1]), "d.jpg": as_jpeg(pictures[3].convert("L")),
        "e.jpg": as_jpeg(pictures[0])[:500] + b"\xff\xd9",
    }  # fmt: skip
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    pictures[2].save(tmp_path / "c.png")
    names = ["a.jpg", "b.jpg", "c.png", "d.jpg", "e.jpg", "gone.jpg"]
    questions = [Question(name, "image", str(tmp_path / name), name) for name in names]
    return [*questions, Question("t", "text", "a photo", "t"), questions[0]]


def vectors(system, answers):
    return [np.array(read_answer(system, answer)[0]["embedding"]) for answer in answers]


def test_the_fast_path_is_close_says_so_and_leaves_the_rest_exact(folder, tmp_path, on_device):
    questions = mixed(tmp_path)
    exact_system, fast_system = open_clip(folder), open_clip(folder, decode="fast")
    exact, fast = asked_of(exact_system, questions), asked_of(fast_system, questions)
    failed = [isinstance(answer, CallFailed) for answer in exact]
    assert failed == [isinstance(answer, CallFailed) for answer in fast] == [place in (4, 5) for place in range(8)]
    assert str(exact[4]) == str(fast[4])
    good = [place for place in range(8) if not failed[place]]
    assert {fast[place].version.endswith(":fast") for place in (0, 1, 7)} == {True}
    assert [fast[place].version for place in (2, 3, 6)] == [exact[place].version for place in (2, 3, 6)]
    pairs = zip(
        vectors(exact_system, [exact[g] for g in good]), vectors(fast_system, [fast[g] for g in good]), strict=True
    )
    for one, other in pairs:
        assert 1 - one @ other / np.linalg.norm(one) / np.linalg.norm(other) < 1e-4  # the stand-in is Pillow itself


def test_without_a_gpu_the_fast_path_is_the_exact_one(folder, tmp_path):
    questions = [question for question in mixed(tmp_path) if question.stimulus in ("a.jpg", "c.png")]
    exact, fast = (asked_of(open_clip(folder), questions), asked_of(open_clip(folder, decode="fast"), questions))
    assert [(one.raw, one.version) for one in fast] == [(one.raw, one.version) for one in exact]


def test_a_model_of_transformers_takes_pixels_of_the_device_too(tmp_path):
    from portrayal.systems.encoders.images.device_cuts import on_device as prepared

    pixels = np.random.default_rng(0).integers(0, 256, (2, 8, 8, 3), dtype=np.uint8)
    array = prepared(pixels, Preparation(8), "cpu", torch.float32)
    tensor = prepared(torch.from_numpy(pixels), Preparation(8), "cpu", torch.float32)
    assert torch.allclose(array, tensor, atol=1e-5)


def test_an_exact_embedding_serves_both_a_fast_one_only_the_fast(folder, tmp_path, on_device):
    first, second = mixed(tmp_path)[:2]
    cache = str(tmp_path / "cache.sqlite")
    exact = asked_of(open_clip(folder, cache=cache), [first])
    fast = asked_of(open_clip(folder, cache=cache, decode="fast"), [first, second])
    assert (fast[0].raw, fast[0].version) == (exact[0].raw, exact[0].version)
    assert fast[1].version == exact[0].version + ":fast"
    again = open_clip(folder, cache=cache, decode="fast")
    assert again.recalled([first, second]) == {"a.jpg": fast[0], "b.jpg": fast[1]}
    later = asked_of(open_clip(folder, cache=cache), [first, second])
    assert {answer.version for answer in later} == {exact[0].version}


def test_answers_of_workers_are_kept_under_their_own_version(folder, tmp_path):
    question = mixed(tmp_path)[0]
    system = open_clip(folder, cache=str(tmp_path / "cache.sqlite"), decode="fast")
    answer = Answer(np.ones(3, "<f4").tobytes(), "application/x-float32", system.model_hash + ":fast")
    assert system.recalled([question]) == {}
    system.remember([question], [answer])
    assert system.recalled([question]) == {question.hash: answer}
    asyncio.run(system.close())


@pytest.mark.parametrize("decode", ["exact", "fast"])
def test_a_batch_is_decoded_while_another_is_encoded(folder, tmp_path, monkeypatch, on_device, decode):
    """The first batch is encoded only once the second was decoded: without overlap it would wait in vain."""
    both_decoded, batches, in_time = threading.Event(), [], []
    whole = Decoder.decoded

    def counted(self, questions):
        found = whole(self, questions)
        batches.append(questions)
        if len(batches) == 2:
            both_decoded.set()
        return found

    class Waiting(towers_module.Towers):
        preparation, takes_tensors = Preparation(8), True

        def pictures(self, pixels):
            in_time.append(both_decoded.wait(timeout=20))
            return np.zeros((len(pixels), 2), np.float32)

    monkeypatch.setattr(Decoder, "decoded", counted)
    system = open_clip(folder, decode=decode)
    monkeypatch.setattr(type(system), "load", lambda self: Waiting())
    first, second = mixed(tmp_path)[:2]

    async def both():
        return await asyncio.gather(system.ask([first]), system.ask([second]))

    asyncio.run(both())
    asyncio.run(system.close())
    assert in_time == [True, True]


def test_a_misspelt_way_of_decoding_is_refused(folder):
    from portrayal.errors import PortrayalError

    with pytest.raises(PortrayalError, match="decode"):
        open_clip(folder, decode="quick")
