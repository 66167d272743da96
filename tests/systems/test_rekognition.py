"""Amazon Rekognition: signing and parsing against moto, failures against botocore's own stubber."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber
from moto import mock_aws
from PIL import Image

from portrayal.errors import PortrayalError
from portrayal.systems.core.base import CallFailed, Question, QuotaSpent, Throttled
from portrayal.systems.core.readers import read_answer
from portrayal.systems.core.registry import open_system
from portrayal.systems.core.settings import SystemSettings


@pytest.fixture(autouse=True)
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    path = tmp_path / "picture.png"
    Image.new("RGB", (100, 100)).save(path)
    return path


def opened(**parameters: Any):
    return open_system(SystemSettings(name="mine", use="rekognition", parameters=parameters), Path(), "tagger")


def ask(system: Any, picture: Path) -> Any:
    return asyncio.run(system.ask([Question("1", "image", str(picture), "hash")]))[0]


@mock_aws
def test_signing_and_parsing(picture: Path) -> None:
    system = opened()
    answer = ask(system, picture)
    rows = read_answer(system, answer)
    assert rows[0]["tag"] == "Mobile Phone"  # moto's fixed answer
    assert 0 < rows[0]["confidence"] <= 100
    assert answer.version
    assert answer.cost == 0.001


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("ThrottlingException", Throttled),
        ("ProvisionedThroughputExceededException", Throttled),
        ("LimitExceededException", QuotaSpent),
        ("InvalidImageFormatException", CallFailed),
        ("AccessDeniedException", CallFailed),
    ],
)
def test_vendor_codes_are_told_apart(picture: Path, code: str, error: type[Exception]) -> None:
    system = opened()
    system._client = boto3.client("rekognition", region_name="us-east-1")
    with Stubber(system._client) as stub:
        stub.add_client_error("detect_labels", service_error_code=code, service_message="no")
        with pytest.raises(error, match=code):
            ask(system, picture)


def test_a_picture_under_80_pixels_is_not_sent(tmp_path: Path) -> None:
    Image.new("RGB", (60, 60)).save(tmp_path / "small.png")
    with pytest.raises(CallFailed, match="60 x 60 pixels, the service takes 80"):
        ask(opened(), tmp_path / "small.png")


def test_an_unknown_parameter_is_refused() -> None:
    with pytest.raises(PortrayalError, match="unknown parameter 'most_label'. Did you mean 'most_labels'"):
        opened(most_label=5)
