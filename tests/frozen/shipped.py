"""Studies that ship, found by their names wherever they lie in the package."""

from __future__ import annotations

from pathlib import Path

import portrayal
from frozen.runs import audited
from frozen.tables import Tables


def study_of(name: str) -> Path:
    """Return the path of a study that ships."""
    found = sorted(Path(portrayal.__file__).parent.rglob(f"{name}.toml"))
    found = [path for path in found if "first" not in path.parts and 'audit = "' in path.read_text(encoding="utf-8")]
    assert len(found) == 1, f"one study {name}.toml is looked for in the package; found: {found}"
    return found[0]


def shipped(name: str, folder: Path) -> Tables:
    """Audit a study that ships."""
    return audited(study_of(name), folder / "run")


def deterministic_table2(folder: Path) -> Tables:
    """Audit the grid of Table 2 without its networks, which are trained side by side and differ from run to run."""
    import tomllib

    study = tomllib.loads(study_of("search_table2").read_text(encoding="utf-8"))
    study["systems"] = [each for each in study["systems"] if each["use"] not in ("drmm", "matchpyramid")]
    names = {each["name"] for each in study["systems"]}
    own = study["search"]
    own["compare"] = {name: variants for name, variants in own["compare"].items() if name in names}
    own["published"] = {name: row for name, row in own["published"].items() if name in names or name == "perfect"}
    return audited(study, folder / "run")
