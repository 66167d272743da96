"""Public names of the package for type checkers and editors."""

from portrayal.audits.associations.measures.depictions import depiction_shares as depiction_shares
from portrayal.audits.associations.measures.eat import eat as eat
from portrayal.audits.associations.measures.emotion_words import emotion_word_shares as emotion_word_shares
from portrayal.audits.associations.measures.sexualisation import flagged_shares as flagged_shares
from portrayal.audits.captions.mention_shares import mention_shares as mention_shares
from portrayal.audits.contexts.tag_shares import tag_shares as tag_shares
from portrayal.audits.counterfactuals.label_shares import label_shares as label_shares
from portrayal.audits.counterfactuals.measures.measure import label_slopes as label_slopes
from portrayal.audits.search.list_shares import list_shares as list_shares
from portrayal.audits.search.measures.gsr import gsr as gsr
from portrayal.audits.search.run_files import gsr_of_run as gsr_of_run
from portrayal.audits.search.run_files import rank_collection as rank_collection
from portrayal.audits.search.run_files import score_runs as score_runs
from portrayal.edges.parts.table import install_parts as install_parts
from portrayal.edges.parts.table import part_sizes as part_sizes
from portrayal.edges.parts.table import part_states as part_states
from portrayal.errors import PortrayalError as PortrayalError
from portrayal.flow import audit as audit
from portrayal.flow import calibrate as calibrate
from portrayal.flow import measure as measure
from portrayal.flow import record as record
from portrayal.flow import record_again as record_again
from portrayal.flow import report as report
from portrayal.flow import retry as retry
from portrayal.flow.demo import run_demo as run_demo
from portrayal.handover.pack import pack as pack
from portrayal.handover.verify import verify as verify
from portrayal.reporting.page.diff import diff as diff
from portrayal.reporting.page.opened import Run as Run
from portrayal.reporting.page.opened import redact as redact
from portrayal.run.contents import read_results as read_results
from portrayal.run.plan import plan_text as plan_text
from portrayal.run.plan import tried_text as tried_text
from portrayal.run.plan import try_study as try_study
from portrayal.run.status import status_text as status_text
from portrayal.run.status import unanswered as unanswered
from portrayal.study.questions import export_stimuli as export_stimuli
from portrayal.study.registry import get_audit as get_audit
from portrayal.study.registry import names as names
from portrayal.study.study_file import example_study as example_study
from portrayal.study.study_file import make_study as make_study
from portrayal.study.study_file import new_study as new_study
from portrayal.study.study_file import read_study as read_study
from portrayal.tables import results as results
from portrayal.text.captions.parsing import scene_graphs as scene_graphs
from portrayal.text.words.typology import classify_tags as classify_tags
from portrayal.waves.gate import gate as gate
from portrayal_faces.generator.generate import generate_faces as generate_faces
from portrayal_faces.occupations import occupation_shares as occupation_shares
from portrayal_faces.photographs.apply import make_face_series as make_face_series
from portrayal_faces.scenes.scenes import compose_scenes as compose_scenes
from portrayal_faces.series.judged import check_faces as check_faces
from portrayal_faces.shipped import list_faces as list_faces
from portrayal_review.serve import view as view

__version__: str
__all__ = [
    "PortrayalError",
    "Run",
    "__version__",
    "audit",
    "calibrate",
    "check_faces",
    "classify_tags",
    "compose_scenes",
    "depiction_shares",
    "diff",
    "eat",
    "emotion_word_shares",
    "example_study",
    "export_stimuli",
    "flagged_shares",
    "gate",
    "generate_faces",
    "get_audit",
    "gsr",
    "gsr_of_run",
    "install_parts",
    "label_shares",
    "label_slopes",
    "list_faces",
    "list_shares",
    "make_face_series",
    "make_study",
    "measure",
    "mention_shares",
    "names",
    "new_study",
    "occupation_shares",
    "pack",
    "part_sizes",
    "part_states",
    "plan_text",
    "rank_collection",
    "read_results",
    "read_study",
    "record",
    "record_again",
    "redact",
    "report",
    "results",
    "retry",
    "run_demo",
    "scene_graphs",
    "score_runs",
    "status_text",
    "tag_shares",
    "tried_text",
    "try_study",
    "unanswered",
    "verify",
    "view",
]
