"""Systems whose answers are known beforehand, through the whole path to the printed sentences: an oracle of editing amount, planted
slopes, null systems, and systems that are dead, refuse or always say the same."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from audits.counterfactuals.drawn_series import draw_folder
from audits.counterfactuals.made_up_taggers import audit_of
from portrayal import flow

# Functions beside the study: they see a path and nothing else, as every plug-in does.
SYSTEMS = '''
import hashlib
from pathlib import Path

import numpy as np
from PIL import Image


def chance(path, *more):
    """Return a number between 0 and 1 that follows from the picture's name."""
    text = "|".join((*Path(path).parts[-3:], *more))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") / 2**64


def amount(path):
    """Return the root mean square of what was changed, in units of the value: the picture against its own centre."""
    path = Path(path)
    centre = path.with_name(path.stem.rsplit("_", 1)[0] + "_+0.00.png")
    pixels = [np.asarray(Image.open(one), dtype=float) for one in (path, centre)]
    return float(np.sqrt(np.mean((pixels[0] - pixels[1]) ** 2))) / 30


def oracle(path):
    """See only how much was edited."""
    return ["Odd"] if chance(path) < 0.2 + 0.3 * amount(path) else []


def null(path):
    return [label for label in ("Cook", "Model", "Nurse") if chance(path, label) < 0.5]


def dead(path):
    raise RuntimeError("no answer")


def refuses(path):
    return {"refused": True}


def constant(path):
    return ["Person"]


def never(path):
    return {"Nurse": False}
'''
STUDY = """
name = "oracles"
audit = "counterfactuals"
[counterfactuals]
series = "series"
"""
TOLD = '[[systems]]\nname = "{name}"\nuse = "python:known_systems:{name}"\n'


def audited(folder: Path, *systems: str, people: int = 24) -> tuple[pl.DataFrame, list[str]]:
    """Run a study of drawn series before these systems; returns results and sentences."""
    draw_folder(folder / "series", people, pairs=(("White", "Black"),))
    (folder / "known_systems.py").write_text(SYSTEMS)
    (folder / "study.toml").write_text(STUDY + "".join(TOLD.format(name=name) for name in systems))
    flow.audit(folder / "study.toml", folder / "run", quiet=True)
    told = json.loads((folder / "run" / "results.json").read_text())
    return pl.read_parquet(folder / "run" / "results.parquet"), [one["sentence"] for one in told["findings"]]


def test_an_oracle_of_editing_amount_has_no_slope_whoever_starts_where(tmp_path: Path):
    results, sentences = audited(tmp_path, "oracle", people=40)
    # It does see the editing: three times as often at the ends as at the centre.
    rates = pl.read_parquet(tmp_path / "run" / "tables" / "rates.parquet").filter(pl.col("attribute") == "gender")
    assert rates.filter(pl.col("value").abs() == 2)["share"].min() > 2 * rates.filter(pl.col("value") == 0)["share"][0]
    slopes = results.filter(pl.col("measure").is_in(["slope", "slope_by_start"]), pl.col("label") == "Odd")
    by_start = slopes.filter(pl.col("measure") == "slope_by_start", pl.col("attribute") == "gender")
    assert by_start.select("group", "n").rows() == [("female", 20), ("male", 20)]
    assert slopes.height == 3 + 2 + 2  # gender, race and placebo; two starting groups of each of the two
    assert ((slopes["low"] <= 0) & (slopes["high"] >= 0)).all()
    assert results.filter(pl.col("decision") == "found").is_empty()
    assert sentences and all(
        sentence.startswith("It was not found that oracle gives a label") for sentence in sentences
    )


def test_an_oracle_of_the_distance_from_where_people_start_is_shown_by_their_groups():
    # Half start at -1 and half at 1; it says Odd where a face was moved by more than 1.5, or is at the centre.
    def oracle(person: int, attribute: str, value: float) -> list[str]:
        return ["Odd"] if abs(value - (1 if person % 2 else -1)) > 1.5 or value == 0 else []

    results, sentences = audit_of({"oracle": oracle}, people=24, start=lambda person: ("female", "male")[person % 2])
    # Women: Odd at 0, .67, 1.33 and 2: 4 / 12.44 = .32 of the centre's rate; men the other way; together 0.
    slopes = results.filter(pl.col("measure") == "slope_by_start")["value"].to_list()
    assert slopes == [pytest.approx(4 / (112 / 9)), pytest.approx(-4 / (112 / 9))]
    assert results.filter(pl.col("measure") == "slope")["value"].to_list() == [pytest.approx(0, abs=1e-12)]
    assert len(sentences) == 1 and sentences[0].startswith("It was not found that oracle gives a label")


def test_systems_that_say_nothing_or_always_the_same_crash_nothing_and_claim_nothing(tmp_path: Path):
    results, sentences = audited(tmp_path, "dead", "refuses", "constant", "never", "null", people=12)
    assert results.filter(pl.col("decision") == "found").is_empty()
    for name, told in (
        ("dead", "failed"),
        ("refuses", "refused"),
    ):  # 7 + 6 + 4 pictures of each: the centre is one of all three
        assert f"Nothing can be said of {name}: it answered none of 204 questions (204 {told})." in sentences
    assert not any(" constant " in one and not one.startswith("It was not tested whether") for one in sentences)
    assert any("never gives a label" in one and "it gave nobody any label" in one for one in sentences)
    assert any(one.startswith("It was not found that null gives a label") for one in sentences)
    assert "refuses" in (tmp_path / "run" / "report.html").read_text(encoding="utf-8")


def test_flips_stand_beside_the_placebos(tmp_path: Path):
    results, sentences = audited(tmp_path, "null", people=12)
    shares = dict(results.filter(pl.col("measure") == "any_flip").select("attribute", "value").iter_rows())
    assert shares == {"gender": 1.0, "race": 1.0, "placebo": 1.0}
    assert not any("flip" in one for one in sentences)
    table = pl.read_csv(next((tmp_path / "run" / "tables").glob("*flips*.csv")))
    assert table.select("attribute", "value", "placebo_value").rows() == [("gender", 1.0, 1.0), ("race", 1.0, 1.0)]
