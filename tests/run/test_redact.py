"""A redacted run: no picture, no answer, no person's sentence anywhere in it; results and hashes as before."""

from __future__ import annotations

import base64
import html
import json
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
import pytest

import portrayal
from faults.test_moved_run import STUDIES, write_captions
from portrayal.errors import PortrayalError
from portrayal.handover.pack import REDACTED


def everything(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield every file's bytes, and every cell of its tables, which are packed there."""
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        name = str(path.relative_to(folder))
        yield name, html.unescape(path.read_bytes().decode("latin-1")).encode("latin-1", "replace")
        if path.suffix == ".parquet":
            yield name, json.dumps(pl.read_parquet(path).to_dicts(), default=str, ensure_ascii=False).encode()
        if path.suffix == ".sqlite":
            with sqlite3.connect(path) as ledger:
                for table in ("questions", "facts", "waves"):
                    yield name, repr(ledger.execute(f"SELECT * FROM {table}").fetchall()).encode()


def holding(folder: Path, text: str | bytes) -> list[str]:
    """Return the files that hold a text."""
    wanted = text.encode() if isinstance(text, str) else text
    return [name for name, data in everything(folder) if wanted.lower() in data.lower()]


@pytest.mark.parametrize("stem", STUDIES)
def test_results_stay_and_raw_answers_and_pictures_go(
    stem: str, audited: Callable[[str], Path], tmp_path: Path
) -> None:
    run, public = audited(stem) / "run", tmp_path / "public"
    portrayal.redact(run, public)
    assert portrayal.read_results(public).equals(portrayal.read_results(run))
    with sqlite3.connect(run / "ledger.sqlite") as ledger:
        raw = [answer for (answer,) in ledger.execute("SELECT raw FROM questions WHERE raw IS NOT NULL")]
    assert raw and not any(holding(public, answer) for answer in raw if len(answer) > 24)
    for picture in (*run.rglob("tables/*.png"), *run.rglob("inputs/*.png")):
        data = picture.read_bytes()
        assert not holding(public, data) and not holding(public, base64.b64encode(data[40:400])[4:-4])
    assert not list(public.glob("tables/*.png")) and not (public / "reviews.csv").exists()
    stimuli = pl.read_parquet(public / "stimuli.parquet")
    assert set(stimuli["content"]) == {REDACTED}
    assert stimuli["hash"].equals(pl.read_parquet(run / "stimuli.parquet")["hash"])
    assert not holding(public, str(audited(stem)))  # where its pictures and its study lie
    removed = json.loads((public / "redacted.json").read_text())["removed"]
    assert {"ledger.sqlite", "responses.parquet", "inputs/inputs.json"} <= set(removed)


def test_it_is_said_wherever_one_looks(audited: Callable[[str], Path], tmp_path: Path) -> None:
    page = portrayal.redact(audited("associations") / "run", tmp_path / "public")
    assert "This run was redacted: its pictures and free text were taken out" in page.read_text()
    told = portrayal.status_text(tmp_path / "public")
    assert "\nredacted: its pictures and free text were taken out" in told and "ask again" not in told
    portrayal.pack(tmp_path / "public", tmp_path / "public.zip")
    found = portrayal.verify(tmp_path / "public.zip")
    assert found.holds and "not measured again: its pictures and free text were taken out" in "\n".join(found.lines())
    for again in (portrayal.measure, portrayal.record_again, lambda run: portrayal.redact(run, tmp_path / "b")):
        with pytest.raises(PortrayalError, match="cannot be recorded or measured again: its pictures and free text"):
            again(tmp_path / "public")
    portrayal.report([tmp_path / "public"])  # drawn again from what is left


SAYS = "def caption(path):\n    return 'Sorry, I cannot describe the person called Quaggo here.'\n"


def test_no_caption_reference_refusal_or_judgment_is_left(tmp_path: Path) -> None:
    write_captions(tmp_path)
    said = pl.read_csv(tmp_path / "captions.csv")
    captions = [f"a {'nasty brat' if place % 2 else 'man'} of okapi {place} with a dog" for place in range(24)]
    said.with_columns(caption=pl.Series(captions)).write_csv(tmp_path / "captions.csv")
    (tmp_path / "shy.py").write_text(SAYS)
    study = (tmp_path / "study.toml").read_text()
    second = '[[systems]]\nname = "shy"\nuse = "python:shy:caption"\n[captions]'
    (tmp_path / "study.toml").write_text(study.replace("[captions]", second, 1))
    run, public = tmp_path / "run", tmp_path / "public"
    portrayal.audit(tmp_path / "study.toml", run, quiet=True)
    people = pl.read_csv(tmp_path / "human.csv")["text"].unique().to_list()
    sentences = [*captions, *people, "describe the person called Quaggo"]
    assert all(holding(run, sentence) for sentence in sentences)
    judged = "item,question,reviewer,judgment,note\nimage0,demeaning,ann,yes,Tapir knows her from school\n"
    (run / "reviews.csv").write_text(judged)
    portrayal.redact(run, public)
    for sentence in [*sentences, "Tapir knows her", "quaggo"]:
        assert holding(public, sentence) == [], sentence
    for word in ("okapi",):  # a word that is counted may be a result; the answers it stood in are gone
        assert not {"ledger.sqlite", "responses.parquet", "stimuli.parquet"} & set(holding(public, word))
    assert portrayal.read_results(public).height == portrayal.read_results(run).height


def test_a_folder_that_holds_something_is_left_alone(audited: Callable[[str], Path], tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("x")
    with pytest.raises(PortrayalError, match="is not empty. Name a new folder"):
        portrayal.redact(audited("associations") / "run", tmp_path)
    with pytest.raises(PortrayalError, match="is not empty. Name a new folder"):  # nor is a run redacted in its place
        portrayal.redact(audited("associations") / "run", audited("associations") / "run")
