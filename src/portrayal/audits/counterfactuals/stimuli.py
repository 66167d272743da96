"""The series of a study: made once from its pictures, or taken from a folder."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from portrayal.audits.counterfactuals.measures.presence import START
from portrayal.audits.counterfactuals.settings import CounterfactualsSettings
from portrayal.errors import PortrayalError
from portrayal.runs.study import Study
from portrayal.tables import read_csv
from portrayal.vision.images import cache_folder


def make_stimuli(study: Study) -> pl.DataFrame:
    """Make the series, or take those of a folder."""
    settings: CounterfactualsSettings = study.settings
    if settings.series:
        taken = given(study)[0]
        if taken.is_empty():
            raise PortrayalError(
                f"everybody in {settings.series} is left out: nobody there is taken for an adult."
            )
        return with_starts(taken, _starts_of_folder(study.folder / settings.series))
    from portrayal.vision.faces.build import MANIFEST

    made = pl.read_parquet(built(study) / MANIFEST)
    if made.is_empty():
        raise PortrayalError(
            "no picture could be manipulated: no frontal, adult face in colour. See docs/counterfactuals.md."
        )
    return with_starts(made, starting_groups(study))


def with_starts(stimuli: pl.DataFrame, starts: pl.DataFrame) -> pl.DataFrame:
    """Add `start` where any is known: the group, on the series' own attribute, of the person before anything is edited."""
    if starts[START].null_count() == starts.height:
        return stimuli
    keys = [name for name in starts.columns if name != START]
    return stimuli.join(starts.unique(keys), on=keys, how="left", maintain_order="left")


def starting_groups(study: Study) -> pl.DataFrame:
    """Return picture, attribute and start: of the generated people as they were made, of others from columns `gender` and `race`."""
    settings: CounterfactualsSettings = study.settings
    if settings.pictures == "openpeople":
        from portrayal.vision.faces.sources import generated_people

        labelled = {"gender": "sex", "race": "ethnicity"}
        rows = [
            (f"{person} {kind.replace('_', ' ')}", attribute, labels.get(name))
            for person, _, labels in generated_people()
            for kind in settings.kinds
            for attribute, name in labelled.items()
        ]
    else:
        table = read_csv(study.folder / settings.pictures, "a table of pictures").to_dicts()
        rows = [
            (row.get("picture") or row["file"], attribute, row.get(attribute) or None)
            for row in table
            for attribute in ("gender", "race")
        ]
    return pl.DataFrame(rows, schema=dict.fromkeys(("picture", "attribute", START), pl.String), orient="row")


def _starts_of_folder(folder: Path) -> pl.DataFrame:
    """Return stimulus and start of a folder whose series.csv has a column `start`."""
    kinds = dict.fromkeys(("stimulus", START), pl.String)
    table = read_csv(folder / "series.csv") if (folder / "series.csv").is_file() else pl.DataFrame()
    if START not in table.columns:
        return pl.DataFrame(schema=kinds)
    return pl.DataFrame([(Path(file).stem, start or None) for file, start in table.select("file", START).iter_rows()],
                        schema=kinds, orient="row")  # fmt: skip


def given(study: Study) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the stimuli of the folder a study names, and who was left out of it."""
    from portrayal.vision.faces.folder import read_folder

    settings: CounterfactualsSettings = study.settings
    folder = study.folder / str(settings.series)
    return read_folder(folder, settings.source, settings.license, settings.consent, settings.age)


def built(study: Study) -> Path:
    """Return the folder of the study's series, making them where they are not there yet."""
    from portrayal.vision.faces.build import Recipe, build
    from portrayal.vision.faces.model import open_manipulator
    from portrayal.vision.faces.sources import check_pictures, openpeople_pictures, read_pictures

    settings: CounterfactualsSettings = study.settings
    if settings.pictures == "openpeople":
        pictures = check_pictures(openpeople_pictures(tuple(settings.kinds)))
    else:
        pictures = read_pictures(study.folder / settings.pictures, study.picture_folders())
    manipulator = open_manipulator(str(study.folder / settings.model) if settings.model else None)
    recipe = Recipe(
        tuple(settings.attributes),
        settings.pairs[0],
        settings.placebo,
        settings.size,
        settings.masked,
        study.seed,
    )
    folder = study.folder / settings.images if settings.images else cache_folder("counterfactuals")
    return build(pictures, manipulator, recipe, folder.absolute())
