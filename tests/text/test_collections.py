"""Readers of collections, and of runs: every form, and one clear line for every fault."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from portrayal.errors import PortrayalError
from portrayal.text.collections import (
    RollCall,
    check_run,
    collection_of,
    in_batches,
    read_collection,
    read_qrels,
    read_run,
    read_topics,
    run_table,
    without_result,
    write_run,
)
from portrayal.text.collections.lines import unpack
from portrayal.text.collections.trec import SOURCES

DOCUMENTS = {"d1": "a nurse", "d2": "", "d3": "an electrician"}


def write_folder(path: Path, documents: dict[str, str] | None = None) -> Path:
    path.mkdir(exist_ok=True)
    lines = [json.dumps({"id": name, "text": text, "more": 1}) for name, text in (documents or DOCUMENTS).items()]
    (path / "documents.jsonl").write_text("\n".join(lines) + "\n")
    (path / "queries.tsv").write_text("q1\tnurse\nq2\telectrician\n")
    (path / "qrels.tsv").write_text("q1\t0\td1\t2\nq1\t0\td3\t0\nq2\t0\td3\t-1\n")
    return path


def test_the_folder_form(tmp_path: Path) -> None:
    collection = read_collection(write_folder(tmp_path / "toy"))
    assert dict(collection.documents()) == DOCUMENTS
    assert collection.queries == {"q1": "nurse", "q2": "electrician"}
    assert collection.qrels == {"q1": {"d1": 2, "d3": 0}, "q2": {"d3": -1}}
    assert collection.relevant("q1") == {"d1": 2}
    assert collection.relevant("q2") == {}  # a negative code is not relevant
    assert collection.judged() == ["q1", "q2"]


def test_a_tab_inside_a_query_loses_nothing(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "toy")
    (folder / "queries.tsv").write_text("q1\tnurse\tward\n")
    assert read_collection(folder).queries == {"q1": "nurse ward"}


def test_reading_writes_nothing(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "toy")
    before = {file.name: file.stat().st_mtime_ns for file in folder.iterdir()}
    list(read_collection(folder).documents())
    assert {file.name: file.stat().st_mtime_ns for file in folder.iterdir()} == before


@pytest.mark.parametrize(
    ("name", "documents", "queries", "judgments"),
    [("time", 423, 83, 324), ("cisi", 1460, 112, 3114), ("cranfield", 1400, 225, 1837)],
)
def test_the_real_collections(
    shared: Callable[[str], Path], name: str, documents: int, queries: int, judgments: int
) -> None:
    # sizes: README of each collection
    collection = read_collection(shared(f"data/ir/{name}"))
    assert sum(1 for _ in collection.documents()) == documents
    assert len(collection.queries) == queries
    assert sum(map(len, collection.qrels.values())) == judgments


def test_documents_are_streamed_not_held(tmp_path: Path) -> None:
    path = tmp_path / "documents.jsonl.gz"
    with gzip.open(path, "wt") as file:
        for number in range(5000):
            file.write(json.dumps({"id": number, "text": "x" * 1000}) + "\n")
    documents = read_collection(path).documents()
    assert next(documents) == ("0", "x" * 1000)
    assert next(documents)[0] == "1"
    assert [len(batch) for batch in in_batches(read_collection(path).documents(), 2000)] == [2000, 2000, 1000]


def test_long_documents_come_in_smaller_batches() -> None:
    texts = [(str(number), "x" * length) for number, length in enumerate([3, 9, 1, 1, 1])]
    assert [[name for name, _ in batch] for batch in in_batches(texts, 2, 10)] == [["0", "1"], ["2", "3"], ["4"]]
    assert [len(batch) for batch in in_batches(texts, 5, 4)] == [2, 3]


def test_a_beir_folder(tmp_path: Path) -> None:
    (tmp_path / "qrels").mkdir()
    (tmp_path / "corpus.jsonl").write_text('{"_id": "d1", "title": "T", "text": "body"}\n{"_id": "d2", "text": "b"}\n')
    (tmp_path / "queries.jsonl").write_text('{"_id": "q1", "text": "one"}\n{"_id": "q2", "text": "train only"}\n')
    (tmp_path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t2\n")
    collection = read_collection(tmp_path)
    assert list(collection.documents()) == [("d1", "T body"), ("d2", "b")]
    assert collection.queries == {"q1": "one"}
    assert collection.qrels == {"q1": {"d1": 2}}


def test_a_folder_of_text_files(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "b.txt").write_text("second\nline")
    (tmp_path / "a.txt").write_text("first")
    (tmp_path / "queries.tsv").write_text("1\tline\n")
    collection = read_collection(tmp_path)
    assert list(collection.documents()) == [("a", "first"), ("sub/b", "second\nline")]
    assert collection.queries == {"1": "line"}
    (tmp_path / "queries.tsv").unlink()
    assert read_collection(tmp_path).queries == {}  # texts alone are a collection to search


SMART = ".I 1\n.T\nA title\n.A\nAuthor, A.\n.W\nan abstract\nof two lines\n.X\n1 5 1\n.I 2\n.W\nsecond\n"


def test_the_classic_forms(tmp_path: Path) -> None:
    (tmp_path / "X.ALL").write_text(SMART)
    (tmp_path / "X.QRY").write_text(".I 1\n.W\nfirst query\n.I 4\n.W\nsecond query\n")
    (tmp_path / "X.REL").write_text("     1     2\t0\t0.000000\n     2     1\t0\t0.000000\n")
    collection = read_collection(tmp_path)
    assert list(collection.documents()) == [("1", "A title an abstract of two lines"), ("2", "second")]
    assert collection.queries == {"1": "first query", "2": "second query"}  # by position, not by the number 4
    assert collection.qrels == {"1": {"2": 1}, "2": {"1": 1}}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 184 2\n1 29 -1\n", {"1": {"184": 2, "29": -1}}),  # Cranfield: query document code
        ("1 0 13 1\n1 0 14 0\n", {"1": {"13": 1, "14": 0}}),  # TREC
        ("01 1410  0 0\n", {"1": {"1410": 1}}),  # CACM
        ("1  268 288\n2  326 334 5\n", {"1": {"268": 1, "288": 1}, "2": {"326": 1, "334": 1, "5": 1}}),  # TIME
    ],
)
def test_the_four_shapes_of_classic_judgments(tmp_path: Path, text: str, expected: dict) -> None:
    (tmp_path / "X.ALL").write_text(SMART)
    (tmp_path / "X.QRY").write_text(".I 1\n.W\nfirst\n")
    (tmp_path / "X.REL").write_text(text)
    assert read_collection(tmp_path).qrels == expected


def test_the_time_shape(tmp_path: Path) -> None:
    (tmp_path / "T.ALL").write_text("*TEXT 017 01/04/63 PAGE 020\n\nTHE ALLIES\nAFTER\n*TEXT 020 X\nSECOND\n*STOP\n")
    (tmp_path / "T.QUE").write_text("*FIND     1\n KENNEDY\n*FIND     2\n DIEM\n*STOP\n")
    collection = read_collection(tmp_path)
    assert list(collection.documents()) == [("1", "THE ALLIES AFTER"), ("2", "SECOND")]
    assert collection.queries == {"1": "KENNEDY", "2": "DIEM"}


def write_robust(path: Path) -> Path:
    for part, name in (("disk4/FT", "FT911-1"), ("disk5/LATIMES", "LA010189-0001"), ("disk4/CR", "CR93E-1")):
        (path / part).mkdir(parents=True)
        text = f"<DOC>\n<DOCNO> {name} </DOCNO>\n<DATE>910514</DATE>\n<HEADLINE>\nFT 14 &amp; more\n</HEADLINE>\n"
        (path / part / "file").write_text(text + "<TEXT>\n<P>caf\xe9 news</P>\n</TEXT>\n</DOC>\n", encoding="latin-1")
    (path / "disk4" / "FT" / "READFRCG").write_text("not a document")
    tops = "".join(
        f"<top>\n<num> Number: {n}\n<title> title {n}\n\n<desc> Description:\nlong\n</top>\n" for n in (301, 672)
    )
    (path / "topics.txt").write_text(tops)
    (path / "qrels.txt").write_text("301 0 FT911-1 1\n672 0 FT911-1 0\n")
    return path


def test_robust04_leaves_out_the_congressional_record_and_the_unjudged_topic(tmp_path: Path) -> None:
    collection = read_collection(write_robust(tmp_path))
    assert list(collection.documents()) == [
        ("FT911-1", "FT 14 & more café news"),
        ("LA010189-0001", "FT 14 & more café news"),
    ]
    assert collection.queries == {"301": "title 301"}


def compress(text: bytes) -> bytes:
    """Pack as Unix compress does, with codes of 9 to 12 bits; once the dictionary is full it stays as it is."""
    table, codes, piece = {bytes([value]): value for value in range(256)}, [], b""
    for value in text:
        longer = piece + bytes([value])
        if longer not in table:
            codes.append(table[piece])
            if len(table) < (1 << 12) - 1:
                table[longer] = len(table) + 1  # 256 is the code that clears
            longer = longer[-1:]
        piece = longer
    codes += [table[piece]] if piece else []
    bits, group, size, out, room = 9, 0, 0, b"", 257
    for place, code in enumerate(codes):
        group |= code << (bits * size)
        size, room = size + 1, room + (place > 0)
        grows = room >= 1 << bits and bits < 12
        if size == 8 or grows or place == len(codes) - 1:  # a wider code begins a group of its own
            out += group.to_bytes(bits if grows or size == 8 else -(-bits * size // 8), "little")
            group, size = 0, 0
        bits += grows
    return b"\x1f\x9d\x8c" + out


WORDS = "".join(f"<P>word{number % 97} caf\xe9 {number}</P>\n" for number in range(3000))


def write_disk(folder: Path, name: str, pack: Callable[[bytes], bytes]) -> str:
    """Write one packed file of a disk with one document, and return the document's id."""
    folder.mkdir(parents=True, exist_ok=True)
    document = f"{folder.name}-{name}"
    text = f"<DOC>\n<DOCNO> {document} </DOCNO>\n<TEXT>\n{WORDS}</TEXT>\n</DOC>\n"
    (folder / name).write_bytes(pack(text.encode("latin-1")))
    return document


@pytest.mark.parametrize("size", [0, 1, 2, 7, 600, 5000, 60_000])
def test_what_compress_packed_is_unpacked(size: int) -> None:
    text = WORDS.encode("latin-1")[:size]
    assert unpack(compress(text)) == text


def test_every_file_of_the_disks_is_read_as_it_comes(tmp_path: Path) -> None:
    folder = write_robust(tmp_path)
    names = ("fr940104.0z", "FR940104.1Z", "fr940104.2z")
    added = {write_disk(folder / "disk4" / "FR94", name, compress) for name in names}
    added.add(write_disk(folder / "disk5" / "FBIS", "fb396001.z", compress))
    added.add(write_disk(folder / "disk4" / "FT", "ft911_2.Z", gzip.compress))  # packed anew under the old name
    write_disk(folder / "disk4" / "FR94", "readfrcg.z", compress)
    found = dict(read_collection(folder).documents())
    assert set(found) == {"FT911-1", "LA010189-0001", *added}
    assert found["FR94-FR940104.1Z"].startswith("word0 café 0 word1 café 1")


def test_a_damaged_disk_is_one_clear_line(tmp_path: Path) -> None:
    folder = write_robust(tmp_path)
    file = folder / "disk4" / "FT" / "another.z"
    for raw, says in (
        (b"plain text", "is not packed by compress or gzip as its name says"),
        (b"\x1f\x9d\x90\xff\xff\xff\xff", "is not a whole packed file (corrupt input."),
    ):
        file.write_bytes(raw)
        with pytest.raises(PortrayalError) as caught:
            list(read_collection(folder).documents())
        assert says in str(caught.value)
        assert "\n" not in str(caught.value)


def test_missing_parts_and_judged_documents_are_said(tmp_path: Path) -> None:
    folder = write_robust(tmp_path)
    (folder / "qrels.txt").write_text("301 0 FT911-1 1\n301 0 FT911-9 1\n301 0 FR940104-0-00001 0\n")
    collection = read_collection(folder)
    assert sum(SOURCES.values()) == 528_155
    roll = RollCall(collection)
    assert roll.says() == []  # nothing was read yet
    assert len(list(roll.watch(collection.documents()))) == 2
    assert roll.says() == [
        "robust04 has 2 documents, where 528,155 are published: FT 1 of 210,158, FR94 0 of 55,630, FBIS 0 of 130,471, "
        "LA 1 of 131,896.",
        "2 of 3 judged documents are not in the collection 'robust04', 1 of them relevant (first: 'FT911-9').",
    ]


def test_topics_need_a_number_and_a_title(tmp_path: Path) -> None:
    (tmp_path / "topics").write_text("<top><num> Number: 1</top>")
    with pytest.raises(PortrayalError, match="without <num> or <title>"):
        read_topics(tmp_path / "topics")
    (tmp_path / "topics").write_text("nothing")
    with pytest.raises(PortrayalError, match="has no <top>"):
        read_topics(tmp_path / "topics")


def broken(path: Path, name: str, content: bytes) -> Path:
    folder = write_folder(path / "bad")
    (folder / name).write_bytes(content)
    return folder


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("documents.jsonl", b"", "collection 'bad' has no documents"),
        ("documents.jsonl", b'{"id": "1", "text": "caf\xe9"}\n', "documents.jsonl line 1 is not UTF-8"),
        ("documents.jsonl", b'{"id": "1"', "line 1 is not JSON"),
        ("documents.jsonl", b"[1]", "line 1 is a JSON list"),
        ("documents.jsonl", b'{"id": "1"}', "line 1 lacks id or text"),
        ("queries.tsv", b"\xff\tx\n", "queries.tsv line 1 is not UTF-8"),
        ("queries.tsv", b"", "queries.tsv has no queries"),
        ("queries.tsv", b"q1 nurse\n", "line 1 has 1 fields. Expected: query id, tab, text"),
        ("queries.tsv", b"q1\ta\nq1\tb\n", "has query 'q1' twice"),
        ("qrels.tsv", b"q1\t0\td1\n", "line 1 has 3 fields. Expected: query, 0, document, relevance"),
        ("qrels.tsv", b"q1\t0\td1\thigh\n", "is 'high'. Expected a whole number"),
        ("qrels.tsv", b"q1\t0\td1\t1\nq1\t0\td1\t0\n", "judges document 'd1' of query 'q1' twice"),
    ],
)
def test_each_fault_is_one_line(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    with pytest.raises(PortrayalError) as caught:
        read_collection(broken(tmp_path, name, content))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_fault_deep_in_the_stream_is_told_with_its_line(tmp_path: Path) -> None:
    good = b'{"id": "1", "text": "x"}\n'
    collection = read_collection(broken(tmp_path, "documents.jsonl", good * 1 + b'{"id": "2", "text": "\xff"}\n'))
    with pytest.raises(PortrayalError, match="line 2 is not UTF-8"):
        list(collection.documents())


def test_a_path_that_is_no_collection(tmp_path: Path) -> None:
    with pytest.raises(PortrayalError, match="no collection at"):
        read_collection(tmp_path / "missing")
    with pytest.raises(PortrayalError, match="is no collection of a known form"):
        read_collection(tmp_path)
    with pytest.raises(PortrayalError, match="no form 'foldr'. Did you mean 'folder'"):
        read_collection(tmp_path, form="foldr")


def test_a_torn_gzip_file(tmp_path: Path) -> None:
    whole = gzip.compress(b'{"id": "1", "text": "x"}\n' * 3000)
    folder = write_folder(tmp_path / "bad")
    (folder / "documents.jsonl").unlink()
    (folder / "documents.jsonl.gz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(PortrayalError, match="is not a whole gzip file"):
        list(read_collection(folder).documents())


RUN = [("q2", "d1", 1, 2.5), ("q1", "d3", 1, 0.1 + 0.2), ("q1", "d1", 2, -1e-9)]


def test_a_run_is_written_and_read_without_loss(tmp_path: Path) -> None:
    write_run(run_table(RUN), tmp_path / "x.run", "tag")
    assert (tmp_path / "x.run").read_text().splitlines()[1] == "q1 Q0 d3 1 0.30000000000000004 tag"
    assert read_run(tmp_path / "x.run").rows() == RUN


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("q1 Q0 d1 1 2.0 x\nq1 Q0 d2 1 2.0 x\n", "every score is 2, and query 'q1' has rank 1 twice"),
        ("q1 Q0 d1 1 high x\n", "the score of 'd1' for query 'q1' is 'high'"),
        ("q1 Q0 d1 1 nan x\n", "the score of 'd1' for query 'q1' is 'nan'"),
        ("q1 Q0 d1 first 2.0 x\n", "is 'first'. Expected a whole number"),
        ("q1 d1 1\n", "line 1 has 3 fields. Expected: query Q0 document rank score tag"),
        ("", "has no results"),
    ],
)
def test_faults_of_a_run(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "x.run").write_text(text)
    with pytest.raises(PortrayalError) as caught:
        read_run(tmp_path / "x.run")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_scores_decide_the_order_of_a_run_and_ranks_where_it_has_none(tmp_path: Path) -> None:
    path = tmp_path / "x.run"
    path.write_text("q1 Q0 d1 1 0.5 x\nq1 Q0 d2 1 0.7 x\nq1 Q0 d3 1 0.7 x\n")  # one rank for all
    assert read_run(path)["doc"].to_list() == ["d3", "d2", "d1"]
    assert read_run(path)["rank"].to_list() == [1, 2, 3]
    path.write_text("q1 Q0 d1 2 0 x\nq1 Q0 d2 3 0 x\nq1 Q0 d3 1 0 x\n")  # no scores
    assert read_run(path)["doc"].to_list() == ["d3", "d1", "d2"]


def test_unknown_documents_and_queries_are_named() -> None:
    run = run_table(RUN)
    check_run(run, {"d1", "d3"}, {"q1", "q2"})
    with pytest.raises(PortrayalError, match=r"names 1 documents the collection does not have \(first: 'd3'\)"):
        check_run(run, {"d1"}, {"q1", "q2"})
    with pytest.raises(PortrayalError, match=r"names 1 queries the collection does not have \(first: 'q2'\)"):
        check_run(run, {"d1", "d3"}, {"q1"})


def test_queries_without_a_result_are_listed() -> None:
    assert without_result(run_table(RUN), {"q1": "", "q9": "", "q2": ""}) == ["q9"]


def test_an_id_with_white_space_cannot_go_into_a_run(tmp_path: Path) -> None:
    with pytest.raises(PortrayalError, match="has white space in its id"):
        write_run(run_table([("q1", "d 1", 1, 1.0)]), tmp_path / "x.run")


def test_qrels_of_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(PortrayalError, match="no file at"):
        read_qrels(tmp_path / "none.tsv")


def test_a_collection_in_memory_can_be_read_twice() -> None:
    collection = collection_of(iter(DOCUMENTS.items()), {"q": "x"})
    assert dict(collection.documents()) == dict(collection.documents()) == DOCUMENTS
