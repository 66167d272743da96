"""A local server that gives the made-up system's answers: to a plain HTTP mapping, and as an OpenAI-compatible one does."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from ways.answering import reply

ASKED = "QUERY: "  # how the prompt of a ranker's study marks its query


class Endpoints(BaseHTTPRequestHandler):
    """`/plain/KIND`, `/v1/embeddings` and `/v1/chat/completions`."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        path = self.path.strip("/").split("/")
        data = json.dumps(plain(path[1], body) if path[0] == "plain" else openai(path[-1], body)).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *arguments: Any) -> None:
        """Keep the test's output clean."""


def plain(kind: str, body: dict[str, str]) -> Any:
    shown = base64.b64decode(body["image"]) if "image" in body else body["text"].encode()
    return {"result": {"said": reply(kind, shown)}}


def openai(route: str, body: dict[str, Any]) -> Any:
    if route == "embeddings":
        vectors = [reply("encoder", text.encode()) for text in body["input"]]
        data = [{"index": place, "embedding": vector} for place, vector in enumerate(vectors)]
        return {"model": "fake", "data": data, "usage": {"prompt_tokens": len(data)}}
    text, *image = body["messages"][0]["content"]
    said = chat(text["text"], image[0]["image_url"]["url"] if image else "")
    usage = {"prompt_tokens": 100, "completion_tokens": 10}
    return {"model": "fake", "choices": [{"finish_reason": "stop", "message": {"content": said}}], "usage": usage}


def chat(prompt: str, image: str) -> str:
    if not image:
        return json.dumps(reply("ranker", prompt.partition(ASKED)[2].encode()))
    shown = base64.b64decode(image.partition("base64,")[2])
    return json.dumps(reply("tagger", shown)) if "tags" in prompt else reply("captioner", shown)


@contextmanager
def serving() -> Iterator[str]:
    """Give the server's address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoints)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
