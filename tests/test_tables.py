from __future__ import annotations

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from portrayal.errors import PortrayalError
from portrayal.tables import RESULTS, STIMULI, as_frame, check, check_responses, check_results, check_stimuli, results

ROW = {"audit": "search", "system": "bm25", "measure": "gsr", "value": 0.5, "n": 3}


def stimuli(*ids: str) -> pl.DataFrame:
    return pl.DataFrame([dict.fromkeys(STIMULI, identity) for identity in ids], schema=dict(STIMULI))


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame, pa.table, lambda columns: pl.DataFrame(columns).lazy()])
def test_polars_pandas_and_arrow_are_taken(make) -> None:
    frame = as_frame(make({"a": [1, 2]}))
    assert isinstance(frame, pl.DataFrame)
    assert frame["a"].to_list() == [1, 2]


def test_anything_else_is_named() -> None:
    with pytest.raises(PortrayalError, match="responses is a int. Expected a polars, pandas or Arrow table"):
        as_frame(5, "responses")


def test_a_missing_column_is_named_with_what_was_found_and_what_to_do() -> None:
    table = pl.DataFrame({"system": ["a"], "stimulus": ["q"], "repeat": [0], "status": ["answered"], "doc": ["d"]})
    with pytest.raises(PortrayalError) as caught:
        check_responses(table, "ranker", "A search audit needs one row per result; see docs/search.md.")
    assert str(caught.value) == (
        "responses lacks column 'rank' (found: system, stimulus, repeat, status, doc). "
        "A search audit needs one row per result; see docs/search.md."
    )


def test_a_column_of_the_wrong_type_is_named() -> None:
    table = results([ROW]).with_columns(pl.lit("much").alias("value"))
    with pytest.raises(PortrayalError, match="results has a column of the wrong type"):
        check_results(table)


def test_contract_columns_come_first_and_others_stay() -> None:
    table = check(pl.DataFrame({"extra": [1], "a": [2]}), {"a": pl.Float64}, "table")
    assert table.columns == ["a", "extra"]
    assert table.schema["a"] == pl.Float64


def test_an_estimate_without_n_does_not_exist() -> None:
    with pytest.raises(PortrayalError, match="'gsr' has a value but no n"):
        results([{**ROW, "n": None}])


def test_results_have_every_column_and_refuse_others() -> None:
    assert results([ROW], facets=()).columns == list(RESULTS)
    with pytest.raises(PortrayalError, match="no column 'p_adjust'. Did you mean 'p_adjusted'"):
        results([{**ROW, "p_adjust": 0.5}])


def test_a_stimulus_listed_twice_is_refused() -> None:
    with pytest.raises(PortrayalError, match="stimulus 'b' is listed twice"):
        check_stimuli(stimuli("a", "b", "b"))


def test_no_stimuli_are_refused() -> None:
    with pytest.raises(PortrayalError, match="stimuli is empty"):
        check_stimuli(stimuli())


def test_an_unknown_status_is_refused() -> None:
    row = {"system": "a", "stimulus": "q", "repeat": 0, "status": "fine", "tag": "x", "confidence": 1.0}
    with pytest.raises(PortrayalError, match="status \\['fine'\\]"):
        check_responses([row], "tagger")


def tag(status: str = "answered", name: str | None = "x", **more: object) -> dict[str, object]:
    row = {"system": "a", "stimulus": "q", "repeat": 0, "status": status, "tag": name, "confidence": 0.5}
    return {**row, **more}


def test_what_a_question_without_an_answer_still_carries_is_not_read() -> None:
    rows = [tag(), tag("failed", "y", stimulus="r"), tag("failed", "z", stimulus="r")]
    table = check_responses(rows, "tagger")
    assert table.select("stimulus", "status", "tag", "confidence").rows() == [
        ("q", "answered", "x", 0.5),
        ("r", "failed", None, None),
    ]


def test_tags_are_a_set_and_captions_may_be_said_twice() -> None:
    assert check_responses([tag(), tag(), tag(name="y")], "tagger")["tag"].to_list() == ["x", "y"]
    assert check_responses([tag(), tag(repeat=1)], "tagger").height == 2
    assert check_responses([tag(), tag(confidence=0.4)], "tagger").height == 2
    said = {"system": "a", "stimulus": "q", "repeat": 0, "status": "answered", "caption": "a dog"}
    assert check_responses([said, said], "captioner").height == 2
    assert check_responses([{**said, "status": "empty"}] * 2, "captioner").height == 1


def test_a_second_vector_is_refused() -> None:
    row = {"system": "a", "stimulus": "q", "repeat": 0, "status": "answered", "embedding": [1.0]}
    assert check_responses([row, {**row, "repeat": 1}], "encoder").height == 2
    with pytest.raises(PortrayalError, match="two vectors of 'a' for 'q' under one repeat"):
        check_responses([row, row], "encoder")


def test_a_stimulus_without_an_id_or_hash_is_refused() -> None:
    table = stimuli("a", "b").with_columns(pl.lit(None, dtype=pl.String).alias("hash"))
    with pytest.raises(PortrayalError, match="2 row\\(s\\) without 'hash'"):
        check_stimuli(table)


def test_pandas_is_taken_where_pyarrow_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(table: object) -> None:
        raise ModuleNotFoundError("pyarrow is required")

    monkeypatch.setattr(pl, "from_pandas", refuse)
    frame = as_frame(pd.DataFrame({"a": ["x", None], "b": [0.5, float("nan")]}))
    assert frame.to_dict(as_series=False) == {"a": ["x", None], "b": [0.5, None]}


def test_a_table_that_cannot_be_read_is_one_line() -> None:
    with pytest.raises(PortrayalError, match="responses cannot be read as a table"):
        as_frame(pd.DataFrame({"a": [1, "x", object()]}), "responses")


def test_silence_that_repeats_itself_is_one_question_and_answers_stay() -> None:
    def row(stimulus: str, status: str, tag: str | None) -> dict[str, object]:
        return {"system": "a", "stimulus": stimulus, "repeat": 0, "status": status, "tag": tag, "confidence": 0.5}

    rows = [row("p", "failed", None), row("q", "answered", "x"), row("p", "failed", "y"), row("q", "answered", "x")]
    rows += [row("r", "refused", None), row("q", "answered", "z"), row("p", "refused", None)]
    found = check_responses(rows, "tagger").select("stimulus", "status", "tag").rows()
    assert found == [
        ("p", "failed", None),
        ("q", "answered", "x"),
        ("r", "refused", None),
        ("q", "answered", "z"),
        ("p", "refused", None),
    ]


def test_one_tag_with_two_confidences_is_two_rows() -> None:
    row = {"system": "a", "stimulus": "q", "repeat": 0, "status": "answered", "tag": "x"}
    rows = [{**row, "confidence": confidence} for confidence in (0.5, 0.6, 0.5, None)]
    assert check_responses(rows, "tagger")["confidence"].to_list() == [0.5, 0.6, None]
