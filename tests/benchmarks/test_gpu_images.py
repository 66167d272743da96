"""The benchmark of pictures on a GPU, as far as a machine without one can run it."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from portrayal.systems.core.base import Answer

ROOT = Path(__file__).resolve().parents[2]
LIGHT = """
import sys
sys.modules |= dict.fromkeys(("polars", "pydantic", "torchvision"))  # as on a machine with torch alone
sys.argv = ["gpu_images.py"]
import runpy
runpy.run_path("benchmarks/gpu_images.py", run_name="__main__")
"""


def test_without_torchvision_it_is_one_line_and_nothing_else_is_needed():
    done = subprocess.run(
        [sys.executable, "-c", LIGHT], cwd=ROOT, capture_output=True, text=True, check=False, timeout=120
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("not measured: ") and done.stdout.count("\n") == 1


def test_both_paths_give_an_answer_for_each_picture_in_order(tmp_path, monkeypatch):
    torch = pytest.importorskip("torch", reason="encoders run on torch: pip install 'portrayal[torch]'")
    from benchmarks.gpu_images import Timed, _write, cosines, end_to_end

    from portrayal.systems.core.base import Question
    from portrayal.systems.encoders import towers
    from portrayal.systems.encoders.images.jpegs import DeviceJpegs
    from portrayal.systems.encoders.images.pictures import Preparation
    from systems.encoders.test_fast_decoding import stand_in

    class Mean(towers.Towers):
        preparation, takes_tensors = Preparation(16), True

        def pictures(self, pixels):
            return torch.as_tensor(pixels).float().reshape(len(pixels), -1).numpy()

    monkeypatch.setattr(towers, "open_jpegs", lambda device: DeviceJpegs(stand_in))
    for seed in range(5):
        _write(str(tmp_path), seed)
    questions = [Question(str(n), "image", str(tmp_path / f"{n}.jpg"), str(n)) for n in range(5)]
    given = {"name": "m", "kind": "encoder", "identity": "m", "batch": 2, "towers": Mean()}
    (fast, of_fast), (exact, of_exact) = (
        end_to_end(Timed(**given, decode=decode), questions, 0.1, 50) for decode in ("fast", "exact")
    )
    assert fast > 0 and exact > 0
    assert [answer.version for answer in of_fast] == [":fast"] * 5 and {a.version for a in of_exact} == {""}
    off, apart = cosines(of_exact, of_fast)
    assert off < 1e-5 < apart


def test_cosines_by_hand():
    from benchmarks.gpu_images import cosines

    def answers(*rows):
        return [Answer(np.array(row, "<f4").tobytes()) for row in rows]

    # (1, 0) and (0, 1) against (2, 0) and (3, 4): cosines 1 and 4/5; the two exact ones are at right angles.
    off, apart = cosines(answers([1, 0], [0, 1]), answers([2, 0], [3, 4]))
    assert off == pytest.approx(0.2) and apart == pytest.approx(1.0)
