"""The plan past one machine: its arithmetic on made-up results, and what it says where nothing was measured."""

import json

import pytest
from scripts import scaling_page
from scripts.scaling_page import ASSUMPTIONS, BEGIN, END, NOT_YET, document, main, read_results

RESULTS = {
    # Two workers take 60 s for what one takes 96 s: 96 / 120 = 0.8 of the second one's time is used.
    "engine": {
        "date": "2026-01-02", "shard": 500,
        "engines": {"local": {"start_seconds": 2.0, "shard_microseconds": {"1": 900.0, "2": 400.0}, "captions": 48_000,
                              "seconds": {"1": 96.0, "2": 60.0}}},
    },
    # 180 s of processor for 100,000 captions: 1.8 ms each.
    "captions": {"date": "2026-01-02", "captions": 100_000, "sources": {"distinct": {"parsing_processor": 180.0}}},
    "out_of_core": {
        "jobs": {
            "mentions": [{"rows": 10, "processor": 99.0, "disk": 9.0}, {"rows": 1_000_000, "processor": 9.0, "disk": 0.01}],
            "tags": [{"rows": 1_000_000, "processor": 1.8, "disk": 0.01}],
        }
    },
    "indexing": {"size": 100_000, "ours": {"seconds": 9.0, "processor": 18.0}},
    "search": {"size": 100_000, "ours": {"seconds": 0.2, "processor": 0.36}},
    "genderedness": {"size": 250, "ours": {"seconds": 1.0, "processor": 1.8}},
    "recorded_calls": {"size": 10_000, "ours": {"seconds": 7.2, "processor": 7.0}},
    "gpu_images": {"images_per_second": {"exact": 2_000.0}},
    "index_size": {"bytes_each": 4096.0},
}  # fmt: skip
GIVEN = {name: value for name, (value, _) in ASSUMPTIONS.items()} | {
    "dollars_core_hour": 0.05, "dollars_gpu_hour": 3.0, "dollars_gigabyte_month": 0.02, "cores_machine": 50, "hours": 25,
    "gigabytes_machine": 256, "captions_pair": 2, "mentions_caption": 8, "tags_picture": 20, "queries": 250,
}  # fmt: skip


def row(page, step):
    """Return the cells of a step."""
    line = next(line for line in page.splitlines() if line.startswith(f"| {step} |"))
    return [cell.strip() for cell in line.strip("|").split("|")][2:]


def test_captions_by_hand():
    page = document(RESULTS, GIVEN)
    # 1.8 ms x 10^10 captions = 1.8e7 s = 5,000 core-hours. A machine of 50 cores does 50 x 0.8 = 40 an hour, 1,000 in 25 h:
    # 5 machines. 5,000 h x 0.05 dollars / 0.8 = 312.5.
    parsing = row(page, "parse captions into scene graphs")
    assert parsing == ["1.8 ms", "10,000,000,000", "5,000 core-hours", "5 machines", "312"]
    # 400 us a shard of 500: 0.8 us a caption, 8,000 s = 2.22 h of one process, 0.11 dollars.
    assert row(page, "hand shards to workers") == ["800 ns", "10,000,000,000", "2.22 process-hours", "1 run", "0.111"]
    # 9 s for 10^6 rows, of the larger size, 8 a caption: 72 us; 720,000 s = 200 h; 200 / 1,000: one machine; 200 x 0.05 / 0.8.
    assert row(page, "count mentions, files on disk") == [
        "72 µs",
        "10,000,000,000",
        "200 core-hours",
        "1 machine",
        "12.5",
    ]
    # 312.5 + 0.11 + 12.5 = 325.1, of which 312.5 are 96%.
    assert "In all 325 dollars. Bottleneck: parse captions into scene graphs, 96% of them. Parse each" in page
    # 0.01 GB for 10^6 rows, 8 x 10^10 rows: 800 GB, at 0.02 dollars 16.
    assert "Parsed mentions on disk: 800 GB, 16 dollars a month." in page


def test_the_engine_by_hand():
    page = document(RESULTS, GIVEN)
    # 48,000 / 96 and / 60 captions a second; a shard of 500 is 1 s of work, handed over in 400 us: 2,500 workers.
    assert "| local | 2 s | 900 µs | 400 µs | 500 | 800 | 1.6 | 2,500 |" in page
    assert page.count(f"| ray | {NOT_YET} |") == 1
    assert "0.8 of a second worker's time" in page


def test_search_by_hand():
    page = document(RESULTS, GIVEN)
    # 180 us x 10^9 = 50 h: 50 x 0.05 / 0.8 = 3.125 dollars. 3.6 us x 10^9 = 1 h. 250 lists of 7.2 ms: 1.8 s = 0.0005 h.
    assert row(page, "index documents") == ["180 µs", "1,000,000,000", "50 core-hours", "1 machine", "3.12"]
    assert row(page, "search 250 queries")[:3] == ["3.6 µs", "1,000,000,000", "1 core-hours"]
    assert row(page, "genderedness of the lists")[:3] == ["7.2 ms", "250", "0.0005 core-hours"]
    # 4,096 bytes x 10^9 = 4,096 GB = 16 machines of 256.
    assert "4,096 bytes a document (`index_size`), 4,096 GB in all, 16 machines to hold it" in page
    assert row(document(RESULTS, GIVEN | {"queries": 500}), "search 500 queries")[0] == "7.2 µs"  # twice the queries


def test_pictures_by_hand():
    page = document(RESULTS, GIVEN)
    # 2,000 a second: 500 us, 50,000 s = 13.9 GPU-hours, 41.7 dollars.
    assert row(page, "decode and encode") == ["500 µs", "100,000,000", "13.9 GPU-hours", "1 GPU", "41.7"]
    # 0.72 ms a call: 72,000 s = 20 h, below 25.
    assert row(page, "record answers, one run") == ["720 µs", "100,000,000", "20 process-hours", "1 run", "1"]
    # 1.8 us a tag, 20 a picture: 36 us, 3,600 s = 1 h: 0.0625 dollars. 41.667 + 1 + 0.0625 = 42.7: 98%.
    assert "In all 42.7 dollars. Bottleneck: decode and encode, 98% of them." in page
    assert "side by side to record" not in page
    hurried = document(RESULTS, GIVEN | {"hours": 8})  # 20 h of recording: three runs
    assert "In time it also needs 3 runs side by side to record answers, one run." in hurried


@pytest.mark.parametrize("name", RESULTS)
def test_what_was_not_measured_is_said_and_the_rest_stays(name):
    page = document({other: found for other, found in RESULTS.items() if other != name}, GIVEN)
    assert page.count(NOT_YET) > document(RESULTS, GIVEN).count(NOT_YET)
    assert "nan" not in page and "None" not in page


def test_nothing_measured():
    page = document({}, GIVEN)
    assert page.count("In all: not measured yet (") == 3
    assert "Bottleneck:" not in page and page.endswith("Measured: not measured yet.")


def test_the_script_writes_between_its_marks(tmp_path):
    results = tmp_path / "results"
    results.mkdir()
    for name, found in RESULTS.items():
        (results / f"{name}.json").write_text(json.dumps(found))
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}\nearlier figures\n{END}\nafter\n")
    words = ["--results", str(results), "--page", str(page), "--set", "hours=25", "cores_machine=50"]
    main(words)
    once = page.read_text()
    main(words)
    assert page.read_text() == once and "earlier figures" not in once
    assert once.startswith("before\n") and once.endswith("after\n")
    assert row(once, "parse captions into scene graphs")[3] == "5 machines"
    with pytest.raises(SystemExit):
        main([*words, "dollars=3"])


def test_the_page_is_what_the_saved_results_say():
    page = scaling_page.ROOT / "docs" / "scaling.md"
    block = document(
        read_results(scaling_page.ROOT / "benchmarks" / "results"), {n: v for n, (v, _) in ASSUMPTIONS.items()}
    )
    assert scaling_page.written(page.read_text(), block) == page.read_text()


def test_benchmarks_write_what_the_script_reads(tmp_path, monkeypatch):
    """The out-of-core benchmark at a small size, and the shape of the others' files."""
    from benchmarks.saved import write_found

    from benchmarks import engine, out_of_core

    out_of_core.main(["tags", "mentions", "4000", "--json", str(tmp_path / "out_of_core.json")])
    monkeypatch.setattr(engine, "start", lambda name, workers: 2.0)
    monkeypatch.setattr(engine, "overhead", lambda name, workers, shards: 400.0)
    monkeypatch.setattr(engine, "parse", lambda name, workers, texts: (120.0 / workers, []))
    found = {"local": engine.measured("local", 10, ["a"] * 500)}
    write_found(tmp_path / "engine.json", {"engines": found, "shard": engine.SHARD})
    results = read_results(tmp_path)
    assert results["out_of_core"]["jobs"]["tags"][-1]["rows"] == 4000
    page = document(results, GIVEN)
    assert row(page, "hand shards to workers")[0] == "800 ns"
    assert NOT_YET not in row(page, "count mentions, files on disk") and NOT_YET not in row(
        page, "count tags, files on disk"
    )
