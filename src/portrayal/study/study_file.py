"""Studies from TOML files, dicts and Python; a first study to change."""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path, PurePath
from typing import Any, TypeAlias

from portrayal.edges.sizes import read_toml
from portrayal.edges.writing import write_text
from portrayal.errors import PortrayalError, check_name
from portrayal.settings import validate
from portrayal.study.registry import AUDITS, get_audit
from portrayal.study.study import Study
from portrayal.study.trust import refuse_commented_keys, refuse_credentials
from portrayal.systems.plugins.python_function import give

OURS = {"settings", "folder", "hypotheses_late"}  # of the class, not keys of the file


def read_study(path: Path | str) -> Study:
    """Read and check a study file.

    Parameters
    ----------
    path
        A study in TOML; relative paths in it start at its folder.

    Returns
    -------
    Study
        `name`, `audit`, `systems`, `settings` (the audit's own), `seed`, `repeats`, `family`.

    Raises
    ------
    PortrayalError
        In one line: the file is missing, is not TOML, or holds an unknown or unfit key.

    Examples
    --------
    >>> from portrayal import example_study, read_study
    >>> study = read_study(example_study())
    >>> study.audit, study.systems[0].use, study.settings.tests
    ('associations', 'phantom:associations', ['weat6'])
    """
    path = Path(path)
    try:
        data = read_toml(path)
        refuse_commented_keys(path.read_text(encoding="utf-8"), data)
    except FileNotFoundError:
        raise PortrayalError(f"no study file at {path}. Check the path, or write one: portrayal new AUDIT") from None
    except IsADirectoryError:
        raise PortrayalError(f"{path} is a folder. Expected a study file in TOML.") from None
    except OSError as error:
        raise PortrayalError(f"{path} cannot be read: {error.strerror}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise PortrayalError(f"{path} is not a TOML file: {error}.") from None
    return make_study(data, path.parent)


def make_study(data: Mapping[str, Any], folder: Path | str = ".") -> Study:
    """Build a study from a mapping of the same shape as a study file.

    Parameters
    ----------
    data
        What the file would hold.
    folder
        Where relative paths start.

    Examples
    --------
    >>> from portrayal import make_study
    >>> systems = [{"name": "simulated", "use": "phantom:associations"}]
    >>> data = {"name": "words", "audit": "associations", "systems": systems, "associations": {"tests": ["weat6"]}}
    >>> make_study(data).systems[0].use
    'phantom:associations'
    """
    data = dict(data)
    refuse_credentials(data)  # first: other errors repeat what they found
    stem = data.get("audit")
    if not isinstance(stem, str):
        raise PortrayalError('the study names no audit. Add a line such as: audit = "associations".')
    audit = get_audit(stem)
    for key in OURS & set(data):
        known = sorted({*Study.model_fields, audit.stem} - OURS)
        raise PortrayalError(f"study has an unknown key {key!r}. Known: {', '.join(known)}.")
    own = data.pop(audit.stem, {})
    study = validate(Study, {**data, "folder": Path(folder)}, "study", extra=(audit.stem,))
    names = [system.name for system in study.systems]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise PortrayalError(f"two systems are named {twice!r}. Give each system its own name.")
    return study.model_copy(update={"settings": validate(audit.settings, own, f"[{audit.stem}]")})


def example_study() -> Path:
    """Return the path of a study that ships: one word test on a simulated encoder.

    It takes a second, asks nobody and needs none of the packages that carry weights and data.

    Examples
    --------
    >>> from portrayal import example_study
    >>> print(example_study().read_text().splitlines()[1])
    name = "simulated"
    """
    return Path(str(files("portrayal"))) / "audits" / "associations" / "studies" / "simulated.toml"


AnyStudy: TypeAlias = Path | str | Mapping[str, Any] | Study
# Functions, or what a study file writes of a system without its name.
MoreSystems: TypeAlias = Mapping[str, Callable[..., Any] | Mapping[str, Any]]


@dataclass(frozen=True)
class StudySource:
    """A study, and the text a run keeps of it."""

    study: Study
    text: str


def read_any_study(study: AnyStudy, systems: MoreSystems | None = None) -> StudySource:
    """Return the study with further systems in it."""
    if isinstance(study, Path | str) and not systems:
        return StudySource(read_study(study), Path(study).read_text(encoding="utf-8"))
    data, folder = _data(study)
    own, more = data.get("systems") or [], systems or {}
    if isinstance(own, list | tuple):
        others = [one for one in own if not (isinstance(one, Mapping) and one.get("name") in more)]
        settings = {name: one if isinstance(one, Mapping) else {"use": give(name, one)} for name, one in more.items()}
        data["systems"] = [*others, *({"name": name, **one} for name, one in settings.items())]
    else:
        data["systems"] = [own]  # make_study says what is wrong with it
    return StudySource(make_study(data, folder), toml_text(data))


def _data(study: AnyStudy) -> tuple[dict[str, Any], Path]:
    """Return what the study file holds, or would hold, and where its relative paths start."""
    if isinstance(study, Study):
        fields = study.model_dump(mode="json", by_alias=True, exclude_unset=True, exclude={"folder", "settings"})
        settings = study.settings
        own = {} if settings is None else settings.model_dump(mode="json", by_alias=True, exclude_unset=True)
        return {**fields, get_audit(study.audit).stem: own}, study.folder
    if isinstance(study, Mapping):
        return dict(study), Path()
    if isinstance(study, Path | str):
        if not Path(study).is_file():
            read_study(study)  # says what is wrong
        return read_toml(Path(study)), Path(study).parent
    raise PortrayalError(
        f"the study is a {type(study).__name__}. Expected the path of a study file, a dict of the same shape or a Study."
    )


STUDY = "study.toml"
SYSTEM = "system.py"


def new_study(stem: str, out: Path | str | None = None) -> Path:
    """Write a commented study and a stub of its system; return the study's path.

    Parameters
    ----------
    stem
        An audit.
    out
        The folder; by default one of the audit's name. Neither file is ever overwritten.

    Examples
    --------
    >>> import tempfile
    >>> from portrayal import new_study
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     study = new_study("associations", folder)
    ...     sorted(path.name for path in study.parent.iterdir())
    ['study.toml', 'system.py']
    """
    check_name(stem, tuple(AUDITS), "audit")
    folder = Path(out) if out else Path(stem)
    for name in (STUDY, SYSTEM):
        if (folder / name).exists() or (folder / name).is_symlink():
            raise PortrayalError(f"{folder / name} is there already. Give another folder: --out DIR.")
    folder.mkdir(parents=True, exist_ok=True)
    first = files("portrayal") / "study" / "first"
    write_text(folder / SYSTEM, (first / f"{get_audit(stem).kind}.py.txt").read_text(encoding="utf-8"))
    write_text(folder / STUDY, (first / f"{stem}.toml").read_text(encoding="utf-8"))
    return folder / STUDY


def toml_text(data: Mapping[str, Any]) -> str:
    """Return TOML that reads back as the data; None is left out."""
    import tomli_w

    return tomli_w.dumps(_plain(data, ()))


def _plain(value: Any, place: tuple[str, ...]) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(one, (*place, str(key))) for key, one in value.items() if one is not None}
    if isinstance(value, list | tuple):
        return [_plain(one, place) for one in value]
    if isinstance(value, bool | int | float | str | PurePath):
        return str(value) if isinstance(value, PurePath) else value
    raise PortrayalError(
        f"{'.'.join(place)} is a {type(value).__name__}, which a study cannot keep. Expected a text, a number, true or false,"
        " a list or a dict of them."
    )
