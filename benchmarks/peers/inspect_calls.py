"""Inspect AI's eval loop: a sample a call, logged, to a server that answers at once."""

import json
import shutil
import tempfile
from importlib.metadata import version
from pathlib import Path

import httpx
import numpy as np
from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ModelAPI, ModelOutput, get_model, modelapi
from inspect_ai.solver import generate
from told import FOLDER, told

given = json.loads((FOLDER / "given.json").read_text())
LINK = f"http://127.0.0.1:{given['port']}/tags"


class Local(ModelAPI):
    """Asks the local server as ours does: one POST a question."""

    def __init__(self, model_name, base_url=None, api_key=None, config=None, **others):
        super().__init__(model_name, base_url, api_key, [], config)
        self.client = httpx.AsyncClient(limits=httpx.Limits(max_connections=given["connections"]))

    async def generate(self, input, tools, tool_choice, config):
        """Ask."""
        answer = await self.client.post(LINK, json={"text": input[-1].text})
        return ModelOutput.from_content(self.model_name, answer.text)

    def max_connections(self):
        """Return as many as ours has."""
        return given["connections"]


@modelapi(name="local")
def local():
    return Local


def call() -> dict[str, np.ndarray]:
    samples = [Sample(input=f"picture {n}") for n in range(given["calls"])]
    folder = Path(tempfile.mkdtemp())
    try:
        logs = eval(
            Task(dataset=MemoryDataset(samples), solver=generate()),
            model=get_model("local/server", memoize=False),
            max_connections=given["connections"],
            max_samples=given["connections"],
            log_dir=str(folder),
            display="none",
        )
        answered = sum(sample.output.completion == given["body"] for sample in logs[0].samples or [])
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return {"answered": np.array(answered)}


told(call, version("inspect-ai"))
