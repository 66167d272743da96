"""Grad-CAM finds a planted region, in a ResNet and in a transformer; the saliency experiment end to end."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from PIL import Image

from portrayal import flow
from portrayal.errors import PortrayalError
from portrayal.systems.encoders.pairs import TransformersPair, open_pair
from portrayal.systems.encoders.pictures import Preparation
from systems.encoders import small_clip

torch = pytest.importorskip("torch", reason="saliency runs on torch: pip install 'portrayal-audit[torch]'")

SIDE, FROM, TO = 256, 64, 192  # the red square: cells 2 to 5 of a grid of 8
TARGET = np.array([[1.0, 0.0, 0.0, 0.0]])


def red_square() -> Image.Image:
    pixels = np.full((SIDE, SIDE, 3), 120, np.uint8)
    pixels[FROM:TO, FROM:TO] = (230, 60, 60)
    return Image.fromarray(pixels)


def see_red(convolution) -> None:
    """Let channel 0 be redness: red less the mean of green and blue."""
    weights = torch.tensor([1.0, -0.5, -0.5])[:, None, None]
    convolution.weight.data.zero_()
    convolution.weight.data[0] = weights.expand_as(convolution.weight.data[0]) / convolution.weight[0, 0].numel()


class Convolutions(torch.nn.Module):
    """A network of the form of CLIP's ResNets: a map of channels, averaged, then something else to be similar to."""

    def __init__(self) -> None:
        super().__init__()
        self.layer4 = torch.nn.Conv2d(3, 8, 32, stride=32, bias=False)
        self.head = torch.nn.Linear(8, 4)

    def forward(self, pixels):
        return self.head(torch.relu(self.layer4(pixels)).mean(dim=(2, 3)))


def planted_resnet():
    """A network whose only open channel carries redness to the embedding's first number."""
    network = Convolutions().eval()
    see_red(network.layer4)
    network.head.weight.data.zero_()
    network.head.weight.data[0, 0] = 1.0
    network.head.bias.data = torch.tensor([0.0, 1.0, 0.0, 0.0])
    return network, network.layer4


def planted_vit():
    """A CLIP of transformers whose class token gathers the redness of the patches in its last block."""
    transformers = pytest.importorskip(
        "transformers", reason="encoders run on it: pip install 'portrayal-audit[torch]'"
    )
    vision = {"hidden_size": 64, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 1}
    model = transformers.CLIPModel(
        transformers.CLIPConfig(
            projection_dim=4,
            vision_config={**vision, "image_size": SIDE, "patch_size": 32, "projection_dim": 4},
            text_config={"hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1},
        )
    ).eval()
    for weights in model.parameters():
        weights.data.zero_()
    for module in model.modules():
        if isinstance(module, torch.nn.LayerNorm):
            module.weight.data.fill_(1.0)
    tower = model.vision_model
    see_red(tower.embeddings.patch_embedding)
    tower.embeddings.class_embedding.data[1] = 1.0
    last = tower.encoder.layers[-1].self_attn
    last.v_proj.weight.data[0, 0] = 1.0
    last.out_proj.weight.data[0, 0] = 1.0
    model.visual_projection.weight.data[0, 0] = 1.0
    model.visual_projection.weight.data[1, 1] = 1.0
    pair = TransformersPair(model, lambda texts: {}, Preparation(SIDE), "cpu", "float32")
    return pair.encode_pictures, pair.last_layer()


@pytest.mark.parametrize("plant", [planted_resnet, planted_vit])
def test_gradcam_finds_the_planted_region(plant) -> None:
    from portrayal.pictures.faces import region_shares
    from portrayal.systems.encoders.gradcam import enlarge, gradcam

    encode, layer = plant()
    pixels = Preparation(SIDE).array(red_square())[None]
    grid = gradcam(encode, layer, pixels, TARGET)[0]
    assert grid.shape == (8, 8)
    region = np.zeros((SIDE, SIDE), bool)
    region[FROM:TO, FROM:TO] = True
    share = region_shares(enlarge(grid, SIDE), {"planted": region, "rest": ~region})["planted"]
    assert share > 0.8
    # The square covers a quarter of the picture: a map that knew nothing would put .25 of its mass there.
    moved = np.roll(pixels, 96, axis=(2, 3))
    there = gradcam(encode, layer, moved, TARGET)[0]
    assert enlarge(there, SIDE)[160:, 160:].sum() > enlarge(grid, SIDE)[160:, 160:].sum()


@pytest.mark.parametrize("plant", [planted_resnet, planted_vit])
def test_a_target_the_region_speaks_against_has_no_map_there(plant) -> None:
    from portrayal.systems.encoders.gradcam import gradcam

    grid = gradcam(*plant(), Preparation(SIDE).array(red_square())[None], -TARGET)[0]
    assert grid[3, 3] == 0


def test_gradcam_equals_the_map_by_finite_differences() -> None:
    """Channel weights found by moving each channel a little, without any gradient."""
    from torch.nn import functional

    from portrayal.systems.encoders.gradcam import gradcam

    torch.manual_seed(0)
    network = Convolutions().eval()
    text, pixels = torch.randn(1, 4), torch.randn(1, 3, 96, 96)
    found = gradcam(network, network.layer4, pixels, text.numpy())[0]
    exact = network.double()
    with torch.no_grad():
        features = exact.layer4(pixels.double())

        def score(channel: int, shift: float) -> float:
            moved = features.clone()
            moved[0, channel] += shift
            pooled = exact.head(torch.relu(moved).mean(dim=(2, 3)))
            return functional.cosine_similarity(pooled, text.double()).item()

        cells = features[0, 0].numel()
        slopes = [(score(c, 1e-4) - score(c, -1e-4)) / 2e-4 / cells for c in range(features.shape[1])]
        expected = torch.relu((torch.tensor(slopes)[:, None, None] * features[0]).sum(dim=0)).numpy()
    assert expected.max() > 0
    assert np.abs(found - expected).max() < 1e-3 * expected.max()


STUDY = """
name = "Where it looks"
audit = "associations/saliency"

[[systems]]
name = "small"
use = "clip_saliency"
parameters = {{ path = "model", device = "cpu", {regions} }}

[associations]
table = "sobem:SOBEM"
prompts = {{ anger = "a photo of an angry person" }}
"""


@pytest.fixture(scope="module")
def prepared(tmp_path_factory) -> Path:
    pytest.importorskip("transformers", reason="makes the small model: pip install 'portrayal-audit[torch]'")
    folder = tmp_path_factory.mktemp("saliency")
    small_clip.save(folder / "model")
    (folder / "SOBEM").mkdir()
    (folder / "masks").mkdir()
    boxes = []
    for person in range(1, 5):
        for condition in ("NO", "O"):
            name = f"{person}_AN2_{condition}_1"
            small_clip.picture(person, (80, 80)).save(folder / "SOBEM" / f"{name}.png")
            boxes.append({"name": name, "left": 0.3, "top": 0.1, "right": 0.7, "bottom": 0.5})
            mask = np.zeros((64, 64), np.uint8)
            mask[:32] = 255
            Image.fromarray(mask).save(folder / "masks" / f"{name}.face.png")
    pl.DataFrame(boxes).write_csv(folder / "boxes.csv")
    return folder


@pytest.mark.parametrize("regions", ['boxes = "boxes.csv"', 'masks = "masks"'])
def test_the_saliency_experiment(prepared, regions, tmp_path) -> None:
    path = prepared / f"study_{regions[:5]}.toml"
    path.write_text(STUDY.format(regions=regions))
    flow.audit(path, tmp_path / "run", quiet=True)
    table = pl.read_parquet(tmp_path / "run" / "results.parquet")
    shares = table.filter(pl.col("measure") == "saliency_share").drop_nulls("value")
    parts = shares.filter(pl.col("group") == "nonobjectified")
    assert parts["value"].sum() == pytest.approx(1)
    differences = table.filter(pl.col("measure") == "saliency_difference")
    assert set(differences.select("group", "versus").rows()) == {("objectified", "nonobjectified")}
    maps = [file for file in (tmp_path / "run" / "charts").iterdir() if "saliency_maps" in file.name]
    assert maps
    marks = [file.read_bytes()[60:120] for file in (prepared / "SOBEM").iterdir()]
    for file in (tmp_path / "run").rglob("*"):
        if file.is_file():
            assert not any(mark in file.read_bytes() for mark in marks), "a photograph is in the run"


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("name,left,top,right,bottom\nother,0,0,1,1\n", "has no face box for"),
        ("name,left,top,right,bottom\n1_AN2_NO_1,0,,1,1\n", "is not four numbers"),
        ("name,left,top,right\n1_AN2_NO_1,0,0,1\n", "lacks column 'bottom'"),
    ],
)
def test_a_picture_without_box_is_one_line(prepared, tmp_path, table, message) -> None:
    (prepared / "few.csv").write_text(table)
    path = prepared / "few.toml"
    path.write_text(STUDY.format(regions='boxes = "few.csv"'))
    with pytest.raises(PortrayalError, match=message):
        flow.audit(path, tmp_path / "run", quiet=True)


def sobem_of(folder: Path, pictures: int) -> None:
    """Make so many pictures: people in two conditions, one picture of the last person where the number is odd."""
    (folder / "SOBEM").mkdir()
    boxes = []
    for place in range(pictures):
        name = f"{place // 2 + 1}_AN2_{('NO', 'O')[place % 2]}_1"
        small_clip.picture(place, (80, 80)).save(folder / "SOBEM" / f"{name}.png")
        boxes.append({"name": name, "left": 0.3, "top": 0.1, "right": 0.7, "bottom": 0.5})
    pl.DataFrame(boxes).write_csv(folder / "boxes.csv")


@pytest.mark.parametrize("pictures", [8, 9, 17])
@pytest.mark.parametrize("concurrency", [1, 4])
def test_any_number_of_pictures_at_any_concurrency(tmp_path, pictures, concurrency) -> None:
    """Batches of 8 are asked in threads: each picture's map must be the one it has alone."""
    from portrayal.systems.encoders.gradcam import gradcam

    small_clip.save(tmp_path / "model")
    sobem_of(tmp_path, pictures)
    limits = f'use = "clip_saliency"\nlimits = {{ concurrency = {concurrency} }}'
    text = STUDY.format(regions='boxes = "boxes.csv"').replace('use = "clip_saliency"', limits)
    (tmp_path / "study.toml").write_text(text)
    flow.record(tmp_path / "study.toml", tmp_path / "run", quiet=True)
    flow.measure(tmp_path / "run")
    answers = pl.read_parquet(tmp_path / "run" / "responses.parquet")
    assert answers["status"].unique().to_list() == ["answered"]
    assert answers["stimulus"].n_unique() == pictures
    towers = open_pair(tmp_path / "model")
    prompt = "a photo of an angry person"
    for path in sorted((tmp_path / "SOBEM").iterdir()):
        with Image.open(path) as picture:
            pixels = towers.preparation.array(picture)[None]
            alone = gradcam(towers.encode_pictures, towers.last_layer(), pixels, towers.texts([prompt]))[0]
        mine = answers.filter(pl.col("stimulus") == f"{prompt} | {path.name}")
        cells = mine.filter(pl.col("tag").str.starts_with("cell "))["confidence"].to_numpy()
        assert cells == pytest.approx(alone.ravel(), abs=1e-5)
