"""Studies of contexts: recorded tags, drawn people in places, people who ship before phantoms."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from frozen import shares
from frozen.places import drawn, made, run, simulated, table
from frozen.series import chance
from frozen.tables import Tables


def recorded(folder: Path, people: int = 18, least: float = 0.0) -> Tables:
    """Measure recorded tags of two taggers: three genders, two factors, refusals, failures and empty answers."""
    stimuli, tags = shares.tagged(people)
    stimuli.rename({"stimulus": "image_id"}).write_csv(folder / "people.csv")
    rows = [
        (
            row["system"],
            row["stimulus"],
            row["tag"],
            round(chance("sure", row["stimulus"], row["tag"]), 3),
            row["status"].replace("answered", "ok"),
        )
        for row in tags.iter_rows(named=True)
    ]
    table(folder / "tags.csv", ("tagger", "image_id", "tag", "confidence", "status"), rows)
    own = {"people": "people.csv", "images": False, "factors": ["gender", "skin"], "least_confidence": least}
    systems = [simulated("replay:tags.csv", name) for name in ("one", "two")]
    return run(folder, {"name": "recorded", "audit": "contexts", "seed": 5, "systems": systems, "contexts": own})


def placed(folder: Path) -> Tables:
    """Put drawn people into places before swayed, steady and raising taggers, twice each."""
    people = [
        (f"p{number}", f"p{number}.png", ("female", "male")[number % 2], "ab"[number // 2 % 2]) for number in range(8)
    ]
    for number, (_, file, *_) in enumerate(people):
        drawn(folder / file, number, alpha=True)
    table(folder / "people.csv", ("image_id", "file", "gender", "skin"), people)
    own = {
        "people": "people.csv", "consent": "drawn, nobody is shown", "factors": ["gender", "skin"], "per_context": 1,
        "pictures": "pictures", "width": 160, "height": 120, "contact_sheet": False, "confidences": [0.5],
    }  # fmt: skip
    systems = [made("tagger", "swayed", sway=0.9), made("tagger", "steady", sway=0.0), made("raising", "raising")]
    data = {"name": "placed", "audit": "contexts", "repeats": 2, "systems": systems, "contexts": own}
    return run(
        folder, {**data, "hypotheses": [{"name": "places decide", "where": {"measure": ["congruence", "expectancy"]}}]}
    )


def phantoms(folder: Path) -> Tables:
    """Put people who ship into places before a phantom that plants nothing and one that plants all."""
    zero = {"stereotype": 0.0, "right": 0.0, "recognised": 0.0, "expectancy": 0.0, "gap": 0.0}
    systems = [
        simulated("phantom:contexts", "nothing planted", **zero),
        simulated("phantom:contexts", "planted", stereotype=0.6, expectancy=3.0, gap=3.0, seed=4),
    ]
    own = {
        "people": "openpeople", "factors": ["gender"], "per_context": 1, "pictures": "pictures", "width": 160, "height": 120,
        "cut_heads": "leave out", "crop": "both", "contact_sheet": False,
    }  # fmt: skip
    return run(
        folder,
        {
            "name": "phantoms",
            "audit": "contexts",
            "systems": systems,
            "contexts": own,
            "family": {"method": "bonferroni"},
        },
    )


STUDIES: dict[str, Callable[[Path], Tables]] = {
    "own_contexts_recorded": recorded,
    "own_contexts_confident": lambda folder: recorded(folder, people=10, least=0.3),
    "own_contexts_placed": placed,
    "own_contexts_phantoms": phantoms,
}
