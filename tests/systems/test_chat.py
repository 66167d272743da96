"""OpenAI-compatible servers by their users' habits: addresses, keys, tokens, own prompts, structured output, prices."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from portrayal.errors import PortrayalError
from portrayal.run.plan import plan_text
from portrayal.study.study_file import make_study
from portrayal.systems.core.base import Answer, CallFailed, Question, Unreadable, question_key
from portrayal.systems.core.readers import read_answer, read_rows
from portrayal.systems.core.registry import open_system
from portrayal.systems.core.settings import SystemSettings
from systems.vendor_server import vendor_server


@pytest.fixture
def server() -> Iterator[ThreadingHTTPServer]:
    with vendor_server() as running:
        yield running


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    path = tmp_path / "picture.png"
    Image.new("RGB", (150, 100), "teal").save(path)
    return path


def home(server: ThreadingHTTPServer) -> str:
    return f"http://127.0.0.1:{server.server_port}"


def opened(folder: Path = Path(), use: str = "openai", kind: str = "tagger", **parameters: Any) -> Any:
    return open_system(SystemSettings(name="mine", use=use, parameters={"model": "vlm", **parameters}), folder, kind)


def ask(system: Any, *questions: Question) -> Any:
    async def asking() -> Any:
        try:
            return [answer for one in questions for answer in await system.ask([one])]
        finally:
            await system.close()

    return asyncio.run(asking())


def about(picture: Path) -> Question:
    return Question("1", "image", str(picture), "hash")


def body(server: ThreadingHTTPServer, place: int = -1) -> Any:
    return json.loads(server.seen[place]["body"])


@pytest.mark.parametrize(
    "given",
    [{"base_url": "/v1"}, {"base_url": "/v1/"}, {"base_url": "/v1/chat/completions"},
     {"endpoint": ""}, {"endpoint": "/v1"}, {"endpoint": "/v1/"}],
    ids=str,
)  # fmt: skip
def test_an_address_is_taken_with_or_without_its_ends(server, picture, given) -> None:
    ask(opened(**{name: home(server) + end for name, end in given.items()}), about(picture))
    assert server.seen[-1]["path"] == "/v1/chat/completions"


def test_the_address_and_the_key_come_from_the_environment_and_the_study_wins(server, picture, monkeypatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", home(server) + "/v1/")
    ask(opened(), about(picture))
    assert server.seen[-1]["path"] == "/v1/chat/completions"
    assert "Authorization" not in server.seen[-1]["headers"]  # a local server needs none
    monkeypatch.setenv("OPENAI_API_KEY", "made up here")
    monkeypatch.setenv("OTHER_KEY", "another key")
    ask(opened(), about(picture))
    assert server.seen[-1]["headers"]["Authorization"] == "Bearer made up here"
    system = opened(key="OTHER_KEY")
    ask(system, about(picture))
    assert server.seen[-1]["headers"]["Authorization"] == "Bearer another key"
    assert "OTHER_KEY" not in json.dumps(dict(system.parameters))
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    ask(opened(base_url=home(server) + "/v1"), about(picture))
    assert len(server.seen) == 4
    monkeypatch.setenv("ANTHROPIC_BASE_URL", home(server))
    monkeypatch.setenv("ANTHROPIC_API_KEY", "made up there")
    ask(opened(use="anthropic"), about(picture))
    assert server.seen[-1]["path"] == "/v1/messages"


def test_a_key_that_is_needed_is_missed_before_anything_is_asked(monkeypatch) -> None:
    with pytest.raises(PortrayalError, match="OpenAI needs the environment variable OPENAI_API_KEY"):
        opened().check_ready()
    opened(base_url="http://localhost:1/v1").check_ready()
    with pytest.raises(PortrayalError, match="needs the environment variable ABSENT_KEY"):
        opened(base_url="http://localhost:1/v1", key="ABSENT_KEY").check_ready()


WRONG = [
    ({"base_url": "localhost:8000/v1"}, "Expected an address such as http"),
    ({"base_url": "https://me:word@host/v1"}, "holds a login"),
    ({"base_url": "http://a/v1", "endpoint": "http://a"}, "both base_url and endpoint"),
    ({"max_tokens": 5, "max_completion_tokens": 6}, "both max_completion_tokens and max_tokens"),
    ({"max_completion_tokens": 0}, "greater than or equal to 1"),
    ({"temperature": -1}, "temperature"),
    ({"dollars_per_million_input": "two"}, "dollars_per_million_input is 'two'"),
    ({"dollars_per_million_output": float("nan")}, "dollars_per_million_output is nan"),
    ({"dollars_per_million_output": -1.0}, "dollars_per_million_output is -1.0"),
    ({"modle": "m"}, "Did you mean 'model'"),
    ({"model": ""}, "names no model"),
    ({"prompt": "9"}, "no tagger prompt of version '9'. Known: 1, 2"),
    ({"prompt_file": "absent.txt"}, "absent.txt cannot be read: No such file"),
    ({"prompt_file": "../outside.txt"}, "outside the study's folder"),
    ({"prompt_file": "link.txt"}, "outside the study's folder"),
    ({"prompt_file": "empty.txt"}, "is empty"),
    ({"prompt_file": "bytes.txt"}, "is no text. Save it as UTF-8"),
    ({"prompt_file": "gender.txt"}, r"has {gender}, {place}. A tagger's question fills {repeat} only"),
    ({"prompt_file": "path.txt"}, r"has {content}. A tagger's question fills {repeat} only \(the picture is sent"),
]  # fmt: skip


@pytest.mark.parametrize(("parameters", "said"), WRONG, ids=[str(list(one[0])) + one[1][:20] for one in WRONG])
def test_what_is_wrong_is_one_line(tmp_path, parameters, said) -> None:
    study = tmp_path / "study"
    study.mkdir()
    (tmp_path / "outside.txt").write_text("Tags, please.")
    (study / "link.txt").symlink_to(tmp_path / "outside.txt")
    (study / "empty.txt").write_text(" \n")
    (study / "bytes.txt").write_bytes(b"\xff\xfe\x00")
    (study / "gender.txt").write_text("Tags of this {gender} in {place}, {gender}.")
    (study / "path.txt").write_text("Tags of {content}.")
    with pytest.raises(PortrayalError, match=said) as raised:
        opened(study, **parameters)
    assert "\n" not in str(raised.value)


def test_the_most_tokens_are_sent_under_the_name_a_study_gives(server, picture) -> None:
    for given, sent in (
        ({"max_completion_tokens": 40}, {"max_completion_tokens": 40}),
        ({"max_tokens": 50}, {"max_tokens": 50}),
        ({"most_tokens": 60}, {"max_tokens": 60}),
        ({}, {"max_tokens": 300}),
    ):
        ask(opened(base_url=home(server) + "/v1", **given), about(picture))
        assert {name: value for name, value in body(server).items() if "tokens" in name} == sent
        assert body(server)["temperature"] == 0.0
    ask(opened(base_url=home(server) + "/v1", temperature="default"), about(picture))
    assert "temperature" not in body(server)


def refusing(name: str, words: str) -> Callable[[Any], Any]:
    return lambda asked: (400, {"error": {"message": words}}, {}) if name in asked else None


NEWER = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
OLDER = "extra fields not permitted: max_completion_tokens"


@pytest.mark.parametrize(
    ("refused", "words", "given", "taken"),
    [
        ("max_tokens", NEWER, {}, "max_completion_tokens"),
        ("max_completion_tokens", OLDER, {"max_completion_tokens": 9}, "max_tokens"),
    ],
)
def test_a_server_that_takes_the_other_name_is_asked_with_it_and_a_line_says_so(
    server, picture, refused, words, given, taken
) -> None:
    server.judge = refusing(refused, words)
    system = opened(base_url=home(server) + "/v1", **given)
    answers = ask(system, about(picture), about(picture))
    assert [read_answer(system, answer)[0]["tag"] for answer in answers] == ["woman", "woman"]
    assert [taken in body(server, place) for place in range(3)] == [False, True, True]  # refused once
    assert system.notes == [f"mine: the server takes no {refused}; it was asked with {taken}"]


def test_a_server_that_takes_neither_name_fails_with_its_words(server, picture) -> None:
    server.judge = lambda asked: (400, {"error": {"message": f"unknown: {sorted(asked)[0]}"}}, {})
    with pytest.raises(CallFailed, match="unknown: max_"):
        ask(opened(base_url=home(server) + "/v1"), about(picture))
    assert len(server.seen) == 2


@pytest.mark.parametrize("kind", ["tagger", "captioner"])
def test_structured_output_is_asked_for_and_done_without_where_it_is_refused(server, picture, kind) -> None:
    system = opened(kind=kind, base_url=home(server) + "/v1", structured=True)
    server.content = '{"tags": ["woman", "tree"]}' if kind == "tagger" else '{"caption": "A woman by a tree."}'
    (answer,) = ask(system, about(picture))
    asked = body(server)["response_format"]["json_schema"]
    assert (asked["strict"], asked["schema"]["additionalProperties"]) == (True, False)
    assert asked["schema"]["required"] == ["tags" if kind == "tagger" else "caption"]
    assert "JSON object" in body(server)["messages"][0]["content"][0]["text"]
    rows = [
        [{"tag": "woman", "confidence": None}, {"tag": "tree", "confidence": None}],
        [{"caption": "A woman by a tree."}],
    ]
    assert read_answer(system, answer) in rows
    assert system.notes == []
    server.judge = refusing("response_format", "json_schema response_format is not supported by this model")
    answers = ask(system, about(picture), about(picture))
    assert [read_answer(system, answer) in rows for answer in answers] == [True, True]
    assert "response_format" not in body(server)
    assert system.notes == [
        "mine: the server takes no response_format; it was asked for JSON in words alone (structured output is not enforced)"
    ]


def test_structured_output_is_not_offered_where_we_do_not_speak_it() -> None:
    with pytest.raises(PortrayalError, match='structured is of use = "openai" only'):
        opened(use="anthropic", structured=True)


def test_a_caption_in_an_object_that_declines_is_a_refusal() -> None:
    from portrayal.systems.core.base import Refused

    said = json.dumps({"caption": "I'm sorry, but I can't identify people in images."})
    raw = json.dumps({"choices": [{"message": {"content": said}}]}).encode()
    with pytest.raises(Refused):
        read_rows("openai", Answer(raw), "captioner", {})


@pytest.mark.parametrize(
    ("reader", "answer"),
    [
        ("openai", {"choices": [{"finish_reason": "length", "message": {"content": '["woman", "tr'}}]}),
        ("openai", {"choices": [{"finish_reason": "length", "message": {"content": ""}}]}),  # spent on thinking
        ("anthropic", {"stop_reason": "max_tokens", "content": [{"type": "text", "text": "woman, tr"}]}),
    ],
)
@pytest.mark.parametrize("kind", ["tagger", "captioner"])
def test_an_answer_that_was_cut_off_is_unreadable_and_not_empty(reader, answer, kind) -> None:
    with pytest.raises(Unreadable, match="cut off at its most tokens"):
        read_rows(reader, Answer(json.dumps(answer).encode()), kind, {})


def test_an_answer_in_parts_is_read() -> None:
    parts = [{"type": "text", "text": '["woman",'}, {"type": "text", "text": ' "tree"]'}]
    raw = json.dumps({"choices": [{"message": {"content": parts}}]}).encode()
    assert [row["tag"] for row in read_rows("openai", Answer(raw), "tagger", {})] == ["woman", "tree"]


def test_a_prompt_of_the_studys_own_is_sent_and_is_part_of_the_key(server, picture, tmp_path) -> None:
    file = tmp_path / "prompt.txt"
    file.write_text('Name what you see, time {repeat}, as {"tags": []} or {{raw}}.\n')
    system = opened(tmp_path, base_url=home(server) + "/v1", prompt_file="prompt.txt")
    ask(system, Question("1", "image", str(picture), "hash", repeat=2))
    assert body(server)["messages"][0]["content"][0]["text"] == (
        'Name what you see, time 2, as {"tags": []} or {{raw}}.'
    )
    before = question_key(system, about(picture))
    file.write_text("Name what you see.")
    other = opened(tmp_path, base_url=home(server) + "/v1", prompt_file="prompt.txt")
    assert question_key(other, about(picture)) != before


def test_prices_and_the_keys_name_make_no_new_question() -> None:
    """Whoever learns the price after the first try must not pay for everything again."""
    plain = opened(base_url="http://host/v1")
    priced = opened(base_url="http://host/v1", key="MY_KEY", dollars_per_million_input=2.0)
    assert question_key(plain, Question("1", "image", "p", "h")) == question_key(
        priced, Question("1", "image", "p", "h")
    )
    bare = {"endpoint": "https://api.openai.com", "model": "vlm", "prompt": "1", "most_tokens": 300, "temperature": 0.0,
            "dollars_per_million_input": 0.0, "dollars_per_million_output": 0.0}  # fmt: skip
    assert dict(opened().parameters) == bare  # as runs of earlier versions were asked


@pytest.mark.parametrize(
    ("usage", "cost"),
    [
        ({"prompt_tokens": 1000, "completion_tokens": 10}, 0.0021),  # 1000 * 2 + 10 * 10 dollars, by a million
        ({"prompt_tokens": -1000, "completion_tokens": 10}, 0.0001),
        ({"prompt_tokens": float("nan"), "completion_tokens": float("inf")}, 0.0),
        ({"prompt_tokens": True, "completion_tokens": "10"}, 0.0),
        ({"prompt_tokens": 10**400}, 0.0),
        ([], 0.0),
        (None, 0.0),
    ],
)
def test_a_bill_is_counted_where_it_is_finite_and_not_negative(server, picture, usage, cost) -> None:
    server.fault = (200, {"choices": [{"message": {"content": "[]"}}], "usage": usage}, {})
    prices = {"dollars_per_million_input": 2.0, "dollars_per_million_output": 10.0}
    (answer,) = ask(opened(base_url=home(server) + "/v1", **prices), about(picture))
    assert answer.cost == pytest.approx(cost)


def test_a_chat_model_ranks_by_a_prompt_of_the_study(server, tmp_path) -> None:
    (tmp_path / "rank.txt").write_text("Documents: d1 nurses; d2 engineers. Query: {content}. A JSON array of ids.")
    system = opened(tmp_path, kind="ranker", base_url=home(server) + "/v1", prompt_file="rank.txt")
    server.content = '["d2", "d1"]'
    (answer,) = ask(system, Question("q", "query", "who builds {bridges}", "h"))
    assert body(server)["messages"][0]["content"] == [
        {
            "type": "text",
            "text": "Documents: d1 nurses; d2 engineers. Query: who builds {bridges}. A JSON array of ids.",
        }
    ]
    assert read_answer(system, answer) == [
        {"doc": "d2", "rank": 1, "score": None},
        {"doc": "d1", "rank": 2, "score": None},
    ]
    with pytest.raises(Unreadable, match="no JSON array of documents"):
        read_rows(
            "openai", Answer(json.dumps({"choices": [{"message": {"content": "d2, then d1"}}]}).encode()), "ranker", {}
        )
    with pytest.raises(PortrayalError, match="needs a prompt of yours"):
        opened(kind="ranker")
    (tmp_path / "rank.txt").write_text("Rank the documents.")
    with pytest.raises(PortrayalError, match=r"has no {content}, where the query goes"):
        opened(tmp_path, kind="ranker", prompt_file="rank.txt")
    with pytest.raises(PortrayalError, match='take use = "openai_embeddings"'):
        opened(kind="encoder")


def study(use: str, **parameters: Any) -> dict[str, Any]:
    system = {"name": "mine", "use": use, "parameters": {"model": "m", **parameters}}
    return {"name": "words", "audit": "associations", "associations": {"tests": ["weat6"]}, "systems": [system]}


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "MY_KEY", "TEAM2_KEY_3", "TOKEN", "$MY_KEY"])
def test_the_name_of_a_variable_is_no_credential(name) -> None:
    assert make_study(study("openai_embeddings", key=name)).systems[0].parameters["key"] == name


@pytest.mark.parametrize(
    "key", ["sk-proj-9f86d081884c7d659a2f", "9f86d081884c7d659a2f", "AKIAIOSFODNN7EXAMPLE", "JBSWY3DPEHPK3PXP", "hunter2", "my key", 7]
)  # fmt: skip
def test_a_key_itself_is_refused_and_not_repeated(key) -> None:
    with pytest.raises(PortrayalError, match="not the name of an environment variable") as raised:
        make_study(study("openai_embeddings", key=key))
    assert str(key) not in str(raised.value)


def test_a_word_in_capitals_elsewhere_is_still_refused() -> None:
    with pytest.raises(PortrayalError, match="seems to hold a credential"):
        make_study(study("https://host/embed", key="MY_WORD"))


PLANNED = """name = "w"
audit = "associations"
[[systems]]
name = "mine"
use = "openai_embeddings"
parameters = {{ model = "m", base_url = "http://localhost:1/v1", dollars_per_million_input = {price} }}
[associations]
tests = ["weat6"]
"""


def test_a_plan_counts_tokens_as_money(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.toml").write_text(PLANNED.format(price=1000.0))
    # WEAT 6 has 32 words of 1 to 12 letters: one to three tokens each, so between 32 and 96 tokens at $0.001.
    said = plan_text(tmp_path / "study.toml")
    dollars = float(said.partition("about $")[2].split()[0])
    assert 0.03 <= dollars <= 0.1
    (tmp_path / "study.toml").write_text(PLANNED.format(price=0.1))
    assert "about $0.00\n" not in plan_text(tmp_path / "study.toml")  # below a cent is not nothing


def test_a_chat_question_is_priced_by_letters_pixels_and_the_most_tokens(tmp_path, picture) -> None:
    (tmp_path / "prompt.txt").write_text("x" * 400)
    system = opened(
        tmp_path, prompt_file="prompt.txt", max_completion_tokens=50,
        dollars_per_million_input=1.0, dollars_per_million_output=10.0,
    )  # fmt: skip
    # 400 letters are 100 tokens, 150 x 100 pixels are 20: 120 in at $1 and 50 out at $10 a million.
    assert system.expected_price(about(picture)) == pytest.approx((120 + 500) / 1e6)


def test_a_404_says_what_was_asked_and_what_is_usually_missing(server, picture) -> None:
    server.fault = (404, b"page not found", {})
    with pytest.raises(
        CallFailed, match=r"nothing at http://\S+/chat/completions; base_url usually ends in /v1. HTTP 404"
    ):
        ask(opened(base_url=home(server)), about(picture))
    with pytest.raises(CallFailed, match=r"nothing at http://\S+/v1/chat/completions. HTTP 404: page"):
        ask(opened(base_url=home(server) + "/v1"), about(picture))
