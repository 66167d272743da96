"""Every vendor's protocol over a real socket: request, answer, version, scale, limits, and errors told apart."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from portrayal.errors import PortrayalError
from portrayal.systems.chat.chat import rows_of_text
from portrayal.systems.core.base import (
    AccessDenied,
    Answer,
    CallFailed,
    NothingThere,
    OutcomeUnknown,
    Question,
    QuotaSpent,
    Throttled,
    Unreadable,
)
from portrayal.systems.core.readers import read_answer
from portrayal.systems.core.registry import open_system
from portrayal.systems.core.settings import SystemSettings
from systems.vendor_server import vendor_server

KEYS = {
    "GOOGLE_ACCESS_TOKEN": "t0ken-google",
    "CLARIFAI_PAT": "t0ken-clarifai",
    "IMAGGA_KEY": "imagga-user",
    "IMAGGA_SECRET": "t0ken-imagga",
    "AZURE_VISION_KEY": "t0ken-azure",
    "OPENAI_API_KEY": "t0ken-openai",
    "ANTHROPIC_API_KEY": "t0ken-anthropic",
}
MODEL = {"model": "vlm", "dollars_per_million_input": 2.0, "dollars_per_million_output": 10.0}

# use, kind, parameters, rows, version
ANSWERS = [
    ("google", "tagger", {}, [{"tag": "Person", "confidence": 0.97}], ""),
    ("clarifai", "tagger", {}, [{"tag": "woman", "confidence": 0.99}], "aa7f"),
    ("imagga", "tagger", {}, [{"tag": "dog", "confidence": 80.5}], ""),
    ("azure", "tagger", {"service": "3.2"}, [{"tag": "person", "confidence": 0.9}], "2021-05-01"),
    ("azure", "captioner", {"service": "3.2"}, [{"caption": "a person standing"}], "2021-05-01"),
    ("azure", "tagger", {}, [{"tag": "clothing", "confidence": 0.8}], "2023-10-01"),
    ("azure", "captioner", {"gender_neutral": True}, [{"caption": "a person in a lab"}], "2023-10-01"),
    (
        "openai",
        "tagger",
        MODEL,
        [{"tag": "woman", "confidence": None}, {"tag": "tree", "confidence": None}],
        "vlm-1 fp_1",
    ),
    ("openai", "captioner", MODEL, [{"caption": "A woman by a tree."}], "vlm-1 fp_1"),
    (
        "anthropic",
        "tagger",
        MODEL,
        [{"tag": "woman", "confidence": None}, {"tag": "tree", "confidence": None}],
        "vlm-2",
    ),
]


@pytest.fixture(scope="module")
def server() -> Iterator[ThreadingHTTPServer]:
    with vendor_server() as running:
        yield running


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    path = tmp_path / "picture.png"
    Image.new("RGB", (100, 90), "teal").save(path)
    return path


def opened(server: ThreadingHTTPServer, use: str, kind: str, parameters: dict[str, Any], folder: Path = Path()):
    endpoint = {"endpoint": f"http://127.0.0.1:{server.server_port}"}
    settings = SystemSettings(name="mine", use=use, parameters={**endpoint, **parameters})
    return open_system(settings, folder, kind)


def ask(system: Any, picture: Path) -> Any:
    async def asking() -> Any:
        try:
            return (await system.ask([Question("1", "image", str(picture), "hash")]))[0]
        finally:
            await system.close()

    return asyncio.run(asking())


@pytest.mark.parametrize(("use", "kind", "parameters", "rows", "version"), ANSWERS)
def test_request_answer_and_version(server, picture, use, kind, parameters, rows, version) -> None:
    system = opened(server, use, kind, parameters)
    answer = ask(system, picture)
    assert read_answer(system, answer) == rows
    assert answer.version == version
    asked = server.seen[-1]
    assert not any(secret in asked["path"] + str(asked["query"]) for secret in KEYS.values())
    assert not any(secret.encode() in answer.raw for secret in KEYS.values())
    assert not any(secret in repr(system) for secret in KEYS.values())


def test_the_least_confidence_is_asked_of_services_that_take_one(server, picture) -> None:
    ask(opened(server, "imagga", "tagger", {"least_confidence": 30}), picture)
    assert server.seen[-1]["query"] == {"threshold": ["30"]}
    ask(opened(server, "clarifai", "tagger", {"least_confidence": 0.5}), picture)
    assert json.loads(server.seen[-1]["body"])["model"]["output_info"]["output_config"] == {"min_value": 0.5}
    with pytest.raises(PortrayalError, match="unknown parameter 'least_confidence'"):
        opened(server, "google", "tagger", {"least_confidence": 0.5})


def test_credentials_travel_in_headers_only(server, picture) -> None:
    expected = {
        "google": ("Authorization", "Bearer t0ken-google"),
        "clarifai": ("Authorization", "Key t0ken-clarifai"),
        "azure": ("Ocp-Apim-Subscription-Key", "t0ken-azure"),
    }
    for use, (header, value) in expected.items():
        ask(opened(server, use, "tagger", {}), picture)
        assert {name.lower(): text for name, text in server.seen[-1]["headers"].items()}[header.lower()] == value


def test_a_missing_credential_is_named(server, picture, monkeypatch) -> None:
    monkeypatch.delenv("CLARIFAI_PAT")
    with pytest.raises(PortrayalError, match="Clarifai needs the environment variable CLARIFAI_PAT"):
        ask(opened(server, "clarifai", "tagger", {}), picture)


def test_tokens_are_counted_as_money_when_the_study_gives_prices(server, picture) -> None:
    answer = ask(opened(server, "openai", "tagger", MODEL), picture)
    assert answer.cost == pytest.approx(1000 * 2e-6 + 10 * 10e-6)


FAULTS = [
    ("google", (200, {"responses": [{"error": {"code": 3, "message": "Bad image data."}}]}, {}), CallFailed),
    ("google", (200, {"responses": [{"error": {"code": 8, "message": "per minute"}}]}, {}), Throttled),
    ("google", (200, {"responses": [{"error": {"code": 8, "message": "per day"}}]}, {}), QuotaSpent),
    ("google", (429, b"slow down", {"retry-after": "2"}), Throttled),
    ("clarifai", (200, {"status": {"code": 11005, "description": "throttled"}, "outputs": []}, {}), Throttled),
    (
        "clarifai",
        (200, {"status": {"code": 10000}, "outputs": [{"status": {"code": 30002, "description": "bad"}}]}, {}),
        CallFailed,
    ),
    ("clarifai", (200, {"status": {"code": 11007, "description": "monthly"}, "outputs": []}, {}), QuotaSpent),
    ("imagga", (200, {"result": {}, "status": {"text": "bad image", "type": "error"}}, {}), CallFailed),
    ("azure", (429, b"rate limit", {"retry-after": "1"}), Throttled),
    ("azure", (400, b"InvalidImageSize", {}), CallFailed),
    ("azure", (503, b"", {}), Throttled),
    ("openai", (429, b'{"error": {"code": "insufficient_quota"}}', {}), QuotaSpent),
    ("openai", (500, b"oops", {}), Throttled),  # errors are not billed: asked again
    ("azure", (500, b"oops", {}), OutcomeUnknown),
    ("clarifai", (401, b"bad key", {}), AccessDenied),
    ("google", (403, b'{"error": {"message": "API key not valid"}}', {}), AccessDenied),
    ("google", (429, b"Quota exceeded for 'Requests per minute'. See billing.", {}), Throttled),
    ("google", (403, b"Quota exceeded for 'Requests per day'.", {}), QuotaSpent),
    ("imagga", (404, b"nothing here", {}), NothingThere),
    ("anthropic", (529, b"overloaded", {}), Throttled),
    ("anthropic", (0, b"", {}), OutcomeUnknown),
]


@pytest.mark.parametrize(("use", "fault", "error"), FAULTS)
def test_faults_are_told_apart(server, picture, use, fault, error) -> None:
    server.fault = fault
    try:
        with pytest.raises(error):
            ask(opened(server, use, "tagger", MODEL if use in ("openai", "anthropic") else {}), picture)
    finally:
        server.fault = None


@pytest.mark.parametrize("use", ["google", "clarifai", "imagga", "azure", "openai", "anthropic"])
@pytest.mark.parametrize("body", [b"<html>proxy error</html>", b'{"responses": [', b"[]", b'{"tags": 5}', b"null"])
def test_an_answer_of_another_form_is_kept_and_unreadable(server, picture, use, body) -> None:
    server.fault = (200, body, {})
    try:
        system = opened(server, use, "tagger", MODEL if use in ("openai", "anthropic") else {})
        answer = ask(system, picture)
    finally:
        server.fault = None
    assert answer.raw == body
    with pytest.raises(Unreadable):
        read_answer(system, answer)


def test_a_filtered_answer_of_a_model_is_a_refusal(server, picture) -> None:
    choice = {"message": {"content": None}, "finish_reason": "content_filter"}
    server.fault = (200, {"model": "m", "choices": [choice]}, {})
    try:
        assert ask(opened(server, "openai", "tagger", MODEL), picture).refused
        server.fault = (200, {"model": "m", "stop_reason": "refusal", "content": []}, {})
        assert ask(opened(server, "anthropic", "tagger", MODEL), picture).refused
    finally:
        server.fault = None


def test_limits_are_checked_before_anything_is_sent(server, tmp_path) -> None:
    small, big, text, empty = (tmp_path / name for name in ("small.png", "big.bmp", "text.png", "empty.png"))
    Image.new("RGB", (40, 40)).save(small)
    Image.new("RGB", (1500, 1500)).save(big)
    text.write_text("not a picture")
    empty.write_bytes(b"")
    before = len(server.seen)
    for path, reason in [
        (small, "40 x 40 pixels, the service takes 51"),
        (big, "bytes, the service takes 4,194,304"),
        (text, "not a readable picture"),
        (empty, "has no bytes"),
        (tmp_path / "missing.png", "cannot be read"),
    ]:
        with pytest.raises(CallFailed, match=reason):
            ask(opened(server, "azure", "tagger", {}), path)
    assert len(server.seen) == before


def test_a_vendor_reads_its_own_recorded_answers(server, tmp_path, picture) -> None:
    native = {"images": [{"classifiers": [{"classes": [{"class": "person", "score": 0.9}]}]}], "images_processed": 1}
    (tmp_path / "watson.jsonl").write_text(json.dumps({"stimulus": "1", "response": native}) + "\n")
    settings = SystemSettings(name="mine", use="watson", parameters={"recorded": "watson.jsonl"})
    system = open_system(settings, tmp_path, "tagger")
    assert not system.remote
    assert read_answer(system, ask(system, picture)) == [{"tag": "person", "confidence": 0.9}]


@pytest.mark.parametrize(
    ("said", "refused"),
    [
        ({"finish_reason": "content_filter", "message": {"content": None}}, True),
        ({"finish_reason": "stop", "message": {"content": None, "refusal": "No."}}, True),
        ({"finish_reason": "stop", "message": {"content": "a man"}}, False),
    ],
)
def test_a_recorded_refusal_is_a_refusal_and_not_an_empty_answer(tmp_path, picture, said, refused) -> None:
    row = {"stimulus": "1", "response": {"model": "m", "choices": [said]}}
    (tmp_path / "chat.jsonl").write_text(json.dumps(row) + "\n")
    settings = SystemSettings(name="mine", use="openai", parameters={"recorded": "chat.jsonl"})
    answer = ask(open_system(settings, tmp_path, "captioner"), picture)
    assert (answer.refused, answer.version) == (refused, "m")


def test_a_recorded_answer_of_another_form_is_kept_to_be_called_unreadable(tmp_path, picture) -> None:
    (tmp_path / "chat.jsonl").write_text(json.dumps({"stimulus": "1", "response": ["not a body"]}) + "\n")
    settings = SystemSettings(name="mine", use="openai", parameters={"recorded": "chat.jsonl"})
    system = open_system(settings, tmp_path, "captioner")
    with pytest.raises(Unreadable):
        read_answer(system, ask(system, picture))


def test_watson_can_no_longer_be_asked() -> None:
    with pytest.raises(PortrayalError, match="ended on 2021-12-01"):
        open_system(SystemSettings(name="mine", use="watson"), Path(), "tagger")


def test_the_real_microsoft_answers_of_2019_are_read(shared, picture) -> None:
    path = shared("data/tags/coco_2019/microsoft_native_200.jsonl.gz")
    settings = SystemSettings(name="mine", use="azure", parameters={"recorded": str(path), "service": "3.2"})
    system = open_system(settings, path.parent, "tagger")
    from portrayal.systems.http.vendor import read_native

    native = read_native(path)
    rows = {key: read_answer(system, Answer(json.dumps(body).encode())) for key, body in native.items()}
    assert len(rows) == 200
    assert sum(not tags for tags in rows.values()) == 1  # the set's README: one has no tags
    assert rows["000000100238.jpg"][0] == {"tag": "person", "confidence": 0.9999887943267822}


def test_a_model_must_be_named_and_a_prompt_must_exist(server) -> None:
    with pytest.raises(PortrayalError, match="names no model"):
        opened(server, "openai", "tagger", {})
    with pytest.raises(PortrayalError, match="no tagger prompt of version '9'. Known: 1"):
        opened(server, "openai", "tagger", {"model": "m", "prompt": "9"})


def test_an_unknown_parameter_gets_the_nearest_name(server) -> None:
    with pytest.raises(PortrayalError, match="unknown parameter 'most_label'. Did you mean 'most_labels'"):
        opened(server, "google", "tagger", {"most_label": 5})


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ('["woman", "tree"]', ["woman", "tree"]),
        ('```json\n["woman"]\n```', ["woman"]),
        ("woman, tree", ["woman", "tree"]),
        ("1. woman\n2. tree\n", ["woman", "tree"]),
        ("", []),
    ],
)
def test_a_models_words_are_read_as_tags(text: str, tags: list[str]) -> None:
    assert [row["tag"] for row in rows_of_text(text, "tagger")] == tags
