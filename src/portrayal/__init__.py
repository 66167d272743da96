"""Portrayal measures how AI systems portray people.

The public names are looked up when first used, so that importing the package stays quick; docs/python.md shows them.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

# Each public name, and where it lives; `__init__.pyi` says the same to type checkers and editors.
_PUBLIC = {
    # a study, from the file to the report
    "example_study": "portrayal.study.study_file",
    "read_study": "portrayal.study.study_file",
    "make_study": "portrayal.study.study_file",
    "new_study": "portrayal.study.study_file",
    "try_study": "portrayal.run.plan",
    "tried_text": "portrayal.run.plan",
    "plan_text": "portrayal.run.plan",
    "export_stimuli": "portrayal.study.export",
    "audit": "portrayal.flow",
    "retry": "portrayal.flow",
    "record": "portrayal.flow",
    "record_again": "portrayal.flow",
    "status_text": "portrayal.run.status",
    "unanswered": "portrayal.run.status",
    "measure": "portrayal.flow",
    "read_results": "portrayal.run.contents",
    "Run": "portrayal.reporting.page.opened",
    "report": "portrayal.flow",
    "view": "portrayal.review.serve",
    "gate": "portrayal.waves.gate",
    "diff": "portrayal.reporting.page.diff",
    "pack": "portrayal.handover.pack",
    "verify": "portrayal.handover.verify",
    "redact": "portrayal.reporting.page.redact",
    "run_demo": "portrayal.demo",
    # measures
    "eat": "portrayal.audits.associations.measures.eat",
    "gsr": "portrayal.audits.search.measures.gsr",
    "label_slopes": "portrayal.audits.counterfactuals.measures.measure",
    "scene_graphs": "portrayal.text.captions.parsing",
    "classify_tags": "portrayal.text.words.typology",
    "tag_shares": "portrayal.audits.contexts.tag_shares",
    "mention_shares": "portrayal.audits.captions.mention_shares",
    "list_shares": "portrayal.audits.search.list_shares",
    "label_shares": "portrayal.audits.counterfactuals.label_shares",
    "emotion_word_shares": "portrayal.audits.associations.measures.emotion_words",
    "depiction_shares": "portrayal.audits.associations.measures.depictions",
    "flagged_shares": "portrayal.audits.associations.measures.sexualisation",
    "results": "portrayal.tables",
    "calibrate": "portrayal.flow",
    # search engines
    "rank_collection": "portrayal.audits.search.ranking",
    "gsr_of_run": "portrayal.audits.search.run_files",
    "score_runs": "portrayal.audits.search.run_files",
    # faces: what `portrayal-faces` brings
    "make_face_series": "portrayal_faces.photographs.apply",
    "list_faces": "portrayal_faces.shipped",
    "check_faces": "portrayal_faces.series.judged",
    "generate_faces": "portrayal_faces.generator.generate",
    "compose_scenes": "portrayal_faces.scenes.scenes",
    "occupation_shares": "portrayal_faces.occupations",
    # what there is
    "get_audit": "portrayal.study.registry",
    "names": "portrayal.study.registry",
    "part_sizes": "portrayal.parts.table",
    "part_states": "portrayal.parts.table",
    "install_parts": "portrayal.parts.table",
    "PortrayalError": "portrayal.errors",
}

__all__ = ["__version__", *sorted(_PUBLIC)]


def __dir__() -> list[str]:
    return list(__all__)


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'portrayal' has no attribute {name!r}")
    try:
        return getattr(import_module(_PUBLIC[name]), name)
    except ModuleNotFoundError as error:
        if error.name != "portrayal_faces":
            raise
        from portrayal.errors import MissingFaces

        raise MissingFaces(f"portrayal.{name}") from None
