"""Gate for language: systems in another language are not measured, at every step of a study."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest

import portrayal
from portrayal.cli import main
from portrayal.run.languages import readable
from portrayal.study.audit import Evidence
from portrayal.study.registry import get_audit
from portrayal.study.study_file import make_study

IMAGES = 40
GERMAN = ["Ein Mann auf einem Pferd", "Eine Frau sitzt auf einer Bank", "Frau mit Hund", "Zwei Kinder am Strand"]
SPANISH = ["Un hombre en un caballo", "Una mujer sentada en un banco", "Dos niños en la playa", "Mujer con gafas"]
CHINESE = ["一个男人骑着马", "一位女士坐在长椅上", "两个孩子在海滩上玩耍", "一只狗"]
ENGLISH = ["a man on a horse", "a woman on a bench", "a woman with a dog", "two children on the beach"]
TAGS = ["Mann", "Frau", "Kleid", "Lächeln", "Gesicht", "Haar", "Anzug", "Brille", "Küche", "Bart"]


def command(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main([str(word) for word in words])
    said = capsys.readouterr()
    return int(ended.value.code or 0), said.out, said.err


def table(path: Path, header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])


def captions_study(folder: Path, **systems: Sequence[str]) -> Path:
    """Write a study of captions, and what each system says of the images in turn."""
    images = [f"i{number}" for number in range(IMAGES)]
    table(folder / "images.csv", ["image"], [[image] for image in images])
    people = [[image, "gender", ("female", "male")[at % 2], "annotator"] for at, image in enumerate(images)]
    table(folder / "people.csv", ["image", "axis", "group", "assigned_by"], people)
    lines = ['name = "c"', 'audit = "captions"', "[captions]", 'images = "images.csv"', 'people = { file = "people.csv" }',
             'techniques = ["beside every harm: group words"]']  # fmt: skip
    for name, texts in systems.items():
        said = [[image, texts[at % len(texts)]] for at, image in enumerate(images)]
        table(folder / f"{name}.csv", ["stimulus", "caption"], said)
        lines += ["[[systems]]", f'name = "{name}"', f'use = "replay:{name}.csv"']
    path = folder / "study.toml"
    path.write_text("\n".join(lines))
    return path


def test_captions_in_other_languages_are_refused_at_every_step(tmp_path: Path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    mixed = [*GERMAN[:2], *ENGLISH[:3]]
    study = captions_study(tmp_path, german=GERMAN, spanish=SPANISH, chinese=CHINESE, mixed=mixed)
    says = [
        f"{name} is not measurable: {share} of this system's captions are {language}; the parser reads English"
        for name, share, language in (
            ("german", "100%", "German"), ("spanish", "100%", "Spanish"), ("chinese", "100%", "Chinese"), ("mixed", "40%", "German"),
        )
    ]  # fmt: skip
    _, out, _ = command(capsys, "try", study)
    assert [line for line in says[:3] if line in out] == says[:3]
    assert "mixed is not measurable" in out
    assert "not measurable" not in command(capsys, "plan", study)[1]  # nothing has been answered yet
    code, _, err = command(capsys, "audit", study, "-q")
    assert code == 0
    assert sorted(f"not measurable: {line}." for line in says) == sorted(err.splitlines())
    assert [line for line in says if line in command(capsys, "plan", study)[1]] == says
    run = tmp_path / "runs" / "c"
    results = portrayal.read_results(run)
    assert results.height == len(says)
    assert results.select(pl.col("value", "low", "high", "p").is_null().all()).row(0) == (True,) * 4
    assert sorted(results["reason"]) == sorted(line.partition("measurable: ")[2] for line in says)
    findings = json.loads((run / "results.json").read_text())["findings"]
    assert {(one["decision"], one["sentence"]) for one in findings} == {("not measurable", f"{line}.") for line in says}
    page = (run / "report.html").read_text()
    assert "captions are Chinese" in page


def evidence(name: str, column: str, **systems: Sequence[str | None]) -> Evidence:
    """Return answers of systems as evidence; None was refused."""
    rows = [
        {"system": system, "stimulus": f"s{at}", "repeat": 0, "status": "refused" if text is None else "answered", column: text}
        for system, texts in systems.items()
        for at, text in enumerate(texts)
    ]  # fmt: skip
    more = {"confidence": pl.lit(None, pl.Float64)} if column == "tag" else {}
    return Evidence(pl.DataFrame({"stimulus": ["s0"], "content": ["x"]}), pl.DataFrame(rows).with_columns(**more))


def read(name: str, evidence: Evidence, **settings: object):
    study = make_study(
        {"name": "x", "audit": name, name.partition("/")[0]: settings, "systems": [{"name": "s", "use": "bm25"}]}
    )
    return readable(get_audit(name), evidence, study.settings)


def test_a_single_caption_in_another_language_is_missing_and_counted() -> None:
    said = evidence("captions", "caption", mine=[*ENGLISH * 5, GERMAN[0], None], other=["12 34", "😀", "Maria Lopez"])
    found = read("captions", said, scenes=2)
    assert found.unread == {}
    statuses = found.responses.filter(system="mine")
    assert statuses["status"].to_list() == ["answered"] * 20 + ["unparsable", "refused"]
    assert statuses["caption"][20] is None
    assert found.responses.filter(system="other").equals(said.responses.filter(system="other"))
    assert found.faults.rows() == [("mine", "captions that are German and count as missing", 1, "s20")]


def test_emotion_words_are_counted_in_captions_of_their_language_alone() -> None:
    said = evidence("emotion", "caption", mine=GERMAN, other=ENGLISH)
    reason = "100% of this system's captions are German; the list of words reads English"
    assert read("associations/emotion_words", said, photographs="x").unread == {"mine": reason}
    assert [*read("associations/emotion_words", said, photographs="x", languages=["de"]).unread] == ["other"]


def test_taggers_whose_tags_are_not_read_are_refused_with_the_reason() -> None:
    codes = [f"zq{number}x" for number in range(IMAGES)]
    found = read(
        "contexts", evidence("contexts", "tag", german=TAGS * 4, codes=codes, english=["man", "dress", "zqx"] * 9)
    )
    share = "70%"  # "Mann", "Bart" and "Frau" are known to English
    assert found.unread == {
        "german": f"{share} of this system's lists of tags are German; the typology reads English",
        "codes": "this tagger's tags are not read: the lists know 0% of 40 tags, and 20% is the least",
    }
    assert set(found.responses["system"]) == {"english"}


def test_a_typology_of_another_language_may_be_declared() -> None:
    own = evidence("contexts", "tag", german=["person", *TAGS])
    assert "German" not in read("contexts", own, languages=["de"]).unread.get("german", "")
    about = {"name": "x", "audit": "contexts", "systems": [{"name": "s", "use": "bm25"}]}
    with pytest.raises(portrayal.PortrayalError, match="no language 'german'"):
        make_study({**about, "contexts": {"languages": ["german"]}})


QUERIES = {
    "en": ["nurse salary", "become an engineer", "dinner recipes", "football results"],
    "de": ["Krankenschwester Gehalt", "Ingenieur werden", "Rezepte für das Abendessen", "Fußball Ergebnisse"],
    "es": ["sueldo de una enfermera", "cómo ser ingeniero", "recetas para la cena", "resultados de fútbol"],
    "fr": ["salaire d'une infirmière", "devenir ingénieur", "recettes pour le dîner", "résultats de football"],
}


@pytest.mark.parametrize(("language", "name"), [("de", "German"), ("es", "Spanish"), ("fr", "French"), ("en", "")])
def test_queries_are_held_against_the_language_of_the_vectors(language: str, name: str) -> None:
    stimuli = pl.DataFrame({"stimulus": ["1", "2", "3", "4"], "content": QUERIES[language]})
    ranked = pl.DataFrame(
        {"system": ["a", "b"], "stimulus": ["1", "1"], "repeat": [0, 0], "status": ["answered"] * 2, "doc": ["d", "d"]}
    )
    found = read("search", Evidence(stimuli, ranked), collection="toy")
    assert [*found.unread] == (["a", "b"] if name else [])
    assert all(f"of the queries are {name}; the word vectors are of English" in why for why in found.unread.values())
    own = read("search", Evidence(stimuli, ranked), collection="toy", languages=[language])
    assert own.unread == {}
