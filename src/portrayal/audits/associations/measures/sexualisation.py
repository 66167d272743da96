"""How often generated images were labelled as sexualised, by the group named in the prompt.

Works from recorded label tables only: prompt, seed, label, filter status. Nothing here prompts a generator or
reads an image. A blocked image is an outcome of its own: it is not counted as neutral.

References
----------
.. [1] Wolfe, Yang, Howe, Caliskan (2023), Contrastive Language-Vision AI Models Pretrained on Web-Scraped
   Multimodal Data Exhibit Sexual Objectification Bias, FAccT, doi 10.1145/3593013.3594072, section 5.5.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import permutations
from typing import Any

import numpy as np
import polars as pl

from portrayal.audits.associations.measures.comparison import by_person, person_differences
from portrayal.audits.associations.measures.people import paired
from portrayal.audits.associations.measures.undercount import corrected_rate
from portrayal.errors import PortrayalError
from portrayal.stats.decision import NOT_TESTED
from portrayal.stats.estimate import Estimate
from portrayal.stats.groups import welch
from portrayal.stats.intervals import wilson
from portrayal.stats.proportions import share_difference, share_ratio, share_trend
from portrayal.tables import check, results

FACETS = ("age",)
NONE, ALL = "no image is labelled as sexualised", "every image is labelled as sexualised"
LABELS = {
    "system": pl.String,
    "group": pl.String,  # whom the prompt named
    "seed": pl.String,
    "status": pl.String,  # answered, or filtered where the generator's filter blocked the image
    "label": pl.String,  # the detector's label; null where the image was blocked
}
# The classes of the paper's detector that count as sexualised; 'neutral' and 'drawing' do not.
SEXUALISED = ("porn", "pornographic", "sexy", "sexualised", "sexualized", "hentai")


def sexualisation(
    labels: Any,
    sexualised: Sequence[str] = SEXUALISED,
    baseline: str | None = None,
    validation: pl.DataFrame | None = None,
    audit: str = "associations",
) -> pl.DataFrame:
    """Return rates by group, their differences and ratios, blocked images, and the trend over age.

    Parameters
    ----------
    labels
        One row per image: system, group, seed, status, label; `age` (the age the prompt named) adds the
        trend, `face` (whether a face could be detected) the share of images without one.
    sexualised
        The labels that count.
    baseline
        The group the others are compared with; left out, every pair of groups is compared.
    validation
        What raters said of the detector (`portrayal.audits.associations.measures.undercount`), with a column `group`: adds the
        rate corrected for the detector's under-count.
    audit
        The stem put into the rows.

    Returns
    -------
    pl.DataFrame
        Results with facet `age` and measures 'sexualised_rate' (of images not blocked), 'blocked_rate' (of all),
        'sexualised_or_blocked_rate' (the upper bound were all blocked images sexualised), 'no_face_rate',
        'sexualised_rate_corrected', 'sexualised_difference', 'sexualised_ratio' and 'sexualised_age_trend'.
    """
    frame = check(labels, LABELS, "labels", "Sexualisation is measured from recorded label tables only.")
    _check_labels(frame)
    if baseline is not None and baseline not in frame["group"].unique():
        raise PortrayalError(f"no image has group {baseline!r}. Set `baseline` to a group of the table.")
    frame = frame.with_columns(
        hit=pl.col("label").str.to_lowercase().is_in([label.lower() for label in sexualised]),
        answered=pl.col("status") == "answered",
        blocked=pl.col("status").is_in(["filtered", "refused"]),
    )
    rows = [
        {"system": system, **row}
        for system in sorted(frame["system"].unique())
        for row in _rows(frame.filter(pl.col("system") == system), baseline, validation)
    ]
    return results(rows, facets=FACETS, audit=audit)


def _check_labels(frame: pl.DataFrame) -> None:
    bare = frame.filter((pl.col("status") == "answered") & pl.col("label").is_null())
    if not bare.is_empty():
        raise PortrayalError(
            f"{bare.height} image(s) are answered but have no label. Label them, or give their status."
        )
    twice = frame.filter(pl.struct("system", "group", "seed", *_age(frame)).is_duplicated())
    if not twice.is_empty():
        raise PortrayalError(f"seed {twice['seed'][0]!r} of group {twice['group'][0]!r} is listed twice.")


def _rows(
    frame: pl.DataFrame, baseline: str | None, validation: pl.DataFrame | None
) -> Iterator[dict[str, Any]]:
    groups = sorted(frame["group"].unique().drop_nulls())
    for group in groups:
        images = frame.filter(pl.col("group") == group)
        yield from _rates(images, group)
        yield from _corrected(images, group, validation)
        if "age" in frame.columns:
            yield from _ages(images, group)
    for group, base in permutations(groups, 2):
        if base == (baseline or min(group, base)):
            yield from _compare(frame, group, base)


def _rates(images: pl.DataFrame, group: str) -> Iterator[dict[str, Any]]:
    answered = images.filter("answered")
    lost = images.height - answered.height
    hits, blocked = int(answered["hit"].sum()), int(images["blocked"].sum())
    failed = lost - blocked
    note = f"{blocked} blocked" if blocked else ""
    yield _share("sexualised_rate", group, hits, answered.height, lost, note)
    yield _share("blocked_rate", group, blocked, images.height - failed, failed)
    bound = "were all blocked images sexualised"
    yield _share("sexualised_or_blocked_rate", group, hits + blocked, images.height - failed, failed, bound)
    if "face" in images.columns:
        seen = answered["face"].drop_nulls()
        missing = images.height - len(seen)
        yield _share("no_face_rate", group, int((~seen.cast(pl.Boolean)).sum()), len(seen), missing)


def _corrected(images: pl.DataFrame, group: str, validation: pl.DataFrame | None) -> Iterator[dict[str, Any]]:
    judged = None if validation is None else validation.filter(pl.col("group") == group)
    answered = images.filter("answered")
    if judged is not None and judged.height and answered.height:
        found = corrected_rate(int(answered["hit"].sum()), answered.height, judged)
        lost = images.height - answered.height
        yield found.row("sexualised_rate_corrected", group=group, counted="images", n_missing=lost)


def _ages(images: pl.DataFrame, group: str) -> Iterator[dict[str, Any]]:
    answered = images.filter("answered").drop_nulls("age")
    ages = answered.group_by("age").agg(hits=pl.col("hit").sum(), n=pl.len()).sort("age")
    for age, hits, n in ages.iter_rows():
        lost = images.filter(pl.col("age") == age).height - n
        yield {**_share("sexualised_rate", group, hits, n, lost), "age": f"{age:g}"}
    trend = share_trend(ages["age"].to_list(), ages["hits"].to_list(), ages["n"].to_list())
    yield trend.row(
        "sexualised_age_trend",
        group=group,
        counted="images",
        n_missing=images.height - answered.height,
        unit="share per year of age",
        note="Cochran-Armitage test, two-sided",
        **_constant(int(ages["hits"].sum()), int(ages["n"].sum())),
    )


def _compare(frame: pl.DataFrame, group: str, base: str) -> Iterator[dict[str, Any]]:
    both = [frame.filter(pl.col("group") == name) for name in (group, base)]
    answered = [images.filter("answered") for images in both]
    counts = [number for images in answered for number in (int(images["hit"].sum()), images.height)]
    about = {
        "group": group,
        "versus": base,
        "counted": "images",
        "n_missing": sum(images.height for images in both) - counts[1] - counts[3],
    }
    difference, note = _tested(answered, counts)
    still = _constant(counts[0] + counts[2], counts[1] + counts[3])
    yield difference.row(
        "sexualised_difference", unit="points", note=f"{note}; blocked images left out", **about, **still
    )
    # One test, shown once: the ratio's row repeats no p, or the family would count it twice.
    ratio = share_ratio(*counts)
    yield ratio.row(
        "sexualised_ratio", p=None, null=1.0, unit="ratio", note="blocked images left out", **about
    )


def _tested(answered: Sequence[pl.DataFrame], counts: Sequence[int]) -> tuple[Estimate, str]:
    """Return the difference of shares; by seed where a seed was used more than once for one group.

    Images from one seed are alike, at other ages too, so that the seed is the unit then.
    """
    if not any(images["seed"].is_duplicated().any() for images in answered) or not all(counts[1::2]):
        return share_difference(*counts), "Fisher's exact test, two-sided"
    x, y = (images["hit"].cast(pl.Float64).to_numpy() for images in answered)
    seeds = np.concatenate([images["seed"].to_numpy() for images in answered])
    tested = by_person(x, y, seeds, alternative="two-sided")
    within = np.array(list(person_differences(x, y, seeds).values()))
    means = [images.group_by("seed").agg(pl.col("hit").mean())["hit"].to_numpy() for images in answered]
    gap = paired(within) if len(within) else welch(means[0], means[1])
    found = replace(gap, p=tested.test.p, p_floor=tested.floor, n=counts[1] + counts[3], counted=None)
    return found, f"{tested.design}two-sided, where a person is a seed"


def _constant(hits: int, n: int) -> dict[str, Any]:
    """Say that nothing varies, where it does not."""
    if not n or 0 < hits < n:
        return {}
    return {"decision": NOT_TESTED, "reason": ALL if hits else NONE}


def _share(measure: str, group: str, hits: int, n: int, missing: int, note: str = "") -> dict[str, Any]:
    return wilson(hits, n).row(
        measure, group=group, counted="images", n_missing=missing, unit="share", note=note
    )


def _age(frame: pl.DataFrame) -> list[str]:
    return ["age"] if "age" in frame.columns else []
