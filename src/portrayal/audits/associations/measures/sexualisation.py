"""Sexualisation: images that a detector labels as sexualised, by the group named in the prompt.

Wolfe et al. (2023), section 5.5 [1]_, from recorded label tables only. A blocked image is an outcome of its own: it is not
counted as neutral.

References
----------
.. [1] Wolfe, Yang, Howe, Caliskan (2023), Contrastive Language-Vision AI Models Pretrained on Web-Scraped
   Multimodal Data Exhibit Sexual Objectification Bias, FAccT, doi 10.1145/3593013.3594072.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import permutations
from typing import Any

import numpy as np
import polars as pl

from portrayal.audits.associations.measures.comparison import by_person, person_differences
from portrayal.audits.associations.measures.people import paired
from portrayal.audits.associations.measures.undercount import corrected_rate
from portrayal.errors import PortrayalError
from portrayal.stats.decisions.decision import NOT_TESTED
from portrayal.stats.estimate import Estimate
from portrayal.stats.intervals.intervals import wilson
from portrayal.stats.models.groups import welch
from portrayal.stats.tests.proportions import share_difference, share_ratio, share_trend
from portrayal.tables import check, results
from portrayal.tables.batches import ROWS, Source, batches, columns_of, once
from portrayal.tables.folds import Fold, Known, TableSums, run_folds

FACETS = ("age",)
NONE, ALL = "no image is labelled as sexualised", "every image is labelled as sexualised"
LABELS = {
    "system": pl.String,
    "group": pl.String,  # whom the prompt named
    "seed": pl.String,
    "status": pl.String,  # answered, or filtered where the generator's filter blocked the image
    "label": pl.String,  # the detector's label; null where the image was blocked
}
OPTIONAL = {"age": pl.Float64, "face": pl.Boolean}
ALIKE = ("system", "group", "answered", "blocked", "hit")  # and what is optional: images alike in these are counted
SEED = ("system", "group", "seed")
# The classes of the paper's detector that count as sexualised; 'neutral' and 'drawing' do not.
SEXUALISED = ("porn", "pornographic", "sexy", "sexualised", "sexualized", "hentai")


def flagged_shares(
    labels: Source,
    sexualised: Sequence[str] = SEXUALISED,
    baseline: str | None = None,
    validation: pl.DataFrame | None = None,
    rows: int = ROWS,
) -> pl.DataFrame:
    """Measure shares of images labelled as sexualised or blocked, by prompted group.

    Parameters
    ----------
    labels
        A table, a lazy table or a folder of Parquet files larger than memory: system, group, seed, status and label, one row per
        image, in any order; `age` and `face` as in a study, in all files or in none.
    sexualised
        The labels that count.
    baseline
        The group the others are compared with; left out, every pair of groups is compared.
    validation
        Judgments of the detector's labels by raters, with a column `group`.
    rows
        Read at a time; memory grows with it, and where ages are known with the number of seeds.

    Returns
    -------
    polars.DataFrame
        Results with facet `age` and measures 'sexualised_rate' (of images not blocked), 'blocked_rate' (of all),
        'sexualised_or_blocked_rate' (the upper bound were all blocked images sexualised), 'no_face_rate',
        'sexualised_rate_corrected', 'sexualised_difference', 'sexualised_ratio' and 'sexualised_age_trend'.

    Raises
    ------
    PortrayalError
        When a column is missing, an answered image has no label, or an image is listed twice.

    Examples
    --------
    >>> import polars as pl
    >>> from portrayal import flagged_shares
    >>> made = {"system": "s", "group": ["woman", "woman", "man", "man"], "seed": ["1", "2", "1", "2"], "status": "answered",
    ...     "label": ["sexy", "neutral", "neutral", "neutral"]}
    >>> shares = flagged_shares(pl.DataFrame(made), baseline="man")
    >>> shares.filter(measure="sexualised_rate").select("group", "value", "n").rows()
    [('man', 0.0, 2), ('woman', 0.5, 2)]
    """
    schema = LABELS | {name: kind for name, kind in OPTIONAL.items() if name in columns_of(labels, "labels")}
    folds = [Fold("images", _count_images, lambda sums, _: sums.total(), needs=tuple(schema))]
    if "age" in schema:  # else an image is a seed of a group, and none is there twice
        folds.append(Fold("seeds", _count_seeds, lambda sums, _: sums.total(), needs=tuple(schema)))
    done = run_folds(folds, lambda: map(partial(_flagged, sexualised), _each_once(labels, schema, rows)))
    return _rates_of(done["images"], done.get("seeds"), baseline, validation)


def _each_once(labels: Source, schema: dict[str, Any], rows: int) -> Iterator[pl.DataFrame]:
    """Yield the images in batches; refuse one that is listed twice."""
    image = [*SEED, *(["age"] if "age" in schema else [])]

    def read() -> Iterator[pl.DataFrame]:
        yield pl.DataFrame(schema=schema)
        for batch in batches(labels, list(schema), rows, "labels"):
            known = check(batch, LABELS, "labels", "Sexualisation is measured from recorded label tables only.")
            yield known.cast({name: kind for name, kind in OPTIONAL.items() if name in schema})

    message = "seed {0[2]!r} of group {0[1]!r} is listed twice."
    return once(read, lambda batch: batch.select(image), message.format)


def _flagged(sexualised: Sequence[str], images: pl.DataFrame) -> pl.DataFrame:
    """Add columns: answered, blocked, and labelled as sexualised (null without a label)."""
    return images.with_columns(
        hit=pl.col("label").str.to_lowercase().is_in([label.lower() for label in sexualised]),
        answered=pl.col("status") == "answered",
        blocked=pl.col("status").is_in(["filtered", "refused"]),
    )


def _count_images(images: pl.DataFrame, _: Known) -> TableSums:
    """Count the images that came out alike."""
    keys = tuple(name for name in (*ALIKE, *OPTIONAL) if name in images.columns)
    counts = images.group_by(keys, maintain_order=True).agg(count=pl.len().cast(pl.Int64))
    return TableSums(keys, (counts,))


def _count_seeds(images: pl.DataFrame, _: Known) -> TableSums:
    """Count each seed's answered images and those labelled as sexualised."""
    answered = images.filter("answered").group_by(SEED, maintain_order=True)
    counts = answered.agg(hits=pl.col("hit").sum().cast(pl.Int64), n=pl.len().cast(pl.Int64))
    return TableSums(SEED, (counts,))


def _rates_of(
    counts: pl.DataFrame, seeds: pl.DataFrame | None, baseline: str | None, validation: pl.DataFrame | None
) -> pl.DataFrame:
    bare = _count(counts.filter("answered", pl.col("hit").is_null()))
    if bare:
        raise PortrayalError(f"{bare} image(s) are answered but have no label. Label them, or give their status.")
    if baseline is not None and baseline not in counts["group"].unique():
        raise PortrayalError(f"no image has group {baseline!r}. Set `baseline` to a group of the table.")
    rows: list[dict[str, Any]] = []
    for system in sorted(counts["system"].unique()):
        own, of_seeds = counts.filter(system=system), None if seeds is None else seeds.filter(system=system)
        rows += [{"system": system, **row} for row in _rows(own, of_seeds, baseline, validation)]
    return results(rows, facets=FACETS, audit="associations")


def _rows(
    counts: pl.DataFrame, seeds: pl.DataFrame | None, baseline: str | None, validation: pl.DataFrame | None
) -> Iterator[dict[str, Any]]:
    groups = sorted(counts["group"].unique().drop_nulls())
    for group in groups:
        images = counts.filter(group=group)
        yield from _rates(images, group)
        judged = None if validation is None else validation.filter(group=group)
        hits, n = _answers(images)
        if judged is not None and judged.height and n:
            rate = corrected_rate(hits, n, judged)
            yield rate.row("sexualised_rate_corrected", group=group, counted="images", n_missing=_count(images) - n)
        if "age" in counts.columns:
            yield from _ages(images, group)
    for group, base in permutations(groups, 2):
        if base == (baseline or min(group, base)):
            yield from _compare(counts, seeds, group, base)


def _count(counts: pl.DataFrame) -> int:
    return int(counts["count"].sum())


def _answers(images: pl.DataFrame) -> tuple[int, int]:
    """Return the numbers of answered images labelled as sexualised, and of all answered ones."""
    answered = images.filter("answered")
    return _count(answered.filter("hit")), _count(answered)


def _rates(images: pl.DataFrame, group: str) -> Iterator[dict[str, Any]]:
    (hits, n), every = _answers(images), _count(images)
    lost, blocked = every - n, _count(images.filter("blocked"))
    failed = lost - blocked
    note = f"{blocked} blocked" if blocked else ""
    yield _share("sexualised_rate", group, hits, n, lost, note)
    yield _share("blocked_rate", group, blocked, every - failed, failed)
    bound = "were all blocked images sexualised"
    yield _share("sexualised_or_blocked_rate", group, hits + blocked, every - failed, failed, bound)
    if "face" in images.columns:
        seen = images.filter("answered").drop_nulls("face")
        yield _share("no_face_rate", group, _count(seen.filter(~pl.col("face"))), _count(seen), every - _count(seen))


def _ages(images: pl.DataFrame, group: str) -> Iterator[dict[str, Any]]:
    answered, count = images.filter("answered").drop_nulls("age"), pl.col("count")
    ages = answered.group_by("age").agg(hits=count.filter("hit").sum(), n=count.sum()).sort("age")
    for age, hits, n in ages.iter_rows():
        share = _share("sexualised_rate", group, hits, n, _count(images.filter(age=age)) - n)
        yield {**share, "age": f"{age:g}"}
    trend = share_trend(ages["age"].to_list(), ages["hits"].to_list(), ages["n"].to_list())
    yield trend.row(
        "sexualised_age_trend",
        group=group,
        counted="images",
        n_missing=_count(images) - _count(answered),
        unit="share per year of age",
        note="Cochran-Armitage test, two-sided",
        **_constant(int(ages["hits"].sum()), int(ages["n"].sum())),
    )


def _compare(images: pl.DataFrame, seeds: pl.DataFrame | None, group: str, base: str) -> Iterator[dict[str, Any]]:
    both = [images.filter(group=name) for name in (group, base)]
    counts = [number for side in both for number in _answers(side)]
    missing = sum(map(_count, both)) - counts[1] - counts[3]
    about = {"group": group, "versus": base, "counted": "images", "n_missing": missing}
    own = [] if seeds is None else [seeds.filter(group=name).sort("seed") for name in (group, base)]
    difference, test = _tested(own, counts)
    still, note = _constant(counts[0] + counts[2], counts[1] + counts[3]), "blocked images left out"
    yield difference.row("sexualised_difference", unit="points", note=f"{test}; {note}", **about, **still)
    # One test, shown once: the ratio's row repeats no p, or the family would count it twice.
    yield share_ratio(*counts).row("sexualised_ratio", p=None, null=1.0, unit="ratio", note=note, **about)


def _tested(seeds: Sequence[pl.DataFrame], counts: Sequence[int]) -> tuple[Estimate, str]:
    """Return the difference of shares; the seed is the unit where one was used repeatedly."""
    if not any((own["n"] > 1).any() for own in seeds) or not all(counts[1::2]):
        return share_difference(*counts), "Fisher's exact test, two-sided"
    x, y = ((own["hits"] / own["n"]).to_numpy() for own in seeds)
    names = np.concatenate([own["seed"].to_numpy() for own in seeds])
    tested = by_person(x, y, names, alternative="two-sided")
    within = np.array(list(person_differences(x, y, names).values()))
    gap = paired(within) if len(within) else welch(x, y)
    difference = replace(gap, p=tested.test.p, p_floor=tested.floor, n=counts[1] + counts[3], counted=None)
    return difference, f"{tested.design}two-sided, where a person is a seed"


def _constant(hits: int, n: int) -> dict[str, Any]:
    """Return the decision where nothing varies."""
    return {} if not n or 0 < hits < n else {"decision": NOT_TESTED, "reason": ALL if hits else NONE}


def _share(measure: str, group: str, hits: int, n: int, missing: int, note: str = "") -> dict[str, Any]:
    return wilson(hits, n).row(measure, group=group, counted="images", n_missing=missing, unit="share", note=note)
