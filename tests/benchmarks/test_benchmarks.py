"""Each benchmark at a hundredth of its size, so that none rots; a peer that is not here is named, never a traceback."""

import json
import math

import pytest
from benchmarks.one import measure_growth, run
from benchmarks.registry import BENCHMARKS
from benchmarks.shape import Benchmark, Peer
from benchmarks.timing import timed

from benchmarks import environments, page, probes, runner

RATES = dict.fromkeys(probes.RATES, 1e9)
NEEDED = {  # the table of what is promised
    "association": [5000], "exact p": [500], "genderedness": [100], "indexing": [5, 1], "search": [1.3], "quality": [5],
    "composing": [60], "tags": [5, 5], "is a person": [200], "logistic fits": [7],
    "scene graphs": [3], "recorded calls": [2],
}  # fmt: skip


@pytest.fixture(autouse=True)
def _no_environments(monkeypatch, tmp_path):
    """Peers of other environments are looked for where there are none: what is tested is ours, and what is here."""
    monkeypatch.setattr(environments, "PEERS", tmp_path / "none")


def test_every_promised_ratio_has_its_benchmark():
    assert {name: [peer.needed for peer in one.peers] for name, one in BENCHMARKS.items()} == NEEDED


@pytest.mark.parametrize("name", BENCHMARKS)
def test_each_runs_at_a_hundredth(name):
    benchmark = BENCHMARKS[name]
    found = run(benchmark, share=0.01, runs=1, growth=False)
    assert found["check"] == "equal"  # ours against an independent answer
    assert found["ours"]["seconds"] > 0
    assert found["limit"] and set(found["limit"]) <= set(probes.RATES)
    for peer, told in zip(benchmark.peers, found["peers"], strict=True):
        if peer.environment:
            assert told["missing"].startswith(f"{peer.name} not installed: run `python -m benchmarks --install`")
        elif "missing" not in told:  # extras may be left out of an environment; then that is what is said
            assert told["equal"] == "equal" and told["ratio"] > 0
    json.dumps(found)
    assert list(page.lines(found, RATES))


def made(**changed) -> Benchmark:
    """A benchmark whose work is to sum a list."""
    given = {
        "name": "sum", "work": "a sum", "size": 1000, "unit": "numbers", "prepare": lambda size: list(range(size)),
        "ours": sum, "peers": (), "check": lambda data, found: "" if found == len(data) * (len(data) - 1) // 2 else "wrong",
        "limit": lambda data: {"memory": 8 * len(data)},
    }  # fmt: skip
    return Benchmark(**{**given, **changed})


def test_a_peer_that_fails_is_a_line_and_the_others_go_on():
    def fails(data):
        raise ValueError("no luck\nand a second line")

    peers = (Peer("bad", 2, "math", run=fails), Peer("loop", 2, "math", run=lambda data: sum(x for x in data)))
    found = run(made(peers=peers), runs=2, growth=False)
    assert found["peers"][0]["failed"] == "bad failed: ValueError: no luck"
    assert found["peers"][1]["ratio"] > 0


def test_a_module_that_is_missing_is_a_line():
    found = run(made(peers=(Peer("nobody", 2, "no_such_module", run=sum),)), runs=1, growth=False)
    assert found["peers"][0]["missing"] == "nobody is not installed here: no module no_such_module"


def test_a_different_answer_is_said():
    peer = Peer(
        "liar", 2, "math", run=lambda data: 1, equal=lambda data, ours, theirs: "" if ours == theirs else "sums differ"
    )
    found = run(made(peers=(peer,)), runs=1, growth=False)
    assert found["peers"][0]["equal"] == "sums differ"
    document = page.document({"sum": found}, {}, {})
    assert "NOT EQUAL: sums differ" in document


def test_growth_finds_the_exponent(monkeypatch):
    taken = {10: 1.0, 40: 16.0, 160: 256.0}  # the square: four times the size, sixteen times the time
    monkeypatch.setattr("benchmarks.one._at", lambda benchmark, size: taken[size])
    grown = measure_growth(made(growth=(10, 40, 160)), 1.0, None)
    assert math.isclose(grown["exponent"], 2)
    assert page.exponent({"growth": grown}) == "2.00, over 1.1"


def test_a_scaled_peer_counts_as_often_as_it_goes_into_the_whole():
    peer = Peer("part", 2, "math", run=sum, scale=lambda data: 100.0, scaled="timed on a hundredth")
    told = run(made(peers=(peer,)), runs=3, growth=False)["peers"][0]
    assert told["scaled"] == "timed on a hundredth"
    ours = told["times"]["seconds"] * 100 / told["ratios"]["seconds"]
    assert 0 < ours < 1


def test_a_benchmark_that_fails_is_a_row_and_the_rest_are_written(monkeypatch, tmp_path):
    monkeypatch.setattr(runner, "RESULTS", tmp_path)
    monkeypatch.setattr(runner, "PAGE", tmp_path / "benchmarks.md")
    monkeypatch.setattr(runner, "ROOT", tmp_path)
    broken = {"name": "tags", "work": BENCHMARKS["tags"].work, "failed": "MemoryError"}
    runner.save("tags", broken)
    runner.write_page()
    written = (tmp_path / "benchmarks.md").read_text()
    assert "| failed: MemoryError |" in written
    assert written.count("not run yet") == len(BENCHMARKS) - 1


def test_the_median_of_as_many_runs_as_asked():
    times = timed(lambda: 5, 7)
    assert len(times.seconds) == 7 and times.answer == 5
    assert sorted(times.seconds)[3] == times.median


def test_the_page_is_what_the_saved_numbers_say():
    saved = {
        name: runner.saved(name) or {"name": name, "work": one.work, "failed": "not run yet"}
        for name, one in BENCHMARKS.items()
    }
    assert runner.PAGE.read_text() == page.document(
        saved, runner.saved("machine") or {}, {name: runner.saved(name) for name in page.ALONE}
    )


def test_a_job_whose_memory_grows_is_said_to_miss():
    sizes = [
        {"rows": 10, "seconds": 1.0, "processor": 1.0, "peak": 0.5},
        {"rows": 100, "seconds": 9.0, "processor": 9.0},
    ]
    jobs = {"flat": [sizes[0], {**sizes[1], "peak": 0.6}], "grown": [sizes[0], {**sizes[1], "peak": 0.61}]}
    told = page.document({}, {}, {"out_of_core": {"date": "today", "cores": 2, "jobs": jobs}})
    assert "| flat | 100 | 9 s | 9 s | 0.60 GB | 1.20 | met |" in told
    assert "| grown | 100 | 9 s | 9 s | 0.61 GB | 1.22 | missed |" in told


def test_jobs_run_later_leave_those_saved_before(tmp_path):
    from benchmarks import out_of_core

    saved = tmp_path / "out_of_core.json"
    for job in ("depictions", "flags"):
        out_of_core.main([job, "4000", "--json", str(saved)])
    assert list(json.loads(saved.read_text())["jobs"]) == ["depictions", "flags"]


def test_a_misspelt_job_is_named(capsys):
    from benchmarks import out_of_core

    with pytest.raises(SystemExit) as stopped:
        out_of_core.main(["tagz"])
    assert stopped.value.code == 2 and "'tagz' is no job and no number of rows" in capsys.readouterr().err
