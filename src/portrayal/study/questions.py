"""Questions of a study: its stimuli, its systems, and their export for others to record."""

import hashlib
import os
import shutil
import sysconfig
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl

import portrayal
from portrayal.edges.folders import claim, is_inside
from portrayal.edges.inert import inert_cells
from portrayal.edges.writing import make_inside, write_text
from portrayal.errors import PortrayalError
from portrayal.pictures.images import cache_folder
from portrayal.pictures.series.manifest import installed_sets
from portrayal.safety.gates import open_guarded
from portrayal.safety.guard import leaves
from portrayal.study.registry import get_audit
from portrayal.study.study import Study
from portrayal.study.study_file import AnyStudy, read_any_study
from portrayal.study.trust import refuse_untrusted
from portrayal.systems.core.base import Question, System, key_of
from portrayal.systems.core.spread import spread
from portrayal.tables import ROWS, check_stimuli

BETWEEN = " | "  # the prompt and the picture, in a stimulus's name


def prompted_hash(prompt: str, picture: str) -> str:
    """Return the hash of a picture that is held against a prompt."""
    return hashlib.sha256(f"{prompt}\x1f{picture}".encode()).hexdigest()


def is_picture_of(data: bytes, stimulus: str, known: str) -> bool:
    """Return True where these bytes are the picture of a stimulus, by its hash."""
    own = hashlib.sha256(data).hexdigest()
    prompt, between, _ = stimulus.partition(BETWEEN)
    return known == own or (bool(between) and known == prompted_hash(prompt, own))


def refuse_pictures_outside(study: Study, stimuli: pl.DataFrame) -> None:
    """Refuse a picture that lies in no folder the study names."""
    folders, pictures = list(_folders(study)), stimuli.filter(pl.col("kind") == "image")
    for stimulus, content in pictures.select("stimulus", "content").unique("content", maintain_order=True).iter_rows():
        if Path(content).exists() and not is_inside(Path(content), folders):
            raise PortrayalError(
                f"stimulus {stimulus!r} is the file {content}, which lies in no folder of this study. Name its folder in the study:"
                " folders = [...]."
            )


def _folders(study: Study) -> Iterator[Path]:
    """Yield the folders that pictures of the study may lie in."""
    yield from study.picture_folders()
    settings = study.settings.model_dump() if study.settings is not None else {}
    for _, value in leaves([settings, [system.parameters for system in study.systems]]):
        for name in (value, value.partition(":")[2]) if isinstance(value, str) and len(value) < 1000 else ():
            path = study.folder / name
            if name and os.path.lexists(path):
                yield path if path.is_dir() else path.parent
    yield Path(portrayal.__file__).parent
    yield from installed_sets()
    yield cache_folder("")
    yield from (Path(sysconfig.get_path(kind)) for kind in ("purelib", "platlib"))


COLUMNS = ["stimulus", "kind", "content", "hash", "source", "consent"]


class StudyStimuli:
    """Stimuli of a study, shown so many times each."""

    def __init__(self, stimuli: pl.DataFrame, repeats: int) -> None:
        self.hashes = stimuli["hash"].to_list()
        self.repeats = repeats
        self._stimuli = stimuli.select(COLUMNS)

    @cached_property
    def _rows(self) -> list[tuple[Any, ...]]:
        return self._stimuli.rows()

    def question(self, number: int) -> Question:
        """Return a question by its number: the repeats of a stimulus follow one another."""
        place, repeat = divmod(number, self.repeats)
        stimulus, kind, content, digest, source, consent = self._rows[place]
        return Question(stimulus, kind, content, digest, repeat, source, consent)


class Questions(Mapping[str, Sequence[Question]]):
    """The questions of one system; stimuli of the same content share a key."""

    def __init__(self, system: System, of_study: StudyStimuli) -> None:
        self._of_study = of_study
        key, repeats = key_of(system), range(of_study.repeats)
        keys = [key(digest, repeat) for digest in of_study.hashes for repeat in repeats]
        self._numbers: dict[str, int | list[int]] = dict(zip(keys, count()))
        if len(self._numbers) < len(keys):  # seldom: a list for each of a hundred thousand questions takes its time
            numbers: dict[str, list[int]] = {}
            for number, one in enumerate(keys):
                numbers.setdefault(one, []).append(number)
            self._numbers = {**numbers}

    def __getitem__(self, key: str) -> list[Question]:
        numbers = self._numbers[key]
        return [self._of_study.question(each) for each in (numbers if isinstance(numbers, list) else [numbers])]

    def __iter__(self) -> Iterator[str]:
        return iter(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)

    def __contains__(self, key: object) -> bool:
        return key in self._numbers


# Each system with its questions by ledger key; stimuli of the same content share a key and an answer.
Work: TypeAlias = Sequence[tuple[System, Mapping[str, Sequence[Question]]]]

NO_CONSENT = ("", "none", "unknown")


def make_stimuli(study: Study, planned: bool = False) -> pl.DataFrame:
    """Make and check the study's stimuli; for a plan, without making what takes long."""
    audit = get_audit(study.audit)
    stimuli = check_stimuli(((planned and audit.planned) or audit.stimuli)(study))
    refuse_pictures_outside(study, stimuli)
    return stimuli


def plan_work(study: Study, stimuli: pl.DataFrame) -> Work:
    """Return each system of the study with its questions by ledger key."""
    kind, of_study = get_audit(study.audit).kind, StudyStimuli(stimuli, study.repeats)
    work: dict[str, tuple[System, Questions]] = {}
    for settings in study.systems:
        system = spread(open_guarded(settings, study.folder, kind), settings, study.folder, kind)
        questions = Questions(system, of_study)
        twin, _ = work.setdefault(next(iter(questions)), (system, questions))
        if twin is not system:  # two systems that are one: their questions would be paid for once and counted twice
            raise PortrayalError(f"systems {twin.name!r} and {system.name!r} ask the same thing. Remove one of them.")
    return list(work.values())


def refuse_without_consent(work: Work, stimuli: pl.DataFrame) -> None:
    """Keep pictures of people on this machine unless the study records consent or licence."""
    consents = stimuli.filter(pl.col("kind") == "image")["consent"].str.strip_chars().str.to_lowercase()
    if not consents.is_in(NO_CONSENT).any():
        return
    for system, table in work:
        for question, *_ in table.values() if system.remote else ():
            if question.kind == "image" and question.consent.strip().lower() in NO_CONSENT:
                raise PortrayalError(
                    f"stimulus {question.stimulus!r} has no recorded consent or licence, so {system.name!r} must not"
                    " see it. Record one in the stimuli's `consent` column, or use a local system."
                )


PICTURES = "pictures"


def export_stimuli(study: AnyStudy, out: Path | str, untrusted: bool = False) -> Path:
    """Write what a study would show its systems, for others to record; calls nothing.

    Parameters
    ----------
    study
        The path of a study in TOML, a dict of the same shape, or a `Study`.
    out
        A new or empty folder, or one that was exported into before.
    untrusted
        Refuse a study that would run code or send secrets of its choice.

    Returns
    -------
    pathlib.Path
        The table `stimuli.csv`: `stimulus` (its id), `kind`, `content` (a text, or a picture's path in the folder), `hash`,
        `source` and `consent`. Beside it lie `stimuli.jsonl`, the same to the letter (in a CSV text that a spreadsheet would run
        gets an apostrophe), the pictures, `answers.csv` with the columns to fill in, and a README.

    Examples
    --------
    >>> import tempfile
    >>> from portrayal import example_study, export_stimuli
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table = export_stimuli(example_study(), folder)
    ...     print(table.read_text().splitlines()[1].split(",")[:3])
    ['John', 'text', 'John']
    """
    parsed = read_any_study(study).study
    if untrusted:
        refuse_untrusted(parsed)
    stimuli, kind = make_stimuli(parsed), get_audit(parsed.audit).kind
    folder = Path(out)
    claim(folder, "stimuli")
    rows = stimuli.select(COLUMNS).rows(named=True)
    exports = [{**row, "content": _export_content(row, folder, place)} for place, row in enumerate(rows)]
    table = pl.DataFrame(exports, schema=dict.fromkeys(COLUMNS, pl.String))
    write_text(folder / "stimuli.jsonl", table.write_ndjson())
    inert = table.with_columns(inert_cells(pl.col(name)).alias(name) for name in COLUMNS)
    write_text(folder / "stimuli.csv", inert.write_csv())
    columns = ["stimulus", *ROWS[kind], *(["repeat"] if parsed.repeats > 1 else []), "status"]
    if not (folder / "answers.csv").exists():  # which somebody may have filled in
        write_text(folder / "answers.csv", ",".join(columns) + "\n")
    times = f" {parsed.repeats} times, numbered from 0 in `repeat`" if parsed.repeats > 1 else ""
    readme = (Path(__file__).parent / "first" / "README.txt").read_text(encoding="utf-8")
    about = {"name": repr(parsed.name), "kind": kind, "times": times, "columns": ", ".join(columns)}
    write_text(folder / "README.txt", readme.format(**about))
    return folder / "stimuli.csv"


def _export_content(row: Mapping[str, Any], folder: Path, place: int) -> str:
    """Return a text or a picture's copy; pictures without consent stay."""
    if row["kind"] != "image" or not Path(row["content"]).is_file():
        return str(row["content"])
    if str(row["consent"] or "").strip().lower() in NO_CONSENT:
        return "withheld: no consent or licence is recorded for this picture"
    name = f"{place:06d}{Path(row['content']).suffix.lower()}"
    shutil.copyfile(row["content"], make_inside(folder / PICTURES) / name)
    return f"{PICTURES}/{name}"
