"""The runs that tests of the viewer look at, and a browser's share of talking to it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="starlette, which portrayal-review needs, is not installed")

from starlette.testclient import TestClient

from portrayal_review.app import make_app
from portrayal_review.desk import Desks
from portrayal_review.opened import Shelf
from portrayal_review.people import ORGANISER, People
from review.made_runs import captions_run, contexts_run

HOST = "127.0.0.1:8000"


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("made")
    return captions_run(folder / "captions"), contexts_run(folder / "contexts")


@pytest.fixture
def runs(made: tuple[Path, Path], tmp_path: Path) -> list[Path]:
    """Copies of both runs, to write into; their pictures stay where they are."""
    copies = [tmp_path / "captions", tmp_path / "contexts"]
    for run, copy in zip(made, copies, strict=True):
        shutil.copytree(run, copy)
    return copies


class Site:
    """A viewer, and the browsers of people who use it."""

    def __init__(self, folders: list[Path], names: tuple[str, ...] = ("Ann", "Ben")) -> None:
        self.shelf, self.people = Shelf(folders), People.called(names)
        self.desks = Desks(self.shelf)
        self.app = make_app(self.desks, self.shelf, self.people, [HOST, "localhost:8000"])

    def stranger(self) -> TestClient:
        return TestClient(self.app, base_url=f"http://{HOST}", follow_redirects=False)

    def browser(self, name: str = ORGANISER) -> TestClient:
        client = self.stranger()
        assert client.post(f"/enter/{self.people.invite(name)}").status_code == 303
        return client


@pytest.fixture
def site(runs: list[Path]) -> Iterator[Site]:
    site = Site(runs)
    yield site
    site.desks.close()


def fields(text: str, act: str = "") -> dict[str, str]:
    """Return token and item of a page's form: the one to judge with, or the one of an act."""
    forms = re.findall(r"<form [^>]*method=\"post\".*?</form>", text, re.S)
    form = next(one for one in forms if (f'value="{act}"' in one if act else "Keep" in one or "data-judges" in one))
    return dict(re.findall(r'type="hidden" name="(token|item)" value="([^"]*)"', form))


def judge(client: TestClient, path: str, **given: str):
    """Judge the item that shows."""
    return client.post(path, data={**fields(client.get(path).text), **given})
