"""Further people for the check of identity: at neutral points, or as they were found."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from training.generated import others

from drawn_studio import DrawnStudio
from portrayal.pictures.series.manifest import MANIFEST
from portrayal_faces.generator.readings import BOTH, COLUMNS
from portrayal_faces.series.judged import read_files


@pytest.fixture(autouse=True)
def squares(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(others, "SmallStudio", lambda draw: DrawnStudio())
    monkeypatch.setattr(others, "best_device", lambda: (None, "squares"))


@pytest.mark.parametrize("as_found", [True, False])
def test_everybody_has_a_picture_of_every_axis_that_the_check_reads(tmp_path: Path, as_found: bool) -> None:
    assert others.others(tmp_path, 3, 60, 1, as_found) == 12  # gender and three pairs
    axes = read_files(tmp_path, whole=False)
    assert len(axes) == 4 and all(len(everybody) == 3 for everybody in axes.values())
    files = {path for everybody in axes.values() for one in everybody.values() for path in one.values()}
    assert len(files) == (3 if as_found else 12)
    told = json.loads((tmp_path / MANIFEST).read_text())
    assert told["consent"] == "generated" and len(told["people"]) == 3


def test_who_is_shown_as_found_was_not_brought_to_a_neutral_point(tmp_path: Path) -> None:
    read = {}
    for as_found in (True, False):
        folder = tmp_path / str(as_found)
        others.others(folder, 3, 60, 1, as_found)
        files = next(iter(read_files(folder, whole=False).values())).values()
        pictures = np.stack([np.asarray(Image.open(one[0.0]).convert("RGB")) for one in files])
        read[as_found] = np.abs(DrawnStudio().read(pictures)[:, COLUMNS.index(BOTH)])
    assert read[False].max() < 0.3 < read[True].min()
