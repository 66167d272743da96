"""Search results against labour statistics: the published figures of Kay et al. and Tables 3 and 4."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from portrayal.audits.counterfactuals.measures.occupations import (
    correlation,
    gaps,
    masculine_shares,
    race_shares,
    representation,
    shipped_table,
    slopes_and_shares,
    world_rows,
)
from portrayal.cli.main import main
from portrayal.errors import PortrayalError
from portrayal_faces.group_shares import confusion_counts, corrected_share, shares_by_occupation, shares_through_reader
from portrayal_faces.occupations import occupation_shares


def test_the_regression_of_kay_et_al():
    # Kay, Matuszek, Munson (2015): quasibinomial regression of the search share on the labour share less 1/2,
    # intercept -0.2604 (0.0971), slope 5.331 (0.3773).
    table = shipped_table("image_search_gender")
    line = representation(table["search_p_women"], table["search_n"], table["bls_p_women"])
    assert line.intercept == pytest.approx(-0.2604, abs=5e-5)
    assert line.intercept_error == pytest.approx(0.0971, abs=5e-5)
    assert line.slope == pytest.approx(5.331, abs=5e-4)
    assert line.slope_error == pytest.approx(0.3773, abs=5e-5)
    assert line.share_at(0.5) == pytest.approx(0.435, abs=5e-4)  # under-represented where half the workforce is women
    assert line.slope > 4  # and exaggerated at the ends


def test_the_regression_equals_statsmodels():
    import statsmodels.api as sm

    table = shipped_table("image_search_gender")
    share, n, labour = (table[name].to_numpy() for name in ("search_p_women", "search_n", "bls_p_women"))
    model = sm.GLM(share, sm.add_constant(labour - 0.5), family=sm.families.Binomial(), var_weights=n)
    theirs = model.fit(scale="X2", tol=1e-12)
    line = representation(share, n, labour)
    assert (line.intercept, line.slope) == pytest.approx(tuple(theirs.params), rel=1e-9)
    assert (line.intercept_error, line.slope_error) == pytest.approx(tuple(theirs.bse), rel=1e-8)
    assert line.dispersion == pytest.approx(theirs.scale, rel=1e-8)


def test_search_follows_labour_with_r_over_nine_tenths():
    table = shipped_table("image_search_gender")
    found = correlation(table["search_p_women"].to_numpy(), table["bls_p_women"].to_numpy())
    assert found.n == 45 and found.value > 0.9 and found.p < 1e-10
    # Fisher: the interval is symmetric on the scale of atanh, 1.96 / sqrt(42) either way
    assert np.arctanh(found.high) - np.arctanh(found.value) == pytest.approx(1.959964 / np.sqrt(42), rel=1e-6)
    assert np.arctanh(found.value) - np.arctanh(found.low) == pytest.approx(1.959964 / np.sqrt(42), rel=1e-6)


def test_the_shipped_summary_is_that_of_the_public_data(shared):
    path = shared("data/lexicons/kay/filtered_bls_occupations_with_search_gender_proportions.csv")
    original = pl.read_csv(path).sort("search_term")
    ours = shipped_table("image_search_gender").sort("search_term")
    assert ours["search_term"].to_list() == original["search_term"].to_list()
    np.testing.assert_array_equal(ours["search_p_women"], original["search_p_women"])


def test_gaps_by_hand():
    # bartender: 22 of 94 pictures show women (.234), the workforce has .599: gap -.365, and the search lies on the
    # other side of one half, so it does not exaggerate.
    row = gaps(shipped_table("image_search_gender")).filter(pl.col("search_term") == "bartender").row(0, named=True)
    assert row["gap"] == pytest.approx(22 / 94 - 0.599, abs=1e-6)
    assert row["low"] < row["gap"] < row["high"] and not row["exaggerates"]


def test_shares_of_a_table_of_labels():
    labels = pl.DataFrame(
        {"occupation": ["nurse"] * 5 + ["pilot"] * 2, "group": ["Female"] * 3 + ["Male", None] + ["Male"] * 2}
    )
    table = shares_by_occupation(labels)
    nurse = table.filter((pl.col("occupation") == "nurse") & (pl.col("group") == "Female")).row(0, named=True)
    assert (nurse["share"], nurse["n"], nurse["n_missing"]) == (0.75, 4, 1)
    with pytest.raises(PortrayalError, match="lacks column 'group'"):
        shares_by_occupation(labels.drop("group"))


def test_shares_of_ones_own_pictures_as_labelled(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    table = tmp_path / "labels.csv"
    table.write_text(
        "occupation,group\n" + "nurse,woman\n" * 3 + "nurse,man\nnurse,nonbinary\nnurse,\n" + "pilot,man\n" * 2
    )
    found = occupation_shares(table)
    nurse = {
        group: row
        for row in found.filter(pl.col("occupation") == "nurse").iter_rows(named=True)
        for group in [row["group"]]
    }
    assert (nurse["woman"]["share"], nurse["woman"]["n"], nurse["woman"]["n_missing"]) == (0.6, 5, 1)
    assert nurse["nonbinary"]["share"] == 0.2 and set(found["how"]) == {"as labelled"}
    # Nobody among two is no certainty: Wilson's upper end, z^2 / (2 + z^2) = 3.8415 / 5.8415.
    pilot = found.filter(pl.col("occupation") == "pilot", pl.col("group") == "woman").row(0, named=True)
    assert (pilot["share"], pilot["low"]) == (0.0, 0.0) and pilot["high"] == pytest.approx(3.8415 / 5.8415, abs=1e-4)
    with pytest.raises(SystemExit) as ended:
        main(["faces", "shares", str(table)])
    assert not ended.value.code
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "occupation,group,share,low,high,n,n_missing,how" and len(printed) == 1 + 6
    with pytest.raises(PortrayalError, match="leave `labelled` out"):
        occupation_shares(table, table)


def test_shares_of_ones_own_pictures_as_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    # 42 of 100 nurses are read as women by a reader right 9 times in 10: 40% are, as above; uncorrected .42.
    def read(where: Path) -> pl.DataFrame:
        said = (["Female"] * 90 + ["Male"] * 10) + (["Female"] * 10 + ["Male"] * 90)
        if where.name == "labelled.csv":
            return pl.DataFrame({"occupation": None, "group": ["Female"] * 100 + ["Male"] * 100, "read": said})
        nurses = ["Female"] * 42 + ["Male"] * 58
        return pl.DataFrame(
            {"occupation": ["nurse"] * 100 + ["pilot"] * 2, "group": None, "read": [*nurses, None, None]}
        )

    monkeypatch.setattr("portrayal_faces.occupations.read_perceived_gender", read)
    bare, corrected = occupation_shares(tmp_path), occupation_shares(tmp_path, tmp_path / "labelled.csv")
    for found, share in ((bare, 0.42), (corrected, 0.4)):
        women = found.filter(pl.col("group") == "Female")
        assert women.select("occupation", "n", "n_missing").rows() == [("nurse", 100, 0), ("pilot", 0, 2)]
        assert women["share"].to_list() == [pytest.approx(share), None]
    assert set(bare["how"]) == {"as read, not corrected"} and "corrected for" in corrected["how"][0]


@pytest.mark.parametrize(
    ("rows", "said"), [("", "has no rows below its header"), ("nurse,\nnurse, \n", "has 2 row.s., none with a group")]
)
def test_labels_of_nobody_are_an_error(tmp_path: Path, rows: str, said: str):
    """A bare header was printed."""
    (tmp_path / "labels.csv").write_text(f"occupation,group\n{rows}")
    with pytest.raises(PortrayalError, match=said):
        occupation_shares(tmp_path / "labels.csv")


@pytest.mark.parametrize(
    ("groups", "said"),
    [
        (["woman", "man"], "have the group 'man', 'woman'. Expected Female, Male"),
        (["Female", None], "no labelled picture of Male could be read .groups labelled: Female."),
        ([None, None], "of Female or Male could be read .groups labelled: none."),
    ],
)
def test_labels_of_other_groups_than_the_readers_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, groups: list[str | None], said: str
):
    asked: list[Path] = []

    def read(where: Path) -> pl.DataFrame:
        asked.append(where)
        return pl.DataFrame({"occupation": ["nurse"] * 2, "group": groups, "read": ["Female", "Male"]})

    monkeypatch.setattr("portrayal_faces.occupations.read_perceived_gender", read)
    with pytest.raises(PortrayalError, match=said):
        occupation_shares(tmp_path, tmp_path / "labelled.csv")
    assert asked == [tmp_path / "labelled.csv"]  # before the many pictures are looked at


def test_a_readers_error_is_corrected_by_hand():
    # A reader right 9 times in 10 on either group puts 42 of 100 in the first. p = 0.9 t + 0.1 (1 - t) = .42
    # gives t = .32 / .8 = .4.
    confusion = np.array([[90, 10], [10, 90]])
    first, second = corrected_share(np.array([42, 58]), confusion)
    assert first.value == pytest.approx(0.4) and second.value == pytest.approx(0.6)
    assert first.low < 0.4 < first.high


def test_a_reader_never_seen_to_err_may_err():
    # 13 people all read as of the first group by a reader right about 9 and 11: no certainty that nobody is of the second. With a
    # reader that never errs the lower end would be the 2.5% point of Beta(13.5, .5), .833; one that may err leaves it near.
    first, second = corrected_share(np.array([13, 0]), np.array([[9, 0], [0, 11]]))
    assert (first.value, first.high) == (1.0, 1.0) and (second.value, second.low) == (0.0, 0.0)
    assert 0.8 < first.low < 0.9 and second.high == pytest.approx(1 - first.low)


def test_fewer_than_a_readers_errors_are_no_certainty_that_nobody_is_there():
    # A reader that puts 15% of men among women puts nobody of 100 there: every draw of the inverse lies below 0, and the interval
    # was [0, 0]. By integration over a grid: likelihood (.85 - .7 p)^100, prior p^-1/2 (1 - p)^-1/2.
    first, second = corrected_share(np.array([0, 100]), np.array([[85_000, 15_000], [15_000, 85_000]]))
    grid = (np.arange(400_000) + 0.5) / 400_000
    density = (0.85 - 0.7 * grid) ** 100 / np.sqrt(grid * (1 - grid))
    upper = grid[np.searchsorted(np.cumsum(density) / density.sum(), 0.975)]
    assert (first.value, first.low) == (0.0, 0.0) and first.high == pytest.approx(upper, rel=0.08)
    assert (second.value, second.high) == (1.0, 1.0) and second.low == pytest.approx(1 - first.high)


@pytest.mark.parametrize("true", [0.0, 0.05, 0.5, 1.0])
def test_corrected_shares_hold_the_truth_at_the_ends_too(true: float):
    # 20 people, a reader wrong in 15 of 100, validated on 20 of each group: 60 audits; 52 of 60 covered has a chance of 1 in 100
    # where 95 of 100 are.
    rng, held = np.random.default_rng(7), 0
    for seed in range(60):
        there = rng.binomial(20, true)
        read = rng.binomial(there, 0.85) + rng.binomial(20 - there, 0.15)
        right = rng.binomial(20, 0.85, 2)
        confusion = np.array([[right[0], 20 - right[0]], [20 - right[1], right[1]]])
        found = corrected_share(np.array([read, 20 - read]), confusion, 199, seed)[0]
        assert found.high > found.low
        held += found.low <= true <= found.high
    assert held >= 53


def test_shares_through_a_reader_by_hand():
    # As above: 42 of 100 nurses are read as women by a reader right 9 times in 10, so 40% are.
    said = ["Female"] * 42 + ["Male"] * 58 + [None] * 3
    read = pl.DataFrame({"occupation": ["nurse"] * 103 + ["pilot"], "read": [*said, None]})
    labelled = pl.DataFrame(
        {"group": ["Female"] * 100 + ["Male"] * 100 + [None, "Male"],
         "read": (["Female"] * 90 + ["Male"] * 10) + (["Female"] * 10 + ["Male"] * 90) + ["Male", None]}
    )  # fmt: skip
    assert confusion_counts(labelled, ("Female", "Male")).tolist() == [[90, 10], [10, 90]]
    table = shares_through_reader(read, labelled, draws=199)
    nurse, pilot = table.filter(pl.col("group") == "Female").iter_rows(named=True)
    assert nurse["share"] == pytest.approx(0.4) and nurse["low"] < 0.4 < nurse["high"]
    assert (nurse["n"], nurse["n_missing"]) == (100, 3)
    assert (pilot["share"], pilot["n"], pilot["n_missing"]) == (None, 0, 1)


def test_race_shares_rise_with_the_value():
    # Table 4: 20% of basketball players in image search are read as White.
    def of(*poles: str) -> dict[str, float]:
        return dict(race_shares(poles).iter_rows())

    assert of("White", "Black")["basketball player"] == pytest.approx(0.8)
    assert of("Black", "White")["basketball player"] == pytest.approx(0.2)
    assert not of("Black", "Indian") and not of()


def test_race_slopes_are_held_against_table_four():
    table = race_shares(("White", "Black")).head(5)
    labels = pl.DataFrame(
        {
            "system": ["a"] * 5,
            "attribute": ["race"] * 5,
            "pole_low": ["White"] * 5,
            "pole_high": ["Black"] * 5,
            "label": table["occupation"],
            "slope": table["share"] * 2,
        }
    )
    rows = list(world_rows(labels, masculine_shares(), shipped_table("image_search_gender")))
    row = next(row for row in rows if row["measure"] == "slope_share_correlation")
    assert row["attribute"] == "race" and row["value"] == pytest.approx(1.0) and "not read as White" in row["versus"]
    others = labels.with_columns(pole_low=pl.lit("Black"), pole_high=pl.lit("Indian"))
    none = world_rows(others, masculine_shares(), shipped_table("image_search_gender"))
    assert "slope_share_correlation" not in {row["measure"] for row in none}


def test_a_reader_known_less_well_is_less_certain():
    read, sure, unsure = np.array([420, 580]), np.array([[900, 100], [100, 900]]), np.array([[9, 1], [1, 9]])
    wide, narrow = corrected_share(read, unsure)[0], corrected_share(read, sure)[0]
    assert wide.high - wide.low > 2 * (narrow.high - narrow.low)


def test_a_reader_that_cannot_see_a_group_is_an_error():
    with pytest.raises(PortrayalError, match="singular"):
        corrected_share(np.array([5, 5]), np.array([[5, 5], [5, 5]]))
    with pytest.raises(PortrayalError, match="no validated case"):
        corrected_share(np.array([5, 5]), np.array([[5, 5], [0, 0]]))


def test_published_slopes_follow_search_shares():
    # Joo, Kaerkkaeinen (2020), Tables 1 to 3: what is searched as masculine has masculine slopes.
    joined = slopes_and_shares(shipped_table("published_gender_slopes"), masculine_shares())
    found = correlation(joined["slope"].to_numpy(), joined["share"].to_numpy())
    assert found.n is not None and found.n >= 4 and found.value > 0


def test_published_tables_are_whole():
    # Tables 3 and 4 print 20 + 20 and 20 + 20 occupations, Tables 1 and 2 25 and 43 labels.
    assert shipped_table("published_search_shares").group_by("table").len().sort("table")["len"].to_list() == [40, 40]
    assert shipped_table("published_gender_slopes").group_by("table").len().sort("table")["len"].to_list() == [25, 43]


def test_too_few_pairs_have_no_correlation():
    found = correlation(np.array([1.0, 2.0, np.nan]), np.array([1.0, 2.0, 3.0]))
    assert np.isnan(found.value) and np.isnan(found.p) and found.n == 2
