"""Clusters of queries: templates, shared lists, a column of the data, and what the results say of them."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import polars as pl
import pytest

from audits.search.test_gsr_command import collection, run  # noqa: F401
from portrayal import gsr_of_run
from portrayal.audits.search.measures.clusters import read_wordings, tie
from portrayal.audits.search.measures.gsr import measure_slope
from portrayal.cli import main

JOBS = ["nurse", "plumber", "secretary", "driver", "maid", "welder", "teacher", "pilot"]
PATTERNS = ["{} salary", "{} job interview", "how to become {}", "{} training", "{} uniform"]


def ties(queries, clusters=(), lists=()):
    named = list(clusters) or [None] * len(queries)
    return tie(read_wordings(zip((query.split() for query in queries), named, strict=True)), lists)


def members(table):
    return sorted(len(part) for _, part in table.group_by("unit"))


def test_templates_are_one_cluster_a_job_and_their_words_run_across():
    table = ties([pattern.format(job) for job in JOBS for pattern in PATTERNS])
    assert members(table) == [5] * 8
    assert table["shared"].list.len().to_list() == [1, 2, 3, 1, 1] * 8  # salary; job interview; how to become ...


def test_more_templates_than_jobs_are_one_cluster_a_template_and_jobs_run_across():
    table = ties([f"{job} {pattern}" for job in JOBS[:3] for pattern in "abcdefgh"])
    assert members(table) == [3] * 8
    assert set(table["shared"].list.len()) == {1}


def test_a_chain_of_common_words_ties_nothing_else():
    # red-blue, blue-green, green-black ...: each word is shared, and two queries at a time are one cluster at most.
    colours = ["red", "blue", "green", "black", "white", "grey", "brown", "pink"]
    table = ties([f"{one} {other}" for one, other in pairwise(colours)])
    assert max(members(table)) <= 2


def test_a_word_that_all_queries_have_ties_nothing():
    table = ties([f"{job} salary" for job in JOBS])
    assert members(table) == [1] * 8
    assert measure_slope(np.arange(8.0), np.arange(8.0) ** 2, table["unit"].to_numpy(), table["shared"]).n == 8


def test_queries_without_a_common_word_are_tied_by_their_list():
    same = np.array([7.0, 7.0, 3.0, 3.0, np.nan, np.nan])
    assert members(ties(["a", "b", "c", "d", "e", "f"], lists=[same])) == [1, 1, 2, 2]
    everybody = np.full(6, 1.0)  # an engine that always gives the same list ties nothing: it does not vary
    assert members(ties(["a", "b", "c", "d", "e", "f"], lists=[everybody])) == [1] * 6


def test_clusters_of_the_data_win_over_the_rule():
    queries = [f"{job} {word}" for job in JOBS for word in ("pay", "work")]
    table = ties(queries, [name for name in "abcd" for _ in range(4)])
    assert members(table) == [4] * 4
    assert set(table["shared"].list.len()) == {0}


@pytest.mark.parametrize("job_noise", [0.0, 1.0])
def test_noise_of_templates_and_of_jobs_is_no_finding(job_noise):
    """Crossed: 12 jobs x 5 templates, lists that follow either; by clusters of jobs alone templates' noise was found."""
    rng, alarms = np.random.default_rng(0), 0
    table = ties([f"job{job} template{one}" for job in range(12) for one in range(5)])
    job, template = np.divmod(np.arange(60), 5)
    for seed in range(60):
        x = rng.normal(size=12)[job] + rng.normal(size=5)[template]
        y = job_noise * rng.normal(size=12)[job] + rng.normal(size=5)[template] + 0.01 * rng.normal(size=60)
        alarms += measure_slope(x, y, table["unit"].to_numpy(), table["shared"], seed).p < 0.05
    assert alarms <= 8  # 5% of 60, and three standard errors


def write_templates(folder, documents, clusters=None):
    """Ask for eight jobs in five patterns; the five of a job have one list."""
    lines = [f"{job}{place}\t{pattern.format(job)}" for job in JOBS for place, pattern in enumerate(PATTERNS)]
    if clusters:
        lines = ["query\ttext\tcluster", *(f"{line}\t{clusters(line)}" for line in lines)]
    (folder / "queries.tsv").write_text("\n".join(lines))
    (folder / "qrels.tsv").unlink(missing_ok=True)
    results = [
        f"{job}{place} Q0 {documents[at % len(documents)]} 1 1 t"
        for at, job in enumerate(JOBS)
        for place in range(len(PATTERNS))
    ]
    path = folder.parent / "templates.run"
    path.write_text("\n".join(results))
    return path


def printed(capsys, *command):
    with pytest.raises(SystemExit) as left:
        main(list(command))
    out = capsys.readouterr()
    assert left.value.code == 0, out.err
    return json.loads(out.out)


def test_the_command_says_how_many_clusters(collection, capsys):  # noqa: F811
    path = write_templates(collection, [f"{job}-{who}" for job in JOBS[:6] for who in ("woman", "man")])
    found = printed(capsys, "gsr", str(collection), "--run", str(path))
    assert (found["queries"], found["clusters"]) == (40, 8)
    assert any("40 queries in 8 clusters" in note for note in found["notes"])


def test_a_column_of_the_queries_names_clusters(collection, capsys):  # noqa: F811
    documents = [f"{job}-{who}" for job in JOBS[:6] for who in ("woman", "man")]
    path = write_templates(collection, documents, clusters=lambda line: "care" if line[0] in "nms" else line[:2])
    found = printed(capsys, "gsr", str(collection), "--run", str(path))
    assert (found["queries"], found["clusters"]) == (40, 6)  # nurse, secretary and maid; plumber, driver, ...
    few = write_templates(collection, documents, clusters=lambda line: line[0] in "nms")
    reason = gsr_of_run(collection, few)["notes"]
    assert any(
        "its 40 queries are only 2 clusters that share words or lists, and 6 are the fewest" in one for one in reason
    )


def test_clusters_of_a_table():
    table = pl.DataFrame({"query_score": np.arange(12.0), "list_score": np.arange(12.0) ** 2, "unit": [0, 1, 2] * 4})
    from portrayal import gsr

    assert gsr(table).decision == "not tested"
