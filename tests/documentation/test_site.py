"""The documentation site: built strictly, complete, and whole without a network, in a real browser too."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from documentation.pages import DOCS, ROOT, STEMS, text_of

CHROMIUM = shutil.which("chromium")
FLAGS = ["--no-sandbox", "--disable-gpu"]
SEVEN = ["Question", "Method", "Formula", "Assumptions", "Calibration", "Worked example", "References"]
LOOKED_AT = ("index", "tutorial", "captions", "commands", "gallery", "systems/vendors")
MOST_BYTES = 1_500_000  # of all pictures of the site
needs_browser = pytest.mark.skipif(
    CHROMIUM is None, reason="no chromium on this machine (Debian: apt install chromium)"
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site as `make docs` does."""
    folder = tmp_path_factory.mktemp("docs") / "site"
    words = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(words, cwd=ROOT, env=quiet, capture_output=True, text=True)
    assert built.returncode == 0, built.stdout + built.stderr
    return folder


def test_every_page_of_docs_is_a_page_of_the_site(site: Path) -> None:
    pages = {path.relative_to(DOCS).with_suffix(".html") for path in DOCS.rglob("*.md")}
    assert {page for page in pages if not (site / page).is_file()} == set()


def test_make_docs_builds_it_strictly() -> None:
    assert "mkdocs build --strict" in (ROOT / "Makefile").read_text()


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    elsewhere = r"[\"']?(?:https?:|//)"
    loads = re.compile(
        rf"<(?:script|img|iframe|source)\b[^>]*\bsrc={elsewhere}[^>]*>|<link\b(?![^>]*canonical)[^>]*href={elsewhere}[^>]*>"
    )
    found = {path.name: match.group(0) for path in site.rglob("*.html") if (match := loads.search(path.read_text()))}
    assert found == {}
    sheets = [path.read_text() for path in site.rglob("*.css")]
    assert not any(re.search(r"url\([\"']?https?:|@import [\"']https?:", sheet) for sheet in sheets)


@pytest.mark.parametrize("stem", STEMS)
def test_a_page_of_an_audit_has_the_seven_parts_in_order(stem: str) -> None:
    outside = re.sub(r"^```.*?^```$", "", text_of(f"docs/{stem}.md"), flags=re.MULTILINE | re.DOTALL)
    assert re.findall(r"^## (.+)$", outside, re.MULTILINE) == SEVEN


def test_the_pictures_are_small_and_none_is_missing_or_unused() -> None:
    pictures = {path.name: path.stat().st_size for path in (DOCS / "assets" / "gallery").iterdir()}
    shown = set(re.findall(r"assets/gallery/([\w.-]+)", text_of("docs/gallery.md")))
    assert shown == set(pictures)
    assert sum(pictures.values()) < MOST_BYTES


def test_the_citation_names_this_version_and_the_page_too() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert (cited["cff-version"], cited["version"]) == ("1.2.0", project["version"])
    assert (cited["license"], cited["keywords"]) == (project["license"], project["keywords"])
    assert [author["name"] for author in cited["authors"]] == [one["name"] for one in project["authors"]]
    assert {"message", "title"} <= set(cited)
    assert f"version = {{{project['version']}}}" in text_of("docs/citing.md")


def test_readme_and_contributing_lead_to_the_site() -> None:
    assert "docs/index.md" in (ROOT / "README.md").read_text()
    assert "docs/tutorial.md" in (ROOT / "README.md").read_text()
    assert "make docs" in (ROOT / "CONTRIBUTING.md").read_text()


def test_links_of_readme_and_contributing_lead_somewhere() -> None:
    for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md"):
        links = re.findall(r"\]\((?!https?:)([^)#]+)", (ROOT / name).read_text())
        assert [link for link in links if not (ROOT / link).exists()] == []


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield opened
        opened.close()


def opened(browser: Any, page: Path, width: int) -> tuple[Any, list[str]]:
    """Open a page from the disk; return it and what went wrong: requests elsewhere, errors."""
    shown, wrong = browser.new_page(viewport={"width": width, "height": 844}), []
    shown.on("request", lambda one: wrong.append(one.url) if one.url.startswith("http") else None)
    shown.on("pageerror", lambda error: wrong.append(str(error)))
    shown.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    shown.goto(page.as_uri())
    return shown, wrong


@needs_browser
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("name", LOOKED_AT)
def test_a_page_opens_from_the_disk_and_never_scrolls_sideways(site: Path, browser: Any, name: str, width: int) -> None:
    shown, wrong = opened(browser, site / f"{name}.html", width)
    root = "document.documentElement"
    assert shown.evaluate(f"{root}.scrollWidth - {root}.clientWidth") <= 0
    broken = "[...document.images].filter(one => one.complete && !one.naturalWidth).map(one => one.src)"
    assert shown.evaluate(broken) == []
    assert wrong == []
    shown.close()


@needs_browser
def test_the_site_is_searched_without_a_server(site: Path, browser: Any) -> None:
    from playwright.sync_api import TimeoutError as TimedOut

    shown, wrong = opened(browser, site / "systems" / "http.html", 1280)
    found = shown.locator('.md-search-result__link[href*="phantoms.html"]')
    # What is typed before the page listens is lost, and the index is built in the page: on a busy machine type again, as a reader would.
    for _ in range(8):
        shown.locator("input.md-search__input").fill("")
        shown.locator("input.md-search__input").press_sequentially("planted effect")
        with contextlib.suppress(TimedOut):
            found.first.wait_for(state="attached", timeout=15_000)
            break
    assert found.count()
    assert wrong == []
    shown.close()
