"""`portrayal gsr`: one JSON object, and one clear line for what is wrong."""

from __future__ import annotations

import json
from math import log2

import numpy as np
import pytest

import portrayal
from portrayal import gsr_of_run, rank_collection
from portrayal.audits.search import run_files
from portrayal.audits.search.inputs import inputs, measuring_stop_words
from portrayal.audits.search.stimuli import stimuli
from portrayal.audits.search.world import responses_of
from portrayal.cli import main
from portrayal.errors import PortrayalError
from portrayal.run.measurement import measure_evidence
from portrayal.study.audit import Evidence
from portrayal.study.study_file import make_study
from portrayal.text.collections import read_collection, read_run
from portrayal.text.collections.runs import write_run
from portrayal.text.collections.synthetic import REFERENCES, reference_run, toy_collection
from portrayal.text.lexicons import read_lexicon
from portrayal.text.vectors.sets import open_vectors
from portrayal.text.words import wordnet

QUERIES = ["nurse", "plumber", "secretary", "driver", "maid", "welder"]


@pytest.fixture
def collection(tmp_path):
    folder = tmp_path / "collection"
    folder.mkdir()
    documents = [
        {"id": f"{query}-{person}", "text": f"The {person} is a {query}, says {person}."}
        for query in QUERIES
        for person in ("woman", "man")
    ]
    documents.append({"id": "empty", "text": ""})
    (folder / "documents.jsonl").write_text("".join(json.dumps(line) + "\n" for line in documents))
    (folder / "queries.tsv").write_text("".join(f"q{i}\t{query}\n" for i, query in enumerate(QUERIES)))
    lines = [f"q{i}\t0\t{query}-{person}\t1\n" for i, query in enumerate(QUERIES) for person in ("woman", "man")]
    (folder / "qrels.tsv").write_text("".join(lines))
    return folder


@pytest.fixture
def run(tmp_path):
    path = tmp_path / "run.txt"
    order = [("woman", "man") if i % 2 == 0 else ("man", "woman") for i in range(len(QUERIES))]
    lines = [
        f"q{i} Q0 {query}-{person} {rank} {1 / rank} tag\n"
        for i, query in enumerate(QUERIES)
        for rank, person in enumerate(order[i], 1)
    ]
    path.write_text("".join(lines))
    return path


def test_it_prints_one_json_object_and_nothing_else(collection, run, capsys):
    with pytest.raises(SystemExit) as left:
        main(["gsr", str(collection), "--run", str(run)])
    assert left.value.code == 0
    printed = capsys.readouterr().out
    found = json.loads(printed)
    assert printed.count("\n") == 1
    assert {"gsr", "low", "high", "p", "queries", "perfect", "relative"} <= set(found)
    assert found["queries"] == 6
    assert found["gsr"] > 0
    assert found["low"] <= found["gsr"] <= found["high"]
    # both documents of a query are equally relevant and share a weight: the same list score for all, so no slope
    assert found["perfect"] == pytest.approx(0, abs=1e-12)
    assert found["relative"] is None


def naive_gsr(folder, run, cutoff=100):
    """GSR of a run, one word at a time, with its own reading of everything but tokens and vectors."""
    from portrayal.text.words.tokens import words

    collection, results, space = read_collection(folder), read_run(run), open_vectors("glove")
    forms = wordnet.load().inflected

    def unit(word):
        vector = space.matrix[space.row(word)].astype(float)
        return vector / np.linalg.norm(vector)

    rows = []
    for female, male in read_lexicon("gender_pairs").iter_rows():
        centre = (unit(female) + unit(male)) / 2
        rows += [unit(female) - centre, unit(male) - centre]
    direction = np.linalg.eigh(np.array(rows).T @ np.array(rows))[1][:, -1]
    direction *= np.sign(sum(row @ direction for row in rows[::2]))
    stop, texts = measuring_stop_words(), dict(collection.documents())

    def scored(text, without=frozenset()):
        kept = [w for w in words(text) if w not in stop and w not in without and len(w) > 1 and w.isalpha()]
        return [unit(w) @ direction for w in kept if space.row(w) is not None]

    x, y = [], []
    for query, text in collection.queries.items():
        depth = len(collection.relevant(query)) or cutoff
        removed = {form for word in words(text) if word not in stop for form in forms(word)}
        total = weights = 0.0
        for rank, doc in enumerate(results.filter(query=query)["doc"].to_list()[:depth], 1):
            scores = scored(texts[doc], removed)
            if scores:
                total += np.mean(scores) / log2(rank + 1)
                weights += 1 / log2(rank + 1)
        if weights and scored(text):
            x.append(np.mean(scored(text)))
            y.append(total / weights)
    return np.polyfit(x, y, 1)[0]


def test_it_equals_a_naive_reading(collection, run):
    assert gsr_of_run(collection, run)["gsr"] == pytest.approx(naive_gsr(collection, run), abs=1e-12)


def test_it_equals_a_naive_reading_on_real_text(shared, tmp_path):
    folder = shared("data/ir/time")
    collection = read_collection(folder)
    docs = [name for name, _ in collection.documents()]
    rng, lines = np.random.default_rng(0), []
    for query in list(collection.queries)[:20]:
        listed = rng.permutation(docs)[:30]
        lines += [f"{query} Q0 {doc} {rank} {-rank} t\n" for rank, doc in enumerate(listed, 1)]
    path = tmp_path / "random.run"
    path.write_text("".join(lines))
    found = gsr_of_run(folder, path)
    assert found["gsr"] == pytest.approx(naive_gsr(folder, path), abs=1e-12)
    # 63 of the 83 queries have no result: named with the reason, not dropped
    assert found["queries"] == 20
    assert len(found["unused"]) == 63
    assert {row["reason"] for row in found["unused"]} == {"no result"}


def test_generated_collections_have_names(tmp_path):
    path = tmp_path / "toy.run"
    for name, sign in zip(REFERENCES, (1, 0, -1), strict=True):
        write_run(reference_run(toy_collection(), name), path)
        assert np.sign(round(gsr_of_run("toy", path)["gsr"], 9)) == sign


def test_unjudged_queries_are_cut_at_the_cutoff(collection, run):
    (collection / "qrels.tsv").unlink()
    whole, first = (gsr_of_run(collection, run, cutoff=cutoff) for cutoff in (2, 1))
    assert whole["queries"] == first["queries"] == 6
    assert abs(first["gsr"]) > abs(whole["gsr"])
    assert whole["perfect"] is None


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ("q0 Q0 ghost 1 1.0 t\n", "names 1 documents the collection does not have \\(first: 'ghost'\\)"),
        ("q9 Q0 nurse-man 1 1.0 t\n", "names 1 queries the collection does not have \\(first: 'q9'\\)"),
        ("q0 Q0 nurse-man 1 1.0 t\nq0 Q0 nurse-woman 1 1.0 t\n", "every score is 1, and query 'q0' has rank 1 twice"),
        ("", "has no results"),
    ],
)
def test_a_bad_run_is_one_clear_line(collection, tmp_path, lines, says):
    path = tmp_path / "bad.run"
    path.write_text(lines)
    with pytest.raises(PortrayalError, match=says) as raised:
        gsr_of_run(collection, path)
    assert "\n" not in str(raised.value)


def test_a_query_without_a_usable_word_and_an_empty_document_are_told(collection, tmp_path):
    with (collection / "queries.tsv").open("a") as file:
        file.write("q6\txqzzy\nq7\twelder maid\n")
    lines = [f"q{i} Q0 {query}-man 1 1.0 t\n" for i, query in enumerate(QUERIES)]
    path = tmp_path / "run.txt"
    path.write_text("".join([*lines, "q6 Q0 nurse-man 1 1.0 t\n", "q7 Q0 empty 1 1.0 t\n"]))
    found = gsr_of_run(collection, path)
    reasons = {row["query"]: row["reason"] for row in found["unused"]}
    assert reasons == {"q6": "no word of the query has a vector", "q7": "no scored word in the documents"}


def test_a_file_that_is_not_utf8_and_an_empty_collection(collection, run):
    (collection / "queries.tsv").write_bytes(b"q0\tn\xe9e\n")
    with pytest.raises(PortrayalError, match="not UTF-8"):
        gsr_of_run(collection, run)
    (collection / "documents.jsonl").write_text("")
    (collection / "queries.tsv").write_text("q0\tnurse\n")
    with pytest.raises(PortrayalError, match="no documents"):
        gsr_of_run(collection, run)


def test_one_pole_of_queries_gives_no_slope_but_an_answer(collection, run):
    (collection / "queries.tsv").write_text("".join(f"q{i}\tnurse\n" for i in range(6)))
    found = gsr_of_run(collection, run)
    assert found["gsr"] is None
    assert "no slope" in found["notes"][0]


@pytest.fixture
def half_listed(tmp_path):
    """A collection of which about half the documents are listed or relevant, written so that the others come first."""
    rng, folder = np.random.default_rng(7), tmp_path / "half"
    folder.mkdir()
    pool = [word.lower() for name in ("gendered_jobs", "career_family") for word in read_lexicon(name)["word"]]
    people = ["woman", "man", "mother", "father", "she", "he", "aunt", "uncle"]
    texts = {f"d{number}": [*rng.choice(pool, 30), *rng.choice(people, 9)] for number in range(120)}
    lines = [json.dumps({"id": name, "text": " ".join(words)}) for name, words in reversed(texts.items())]
    (folder / "documents.jsonl").write_text("\n".join(lines))
    asked = dict(enumerate(pool[:24]))
    (folder / "queries.tsv").write_text("".join(f"q{place}\t{word} {word}s\n" for place, word in asked.items()))
    relevant = [f"q{place}\t0\td{doc}\t{1 + doc % 2}\n" for place in asked for doc in rng.choice(40, 4, False)]
    (folder / "qrels.tsv").write_text("".join(relevant))
    path = tmp_path / "half.run"
    listed = [
        f"q{place} Q0 d{doc} {rank} {-rank} t\n"
        for place in list(asked)[:-2]  # two queries have no result
        for rank, doc in enumerate(rng.choice(60, 6, False), 1)
    ]
    path.write_text("".join(listed))
    return folder, path


def test_the_audit_gives_the_same_numbers_to_the_last_digit(half_listed, tmp_path):
    folder, path = half_listed
    settings = f'collection = "{folder.name}"\nvalidate_direction = false\nvariants = false\ndiscount = "code"\n'
    study = tmp_path / "study.toml"
    study.write_text(
        f'name = "half"\naudit = "search"\nseed = 3\n[search]\n{settings}'
        f'[[systems]]\nname = "mine"\nuse = "run:{path.name}"\n'
    )
    portrayal.record(study, tmp_path / "run", quiet=True)
    results = portrayal.measure(tmp_path / "run").results
    rows = {(row["measure"], row["system"]): row for row in results.iter_rows(named=True)}
    found = gsr_of_run(folder, path, discount="code", seed=3)
    own, ratio = rows["gsr", "mine"], rows["gsr_ratio", "mine"]
    assert [found[name] for name in ("gsr", "low", "high", "p", "queries")] == [
        own[name] for name in ("value", "low", "high", "p", "n")
    ]
    assert found["perfect"] == rows["gsr", "perfect"]["value"]
    assert found["difference"] == rows["gsr_difference", "mine"]["value"]
    assert (found["ratio"], found["relative"]) == (ratio["value"], ratio["value"] - 1)
    *notes, short = found["notes"]
    assert notes == [row["note"] for row in (own, ratio) if row["note"]]
    assert "as its query has relevant documents, a median of 4" in short
    difference = rows["gsr_difference", "mine"]
    assert [found[f"difference_{name}"] for name in ("low", "high", "p", "queries")] == [
        difference[name] for name in ("low", "high", "p", "n")
    ]
    assert [row["query"] for row in found["unused"]] == ["q22", "q23"]


def test_only_documents_that_are_listed_or_relevant_are_held(half_listed, monkeypatch):
    folder, path = half_listed
    held = []
    monkeypatch.setattr(run_files.scored_runs, "score_runs", lambda history, *_, **__: held.append(history) or 1 / 0)
    with pytest.raises(ZeroDivisionError):
        gsr_of_run(folder, path)
    listed = {line.split()[2] for line in path.read_text().splitlines()}
    relevant = {line.split()[2] for line in (folder / "qrels.tsv").read_text().splitlines()}
    assert set(held[0].bags.documents) == listed | relevant
    assert len(listed | relevant) < 120


def test_queries_of_the_same_words_keep_their_own_lists(collection, run):
    # "nurse" is asked twice; the second list names men only, so the two list scores differ.
    (collection / "queries.tsv").write_text("q0\tnurse\nq1\tplumber\nq2\tsecretary\nq3\tnurse\n")
    run.write_text(
        "q0 Q0 nurse-woman 1 1 t\nq1 Q0 plumber-man 1 1 t\nq2 Q0 secretary-woman 1 1 t\nq3 Q0 nurse-man 1 1 t\n"
    )
    assert gsr_of_run(collection, run)["gsr"] == pytest.approx(naive_gsr(collection, run), abs=1e-12)


def test_vectors_may_lie_in_another_folder(collection, run, tmp_path):
    space = open_vectors("glove")
    words = {
        *QUERIES,
        *("woman", "man", "says"),
        *(w for pair in read_lexicon("gender_pairs").iter_rows() for w in pair),
    }
    lines = [f"{word} {' '.join(map(repr, space.matrix[space.row(word)].tolist()))}" for word in sorted(words)]
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "ruler.txt").write_text("\n".join(lines))
    found = gsr_of_run(collection, run, vectors=str(tmp_path / "own" / "ruler.txt"))
    assert found["vectors"] == "ruler.txt"
    assert found["gsr"] == pytest.approx(gsr_of_run(collection, run)["gsr"], abs=1e-6)


def test_judged_documents_that_are_not_there_are_said_everywhere(collection, run, tmp_path):
    with (collection / "qrels.tsv").open("a") as file:
        file.write("q0\t0\tghost\t1\n")
    says = "judged documents are not in the collection 'collection', 1 of them relevant (first: 'ghost')."
    assert gsr_of_run(collection, run)["notes"][0].endswith(says)
    _, lines = rank_collection(collection, "bm25", out=tmp_path / "b.run")
    assert lines[0].endswith(says)
    study = make_study(
        {
            "name": "gaps",
            "audit": "search",
            "systems": [{"name": "engine", "use": f"run:{run}"}],
            "search": {"collection": str(collection), "validate_direction": False, "variants": False},
        }
    )
    shown = stimuli(study)
    evidence = Evidence(shown, responses_of(study, shown), inputs(study), seed=0)
    assert measure_evidence(study, evidence).warnings[0].endswith(says)


def test_every_setting_of_the_measure_is_an_option(collection, run, tmp_path, capsys):
    (tmp_path / "own.txt").write_text("says\n")
    options = ["--stop", str(tmp_path / "own.txt"), "--direction", "first", "--no-inflected", "--quality", "P@1"]
    with pytest.raises(SystemExit) as left:
        main(["gsr", str(collection), "--run", str(run), *options, "--quality", "map"])
    assert left.value.code == 0
    printed = json.loads(capsys.readouterr().out)
    stop = str(tmp_path / "own.txt")
    assert printed == gsr_of_run(collection, run, stop=stop, direction="first", inflected=False, quality=["P@1", "map"])
    assert printed["gsr"] != gsr_of_run(collection, run, direction="first", inflected=False)["gsr"]
    assert printed["quality"] == {"P@1": 1.0, "map": 1.0}  # both documents of each query are relevant
    with pytest.raises(PortrayalError, match="no measure 'nDGC@5'"):
        gsr_of_run(collection, run, quality=["nDGC@5"])


def test_vectors_that_lack_pairs_and_words_say_so(collection, run, tmp_path):
    space = open_vectors("glove")
    pairs = list(read_lexicon("gender_pairs").iter_rows())
    words = [*(word for pair in pairs[:6] for word in pair), *QUERIES, "woman", "man"]
    lines = [f"{word} {' '.join(map(str, space.matrix[space.row(word)].tolist()))}" for word in dict.fromkeys(words)]
    for kept, says in ((lines, "know 100%"), ([line for line in lines if not line.startswith("nurse ")], "know 83%")):
        (tmp_path / "few.txt").write_text("\n".join(kept))
        found = gsr_of_run(collection, run, vectors=str(tmp_path / "few.txt"))
        lost = next(note for note in found["notes"] if "defining pairs: " in note)
        assert lost.startswith("The word vectors ") and " lack 4 of 10 defining pairs: " in lost
        assert found["coverage"]["defining pairs"] == 0.6
        share = found["coverage"]["words of the queries"]
        assert says == f"know {round(100 * share)}%"
        # "says" has no vector: of the documents' words under 80% are known, which is the least that is measured with
        assert found["notes"][0].startswith("not measurable: the word vectors")
        assert "of the words of the documents, and 80% is the least" in found["notes"][0]
