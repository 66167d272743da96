"""Studies run side by side come to the same results, in the order they were given."""

import shutil
from pathlib import Path

import polars as pl

from portrayal import example_study
from portrayal.flow import demo


def test_side_by_side_is_as_one_after_the_other(tmp_path: Path) -> None:
    shipped = Path(example_study())
    copied = Path(shutil.copytree(shipped.parent, tmp_path / "studies"))
    studies = [copied / "second.toml", copied / "first.toml"]
    for study in studies:
        shutil.copy(shipped, study)
    found = {}
    for processes in (1, 2):
        out = tmp_path / str(processes)
        (out / "runs").mkdir(parents=True)
        ran = demo.run_studies(studies, out, True, processes)
        assert [one.folder.name for one in ran] == ["second", "first"]
        assert all(one.measuring > 0 for one in ran)
        found[processes] = [pl.read_parquet(one.folder / "results.parquet") for one in ran]
    assert all(one.equals(other) for one, other in zip(found[1], found[2], strict=True))
