"""Series of a folder: the rows of an audit in memory that are sums over people, counts equal and floats within 1e-12."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from portrayal import PortrayalError, label_shares
from portrayal.audits.counterfactuals.measures.measure import measure_counterfactuals
from portrayal.audits.counterfactuals.measures.rows import FACETS

# Newton's steps over all series; scores that must be there for every label; the placebo's decisions.
NOT_SUMS = {"placebo_labels_moved"}
KEY = ["system", "measure", "group", "versus", *FACETS]
FIGURES = ["value", "low", "high", "n", "n_missing", "unit", "counted"]
AXES = [("gender", None, None), ("race", "White", "Black"), ("race", "White", "East Asian"), ("placebo", None, None)]
TAGS = ["person", "nurse", "engineer", "beard", "rare"]


def series(people: int, seed: int = 0) -> dict[str, pl.DataFrame]:
    """Return people with one to three pictures along four axes, asked twice by three systems; some steps failed or were refused."""
    draw = np.random.default_rng(seed)
    stimuli = [
        {"stimulus": f"{person}.{picture}.{place}.{value:+}", "picture": f"{person}.{picture}", "person": f"p{person}",
         "attribute": axis[0], "pole_low": axis[1], "pole_high": axis[2], "condition": "edited", "value": float(value)}
        for person in range(people) for picture in range(1 + person % 3)
        for place, axis in enumerate(AXES) for value in (-2, -1, 0, 1, 2)
    ]  # fmt: skip
    stimuli = [one | {"start": [None, "x", "y", "z"][int(one["person"][1:]) % 4]} for one in stimuli]
    whole = [one for one in stimuli if one["value"] == 0 and one["person"] != "p2"]
    stimuli += [one | {"stimulus": f"{one['stimulus']}.whole", "condition": "unedited", "value": None} for one in whole]
    rows = []
    for system, shown, repeat in ((s, one, r) for s in ("a", "b", "silent") for one in stimuli for r in (0, 1)):
        status = "refused" if system == "silent" else str(draw.choice(["answered"] * 16 + ["empty", "refused"]))
        asked = {"system": system, "stimulus": shown["stimulus"], "repeat": repeat, "status": status}
        value = shown["value"] or 0.0
        chance = [0.9, 0.4 + 0.1 * value, 0.3, 0.2, 0.2 if value > 1 else 0.0]
        tags = [tag for tag, likely in zip(TAGS, chance, strict=True) if draw.random() < likely]
        told = (tags or [None]) if status == "answered" else [None]
        rows += [{**asked, "tag": tag, "confidence": None if tag is None else 0.5} for tag in told]
    schema = {"pole_low": pl.String, "pole_high": pl.String, "start": pl.String}
    return {
        "stimuli": pl.DataFrame(stimuli, schema_overrides=schema, infer_schema_length=None),
        "responses": pl.DataFrame(rows, infer_schema_length=None, schema_overrides={"confidence": pl.Float64}),
    }


def write(folder: Path, tables: dict[str, pl.DataFrame], cuts: list[int]) -> Path:
    """Write parts of people: up to each cut, and the rest."""
    of = tables["stimuli"].select("stimulus", number=pl.col("person").str.slice(1).cast(pl.Int64))
    for name, table in tables.items():
        (folder / name).mkdir(parents=True)
        numbered = table.join(of, on="stimulus", maintain_order="left")
        for place, (start, stop) in enumerate(zip([0, *cuts], [*cuts, 10**9], strict=True)):
            part = numbered.filter(pl.col("number") >= start, pl.col("number") < stop).drop("number")
            part.write_parquet(folder / name / f"{place:05}.parquet")
    return folder


def same(found: pl.DataFrame, tables: dict[str, pl.DataFrame]) -> None:
    expected = measure_counterfactuals(tables["stimuli"], tables["responses"], 2, plain_too=True).results
    # A system whose series is nowhere whole has labels of which nothing is known; a folder leaves them out.
    empty = expected["value"].is_null() & expected["measure"].is_in(["slope", "slope_per_step", "paper_slope"])
    expected = expected.filter(~pl.col("measure").is_in(list(NOT_SUMS)), ~empty)
    assert set(found["measure"]) == set(expected["measure"])
    assert found.select(KEY).is_duplicated().sum() == 0
    one, other = (table.select(*KEY, *FIGURES).sort(KEY) for table in (found, expected))
    assert_frame_equal(one, other, abs_tol=1e-12, rel_tol=1e-12)


# One part; several with an empty one; a part of one person.
@pytest.mark.parametrize("cuts", [[], [5, 5, 14], [1, 2]])
def test_series_of_a_folder_are_measured_as_in_memory(tmp_path, cuts) -> None:
    tables = series(30)
    found = label_shares(write(tmp_path / "series", tables, cuts))
    assert {"slope", "raw_slope", "rate", "flip_comes", "any_flip", "refused", "occupation_group_slope"} <= set(
        found["measure"]
    )
    same(found, tables)


def test_one_person_alone_has_shares_and_no_interval(tmp_path) -> None:
    tables = series(1, seed=3)
    same(label_shares(write(tmp_path / "series", tables, [])), tables)


def test_a_system_that_is_absent_from_a_part_lacks_its_people(tmp_path) -> None:
    tables = series(20)
    late = pl.col("stimulus").str.split(".").list.first().cast(pl.Int64) >= 12
    tables["responses"] = tables["responses"].filter(~(late & (pl.col("system") == "b")))
    found = label_shares(write(tmp_path / "series", tables, [12]))
    assert found.filter(measure="any_flip", system="b")["n_missing"].min() >= 8
    same(found, tables)


def test_people_in_two_parts_and_other_steps_are_refused(tmp_path) -> None:
    folder = write(tmp_path / "series", series(4), [2])
    for name in ("stimuli", "responses"):
        first = pl.read_parquet(folder / name / "00000.parquet")
        first.write_parquet(folder / name / "00002.parquet")
    with pytest.raises(PortrayalError, match="person 'p0' is in two parts"):
        label_shares(folder)
    stimuli = folder / "stimuli" / "00002.parquet"
    shifted = pl.read_parquet(stimuli).with_columns(value=pl.col("value") * 2, person=pl.format("x{}", "person"))
    shifted.write_parquet(stimuli)
    with pytest.raises(PortrayalError, match="Expected the same steps in all"):
        label_shares(folder)
    (folder / "responses" / "00001.parquet").unlink()
    with pytest.raises(PortrayalError, match="Expected a file of this name"):
        label_shares(folder)
