"""Registry of systems by name; each is imported when first opened.

A system's module has a function `open_system(settings, folder) -> System`, where `settings` is the study's
`SystemSettings` and relative paths start at `folder`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TYPE_CHECKING

from portrayal.errors import PortrayalError, nearest

if TYPE_CHECKING:
    from portrayal.systems.core.base import System
    from portrayal.systems.core.settings import SystemSettings


@dataclass(frozen=True)
class Entry:
    """Module, kind and extra of a system."""

    module: str
    kind: str  # a kind of portrayal.systems.core.base.KINDS, or "any"
    about: str
    extra: str = ""  # the extra it needs, or nothing


# Systems by name: `use = "glove"`.
SYSTEMS: dict[str, Entry] = {
    "glove": Entry("portrayal.systems.encoders.glove", "encoder", "GloVe 6B word vectors, 50 dimensions"),
    "minilm": Entry(
        "portrayal.systems.encoders.sentences", "encoder", "all-MiniLM-L6-v2 sentence encoder on ONNX Runtime"
    ),
    "vectors": Entry("portrayal.systems.encoders.vectors", "encoder", "word vectors from a file"),
    "bm25": Entry("portrayal.systems.rankers.system", "ranker", "BM25 over a collection, Lucene's variant"),
    "qlm": Entry("portrayal.systems.rankers.system", "ranker", "query likelihood with Dirichlet smoothing"),
    "tfidf": Entry("portrayal.systems.rankers.system", "ranker", "tf-idf and the cosine"),
    "add": Entry("portrayal.systems.rankers.system", "ranker", "mean of word vectors"),
    "si": Entry("portrayal.systems.rankers.system", "ranker", "mean of word vectors weighted by self-information"),
    "sentence": Entry("portrayal.systems.rankers.system", "ranker", "sentence encoder on ONNX Runtime"),
    "drmm": Entry("portrayal.systems.rankers.system", "ranker", "DRMM over BM25, cross-validated", "torch"),
    "matchpyramid": Entry(
        "portrayal.systems.rankers.system", "ranker", "MatchPyramid over BM25, cross-validated", "torch"
    ),
    "perfect": Entry("portrayal.systems.rankers.system", "ranker", "all and only the relevant documents"),
    "random": Entry("portrayal.systems.rankers.system", "ranker", "documents in random order"),
    "stereotypical": Entry("portrayal.systems.rankers.system", "ranker", "stereotypical answers, toy collections"),
    "neutral": Entry("portrayal.systems.rankers.system", "ranker", "neutral answers, toy collections"),
    "counter-stereotypical": Entry(
        "portrayal.systems.rankers.system", "ranker", "counter-stereotypical answers, toy collections"
    ),
    "rekognition": Entry("portrayal.systems.taggers.rekognition", "tagger", "Amazon Rekognition labels", "aws"),
    "clarifai": Entry("portrayal.systems.taggers.clarifai", "tagger", "Clarifai's general model"),
    "imagga": Entry("portrayal.systems.taggers.imagga", "tagger", "Imagga tags"),
    "azure": Entry(
        "portrayal.systems.taggers.azure", "any", "Microsoft Azure image analysis 3.2 and 4.0: tags or captions"
    ),
    "google": Entry("portrayal.systems.taggers.google", "tagger", "Google Cloud Vision labels"),
    "watson": Entry("portrayal.systems.taggers.watson", "tagger", "IBM Watson: recorded answers only"),
    "openai": Entry(
        "portrayal.systems.chat.chat", "any", "an OpenAI-compatible vision-language model: tags or captions"
    ),
    "anthropic": Entry("portrayal.systems.chat.chat", "any", "an Anthropic vision-language model: tags or captions"),
    "local": Entry(
        "portrayal.systems.taggers.local", "tagger", "a reader of perceived gender and age on ONNX Runtime, faces only"
    ),
    "imagenet": Entry(
        "portrayal.systems.taggers.imagenet", "tagger", "ImageNet classes: a network from a part, or weights of yours"
    ),
    "pipeline": Entry(
        "portrayal.systems.generators.pipeline",
        "generator",
        "a local text-to-image pipeline with its safety filter",
        "generators",
    ),
    "transformers": Entry(
        "portrayal.systems.captioners.transformers_captioner",
        "captioner",
        "a captioning model on this machine, through transformers",
        "torch",
    ),
    "ranked_captions": Entry(
        "portrayal.systems.captioners.ranked_captions",
        "captioner",
        "your own sentences, ranked for each picture by an encoder such as CLIP",
    ),
    "phantom_generator": Entry(
        "portrayal.audits.associations.experiments.phantom", "generator", "a simulated generator with planted shares"
    ),
    "clip": Entry(
        "portrayal.systems.encoders.clip_encoder",
        "encoder",
        "CLIP, OpenCLIP and other two-tower models from a folder, a file or the hub",
        "torch",
    ),
    "clip_saliency": Entry(
        "portrayal.systems.encoders.clip_saliency", "tagger", "where a CLIP looks for a text: Grad-CAM", "torch"
    ),
    "onnx_clip": Entry("portrayal.systems.encoders.onnx_clip", "encoder", "a CLIP as two ONNX networks"),
    "openai_embeddings": Entry(
        "portrayal.systems.encoders.openai_embeddings",
        "encoder",
        "a text encoder behind an OpenAI-compatible /v1/embeddings, in batches",
    ),
    "image_encoder": Entry(
        "portrayal.systems.encoders.image_encoder", "encoder", "a vision model: ONNX, or a transformers folder"
    ),
    "sobem_captions": Entry(
        "portrayal.audits.associations.systems.sobem_captions", "captioner", "recorded captions of SOBEM's photographs"
    ),
    "label_table": Entry(
        "portrayal.audits.associations.systems.label_table", "generator", "recorded labels of generated images"
    ),
    "embeddings": Entry(
        "portrayal.systems.encoders.recorded", "encoder", "recorded embeddings: .npz, .safetensors, .parquet"
    ),
}

# Systems by scheme: `use = "python:module:function"`.
SCHEMES: dict[str, Entry] = {
    "python": Entry("portrayal.systems.plugins.python_function", "any", "a Python function: python:module:function"),
    "function": Entry(
        "portrayal.systems.plugins.given_function", "any", "a function handed over in Python: systems={name: function}"
    ),
    "command": Entry(
        "portrayal.systems.plugins.command", "any", "a program that speaks JSON lines: command:program arguments"
    ),
    "http": Entry("portrayal.systems.http.http", "any", "an HTTP endpoint with a small mapping"),
    "https": Entry("portrayal.systems.http.http", "any", "an HTTPS endpoint with a small mapping"),
    "replay": Entry("portrayal.systems.plugins.replay", "any", "recorded answers: replay:file.csv, .jsonl or .parquet"),
    "run": Entry("portrayal.systems.rankers.run_file", "ranker", "a TREC run file: run:FILE"),
    "phantom": Entry(
        "portrayal.systems.plugins.phantom", "any", "a simulated system with a planted effect: phantom:name"
    ),
}


def open_system(settings: SystemSettings, folder: Path, kind: str) -> System:
    """Open the system a study names; `kind` is what the audit needs."""
    entry = _entry(settings.use)
    offered = settings.kind or (kind if entry.kind == "any" else entry.kind)
    if offered != kind:
        raise PortrayalError(f"system {settings.name!r} is {_one(offered)}. This audit asks {_one(kind)}.")
    module = import_module(entry.module)
    return module.open_system(settings.model_copy(update={"kind": kind}), folder)


def _one(kind: str) -> str:
    return f"{'an' if kind == 'encoder' else 'a'} {kind}"


def plugged_in() -> dict[str, Entry]:
    """Return the systems that other packages add, by name: entry points of the group `portrayal.systems`.

    Each names a module with `open_system` and, where it is of one kind only, `KIND`.
    """
    found = entry_points(group="portrayal.systems")
    return {one.name: Entry(one.module, "", f"from the package {_package(one)}") for one in found}


def _package(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist else entry.module


def _entry(use: str) -> Entry:
    scheme, colon, _ = use.partition(":")
    if colon and scheme in SCHEMES:
        return SCHEMES[scheme]
    if use in SYSTEMS:
        return SYSTEMS[use]
    others = plugged_in()
    if use in others:
        return replace(others[use], kind=getattr(import_module(others[use].module), "KIND", "any"))
    known = [*SYSTEMS, *others, *(f"{scheme}:" for scheme in SCHEMES)]
    hint = nearest(use, known) or (nearest(f"{scheme}:", [f"{one}:" for one in SCHEMES]) if colon else "")
    raise PortrayalError(f"no system {use!r}.{hint} Known: {', '.join(known)}.")
