"""What a run keeps, read back for measuring: its study and its evidence. No system is opened and nothing is written."""

from __future__ import annotations

import tomllib
from pathlib import Path

from portrayal.edges.sizes import read_toml
from portrayal.errors import PortrayalError
from portrayal.recorder.ledger import Ledger
from portrayal.recorder.responses import read_responses
from portrayal.run.files import kept_table
from portrayal.run.folder import Run
from portrayal.run.hypotheses import FACT, are_late
from portrayal.run.inputs import read_inputs
from portrayal.run.reviews import reviews_of
from portrayal.study.audit import Evidence
from portrayal.study.registry import get_audit
from portrayal.study.study import Study
from portrayal.study.study_file import make_study

RECORD = "Make it anew: portrayal record RUN; answers are kept and nothing is asked twice."


def study_of(run: Run, folder: Path | None = None) -> Study:
    """Read the study a run keeps; its relative paths start where the study file was, or in `folder`."""
    with Ledger.reading(run.ledger) as ledger:
        kept, noted = ledger.fact("study_folder"), ledger.fact(FACT)
    try:
        study = make_study(read_toml(run.study), str(folder or kept or run.folder))
        return study.model_copy(update={"hypotheses_late": are_late(study, noted)})
    except FileNotFoundError:
        raise PortrayalError(f"{run.folder} has no study.toml. Record it again: portrayal audit STUDY.toml") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise PortrayalError(
            f"{run.study} is damaged ({error}). Record it again: portrayal audit STUDY.toml --out {run.folder}"
        ) from None


def evidence_of(study: Study, run: Run) -> Evidence:
    """Read what the run keeps: stimuli, answers, inputs and reviews."""
    stimuli = kept_table(run.stimuli, RECORD)
    with Ledger.reading(run.ledger) as ledger:
        responses = read_responses(ledger.entries(), stimuli, get_audit(study.audit).kind)
    return Evidence(stimuli, responses, read_inputs(run), reviews_of(run), study.seed)
