"""A local server that speaks every vendor's protocol, faults included."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit


class Vendors(BaseHTTPRequestHandler):
    """Answers by path; `server.fault` replaces the next answer; `server.seen` keeps what was asked."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        address = urlsplit(self.path)
        seen = {"path": address.path, "query": parse_qs(address.query), "headers": dict(self.headers), "body": body}
        self.server.seen.append(seen)
        seen["content"] = self.server.content
        judge = self.server.judge
        fault = self.server.fault or (judge(json.loads(body)) if judge else None)
        status, reply, headers = fault if fault else (200, answer_for(address.path, seen), {})
        data = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
        if status == 0:
            self.connection.close()
            return
        self.send_response(status)
        for name, value in {**headers, "content-length": str(len(data))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *arguments: Any) -> None:
        """Keep the test's output clean."""


def answer_for(path: str, seen: dict[str, Any]) -> Any:
    if path == "/v1/images:annotate":
        request = json.loads(seen["body"])["requests"][0]
        assert base64.b64decode(request["image"]["content"])
        label = {"mid": "/m/1", "description": "Person", "score": 0.97, "topicality": 0.9}
        return {"responses": [{"labelAnnotations": [label]}]}
    if path.startswith("/v2/users/"):
        output = {
            "status": {"code": 10000},
            "model": {"id": "general", "model_version": {"id": "aa7f"}},
            "data": {"concepts": [{"id": "1", "name": "woman", "value": 0.99, "app_id": "main"}]},
        }
        return {"status": {"code": 10000, "description": "Ok"}, "outputs": [output]}
    if path == "/v2/tags":
        assert b"Content-Disposition" in seen["body"]
        tags = [{"confidence": 80.5, "tag": {"en": "dog"}}]
        return {"result": {"tags": tags}, "status": {"text": "", "type": "success"}}
    if path == "/vision/v3.2/analyze":
        captions = [{"text": "a person standing", "confidence": 0.5}]
        tags = [{"name": "person", "confidence": 0.9}]
        return {"tags": tags, "description": {"tags": [], "captions": captions}, "modelVersion": "2021-05-01"}
    if path == "/computervision/imageanalysis:analyze":
        tags = {"values": [{"name": "clothing", "confidence": 0.8}]}
        caption = {"text": "a person in a lab", "confidence": 0.7}
        return {"modelVersion": "2023-10-01", "tagsResult": tags, "captionResult": caption}
    if path == "/v1/chat/completions":
        text = json.loads(seen["body"])["messages"][0]["content"][0]["text"]
        content = seen["content"] or ('["woman", "tree"]' if "tags" in text else "A woman by a tree.")
        choice = {"message": {"content": content}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 1000, "completion_tokens": 10}
        return {"model": "vlm-1", "system_fingerprint": "fp_1", "choices": [choice], "usage": usage}
    if path == "/v1/messages":
        usage = {"input_tokens": 1000, "output_tokens": 10}
        content = [{"type": "text", "text": "woman, tree"}]
        return {"model": "vlm-2", "stop_reason": "end_turn", "content": content, "usage": usage}
    raise AssertionError(f"no vendor at {path}; digest {hashlib.sha256(path.encode()).hexdigest()[:8]}")


@contextmanager
def vendor_server() -> Iterator[ThreadingHTTPServer]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Vendors)
    server.daemon_threads = True
    server.seen = []
    server.fault = None
    server.judge = None  # looks at the JSON that came and gives a fault, or nothing
    server.content = None  # what a chat model says
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
