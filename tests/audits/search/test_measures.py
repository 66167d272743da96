"""The search measures by hand, against naive loops, and the properties they must have."""

from __future__ import annotations

from math import log2
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from portrayal.audits.search.measures.bags import Bags
from portrayal.audits.search.measures.comparison import correlate, kendall_distance
from portrayal.audits.search.measures.genderedness import rank_weights, shared_weights, usable
from portrayal.audits.search.measures.gsr import CONSTANT, FEWEST, fit, gsr, measure_slope, relative_gsr
from portrayal.audits.search.measures.history import History, lists_of, random_lists, score_history
from portrayal.audits.search.measures.perfect_system import perfect_lists
from portrayal.audits.search.measures.reinforcement import _example
from portrayal.audits.search.measures.representation import (
    UNDEFINED,
    compare_gaps,
    count_mentions,
    document_groups,
    exposure,
    rank_bias,
    representation,
    without_shared,
)
from portrayal.audits.search.measures.validation import enumerate_histories
from portrayal.errors import PortrayalError
from portrayal.stats.tests.max_t import sign_patterns
from portrayal.text.vectors.direction import find_direction, score_words
from portrayal.text.vectors.space import WordSpace
from portrayal.text.words import wordnet
from portrayal_rankers.index import build_index

TINY = WordSpace.build(
    "tiny",
    ["she", "he", "woman", "man", "nurse", "plumber", "mary", "john"],
    [[2, 0, 1], [-2, 0, 1], [1, 1, 0], [-1, 1, 0], [3, 4, 0], [-4, 3, 0], [1, 0, 3], [-1, 0, 3]],
)
PAIRS = [("she", "he"), ("woman", "man"), ("Mary", "John")]


@pytest.mark.parametrize("method", ["component", "mean", "first"])
def test_a_direction_has_length_one_and_points_to_the_positive_pole(method):
    direction = find_direction(TINY, PAIRS, method)
    # The pairs differ along the first axis only, so that is the direction whatever the method.
    assert np.allclose(direction.vector, [1, 0, 0], atol=1e-12)
    assert direction.explained == pytest.approx(1)
    turned = find_direction(TINY, [(male, female) for female, male in PAIRS], method)
    assert np.allclose(turned.vector, -direction.vector, atol=1e-12)


def test_genderedness_is_the_cosine_with_the_direction():
    direction = find_direction(TINY, PAIRS)
    # nurse = (3, 4, 0) has length 5, so g = 3/5; "Nurse" is tried in lower case; "doctor" has no vector.
    scores = score_words(TINY, direction, ["nurse", "Nurse", "plumber", "doctor"])
    assert scores[:3] == pytest.approx([0.6, 0.6, -0.8])
    assert np.isnan(scores[3])


def test_the_component_is_that_of_the_centred_pairs():
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(20, 7))
    space = WordSpace.build("random", [f"w{i}" for i in range(20)], matrix)
    pairs = [(f"w{2 * i}", f"w{2 * i + 1}") for i in range(10)]
    unit = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
    centred = np.vstack([unit[i] - (unit[i] + unit[i ^ 1]) / 2 for i in range(20)])
    # independent: the top eigenvector of the covariance of the 20 centred vectors
    values, vectors = np.linalg.eigh(centred.T @ centred)
    found = find_direction(space, pairs)
    assert abs(vectors[:, -1] @ found.vector) == pytest.approx(1, abs=1e-10)
    assert found.explained == pytest.approx(values[-1] / values.sum())


def test_any_two_poles_define_a_direction():
    space = WordSpace.build("age", ["old", "young", "pension"], [[0, 1], [0, -1], [3, 4]])
    direction = find_direction(space, [("old", "young")])
    assert score_words(space, direction, ["pension"])[0] == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("pairs", "method", "says"),
    [
        ([("aunt", "uncle")], "component", "lack the words that define the poles"),
        ([("aunt", "uncle"), ("she", "he")], "first", "lack the words that define the poles"),
        ([("she", "she")], "component", "same words"),
        (PAIRS, "median", "no direction method 'median'"),
        ([], "component", "lack the words that define the poles"),
    ],
)
def test_a_direction_that_cannot_be_found_says_why(pairs, method, says):
    with pytest.raises(PortrayalError, match=says):
        find_direction(TINY, pairs, method)


def test_a_space_of_the_wrong_shape_is_refused():
    with pytest.raises(PortrayalError, match="Expected one row a word"):
        WordSpace.build("bad", ["a", "b"], [[1.0, 2.0]])


def test_rank_weights():
    # Definition 3.7: 1/log2(r + 1); the authors' code: 1/max(1, log2 r)
    assert rank_weights(4) == pytest.approx([1, 1 / log2(3), 1 / 2, 1 / log2(5)])
    assert rank_weights(4, "code") == pytest.approx([1, 1, 1 / log2(3), 1 / 2])
    assert rank_weights(3, "none") == pytest.approx([1, 1, 1])
    with pytest.raises(PortrayalError, match="no rank discount 'zipf'"):
        rank_weights(3, "zipf")


def test_documents_of_equal_relevance_share_the_mean_weight_of_their_ranks():
    # Grades 2, 1, 1: the two equal ones share (1/log2 3 + 1/log2 4) / 2 = (0.6309 + 0.5) / 2.
    assert shared_weights([2, 1, 1]) == pytest.approx([1, (1 / log2(3) + 0.5) / 2, (1 / log2(3) + 0.5) / 2])
    assert shared_weights([]).tolist() == []


def test_the_list_of_section_3_2_3():
    # "The man is an electrician", then "The woman ...": weights 1 and 1/log2 3 over their sum.
    history = _history({"q": ["electrician"]}, {"d1": ["man", "electrician"], "d2": ["woman", "electrician"]})
    table = score_history(history, {"q": ["d1", "d2"]}, {"man": -0.2, "woman": 0.3, "electrician": -0.9})
    second = 1 / log2(3)
    assert table["list_score"][0] == pytest.approx((-0.2 + second * 0.3) / (1 + second))
    assert table["query_score"][0] == pytest.approx(-0.9)


def _bags(documents):
    index = build_index(((name, " ".join(words)) for name, words in documents.items()), stop=())
    counts = index.matrix.tocoo()
    return Bags.of_counts(index.documents, index.words, (counts.row, counts.col, counts.data))


def _history(queries, documents, **options):
    return History(queries, _bags(documents), **options)


def _random_history(seed=0, queries=12, documents=60, words=80):
    rng = np.random.default_rng(seed)
    vocabulary = [f"word{chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(words)]
    texts = {f"d{i}": [vocabulary[j] for j in rng.zipf(1.4, rng.integers(0, 30)) % words] for i in range(documents)}
    asked = {f"q{i}": [vocabulary[j] for j in rng.integers(0, words, 2)] for i in range(queries)}
    scores = {word: float(rng.normal()) for word in vocabulary[:-7]}  # seven words have no vector
    qrels = {
        f"q{i}": {f"d{j}": int(rng.integers(0, 3)) for j in rng.choice(documents, 8, replace=False)}
        for i in range(queries - 3)
    }
    lists = {f"q{i}": [f"d{j}" for j in rng.permutation(documents)[:20]] for i in range(queries - 1)}
    return asked, texts, scores, qrels, lists


def _naive(asked, texts, scores, qrels, lists, cutoff):
    """One document and one word at a time, straight from Definitions 3.7 and 3.8."""
    found = {}
    for query, words in asked.items():
        known = [scores[word] for word in words if word in scores]
        own = sum(known) / len(known) if known else None
        removed = {form for word in words for form in wordnet.load().inflected(word)}
        depth = sum(1 for level in qrels.get(query, {}).values() if level > 0) or cutoff
        total = weight_sum = 0.0
        for rank, doc in enumerate(lists.get(query, [])[:depth], 1):
            left = [scores[word] for word in texts[doc] if word in scores and word not in removed]
            if left:
                weight = 1 / log2(rank + 1)
                total += weight * sum(left) / len(left)
                weight_sum += weight
        found[query] = (own, total / weight_sum if weight_sum else None)
    return found


@pytest.mark.parametrize("seed", range(5))
def test_lists_equal_a_naive_loop_over_documents_and_words(seed):
    asked, texts, scores, qrels, lists = _random_history(seed)
    history = _history(asked, texts, qrels=qrels, cutoff=15)
    table = score_history(history, lists, scores)
    expected = _naive(asked, texts, scores, qrels, lists, 15)
    compared = 0
    for query, own, listed in table.select("query", "query_score", "list_score").iter_rows():
        for ours, theirs in zip((own, listed), expected[query], strict=True):
            assert (ours is None) == (theirs is None)
            if ours is not None:
                assert abs(ours - theirs) < 1e-12
                compared += 1
    assert compared > 20


def test_the_order_of_queries_documents_and_rows_does_not_matter():
    asked, texts, scores, qrels, lists = _random_history(3)
    plain = gsr(score_history(_history(asked, texts, qrels=qrels), lists, scores))
    turned = _history(dict(reversed(asked.items())), dict(reversed(texts.items())), qrels=qrels)
    other = gsr(score_history(turned, lists, scores))
    assert other.value == pytest.approx(plain.value, abs=1e-12)
    run = pl.DataFrame(
        [(query, doc, rank) for query, docs in lists.items() for rank, doc in enumerate(docs, 1)],
        schema=["query", "doc", "rank"],
        orient="row",
    )
    assert lists_of(run.sample(fraction=1, shuffle=True, seed=1)) == lists


def test_swapping_the_poles_keeps_the_slope():
    # g(q) and g_q(L) both change sign, so their slope does not: GSR does not say which pole is called positive.
    asked, texts, scores, qrels, lists = _random_history(4)
    history = _history(asked, texts, qrels=qrels)
    plain = gsr(score_history(history, lists, scores))
    turned = gsr(score_history(history, lists, {word: -score for word, score in scores.items()}))
    assert turned.value == pytest.approx(plain.value, abs=1e-12)
    assert turned.p == pytest.approx(plain.p)


def test_query_words_and_their_inflected_forms_are_left_out():
    scores = {"nurse": 1.0, "nurses": 1.0, "nursing": 1.0, "care": 0.2, "woman": 0.7, "women": 0.9}
    history = _history({"q": ["nurse"], "r": ["women"]}, {"d": ["nurses", "nursing", "nurse", "care", "woman"]})
    table = score_history(history, {"q": ["d"], "r": ["d"]}, scores)
    assert table["list_score"][0] == pytest.approx((0.2 + 0.7) / 2)
    assert table["list_score"][1] == pytest.approx((3 * 1.0 + 0.2) / 4)
    kept = _history({"q": ["nurse"]}, {"d": ["nurses", "care"]}, inflected=False)
    assert score_history(kept, {"q": ["d"]}, scores)["list_score"][0] == pytest.approx(0.6)


def test_every_query_without_a_score_says_why():
    documents = {"d": ["man"], "e": ["nurse", "xyzzy"], "empty": []}
    queries = {"a": ["qqq"], "b": ["nurse"], "c": ["nurse"], "d": ["nurse"]}
    table = score_history(
        _history(queries, documents), {"a": ["d"], "c": ["empty", "e"], "d": ["d"]}, {"nurse": 1.0, "man": -1.0}
    )
    assert table["reason"].to_list() == [
        "no word of the query has a vector",
        "no result",
        "no scored word in the documents",
        "",
    ]
    assert table["unscored"].to_list() == [0, 0, 2, 0]
    slope = gsr(table)
    assert (slope.n, slope.n_missing) == (1, 3)
    assert np.isnan(slope.value)
    assert slope.reason.startswith("only 1 of its queries can be used")


def test_a_run_that_names_an_unknown_document_is_refused():
    with pytest.raises(PortrayalError, match="names document 'ghost'"):
        score_history(_history({"q": ["nurse"]}, {"d": ["man"]}), {"q": ["ghost"]}, {"man": 1.0})


def test_lists_are_cut_at_the_number_of_relevant_documents_or_the_cutoff():
    documents = {f"d{i}": ["man"] for i in range(9)}
    qrels = {"q": {"d0": 1, "d1": 0, "d2": 2}, "r": {"d3": 0}}
    history = _history({"q": ["x"], "r": ["x"], "s": ["x"]}, documents, qrels=qrels, cutoff=4)
    cut = history.cut({query: list(documents) for query in "qrs"})
    assert [len(cut[query]) for query in "qrs"] == [2, 4, 4]
    assert perfect_lists(history) == {"q": ["d2", "d0"], "r": [], "s": []}
    drawn = random_lists(history, seed=0)
    assert [len(set(drawn[query])) for query in "qrs"] == [2, 4, 4]
    assert drawn == random_lists(history, seed=0)


def test_words_with_digits_or_one_letter_are_not_scored():
    assert [usable(word) for word in ("nurse", "s", "1963", "b2b", "mr")] == [True, False, False, False, True]


def test_the_slope_is_that_of_equation_3():
    x, y = np.array([-0.1, 0.0, 0.3, 0.2]), np.array([0.01, 0.02, 0.05, 0.06])
    # Equation 3 spelled out: covariance over variance, both divided by N
    expected = ((x - x.mean()) * (y - y.mean())).mean() / ((x - x.mean()) ** 2).mean()
    assert fit(x, y)[0] == pytest.approx(expected, abs=1e-15)
    assert fit(np.array([0.0, 1.0, 2.0]), np.array([1.0, 3.0, 5.0])) == (2.0, 1.0)


def test_p_counts_all_patterns_of_signs_for_few_queries():
    # x is centred and y has median 0, so the parts x*y are 9, 4, 1, 1, 4, 9, all of one sign: of the 64 patterns only the
    # observed one and its opposite reach their sum, 2 / 64.
    x = np.array([-3.0, -2.0, -1.0, 1.0, 2.0, 3.0])
    assert measure_slope(x, x).p == pytest.approx(2 / 64)
    # With y = -1, -1, 1, -1, 1, 1 the parts are 3, 2, -1, -1, 2, 3, of sum 8; the share of patterns that reach 8, by listing them.
    y = np.array([-1.0, -1.0, 1.0, -1.0, 1.0, 1.0])
    parts = np.array([3.0, 2, -1, -1, 2, 3])
    signs = 1 - 2 * (np.arange(64)[:, None] >> np.arange(6) & 1)
    assert measure_slope(x, y).p == pytest.approx(np.mean(np.abs(signs @ parts) >= 8))


def test_a_sampled_p_never_is_zero_and_is_seeded():
    x = np.linspace(0, 1, 40)
    assert measure_slope(x, x).p == pytest.approx(1 / 10_000)
    noise = np.random.default_rng(1).normal(size=40)
    assert measure_slope(x, noise, seed=5).p == measure_slope(x, noise, seed=5).p


def test_constant_lists_have_a_slope_of_exactly_zero_and_are_not_tested():
    # Sums of the same numbers in another order differ in the last digit; that is no relation.
    rng = np.random.default_rng(0)
    for _ in range(200):
        y = 0.3 + rng.choice([-1, 0, 1], 20) * np.spacing(0.3)
        slope = measure_slope(rng.normal(size=20), y)
        assert (slope.value, slope.low, slope.high) == (0.0, 0.0, 0.0)
        assert (slope.decision, slope.reason) == ("not tested", CONSTANT)
        assert np.isnan(slope.p)


def test_adding_a_constant_to_every_list_changes_nothing():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=30), rng.normal(size=30)
    plain, moved = measure_slope(x, y), measure_slope(x, y + 1e6)
    assert moved.value == pytest.approx(plain.value, abs=1e-8)
    assert moved.high == pytest.approx(plain.high, abs=1e-8)
    assert moved.p == plain.p


@pytest.mark.parametrize("queries", [8, 25])
def test_the_interval_holds_the_slopes_that_the_test_would_not_reject(queries):
    # Independent: the p of y - slope x, by all patterns or the sampled ones, just outside and just inside each end. Lists are
    # centred on the middle third of y at every slope, as in the test itself.
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=queries), rng.normal(size=queries)
    slope, centred = measure_slope(x, y), x - x.mean()
    beyond = (queries - 1) // 3
    parts = centred * (y - np.sort(y)[beyond : queries - beyond].mean())
    signs = np.concatenate(list(sign_patterns(queries, 1, 0)))

    def p(tried):
        own = parts - tried * centred**2
        return np.mean(np.abs(signs @ own) >= abs(own.sum()) * (1 - 1e-12))

    assert p(0.0) == slope.p
    for end, outwards in ((slope.low, -1e-6), (slope.high, 1e-6)):
        assert p(end + outwards) < 0.05 <= p(end - outwards)


def test_p_and_interval_always_say_the_same_of_zero():
    rng = np.random.default_rng(0)
    for trial in range(300):
        queries = int(rng.integers(6, 40))
        x, y = rng.normal(size=queries), rng.choice([-1.0, 0.0, 1.0], queries) + 0.3 * trial / 300
        slope = measure_slope(x, y + rng.choice([0, 0.5]) * x, np.arange(queries) // rng.integers(1, 3))
        if slope.decision is None:
            assert (slope.p < 0.05) == (slope.low > 0 or slope.high < 0)


def test_one_query_far_out_widens_the_interval():
    far = np.array([-0.2, -0.1, 0, 0, 0, 0, 0, 0.1, 0.2, 5])
    noise = np.random.default_rng(0).normal(size=10)
    assert measure_slope(far, noise).p > 0.2  # the one query alone decides, and could as well lie on the other side


def test_queries_of_the_same_words_count_together():
    # Each of 8 queries asked three times with the same list is as good as asked once: the same p and, but for the mean of
    # the residuals, the same interval.
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=8), rng.normal(size=8)
    once = measure_slope(x, y)
    thrice = measure_slope(np.repeat(x, 3), np.repeat(y, 3), np.repeat(np.arange(8), 3))
    assert thrice.value == pytest.approx(once.value)
    assert thrice.p == once.p
    assert thrice.high == pytest.approx(once.high)
    assert (thrice.n, "24 queries in 8 clusters" in thrice.note) == (24, True)


@pytest.mark.parametrize("queries", range(1, FEWEST))
def test_a_few_queries_are_not_tested_and_have_no_interval(queries):
    # Three queries used to give an interval of +-1.6e9.
    slope = measure_slope(np.arange(queries) / 10, np.arange(queries) ** 2 / 7)
    assert slope.decision == "not tested"
    assert slope.reason.startswith(f"only {queries} of its queries can be used")
    assert np.isnan(slope.low)
    assert np.isnan(slope.p)


@pytest.mark.parametrize("queries", [10, 20])
def test_noise_that_grows_with_genderedness_raises_no_false_alarms(queries):
    """The permutation test called 25 to 34% of these; both the p and the interval must say so now, 5% of 400 at most 33."""
    rng = np.random.default_rng(0)
    alarms = held = 0
    for seed in range(400):
        x = rng.standard_t(2, queries)
        found = measure_slope(x, rng.normal(size=queries) * np.abs(x), seed=seed)
        held += found.low <= 0 <= found.high
        alarms += found.p < 0.05 and not found.low <= 0 <= found.high
    assert alarms <= 33
    assert held >= 368  # 95% of 400 less 2.7 standard errors


def test_the_interval_shrinks_with_more_queries():
    rng = np.random.default_rng(0)
    widths = []
    for n in (60, 600):
        x = rng.normal(size=n)
        slope = measure_slope(x, 0.1 * x + rng.normal(size=n))
        assert slope.low < slope.high
        widths.append(slope.high - slope.low)
    assert widths[1] < widths[0] / 2


def test_small_histories_say_so():
    rng = np.random.default_rng(0)
    slope = measure_slope(rng.normal(size=20), rng.normal(size=20))
    assert "under 50 queries" in slope.note
    assert measure_slope(rng.normal(size=60), rng.normal(size=60)).note == ""


def _scores(query, listed):
    return pl.DataFrame({"query": [f"q{i}" for i in range(len(query))], "query_score": query, "list_score": listed})


def test_the_difference_and_the_ratio_to_the_perfect_system():
    rng = np.random.default_rng(0)
    x = rng.normal(size=80)
    noise = 0.01 * rng.normal(size=80)
    own, perfect = _scores(x, 0.16 * x + noise), _scores(x, 0.085 * x + noise)
    relative = relative_gsr(own, perfect)
    # The noise is the same in both, so the slopes differ by exactly 0.075.
    assert relative.difference.value == pytest.approx(0.075, abs=1e-12)
    assert relative.ratio == pytest.approx(gsr(own).value / gsr(perfect).value)
    assert relative.relative == pytest.approx(relative.ratio - 1)
    assert relative.low < relative.ratio < relative.high
    assert relative.note == ""


def test_no_ratio_to_a_perfect_system_without_a_slope():
    x = np.linspace(-1, 1, 60)
    nothing = relative_gsr(_scores(x, x), _scores(x, np.zeros(60)))
    assert np.isnan(nothing.ratio)
    assert "GSR is zero" in nothing.note
    rng = np.random.default_rng(0)
    vague = relative_gsr(_scores(x, x), _scores(x, rng.normal(size=60)))
    assert "may be zero" in vague.note
    assert np.isnan(vague.ratio)  # -36 and 98 used to be printed beside the paper's 84%


def test_the_ratio_s_interval_holds_ratios_that_the_test_would_not_reject():
    # r is inside when own - r perfect may have no slope: at the ends that test's p is .05 but for centring on the middle third.
    rng = np.random.default_rng(0)
    x = rng.normal(size=80)
    own, perfect = 0.16 * x + 0.05 * rng.normal(size=80), 0.085 * x + 0.05 * rng.normal(size=80)
    found = relative_gsr(_scores(x, own), _scores(x, perfect))
    for end, outwards in ((found.low, -1e-4), (found.high, 1e-4)):
        assert measure_slope(x, own - (end + outwards) * perfect).p == pytest.approx(0.05, abs=0.01)


def test_without_enough_judged_queries_nothing_is_said_of_the_perfect_slope():
    x = np.linspace(-1, 1, 20)
    few = pl.DataFrame({"query": ["q0", "q1"], "list_score": [0.1, 0.2]})
    assert "too few queries have both" in relative_gsr(_scores(x, x), few).note


def test_kendall_distance_by_hand():
    # a b c against b c d: pairs ab (a above b; a absent below b): 1, ac: 1, bc same: 0, ad: a only here, d only there: 1,
    # bd: d absent below b, b above d: 0, cd: 0. So 3 of at most 3 * 3.
    assert kendall_distance("abc", "bcd") == pytest.approx(3 / 9)
    assert kendall_distance("abc", "abc") == 0
    assert kendall_distance("abc", "def") == 1
    # disjoint pairs with p = 1/2: 4 across + 1/2 (one pair here, one there) over the same
    assert kendall_distance("ab", "cd", p=0.5) == 1
    # ab against ac: bc apart 1, nothing else; with p = 1/2 nothing is added since no pair is unseen whole
    assert kendall_distance("ab", "ac", p=0.5) == pytest.approx(1 / 5)
    # abc against dea... : pair bc is here and not there: p
    assert kendall_distance("abc", "ade", p=0.5) == pytest.approx((4 + 0.5 * 2) / (9 + 0.5 * 6))
    assert np.isnan(kendall_distance("", "abc"))


def test_kendall_distance_of_whole_rankings_is_the_classic_one():
    from scipy.stats import kendalltau

    order = np.random.default_rng(0).permutation(30)
    tau = kendalltau(np.arange(30), np.argsort(order)).statistic
    # K = (1 - tau) / 2 of all pairs; ours divides by k^2 instead of k (k - 1) / 2
    assert kendall_distance(range(30), order.tolist()) == pytest.approx((1 - tau) / 2 * 435 / 900)


def test_average_rank_bias_by_hand():
    counts = np.array([[2, 0], [0, 1], [0, 3]])
    # count: differences 2, -1, -3; RaB = 2, 1/2, -2/3; mean of the three
    assert rank_bias(counts, "count") == pytest.approx((2 + 0.5 - 2 / 3) / 3)
    assert rank_bias(counts, "any") == pytest.approx((1 + 0 - 1 / 3) / 3)
    assert rank_bias(counts, "log", cutoff=1) == pytest.approx(np.log(3))
    assert np.isnan(rank_bias(np.empty((0, 2))))
    with pytest.raises(PortrayalError, match="no magnitude"):
        rank_bias(counts, "sum")


def test_mentions_groups_and_exposure():
    bags = _bags({"d1": ["she", "he", "she"], "d2": ["he"], "d3": ["tree"], "d4": ["she", "he"]})
    counts = count_mentions(bags, {"female": ["she"], "male": ["he"]})
    assert counts.tolist() == [[2, 1], [0, 1], [0, 0], [1, 1]]
    groups = document_groups(counts)
    assert groups.tolist() == [0, 1, -1, -1]
    shares = exposure(groups, rank_weights(4), 2)
    total = 1 + 1 / log2(3) + 1 / 2 + 1 / log2(5)
    assert shares == pytest.approx([1 / total, 1 / log2(3) / total])
    assert np.isnan(exposure(np.array([], dtype=int), np.array([]), 2)).all()


def test_words_of_several_groups_are_dropped_for_any_number_of_groups():
    dropped = without_shared({"a": ["x", "y"], "b": ["y", "z"], "c": ["z", "w"]})
    assert dropped == {"a": {"x"}, "b": set(), "c": {"w"}}


@pytest.mark.parametrize(
    ("system", "reference", "outcome"),
    [
        ((1, 4), (1, 2), "male"),  # 4/1 > 2/1
        ((2, 1), (1, 1), "female"),
        ((2, 4), (1, 2), "neither"),
        ((0, 3), (0, 1), "neither"),  # infinite on both sides
        ((0, 1), (5, 1), "male"),
        ((0, 0), (1, 1), UNDEFINED),
        ((1, 1), (0, 0), UNDEFINED),
        ((3, 0), (1, 0), "neither"),
    ],
)
def test_gaps_are_compared_by_cross_multiplication(system, reference, outcome):
    assert compare_gaps(system, reference) == outcome


def test_representation_counts_every_query_once():
    outcomes = ["male", "female", "neither", UNDEFINED, "male"]
    table = representation(np.array([-0.2, 0.2, 0.0, 0.0, 0.05]), outcomes, [-0.1, 0.0, 0.1], ("female", "male"))
    assert table["queries"].sum() == 5
    assert table.filter(pl.col("bin") == "0 to 0.1", pl.col("outcome") == "male")["share"][0] == pytest.approx(1 / 3)
    empty = table.filter(pl.col("bin") == "-0.1 to 0")
    assert empty["share"].null_count() == 4


def test_histories_are_enumerated_exactly_for_six_queries():
    x = np.array([-3.0, -2.0, -2.0, 2.0, 2.0, 3.0])
    high = np.where(x > 0, 0.3, -0.3)
    parity = enumerate_histories(x, high, -high)
    assert parity.exact
    assert len(parity.slopes) == 4**6
    assert parity.slopes[0] == pytest.approx(fit(x, high)[0])  # all stereotypical
    assert parity.shares[0] == 1
    assert parity.shares.mean() == pytest.approx(0.5, abs=0.01)
    assert parity.pearson > 0.8
    many = enumerate_histories(np.arange(7.0), np.ones(7), np.zeros(7), draws=500)
    assert not many.exact
    assert len(many.slopes) == 500


def test_correlations_against_scipy():
    from scipy import stats

    rng = np.random.default_rng(0)
    x = rng.normal(size=40)
    y = np.round(x + rng.normal(size=40), 1)  # with ties
    assert correlate(x, y).value == pytest.approx(stats.pearsonr(x, y).statistic)
    assert correlate(x, y, "spearman").value == pytest.approx(stats.spearmanr(x, y).statistic)
    x[0] = np.nan
    assert (correlate(x, y).n, correlate(x, y).n_missing) == (39, 1)
    assert np.isnan(correlate(np.ones(5), np.arange(5.0)).value)


def test_the_words_of_an_example_say_why_they_do_not_count() -> None:
    history = SimpleNamespace(queries={"q": ["nurse"]})
    scored = SimpleNamespace(history=history, first=SimpleNamespace(scores={"nurse": 0.6, "she": 0.9, "the": 0.1}))
    table = _example(scored, "q", ["the", "nurses", "she", "quark"], frozenset({"the"}))
    assert table.select("part", "word", "score", "state").rows() == [
        ("query", "nurse", 0.6, "counted"), ("document", "the", None, "stop word"), ("document", "nurses", None, "in the query"),
        ("document", "she", 0.9, "counted"), ("document", "quark", None, "counted"),
    ]  # fmt: skip
