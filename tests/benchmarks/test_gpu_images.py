"""The benchmark of pictures on a GPU, as far as a machine without one can run it."""

import subprocess
import sys
from pathlib import Path

import numpy as np

from portrayal.systems.core.base import Question
from portrayal.systems.encoders.pictures import Preparation
from portrayal.systems.encoders.towers import Towers

ROOT = Path(__file__).resolve().parents[2]
LIGHT = """
import sys
sys.modules |= dict.fromkeys(("polars", "pydantic", "transformers"))  # as on a machine with torch alone
sys.argv = ["gpu_images.py"]
import runpy
runpy.run_path("benchmarks/gpu_images.py", run_name="__main__")
"""


def test_without_transformers_it_is_one_line_and_nothing_else_is_needed():
    done = subprocess.run(
        [sys.executable, "-c", LIGHT], cwd=ROOT, capture_output=True, text=True, check=False, timeout=120
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("not measured: ") and done.stdout.count("\n") == 1


def test_there_is_an_answer_for_each_picture_in_order(tmp_path):
    from benchmarks.gpu_images import TowerEncoder, end_to_end, write_picture

    class Mean(Towers):
        preparation = Preparation(16)

        def pictures(self, pixels):
            return pixels.astype(np.float32).reshape(len(pixels), -1)

    for seed in range(5):
        write_picture(str(tmp_path), seed)
    questions = [Question(str(n), "image", str(tmp_path / f"{n}.jpg"), str(n)) for n in range(5)]
    system = TowerEncoder("m", "encoder", "m", batch=2, load=Mean)
    rate, answers = end_to_end(system, questions, 0.01)
    assert rate > 0
    (alone,) = end_to_end(TowerEncoder("m", "encoder", "m", load=Mean), questions[3:4], 0.001)[1]
    assert [answer.raw == alone.raw for answer in answers] == [False, False, False, True, False]
