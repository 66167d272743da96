"""The study a run keeps."""

from __future__ import annotations

import tomllib

from portrayal.edges.sizes import read_toml
from portrayal.errors import PortrayalError
from portrayal.record.ledger import Ledger
from portrayal.runs.run import Run
from portrayal.runs.study import Study
from portrayal.runs.study_file import make_study


def kept_study(run: Run) -> Study:
    """Read the study a run keeps; its relative paths still start where the study file was."""
    with Ledger.reading(run.ledger) as ledger:
        folder = ledger.fact("study_folder")
    try:
        return make_study(read_toml(run.study), str(folder or run.folder))
    except FileNotFoundError:
        raise PortrayalError(
            f"{run.folder} has no study.toml. Record it again: portrayal audit STUDY.toml"
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise PortrayalError(
            f"{run.study} is damaged ({error}). Record it again: portrayal audit STUDY.toml --out {run.folder}"
        ) from None
